/* The table of associations. Its statements have the columns of the limits, which are generated from their table of
 * fields (fields/limit_fields.h), as those of objects are (objects.c). A limit that is not set is NULL, or the empty
 * text. */
#include "base/ensure.h"
#include "engine/limit_values.h"
#include "fields/limit_fields.h"
#include "policy/tres_text.h"
#include "store/field_columns.h"
#include "store/internal.h"

/* Without the limits, which follow. */
enum {
    ASSOCIATION_ID,
    ASSOCIATION_PARENT_ID,
    ASSOCIATION_ACCOUNT,
    ASSOCIATION_USER,
    ASSOCIATION_PARTITION,
    ASSOCIATION_CREATED_US,
    ASSOCIATION_DELETED_US, /* up to here, only deleted_us and parent_id ever change (MOVE_ASSOC) */
    ASSOCIATION_SHARES,
    ASSOCIATION_IS_DEFAULT,
    ASSOCIATION_USAGE,
    ASSOCIATION_USAGE_TRES,
    ASSOCIATION_USAGE_WALL,
    ASSOCIATION_PRIORITY,
    ASSOCIATION_RESET_US,
    ASSOCIATION_CONVERSION,
    ASSOCIATION_COLUMN_COUNT
};

static const char *const columns[ASSOCIATION_COLUMN_COUNT] = {
    [ASSOCIATION_ID] = "id",
    [ASSOCIATION_PARENT_ID] = "parent_id",
    [ASSOCIATION_ACCOUNT] = "account",
    [ASSOCIATION_USER] = "user",
    [ASSOCIATION_PARTITION] = "for_partition",
    [ASSOCIATION_CREATED_US] = "created_us",
    [ASSOCIATION_DELETED_US] = "deleted_us",
    [ASSOCIATION_SHARES] = "shares",
    [ASSOCIATION_IS_DEFAULT] = "is_default",
    [ASSOCIATION_USAGE] = "usage_billing_s",
    [ASSOCIATION_USAGE_TRES] = "usage_tres",
    [ASSOCIATION_USAGE_WALL] = "usage_wall_s",
    [ASSOCIATION_PRIORITY] = "priority",
    [ASSOCIATION_RESET_US] = "reset_us",
    [ASSOCIATION_CONVERSION] = "usage_conversion",
};

enum { ALL_COLUMN_COUNT = ASSOCIATION_COLUMN_COUNT + ASSOC_LIMIT_COUNT };

static void add_column(uint32_t column, struct buf *out)
{
    if (column < ASSOCIATION_COLUMN_COUNT)
        buf_add_text(out, columns[column]);
    else
        object_column(field_at(&limit_fields, column - ASSOCIATION_COLUMN_COUNT), out);
}

static void add_columns(struct buf *out)
{
    for (uint32_t i = 0; i < ALL_COLUMN_COUNT; i++) {
        if (i > 0) buf_add_text(out, ", ");
        add_column(i, out);
    }
}

void association_write_put(struct buf *out)
{
    buf_add_text(out, "INSERT INTO association(");
    add_columns(out);
    buf_add_text(out, ") VALUES(?1");
    for (uint32_t i = 1; i < ALL_COLUMN_COUNT; i++) buf_format(out, ", ?%u", i + 1);
    buf_add_text(out, ") ON CONFLICT(id) DO UPDATE SET ");
    for (uint32_t i = ASSOCIATION_DELETED_US + 1; i < ALL_COLUMN_COUNT; i++) {
        if (i > ASSOCIATION_DELETED_US + 1) buf_add_text(out, ", ");
        add_column(i, out);
        buf_add_text(out, " = excluded.");
        add_column(i, out);
    }
}

void association_write_select(struct buf *out)
{
    buf_add_text(out, "SELECT ");
    add_columns(out);
    buf_add_text(out, " FROM association WHERE deleted_us IS NULL ORDER BY id");
}

int association_write(struct store *s, const struct state *state, uint32_t index, struct err *e)
{
    const struct assoc *a = &state->assocs.items[index];
    const struct field_value *limits = a->limits != NULL ? a->limits : limit_fields_defaults;
    sqlite3_stmt *move = s->statements[MOVE_ASSOC], *put = s->statements[PUT_ASSOC];
    const uint32_t parent_id = a->parent == NONE ? 0 : state->assocs.items[a->parent].id;
    struct buf tres = {0};
    sql_bind_int(move, 1, a->id);
    sql_bind_int_or_null(move, 2, parent_id);
    sql_bind_int_or_null(move, 3, a->deleted_us);
    if (sql_step(move, e) != 0) return -1;
    tres_text_format(&state->policy.tres, a->usage_tres, &tres);
    sql_bind_int(put, ASSOCIATION_ID + 1, a->id);
    sql_bind_int_or_null(put, ASSOCIATION_PARENT_ID + 1, parent_id);
    sql_bind_text(put, ASSOCIATION_ACCOUNT + 1, a->account);
    sql_bind_text(put, ASSOCIATION_USER + 1, a->user);
    sql_bind_text(put, ASSOCIATION_PARTITION + 1, a->partition);
    sql_bind_int(put, ASSOCIATION_CREATED_US + 1, a->created_us);
    sql_bind_int_or_null(put, ASSOCIATION_DELETED_US + 1, a->deleted_us);
    sql_bind_int(put, ASSOCIATION_SHARES + 1, a->shares);
    sql_bind_int(put, ASSOCIATION_IS_DEFAULT + 1, a->is_default);
    sql_bind_double(put, ASSOCIATION_USAGE + 1, a->usage);
    sql_bind_text(put, ASSOCIATION_USAGE_TRES + 1, tres.length > 0 ? tres.text : NULL);
    sql_bind_double(put, ASSOCIATION_USAGE_WALL + 1, a->usage_wall);
    sql_bind_int_unless(put, ASSOCIATION_PRIORITY + 1, a->priority, NONE);
    sql_bind_int_or_null(put, ASSOCIATION_RESET_US + 1, a->reset_us);
    sql_bind_int(put, ASSOCIATION_CONVERSION + 1, state->conversions.number);
    for (uint32_t i = 0; i < ASSOC_LIMIT_COUNT; i++) {
        const struct field_column column = field_column_of(field_at(&limit_fields, i), false);
        field_column_bind(&column, put, (int)(ASSOCIATION_COLUMN_COUNT + i + 1), &limits[i]);
    }
    int status = sql_step(put, e);
    buf_release(&tres);
    return status;
}

int association_write_usage(struct store *s, const struct state *state, uint32_t index, struct err *e)
{
    const struct assoc *a = &state->assocs.items[index];
    sqlite3_stmt *put = s->statements[PUT_ASSOC_USAGE];
    struct buf tres = {0};
    tres_text_format(&state->policy.tres, a->usage_tres, &tres);
    sql_bind_int(put, 1, a->id);
    sql_bind_double(put, 2, a->usage);
    sql_bind_text(put, 3, tres.length > 0 ? tres.text : NULL);
    sql_bind_double(put, 4, a->usage_wall);
    sql_bind_int(put, 5, state->conversions.number);
    int status = sql_step(put, e);
    buf_release(&tres);
    return status;
}

/* Sets a->limits to the row's limits, or to NULL if it has none. */
static int read_limits(const struct state *state, sqlite3_stmt *row, struct field_value limits[ASSOC_LIMIT_COUNT],
                       struct assoc *a, struct err *e)
{
    for (uint32_t i = 0; i < ASSOC_LIMIT_COUNT; i++) {
        const struct field *f = field_at(&limit_fields, i);
        const struct field_column column = field_column_of(f, false);
        int index = (int)(ASSOCIATION_COLUMN_COUNT + i);
        if (!field_column_read(&column, row, index, &limits[i])) return field_column_fail(&column, row, index, e);
        if (field_check(f, &limits[i], e) != 0 || limit_value_check(state, f, &limits[i], e) != 0) return -1;
        if (!field_equal(f, &limits[i], &limit_fields_defaults[i])) a->limits = limits;
    }
    return 0;
}

/* The usages as the memory has them after the conversions that the row lacks. */
static void convert_usages(const struct usage_conversions *all, int64_t conversion, struct assoc *a)
{
    a->usage = usage_conversions_of_assoc(all, conversion, a->usage);
    a->usage_wall = usage_conversions_of_assoc(all, conversion, a->usage_wall);
    for (uint32_t i = 0; a->usage_tres != NULL && i < TRES_MAX; i++)
        a->usage_tres[i] = usage_conversions_of_assoc(all, conversion, a->usage_tres[i]);
}

int association_load(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e)
{
    bool bad = false;
    struct field_value limits[ASSOC_LIMIT_COUNT];
    struct assoc a = {
        .id = (uint32_t)sql_column_ranged(row, ASSOCIATION_ID, 1, NONE - 1, &bad),
        .parent = NONE,
        .account = sql_column_text(row, ASSOCIATION_ACCOUNT),
        .user = sql_column_is_null(row, ASSOCIATION_USER) ? NULL : sql_column_text(row, ASSOCIATION_USER),
        .partition =
            sql_column_is_null(row, ASSOCIATION_PARTITION) ? NULL : sql_column_text(row, ASSOCIATION_PARTITION),
        .shares = (uint32_t)sql_column_ranged(row, ASSOCIATION_SHARES, 0, SHARES_PARENT, &bad),
        .is_default = sqlite3_column_int(row, ASSOCIATION_IS_DEFAULT) != 0,
        .usage = sql_column_amount(row, ASSOCIATION_USAGE, USAGE_STORED_MAX, &bad),
        .usage_wall = sql_column_amount(row, ASSOCIATION_USAGE_WALL, USAGE_STORED_MAX, &bad),
        .priority = sql_column_is_null(row, ASSOCIATION_PRIORITY)
                        ? NONE
                        : (uint32_t)sql_column_ranged(row, ASSOCIATION_PRIORITY, 0, NONE - 1, &bad),
        .reset_us = sql_column_time(row, ASSOCIATION_RESET_US, &bad),
        .created_us = sql_column_time(row, ASSOCIATION_CREATED_US, &bad),
    };
    uint32_t parent_id = (uint32_t)sql_column_ranged(row, ASSOCIATION_PARENT_ID, 0, NONE - 1, &bad);
    int64_t conversion = sql_column_ranged(row, ASSOCIATION_CONVERSION, 0, state->conversions.number, &bad);
    struct str tres = str(sql_column_text(row, ASSOCIATION_USAGE_TRES));
    if (bad)
        return sql_bad_row(s->path, "association", sqlite3_column_int64(row, ASSOCIATION_ID),
                           "a number is out of range", e);
    if (tres.length > 0 && tres_text_parse(&state->policy.tres, tres, &a.usage_tres, e) != 0)
        return err_prefix(e, "%s: association %u: usage_tres", s->path, a.id);
    if (read_limits(state, row, limits, &a, e) != 0) {
        mem_free(a.usage_tres);
        return err_prefix(e, "%s: association %u", s->path, a.id);
    }
    if (state->conversions.list.count > 0) convert_usages(&state->conversions, conversion, &a);
    state_restore_assoc(state, &a, parent_id);
    return 0;
}
