/* Waits for jobs by long polling, one job after the other: the instance replies when the job has ended, or after
 * POLL_S. If the instance is down (during an upgrade, for example), its jobs continue, so the wait retries. */
#include "cli/job_wait.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/quantity.h"
#include "base/text.h"
#include "cli/instance.h"
#include "cli/job_end.h"
#include "fields/job_id.h"

enum { POLL_S = 30, RETRY_MS = 200 };

static int64_t monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}

/* Tasks that did not succeed, by their states. */
struct failures {
    const struct field_value *first;        /* the row of the first one; NULL: there are none */
    uint32_t other_counts[JOB_STATE_COUNT]; /* of the other rows */
};

static struct failures find_failures(const struct wire_list *jobs)
{
    const struct field_value *row = jobs->items;
    struct failures failures = {0};
    for (uint32_t i = 0; i < jobs->count; i++, row += JOB_FIELD_COUNT) {
        int64_t state = row[JOB_FIELD_STATE].number;
        if (job_end_status(row) == 0) continue;
        if (failures.first == NULL) {
            failures.first = row;
        } else if (state >= 0 && state < JOB_STATE_COUNT) {
            failures.other_counts[state] += (uint32_t)row[JOB_FIELD_TASK_COUNT].number;
        }
    }
    return failures;
}

static int report(const struct wire_list *jobs)
{
    const struct failures failures = find_failures(jobs);
    const struct field_value *row = failures.first;
    const char *separator = "; of its other tasks ";
    if (row == NULL) return 0;
    struct buf id = {0}, end = {0};
    job_end_describe(row, &end);
    for (int state = 0; state < JOB_STATE_COUNT; state++) {
        if (failures.other_counts[state] == 0) continue;
        buf_format(&end, "%s%u %s", separator, failures.other_counts[state], job_state_name((enum job_state)state));
        separator = ", ";
    }
    job_id_write_short(str(row[JOB_FIELD_ID].text), JOB_ID_TASKS_SHOWN, &id);
    output_note("job %s: %s", id.text, end.text);
    buf_release(&id);
    buf_release(&end);
    return job_end_status(row);
}

/* One long poll. Returns 1 if the job has ended (*out_status is its status), 0 if not, or -1. */
static int poll_job(struct call *call, struct client *c, const char *target, int *out_status, struct err *e)
{
    struct arena reply_arena = {0}, *call_arena = call->arena;
    struct api_waited waited;
    call->arena = &reply_arena;
    int status = instance_request(call, c, "GET", target, NULL, NULL, &api_waited_shape, &waited, e);
    call->arena = call_arena;
    if (status == 0 && waited.ended) {
        *out_status = report(&waited.jobs);
        status = 1;
    }
    arena_release(&reply_arena);
    return status;
}

/* The time since the instance stopped answering. */
struct outage {
    uint64_t retry_s;
    int64_t since_us; /* monotonic; 0: it answers */
    bool is_noted;
};

/* After a failure: whether to retry. Pauses before every retry but the first, because a connection that broke is often
 * accepted again at once. */
static bool should_retry(struct call *call, struct outage *o, const struct err *e)
{
    if (e->code != ERR_UNAVAILABLE || o->retry_s == 0) return false;
    int64_t now_us = monotonic_us();
    if (o->since_us == 0) {
        o->since_us = now_us;
        return true;
    }
    if (now_us - o->since_us >= (int64_t)o->retry_s * US_PER_S) return false;
    if (!o->is_noted) {
        output_note("fairlead %s: %s; retrying for %llu s", call->command->name, ERR_SENTENCE(e),
                    (unsigned long long)o->retry_s);
        o->is_noted = true;
    }
    struct timespec pause = {0, RETRY_MS * 1000000};
    nanosleep(&pause, NULL);
    return true;
}

/* Waits until the target's job has ended: 0 and its status, or -1. */
static int wait_for(struct call *call, struct client *c, const char *target, struct outage *o, int *out_status,
                    struct err *e)
{
    for (;;) {
        int ended = c->fd >= 0 ? 0 : instance_open(call, c, e);
        c->expected_s = POLL_S + CLIENT_SLOW_S;
        if (ended == 0) ended = poll_job(call, c, target, out_status, e);
        if (ended > 0) return 0;
        if (ended == 0) {
            o->since_us = 0;
            o->is_noted = false;
        } else {
            client_close(c);
            if (!should_retry(call, o, e)) return -1;
        }
    }
}

/* --- interrupts --------------------------------------------------------------------------------------------------- */

enum { EXIT_INTERRUPTED = 128 + SIGINT };

/* The line for an interrupt, made before the handler may run. */
static struct {
    char text[200];
    size_t length;
} interrupt_line;

static void on_interrupt(int number)
{
    (void)number;
    ssize_t ignored = write(STDERR_FILENO, interrupt_line.text, interrupt_line.length);
    (void)ignored;
    _exit(EXIT_INTERRUPTED);
}

/* ^C ends the command and not the jobs, which it says. out_was: what to restore after the wait. */
static void catch_interrupt(const struct call *call, const struct wire_list *ids, struct sigaction *out_was)
{
    const struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    const char *name = call->command->name, *first = ids->count > 0 ? ((const char **)ids->items)[0] : "";
    if (ids->count == 1) {
        text_format(interrupt_line.text, sizeof interrupt_line.text,
                    "fairlead %s: job %s goes on; to cancel it: fairlead cancel %s\n", name, first, first);
    } else {
        text_format(interrupt_line.text, sizeof interrupt_line.text,
                    "fairlead %s: the jobs go on; to cancel jobs: fairlead cancel ID...\n", name);
    }
    interrupt_line.length = strlen(interrupt_line.text);
    sigaction(SIGINT, NULL, out_was);
    if (out_was->sa_handler == SIG_DFL) sigaction(SIGINT, &action, NULL);
}

int job_wait(struct call *call, const struct wire_list *ids, uint64_t retry_s, struct err *e)
{
    struct client client = {.fd = -1};
    struct sigaction was;
    struct outage outage = {.retry_s = retry_s};
    int first_status = 0, status = 0;
    catch_interrupt(call, ids, &was);
    for (uint32_t i = 0; status == 0 && i < ids->count; i++) {
        struct buf target = {0};
        int job_status = 0;
        buf_add_text(&target, API_JOBS);
        client_add_segment(&target, ((const char **)ids->items)[i]);
        buf_format(&target, "/wait?timeout_s=%d", POLL_S);
        status = wait_for(call, &client, target.text, &outage, &job_status, e);
        buf_release(&target);
        if (first_status == 0) first_status = job_status;
    }
    sigaction(SIGINT, &was, NULL);
    client_close(&client);
    return status == 0 ? first_status : -1;
}
