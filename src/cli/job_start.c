/* Asks again, at intervals that grow: as a rule the pass that decides about the job comes with its submission. */
#include "cli/job_start.h"

#include <time.h>

#include "cli/instance.h"
#include "cli/job_end.h"
#include "fields/job_id.h"

enum { FIRST_PAUSE_MS = 5, PAUSE_MAX_MS = 200 };

static void pause_ms(uint32_t ms)
{
    struct timespec pause = {0, (long)ms * 1000000};
    nanosleep(&pause, NULL);
}

/* Returns 1 if it is decided that the job starts, 0 if nothing is yet, or -1. */
static int ask(struct call *call, const char *target, const char *id, struct err *e)
{
    struct api_listing list;
    if (instance_request_once(call, "GET", target, NULL, NULL, &api_job_list_shape, &list, e) != 0) return -1;
    const struct field_value *row = list.rows.items;
    if (list.rows.count == 0) return err_subject(e, ERR_NOT_FOUND, "job", str(id), "is not known");
    int64_t state = row[JOB_FIELD_STATE].number;
    if (state == JOB_PENDING || state == JOB_STARTING) return 0;
    const char *reason = row[JOB_FIELD_CANCEL_REASON].text;
    if (state != JOB_CANCELLED || row[JOB_FIELD_START].number != FIELD_ABSENT) return 1;
    return err_subject(e, ERR_CONFLICT, "job", str(id), "%s, and was cancelled",
                       reason != NULL ? reason : "did not start");
}

int job_start_wait(struct call *call, uint32_t job_id, uint64_t retry_s, struct err *e)
{
    char id[JOB_ID_TEXT_SIZE];
    struct buf target = {0};
    uint64_t failed_ms = 0;
    job_id_format(id, job_id, NONE);
    buf_add_text(&target, API_JOBS);
    client_add_segment(&target, id);
    const char *path = instance_target(call, &target);
    for (uint32_t pause = FIRST_PAUSE_MS;; pause = pause * 2 < PAUSE_MAX_MS ? pause * 2 : PAUSE_MAX_MS) {
        int result = ask(call, path, id, e);
        bool is_down = result < 0 && e->code == ERR_UNAVAILABLE && failed_ms < retry_s * 1000;
        if (result != 0 && !is_down) return result > 0 ? 0 : -1;
        failed_ms = is_down ? failed_ms + pause : 0;
        pause_ms(pause);
    }
}
