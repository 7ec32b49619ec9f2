#include "engine/job_edit.h"

#include <string.h>

#include "base/ensure.h"
#include "base/quantity.h"
#include "engine/assoc_limits.h"
#include "engine/job_admission.h"
#include "engine/job_members.h"
#include "engine/job_places.h"
#include "engine/partition_limits.h"
#include "engine/submit_assoc.h"

/* A submission or an update while its fields are set. */
struct job_edit {
    struct apply_context *c;
    const struct actor *actor;
    const struct job_values *given;
    const struct job *old; /* NULL: a submission */
    struct job *row;
    bool is_new_user; /* of a submission by a user without an association */
    bool is_changed[JOB_FIELD_COUNT];
};

static bool has_started(const struct job *j)
{
    return idset_count(&j->pending) + idset_count(&j->cancelled) != idset_count(&j->array);
}

/* Names the job in the error of an update. */
static int fail_of_job(struct job_edit *edit)
{
    char id[16];
    if (edit->old == NULL) return -1;
    text_format(id, sizeof id, "%u", edit->old->id);
    return err_of(edit->c->e, "job", str(id));
}

/* --- who may set a field, and until when -------------------------------------------------------------------------- */

static int check_settable(struct job_edit *edit, enum job_field f)
{
    bool is_update = edit->old != NULL;
    if (job_field_is_settable(f, is_update)) return 0;
    return err_field(edit->c->e, ERR_INPUT, job_field_at(f)->name, "%s cannot set it",
                     is_update ? "an update" : "a submission");
}

static bool is_too_late(const struct job *j, enum job_field_until until)
{
    switch (until) {
    case JOB_UNTIL_STARTED: return has_started(j);
    case JOB_UNTIL_ALL_STARTED: return has_started(j) && idset_first(&j->pending) == NONE;
    default: return false;
    }
}

/* An earlier attempt was charged to the job's account, by its QOS and project. */
static bool was_charged_by(const struct job *j, enum job_field f)
{
    bool is_charged = f == JOB_FIELD_QOS || f == JOB_FIELD_PROJECT || f == JOB_FIELD_ACCOUNT;
    return is_charged && j->restarted.count > 0;
}

static int check_not_too_late(struct job_edit *edit, enum job_field f)
{
    if (edit->old == NULL) return 0;
    if (!is_too_late(edit->old, job_field_rows[f].until) && !was_charged_by(edit->old, f)) return 0;
    (void)err_field(edit->c->e, ERR_CONFLICT, job_field_at(f)->name, "it cannot change after the job has started");
    return fail_of_job(edit);
}

static bool is_allowed(const struct job_edit *edit, enum job_field_setter setter, int64_t old, int64_t new)
{
    if (actor_may(edit->actor, PERMISSION_JOB_FIELDS)) return true;
    switch (setter) {
    case JOB_SET_BY_INSTANCE:
    case JOB_SET_BY_OPERATOR: return false;
    case JOB_SET_BY_USER: return true;
    case JOB_RAISED_BY_USER: return new >= old;
    case JOB_LOWERED_BY_USER: return new <= old;
    case JOB_LOWERED_ONCE_STARTED: return new <= old || edit->old == NULL || !has_started(edit->old);
    }
    return false;
}

static int refuse_raise_of_started(struct job_edit *edit, const char *name, int64_t old_s, int64_t new_s)
{
    char from[32], to[32];
    duration_format(from, old_s);
    duration_format(to, new_s);
    (void)err_field(edit->c->e, ERR_DENIED, name,
                    "only an operator may raise it from %s to %s after the job has started", from, to);
    return fail_of_job(edit);
}

/* 0 of max_requeue stands for the setting. */
static int64_t compared(const struct job_edit *edit, enum job_field f, int64_t value)
{
    bool is_default = f == JOB_FIELD_MAX_REQUEUE && value == 0;
    return is_default ? setting_number(&edit->c->s->settings, SET_MAX_BATCH_REQUEUE) : value;
}

static int check_actor(struct job_edit *edit, enum job_field f, const struct field_value *old_value,
                       const struct field_value *new_value)
{
    const char *name = job_field_at(f)->name;
    enum job_field_setter setter = job_field_rows[f].setter;
    char who[APPLY_ACTOR_SIZE];
    int64_t old = compared(edit, f, old_value->number), new = compared(edit, f, new_value->number);
    if (is_allowed(edit, setter, old, new)) return 0;
    if (setter == JOB_LOWERED_ONCE_STARTED) return refuse_raise_of_started(edit, name, old, new);
    if (setter == JOB_SET_BY_OPERATOR)
        return err_field(edit->c->e, ERR_DENIED, name, "only an operator may set it; you are %s",
                         apply_actor_text(edit->actor, who));
    return err_field(edit->c->e, ERR_DENIED, name, "only an operator may %s it from %lld to %lld",
                     setter == JOB_RAISED_BY_USER ? "lower" : "raise", (long long)old, (long long)new);
}

/* --- single fields ------------------------------------------------------------------------------------------------ */

static bool may_have_deadline(const struct job_edit *edit)
{
    const struct state *s = edit->c->s;
    if (actor_may(edit->actor, PERMISSION_JOB_FIELDS)) return true;
    uint32_t user = state_find_object(s, OBJECT_USER_POLICY, edit->actor->user);
    return user != NONE && s->objects[OBJECT_USER_POLICY].items[user].object.value[USER_MAY_USE_DEADLINE].number != 0;
}

static int check_deadline(struct job_edit *edit)
{
    const char *name = job_field_at(JOB_FIELD_DEADLINE)->name;
    int64_t deadline_us = edit->row->deadline_us;
    if (deadline_us == 0) return 0;
    if (deadline_us <= edit->c->now_us) {
        char text[32];
        time_format(text, deadline_us);
        return err_value_reason(edit->c->e, name, str(text), "has passed; a time in the future is accepted");
    }
    if (!may_have_deadline(edit))
        return err_field(edit->c->e, ERR_DENIED, name, "user '%s' may not have one", edit->actor->user);
    return 0;
}

/* After a change of begin the age grows from begin if that is in the future; from now if it was to grow from a later
 * time. That of a held job (0) does not grow. */
static void move_accrual(struct job_edit *edit)
{
    struct job *row = edit->row;
    int64_t now_us = edit->c->now_us;
    if (row->accrue_us == 0) return;
    if (row->begin_us > now_us || row->accrue_us > now_us)
        row->accrue_us = row->begin_us > now_us ? row->begin_us : now_us;
}

static int check_array_limit(struct job_edit *edit)
{
    if (edit->row->is_array) return 0;
    (void)err_field(edit->c->e, ERR_CONFLICT, job_field_at(JOB_FIELD_ARRAY_LIMIT)->name, "only an array has one");
    return fail_of_job(edit);
}

/* An update moves the job to the association that its user has in the account; set_subject finds that of a
 * submission. */
static int edit_account(struct job_edit *edit, const char *account)
{
    const struct assoc *own = &edit->c->s->assocs.items[edit->old->assoc];
    if (strcmp(own->account, account) == 0) return 0;
    if (check_not_too_late(edit, JOB_FIELD_ACCOUNT) != 0) return -1;
    if (submit_assoc_find_named(edit->c, account, own->user, edit->row, &edit->row->assoc) != 0)
        return fail_of_job(edit);
    edit->is_changed[JOB_FIELD_ACCOUNT] = true;
    return 0;
}

/* What follows from a change of the field. */
static int after_change(struct job_edit *edit, enum job_field f)
{
    switch (f) {
    case JOB_FIELD_BEGIN: move_accrual(edit); return 0;
    case JOB_FIELD_DEADLINE: return check_deadline(edit);
    case JOB_FIELD_ARRAY_LIMIT: return check_array_limit(edit);
    case JOB_FIELD_REQUESTS:
        return job_places_check_expressions(edit->c, edit->row->requests, edit->row->request_count);
    case JOB_FIELD_SOFT:
        return job_places_check_expressions(edit->c, edit->row->placing->soft, edit->row->placing->soft_count);
    case JOB_FIELD_CONSTRAINT:
    case JOB_FIELD_QUEUES:
    case JOB_FIELD_MASTER_QUEUES:
    case JOB_FIELD_SOFT_QUEUES: return job_places_check_names(edit->c, edit->row, f);
    default: return 0;
    }
}

static int edit_field(struct job_edit *edit, enum job_field f)
{
    const struct field *field = job_field_at(f);
    struct field_value new = edit->given->value[f];
    struct state *s = edit->c->s;
    if (check_settable(edit, f) != 0 || field_check(field, &new, edit->c->e) != 0) return -1;
    if (f == JOB_FIELD_ACCOUNT && edit->old != NULL) return 0;                    /* after all others: edit_account */
    if (job_field_rows[f].home != JOB_HOME_JOB || f == JOB_FIELD_ARRAY) return 0; /* submit.c sets them */
    bool is_removal = field->is_nullable && field->special != NULL && new.number == FIELD_SPECIAL; /* begin=none */
    if (is_removal) new = field_absent();
    const struct field_value old = job_member(s, edit->row, f, &s->cycle);
    if (field_equal(field, &old, &new)) return 0;
    if (check_actor(edit, f, &old, &new) != 0 || check_not_too_late(edit, f) != 0) return -1;
    if (f == JOB_FIELD_DEPENDENCY) return 0; /* dependencies.c sets it */
    if (job_member_set(s, edit->row, f, &new, &s->cycle, edit->c->e) != 0) return -1;
    edit->is_changed[f] = true;
    return after_change(edit, f);
}

/* --- fields in combination ---------------------------------------------------------------------------------------- */

/* An amount of a whole task replaces one for each slot, and the other way round. */
static int settle_amount(struct job_edit *edit, enum job_field whole, enum job_field each)
{
    struct state *s = edit->c->s;
    const struct field_value none = field_number(0);
    bool is_as_before = edit->old != NULL && !edit->is_changed[whole]; /* which changes nothing, also once it runs */
    if (!edit->given->is_given[whole] || edit->row->placing == NULL) return 0;
    if (is_as_before && !edit->given->is_given[each]) return 0;
    if (!edit->given->is_given[each]) return job_member_set(s, edit->row, each, &none, &s->cycle, edit->c->e);
    if (edit->given->value[each].number == 0) return 0;
    return err_field(edit->c->e, ERR_INPUT, job_field_at(each)->name, "not together with the %s; give only one of them",
                     job_field_at(whole)->help);
}

static int settle_amounts(struct job_edit *edit)
{
    if (settle_amount(edit, JOB_FIELD_MEM_MIB, JOB_FIELD_MEM_PER_CPU) != 0) return -1;
    return settle_amount(edit, JOB_FIELD_GPUS, JOB_FIELD_GPUS_PER_SLOT);
}

/* A new time limit may keep tasks from starting; where all have started it does not matter what could start. */
static bool has_new_time_to_start(const struct job_edit *edit)
{
    return edit->is_changed[JOB_FIELD_TIME_LIMIT] && (edit->old == NULL || idset_first(&edit->old->pending) != NONE);
}

/* What decides where a job could run. */
static bool has_new_places(const struct job_edit *edit)
{
    static const enum job_field fields[] = {JOB_FIELD_CPUS,           JOB_FIELD_ENVIRONMENT,   JOB_FIELD_PARTITIONS,
                                            JOB_FIELD_QUEUES,         JOB_FIELD_MASTER_QUEUES, JOB_FIELD_NODES,
                                            JOB_FIELD_SLOTS_PER_NODE, JOB_FIELD_SLOTS_MAX,     JOB_FIELD_CONSTRAINT,
                                            JOB_FIELD_MEM_MIB,        JOB_FIELD_REQUESTS,      JOB_FIELD_GPUS,
                                            JOB_FIELD_MEM_PER_CPU,    JOB_FIELD_GPUS_PER_SLOT, JOB_FIELD_EXCLUSIVE};
    bool is_new = edit->old == NULL || has_new_time_to_start(edit);
    for (size_t i = 0; i < sizeof fields / sizeof *fields && !is_new; i++) is_new = edit->is_changed[fields[i]];
    return is_new;
}

/* The association and the QOS of a submission, which its partitions may refuse. A new user counts as the account. */
static int set_subject(struct job_edit *edit)
{
    const struct job_values *given = edit->given;
    const char *account = given->is_given[JOB_FIELD_ACCOUNT] ? given->value[JOB_FIELD_ACCOUNT].text : NULL;
    struct job *row = edit->row;
    if (submit_assoc_find(edit->c, edit->actor, account, row, &row->assoc, &edit->is_new_user) != 0) return -1;
    if (!given->is_given[JOB_FIELD_QOS]) row->qos = assoc_limits_default_qos(edit->c->s, row->assoc);
    return 0;
}

/* Its partitions, without those that accept no jobs, in the order of its wishes. Its association and what partitions
 * give by default are those of the first one. */
static int set_partitions(struct job_edit *edit)
{
    struct apply_context *c = edit->c;
    bool is_submission = edit->old == NULL;
    bool has_new_partitions = is_submission || edit->is_changed[JOB_FIELD_PARTITIONS];
    if (is_submission && !edit->given->is_given[JOB_FIELD_PARTITIONS]) job_places_set_partitions(c, edit->row);
    if ((has_new_partitions || edit->is_changed[JOB_FIELD_REQUESTS]) &&
        job_places_check_requested_names(c, edit->row) != 0)
        return -1;
    if (has_new_partitions && job_admission_check_states(c, edit->row) != 0) return -1;
    if (!has_new_partitions && !edit->is_changed[JOB_FIELD_SOFT] && !edit->is_changed[JOB_FIELD_SOFT_QUEUES]) return 0;
    job_places_sort_partitions(c, edit->row);
    if (!is_submission && has_new_partitions && edit->row->lacks_time_limit)
        job_admission_set_default_time(c->s, edit->row);
    if (!is_submission) partition_limits_reset_time(c->s, edit->row);
    return 0;
}

/* What its partitions ask of it, its parallel environment and what else it asks of its places. */
static int set_places(struct job_edit *edit)
{
    struct apply_context *c = edit->c;
    const bool *changed = edit->is_changed;
    bool is_submission = edit->old == NULL;
    bool has_new_limits = is_submission || changed[JOB_FIELD_PARTITIONS] || changed[JOB_FIELD_TIME_LIMIT] ||
                          changed[JOB_FIELD_NODES] || changed[JOB_FIELD_MEM_MIB] || changed[JOB_FIELD_MEM_PER_CPU] ||
                          changed[JOB_FIELD_QOS] || changed[JOB_FIELD_ACCOUNT];
    if (is_submission && set_subject(edit) != 0) return -1;
    if (is_submission && !edit->given->is_given[JOB_FIELD_TIME_LIMIT]) job_admission_set_default_time(c->s, edit->row);
    if (has_new_limits && job_admission_check_partitions(c, edit->row) != 0) return -1;
    if (has_new_places(edit) && (job_admission_check_nodes(c, edit->row) != 0 ||
                                 job_places_check(c, edit->actor, edit->row, is_submission, edit->given) != 0))
        return -1;
    return 0;
}

/* rule: the text of the field f; NULL and "": none. */
static int check_requeue_rule(struct job_edit *edit, enum job_field f, const char *rule)
{
    const struct job_values *given = edit->given;
    bool is_new = given->is_given[JOB_FIELD_REQUEUE] || given->is_given[f];
    if (!is_new || !edit->row->forbids_requeue || rule == NULL || rule[0] == '\0') return 0;
    (void)err_field(edit->c->e, ERR_INPUT, job_field_at(f)->name, "'%s' requeues the job, which requeue=no forbids",
                    rule);
    return fail_of_job(edit);
}

/* Sets the given fields, each by itself. */
static int set_each_field(struct job_edit *edit)
{
    const struct job_values *given = edit->given;
    struct job *row = edit->row;
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (given->is_given[f] && edit_field(edit, f) != 0) return -1;
    }
    if (given->is_given[JOB_FIELD_TIME_LIMIT]) row->lacks_time_limit = row->has_default_time = false;
    if (given->is_given[JOB_FIELD_REQUEUE]) row->forbids_requeue = !row->may_requeue;
    if (check_requeue_rule(edit, JOB_FIELD_REQUEUE_EXIT, job_rare(row)->requeue_exits) != 0 ||
        check_requeue_rule(edit, JOB_FIELD_RETRY, job_rare(row)->retry) != 0)
        return -1;
    bool has_new_account = edit->old != NULL && given->is_given[JOB_FIELD_ACCOUNT];
    return has_new_account ? edit_account(edit, given->value[JOB_FIELD_ACCOUNT].text) : 0;
}

/* What it asks for in numbers. An update of other fields is not refused because the host has shrunk since. */
static int check_request(struct job_edit *edit)
{
    struct apply_context *c = edit->c;
    struct job *row = edit->row;
    const bool *changed = edit->is_changed;
    bool has_new_cpus = edit->old == NULL || changed[JOB_FIELD_CPUS];
    bool has_new_amounts = has_new_cpus || changed[JOB_FIELD_MEM_PER_CPU] || changed[JOB_FIELD_GPUS_PER_SLOT];
    bool has_new_request =
        has_new_amounts || changed[JOB_FIELD_MEM_MIB] || changed[JOB_FIELD_GPUS] || has_new_time_to_start(edit);
    if (has_new_amounts && job_admission_set_amounts(c, row) != 0) return -1;
    if (has_new_request && job_admission_check_capacity(c, row, edit->given) != 0) return -1;
    if ((has_new_cpus || changed[JOB_FIELD_SLOTS_MAX]) && job_admission_check_slots(c, row) != 0) return -1;
    if (!has_new_cpus && !changed[JOB_FIELD_REQUESTS]) return 0;
    return job_admission_check_amounts(c, row);
}

/* What starts at once or not at all can wait for nothing, and is one task. */
static int check_immediate(struct job_edit *edit)
{
    const struct job_values *given = edit->given;
    const struct job *row = edit->row;
    const char *other = NULL;
    if (!row->is_immediate || edit->old != NULL) return 0;
    if (row->is_array) other = job_field_at(JOB_FIELD_ARRAY)->name;
    if (row->is_held) other = job_field_at(JOB_FIELD_HELD)->name;
    if (row->begin_us > edit->c->now_us) other = job_field_at(JOB_FIELD_BEGIN)->name;
    if (given->is_given[JOB_FIELD_DEPENDENCY] && given->value[JOB_FIELD_DEPENDENCY].text[0] != '\0')
        other = job_field_at(JOB_FIELD_DEPENDENCY)->name;
    if (other == NULL) return 0;
    return err_field(edit->c->e, ERR_INPUT, job_field_at(JOB_FIELD_IMMEDIATE)->name,
                     "not together with %s; a job that starts at once is one task and waits for nothing", other);
}

static int check_time_min(struct job_edit *edit)
{
    const struct job *row = edit->row;
    char min[32], limit[32];
    if (!edit->is_changed[JOB_FIELD_TIME_LIMIT] && !edit->is_changed[JOB_FIELD_TIME_MIN]) return 0;
    if (row->time_min_s <= row->time_limit_s) return 0;
    duration_format(min, row->time_min_s);
    duration_format(limit, row->time_limit_s);
    (void)err_value_reason(edit->c->e, job_field_at(JOB_FIELD_TIME_MIN)->name, str(min), "exceeds the time limit %s",
                           limit);
    return fail_of_job(edit);
}

/* Sets the given fields, then checks those that depend on each other. */
static int set_given_fields(struct job_edit *edit)
{
    struct job *row = edit->row;
    bool is_submission = edit->old == NULL;
    if (set_each_field(edit) != 0 || set_partitions(edit) != 0) return -1;
    if (is_submission && !edit->given->is_given[JOB_FIELD_CPUS]) job_admission_set_cpus(row);
    if (is_submission && job_admission_set_default_memory(edit->c, edit->given, row) != 0) return -1;
    if (settle_amounts(edit) != 0) return -1;
    bool has_nodes = row->placing != NULL && row->placing->node_min > 1;
    /* Several nodes are refused before their CPUs are. */
    if (has_nodes && set_places(edit) != 0) return -1;
    if (check_request(edit) != 0 || (!has_nodes && set_places(edit) != 0)) return -1;
    return check_time_min(edit) != 0 ? -1 : check_immediate(edit);
}

/* Other partitions, or another order of them, may be those of another association, which may not allow the QOS.
 * submit.c checks the QOS of a submission. */
static int settle_assoc(struct job_edit *edit)
{
    const struct job *row = edit->row;
    if (submit_assoc_update(edit->c, edit->row) != 0) return fail_of_job(edit);
    if (row->assoc == edit->old->assoc && !edit->is_changed[JOB_FIELD_QOS]) return 0;
    return job_admission_check_qos(edit->c, row->qos, row->assoc) == 0 ? 0 : fail_of_job(edit);
}

int job_edit_update(struct apply_context *c, const struct actor *actor, const struct job *j,
                    const struct job_values *given, struct job *row)
{
    struct job_edit edit = {.c = c, .actor = actor, .given = given, .old = j, .row = row};
    struct job_text *text = arena_alloc(&c->s->cycle, sizeof *text);
    *text = *j->text;
    row->text = text;
    return set_given_fields(&edit) == 0 ? settle_assoc(&edit) : -1;
}

/* --- submissions -------------------------------------------------------------------------------------------------- */

static void set_defaults(struct job_edit *edit)
{
    struct state *s = edit->c->s;
    struct job *row = edit->row;
    const struct job_values *given = edit->given;
    bool is_array = given->is_given[JOB_FIELD_ARRAY] && given->value[JOB_FIELD_ARRAY].text != NULL;
    *row = (struct job){.submit_us = edit->c->now_us,
                        .accrue_us = edit->c->now_us,
                        .is_array = is_array,
                        .qos = state_find_object(s, OBJECT_QOS, DEFAULT_QOS),
                        .project = NONE,
                        .environment = NONE,
                        .may_requeue = setting_number(&s->settings, SET_JOB_REQUEUE) != 0,
                        .set_priority = NONE};
    row->request.cpus = (uint32_t)setting_number(&s->settings, SET_DEFAULT_CPUS);
    row->request.mem_mib = (uint64_t)setting_number(&s->settings, SET_DEFAULT_MEM_MIB);
    row->text = arena_alloc(&s->cycle, sizeof *row->text);
    row->text->out_pattern = is_array ? "fairlead-%A_%a.out" : "fairlead-%j.out";
    row->partitions = arena_alloc(&s->cycle, sizeof *row->partitions);
    row->partitions[0] = object_row_first(s, OBJECT_PARTITION);
    row->partition_count = 1;
}

static int check_required(struct job_edit *edit)
{
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        const struct field *field = job_field_at(f);
        if (job_field_rows[f].is_required && !edit->given->is_given[f])
            return err_field(edit->c->e, ERR_INPUT, field->name, "missing; %s", field->help);
    }
    return 0;
}

int job_edit_submission(struct apply_context *c, const struct actor *actor, const struct job_values *given,
                        struct job *out_row, bool *out_is_new_user)
{
    struct job_edit edit = {.c = c, .actor = actor, .given = given, .row = out_row};
    set_defaults(&edit);
    if (check_required(&edit) != 0 || set_given_fields(&edit) != 0) return -1;
    if (out_row->is_held) out_row->accrue_us = 0;
    *out_is_new_user = edit.is_new_user;
    return 0;
}
