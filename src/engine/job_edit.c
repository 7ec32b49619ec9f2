#include "engine/job_edit.h"

#include <string.h>

#include "base/ensure.h"
#include "base/quantity.h"
#include "engine/job_members.h"

struct editing {
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

/* An update's errors say which job. */
static int fail_of_job(struct editing *g)
{
    char id[16];
    if (g->old == NULL) return -1;
    text_format(id, sizeof id, "%u", g->old->id);
    return err_of(g->c->e, "job", str(id));
}

/* --- who and when ------------------------------------------------------------------------------------------------- */

static int check_settable(struct editing *g, enum job_field f)
{
    bool is_update = g->old != NULL;
    if (job_field_is_settable(f, is_update)) return 0;
    return err_field(g->c->e, ERR_INPUT, job_field_at(f)->name, "%s cannot set it",
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

static int check_time(struct editing *g, enum job_field f)
{
    if (g->old == NULL || !is_too_late(g->old, job_field_rows[f].until)) return 0;
    (void)err_field(g->c->e, ERR_CONFLICT, job_field_at(f)->name, "it cannot change any more: the job has started");
    return fail_of_job(g);
}

static int check_actor(struct editing *g, enum job_field f, const struct field_value *old,
                       const struct field_value *new)
{
    const char *name = job_field_at(f)->name;
    enum job_field_setter setter = job_field_rows[f].setter;
    bool is_allowed = g->actor->is_operator || setter == JOB_SET_BY_USER ||
                      (setter == JOB_RAISED_BY_USER && new->number >= old->number) ||
                      (setter == JOB_LOWERED_BY_USER && new->number <= old->number);
    if (is_allowed) return 0;
    if (setter == JOB_SET_BY_OPERATOR)
        return err_field(g->c->e, ERR_DENIED, name, "only an operator may set it; you are %s",
                         g->actor->user ? g->actor->user : "nobody");
    return err_field(g->c->e, ERR_DENIED, name, "only an operator may %s it, from %lld to %lld",
                     setter == JOB_RAISED_BY_USER ? "lower" : "raise", (long long)old->number, (long long)new->number);
}

/* --- single fields ------------------------------------------------------------------------------------------------ */

static bool may_have_deadline(const struct editing *g)
{
    const struct state *s = g->c->s;
    if (g->actor->is_operator) return true;
    uint32_t user = state_find_object(s, OBJECT_USER, g->actor->user);
    return user != NONE && s->objects[OBJECT_USER].items[user].object.value[USER_MAY_USE_DEADLINE].number != 0;
}

static int check_deadline(struct editing *g)
{
    const char *name = job_field_at(JOB_FIELD_DEADLINE)->name;
    int64_t deadline_us = g->row->deadline_us;
    if (deadline_us == 0) return 0;
    if (deadline_us <= g->c->now_us) {
        char text[32];
        time_format(text, deadline_us);
        return err_value_reason(g->c->e, name, str(text), "has passed; a time to come is accepted");
    }
    if (!may_have_deadline(g))
        return err_field(g->c->e, ERR_DENIED, name, "user '%s' may not have one", g->actor->user);
    return 0;
}

/* The age grows since accrue_us. Of a job that waits for a later begin it starts again then; of one whose begin goes away it
 * starts now. */
static void move_accrual(struct editing *g)
{
    struct job *row = g->row;
    int64_t now_us = g->c->now_us;
    if (row->accrue_us == 0) return;
    if (row->begin_us > now_us || row->accrue_us > now_us)
        row->accrue_us = row->begin_us > now_us ? row->begin_us : now_us;
}

static int check_array_limit(struct editing *g)
{
    if (g->row->is_array) return 0;
    (void)err_field(g->c->e, ERR_CONFLICT, job_field_at(JOB_FIELD_ARRAY_LIMIT)->name, "only an array has one");
    return fail_of_job(g);
}

/* What changing the field brings with it. */
static int after_change(struct editing *g, enum job_field f)
{
    switch (f) {
    case JOB_FIELD_BEGIN: move_accrual(g); return 0;
    case JOB_FIELD_DEADLINE: return check_deadline(g);
    case JOB_FIELD_ARRAY_LIMIT: return check_array_limit(g);
    default: return 0;
    }
}

static int edit_field(struct editing *g, enum job_field f)
{
    const struct field *field = job_field_at(f);
    struct field_value new = g->given->value[f];
    struct state *s = g->c->s;
    if (check_settable(g, f) != 0 || field_check(field, &new, g->c->e) != 0) return -1;
    if (job_field_rows[f].home != JOB_HOME_JOB || f == JOB_FIELD_ARRAY) return 0; /* the submission's (submit.c) */
    if (field->is_nullable && field->special != NULL && new.number == FIELD_SPECIAL) new = field_absent();
    const struct field_value old = job_member(s, g->row, f, &s->cycle);
    if (field_equal(field, &old, &new)) return 0;
    if (check_actor(g, f, &old, &new) != 0 || check_time(g, f) != 0) return -1;
    if (job_member_set(s, g->row, f, &new, &s->cycle, g->c->e) != 0) return -1;
    g->is_changed[f] = true;
    return after_change(g, f);
}

/* --- together ----------------------------------------------------------------------------------------------------- */

static int check_request(struct editing *g)
{
    const struct capacity *has = &g->c->s->host.has, *r = &g->row->request;
    if (r->cpus > has->cpus) return err_exceeds(g->c->e, "cpus", r->cpus, "the host's %u CPUs", has->cpus);
    if (r->mem_mib > has->mem_mib)
        return err_exceeds(g->c->e, "mem_mib", (int64_t)r->mem_mib, "the host's %llu MiB of memory",
                           (unsigned long long)has->mem_mib);
    if (r->gpus > has->gpus) return err_exceeds(g->c->e, "gpus", r->gpus, "the host's %u GPUs", has->gpus);
    return 0;
}

static int check_slots(struct editing *g)
{
    const char *name = job_field_at(JOB_FIELD_SLOTS_MAX)->name;
    struct job *row = g->row;
    uint32_t has = g->c->s->host.has.cpus;
    if (row->slots_max == row->request.cpus) row->slots_max = 0;
    if (row->slots_max == 0) return 0;
    if (row->slots_max < row->request.cpus)
        return err_number(g->c->e, name, row->slots_max, "at least the minimum of the range, %u", row->request.cpus);
    return row->slots_max <= has ? 0 : err_exceeds(g->c->e, name, row->slots_max, "the host's %u CPUs", has);
}

/* What can never be given is refused, not kept waiting; a job that was accepted may wait for an amount to be raised. */
static int check_amounts(struct editing *g)
{
    const struct state *s = g->c->s;
    const struct job *row = g->row;
    for (uint32_t i = 0; i < row->request_count; i++) {
        const struct job_request *r = &row->requests[i];
        const struct object *o = &s->objects[OBJECT_RESOURCE].items[r->resource].object;
        int64_t has = o->value[RESOURCE_AMOUNT].number;
        if (has == FIELD_SPECIAL || resource_type_is_text((enum resource_type)o->value[RESOURCE_TYPE].number)) continue;
        if (r->amount * row->request.cpus <= (double)has * (1 + 1e-9)) continue;
        return err_subject(g->c->e, ERR_TOO_LARGE, "resource", str(o->name),
                           "has an amount of %lld; %s for each of %u CPUs exceeds it", (long long)has, r->text,
                           row->request.cpus);
    }
    return 0;
}

/* The largest MaxTime of the job's partitions, and whose; INT64_MAX: there is none. */
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

static int check_time_limit(struct editing *g)
{
    uint32_t partition;
    char limit[32], max[32];
    int64_t max_s = max_time_s(g->c->s, g->row, &partition);
    if (g->row->time_limit_s <= max_s) return 0;
    duration_format(limit, g->row->time_limit_s);
    duration_format(max, max_s);
    const char *name = g->c->s->objects[OBJECT_PARTITION].items[partition].object.name;
    (void)err_value_reason(g->c->e, job_field_at(JOB_FIELD_TIME_LIMIT)->name, str(limit),
                           "exceeds MaxTime of partition '%s': %s", name, max);
    if (g->c->e != NULL) g->c->e->code = ERR_TOO_LARGE;
    return -1;
}

/* What was given, together with what it depends on. */
static int edit(struct editing *g)
{
    const bool *changed = g->is_changed;
    bool is_submission = g->old == NULL;
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (g->given->is_given[f] && edit_field(g, f) != 0) return -1;
    }
    bool has_new_size = is_submission || changed[JOB_FIELD_CPUS] || changed[JOB_FIELD_MEM_MIB] ||
                        changed[JOB_FIELD_GPUS] || changed[JOB_FIELD_TIME_LIMIT];
    bool has_new_cpus = is_submission || changed[JOB_FIELD_CPUS];
    if (has_new_size && check_request(g) != 0) return -1; /* the host may have become smaller since */
    if ((has_new_cpus || changed[JOB_FIELD_SLOTS_MAX]) && check_slots(g) != 0) return -1;
    if ((has_new_cpus || changed[JOB_FIELD_REQUESTS]) && check_amounts(g) != 0) return -1;
    bool may_be_longer = changed[JOB_FIELD_TIME_LIMIT] || changed[JOB_FIELD_PARTITIONS];
    return !is_submission && may_be_longer ? check_time_limit(g) : 0;
}

int job_edit_update(struct apply_context *c, const struct actor *actor, const struct job *j,
                    const struct job_values *given, struct job *row)
{
    struct editing g = {.c = c, .actor = actor, .given = given, .old = j, .row = row};
    struct job_text *text = arena_alloc(&c->s->cycle, sizeof *text);
    *text = *j->text;
    row->text = text;
    return edit(&g);
}

/* --- submissions -------------------------------------------------------------------------------------------------- */

static void set_defaults(struct editing *g)
{
    struct state *s = g->c->s;
    struct job *row = g->row;
    bool is_array = g->given->is_given[JOB_FIELD_ARRAY];
    *row = (struct job){.submit_us = g->c->now_us,
                        .accrue_us = g->c->now_us,
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

static int check_required(struct editing *g)
{
    static const enum job_field required[] = {JOB_FIELD_NAME, JOB_FIELD_COMMAND, JOB_FIELD_DIRECTORY};
    for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
        const struct field *f = job_field_at(required[i]);
        if (!g->given->is_given[required[i]]) return err_field(g->c->e, ERR_INPUT, f->name, "missing; %s", f->help);
    }
    return 0;
}

int job_edit_submission(struct apply_context *c, const struct actor *actor, const struct job_values *given,
                        struct job *out_row)
{
    struct editing g = {.c = c, .actor = actor, .given = given, .row = out_row};
    uint32_t partition;
    set_defaults(&g);
    if (check_required(&g) != 0 || edit(&g) != 0) return -1;
    if (out_row->is_held) out_row->accrue_us = 0;
    if (!given->is_given[JOB_FIELD_TIME_LIMIT]) {
        int64_t default_s = setting_number(&c->s->settings, SET_DEFAULT_TIME_S);
        int64_t max_s = max_time_s(c->s, out_row, &partition);
        out_row->time_limit_s = default_s < max_s ? default_s : max_s;
    }
    return check_time_limit(&g);
}
