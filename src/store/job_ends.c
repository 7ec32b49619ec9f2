/* How jobs of long ago ended, for those that wait for them: jobs that have ended are not in memory. */
#include "base/idset.h"
#include "store/internal.h"

static int read_tasks(struct store *s, struct event_end *end, struct err *e)
{
    sqlite3_stmt *get = s->statements[GET_COMPLETED_TASKS];
    int result;
    sql_bind_int(get, 1, end->job_id);
    while ((result = sql_step(get, e)) == 1) {
        int64_t started_us = sqlite3_column_int64(get, 2);
        if (started_us > end->started_us) end->started_us = started_us;
        if (sqlite3_column_int(get, 1) != 0) idset_add(&end->completed, (uint32_t)sqlite3_column_int64(get, 0));
    }
    return result;
}

int store_job_end(struct store *s, uint32_t job_id, struct event_end *out_end, struct err *e)
{
    sqlite3_stmt *get = s->statements[GET_ENDED_JOB];
    struct event_end end = {.job_id = job_id};
    sql_bind_int(get, 1, job_id);
    int found = sql_step(get, e);
    if (found < 0) return -1;
    if (found == 0) return err_set(e, ERR_NOT_FOUND, "job %u has no record of its end", job_id);
    end.is_array = !sql_column_is_null(get, 0);
    int status = 0;
    if (end.is_array)
        status = idset_parse(str(sql_column_text(get, 0)), NONE - 1, "array_tasks", &end.tasks, e);
    else
        idset_add(&end.tasks, 0);
    sqlite3_reset(get);
    if (status == 0) status = read_tasks(s, &end, e);
    if (status != 0) store_job_end_release(&end);
    if (status == 0) *out_end = end;
    return status;
}

void store_job_end_release(struct event_end *end)
{
    idset_release(&end->tasks);
    idset_release(&end->completed);
}
