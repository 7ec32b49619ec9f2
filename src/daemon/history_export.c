/* The ended jobs of a private instance as lines, for 'fairlead move-in', which has no SQLite:
 *
 *     instance=ID ended=N live=N
 *     17 3 {"id":17,...}           a job with 3 starts; one with many starts has several lines
 *
 * The last line is "end", so a reader knows that it has all. */
#include <stdio.h>

#include "api/server/moved_jobs.h"
#include "daemon/daemon.h"

static int begin(void *context, const struct store_history *history, struct err *e)
{
    (void)context, (void)e;
    printf("instance=%s ended=%llu live=%llu\n", history->instance_id, (unsigned long long)history->ended_jobs,
           (unsigned long long)history->live_jobs);
    return 0;
}

static int take(void *context, const struct moved_job *job, struct err *e)
{
    struct buf *line = context;
    buf_clear(line);
    if (moved_jobs_write(job, line, e) != 0) return -1;
    for (size_t i = 0; i < line->length; i++) {
        if (line->text[i] == '\n') line->text[i] = ' '; /* between values: texts have none */
    }
    printf("%u %u %s\n", job->id, job->task_count, line->text);
    return ferror(stdout) ? err_set(e, ERR_IO, "the reader of the history has ended") : 0;
}

int daemon_export_history(const char *directory, struct err *e)
{
    struct buf line = {0};
    const struct store_export exporter = {&line, begin, take};
    int status = store_export_history(directory, &exporter, e);
    buf_release(&line);
    if (status == 0) puts("end");
    if (status == 0 && fflush(stdout) != 0) return err_set(e, ERR_IO, "the history cannot be written");
    return status;
}
