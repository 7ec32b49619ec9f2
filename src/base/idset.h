/* A set of small numbers, kept as sorted ranges: the tasks of an array that have not started, the CPUs of a job. A
 * million numbers in a row cost one range. */
#ifndef FAIRLEAD_BASE_IDSET_H
#define FAIRLEAD_BASE_IDSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/err.h"
#include "base/str.h"
#include "base/text.h"

struct idset_range {
    uint32_t first, last; /* both in the set */
};

/* Ranges ascending, not touching each other. All zero is the empty set. */
struct idset {
    ARRAY(struct idset_range) ranges;
};

/* Reads "0-9,12,20-30:5" (step behind a colon), in any order, overlapping or not. Numbers up to max; what names the field
 * in the error. The empty text is the empty set: refuse that where one number at least is meant. out_set is
 * overwritten: release what it held. */
int idset_parse(struct str s, uint32_t max, const char *what, struct idset *out_set, struct err *e);

/* "0-9,12": appended. The empty set gives "". */
void idset_format(const struct idset *s, struct buf *out);

/* Looking: how many, the least, the next one up. O(ranges). */
uint32_t idset_count(const struct idset *s);
uint32_t idset_first(const struct idset *s);             /* NONE when empty */
uint32_t idset_next(const struct idset *s, uint32_t id); /* the next in the set after id, or NONE */
bool idset_has(const struct idset *s, uint32_t id);
void idset_add(struct idset *s, uint32_t id);
bool idset_remove(struct idset *s, uint32_t id);                /* true when it was there */
void idset_add_all(struct idset *to, const struct idset *from); /* O(ranges of both) */
void idset_copy(struct idset *to, const struct idset *from);
void idset_release(struct idset *s);

#endif
