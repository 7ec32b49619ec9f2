/* Names of many hosts in a short text: "n[001-500],login,gpu[1-3,7]-ib". The numbers of a bracket have the width of the
 * range's first number if that begins with a zero: n[08-10] is n08, n09, n10. */
#ifndef FAIRLEAD_PRETEND_HOST_RANGES_H
#define FAIRLEAD_PRETEND_HOST_RANGES_H

#include "base/arena.h"
#include "base/array.h"
#include "base/err.h"
#include "base/str.h"

struct host_ranges {
    ARRAY(const char *) names; /* in the order of the text; memory of the arena */
};

/* Appends the names of a text, so that there are at most max of them. Each has 1 to 64 bytes that the name of a host
 * may have (host_text_is_name). A name can occur twice. ERR_INPUT names what is wrong with the text, or the name; what
 * was appended before stays. The caller releases the array. */
int host_ranges_expand(struct str text, uint32_t max, struct arena *arena, struct host_ranges *io_names, struct err *e);

#endif
