/* The table of routes, and the API's description held against it: every route and method is described, and nothing else;
 * every reference leads somewhere; every path with a {part} finds its row. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/server/internal.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static json_t *description(void)
{
    struct buf text = {0};
    json_error_t error;
    openapi_write(&text);
    json_t *root = json_loadb(text.text, text.length, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) fail_msg("line %d, column %d: %s", error.line, error.column, error.text);
    buf_release(&text);
    return root;
}

/* The member's member (or the member, second NULL), which has to be there. */
static json_t *at(json_t *from, const char *first, const char *second)
{
    json_t *value = json_object_get(from, first);
    if (value && second) value = json_object_get(value, second);
    if (value == NULL) fail_msg("%s %s is not in the description", first, second ? second : "");
    return value;
}

static void lower(const char *method, char out[16])
{
    size_t i = 0;
    for (; method[i]; i++) out[i] = (char)tolower((unsigned char)method[i]);
    out[i] = '\0';
}

static void every_route_is_described_and_nothing_else(void **unused)
{
    json_t *root = description(), *paths = at(root, "paths", NULL), *operations;
    size_t described = 0, rows = 0;
    const char *path;
    (void)unused;
    json_object_foreach(paths, path, operations) described += json_object_size(operations);
    for (const struct route *route = routes; route->method; route++, rows++) {
        char method[16], status[8];
        lower(route->method, method);
        json_t *operation = at(at(paths, route->path, NULL), method, NULL);
        assert_string_equal(json_string_value(at(operation, "operationId", NULL)), route->id);
        assert_string_equal(json_string_value(at(operation, "summary", NULL)), route->summary);
        text_format(status, sizeof status, "%u", route->status);
        at(at(operation, "responses", status), "content", "application/json");
        at(at(operation, "responses", "default"), "content", "application/json");
        assert_int_equal(json_object_get(operation, "requestBody") != NULL, route->body_kind != BODY_NONE);
    }
    assert_int_equal(described, rows);
    json_decref(root);
}

static void parameters_are_those_of_the_query(void **unused)
{
    json_t *root = description();
    (void)unused;
    for (const struct route *route = routes; route->method; route++) {
        char method[16];
        size_t wanted = strchr(route->path, '{') != NULL;
        lower(route->method, method);
        json_t *operation = at(at(root, "paths", route->path), method, NULL);
        const json_t *parameters = json_object_get(operation, "parameters");
        for (const struct wire_field *f = route->query ? route->query->fields : NULL; f && f->name; f++, wanted++) {
            const json_t *parameter = json_array_get(parameters, wanted);
            assert_string_equal(json_string_value(json_object_get(parameter, "name")), f->name);
            assert_string_equal(json_string_value(json_object_get(parameter, "in")), "query");
        }
        assert_int_equal(json_array_size(parameters), wanted);
    }
    json_decref(root);
}

/* How many references lead to each schema; fails where one leads nowhere. */
static void follow(json_t *value, json_t *schemas, json_t *used)
{
    const char *key;
    json_t *member;
    size_t index;
    if (json_is_array(value)) {
        json_array_foreach(value, index, member) follow(member, schemas, used);
        return;
    }
    json_object_foreach(value, key, member)
    {
        follow(member, schemas, used);
        if (strcmp(key, "$ref") != 0) continue;
        const char *name = strrchr(json_string_value(member), '/') + 1;
        if (json_object_get(schemas, name) == NULL) fail_msg("no schema %s", name);
        json_object_set_new(used, name, json_true());
    }
}

static void schemas_are_referred_to_and_complete(void **unused)
{
    json_t *root = description(), *schemas = at(root, "components", "schemas"), *used = json_object(), *schema;
    const char *name;
    (void)unused;
    follow(root, schemas, used);
    assert_int_equal(json_object_size(used), json_object_size(schemas));
    json_object_foreach(schemas, name, schema)
    {
        json_t *properties = at(schema, "properties", NULL), *required = json_object_get(schema, "required"), *item;
        size_t index;
        assert_true(json_object_size(properties) > 0);
        json_array_foreach(required, index, item) at(properties, json_string_value(item), NULL);
    }
    json_decref(used);
    json_decref(root);
}

static void ids_are_unique(void **unused)
{
    (void)unused;
    for (const struct route *a = routes; a->method; a++) {
        for (const struct route *b = routes; b != a; b++) {
            assert_string_not_equal(a->id, b->id);
            if (strcmp(a->path, b->path) == 0) assert_string_not_equal(a->method, b->method);
        }
        assert_non_null(a->handle);
        bool has_shape = a->body_kind == BODY_OBJECT || a->body_kind == BODY_ADD || a->body_kind == BODY_CHANGE;
        assert_int_equal(has_shape, a->body != NULL);
    }
}

/* --- what an administrator names: the shapes of the wire against the tables of the policies ----------------------- */

static enum wire_type type_of(const struct field *f)
{
    switch (f->type) {
    case FIELD_NUMBER: return WIRE_I64;
    case FIELD_REAL: return WIRE_DOUBLE;
    case FIELD_BOOL: return WIRE_BOOL;
    case FIELD_CHOICE: return WIRE_CHOICE;
    default: return WIRE_TEXT;
    }
}

static size_t member_of(enum wire_type type)
{
    switch (type) {
    case WIRE_I64: return offsetof(struct wire_object_value, number);
    case WIRE_DOUBLE: return offsetof(struct wire_object_value, real);
    case WIRE_BOOL: return offsetof(struct wire_object_value, is_true);
    default: return offsetof(struct wire_object_value, text);
    }
}

static void check_field(const struct wire_field *w, const struct field *f, uint32_t place)
{
    assert_string_equal(w->name, f->name);
    assert_int_equal(w->type, type_of(f));
    assert_int_equal(w->offset, offsetof(struct wire_object_row, values) + place * sizeof(struct wire_object_value) +
                                    member_of(w->type));
    if (!str_starts(str(w->help), str(f->help))) fail_msg("%s: '%s' is not '%s'", f->name, w->help, f->help);
    if (f->type == FIELD_CHOICE) assert_string_equal(w->choices, f->choices);
    if (f->type == FIELD_NUMBER) {
        assert_int_equal(w->min, (int64_t)f->min);
        assert_int_equal(w->max, (int64_t)f->max);
        assert_int_equal(w->is_required, f->special == NULL);
        assert_int_equal(w->absent, FIELD_SPECIAL);
    }
}

static void objects_have_the_fields_of_their_tables(void **unused)
{
    (void)unused;
    assert_int_equal(WIRE_OBJECT_KINDS, OBJECT_KIND_COUNT);
    assert_int_equal(WIRE_OBJECT_VALUES, OBJECT_FIELDS_MAX);
    for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++) {
        const struct object_class *class = &object_classes[kind];
        const struct wire_field *w = wire_object_kinds[kind].row->fields;
        assert_string_equal(w->name, "name");
        for (uint32_t i = 0; i < class->field_count; i++) check_field(++w, &class->fields[i], i);
        while ((++w)->name != NULL) assert_true(w->is_read_only);
        assert_string_equal(wire_object_kinds[kind].list->fields[0].name, class->plural);
        assert_ptr_equal(wire_object_kinds[kind].list->fields[0].shape, wire_object_kinds[kind].row);
    }
}

/* Four routes each, which agree on the kind. */
static void objects_have_their_routes(void **unused)
{
    uint32_t routes_of[OBJECT_KIND_COUNT] = {0};
    (void)unused;
    for (const struct route *route = routes; route->method; route++) {
        bool is_object = route->handle == get_objects || route->handle == post_object ||
                         route->handle == patch_object || route->handle == delete_object;
        if (!is_object) continue;
        const struct wire_object_kind *kind = &wire_object_kinds[route->object];
        assert_true(str_starts(str(route->path), str(kind->path)));
        if (route->handle == get_objects) assert_ptr_equal(route->reply, kind->list);
        if (route->body) assert_ptr_equal(route->body, kind->row);
        routes_of[route->object]++;
    }
    for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++) assert_int_equal(routes_of[kind], 4);
}

/* Bodies of pairs are described field by field, without what the instance makes. */
static void pairs_are_described(void **unused)
{
    json_t *root = description(), *paths = at(root, "paths", NULL);
    (void)unused;
    json_t *add = at(at(paths, WIRE_QOS, "post"), "requestBody", "content");
    json_t *schema = at(at(add, "application/json", NULL), "schema", NULL);
    at(schema, "properties", "usage_factor");
    at(schema, "properties", "name");
    assert_null(json_object_get(at(schema, "properties", NULL), "usage"));
    assert_null(json_object_get(at(schema, "properties", NULL), "created_us"));
    json_t *change = at(at(paths, WIRE_QOS "/{name}", "patch"), "requestBody", "content");
    schema = at(at(change, "application/json", NULL), "schema", NULL);
    assert_null(json_object_get(at(schema, "properties", NULL), "name"));
    assert_null(json_object_get(schema, "required"));
    json_decref(root);
}

static void paths_find_their_rows(void **unused)
{
    static const struct {
        const char *method, *path, *id; /* id NULL: not found, and what is allowed in its place */
        const char *segment, *allow;
    } rows[] = {
        {"GET", "/v1/jobs", "listJobs", NULL, NULL},
        {"HEAD", "/v1/jobs", "listJobs", NULL, NULL},
        {"GET", "/v1/jobs/5", "showJob", "5", NULL},
        {"GET", "/v1/jobs/5/wait", "waitForJob", "5", NULL},
        {"POST", "/v1/jobs/cancel", "cancelJobs", NULL, NULL},
        {"DELETE", "/v1/jobs/5", "cancelJob", "5", NULL},
        {"DELETE", "/v1/jobs/cancel", NULL, NULL, "POST, OPTIONS"},
        {"POST", "/v1/jobs/5", NULL, NULL, "GET, HEAD, PATCH, DELETE, OPTIONS"},
        {"get", "/v1/jobs", NULL, NULL, "GET, HEAD, POST, OPTIONS"},
        {"PATCH", "/v1/accounts/a%2Fb", "modifyAccount", "a%2Fb", NULL},
        {"PATCH", "/v1/qos/fast", "modifyQos", "fast", NULL},
        {"DELETE", "/v1/policy-users/alice", "deletePolicyUser", "alice", NULL},
        {"GET", "/v1/qos/fast", NULL, NULL, "PATCH, DELETE, OPTIONS"},
        {"GET", "/v1/priorities", "listPriorities", NULL, NULL},
        {"GET", "/v1/jobs/", NULL, NULL, NULL},
        {"GET", "/v1//jobs", NULL, NULL, NULL},
        {"GET", "v1/jobs", NULL, NULL, NULL},
        {"GET", "", NULL, NULL, NULL},
        {"GET", "/v1/jobs/5/6", NULL, NULL, NULL},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena arena = {0};
        struct str segment = {0};
        const char *allow;
        struct err e = {0};
        const struct route *route = route_find(rows[i].method, rows[i].path, &arena, &segment, &allow, &e);
        if ((route == NULL) != (rows[i].id == NULL)) fail_msg("%s %s", rows[i].method, rows[i].path);
        if (route) {
            assert_string_equal(route->id, rows[i].id);
            assert_true(str_equal(segment, str(rows[i].segment)));
        } else {
            assert_int_equal(e.code, rows[i].allow ? ERR_USAGE : ERR_NOT_FOUND);
            assert_int_equal(allow == NULL, rows[i].allow == NULL);
            if (allow) assert_string_equal(allow, rows[i].allow);
        }
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_is_described_and_nothing_else),
        cmocka_unit_test(parameters_are_those_of_the_query),
        cmocka_unit_test(schemas_are_referred_to_and_complete),
        cmocka_unit_test(ids_are_unique),
        cmocka_unit_test(objects_have_the_fields_of_their_tables),
        cmocka_unit_test(objects_have_their_routes),
        cmocka_unit_test(pairs_are_described),
        cmocka_unit_test(paths_find_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
