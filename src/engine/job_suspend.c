/* Events that suspend, resume and signal jobs. They are about tasks that run; what of a job is pending stays so, and
 * can start. */
#include "engine/job_control.h"
#include "engine/suspension.h"

/* --- all three ---------------------------------------------------------------------------------------------------- */

/* What one of the events needs. */
struct kind {
    enum job_state from;      /* the state of the tasks that it changes */
    bool accepts_suspended;   /* it is no error if a task is suspended already */
    const char *participle;   /* "suspended" */
    const char *unlike_state; /* why a task that runs, or is suspended, does not fit */
};

static const struct kind suspend_kind = {
    .from = JOB_RUNNING, .accepts_suspended = true, .participle = "suspended", .unlike_state = ""};
static const struct kind resume_kind = {
    .from = JOB_SUSPENDED, .participle = "resumed", .unlike_state = "is not suspended"};
static const struct kind signal_kind = {
    .from = JOB_RUNNING, .participle = "signalled", .unlike_state = "is suspended; resume it first, or cancel it"};

static const char *noun_of(struct job_ref ref)
{
    return ref.task_id == NONE ? "job" : "task";
}

static bool is_fit(const struct task *k, const struct kind *kind)
{
    return k->state == kind->from || (kind->accepts_suspended && k->state == JOB_SUSPENDED);
}

static bool may_resume(const struct actor *actor, const struct task *k)
{
    return !k->is_suspended_by_operator || actor_may(actor, PERMISSION_OPERATOR_SUSPENSIONS);
}

/* The first task that the reference names, of a job one that fits if there is such a task; NONE: no task is live. */
static uint32_t find_task(const struct state *s, struct job_ref ref, bool is_array, const struct kind *kind)
{
    uint32_t found = NONE;
    if (ref.task_id != NONE || !is_array) return state_find_task(s, ref.job_id, is_array ? ref.task_id : 0);
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        if (k->job_id != ref.job_id || job_state_is_end(k->state)) continue;
        if (is_fit(k, kind)) return i;
        if (found == NONE) found = i;
    }
    return found;
}

static int refuse_state(const struct task *k, const struct kind *kind, struct job_ref ref, struct str name,
                        struct err *e)
{
    if (k->state == JOB_STARTING)
        return err_subject(e, ERR_CONFLICT, noun_of(ref), name, "is starting; only a running job can be %s",
                           kind->participle);
    if (k->state == JOB_COMPLETING)
        return err_subject(e, ERR_CONFLICT, noun_of(ref), name, "is being ended; it cannot be %s", kind->participle);
    return err_subject(e, ERR_CONFLICT, noun_of(ref), name, "%s", kind->unlike_state);
}

static int check(struct apply_context *c, const struct event *event, struct job_ref ref, const struct kind *kind)
{
    char id[JOB_ID_TEXT_SIZE];
    struct str name = {id, job_id_format(id, ref.job_id, ref.task_id)};
    uint32_t index;
    if (job_control_find(c, &event->actor, ref, &index) != 0) return -1;
    uint32_t task = find_task(c->s, ref, c->s->jobs.items[index].is_array, kind);
    if (task == NONE)
        return err_subject(c->e, ERR_CONFLICT, noun_of(ref), name, "is pending; only a running job can be %s",
                           kind == &resume_kind ? "suspended and resumed" : kind->participle);
    const struct task *k = &c->s->tasks.items[task];
    if (!is_fit(k, kind)) return refuse_state(k, kind, ref, name, c->e);
    if (kind == &resume_kind && !may_resume(&event->actor, k))
        return err_subject(c->e, ERR_DENIED, noun_of(ref), name,
                           "is suspended by an operator; only an operator can resume it");
    return 0;
}

static bool act(struct apply_context *c, const struct event *event, struct job_task_lists *lists, struct job_ref ref,
                job_task_act *act_on_task)
{
    uint32_t job = state_find_job(c->s, ref.job_id);
    if (job == NONE) return false;
    if (ref.task_id == NONE) return job_control_for_each_task(c, event, lists, &c->s->jobs.items[job], act_on_task);
    uint32_t task = state_find_task(c->s, ref.job_id, ref.task_id);
    return task != NONE && act_on_task(c, event, lists, task);
}

/* --- suspend ------------------------------------------------------------------------------------------------------ */

static int check_suspend(struct apply_context *c, const struct event *event, struct job_ref ref)
{
    return check(c, event, ref, &suspend_kind);
}

/* An operator takes a suspension over. */
static bool suspend_task(struct apply_context *c, const struct event *event, struct job_task_lists *lists,
                         uint32_t index)
{
    struct task *k = &c->s->tasks.items[index];
    const struct job *j = &c->s->jobs.items[state_find_job(c->s, k->job_id)];
    bool is_by_operator = !job_control_is_own(c->s, &event->actor, j);
    bool is_taken_over = k->state == JOB_SUSPENDED && is_by_operator && !k->is_suspended_by_operator;
    if (k->state != JOB_RUNNING && !is_taken_over) return false;
    if (event->jobs.is_dry_run) return job_control_counts_first(event, lists, k->job_id, k->task_id);
    if (is_taken_over) {
        k->is_suspended_by_operator = true;
        apply_note_change(c, TABLE_TASK, index);
        return true;
    }
    suspension_begin(c, index, is_by_operator);
    suspension_send(c, k);
    return true;
}

static bool suspend_ref(struct apply_context *c, const struct event *event, struct job_task_lists *lists,
                        struct job_ref ref)
{
    return act(c, event, lists, ref, suspend_task);
}

int apply_suspend(struct apply_context *c, const struct event *event)
{
    static const struct job_action suspend = {.check = check_suspend, .act = suspend_ref};
    return job_control_change(c, event, &suspend, NULL);
}

/* --- resume ------------------------------------------------------------------------------------------------------- */

static int check_resume(struct apply_context *c, const struct event *event, struct job_ref ref)
{
    return check(c, event, ref, &resume_kind);
}

static bool resume_task(struct apply_context *c, const struct event *event, struct job_task_lists *lists,
                        uint32_t index)
{
    struct task *k = &c->s->tasks.items[index];
    if (k->state != JOB_SUSPENDED || !may_resume(&event->actor, k)) return false;
    if (event->jobs.is_dry_run) return job_control_counts_first(event, lists, k->job_id, k->task_id);
    suspension_end(c, k, c->now_us);
    apply_note_change(c, TABLE_TASK, index);
    suspension_send(c, k);
    return true;
}

static bool resume_ref(struct apply_context *c, const struct event *event, struct job_task_lists *lists,
                       struct job_ref ref)
{
    return act(c, event, lists, ref, resume_task);
}

int apply_resume(struct apply_context *c, const struct event *event)
{
    static const struct job_action resume = {.check = check_resume, .act = resume_ref};
    return job_control_change(c, event, &resume, NULL);
}

/* --- signal ------------------------------------------------------------------------------------------------------- */

static int check_signal(struct apply_context *c, const struct event *event, struct job_ref ref)
{
    return check(c, event, ref, &signal_kind);
}

/* It leaves nothing in the state. */
static bool signal_task(struct apply_context *c, const struct event *event, struct job_task_lists *lists,
                        uint32_t index)
{
    const struct task *k = &c->s->tasks.items[index];
    if (k->state != JOB_RUNNING) return false;
    if (event->jobs.is_dry_run) return job_control_counts_first(event, lists, k->job_id, k->task_id);
    *array_add(&c->outcome->decisions) = (struct decision){.kind = DECIDE_SIGNAL,
                                                           .launch_id = k->launch_id,
                                                           .job_id = k->job_id,
                                                           .task_id = k->task_id,
                                                           .signal = event->jobs.signal,
                                                           .is_to_first = event->jobs.is_to_first};
    return true;
}

static bool signal_ref(struct apply_context *c, const struct event *event, struct job_task_lists *lists,
                       struct job_ref ref)
{
    return act(c, event, lists, ref, signal_task);
}

int apply_signal(struct apply_context *c, const struct event *event)
{
    static const struct job_action signal = {.check = check_signal, .act = signal_ref};
    return job_control_change(c, event, &signal, NULL);
}
