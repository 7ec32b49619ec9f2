/* A set of small numbers, stored as sorted ranges: the tasks of an array that have not started, the CPUs of a job. A
 * million consecutive numbers cost one range. */
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

/* Ascending ranges with gaps between them. All zero is the empty set. */
struct idset {
    ARRAY(struct idset_range) ranges;
};

/* Reads "0-9,12,20-30:5" (a step after a colon). Ranges may come in any order and may overlap. Numbers go up to max.
 * field: the field's name, for errors. An empty text gives the empty set; a caller that needs at least one number
 * refuses that. out_set is overwritten, so release it first. ERR_INPUT otherwise. */
int idset_parse(struct str s, uint32_t max, const char *field, struct idset *out_set, struct err *e);

/* Appends "0-9,12"; nothing for the empty set. */
void idset_format(const struct idset *s, struct buf *out);

/* The same for people: four or more single numbers at equal distances are one range with a step, "1-9:2". */
void idset_format_steps(const struct idset *s, struct buf *out);

uint32_t idset_count(const struct idset *s);             /* O(ranges) */
uint32_t idset_first(const struct idset *s);             /* the smallest number; NONE when empty */
uint32_t idset_next(const struct idset *s, uint32_t id); /* the smallest number above id, or NONE; O(log ranges) */
bool idset_has(const struct idset *s, uint32_t id);      /* O(log ranges) */
bool idset_equal(const struct idset *a, const struct idset *b);

/* These cost O(log ranges) and a memmove of the ranges behind; of a second set with many ranges O(ranges of both). Both
 * sets may be the same one. */
void idset_add(struct idset *s, uint32_t id);    /* id is not NONE */
bool idset_remove(struct idset *s, uint32_t id); /* whether it was there */
void idset_add_all(struct idset *to, const struct idset *from);
void idset_remove_all(struct idset *from, const struct idset *ids);
void idset_copy(struct idset *to, const struct idset *from); /* replaces the contents of to */
void idset_release(struct idset *s);

#endif
