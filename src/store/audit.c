/* The audit log: written in the transaction of the change, and read in pieces. */
#include "store/internal.h"

int audit_write(struct store *s, const struct audit_entry *entry, struct err *e)
{
    sqlite3_stmt *put = s->statements[PUT_AUDIT];
    sql_bind_int(put, 1, entry->at_us);
    sql_bind_int(put, 2, entry->uid);
    sql_bind_text(put, 3, entry->user);
    sql_bind_text(put, 4, entry->command);
    sql_bind_text(put, 5, entry->name);
    sql_bind_text(put, 6, entry->field);
    sql_bind_text(put, 7, entry->before);
    sql_bind_text(put, 8, entry->after);
    return sql_step(put, e);
}

static const char *copy_text(sqlite3_stmt *row, int column, struct arena *arena)
{
    return sql_column_is_null(row, column) ? NULL : arena_copy(arena, str(sql_column_text(row, column)));
}

static void read_row(sqlite3_stmt *row, struct arena *arena, struct audit_row *out)
{
    *out = (struct audit_row){.seq = (uint64_t)sqlite3_column_int64(row, 0),
                              .entry = {.at_us = sqlite3_column_int64(row, 1),
                                        .uid = (uint32_t)sqlite3_column_int64(row, 2),
                                        .user = copy_text(row, 3, arena),
                                        .command = copy_text(row, 4, arena),
                                        .name = copy_text(row, 5, arena),
                                        .field = copy_text(row, 6, arena),
                                        .before = copy_text(row, 7, arena),
                                        .after = copy_text(row, 8, arena)}};
}

/* Numbers and times ascend together, so a time becomes a number, by one look into the index of times, and rows are
 * read in the order of numbers. */
static sqlite3_stmt *prepare_read(struct store *s, const struct audit_query *query, struct err *e)
{
    struct buf text = {0};
    buf_add_text(&text, "SELECT seq, at_us, uid, user, command, name, field, before, after FROM audit WHERE seq < ?1");
    if (query->user != NULL) buf_add_text(&text, " AND user = ?2");
    if (query->command != NULL) buf_add_text(&text, " AND command = ?6");
    if (query->name != NULL) buf_add_text(&text, " AND name = ?7");
    if (query->since_us != 0)
        buf_add_text(&text, " AND seq >= ifnull((SELECT seq FROM audit INDEXED BY audit_time"
                            " WHERE at_us >= ?3 ORDER BY at_us, seq LIMIT 1), ?1)");
    if (query->until_us != 0)
        buf_add_text(&text, " AND seq <= ifnull((SELECT seq FROM audit INDEXED BY audit_time"
                            " WHERE at_us < ?4 ORDER BY at_us DESC, seq DESC LIMIT 1), 0)");
    buf_add_text(&text, " ORDER BY seq DESC LIMIT ?5");
    sqlite3_stmt *rows = sql_prepare(s->db, text.text, e);
    buf_release(&text);
    return rows;
}

static int read_entries(void *store, const struct audit_query *query, struct arena *arena, struct audit_row **out_rows,
                        uint32_t *out_count, struct err *e)
{
    struct store *s = store;
    sqlite3_stmt *rows = prepare_read(s, query, e);
    if (rows == NULL) return -1;
    struct audit_row *read = arena_alloc(arena, (query->limit + (size_t)1) * sizeof *read);
    uint32_t count = 0;
    int result;
    sql_bind_int(rows, 1, query->before != 0 ? (int64_t)query->before : INT64_MAX);
    if (query->user != NULL) sql_bind_text(rows, 2, query->user);
    if (query->command != NULL) sql_bind_text(rows, 6, query->command);
    if (query->name != NULL) sql_bind_text(rows, 7, query->name);
    if (query->since_us != 0) sql_bind_int(rows, 3, query->since_us);
    if (query->until_us != 0) sql_bind_int(rows, 4, query->until_us);
    sql_bind_int(rows, 5, query->limit);
    while ((result = sql_step(rows, e)) == 1) read_row(rows, arena, &read[count++]);
    sqlite3_finalize(rows);
    if (result < 0) return -1;
    *out_rows = read;
    *out_count = count;
    return 0;
}

struct audit_reader store_audit_reader(struct store *s)
{
    return (struct audit_reader){.context = s, .read = read_entries};
}
