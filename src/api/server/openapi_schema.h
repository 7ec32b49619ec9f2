/* JSON schemas for the description of the API (OpenAPI 3.1), written from shapes and tables of fields (wire/wire.h). */
#ifndef FAIRLEAD_API_SERVER_OPENAPI_SCHEMA_H
#define FAIRLEAD_API_SERVER_OPENAPI_SCHEMA_H

#include "base/json.h"
#include "wire/wire.h"

enum { SCHEMAS_MAX = 128 };

/* What a schema describes; exactly one of the two is set. */
struct schema {
    const struct wire_shape *shape;
    const struct field_table *table;
};

struct schema_writer {
    struct json json;
    struct schema schemas[SCHEMAS_MAX]; /* referred to so far */
    uint32_t count;
};

/* Writes {"$ref":"#/components/schemas/NAME"} and adds the schema to w->schemas. */
void schema_refer(struct schema_writer *w, struct schema schema);

/* Writes "NAME":{...}, the definition of a schema; may add further ones to w->schemas. */
void schema_write(struct schema_writer *w, const struct schema *schema);

/* Writes the members of one field's schema into the object that is open. */
/* The type of a value that can be given as text, number or boolean (wire_read_pairs); a property with such values. */
void schema_write_any_value(struct json *j);
void schema_write_pair(struct json *j, const struct field *f);
void schema_write_field(struct schema_writer *w, const struct wire_field *f, bool is_nullable);

/* Write "KEY":"VALUE", and "KEY":{ for the caller to end. */
void schema_text(struct json *j, const char *key, const char *value);
void schema_open(struct json *j, const char *key);

#endif
