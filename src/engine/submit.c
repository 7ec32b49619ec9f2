/* Submissions: a new row of jobs, with the fields given (job_edit.h), its tasks and its association. */
#include "base/ensure.h"
#include "base/quantity.h"
#include "engine/assoc_limits.h"
#include "engine/dependencies.h"
#include "engine/job_admission.h"
#include "engine/job_edit.h"
#include "engine/job_waits.h"
#include "engine/limit_submit.h"
#include "engine/output_path.h"
#include "engine/requested_resources.h"
#include "fields/array_spec.h"

static const uint32_t plain_task = 0;

/* --- tasks -------------------------------------------------------------------------------------------------------- */

static int read_array(struct apply_context *c, const char *text, struct idset *out_tasks, uint32_t *out_limit)
{
    if (array_spec_parse(str(text), out_tasks, out_limit, c->e) != 0) return -1;
    uint32_t count = idset_count(out_tasks);
    int64_t max = setting_number(&c->s->settings, SET_MAX_ARRAY_TASKS);
    if (count <= max) return 0;
    idset_release(out_tasks);
    (void)err_value_reason(c->e, "array", str(text), "has %u tasks; 1 to %lld are accepted (max_array_tasks)", count,
                           (long long)max);
    if (c->e != NULL) c->e->code = ERR_TOO_LARGE;
    return -1;
}

static int add_tasks(struct apply_context *c, const struct job_values *given, struct job *row)
{
    if (row->is_array) return read_array(c, given->value[JOB_FIELD_ARRAY].text, &row->array, &row->array_limit);
    idset_add(&row->array, plain_task);
    return 0;
}

/* --- users -------------------------------------------------------------------------------------------------------- */

/* enforce_user: the submission of a user without an object is refused (true), or creates the object (auto). */
int submit_check_user(struct apply_context *c, const char *user)
{
    enum enforce_user rule = c->s->policy.enforce_user;
    if (rule == ENFORCE_USER_NONE || state_find_object(c->s, OBJECT_USER_POLICY, user) != NONE) return 0;
    if (rule == ENFORCE_USER_AUTO) return apply_check_name("user", user, c->e);
    return err_subject(c->e, ERR_DENIED, "user", str(user), "has no user policy, and enforce_user is true");
}

void submit_ensure_user(struct apply_context *c, const char *user)
{
    struct state *s = c->s;
    if (s->policy.enforce_user != ENFORCE_USER_AUTO) return;
    if (state_find_object(s, OBJECT_USER_POLICY, user) != NONE) return;
    const struct object o = object_automatic_user(&s->settings, user);
    object_create(c, OBJECT_USER_POLICY, &o);
}

/* --- the event ---------------------------------------------------------------------------------------------------- */

static int check_job_count(struct apply_context *c)
{
    int64_t max = setting_number(&c->s->settings, SET_MAX_JOBS);
    if (max == 0 || c->s->job_by_id.count < max) return 0;
    uint32_t count = c->s->job_by_id.count;
    return err_set(c->e, ERR_TOO_LARGE, "%u job%s pending or running; the maximum is %lld (max_jobs)", count,
                   count == 1 ? " is" : "s are", (long long)max);
}

static int check_user_job_count(struct apply_context *c, const char *user)
{
    int64_t max = setting_number(&c->s->settings, SET_GE_MAX_USER_JOBS);
    if (max == 0) return 0;
    uint64_t count = state_user_jobs(c->s, user);
    if (count < (uint64_t)max) return 0;
    return err_subject(c->e, ERR_TOO_LARGE, "user", str(user),
                       "has %llu %s pending or running; %lld at most are accepted (max_u_jobs)",
                       (unsigned long long)count, count == 1 ? "job" : "jobs", (long long)max);
}

/* of: whose jobs; a phrase of the sentence. max_mib 0: no limit. */
static int check_input(struct apply_context *c, const char *of, const char *user, uint64_t held, uint32_t bytes,
                       enum setting limit)
{
    int64_t max_mib = setting_number(&c->s->settings, limit);
    if (max_mib == 0 || held + bytes <= (uint64_t)max_mib * BYTES_PER_MIB) return 0;
    return err_set(c->e, ERR_TOO_LARGE,
                   "script, arguments and environment have %u bytes, and those of the jobs pending or running of %s%s "
                   "%llu; %lld MiB at most are accepted (%s)",
                   bytes, of, user, (unsigned long long)held, (long long)max_mib, settings_table[limit].name);
}

static int check_inputs(struct apply_context *c, const char *user, uint32_t bytes)
{
    uint64_t held = c->s->live_input_bytes;
    if (check_input(c, "all users", "", held, bytes, SET_MAX_INPUT_MIB) != 0) return -1;
    return check_input(c, "user ", user, state_user_input_bytes(c->s, user), bytes, SET_MAX_USER_INPUT_MIB);
}

int submit_check_counts(struct apply_context *c, const char *user, uint32_t input_bytes)
{
    if (check_job_count(c) != 0 || check_user_job_count(c, user) != 0) return -1;
    return check_inputs(c, user, input_bytes);
}

static void add_job(struct apply_context *c, struct job *row)
{
    struct state *s = c->s;
    row->id = s->next_job_id++;
    row->list_position = s->next_list_position;
    ensure(row->id < NONE - 1);
    job_count_live(s, row, 1);
    assoc_count_work(s, row->assoc, &(struct work){.pending = idset_count(&row->pending)}, 1);
    job_count_references(s, row, 1);
    job_ensure_usage_owners(s, row);
    uint32_t index = job_append(s, row);
    apply_note_change(c, TABLE_JOB, index);
    apply_note_change(c, TABLE_COUNTERS, 0);
    if (row->dependency != NULL) dependencies_set(c, index);
    dependencies_named(c, index, NULL);
    s->pass_is_due = true;
    if (row->is_immediate) rhythm_restart(&s->rhythm); /* it is decided at once, not at the next interval */
}

static int set_dependency(struct apply_context *c, const struct event *event, struct job *row)
{
    const char *user = event->actor.user != NULL ? event->actor.user : "";
    if (!event->submit->is_given[JOB_FIELD_DEPENDENCY] || dependencies_resolve(c, event, user, row) == 0) return 0;
    idset_release(&row->array);
    return -1;
}

/* Whether its association lets it have its QOS, and limits let it be submitted. A new user counts as the account. */
static int admit(struct apply_context *c, const struct event *event, const struct job *row, bool is_new_user)
{
    if (job_admission_check_qos(c, row->qos, row->assoc) != 0) return -1;
    return limit_submit_check(c, row, is_new_user ? event->actor.user : NULL);
}

/* An update cannot change them, and a job that was moved in keeps what it has. */
static int check_patterns(struct apply_context *c, const struct job_values *given)
{
    static const enum job_field patterns[] = {JOB_FIELD_OUT_PATTERN, JOB_FIELD_ERR_PATTERN};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const char *text = given->is_given[patterns[i]] ? given->value[patterns[i]].text : NULL;
        if (text != NULL && output_path_check(text, job_field_at(patterns[i])->name, c->e) != 0) return -1;
    }
    return 0;
}

int submit_make_row(struct apply_context *c, const struct event *event, struct job *out_row)
{
    const struct job_values *given = event->submit;
    bool is_new_user;
    if (check_patterns(c, given) != 0) return -1;
    if (job_edit_submission(c, &event->actor, given, out_row, &is_new_user) != 0) return -1;
    if (submit_check_counts(c, event->actor.user, event->input_bytes) != 0) return -1;
    if (submit_check_user(c, event->actor.user) != 0 || add_tasks(c, given, out_row) != 0) return -1;
    if (set_dependency(c, event, out_row) != 0) return -1;
    if (admit(c, event, out_row, is_new_user) != 0) {
        idset_release(&out_row->array);
        return -1;
    }
    if (is_new_user) out_row->assoc = NONE;
    idset_copy(&out_row->pending, &out_row->array);
    out_row->input_bytes = event->input_bytes;
    out_row->uid = event->actor.uid;
    out_row->gid = event->actor.gid;
    return 0;
}

static int submit(struct apply_context *c, const struct event *event)
{
    struct job row;
    if (submit_make_row(c, event, &row) != 0) return -1;
    if (row.assoc == NONE) row.assoc = assoc_add_new_user(c, event->actor.user);
    submit_ensure_user(c, event->actor.user);
    job_waits_find_ready(&row);
    if (row.dependency != NULL) row.accrue_us = job_waits_accrual_us(&row, c->now_us);
    add_job(c, &row);
    c->result->job_id = row.id;
    return 0;
}

int apply_submit(struct apply_context *c, const struct event *event)
{
    uint32_t added = requested_resources_add(c, event->submit);
    int status = submit(c, event);
    requested_resources_settle(c, added, status != 0);
    return status;
}
