/* Table min_priority: the minimum priorities of pending jobs with INCR_ONLY (engine/min_priority.h), a row for each of
 * a job's partitions. */
#include "store/internal.h"

int min_priorities_write(struct store *s, const struct state *state, uint32_t job, struct err *e)
{
    const struct job *j = &state->jobs.items[job];
    sqlite3_stmt *put = s->statements[PUT_MIN_PRIORITY];
    sql_bind_int(s->statements[REMOVE_MIN_PRIORITIES], 1, j->id);
    if (sql_step(s->statements[REMOVE_MIN_PRIORITIES], e) != 0) return -1;
    for (uint32_t i = 0; j->min_priorities != NULL && i < j->partition_count; i++) {
        if (j->min_priorities[i].stored == 0) continue;
        sql_bind_int(put, 1, j->id);
        sql_bind_text(put, 2, state->objects[OBJECT_PARTITION].items[j->partitions[i]].object.name);
        sql_bind_int(put, 3, j->min_priorities[i].stored);
        if (sql_step(put, e) != 0) return -1;
    }
    return 0;
}

int min_priority_load(struct store *s, sqlite3_stmt *row, struct state *state, struct err *e)
{
    bool bad = false;
    uint32_t job_id = (uint32_t)sql_column_ranged(row, 0, 1, NONE - 1, &bad);
    uint32_t priority = (uint32_t)sql_column_ranged(row, 2, 1, UINT32_MAX, &bad);
    const char *name = sql_column_text(row, 1);
    if (bad)
        return sql_bad_row(s->path, "min_priority of job", sqlite3_column_int64(row, 0), "a number is out of range", e);
    uint32_t partition = state_find_object(state, OBJECT_PARTITION, name);
    if (partition != NONE && state_restore_min_priority(state, job_id, partition, priority)) return 0;
    return err_set(e, ERR_INTERNAL, "%s: min_priority of job %u: the job is not pending in partition '%s'", s->path,
                   job_id, name);
}
