/* Acting: turns the decisions of a committed turn into orders to the executor. */
#include <string.h>

#include "base/ensure.h"
#include "base/quantity.h"
#include "base/text.h"
#include "daemon/daemon.h"
#include "daemon/enforcement.h"
#include "daemon/log.h"
#include "daemon/start_orders.h"
#include "engine/output_path.h"
#include "exec/protocol.h"
#include "fields/job_id.h"
#include "fields/signal_text.h"
#include "fields/terminal_text.h"

/* What the server admits can be launched, with what is added here. */
_Static_assert((int)SUBMIT_STRING_MAX == (int)LAUNCH_STRING_MAX, "strings");
_Static_assert((int)SUBMIT_STRINGS_MAX + 1000 <= (int)LAUNCH_STRINGS_MAX, "counts");
_Static_assert(SUBMIT_BYTES_MAX + 2 * 1024 * 1024 <= (int)PROTOCOL_FRAME_MAX, "the frame");

static char *expand(struct arena *arena, const struct job *j, const char *user, uint32_t task_id, const char *pattern)
{
    if (pattern == NULL) return NULL;
    struct buf path = {0};
    output_path_expand(j, user, task_id, pattern, &path);
    char *copy = arena_copy(arena, (struct str){path.text, path.length});
    buf_release(&path);
    return copy;
}

/* The text was checked when the job was submitted. */
static void set_warning(const struct job *j, struct launch *launch)
{
    struct signal_warning warning = {0};
    if (job_rare(j)->warn_signal == NULL) return;
    (void)signal_warning_parse(str(job_rare(j)->warn_signal), "", &warning, NULL);
    launch->warn_signal = warning.number;
    launch->warn_before_us = warning.before_s * US_PER_S;
    launch->is_warn_to_first = warning.is_to_first;
}

/* Likewise. */
static void set_terminal(const struct job *j, struct launch *launch)
{
    static const enum launch_terminal terminals[] = {
        [TERMINAL_NONE] = LAUNCH_NO_TERMINAL, [TERMINAL_PTY] = LAUNCH_PTY, [TERMINAL_PIPES] = LAUNCH_PIPES};
    struct terminal_text terminal = {0};
    if (job_rare(j)->terminal == NULL) return;
    (void)terminal_text_parse(str(job_rare(j)->terminal), "", &terminal, NULL);
    launch->terminal = terminals[terminal.kind];
    launch->ends_on_hangup = !terminal.detaches;
}

/* What the rows say of a launch; the script and the environment are added. Texts in memory of arena. */
static struct launch launch_of(const struct daemon *d, const struct job *j, const struct task *k, struct arena *arena)
{
    const char *user = d->state.assocs.items[k->assoc].user;
    char *name = arena_alloc(arena, JOB_ID_TEXT_SIZE);
    job_id_format(name, j->id, j->is_array ? k->task_id : NONE);
    struct launch launch = {.id = k->launch_id,
                            .uid = j->uid,
                            .gid = j->gid,
                            .name = name,
                            .directory = arena_copy(arena, str(j->text->directory)),
                            .out_path = expand(arena, j, user, k->task_id, j->text->out_pattern),
                            .err_path = expand(arena, j, user, k->task_id, j->text->err_pattern),
                            .mem_mib = k->placements[0].mem_mib,
                            .time_limit_us = task_time_limit_s(j, k) * US_PER_S,
                            .grace_us = setting_number(&d->state.settings, SET_GRACE_S) * US_PER_S};
    enforcement_set(d, k, &launch);
    set_warning(j, &launch);
    set_terminal(j, &launch);
    return launch;
}

static void start(struct daemon *d, const struct decision *decision)
{
    uint32_t job_index = state_find_job(&d->state, decision->job_id);
    uint32_t task_index = state_find_task(&d->state, decision->job_id, decision->task_id);
    if (job_index == NONE || task_index == NONE) return; /* it ended in the same turn */
    const struct job *j = &d->state.jobs.items[job_index];
    const struct task *k = &d->state.tasks.items[task_index];
    if (d->pretend != NULL) {
        daemon_start_pretend(d, j, k);
        return;
    }
    struct start_order *order = start_order_new(d, j->id);
    struct err e;
    if (store_script(d->store, j->id, &order->arena, &order->script, &e) != 0) {
        log_line(LOG_ERROR, "script-missing", " job=%u error=\"%s\"", j->id, ERR_SENTENCE(&e));
        if (e.code != ERR_NOT_FOUND) { /* else the launcher refuses it */
            start_order_report_unavailable(d, k->launch_id, &e);
            start_order_free(order);
            return;
        }
    }
    order->launch = launch_of(d, j, k, &order->arena);
    task_environment_add_own(d, j, k, &order->own);
    log_line(LOG_INFO, "start", " job=%s launch=%llu", order->launch.name, (unsigned long long)k->launch_id);
    start_order_give(order);
}

void daemon_log_launch_failure(struct daemon *d)
{
    const struct launch_backoff *b = &d->state.launch_backoff;
    bool is_waiting = launch_backoff_is_waiting(b);
    if (is_waiting == (d->launch_failure[0] != '\0') && strcmp(b->detail, d->launch_failure) == 0) return;
    if (is_waiting)
        log_line(LOG_WARNING, "launches-stopped", " error=\"%s\" retry_s=%lld", b->detail,
                 (long long)(b->wait_us / US_PER_S));
    else
        log_line(LOG_INFO, "launches-resumed", " state=%s", d->state_dir.path);
    text_format(d->launch_failure, sizeof d->launch_failure, "%s", b->detail);
}

/* Without an executor no decision is lost: once one is connected, EVENT_SYNCED decides the same again from the rows. */
void daemon_act(struct daemon *d)
{
    for (uint32_t i = 0; i < d->outcome.decisions.count && d->executor != NULL; i++) {
        const struct decision *decision = &d->outcome.decisions.items[i];
        if (decision->kind == DECIDE_START)
            start(d, decision);
        else
            start_orders_follow(d, decision);
    }
    if (d->executor != NULL) executor_flush(d->executor);
}
