/* Rows of the listing of places: a partition on a host, with its slots and its state. */
#ifndef FAIRLEAD_FIELDS_PLACE_FIELDS_H
#define FAIRLEAD_FIELDS_PLACE_FIELDS_H

#include "fields/column.h"
#include "fields/field.h"

enum place_field {
    PLACE_FIELD_PLACE, /* "main@localhost" */
    PLACE_FIELD_PARTITION,
    PLACE_FIELD_HOST,
    PLACE_FIELD_STATE,
    PLACE_FIELD_USED,
    PLACE_FIELD_RESERVED,
    PLACE_FIELD_TOTAL,
    PLACE_FIELD_FREE,
    PLACE_FIELD_LOAD,
    PLACE_FIELD_COUNT
};

/* The first three are those of enum host_state (fields/objects.h). */
enum place_state { PLACE_UP, PLACE_DRAINED, PLACE_DOWN, PLACE_CLOSED, PLACE_OVERLOADED, PLACE_LEFT, PLACE_UNATTACHED };

extern const struct field_table place_fields;
extern const struct column_table place_fields_columns;

struct place_values {
    struct field_value value[PLACE_FIELD_COUNT];
};

#endif
