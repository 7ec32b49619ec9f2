/* Records of the audit log: administrative changes. */
#ifndef FAIRLEAD_FIELDS_AUDIT_FIELDS_H
#define FAIRLEAD_FIELDS_AUDIT_FIELDS_H

#include "fields/column.h"

enum audit_field {
    AUDIT_FIELD_SEQ,
    AUDIT_FIELD_AT,
    AUDIT_FIELD_UID,
    AUDIT_FIELD_USER,
    AUDIT_FIELD_COMMAND,
    AUDIT_FIELD_NAME,
    AUDIT_FIELD_FIELD,
    AUDIT_FIELD_BEFORE,
    AUDIT_FIELD_AFTER,
    AUDIT_FIELD_COUNT
};

extern const struct field_table audit_fields;
extern const struct column_table audit_fields_columns;

#endif
