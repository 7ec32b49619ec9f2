/* GET /v1/openapi.json: the description of the API (OpenAPI 3.1), made from the table of routes and the shapes. There
 * is nothing to keep in step: what a route takes and gives is described because it is in its row. Schemas are those of
 * the shapes that the routes reach. */
#include <string.h>

#include "api/server/internal.h"
#include "base/ensure.h"
#include "base/json.h"

#ifndef FAIRLEAD_VERSION
#define FAIRLEAD_VERSION "unknown"
#endif

enum { SHAPES_MAX = 128 };

/* What is being written, and the shapes met so far. */
struct writing {
    struct json json;
    const struct wire_shape *shapes[SHAPES_MAX];
    uint32_t shape_count;
};

static void text_member(struct json *j, const char *key, const char *value)
{
    json_key(j, key);
    json_text(j, value);
}

static void open_member(struct json *j, const char *key)
{
    json_key(j, key);
    json_begin_object(j);
}

/* {"$ref":"#/components/schemas/NAME"}; the shape is remembered. */
static void write_reference(struct writing *w, const struct wire_shape *shape)
{
    char reference[100];
    uint32_t i = 0;
    while (i < w->shape_count && w->shapes[i] != shape) i++;
    if (i == w->shape_count) {
        ensure(i < SHAPES_MAX);
        w->shapes[w->shape_count++] = shape;
    }
    text_format(reference, sizeof reference, "#/components/schemas/%s", shape->name);
    json_begin_object(&w->json);
    text_member(&w->json, "$ref", reference);
    json_end(&w->json);
}

/* --- a field's schema --------------------------------------------------------------------------------------------- */

/* "type":"string", or ["string","null"]. */
static void write_type_name(struct json *j, const char *name, bool is_nullable)
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

static void write_range(struct json *j, const struct wire_field *f, bool is_nullable)
{
    write_type_name(j, "integer", is_nullable);
    text_member(j, "format", "int64");
    if (f->min != INT64_MIN) {
        json_key(j, "minimum");
        json_i64(j, f->min);
    }
    if (f->max != INT64_MAX) {
        json_key(j, "maximum");
        json_i64(j, f->max);
    }
}

static void end_one_of(struct json *j, bool is_nullable)
{
    if (is_nullable) {
        json_begin_object(j);
        text_member(j, "type", "null");
        json_end(j);
    }
    json_end(j);
}

/* "oneOf" a number and a word. */
static void write_number_or_word(struct json *j, const struct wire_field *number, const char *word, bool is_nullable)
{
    json_key(j, "oneOf");
    json_begin_array(j);
    json_begin_object(j);
    if (number) {
        write_range(j, number, false);
    } else {
        text_member(j, "type", "number");
    }
    json_end(j);
    json_begin_object(j);
    write_choices(j, word, false);
    json_end(j);
    end_one_of(j, is_nullable);
}

/* A string, or {"base64":...}. */
static void write_bytes(struct json *j, bool is_nullable)
{
    json_key(j, "oneOf");
    json_begin_array(j);
    json_begin_object(j);
    text_member(j, "type", "string");
    json_end(j);
    json_begin_object(j);
    text_member(j, "type", "object");
    text_member(j, "description", "bytes that are not UTF-8");
    open_member(j, "properties");
    open_member(j, "base64");
    text_member(j, "type", "string");
    text_member(j, "contentEncoding", "base64");
    json_end(j);
    json_end(j);
    json_key(j, "required");
    json_begin_array(j);
    json_text(j, "base64");
    json_end(j);
    json_end(j);
    end_one_of(j, is_nullable);
}

static void write_list(struct writing *w, const struct wire_field *f)
{
    struct json *j = &w->json;
    text_member(j, "type", "array");
    json_key(j, "items");
    if (f->type == WIRE_ROWS) {
        write_reference(w, f->shape);
        return;
    }
    json_begin_object(j);
    if (f->type == WIRE_TEXTS) {
        text_member(j, "type", "string");
    } else {
        write_bytes(j, false);
    }
    json_end(j);
}

static void write_type(struct writing *w, const struct wire_field *f, bool is_nullable)
{
    struct json *j = &w->json;
    switch (f->type) {
    case WIRE_TEXT: write_type_name(j, "string", is_nullable); return;
    case WIRE_CHOICE: write_choices(j, f->choices, is_nullable); return;
    case WIRE_BYTES:
    case WIRE_BLOB: write_bytes(j, is_nullable); return;
    case WIRE_TEXTS:
    case WIRE_BYTES_LIST:
    case WIRE_ROWS: write_list(w, f); return;
    case WIRE_BOOL: text_member(j, "type", "boolean"); return;
    case WIRE_DOUBLE: write_number_or_word(j, NULL, "inf,-inf", is_nullable); return;
    case WIRE_SHARE:
    case WIRE_PRIORITY: write_number_or_word(j, f, "parent", is_nullable); return;
    case WIRE_OBJECT:
        json_key(j, "allOf");
        json_begin_array(j);
        write_reference(w, f->shape);
        json_end(j);
        return;
    case WIRE_U32:
    case WIRE_U64:
    case WIRE_I32:
    case WIRE_I64: write_range(j, f, is_nullable); return;
    }
}

static void write_shape(struct writing *w, const struct wire_shape *shape)
{
    struct json *j = &w->json;
    uint32_t required = 0;
    open_member(j, shape->name);
    text_member(j, "type", "object");
    text_member(j, "description", shape->help);
    open_member(j, "properties");
    for (const struct wire_field *f = shape->fields; f->name; f++) {
        open_member(j, f->name);
        text_member(j, "description", f->help);
        write_type(w, f, shape->is_reply && !f->is_required);
        json_end(j);
        required += shape->is_reply || f->is_required;
    }
    json_end(j);
    if (required > 0) {
        json_key(j, "required");
        json_begin_array(j);
        for (const struct wire_field *f = shape->fields; f->name; f++) {
            if (shape->is_reply || f->is_required) json_text(j, f->name);
        }
        json_end(j);
    }
    if (!shape->is_reply) {
        json_key(j, "additionalProperties");
        json_bool(j, false);
    }
    json_end(j);
}

/* --- a route's operation ------------------------------------------------------------------------------------------ */

static void write_parameter(struct writing *w, const char *where, const struct wire_field *f, bool is_required)
{
    struct json *j = &w->json;
    json_begin_object(j);
    text_member(j, "name", f->name);
    text_member(j, "in", where);
    text_member(j, "description", f->help);
    json_key(j, "required");
    json_bool(j, is_required);
    if (f->type == WIRE_TEXTS) {
        text_member(j, "style", "form");
        json_key(j, "explode");
        json_bool(j, false);
    }
    open_member(j, "schema");
    write_type(w, f, false);
    json_end(j);
    json_end(j);
}

static void write_parameters(struct writing *w, const struct route *route)
{
    static const struct wire_field id = {
        .name = "id", .help = "a job, 5, or a task of an array, 5_3", .type = WIRE_TEXT};
    static const struct wire_field name = {.name = "name", .help = "its name", .type = WIRE_TEXT};
    struct json *j = &w->json;
    bool has_id = strstr(route->path, "{id}") != NULL, has_name = strstr(route->path, "{name}") != NULL;
    if (!has_id && !has_name && route->query == NULL) return;
    json_key(j, "parameters");
    json_begin_array(j);
    if (has_id) write_parameter(w, "path", &id, true);
    if (has_name) write_parameter(w, "path", &name, true);
    if (route->query) {
        for (const struct wire_field *f = route->query->fields; f->name; f++)
            write_parameter(w, "query", f, f->is_required);
    }
    json_end(j);
}

/* "content":{"application/json":{"schema":...}}; shape NULL: any object. */
static void write_content(struct writing *w, const char *type, const struct wire_shape *shape)
{
    struct json *j = &w->json;
    open_member(j, "content");
    open_member(j, type);
    json_key(j, "schema");
    if (shape) {
        write_reference(w, shape);
    } else {
        json_begin_object(j);
        text_member(j, "type", "object");
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

/* A value that is given as text, or as what it is. */
static void write_given(struct json *j)
{
    static const char *const types[] = {"string", "number", "boolean"};
    json_key(j, "type");
    json_begin_array(j);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) json_text(j, types[i]);
    json_end(j);
}

/* New values of settings by their names. */
static void write_settings_body(struct json *j)
{
    text_member(j, "description", "new values by setting, as in {\"halflife_s\":604800,\"ties\":\"slurm\"}");
    open_member(j, "additionalProperties");
    write_given(j);
    json_end(j);
}

/* New values of a row's fields by their names; with the name where one is added. */
static void write_fields_body(struct json *j, const struct wire_shape *row, enum object_kind kind, bool is_new)
{
    text_member(j, "description", row->help);
    open_member(j, "properties");
    for (const struct wire_field *f = row->fields + !is_new; f->name; f++) {
        if (f->is_read_only) continue;
        open_member(j, f->name);
        text_member(j, "description", f->help);
        write_given(j);
        json_end(j);
    }
    if (!is_new && object_classes[kind].has_usage) {
        open_member(j, object_usage_reset_field.name);
        text_member(j, "description", object_usage_reset_field.help);
        write_given(j);
        json_end(j);
    }
    json_end(j);
    if (is_new) {
        json_key(j, "required");
        json_begin_array(j);
        json_text(j, row->fields->name);
        json_end(j);
    }
    json_key(j, "additionalProperties");
    json_bool(j, false);
}

static void write_body(struct writing *w, const struct route *route)
{
    struct json *j = &w->json;
    if (route->body_kind == BODY_NONE) return;
    open_member(j, "requestBody");
    json_key(j, "required");
    json_bool(j, true);
    if (route->body_kind == BODY_OBJECT) {
        write_content(w, "application/json", route->body);
    } else {
        open_member(j, "content");
        open_member(j, "application/json");
        open_member(j, "schema");
        text_member(j, "type", "object");
        if (route->body_kind == BODY_SETTINGS) {
            write_settings_body(j);
        } else {
            write_fields_body(j, route->body, route->object, route->body_kind == BODY_ADD);
        }
        json_key(j, "minProperties");
        json_u64(j, 1);
        json_end(j);
        json_end(j);
        json_end(j);
    }
    json_end(j);
}

static void write_operation(struct writing *w, const struct route *route)
{
    static const char *const method_keys[][2] = {
        {"GET", "get"}, {"POST", "post"}, {"PATCH", "patch"}, {"DELETE", "delete"}};
    struct json *j = &w->json;
    char status[24];
    size_t method = 0;
    while (strcmp(method_keys[method][0], route->method) != 0) method++;
    open_member(j, method_keys[method][1]);
    text_member(j, "operationId", route->id);
    text_member(j, "summary", route->summary);
    write_parameters(w, route);
    write_body(w, route);
    open_member(j, "responses");
    text_format(status, sizeof status, "%u", route->status);
    open_member(j, status);
    text_member(j, "description", route->reply ? route->reply->help : "An OpenAPI document.");
    write_content(w, "application/json", route->reply);
    json_end(j);
    open_member(j, "default");
    text_member(j, "description", wire_error_shape.help);
    write_content(w, "application/json", &wire_error_shape);
    json_end(j);
    json_end(j);
    json_end(j);
}

/* Paths in the order of their first rows, each with all its methods. */
static void write_paths(struct writing *w)
{
    struct json *j = &w->json;
    open_member(j, "paths");
    for (const struct route *first = routes; first->method; first++) {
        bool is_first = true;
        for (const struct route *route = routes; route < first; route++)
            is_first &= strcmp(route->path, first->path) != 0;
        if (!is_first) continue;
        open_member(j, first->path);
        for (const struct route *route = first; route->method; route++) {
            if (strcmp(route->path, first->path) == 0) write_operation(w, route);
        }
        json_end(j);
    }
    json_end(j);
}

void openapi_write(struct buf *out)
{
    struct writing w = {.json = {.out = out}};
    struct json *j = &w.json;
    json_begin_object(j);
    text_member(j, "openapi", "3.1.0");
    open_member(j, "info");
    text_member(j, "title", "Fairlead");
    text_member(j, "version", FAIRLEAD_VERSION);
    text_member(
        j, "description",
        "The daemon's API on its Unix socket. Who asks is what the kernel says. Moments and spans named _us are "
        "microseconds, moments since the epoch. GET /v1/shares?format=psv answers with text/plain, as "
        "do listings with format=lines: a line of the fields' names and a line a row, values between |.");
    json_end(j);
    json_key(j, "servers");
    json_begin_array(j);
    json_begin_object(j);
    text_member(j, "url", "http://localhost");
    json_end(j);
    json_end(j);
    write_paths(&w);
    open_member(j, "components");
    open_member(j, "schemas");
    for (uint32_t i = 0; i < w.shape_count; i++) write_shape(&w, w.shapes[i]); /* may meet more */
    json_end(j);
    json_end(j);
    json_end(j);
}

int get_openapi(struct request *r, struct err *e)
{
    struct buf body = {0};
    if (read_query(r, NULL, e) != 0) return -1;
    openapi_write(&body);
    buf_add_char(&body, '\n');
    reply_take(r, MHD_HTTP_OK, TYPE_JSON, &body);
    return 0;
}
