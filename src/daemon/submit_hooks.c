#include "daemon/submit_hooks.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/ensure.h"
#include "daemon/daemon.h"
#include "daemon/hook_file.h"
#include "daemon/hook_process.h"
#include "daemon/log.h"
#include "exec/clock.h"

enum submit_hook_stage { HOOK_WAITS, HOOK_RUNS, HOOK_IS_DONE };

struct submit_hook {
    struct daemon *d;
    struct request *request;
    enum submit_hook_stage stage;
    struct buf path; /* as the setting was when the request arrived */
    bool is_system;
    int64_t arrived_us; /* time since boot */
    struct hook_order order;
    struct hook_result result;
    bool is_refused;
    struct err err;
};

static void hook_free(struct submit_hook *h)
{
    buf_release(&h->path);
    mem_free(h);
}

static const char *path_of(const struct daemon *d)
{
    return d->state.settings.value[SET_SUBMIT_HOOK].text;
}

/* --- in a thread: the request is the thread's until it is done ---------------------------------------------------- */

static void run_in_thread(void *hook)
{
    struct submit_hook *h = hook;
    struct buf document = {0};
    h->is_refused = true;
    h->result.end = HOOK_FAILED;
    if (!hook_file_check(h->path.text, h->is_system, h->result.line)) return;
    if (request_write_submission(h->request, &document, &h->err) == 0) {
        h->order.input = (struct str){document.text, document.length};
        hook_process_run(&h->order, &h->result);
    } else {
        text_format(h->result.line, sizeof h->result.line, "cannot be asked: %s", ERR_SENTENCE(&h->err));
    }
    buf_release(&document);
}

/* --- in the loop -------------------------------------------------------------------------------------------------- */

/* A failure is logged when it is another one than at the last run. */
static void note_failure(struct submit_hooks *hooks, const char *path, const char *failure)
{
    if (strcmp(hooks->failure.length > 0 ? hooks->failure.text : "", failure) == 0) return;
    if (failure[0] != '\0')
        log_line(LOG_WARNING, "submit-hook-failed", " path=\"%s\" error=\"%s\"", path, failure);
    else
        log_line(LOG_INFO, "submit-hook-works", " path=\"%s\"", path);
    buf_clear(&hooks->failure);
    buf_add_text(&hooks->failure, failure);
}

static void judge(struct submit_hook *h)
{
    switch (h->result.end) {
    case HOOK_ACCEPTED: h->is_refused = false; break;
    case HOOK_REFUSED:
        err_set(&h->err, ERR_INPUT, "the submission hook of this instance refuses the job: %s", h->result.line);
        break;
    case HOOK_FAILED:
        err_set(&h->err, ERR_UNAVAILABLE, "the job was not accepted: the submission hook %s %s; tell an administrator",
                h->path.text, h->result.line);
        break;
    case HOOK_STOPPED: err_set(&h->err, ERR_UNAVAILABLE, "the instance is stopping; the job was not accepted"); return;
    }
    note_failure(&h->d->submit_hooks, h->path.text, h->result.end == HOOK_FAILED ? h->result.line : "");
}

static void start_next(struct daemon *d);

static void on_done(void *hook)
{
    struct submit_hook *h = hook;
    struct daemon *d = h->d;
    h->stage = HOOK_IS_DONE;
    d->submit_hooks.running_count--;
    judge(h);
    if (d->is_stopping) return;
    start_next(d);
    d->turn(d);
}

static uint32_t running_of(const struct submit_hooks *hooks, uint32_t uid)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < hooks->list.count; i++) {
        const struct submit_hook *h = hooks->list.items[i];
        count += h->stage == HOOK_RUNS && request_actor(h->request)->uid == uid;
    }
    return count;
}

static void start(struct daemon *d, struct submit_hook *h)
{
    h->stage = HOOK_RUNS;
    d->submit_hooks.running_count++;
    own_thread_run(&d->threads, run_in_thread, on_done, h);
}

/* Invariants 2 and 3 */
static void start_next(struct daemon *d)
{
    struct submit_hooks *hooks = &d->submit_hooks;
    const int64_t now_us = clock_boot_us();
    for (uint32_t i = 0; i < hooks->list.count; i++) {
        struct submit_hook *h = hooks->list.items[i];
        if (h->stage != HOOK_WAITS) continue;
        if (now_us - h->arrived_us > SUBMIT_HOOKS_WAIT_S * US_PER_S) {
            h->stage = HOOK_IS_DONE;
            h->is_refused = true;
            err_set(&h->err, ERR_UNAVAILABLE,
                    "the job was not accepted: the submission hook has not come to it for %d s; try again later",
                    SUBMIT_HOOKS_WAIT_S);
        } else if (hooks->running_count < SUBMIT_HOOKS_MAX &&
                   running_of(hooks, request_actor(h->request)->uid) < SUBMIT_HOOKS_USER_MAX) {
            start(d, h);
        }
    }
}

int submit_hooks_open(struct daemon *d, struct err *e)
{
    d->submit_hooks.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return d->submit_hooks.stop_fd >= 0 ? 0 : err_set(e, ERR_IO, "eventfd: %s", strerror(errno));
}

bool submit_hooks_take(struct daemon *d, struct request *request)
{
    if (request_script(request) == NULL || path_of(d)[0] == '\0') return false;
    if (decided_request_would_be_refused(d, request)) return false;
    struct submit_hook *h = mem_resize(NULL, 0, sizeof *h);
    *h = (struct submit_hook){.d = d, .request = request, .is_system = d->is_system, .arrived_us = clock_boot_us()};
    buf_add_text(&h->path, path_of(d));
    h->order = (struct hook_order){.path = h->path.text,
                                   .time_limit_s = setting_number(&d->state.settings, SET_HOOK_TIMEOUT_S),
                                   .stop_fd = d->submit_hooks.stop_fd,
                                   .file_limit = d->file_limit};
    *array_add(&d->submit_hooks.list) = h;
    start_next(d);
    return true;
}

static void remove_at(struct submit_hooks *hooks, uint32_t index)
{
    for (uint32_t i = index + 1; i < hooks->list.count; i++) hooks->list.items[i - 1] = hooks->list.items[i];
    hooks->list.count--;
}

static void decide(struct daemon *d, struct decided_requests *requests, const struct submit_hook *h)
{
    if (!h->is_refused && uploads_take(d, h->request)) return;
    struct decided_request *decided = array_add(&requests->list);
    decided->request = h->request;
    decided->is_refused = h->is_refused;
    if (h->is_refused)
        decided->err = h->err;
    else
        decided_request_apply(d, decided, NULL);
}

void submit_hooks_decide(struct daemon *d, struct decided_requests *requests)
{
    struct submit_hooks *hooks = &d->submit_hooks;
    for (uint32_t i = 0; i < hooks->list.count;) {
        struct submit_hook *h = hooks->list.items[i];
        if (h->stage == HOOK_IS_DONE) {
            decide(d, requests, h);
            remove_at(hooks, i);
            hook_free(h);
        } else {
            i++;
        }
    }
}

void submit_hooks_stop(struct daemon *d)
{
    if (d->submit_hooks.stop_fd > 0) (void)eventfd_write(d->submit_hooks.stop_fd, 1);
}

void submit_hooks_close(struct daemon *d)
{
    struct submit_hooks *hooks = &d->submit_hooks;
    for (uint32_t i = 0; i < hooks->list.count; i++) {
        struct submit_hook *h = hooks->list.items[i];
        ensure(h->stage != HOOK_RUNS);
        if (!h->is_refused) err_set(&h->err, ERR_UNAVAILABLE, "the instance is stopping; the job was not accepted");
        server_answer(h->request, NULL, &h->err);
        hook_free(h);
    }
    array_release(&hooks->list);
    buf_release(&hooks->failure);
    if (hooks->stop_fd > 0) close(hooks->stop_fd);
}

int daemon_check_program(void *context, enum setting setting, const char *value, struct err *e)
{
    const struct daemon *d = context;
    char fault[HOOK_FAULT_SIZE];
    if (setting == SET_GE_LOAD_SENSOR) return daemon_check_sensors(context, value, e);
    if (setting != SET_SUBMIT_HOOK || value[0] == '\0' || hook_file_check(value, d->is_system, fault)) return 0;
    return err_value_reason(e, "submit_hook", str(value), "%s", fault);
}
