/* The connection to the executor: opened at the start, and again in a thread after it was lost, because connecting
 * waits for the launcher. */
#include <errno.h>
#include <string.h>

#include "base/ensure.h"
#include "daemon/daemon.h"
#include "daemon/log.h"
#include "daemon/start_orders.h"
#include "daemon/use.h"
#include "exec/clock.h"
#include "exec/service_manager.h"

#define FAILURE_LOG_US (60 * US_PER_S)
#define SHORT_CONNECTION_US (10 * US_PER_S)

static void on_executor(uv_poll_t *poll, int status, int events)
{
    struct daemon *d = poll->data;
    (void)status, (void)events;
    executor_ready(d->executor, &d->reports);
    d->turn(d);
}

/* Watches for writing only while bytes are queued. */
void daemon_watch_executor(struct daemon *d)
{
    if (d->executor_poll == NULL) return;
    int events = UV_READABLE | (executor_wants_write(d->executor) ? UV_WRITABLE : 0);
    if (events != d->executor_events) uv_poll_start(d->executor_poll, events, on_executor);
    d->executor_events = events;
}

/* Raises the soft limit of open files to the hard limit, because each connection is one; or restores it, so that a
 * launcher that is started, and its jobs, inherit the original limit. */
static void set_file_limit(const struct daemon *d, bool is_raised)
{
    struct rlimit limit = d->file_limit;
    if (is_raised) limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) log_line(LOG_WARNING, "file-limit", " error=\"%s\"", strerror(errno));
}

static void attach_executor(struct daemon *d, struct executor *executor)
{
    array_clear(&d->known_launches);
    d->executor = executor;
    d->attached_us = clock_boot_us();
    d->executor_poll = mem_resize(NULL, 0, sizeof *d->executor_poll);
    ensure(uv_poll_init(&d->loop, d->executor_poll, executor_descriptor(d->executor)) == 0);
    d->executor_poll->data = d;
    d->executor_events = 0;
    daemon_watch_executor(d);
}

/* The launcher of a private instance is found in its state directory, so it is no other instance's. */
static struct executor *open_launcher(const struct daemon *d, struct err *e)
{
    const struct launcher_owner instance = {.id = d->mark.id, .state = d->state_dir.path};
    return executor_open_launcher(d->launcher_directory, d->launcher_path, d->is_system ? &instance : NULL, e);
}

int daemon_open_executor(struct daemon *d, struct err *e)
{
    if (d->pretend != NULL) {
        daemon_open_pretend_executor(d);
        return 0;
    }
    set_file_limit(d, false);
    struct executor *executor = open_launcher(d, e);
    set_file_limit(d, true);
    if (executor == NULL) return -1;
    attach_executor(d, executor);
    return 0;
}

/* Connecting waits for the launcher, so a thread does it. */
struct reopening {
    struct daemon *d;
    struct executor *executor; /* NULL: see err */
    struct err err;
};

static void reopen_in_thread(void *argument)
{
    struct reopening *r = argument;
    r->executor = open_launcher(r->d, &r->err);
}

/* Logs a failure that lasts once a minute, although it is tried every second. */
static void note_failure(struct daemon *d, const char *failure)
{
    bool is_old = strncmp(failure, d->launcher_failure, sizeof d->launcher_failure - 1) == 0 &&
                  clock_boot_us() < d->failure_logged_us + FAILURE_LOG_US;
    if (is_old) return;
    text_format(d->launcher_failure, sizeof d->launcher_failure, "%s", failure);
    d->state.no_launcher = d->launcher_failure;
    d->failure_logged_us = clock_boot_us();
    log_line(LOG_ERROR, "launcher-unreachable", " error=\"%s\"", d->launcher_failure);
    service_manager_status("No job starts: %s", d->launcher_failure);
}

static void on_reopened(void *argument)
{
    struct reopening *r = argument;
    struct daemon *d = r->d;
    set_file_limit(d, true);
    d->is_reopening = false;
    if (d->is_stopping) {
        executor_close(r->executor);
    } else if (r->executor == NULL) {
        note_failure(d, ERR_SENTENCE(&r->err));
    } else {
        d->launcher_failure[0] = '\0';
        d->state.no_launcher = NULL;
        attach_executor(d, r->executor);
        service_manager_status("Serving again at %s", d->state_dir.socket_path);
        uv_timer_stop(&d->retry_timer);
        d->turn(d);
    }
    mem_free(r);
}

static void on_retry(uv_timer_t *timer)
{
    struct daemon *d = timer->data;
    if (d->is_reopening) return;
    if (d->pretend != NULL) {
        daemon_open_pretend_executor(d);
        uv_timer_stop(&d->retry_timer);
        d->turn(d);
        return;
    }
    struct reopening *r = mem_resize(NULL, 0, sizeof *r);
    *r = (struct reopening){.d = d};
    d->is_reopening = true;
    set_file_limit(d, false); /* for the launcher that it may start */
    own_thread_run(&d->threads, reopen_in_thread, on_reopened, r);
}

static void free_handle(uv_handle_t *handle)
{
    mem_free(handle);
}

/* Disconnects; the first attempt to connect again is after wait_ms, or later if the connection did not last: a launcher
 * that takes connections and drops them is not asked in a loop. */
void daemon_drop_executor(struct daemon *d, uint64_t wait_ms)
{
    if (d->executor == NULL) return;
    if (d->executor_poll != NULL) uv_close((uv_handle_t *)d->executor_poll, free_handle);
    d->executor_poll = NULL;
    executor_close(d->executor);
    d->executor = NULL;
    d->is_synced = false;
    start_orders_drop(d);
    use_drop(d);
    ranking_thread_abandon(d); /* EVENT_SYNCED makes a pass due */
    bool is_short = d->pretend == NULL && clock_boot_us() < d->attached_us + SHORT_CONNECTION_US;
    if (is_short && wait_ms < DAEMON_RETRY_MS) wait_ms = DAEMON_RETRY_MS;
    uv_timer_start(&d->retry_timer, on_retry, wait_ms, DAEMON_RETRY_MS);
}

void daemon_close_executor_poll(struct daemon *d)
{
    if (d->executor_poll != NULL) uv_close((uv_handle_t *)d->executor_poll, free_handle);
    d->executor_poll = NULL;
}
