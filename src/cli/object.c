#include "cli/object.h"

#include <string.h>

#include "api/bodies.h"
#include "cli/foreign_syntax.h"
#include "cli/limit_columns.h"
#include "cli/object_users.h"
#include "cli/pairs.h"

enum { HINT_BYTES = 80 };

/* --- changing ----------------------------------------------------------------------------------------------------- */

static const char *target_of(struct call *call, enum object_kind kind, const char *name)
{
    struct buf target = {0};
    buf_add_text(&target, api_object_paths[kind]);
    if (name) client_add_segment(&target, name);
    return instance_target(call, &target);
}

/* Reads the operands after the name. */
static int read_pairs(struct call *call, struct pairs *pairs, struct err *e)
{
    for (uint32_t i = 1; i < call->parsed.operand_count; i++) {
        struct str value, pair = str(call->parsed.operands[i]), name = str_cut(pair, '=', &value);
        const char *advice = value.text != NULL ? foreign_syntax_object_field(name) : NULL;
        if (advice != NULL) return err_set(e, ERR_USAGE, "no field '%.*s': %s", (int)name.length, name.text, advice);
        if (pairs_add(pairs, pair, e) != 0) return -1;
    }
    return 0;
}

static const char *hint_for(struct call *call)
{
    char hint[HINT_BYTES];
    text_format(hint, sizeof hint, "'fairlead %s --help'", call->command->name);
    return arena_copy(call->arena, str(hint));
}

#define TO_POLICIES " to the ticket policies"

/* "Added partition fast". of_policies: what follows the name of a user. */
static void write_done(struct call *call, const char *done, enum object_kind kind, const char *of_policies)
{
    output_line(call->out, "%s %s %s%s", done, object_classes[kind].name, call->parsed.operands[0],
                kind == OBJECT_USER_POLICY ? of_policies : "");
}

/* The body has the name as the field "name", which no kind has among its fields. */
static int send_new(struct call *call, struct client *c, enum object_kind kind, struct pairs *pairs, struct err *e)
{
    const char *name = call->parsed.operands[0];
    if (!str_is_printable(str(name)))
        return err_set(e, ERR_INPUT, "'%s' is not a name: it contains control characters or invalid UTF-8", name);
    pairs_set(pairs, "name", name);
    return pairs_send(pairs, c, "POST", target_of(call, kind, NULL), e);
}

int object_run_add(struct call *call, enum object_kind kind, struct err *e)
{
    struct pairs pairs = {.hint = hint_for(call)};
    struct client client = {.fd = -1};
    int status = read_pairs(call, &pairs, e);
    if (status == 0) status = instance_open(call, &client, e);
    if (status == 0) status = send_new(call, &client, kind, &pairs, e);
    if (status == 0) write_done(call, "Added", kind, TO_POLICIES);
    client_close(&client);
    if (status == 0) object_users_note(call, kind);
    pairs_release(&pairs);
    return status;
}

int object_run_modify(struct call *call, enum object_kind kind, bool adds_missing, struct err *e)
{
    struct pairs pairs = {.hint = hint_for(call)};
    struct client client = {.fd = -1};
    bool is_new = false;
    if (call->parsed.operand_count < 2)
        return err_set(e, ERR_USAGE, "nothing to change: give at least one FIELD=VALUE; see %s", pairs.hint);
    int status = read_pairs(call, &pairs, e);
    if (status == 0) status = instance_open(call, &client, e);
    if (status == 0) status = pairs_send(&pairs, &client, "PATCH", target_of(call, kind, call->parsed.operands[0]), e);
    if (status != 0 && adds_missing && e->code == ERR_NOT_FOUND) {
        const struct err cause = *e;
        is_new = true;
        status = send_new(call, &client, kind, &pairs, e);
        if (status != 0 && e->code == ERR_EXISTS) *e = cause; /* the object exists: something else was not found */
    }
    if (status == 0) write_done(call, is_new ? "Added" : "Modified", kind, is_new ? TO_POLICIES : "");
    client_close(&client);
    if (status == 0) object_users_note(call, kind);
    pairs_release(&pairs);
    return status;
}

int object_run_set(struct call *call, enum object_kind kind, const struct object_change *change, struct err *e)
{
    struct pairs pairs = {.hint = hint_for(call)};
    struct client client = {.fd = -1};
    pairs_set(&pairs, change->field, change->value);
    int status = instance_open(call, &client, e);
    if (status == 0) status = pairs_send(&pairs, &client, "PATCH", target_of(call, kind, call->parsed.operands[0]), e);
    if (status == 0) write_done(call, change->done, kind, "");
    client_close(&client);
    pairs_release(&pairs);
    return status;
}

int object_run_delete(struct call *call, enum object_kind kind, struct err *e)
{
    struct api_done reply;
    const char *target = target_of(call, kind, call->parsed.operands[0]);
    if (instance_request_once(call, "DELETE", target, NULL, NULL, &api_done_shape, &reply, e) != 0) return -1;
    write_done(call, "Deleted", kind, " from the ticket policies");
    return 0;
}

/* --- listing ------------------------------------------------------------------------------------------------------ */

/* The one object that is listed. */
struct named_object {
    const char *name;
    enum object_kind kind;
    struct buf *load; /* that of a host, as lines */
};

static bool has_name(const struct field_value *row, const void *context)
{
    const struct named_object *wanted = context;
    if (strcmp(row[OBJECT_RECORD_NAME].text, wanted->name) != 0) return false;
    const char *load = wanted->kind == OBJECT_HOST ? row[OBJECT_RECORD_FIELDS + HOST_LOAD].text : NULL;
    if (load != NULL) buf_add_text(wanted->load, load);
    return true;
}

/* "    load_avg          0.45" */
static void write_load(struct call *call, const struct buf *load)
{
    for (struct str rest = {load->text, load->length}; rest.length > 0;) {
        struct str value, line = str_cut(rest, '\n', &rest), name = str_cut(line, '=', &value);
        output_line(call->out, "    %-16.*s  %.*s", (int)name.length, name.text, (int)value.length, value.text);
    }
}

/* What people look for first, after the name; the other fields follow in their own order. */
static const uint8_t partition_first[] = {PARTITION_IS_DEFAULT, PARTITION_STATE,       PARTITION_CLOSED_UNTIL,
                                          PARTITION_HOSTS,      PARTITION_SLOTS,       PARTITION_TIER,
                                          PARTITION_JOB_FACTOR, PARTITION_MAX_TIME,    PARTITION_PE_LIST,
                                          PARTITION_USER_LISTS, PARTITION_XUSER_LISTS, PARTITION_COMPLEX_VALUES};
static const uint8_t host_first[] = {HOST_STATE,      HOST_IS_ATTACHED, HOST_IS_DOWN, HOST_TOTAL_CPUS, HOST_TOTAL_MEM,
                                     HOST_TOTAL_GPUS, HOST_CPUS,        HOST_MEM,     HOST_FEATURES};
static const struct {
    const uint8_t *fields;
    uint32_t count;
} first_fields[OBJECT_KIND_COUNT] = {
    [OBJECT_PARTITION] = {partition_first, sizeof partition_first}, [OBJECT_HOST] = {host_first, sizeof host_first}};

static bool is_first(enum object_kind kind, uint32_t field)
{
    bool found = false;
    for (uint32_t i = 0; i < first_fields[kind].count; i++)
        found |= first_fields[kind].fields[i] + (uint32_t)OBJECT_RECORD_FIELDS == field;
    return found;
}

/* The limits of a QOS are its last fields. */
enum { QOS_FIRST_LIMIT = QOS_GRP_JOBS, QOS_LIMIT_COUNT = QOS_FIELD_COUNT - QOS_FIRST_LIMIT };

static bool is_limit(enum object_kind kind, uint32_t field)
{
    return kind == OBJECT_QOS && field >= OBJECT_RECORD_FIELDS + QOS_FIRST_LIMIT &&
           field < OBJECT_RECORD_FIELDS + QOS_FIELD_COUNT;
}

static struct field_value compute_qos_limits(const struct field_value *row, struct arena *arena)
{
    return limit_columns_value(&object_classes[OBJECT_QOS].fields[QOS_FIRST_LIMIT], QOS_LIMIT_COUNT,
                               &row[OBJECT_RECORD_FIELDS + QOS_FIRST_LIMIT], arena);
}

static void show_qos_limits(const struct field_value *row, struct buf *out)
{
    limit_columns_show_set(&object_classes[OBJECT_QOS].fields[QOS_FIRST_LIMIT], QOS_LIMIT_COUNT,
                           &row[OBJECT_RECORD_FIELDS + QOS_FIRST_LIMIT], out);
}

static void add_limits_column(struct column_table *t, struct column *columns)
{
    columns[t->count] = (struct column){.computed = &limit_columns_field,
                                        .compute = compute_qos_limits,
                                        .show = show_qos_limits,
                                        .width_min = COLUMN_NAME_WIDTH_MIN,
                                        .rank = (uint8_t)t->count};
    t->count++;
}

static void add_column(struct column_table *t, struct column *columns, enum object_kind kind, uint32_t field)
{
    const struct field *f = field_at(t->fields, field);
    bool is_wide = kind == OBJECT_QOS && field == OBJECT_RECORD_FIELDS + QOS_USAGE_TRES;
    columns[t->count] = (struct column){.field = field,
                                        .width_min = field_is_text(f) ? COLUMN_NAME_WIDTH_MIN : 0,
                                        .rank = (uint8_t)t->count,
                                        .is_for_programs = f->is_pairs || is_limit(kind, field) || is_wide};
    t->count++;
}

/* A column for every field of the kind, the name first, and one for the limits of a QOS that are set. A table that is
 * too wide drops the last ones first. */
static struct column_table make_columns(enum object_kind kind, struct arena *arena)
{
    const struct field_table *fields = &object_classes[kind].record;
    struct column *columns = arena_alloc(arena, (fields->count + (size_t)1) * sizeof *columns);
    struct column_table t = {.fields = fields, .columns = columns};
    add_column(&t, columns, kind, OBJECT_RECORD_NAME);
    for (uint32_t i = 0; i < first_fields[kind].count; i++)
        add_column(&t, columns, kind, OBJECT_RECORD_FIELDS + first_fields[kind].fields[i]);
    for (uint32_t i = OBJECT_RECORD_FIELDS; i < fields->count; i++) {
        if (kind == OBJECT_QOS && i == OBJECT_RECORD_FIELDS + QOS_FIRST_LIMIT) add_limits_column(&t, columns);
        if (!is_first(kind, i)) add_column(&t, columns, kind, i);
    }
    return t;
}

int object_run_show(struct call *call, enum object_kind kind, const struct listing_values *form, struct err *e)
{
    const struct object_class *class = &object_classes[kind];
    const char *name = call->parsed.operand_count > 0 ? call->parsed.operands[0] : NULL;
    char empty_note[HINT_BYTES];
    text_format(empty_note, sizeof empty_note, "no %s; run 'fairlead %s add NAME%s' to add one", class->plural,
                class->name, kind == OBJECT_USER_POLICY ? " fshare=N" : "");
    const struct column_table columns = make_columns(kind, call->arena);
    struct buf load = {0};
    const struct named_object wanted = {name, kind, &load};
    const struct instance_listing listing = {
        .columns = &columns,
        .target = target_of(call, kind, NULL),
        .empty_note = name ? NULL : empty_note,
        .has_blocks = name != NULL,
        .drops_empty = true,
        .filter = name ? has_name : NULL,
        .filter_context = &wanted,
    };
    uint32_t count;
    int status = instance_listing_write(call, &listing, form, &count, e);
    if (status == 0 && listing_is_table(form) && form->columns == NULL) write_load(call, &load);
    buf_release(&load);
    if (status != 0) return -1;
    if (name == NULL || count > 0) return 0;
    return err_not_found(e, kind == OBJECT_USER_POLICY ? "user policy" : class->name, str(name));
}
