/* Rows of a check of a site's configuration: what it found in a file. */
#ifndef FAIRLEAD_FIELDS_FINDING_FIELDS_H
#define FAIRLEAD_FIELDS_FINDING_FIELDS_H

#include "fields/column.h"

enum finding_field {
    FINDING_FIELD_LEVEL,
    FINDING_FIELD_FILE,
    FINDING_FIELD_LINE,
    FINDING_FIELD_COLUMN,
    FINDING_FIELD_TEXT,
    FINDING_FIELD_REASON,
    FINDING_FIELD_ADVICE,
    FINDING_FIELD_COUNT
};

extern const struct field_table finding_fields;
extern const struct column_table finding_fields_columns;

#endif
