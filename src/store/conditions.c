/* Table dependency: a row for each condition that is left of a job that waits for others (engine/dependencies.h). */
#include "fields/dependency_text.h"
#include "store/internal.h"

static int put(struct store *s, uint32_t job_id, const struct dependency_item *item, struct err *e)
{
    sqlite3_stmt *put = s->statements[PUT_CONDITION];
    struct buf text = {0};
    dependency_text_format_item(item, &text);
    sql_bind_int(put, 1, job_id);
    sql_bind_int(put, 2, item->position);
    sql_bind_text(put, 3, text.text);
    int status = sql_step(put, e);
    buf_release(&text);
    return status;
}

int conditions_write(struct store *s, const struct state *state, uint32_t job, struct err *e)
{
    const struct job *j = &state->jobs.items[job];
    const struct dependency_list *list = j->dependency;
    sql_bind_int(s->statements[REMOVE_CONDITIONS], 1, j->id);
    if (sql_step(s->statements[REMOVE_CONDITIONS], e) != 0) return -1;
    for (uint32_t i = 0; list != NULL && i < list->count; i++) {
        if (!list->items[i].is_met && put(s, j->id, &list->items[i], e) != 0) return -1;
    }
    return 0;
}

/* The list may have been replaced or dropped since the change was noted; then conditions_write has written it. */
int condition_write(struct store *s, const struct state *state, struct condition_change change, struct err *e)
{
    const struct job *j = &state->jobs.items[change.job];
    sqlite3_stmt *remove = s->statements[REMOVE_CONDITION];
    if (j->dependency == NULL || change.item >= j->dependency->count) return 0;
    const struct dependency_item *item = &j->dependency->items[change.item];
    if (!item->is_met) return put(s, j->id, item, e);
    sql_bind_int(remove, 1, j->id);
    sql_bind_int(remove, 2, item->position);
    return sql_step(remove, e);
}

int condition_load(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e)
{
    bool bad = false;
    uint32_t job_id = (uint32_t)sql_column_ranged(row, 0, 1, NONE - 1, &bad);
    uint32_t position = (uint32_t)sql_column_ranged(row, 1, 0, NONE - 1, &bad);
    bool is_any = str_equal(str(sql_column_text(row, 3)), str("?"));
    if (bad)
        return sql_bad_row(s->path, "dependency of job", sqlite3_column_int64(row, 0), "a number is out of range", e);
    if (state_restore_condition(state, job_id, position, sql_column_text(row, 2), is_any, e) == 0) return 0;
    return err_prefix(e, "%s", s->path);
}
