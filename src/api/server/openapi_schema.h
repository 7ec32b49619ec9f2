/* Schemas of the API's description: from shapes and tables of fields. */
#ifndef FAIRLEAD_API_SERVER_OPENAPI_SCHEMA_H
#define FAIRLEAD_API_SERVER_OPENAPI_SCHEMA_H

#include "base/json.h"
#include "wire/wire.h"

enum { SCHEMAS_MAX = 128 };

/* What a schema describes: one of the two. */
struct schema {
    const struct wire_shape *shape;
    const struct field_table *table;
};

/* What is being written, and the schemas that were referred to so far. */
struct schema_writer {
    struct json json;
    struct schema schemas[SCHEMAS_MAX];
    uint32_t count;
};

/* {"$ref":"#/components/schemas/NAME"}; the schema is remembered. */
void schema_refer(struct schema_writer *w, struct schema schema);

/* "NAME":{...}: a schema that was referred to; may refer to more. */
void schema_write(struct schema_writer *w, const struct schema *schema);

/* The members of one field's schema, into the object that is open. */
void schema_write_field(struct schema_writer *w, const struct wire_field *f, bool is_nullable);

/* "KEY":"VALUE", and "KEY":{ to be ended. */
void schema_text(struct json *j, const char *key, const char *value);
void schema_open(struct json *j, const char *key);

#endif
