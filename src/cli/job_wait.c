/* Waiting for jobs: one held request after the other. A request ends with the job or after POLL_S, so a connection is
 * never silent for long; and when the instance goes away (it is upgraded, say), its jobs run on, so the wait goes on too. */
#include "cli/job_wait.h"

#include <string.h>
#include <time.h>

#include "base/quantity.h"
#include "cli/instance.h"
#include "cli/job_end.h"

enum { POLL_S = 30, RETRY_MS = 200 };

static int64_t server_monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}

/* The first failure among a job's rows, or NULL. *out_more: how many others failed. */
static const struct field_value *first_failure(const struct wire_list *jobs, uint32_t *out_more)
{
    const struct field_value *row = jobs->items, *first = NULL;
    *out_more = 0;
    for (uint32_t i = 0; i < jobs->count; i++, row += JOB_FIELD_COUNT) {
        if (job_end_status(row) == 0) continue;
        if (first == NULL) {
            first = row;
        } else {
            *out_more += 1;
        }
    }
    return first;
}

static int report(const struct wire_list *jobs)
{
    uint32_t more;
    const struct field_value *row = first_failure(jobs, &more);
    if (row == NULL) return 0;
    struct buf end = {0};
    job_end_describe(row, &end);
    if (more > 0) buf_format(&end, "; %u more of its tasks failed", more);
    output_note("job %s: %s", row[JOB_FIELD_ID].text, end.text);
    buf_release(&end);
    return job_end_status(row);
}

/* One held request. 1: the job has ended, and *out_status is its status. */
static int ask(struct call *call, struct client *c, const char *target, int *out_status, struct err *e)
{
    struct arena arena = {0}, *kept = call->arena;
    struct api_waited waited;
    call->arena = &arena; /* the rows of a job are not needed for longer */
    int status = instance_ask(call, c, "GET", target, NULL, NULL, &api_waited_shape, &waited, e);
    call->arena = kept;
    if (status == 0 && waited.ended) {
        *out_status = report(&waited.jobs);
        status = 1;
    }
    arena_release(&arena);
    return status;
}

/* How long nobody has answered, and what was said about it. */
struct patience {
    uint64_t retry_s;
    int64_t lost_us; /* since when; 0: somebody answers */
    bool was_told;
};

/* After a failure: whether to try again, and the pause before that. The first time at once: a connection that broke is
 * often accepted again. */
static bool tries_again(struct call *call, struct patience *p, const struct err *e)
{
    if (e->code != ERR_UNAVAILABLE || p->retry_s == 0) return false;
    int64_t now = server_monotonic_us();
    if (p->lost_us == 0) {
        p->lost_us = now;
        return true;
    }
    if (now - p->lost_us >= (int64_t)p->retry_s * US_PER_S) return false;
    if (!p->was_told) {
        output_note("fairlead %s: %s; trying again for %llu s", call->command->name, ERR_SENTENCE(e),
                    (unsigned long long)p->retry_s);
        p->was_told = true;
    }
    struct timespec pause = {0, RETRY_MS * 1000000};
    nanosleep(&pause, NULL);
    return true;
}

/* Until the job of that target has ended: 0 and its status, or -1. */
static int wait_for(struct call *call, struct client *c, const char *target, struct patience *p, int *out_status,
                    struct err *e)
{
    for (;;) {
        int ended = c->fd >= 0 ? 0 : instance_open(call, c, e);
        if (ended == 0) ended = ask(call, c, target, out_status, e);
        if (ended > 0) return 0;
        if (ended == 0) {
            p->lost_us = 0;
            p->was_told = false;
        } else {
            client_close(c);
            if (!tries_again(call, p, e)) return -1;
        }
    }
}

int job_wait(struct call *call, const struct wire_list *ids, uint64_t retry_s, struct err *e)
{
    struct client client = {.fd = -1};
    struct patience patience = {.retry_s = retry_s};
    int first_status = 0, status = 0;
    for (uint32_t i = 0; status == 0 && i < ids->count; i++) {
        struct buf target = {0};
        int job_status = 0;
        buf_add_text(&target, API_JOBS);
        client_add_segment(&target, ((const char **)ids->items)[i]);
        buf_format(&target, "/wait?timeout_s=%d", POLL_S);
        status = wait_for(call, &client, target.text, &patience, &job_status, e);
        buf_release(&target);
        if (first_status == 0) first_status = job_status;
    }
    client_close(&client);
    return status == 0 ? first_status : -1;
}
