/* Rows of the listing of what happened to the clock (fairlead clock). */
#ifndef FAIRLEAD_FIELDS_CLOCK_FIELDS_H
#define FAIRLEAD_FIELDS_CLOCK_FIELDS_H

#include "fields/column.h"

enum clock_field { CLOCK_FIELD_AT, CLOCK_FIELD_KIND, CLOCK_FIELD_BY, CLOCK_FIELD_SHIFT, CLOCK_FIELD_COUNT };

extern const struct field_table clock_fields;
extern const struct column_table clock_fields_columns;

/* What an event of that kind means, for people: "set while the daemon ran". */
const char *clock_field_meaning(const char *kind);

/* Appends a duration with its sign: "+365-00:00:00". */
void clock_field_format_by(int64_t by_s, struct buf *out);

#endif
