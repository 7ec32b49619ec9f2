/* The table of routes and the API's description: the description has exactly the routes and methods of the table, every
 * reference has a schema, and every path finds its row. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/server/internal.h"
#include "fields/limits.h"
#include "fields/priority_fields.h"
#include "fields/settings.h"
#include "fields/share_fields.h"

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

/* The member first of object, or its member second if that is not NULL; fails if there is none. */
static json_t *member_of(json_t *object, const char *first, const char *second)
{
    json_t *value = json_object_get(object, first);
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

static void description_has_exactly_the_routes(void **unused)
{
    json_t *root = description(), *paths = member_of(root, "paths", NULL), *operations;
    size_t described = 0, rows = 0;
    const char *path;
    (void)unused;
    json_object_foreach(paths, path, operations) described += json_object_size(operations);
    for (const struct route *route = routes; route->method; route++, rows++) {
        char method[16], status[8];
        lower(route->method, method);
        json_t *operation = member_of(member_of(paths, route->path, NULL), method, NULL);
        assert_string_equal(json_string_value(member_of(operation, "operationId", NULL)), route->id);
        assert_string_equal(json_string_value(member_of(operation, "summary", NULL)), route->summary);
        text_format(status, sizeof status, "%u", route->status);
        member_of(member_of(operation, "responses", status), "content",
                  route->reply_type != NULL ? route->reply_type : "application/json");
        member_of(member_of(operation, "responses", "default"), "content", "application/json");
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
        size_t expected = strchr(route->path, '{') != NULL;
        lower(route->method, method);
        json_t *operation = member_of(member_of(root, "paths", route->path), method, NULL);
        const json_t *parameters = json_object_get(operation, "parameters");
        for (const struct wire_field *f = route->query ? route->query->fields : NULL; f && f->name; f++, expected++) {
            const json_t *parameter = json_array_get(parameters, expected);
            assert_string_equal(json_string_value(json_object_get(parameter, "name")), f->name);
            assert_string_equal(json_string_value(json_object_get(parameter, "in")), "query");
        }
        assert_int_equal(json_array_size(parameters), expected);
    }
    json_decref(root);
}

/* Adds the schemas that are referred to in value to used; fails if one does not exist. */
static void collect_references(json_t *value, json_t *schemas, json_t *used)
{
    const char *key;
    json_t *member;
    size_t index;
    if (json_is_array(value)) {
        json_array_foreach(value, index, member) collect_references(member, schemas, used);
        return;
    }
    json_object_foreach(value, key, member)
    {
        collect_references(member, schemas, used);
        if (strcmp(key, "$ref") != 0) continue;
        const char *name = strrchr(json_string_value(member), '/') + 1;
        if (json_object_get(schemas, name) == NULL) fail_msg("no schema %s", name);
        json_object_set_new(used, name, json_true());
    }
}

static void schemas_are_referred_to_and_complete(void **unused)
{
    json_t *root = description(), *schemas = member_of(root, "components", "schemas"), *used = json_object(), *schema;
    const char *name;
    (void)unused;
    collect_references(root, schemas, used);
    assert_int_equal(json_object_size(used), json_object_size(schemas));
    json_object_foreach(schemas, name, schema)
    {
        json_t *properties = member_of(schema, "properties", NULL), *required = json_object_get(schema, "required"),
               *item;
        size_t index;
        assert_true(json_object_size(properties) > 0);
        json_array_foreach(required, index, item) member_of(properties, json_string_value(item), NULL);
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
        assert_int_equal(a->body_kind == BODY_OBJECT, a->body != NULL);
    }
}

/* --- records in the description, and their tables of fields ------------------------------------------------------- */

/* Whether the schema accepts a type such as "string", perhaps among others; "enum": whether it lists words. */
static bool has_type(json_t *schema, const char *name)
{
    json_t *type = json_object_get(schema, "type"), *item;
    size_t index;
    if (strcmp(name, "enum") == 0 && json_object_get(schema, "enum") != NULL) return true;
    if (json_is_string(type)) return strcmp(json_string_value(type), name) == 0;
    json_array_foreach(type, index, item)
    {
        if (strcmp(json_string_value(item), name) == 0) return true;
    }
    json_array_foreach(json_object_get(schema, "oneOf"), index, item)
    {
        if (has_type(item, name)) return true;
    }
    return false;
}

static const char *type_of(const struct field *f, bool is_written)
{
    if ((is_written || f->is_text) && (field_is_duration(f) || f->type == FIELD_MEMORY)) return "string";
    switch (f->type) {
    case FIELD_REAL: return "number";
    case FIELD_BOOL: return "boolean";
    case FIELD_CHOICE: return "enum";
    case FIELD_TEXT: return f->is_pairs ? "object" : "string";
    case FIELD_BYTES: return "string";
    default: return "integer";
    }
}

/* The words are those of the table, and null if the field is nullable. */
static void check_words(json_t *schema, const struct field *f)
{
    json_t *words = member_of(schema, "enum", NULL);
    size_t count = 0;
    for (struct str rest = str(f->choices); rest.text != NULL; count++) {
        struct str word = str_cut(rest, ',', &rest), described = str(json_string_value(json_array_get(words, count)));
        assert_true(str_equal(described, word));
    }
    assert_int_equal(json_array_size(words), count + f->is_nullable);
}

static void check_bound(json_t *schema, const char *key, double bound)
{
    json_t *item, *described = json_object_get(schema, key);
    size_t index;
    json_array_foreach(json_object_get(schema, "oneOf"), index, item)
    {
        if (described == NULL) described = json_object_get(item, key);
    }
    if (bound >= -WHOLE_REAL_MAX && bound <= WHOLE_REAL_MAX)
        assert_true(json_number_value(described) == bound);
    else
        assert_null(described);
}

static void check_field(json_t *schema, const struct field *f, bool is_written, bool is_nullable)
{
    const char *type = type_of(f, is_written);
    assert_string_equal(json_string_value(member_of(schema, "description", NULL)), f->help);
    if (!has_type(schema, type)) fail_msg("%s is not %s", f->name, type);
    bool has_null = strcmp(type, "enum") == 0 ? is_nullable : has_type(schema, "null");
    assert_int_equal(has_null, is_nullable);
    if (f->type == FIELD_CHOICE) check_words(schema, f);
    if (strcmp(type, "integer") != 0) return;
    check_bound(schema, "minimum", f->min);
    check_bound(schema, "maximum", f->max);
    assert_int_equal(has_type(schema, "enum"), f->special != NULL);
}

/* The schema has exactly the fields of the table that are not hidden, with their types and ranges. */
static void check_record(json_t *schemas, const struct field_table *table)
{
    json_t *schema = member_of(schemas, table->name, NULL), *properties = member_of(schema, "properties", NULL);
    size_t count = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct field *f = field_at(table, i);
        if (f->is_hidden) continue;
        check_field(member_of(properties, f->name, NULL), f, table->is_written, f->is_nullable || f->is_private);
        count++;
    }
    assert_int_equal(json_object_size(properties), count);
    assert_int_equal(json_array_size(member_of(schema, "required", NULL)), count);
    assert_string_equal(json_string_value(member_of(schema, "description", NULL)), table->help);
}

static void records_are_described_by_their_tables(void **unused)
{
    static const struct field_table *const tables[] = {&job_fields,     &priority_fields,     &share_fields,
                                                       &account_fields, &account_fields_user, &setting_fields};
    json_t *root = description(), *schemas = member_of(root, "components", "schemas");
    (void)unused;
    for (size_t i = 0; i < COUNT(tables); i++) check_record(schemas, tables[i]);
    for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++) check_record(schemas, &object_classes[kind].record);
    json_decref(root);
}

/* The schemas of a submission and an update have exactly the settable fields of a job, and the shape's own members. */
static void submissions_are_described_by_the_table(void **unused)
{
    static const struct wire_shape *const shapes[] = {&api_submit_shape, &api_update_shape};
    json_t *root = description(), *schemas = member_of(root, "components", "schemas");
    (void)unused;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        json_t *properties = member_of(member_of(schemas, shapes[i]->name, NULL), "properties", NULL);
        size_t count = 0;
        for (const struct wire_field *f = shapes[i]->fields; f->name; f++) count++;
        for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
            if (!job_field_is_settable(f, shapes[i] == &api_update_shape)) continue;
            check_field(member_of(properties, job_field_at(f)->name, NULL), job_field_at(f), false,
                        job_field_at(f)->is_nullable);
            count++;
        }
        assert_int_equal(json_object_size(properties), count);
    }
    json_t *required = member_of(member_of(schemas, "Submit", NULL), "required", NULL);
    assert_int_equal(json_array_size(required), 2);
    assert_string_equal(json_string_value(json_array_get(required, 0)), "command");
    assert_string_equal(json_string_value(json_array_get(required, 1)), "directory");
    assert_null(json_object_get(member_of(schemas, "Update", NULL), "required"));
    json_decref(root);
}

/* --- objects: their records, routes and bodies -------------------------------------------------------------------- */

static void objects_have_the_fields_of_their_tables(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++) {
        const struct object_class *class = &object_classes[kind];
        const struct wire_field *list = api_object_lists[kind].fields;
        const struct field_table *record = &class->record;
        assert_true(class->field_count <= OBJECT_FIELDS_MAX && record->count <= OBJECT_RECORD_MAX);
        assert_string_equal(field_at(record, OBJECT_RECORD_NAME)->name, "name");
        for (uint32_t i = 0; i < class->field_count; i++) {
            assert_ptr_equal(field_at(record, OBJECT_RECORD_FIELDS + i), &class->fields[i]);
            assert_false(class->fields[i].is_read_only);
        }
        assert_true(record->count > OBJECT_RECORD_FIELDS + class->field_count);
        for (uint32_t i = OBJECT_RECORD_FIELDS + class->field_count; i < record->count; i++)
            assert_true(field_at(record, i)->is_read_only);
        assert_string_equal(field_at(record, record->count - 1)->name, "created_us");
        assert_string_equal(list->name, kind == OBJECT_USER_POLICY ? "user_policies" : class->plural);
        assert_ptr_equal(list->table, record);
        assert_null(list[1].name);
    }
}

/* Each kind has four routes, which agree on the kind. */
static void objects_have_their_routes(void **unused)
{
    uint32_t routes_of[OBJECT_KIND_COUNT] = {0};
    (void)unused;
    for (const struct route *route = routes; route->method; route++) {
        bool is_object = route->handle == server_get_objects || route->handle == server_post_object ||
                         route->handle == server_patch_object || route->handle == server_delete_object;
        if (!is_object) continue;
        assert_true(str_starts(str(route->path), str(api_object_paths[route->object])));
        if (route->handle == server_get_objects) assert_ptr_equal(route->reply, &api_object_lists[route->object]);
        assert_int_equal(route->body_kind == BODY_ADD, route->handle == server_post_object);
        assert_int_equal(route->body_kind == BODY_CHANGE, route->handle == server_patch_object);
        routes_of[route->object]++;
    }
    for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++) assert_int_equal(routes_of[kind], 4);
}

/* Bodies of pairs are described field by field, without read-only fields. */
static void pairs_are_described(void **unused)
{
    json_t *root = description(), *paths = member_of(root, "paths", NULL);
    (void)unused;
    json_t *add = member_of(member_of(paths, API_QOS, "post"), "requestBody", "content");
    json_t *schema = member_of(member_of(add, "application/json", NULL), "schema", NULL);
    member_of(schema, "properties", "usage_factor");
    member_of(schema, "properties", "name");
    assert_null(json_object_get(member_of(schema, "properties", NULL), "usage"));
    assert_null(json_object_get(member_of(schema, "properties", NULL), "created_us"));
    json_t *change = member_of(member_of(paths, API_QOS "/{name}", "patch"), "requestBody", "content");
    schema = member_of(member_of(change, "application/json", NULL), "schema", NULL);
    assert_null(json_object_get(member_of(schema, "properties", NULL), "name"));
    assert_null(json_object_get(schema, "required"));
    member_of(schema, "properties", "RawUsage"); /* a QOS has usage, which can be reset */
    change = member_of(member_of(paths, API_PARTITIONS "/{name}", "patch"), "requestBody", "content");
    schema = member_of(member_of(change, "application/json", NULL), "schema", NULL);
    assert_null(json_object_get(member_of(schema, "properties", NULL), "RawUsage"));
    json_decref(root);
}

static void paths_find_their_rows(void **unused)
{
    static const struct {
        const char *method, *path, *id; /* id NULL: not found; allow: the accepted methods */
        const char *segment, *allow;
    } rows[] = {
        {"GET", "/v1/jobs", "listJobs", NULL, NULL},
        {"HEAD", "/v1/jobs", "listJobs", NULL, NULL},
        {"GET", "/v1/jobs/5", "showJob", "5", NULL},
        {"GET", "/v1/jobs/5/submission", "showSubmission", "5", NULL},
        {"GET", "/v1/jobs/5/wait", "waitForJob", "5", NULL},
        {"POST", "/v1/jobs/cancel", "cancelJobs", NULL, NULL},
        {"DELETE", "/v1/jobs/5", "cancelJob", "5", NULL},
        {"DELETE", "/v1/jobs/cancel", NULL, NULL, "POST, OPTIONS"},
        {"POST", "/v1/jobs/5", NULL, NULL, "GET, HEAD, PATCH, DELETE, OPTIONS"},
        {"get", "/v1/jobs", NULL, NULL, "GET, HEAD, POST, OPTIONS"},
        {"PATCH", "/v1/accounts/a%2Fb", "modifyAccount", "a%2Fb", NULL},
        {"PATCH", "/v1/qos/fast", "modifyQos", "fast", NULL},
        {"DELETE", "/v1/user-policies/alice", "deleteUserPolicy", "alice", NULL},
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
        cmocka_unit_test(description_has_exactly_the_routes),
        cmocka_unit_test(parameters_are_those_of_the_query),
        cmocka_unit_test(schemas_are_referred_to_and_complete),
        cmocka_unit_test(ids_are_unique),
        cmocka_unit_test(records_are_described_by_their_tables),
        cmocka_unit_test(submissions_are_described_by_the_table),
        cmocka_unit_test(objects_have_the_fields_of_their_tables),
        cmocka_unit_test(objects_have_their_routes),
        cmocka_unit_test(pairs_are_described),
        cmocka_unit_test(paths_find_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
