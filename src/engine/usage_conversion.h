/* Conversions: changes of all stored usages at once, because the decay reference moves or because all usage is reset.
 *
 * In memory a conversion is one loop. Writing all rows would hold up the daemon's loop, so the commit of a conversion
 * writes only its factor, and the rows follow a few at a time (EVENT_USAGE_ROWS):
 *
 *     counters.usage_conversion = 8     usage_conversion: 7: x 0.5     8: x 0 (a reset)
 *     association  1  2  3  4  5        usage_conversion of the rows: 8  8  8  6  7
 *                           |           rows 4 and 5 are written next; once all are, the table becomes empty
 *
 * Invariants
 *   1. A row has had the conversions up to its number. Whoever reads it applies the later ones in their order, with
 *      the arithmetic of the memory, so that both have the same bits.
 *   2. A row that is written, for whatever reason, has the usage of the memory and the number of the last conversion.
 *   3. state.conversions has every conversion that a row may lack, ascending, and the last one, if it has any, is
 *      state.conversion_number.
 *   4. Usage owners have a decay of their own: only resets are conversions of them.
 * QOS are few, and are written with the conversion. */
#ifndef FAIRLEAD_ENGINE_USAGE_CONVERSION_H
#define FAIRLEAD_ENGINE_USAGE_CONVERSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct usage_conversion {
    int64_t number;
    bool is_reset;    /* usage becomes 0; otherwise: */
    int64_t halvings; /* by whole half-lives, which are exact */
    double scale;
};

struct usage_conversions {
    ARRAY(struct usage_conversion) list; /* invariant 3 */
    int64_t number;                      /* of the last one ever; 0: none yet */
    /* Derived: the rows before these have been written since the last conversion. */
    uint32_t next_assoc, next_owner;
};

/* Usage after one conversion. */
double usage_conversion_apply(const struct usage_conversion *c, double stored);

/* The usage of a row that has had the conversions up to `number` (invariant 1), of an association or of an owner. */
double usage_conversions_of_assoc(const struct usage_conversions *all, int64_t number, double stored);
double usage_conversions_of_owner(const struct usage_conversions *all, int64_t number, double stored);

#endif
