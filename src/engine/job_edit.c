#include "engine/job_edit.h"

#include <string.h>

#include "base/ensure.h"
#include "base/quantity.h"
#include "engine/job_members.h"

/* A submission or an update while its fields are set. */
struct job_edit {
    struct apply_context *c;
    const struct actor *actor;
    const struct job_values *given;
    const struct job *old; /* NULL: a submission */
    struct job *row;
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

static int check_time(struct job_edit *edit, enum job_field f)
{
    if (edit->old == NULL || !is_too_late(edit->old, job_field_rows[f].until)) return 0;
    (void)err_field(edit->c->e, ERR_CONFLICT, job_field_at(f)->name, "it cannot change after the job has started");
    return fail_of_job(edit);
}

static int check_actor(struct job_edit *edit, enum job_field f, const struct field_value *old,
                       const struct field_value *new)
{
    const char *name = job_field_at(f)->name;
    enum job_field_setter setter = job_field_rows[f].setter;
    bool is_allowed = edit->actor->is_operator || setter == JOB_SET_BY_USER ||
                      (setter == JOB_RAISED_BY_USER && new->number >= old->number) ||
                      (setter == JOB_LOWERED_BY_USER && new->number <= old->number);
    if (is_allowed) return 0;
    if (setter == JOB_SET_BY_OPERATOR)
        return err_field(edit->c->e, ERR_DENIED, name, "only an operator may set it; you are %s",
                         edit->actor->user ? edit->actor->user : "an unknown user");
    return err_field(edit->c->e, ERR_DENIED, name, "only an operator may %s it, from %lld to %lld",
                     setter == JOB_RAISED_BY_USER ? "lower" : "raise", (long long)old->number, (long long)new->number);
}

/* --- single fields ------------------------------------------------------------------------------------------------ */

static bool may_have_deadline(const struct job_edit *edit)
{
    const struct state *s = edit->c->s;
    if (edit->actor->is_operator) return true;
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

/* Adapts accrue_us, from which the age grows, to a new begin: to the begin if it is in the future, or to now if the job
 * waited for a begin that is removed. */
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

/* What follows from a change of the field. */
static int after_change(struct job_edit *edit, enum job_field f)
{
    switch (f) {
    case JOB_FIELD_BEGIN: move_accrual(edit); return 0;
    case JOB_FIELD_DEADLINE: return check_deadline(edit);
    case JOB_FIELD_ARRAY_LIMIT: return check_array_limit(edit);
    default: return 0;
    }
}

static int edit_field(struct job_edit *edit, enum job_field f)
{
    const struct field *field = job_field_at(f);
    struct field_value new = edit->given->value[f];
    struct state *s = edit->c->s;
    if (check_settable(edit, f) != 0 || field_check(field, &new, edit->c->e) != 0) return -1;
    if (job_field_rows[f].home != JOB_HOME_JOB || f == JOB_FIELD_ARRAY) return 0; /* submit.c sets them */
    if (field->is_nullable && field->special != NULL && new.number == FIELD_SPECIAL) new = field_absent();
    const struct field_value old = job_member(s, edit->row, f, &s->cycle);
    if (field_equal(field, &old, &new)) return 0;
    if (check_actor(edit, f, &old, &new) != 0 || check_time(edit, f) != 0) return -1;
    if (job_member_set(s, edit->row, f, &new, &s->cycle, edit->c->e) != 0) return -1;
    edit->is_changed[f] = true;
    return after_change(edit, f);
}

/* --- fields in combination ---------------------------------------------------------------------------------------- */

static int check_request(struct job_edit *edit)
{
    const struct capacity *has = &edit->c->s->host.has, *r = &edit->row->request;
    if (r->cpus > has->cpus) return err_exceeds(edit->c->e, "cpus", r->cpus, "the host's %u CPUs", has->cpus);
    if (r->mem_mib > has->mem_mib)
        return err_exceeds(edit->c->e, "mem_mib", (int64_t)r->mem_mib, "the host's %llu MiB of memory",
                           (unsigned long long)has->mem_mib);
    if (r->gpus > has->gpus) return err_exceeds(edit->c->e, "gpus", r->gpus, "the host's %u GPUs", has->gpus);
    return 0;
}

static int check_slots(struct job_edit *edit)
{
    const char *name = job_field_at(JOB_FIELD_SLOTS_MAX)->name;
    struct job *row = edit->row;
    uint32_t has = edit->c->s->host.has.cpus;
    if (row->slots_max == row->request.cpus) row->slots_max = 0;
    if (row->slots_max == 0) return 0;
    if (row->slots_max < row->request.cpus)
        return err_number(edit->c->e, name, row->slots_max, "at least the minimum of the range, %u", row->request.cpus);
    return row->slots_max <= has ? 0 : err_exceeds(edit->c->e, name, row->slots_max, "the host's %u CPUs", has);
}

/* Refuses a request that exceeds the amount of a resource. (A job that was accepted before may wait until the amount is
 * raised.) */
static int check_amounts(struct job_edit *edit)
{
    const struct state *s = edit->c->s;
    const struct job *row = edit->row;
    for (uint32_t i = 0; i < row->request_count; i++) {
        const struct job_request *r = &row->requests[i];
        const struct object *o = &s->objects[OBJECT_RESOURCE].items[r->resource].object;
        int64_t has = o->value[RESOURCE_AMOUNT].number;
        if (has == FIELD_SPECIAL || resource_type_is_text((enum resource_type)o->value[RESOURCE_TYPE].number)) continue;
        if (r->amount * row->request.cpus <= (double)has * (1 + 1e-9)) continue;
        return err_subject(edit->c->e, ERR_TOO_LARGE, "resource", str(o->name),
                           "has an amount of %lld; %s for each of %u CPUs exceeds it", (long long)has, r->text,
                           row->request.cpus);
    }
    return 0;
}

/* The largest MaxTime of the job's partitions, and that partition; INT64_MAX: no limit. */
static int64_t max_time_s(const struct state *s, const struct job *row, uint32_t *out_partition)
{
    int64_t largest_s = 0;
    *out_partition = row->partitions[0];
    for (uint32_t i = 0; i < row->partition_count; i++) {
        const struct object_row *p = &s->objects[OBJECT_PARTITION].items[row->partitions[i]];
        int64_t max_s = p->object.value[PARTITION_MAX_TIME].number;
        if (max_s == FIELD_SPECIAL) max_s = INT64_MAX;
        if (max_s <= largest_s) continue;
        largest_s = max_s;
        *out_partition = row->partitions[i];
    }
    return largest_s;
}

static int check_time_limit(struct job_edit *edit)
{
    uint32_t partition;
    char limit[32], max[32];
    int64_t max_s = max_time_s(edit->c->s, edit->row, &partition);
    if (edit->row->time_limit_s <= max_s) return 0;
    duration_format(limit, edit->row->time_limit_s);
    duration_format(max, max_s);
    const char *name = edit->c->s->objects[OBJECT_PARTITION].items[partition].object.name;
    (void)err_value_reason(edit->c->e, job_field_at(JOB_FIELD_TIME_LIMIT)->name, str(limit),
                           "exceeds MaxTime of partition '%s': %s", name, max);
    if (edit->c->e != NULL) edit->c->e->code = ERR_TOO_LARGE;
    return -1;
}

/* Sets the given fields, and checks what depends on them. */
static int set_given_fields(struct job_edit *edit)
{
    const bool *changed = edit->is_changed;
    bool is_submission = edit->old == NULL;
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (edit->given->is_given[f] && edit_field(edit, f) != 0) return -1;
    }
    bool has_new_size = is_submission || changed[JOB_FIELD_CPUS] || changed[JOB_FIELD_MEM_MIB] ||
                        changed[JOB_FIELD_GPUS] || changed[JOB_FIELD_TIME_LIMIT];
    bool has_new_cpus = is_submission || changed[JOB_FIELD_CPUS];
    if (has_new_size && check_request(edit) != 0) return -1; /* the host may have shrunk since the submission */
    if ((has_new_cpus || changed[JOB_FIELD_SLOTS_MAX]) && check_slots(edit) != 0) return -1;
    if ((has_new_cpus || changed[JOB_FIELD_REQUESTS]) && check_amounts(edit) != 0) return -1;
    bool may_be_longer = changed[JOB_FIELD_TIME_LIMIT] || changed[JOB_FIELD_PARTITIONS];
    return !is_submission && may_be_longer ? check_time_limit(edit) : 0;
}

int job_edit_update(struct apply_context *c, const struct actor *actor, const struct job *j,
                    const struct job_values *given, struct job *row)
{
    struct job_edit edit = {.c = c, .actor = actor, .given = given, .old = j, .row = row};
    struct job_text *text = arena_alloc(&c->s->cycle, sizeof *text);
    *text = *j->text;
    row->text = text;
    return set_given_fields(&edit);
}

/* --- submissions -------------------------------------------------------------------------------------------------- */

static void set_defaults(struct job_edit *edit)
{
    struct state *s = edit->c->s;
    struct job *row = edit->row;
    bool is_array = edit->given->is_given[JOB_FIELD_ARRAY];
    *row = (struct job){.submit_us = edit->c->now_us,
                        .accrue_us = edit->c->now_us,
                        .is_array = is_array,
                        .qos = state_find_object(s, OBJECT_QOS, DEFAULT_QOS),
                        .project = NONE,
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
    static const enum job_field required[] = {JOB_FIELD_NAME, JOB_FIELD_COMMAND, JOB_FIELD_DIRECTORY};
    for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
        const struct field *f = job_field_at(required[i]);
        if (!edit->given->is_given[required[i]])
            return err_field(edit->c->e, ERR_INPUT, f->name, "missing; %s", f->help);
    }
    return 0;
}

int job_edit_submission(struct apply_context *c, const struct actor *actor, const struct job_values *given,
                        struct job *out_row)
{
    struct job_edit edit = {.c = c, .actor = actor, .given = given, .row = out_row};
    uint32_t partition;
    set_defaults(&edit);
    if (check_required(&edit) != 0 || set_given_fields(&edit) != 0) return -1;
    if (out_row->is_held) out_row->accrue_us = 0;
    if (!given->is_given[JOB_FIELD_TIME_LIMIT]) {
        int64_t default_s = setting_number(&c->s->settings, SET_DEFAULT_TIME_S);
        int64_t max_s = max_time_s(c->s, out_row, &partition);
        out_row->time_limit_s = default_s < max_s ? default_s : max_s;
    }
    return check_time_limit(&edit);
}
