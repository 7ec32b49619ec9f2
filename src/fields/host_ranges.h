/* Names of many hosts in a short text: "n[001-500],login,gpu[1-3,7]-ib". The numbers of a bracket have the width of the
 * range's first number if that begins with a zero: n[08-10] is n08, n09, n10. host_list_format writes this form. */
#ifndef FAIRLEAD_FIELDS_HOST_RANGES_H
#define FAIRLEAD_FIELDS_HOST_RANGES_H

#include "base/arena.h"
#include "base/array.h"
#include "base/err.h"
#include "base/str.h"
#include "fields/host_text.h"

enum { HOST_RANGES_MAX = 10000 }; /* hosts that one list of an object may name */

struct host_ranges {
    ARRAY(const char *) names; /* in the order of the text; memory of the arena */
};

/* Appends the names of a text, so that there are at most max of them. Each has 1 to 64 bytes that the name of a host
 * may have (host_text_is_name). A name can occur twice. ERR_INPUT names what is wrong with the text, or the name; what
 * was appended before stays. The caller releases the array. */
int host_ranges_expand(struct str text, uint32_t max, struct arena *arena, struct host_ranges *io_names, struct err *e);

/* Names of hosts and of groups (@big), separated by commas or blanks, none twice; ranges are expanded. At most
 * HOST_RANGES_MAX names. what: the field, for errors. The check, which new lists pass, is host_text_names_check's. */
int host_ranges_names(struct str text, const char *what, struct arena *arena, struct name_list *out, struct err *e);
int host_ranges_names_check(struct str text, const char *what, struct err *e);

#endif
