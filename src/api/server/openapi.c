/* GET /v1/openapi.json: the description of the API (OpenAPI 3.1), written from the table of routes. The schemas are
 * those of the shapes and tables that the routes refer to, directly or through other schemas. */
#include <string.h>

#include "api/server/internal.h"
#include "api/server/openapi_schema.h"
#include "base/ensure.h"

#ifndef FAIRLEAD_VERSION
#define FAIRLEAD_VERSION "unknown"
#endif

/* --- a route's operation ------------------------------------------------------------------------------------------ */

static void write_parameter(struct schema_writer *w, const char *where, const struct wire_field *f, bool is_required)
{
    struct json *j = &w->json;
    json_begin_object(j);
    schema_text(j, "name", f->name);
    schema_text(j, "in", where);
    schema_text(j, "description", f->help);
    json_key(j, "required");
    json_bool(j, is_required);
    if (f->type == WIRE_TEXTS) {
        schema_text(j, "style", "form");
        json_key(j, "explode");
        json_bool(j, false);
    }
    schema_open(j, "schema");
    schema_write_field(w, f, false);
    json_end(j);
    json_end(j);
}

static void write_parameters(struct schema_writer *w, const struct route *route)
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
static void write_content(struct schema_writer *w, const char *type, const struct wire_shape *shape)
{
    struct json *j = &w->json;
    schema_open(j, "content");
    schema_open(j, type);
    json_key(j, "schema");
    if (shape) {
        schema_refer(w, (struct schema){.shape = shape});
    } else {
        json_begin_object(j);
        schema_text(j, "type", "object");
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

static void write_settings_body(struct json *j)
{
    schema_text(j, "description", "new values by setting, as in {\"halflife_s\":604800,\"ties\":\"slurm\"}");
    schema_open(j, "additionalProperties");
    schema_write_any_value(j);
    json_end(j);
}

/* is_new: the body adds an object, so it has a name. */
static void write_object_body(struct json *j, enum object_kind kind, bool is_new)
{
    const struct object_class *class = &object_classes[kind];
    schema_text(j, "description", class->record.help);
    schema_open(j, "properties");
    if (is_new) schema_write_pair(j, field_at(&class->record, OBJECT_RECORD_NAME));
    for (uint32_t i = 0; i < class->field_count; i++) schema_write_pair(j, &class->fields[i]);
    if (!is_new && class->has_usage) schema_write_pair(j, &object_usage_reset_field);
    json_end(j);
    if (is_new) {
        json_key(j, "required");
        json_begin_array(j);
        json_text(j, field_at(&class->record, OBJECT_RECORD_NAME)->name);
        json_end(j);
    }
    json_key(j, "additionalProperties");
    json_bool(j, false);
}

static void write_body(struct schema_writer *w, const struct route *route)
{
    struct json *j = &w->json;
    if (route->body_kind == BODY_NONE) return;
    schema_open(j, "requestBody");
    json_key(j, "required");
    json_bool(j, true);
    if (route->body_kind == BODY_OBJECT) {
        write_content(w, "application/json", route->body);
    } else {
        schema_open(j, "content");
        schema_open(j, "application/json");
        schema_open(j, "schema");
        schema_text(j, "type", "object");
        if (route->body_kind == BODY_SETTINGS) {
            write_settings_body(j);
        } else {
            write_object_body(j, route->object, route->body_kind == BODY_ADD);
        }
        json_key(j, "minProperties");
        json_u64(j, 1);
        json_end(j);
        json_end(j);
        json_end(j);
    }
    json_end(j);
}

static void write_operation(struct schema_writer *w, const struct route *route)
{
    static const struct {
        const char *method, *key;
    } keys[] = {
        {.method = MHD_HTTP_METHOD_GET, .key = "get"},
        {.method = MHD_HTTP_METHOD_POST, .key = "post"},
        {.method = MHD_HTTP_METHOD_PATCH, .key = "patch"},
        {.method = MHD_HTTP_METHOD_DELETE, .key = "delete"},
    };
    struct json *j = &w->json;
    char status[24];
    size_t i = 0;
    while (strcmp(keys[i].method, route->method) != 0) i++;
    schema_open(j, keys[i].key);
    schema_text(j, "operationId", route->id);
    schema_text(j, "summary", route->summary);
    ensure(route->permission != PERMISSION_UNSET);
    schema_text(j, "x-permission", permissions[route->permission].name);
    schema_text(j, "x-role", permission_roles[permissions[route->permission].role]);
    write_parameters(w, route);
    write_body(w, route);
    schema_open(j, "responses");
    text_format(status, sizeof status, "%u", route->status);
    schema_open(j, status);
    schema_text(j, "description", route->reply ? route->reply->help : route->reply_help);
    write_content(w, route->reply_type != NULL ? route->reply_type : TYPE_JSON, route->reply);
    json_end(j);
    schema_open(j, "default");
    schema_text(j, "description", api_error_shape.help);
    write_content(w, "application/json", &api_error_shape);
    json_end(j);
    json_end(j);
    json_end(j);
}

/* Writes the paths in the order of their first rows, each with all its methods. */
static void write_paths(struct schema_writer *w)
{
    struct json *j = &w->json;
    schema_open(j, "paths");
    for (const struct route *first = routes; first->method; first++) {
        bool is_first = true;
        for (const struct route *route = routes; route < first; route++)
            is_first &= strcmp(route->path, first->path) != 0;
        if (!is_first) continue;
        schema_open(j, first->path);
        for (const struct route *route = first; route->method; route++) {
            if (strcmp(route->path, first->path) == 0) write_operation(w, route);
        }
        json_end(j);
    }
    json_end(j);
}

void openapi_write(struct buf *out)
{
    struct schema_writer w = {.json = {.out = out}};
    struct json *j = &w.json;
    json_begin_object(j);
    schema_text(j, "openapi", "3.1.0");
    schema_open(j, "info");
    schema_text(j, "title", "Fairlead");
    schema_text(j, "version", FAIRLEAD_VERSION);
    schema_text(
        j, "description",
        "The daemon's API on its Unix socket. The kernel identifies the client. Times and durations named _us are "
        "microseconds; times count from 1970 (UTC). GET /v1/shares?format=psv and listings with format=lines answer "
        "with text/plain: a line of the fields' names, then a line for each row, with | between the values.");
    json_end(j);
    json_key(j, "servers");
    json_begin_array(j);
    json_begin_object(j);
    schema_text(j, "url", "http://localhost");
    json_end(j);
    json_end(j);
    write_paths(&w);
    schema_open(j, "components");
    schema_open(j, "schemas");
    for (uint32_t i = 0; i < w.count; i++) schema_write(&w, &w.schemas[i]); /* may refer to more */
    json_end(j);
    json_end(j);
    json_end(j);
}

int server_get_openapi(struct request *r, struct err *e)
{
    struct buf body = {0};
    if (request_read_query(r, NULL, e) != 0) return -1;
    openapi_write(&body);
    buf_add_char(&body, '\n');
    reply_take(r, MHD_HTTP_OK, TYPE_JSON, &body);
    return 0;
}
