/* Tables of the objects that administrators define (fields/objects.h), one for each kind, and of the usage of owners.
 *
 *     partition( id, name, created_us, priority_job_factor, priority_tier, max_time_s, ... )
 *     qos(       id, name, created_us, priority, ..., usage_billing_s, usage_wall_s, usage_tres, reset_us )
 *
 * The statements are generated from the kinds' tables of fields, so a new field needs a column in schema.c and no
 * change here (tests/unit/test_store_objects.c checks that the column exists):
 *
 *     column       the field's name in lower snake case; a duration ends in _s, memory in _mib
 *     its type     INTEGER for numbers, durations and booleans; REAL for reals; TEXT for text and the word of a choice
 *     NULL         the field's special word ("UNLIMITED")
 *
 * Names of tables and columns come from the tables of fields, never from input; values are bound. */
#include <string.h>

#include "base/ensure.h"
#include "policy/tres_text.h"
#include "store/field_columns.h"
#include "store/internal.h"

const char *object_table(enum object_kind kind)
{
    if (kind == OBJECT_USER_POLICY) return "user_policy";
    return kind == OBJECT_GROUP ? "host_group" : object_classes[kind].name; /* group is a word of SQL */
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* "TRESBillingWeights": a word begins at a capital letter that follows or precedes a small one, but not in "CPUs". */
static bool is_word_start(const char *name, size_t i)
{
    if (i == 0 || !is_upper(name[i]) || name[i - 1] == '_') return false;
    bool is_plural = is_upper(name[i - 1]) && name[i + 1] == 's' && (name[i + 2] == '\0' || is_upper(name[i + 2]));
    if (is_plural) return false;
    return !is_upper(name[i - 1]) || (name[i + 1] != '\0' && !is_upper(name[i + 1]));
}

void object_column(const struct field *f, struct buf *out)
{
    for (size_t i = 0; f->name[i] != '\0'; i++) {
        if (is_word_start(f->name, i)) buf_add_char(out, '_');
        buf_add_char(out, is_upper(f->name[i]) ? (char)(f->name[i] + ('a' - 'A')) : f->name[i]);
    }
    if (f->type == FIELD_SECONDS || f->type == FIELD_MINUTES || f->type == FIELD_HOURS) buf_add_text(out, "_s");
    if (f->type == FIELD_MEMORY) buf_add_text(out, "_mib");
}

/* --- statements --------------------------------------------------------------------------------------------------- */

/* Indices of columns; a column's parameter has the next number. Only a QOS has usages and their reset time, in the
 * columns after its fields. */
enum { OBJECT_COLUMN_ID, OBJECT_COLUMN_NAME, OBJECT_COLUMN_CREATED_US, OBJECT_COLUMN_FIELDS };
enum { QOS_COLUMN_BILLING, QOS_COLUMN_WALL, QOS_COLUMN_TRES, QOS_COLUMN_RESET_US, QOS_COLUMN_COUNT };

static uint32_t column_count(enum object_kind kind)
{
    return OBJECT_COLUMN_FIELDS + object_classes[kind].field_count + (kind == OBJECT_QOS ? QOS_COLUMN_COUNT : 0);
}

static void add_column(enum object_kind kind, uint32_t column, struct buf *out)
{
    static const char *const first_columns[OBJECT_COLUMN_FIELDS] = {"id", "name", "created_us"};
    static const char *const qos_columns[QOS_COLUMN_COUNT] = {"usage_billing_s", "usage_wall_s", "usage_tres",
                                                              "reset_us"};
    uint32_t fields_end = OBJECT_COLUMN_FIELDS + object_classes[kind].field_count;
    if (column < OBJECT_COLUMN_FIELDS)
        buf_add_text(out, first_columns[column]);
    else if (column < fields_end)
        object_column(&object_classes[kind].fields[column - OBJECT_COLUMN_FIELDS], out);
    else
        buf_add_text(out, qos_columns[column - fields_end]);
}

static void add_columns(enum object_kind kind, struct buf *out)
{
    for (uint32_t i = 0; i < column_count(kind); i++) {
        if (i > 0) buf_add_text(out, ", ");
        add_column(kind, i, out);
    }
}

static void write_put(enum object_kind kind, struct buf *out)
{
    buf_format(out, "INSERT INTO %s(", object_table(kind));
    add_columns(kind, out);
    buf_add_text(out, ") VALUES(?1");
    for (uint32_t i = 1; i < column_count(kind); i++) buf_format(out, ", ?%u", i + 1);
    buf_add_text(out, ") ON CONFLICT(id) DO UPDATE SET ");
    for (uint32_t i = OBJECT_COLUMN_CREATED_US; i < column_count(kind); i++) {
        if (i > OBJECT_COLUMN_CREATED_US) buf_add_text(out, ", ");
        add_column(kind, i, out);
        buf_add_text(out, " = excluded.");
        add_column(kind, i, out);
    }
}

/* The index of names is only written where a name changes (job_rows.h). */
static void write_move(enum object_kind kind, struct buf *out)
{
    buf_format(out, "UPDATE %s SET name = ?2 WHERE id = ?1 AND name IS NOT ?2", object_table(kind));
}

/* The id of a deleted object is reused, so the name and the creation time have to match as well. */
static void write_remove(enum object_kind kind, struct buf *out)
{
    buf_format(out, "DELETE FROM %s WHERE id = ?1 AND name = ?2 AND created_us = ?3", object_table(kind));
}

static sqlite3_stmt *prepare(struct store *s, enum object_kind kind, void (*write_text)(enum object_kind, struct buf *),
                             struct err *e)
{
    struct buf text = {0};
    write_text(kind, &text);
    sqlite3_stmt *statement = sql_keep(s->db, text.text, e);
    buf_release(&text);
    return statement;
}

int objects_prepare(struct store *s, struct err *e)
{
    for (int k = 0; k < OBJECT_KIND_COUNT; k++) {
        s->move_object[k] = prepare(s, (enum object_kind)k, write_move, e);
        if (s->move_object[k] == NULL) return -1;
        s->put_object[k] = prepare(s, (enum object_kind)k, write_put, e);
        if (s->put_object[k] == NULL) return -1;
        s->remove_object[k] = prepare(s, (enum object_kind)k, write_remove, e);
        if (s->remove_object[k] == NULL) return -1;
    }
    return 0;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

static void bind_key(sqlite3_stmt *put, const struct object_row *o)
{
    sql_bind_int(put, OBJECT_COLUMN_ID + 1, o->id);
    sql_bind_text(put, OBJECT_COLUMN_NAME + 1, o->object.name);
    sql_bind_int(put, OBJECT_COLUMN_CREATED_US + 1, o->created_us);
}

static int write_qos(const struct state *state, sqlite3_stmt *put, const struct object_row *o, struct err *e)
{
    const int first = OBJECT_COLUMN_FIELDS + QOS_FIELD_COUNT + 1;
    struct buf tres = {0};
    tres_text_format(&state->policy.tres, o->usage_tres, &tres);
    sql_bind_double(put, first + QOS_COLUMN_BILLING, o->usage);
    sql_bind_double(put, first + QOS_COLUMN_WALL, o->usage_wall);
    sql_bind_text(put, first + QOS_COLUMN_TRES, tres.length > 0 ? tres.text : NULL);
    sql_bind_int_or_null(put, first + QOS_COLUMN_RESET_US, o->reset_us);
    int status = sql_step(put, e);
    buf_release(&tres);
    return status;
}

int object_write(struct store *s, const struct state *state, uint32_t change, struct err *e)
{
    const enum object_kind kind = (enum object_kind)(change >> 28);
    const struct object_row *o = &state->objects[kind].items[change & ((UINT32_C(1) << 28) - 1)];
    const struct object_class *class = &object_classes[kind];
    sqlite3_stmt *statement = o->is_deleted ? s->remove_object[kind] : s->put_object[kind];
    if (!o->is_deleted) {
        sql_bind_int(s->move_object[kind], OBJECT_COLUMN_ID + 1, o->id);
        sql_bind_text(s->move_object[kind], OBJECT_COLUMN_NAME + 1, o->object.name);
        if (sql_step(s->move_object[kind], e) != 0) return -1;
    }
    bind_key(statement, o);
    for (uint32_t i = 0; i < class->field_count && !o->is_deleted; i++) {
        const struct field_column column = field_column_of(&class->fields[i], false);
        field_column_bind(&column, statement, (int)(OBJECT_COLUMN_FIELDS + i + 1), &o->object.value[i]);
    }
    if (kind == OBJECT_QOS && !o->is_deleted) return write_qos(state, statement, o, e);
    return sql_step(statement, e);
}

int store_usage_owner_write(struct store *s, const struct state *state, uint32_t index, struct err *e)
{
    const struct usage_owner *o = &state->owners.items[index];
    sqlite3_stmt *put = s->statements[PUT_OWNER];
    sql_bind_text(put, 1, o->user);
    sql_bind_text(put, 2, o->project);
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) sql_bind_double(put, 3 + r, o->usage.used[r]);
    sql_bind_int(put, 3 + USAGE_RESOURCE_COUNT, o->at_us);
    sql_bind_int_or_null(put, 4 + USAGE_RESOURCE_COUNT, o->reset_us);
    sql_bind_int(put, 5 + USAGE_RESOURCE_COUNT, state->conversions.number);
    return sql_step(put, e);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static int read_field(sqlite3_stmt *row, int column, const struct field *f, struct field_value *out_value,
                      struct err *e)
{
    const struct field_column c = field_column_of(f, false);
    if (!field_column_read(&c, row, column, out_value)) return field_column_fail(&c, row, column, e);
    return field_check(f, out_value, e);
}

static void read_qos_usage(sqlite3_stmt *row, struct object_row *o, bool *io_bad)
{
    const int first = OBJECT_COLUMN_FIELDS + QOS_FIELD_COUNT;
    o->usage = sql_column_amount(row, first + QOS_COLUMN_BILLING, USAGE_STORED_MAX, io_bad);
    o->usage_wall = sql_column_amount(row, first + QOS_COLUMN_WALL, USAGE_STORED_MAX, io_bad);
    o->reset_us = sql_column_time(row, first + QOS_COLUMN_RESET_US, io_bad);
}

/* Last, because it takes memory. */
static int read_qos_tres(struct store *s, sqlite3_stmt *row, const struct state *state, struct object_row *o,
                         struct err *e)
{
    struct str tres = str(sql_column_text(row, OBJECT_COLUMN_FIELDS + QOS_FIELD_COUNT + QOS_COLUMN_TRES));
    if (tres.length == 0 || tres_text_parse(&state->policy.tres, tres, &o->usage_tres, e) == 0) return 0;
    return err_prefix(e, "%s: qos %u: usage_tres", s->path, o->id);
}

static int load_object(struct store *s, enum object_kind kind, sqlite3_stmt *row, struct state *state, struct err *e)
{
    const struct object_class *class = &object_classes[kind];
    bool bad = false;
    struct object_row o = {.id = (uint32_t)sql_column_ranged(row, OBJECT_COLUMN_ID, 1, NONE - 1, &bad),
                           .object = object_defaults(kind, sql_column_text(row, OBJECT_COLUMN_NAME)),
                           .created_us = sql_column_time(row, OBJECT_COLUMN_CREATED_US, &bad)};
    if (kind == OBJECT_QOS) read_qos_usage(row, &o, &bad);
    if (bad)
        return sql_bad_row(s->path, object_table(kind), sqlite3_column_int64(row, OBJECT_COLUMN_ID),
                           "a number is out of range", e);
    for (uint32_t i = 0; i < class->field_count; i++) {
        if (read_field(row, (int)(OBJECT_COLUMN_FIELDS + i), &class->fields[i], &o.object.value[i], e) != 0)
            return err_prefix(e, "%s: %s %u", s->path, object_table(kind), o.id);
    }
    if (kind == OBJECT_QOS && read_qos_tres(s, row, state, &o, e) != 0) return -1;
    state_restore_object(state, kind, &o);
    return 0;
}

static int load_kind(struct store *s, enum object_kind kind, struct state *state, struct err *e)
{
    struct buf text = {0};
    buf_add_text(&text, "SELECT ");
    add_columns(kind, &text);
    buf_format(&text, " FROM %s ORDER BY id", object_table(kind));
    sqlite3_stmt *rows = sql_prepare(s->db, text.text, e);
    buf_release(&text);
    if (rows == NULL) return -1;
    int result;
    while ((result = sql_step(rows, e)) == 1 && load_object(s, kind, rows, state, e) == 0) arena_clear(&state->cycle);
    sqlite3_finalize(rows);
    return result == 0 ? 0 : -1;
}

int objects_load(struct store *s, struct state *state, struct err *e)
{
    for (int k = 0; k < OBJECT_KIND_COUNT; k++) {
        if (load_kind(s, (enum object_kind)k, state, e) != 0) return -1;
    }
    return 0;
}

int store_usage_owner_load(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e)
{
    bool bad = false;
    struct usage_owner o = {.user = sql_column_text(row, 0),
                            .project = sql_column_text(row, 1),
                            .at_us = sql_column_time(row, 2 + USAGE_RESOURCE_COUNT, &bad),
                            .reset_us = sql_column_time(row, 3 + USAGE_RESOURCE_COUNT, &bad)};
    int64_t conversion = sql_column_ranged(row, 4 + USAGE_RESOURCE_COUNT, 0, state->conversions.number, &bad);
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++)
        o.usage.used[r] = usage_conversions_of_owner(&state->conversions, conversion,
                                                     sql_column_amount(row, 2 + r, USAGE_AMOUNT_MAX, &bad));
    if (bad)
        return err_set(e, ERR_INTERNAL, "%s: owner_usage of user '%s', project '%s': a number is out of range", s->path,
                       o.user, o.project);
    state_restore_owner(state, &o);
    return 0;
}
