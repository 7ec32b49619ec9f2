/* Calls the handler of each kind of event. A handler first checks everything that can be wrong and changes rows only
 * then, so an event that is refused has no effect. */
#include "engine/engine.h"

#include "base/ensure.h"
#include "base/number.h"
#include "engine/audit.h"
#include "engine/dependencies.h"
#include "engine/handlers.h"
#include "engine/min_priority.h"
#include "engine/never_runs.h"
#include "engine/pending.h"
#include "engine/wait_leaders.h"

static int (*const handlers[])(struct apply_context *, const struct event *) = {
    [EVENT_ACCOUNT_ADD] = apply_account_add,
    [EVENT_ACCOUNT_MODIFY] = apply_account_modify,
    [EVENT_ACCOUNT_DELETE] = apply_account_delete,
    [EVENT_USER_ADD] = apply_user_add,
    [EVENT_USER_MODIFY] = apply_user_modify,
    [EVENT_USER_DELETE] = apply_user_delete,
    [EVENT_SETTINGS] = apply_settings,
    [EVENT_OBJECT_ADD] = apply_object_add,
    [EVENT_OBJECT_MODIFY] = apply_object_modify,
    [EVENT_OBJECT_DELETE] = apply_object_delete,
    [EVENT_SUBMIT] = apply_submit,
    [EVENT_CANCEL] = apply_cancel,
    [EVENT_HOLD] = apply_hold,
    [EVENT_RELEASE] = apply_release,
    [EVENT_REQUEUE] = apply_requeue,
    [EVENT_SUSPEND] = apply_suspend,
    [EVENT_RESUME] = apply_resume,
    [EVENT_SIGNAL] = apply_signal,
    [EVENT_UPDATE] = apply_update,
    [EVENT_HOST] = apply_host,
    [EVENT_HOSTS] = apply_hosts,
    [EVENT_LOAD] = apply_load,
    [EVENT_CALENDARS] = apply_calendars,
    [EVENT_STARTED] = apply_started,
    [EVENT_COMPLETING] = apply_completing,
    [EVENT_ENDED] = apply_ended,
    [EVENT_MEASURED] = apply_measured,
    [EVENT_SYNCED] = apply_synced,
    [EVENT_RECOVERY] = apply_recovery,
    [EVENT_QUARANTINE] = apply_quarantine,
    [EVENT_RESET] = apply_reset,
    [EVENT_USAGE_ROWS] = apply_usage_rows,
    [EVENT_TIME] = apply_time,
};

/* Changes by operators, and resets, take effect at once: a ticket plan from before them is dropped. Submissions do not
 * count, because a plan from before them is still right for the jobs in it. */
static void count_edition(struct state *s, enum event_kind kind)
{
    bool is_object = kind >= EVENT_OBJECT_ADD && kind <= EVENT_OBJECT_DELETE;
    s->object_edition += is_object;
    s->rules_edition += kind <= EVENT_OBJECT_DELETE || kind == EVENT_RESET;
}

/* What an event is for the rhythm of the passes. */
static void note_cause(struct state *s, enum event_kind kind, int64_t now_us)
{
    bool is_change = (kind <= EVENT_HOSTS && kind != EVENT_SIGNAL) || kind == EVENT_SYNCED || kind == EVENT_RESET;
    if (kind == EVENT_SUBMIT)
        rhythm_note_submission(&s->rhythm, now_us);
    else if (kind == EVENT_ENDED)
        rhythm_note_end(&s->rhythm, now_us);
    else if (is_change)
        s->rhythm.has_changed = true;
}

enum { PREPARED_GROUPS = 500 }; /* of an event about many jobs: 3 ms or so */

int engine_apply(struct state *s, int64_t now_us, const struct event *event, struct outcome *outcome,
                 struct event_result *out_result, struct err *e)
{
    ensure((size_t)event->kind < sizeof handlers / sizeof *handlers);
    ensure(now_us > 0);
    struct event_result result = {0};
    struct apply_context c = {.s = s, .now_us = now_us, .outcome = outcome, .e = e, .result = &result};
    arena_clear(&s->cycle);
    const struct audit_run *audit = audit_begin(&c, event);
    if (handlers[event->kind](&c, event) != 0) return -1;
    audit_end(&c, event, audit);
    dependencies_settle(&c);
    if (pending_update_if_many(s, now_us, !min_priority_is_kept(s))) wait_leaders_prepare(s, now_us, PREPARED_GROUPS);
    count_edition(s, event->kind);
    note_cause(s, event->kind, now_us);
    if (out_result != NULL) *out_result = result;
    return 0;
}

bool engine_forget(struct state *s)
{
    enum { FEW_ROWS = 32 };
    bool has_ended_jobs = s->ended_jobs > FEW_ROWS && s->ended_jobs > s->jobs.count / 4;
    bool has_ended_tasks = s->ended_tasks > FEW_ROWS && s->ended_tasks > s->tasks.count / 2;
    if (has_ended_jobs) state_compact_jobs(s);
    if (has_ended_tasks) state_compact_tasks(s);
    never_runs_trim(s);
    return has_ended_jobs || has_ended_tasks;
}

bool outcome_has_rows(const struct outcome *o)
{
    return o->changes.count > 0 || o->conditions.count > 0 || o->journal.count > 0 || o->audit.count > 0;
}

void outcome_clear(struct outcome *o)
{
    array_clear(&o->changes);
    array_clear(&o->conditions);
    array_clear(&o->requeued);
    array_clear(&o->suspensions);
    array_clear(&o->journal);
    array_clear(&o->audit);
    arena_clear(&o->audit_texts);
    array_clear(&o->decisions);
    buf_clear(&o->schedule_lines);
}

void outcome_release(struct outcome *o)
{
    array_release(&o->changes);
    array_release(&o->conditions);
    array_release(&o->requeued);
    array_release(&o->suspensions);
    array_release(&o->journal);
    array_release(&o->audit);
    arena_release(&o->audit_texts);
    array_release(&o->decisions);
    buf_release(&o->schedule_lines);
}
