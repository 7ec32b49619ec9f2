#include "api/server/openapi_schema.h"

#include "base/ensure.h"
#include "fields/limits.h"
#include "wire/member.h"

void schema_text(struct json *j, const char *key, const char *value)
{
    json_key(j, key);
    json_text(j, value);
}

void schema_open(struct json *j, const char *key)
{
    json_key(j, key);
    json_begin_object(j);
}

static const char *schema_name(const struct schema *s)
{
    return s->shape != NULL ? s->shape->name : s->table->name;
}

void schema_refer(struct schema_writer *w, struct schema schema)
{
    char reference[100];
    uint32_t i = 0;
    while (i < w->count && (w->schemas[i].shape != schema.shape || w->schemas[i].table != schema.table)) i++;
    if (i == w->count) {
        ensure(i < SCHEMAS_MAX);
        w->schemas[w->count++] = schema;
    }
    text_format(reference, sizeof reference, "#/components/schemas/%s", schema_name(&schema));
    json_begin_object(&w->json);
    schema_text(&w->json, "$ref", reference);
    json_end(&w->json);
}

/* --- types -------------------------------------------------------------------------------------------------------- */

/* "type":"string", or ["string","null"]. */
static void write_type(struct json *j, const char *name, bool is_nullable)
{
    json_key(j, "type");
    if (is_nullable) json_begin_array(j);
    json_text(j, name);
    if (is_nullable) json_text(j, "null");
    if (is_nullable) json_end(j);
}

static void write_choices(struct json *j, const char *choices, bool is_nullable)
{
    json_key(j, "enum");
    json_begin_array(j);
    for (struct str rest = str(choices); rest.text != NULL;) json_str(j, str_cut(rest, ',', &rest));
    if (is_nullable) json_write_null(j);
    json_end(j);
}

static void write_bound(struct json *j, const char *key, double bound)
{
    if (bound < -WHOLE_REAL_MAX || bound > WHOLE_REAL_MAX) return;
    json_key(j, key);
    json_i64(j, (int64_t)bound);
}

static void write_range(struct json *j, double min, double max, bool is_nullable)
{
    write_type(j, "integer", is_nullable);
    schema_text(j, "format", "int64");
    write_bound(j, "minimum", min);
    write_bound(j, "maximum", max);
}

static void begin_one_of(struct json *j)
{
    json_key(j, "oneOf");
    json_begin_array(j);
    json_begin_object(j);
}

static void end_one_of(struct json *j, bool is_nullable)
{
    json_end(j);
    if (is_nullable) {
        json_begin_object(j);
        schema_text(j, "type", "null");
        json_end(j);
    }
    json_end(j);
}

/* A whole number, or a word. */
static void write_number_or_word(struct json *j, double min, double max, const char *word, bool is_nullable)
{
    begin_one_of(j);
    write_range(j, min, max, false);
    json_end(j);
    json_begin_object(j);
    write_choices(j, word, false);
    end_one_of(j, is_nullable);
}

static void write_whole(struct json *j, double min, double max, const char *special, bool is_nullable)
{
    if (special != NULL)
        write_number_or_word(j, min, max, special, is_nullable);
    else
        write_range(j, min, max, is_nullable);
}

/* A number, or the text of an infinity, for which JSON has no number. */
static void write_real(struct json *j, bool is_nullable)
{
    begin_one_of(j);
    schema_text(j, "type", "number");
    json_end(j);
    json_begin_object(j);
    write_choices(j, "inf,-inf", false);
    end_one_of(j, is_nullable);
}

/* A string, or {"base64":...}. */
static void write_bytes(struct json *j, bool is_nullable)
{
    begin_one_of(j);
    schema_text(j, "type", "string");
    json_end(j);
    json_begin_object(j);
    schema_text(j, "type", "object");
    schema_text(j, "description", "bytes that are not UTF-8");
    schema_open(j, "properties");
    schema_open(j, "base64");
    schema_text(j, "type", "string");
    schema_text(j, "contentEncoding", "base64");
    json_end(j);
    json_end(j);
    json_key(j, "required");
    json_begin_array(j);
    json_text(j, "base64");
    json_end(j);
    end_one_of(j, is_nullable);
}

/* --- shapes ------------------------------------------------------------------------------------------------------- */

static void write_list(struct schema_writer *w, const struct wire_field *f)
{
    struct json *j = &w->json;
    schema_text(j, "type", "array");
    json_key(j, "items");
    if (f->type == WIRE_ROWS || f->type == WIRE_RECORDS) {
        schema_refer(w, (struct schema){.shape = f->shape, .table = f->table});
        return;
    }
    json_begin_object(j);
    if (f->type == WIRE_TEXTS)
        schema_text(j, "type", "string");
    else
        write_bytes(j, false);
    json_end(j);
}

void schema_write_field(struct schema_writer *w, const struct wire_field *f, bool is_nullable)
{
    struct json *j = &w->json;
    switch (f->type) {
    case WIRE_TEXT:
    case WIRE_NAME: write_type(j, "string", is_nullable); return;
    case WIRE_CHOICE: write_choices(j, f->choices, is_nullable); return;
    case WIRE_BYTES:
    case WIRE_BLOB: write_bytes(j, is_nullable); return;
    case WIRE_TEXTS:
    case WIRE_BYTES_LIST:
    case WIRE_RECORDS:
    case WIRE_ROWS: write_list(w, f); return;
    case WIRE_BOOL: schema_text(j, "type", "boolean"); return;
    case WIRE_DOUBLE: write_real(j, is_nullable); return;
    case WIRE_OBJECT:
        json_key(j, "allOf");
        json_begin_array(j);
        schema_refer(w, (struct schema){.shape = f->shape});
        json_end(j);
        return;
    case WIRE_U32:
    case WIRE_U64:
    case WIRE_I32:
    case WIRE_I64: write_whole(j, f->min, f->max, f->special, is_nullable); return;
    case WIRE_TIME:
    case WIRE_MEMORY:
    case WIRE_CUSTOM: ensure(!"a type of the API"); /* of documents */
    }
}

/* A value of a field table; is_written: durations and memory are text. */
static void write_value(struct json *j, const struct field *f, bool is_written, bool is_nullable)
{
    switch (f->type) {
    case FIELD_TEXT:
        write_type(j, f->is_pairs ? "object" : "string", is_nullable);
        if (!f->is_pairs) return;
        schema_open(j, "additionalProperties");
        schema_text(j, "type", "string");
        json_end(j);
        return;
    case FIELD_BYTES: write_bytes(j, is_nullable); return;
    case FIELD_CHOICE: write_choices(j, f->choices, is_nullable); return;
    case FIELD_BOOL: write_type(j, "boolean", is_nullable); return;
    case FIELD_REAL: write_real(j, is_nullable); return;
    default: break;
    }
    if ((is_written || f->is_text) && (field_is_duration(f) || f->type == FIELD_MEMORY))
        write_type(j, "string", is_nullable);
    else
        write_whole(j, f->min, f->max, f->special, is_nullable);
}

static void write_property(struct json *j, const char *name, const struct field *f, bool is_written, bool is_nullable)
{
    schema_open(j, name);
    schema_text(j, "description", f->help);
    write_value(j, f, is_written, is_nullable);
    json_end(j);
}

void schema_write_any_value(struct json *j)
{
    static const char *const types[] = {"string", "number", "boolean"};
    json_key(j, "type");
    json_begin_array(j);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) json_text(j, types[i]);
    json_end(j);
}

void schema_write_pair(struct json *j, const struct field *f)
{
    schema_open(j, f->name);
    schema_text(j, "description", f->help);
    schema_write_any_value(j);
    json_end(j);
}

static void write_properties(struct schema_writer *w, const struct wire_shape *shape)
{
    const struct wire_table_fields *t = &shape->table_fields;
    struct json *j = &w->json;
    schema_open(j, "properties");
    for (const struct wire_field *f = shape->fields; f->name; f++) {
        schema_open(j, f->name);
        schema_text(j, "description", f->help);
        schema_write_field(w, f, shape->is_reply && !f->is_required);
        json_end(j);
    }
    for (uint32_t i = 0; t->table != NULL && i < t->table->count; i++) {
        if (wire_table_name(t, i) != NULL)
            write_property(j, wire_table_name(t, i), field_at(t->table, i), t->table->is_written,
                           field_at(t->table, i)->is_nullable);
    }
    const struct field_table *pairs = shape->pair_fields.table;
    for (uint32_t i = 0; pairs != NULL && i < pairs->count; i++) schema_write_pair(j, field_at(pairs, i));
    json_end(j);
}

static bool is_required(const struct wire_table_fields *t, uint32_t i)
{
    return wire_table_name(t, i) != NULL && t->is_required != NULL && t->is_required(i);
}

static uint32_t write_required(struct json *j, const struct wire_shape *shape, bool only_counts)
{
    const struct wire_table_fields *t = &shape->table_fields;
    uint32_t count = 0;
    for (const struct wire_field *f = shape->fields; f->name; f++) {
        if (!shape->is_reply && !f->is_required) continue;
        count++;
        if (!only_counts) json_text(j, f->name);
    }
    for (uint32_t i = 0; t->table != NULL && i < t->table->count; i++) {
        if (!is_required(t, i)) continue;
        count++;
        if (!only_counts) json_text(j, wire_table_name(t, i));
    }
    return count;
}

static void write_shape(struct schema_writer *w, const struct wire_shape *shape)
{
    struct json *j = &w->json;
    write_properties(w, shape);
    if (write_required(j, shape, true) > 0) {
        json_key(j, "required");
        json_begin_array(j);
        write_required(j, shape, false);
        json_end(j);
    }
    if (!shape->is_reply) {
        json_key(j, "additionalProperties");
        json_bool(j, false);
    }
}

static void write_table(struct json *j, const struct field_table *table)
{
    schema_open(j, "properties");
    for (uint32_t i = 0; i < table->count; i++) {
        const struct field *f = field_at(table, i);
        if (!f->is_hidden) write_property(j, f->name, f, table->is_written, f->is_nullable || f->is_private);
    }
    json_end(j);
    json_key(j, "required");
    json_begin_array(j);
    for (uint32_t i = 0; i < table->count; i++) {
        if (!field_at(table, i)->is_hidden) json_text(j, field_at(table, i)->name);
    }
    json_end(j);
}

void schema_write(struct schema_writer *w, const struct schema *schema)
{
    struct json *j = &w->json;
    schema_open(j, schema_name(schema));
    schema_text(j, "type", "object");
    schema_text(j, "description", schema->shape != NULL ? schema->shape->help : schema->table->help);
    if (schema->shape != NULL)
        write_shape(w, schema->shape);
    else
        write_table(j, schema->table);
    json_end(j);
}
