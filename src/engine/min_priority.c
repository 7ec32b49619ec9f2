#include "engine/min_priority.h"

#include "base/ensure.h"
#include "engine/job_members.h"

bool min_priority_is_kept(const struct state *s)
{
    return s->policy.model == MODEL_MULTIFACTOR && (s->policy.multifactor.flags & FLAG_INCR_ONLY) != 0;
}

static uint32_t position_of(const struct job *j, uint32_t partition)
{
    for (uint32_t i = 0; i < j->partition_count; i++) {
        if (j->partitions[i] == partition) return i;
    }
    return NONE;
}

uint32_t min_priority_bound(const struct state *s, const struct job *j, uint32_t partition, uint32_t priority)
{
    if (j->min_priorities == NULL || !min_priority_is_kept(s)) return priority;
    uint32_t position = position_of(j, partition);
    return position != NONE && priority < j->min_priorities[position].min ? j->min_priorities[position].min : priority;
}

/* --- raising ------------------------------------------------------------------------------------------------------ */

struct raising {
    struct apply_context *c;
    const struct multifactor_context *m;
    struct tres_amount amounts[TRES_MAX];
    uint32_t written_count;
    bool is_full; /* MIN_PRIORITIES_WRITTEN_MAX is reached, and minimums that bind were not written */
};

static struct min_priority *new_min_priorities(uint32_t count)
{
    return mem_resize(NULL, 0, count * sizeof(struct min_priority));
}

static uint32_t computed_priority(struct raising *r, const struct job *j, uint32_t partition)
{
    const struct multifactor_rules *rules = &r->c->s->policy.multifactor;
    struct multifactor_job input;
    uint32_t priority;
    multifactor_context_job(r->m, j, partition, rules->has_tres_weights ? r->amounts : NULL, &input);
    multifactor_priorities(rules, &r->m->cluster, &input, 1, &priority);
    return priority;
}

/* Writes all minimums of the job, also those that do not bind, because the store replaces its rows. */
static void write_min_priorities(struct raising *r, uint32_t job)
{
    struct job *j = &r->c->s->jobs.items[job];
    if (r->written_count >= MIN_PRIORITIES_WRITTEN_MAX) {
        r->is_full = true;
        return;
    }
    for (uint32_t i = 0; i < j->partition_count; i++) j->min_priorities[i].stored = j->min_priorities[i].min;
    r->written_count += j->partition_count;
    apply_note_change(r->c, TABLE_MIN_PRIORITY, job);
}

static void raise_job(struct raising *r, uint32_t job)
{
    struct job *j = &r->c->s->jobs.items[job];
    bool is_changed = false;
    if (j->min_priorities == NULL) j->min_priorities = new_min_priorities(j->partition_count);
    for (uint32_t i = 0; i < j->partition_count; i++) {
        struct min_priority *kept = &j->min_priorities[i];
        uint32_t priority = computed_priority(r, j, j->partitions[i]);
        bool binds = priority < kept->min;
        if (!binds) kept->min = priority;
        is_changed |= binds && kept->stored != kept->min;
    }
    if (is_changed) write_min_priorities(r, job);
}

void min_priority_raise_all(struct apply_context *c, const struct multifactor_context *m)
{
    struct state *s = c->s;
    struct raising r = {.c = c, .m = m};
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *j = &s->jobs.items[i];
        if (j->ended_us != 0 || j->is_held || j->set_priority != NONE || idset_first(&j->pending) == NONE) continue;
        raise_job(&r, i);
    }
    if (r.is_full) state_want_pass_at(s, c->now_us + MIN_PRIORITY_PAUSE_US);
}

/* --- forgetting --------------------------------------------------------------------------------------------------- */

void min_priority_forget(struct apply_context *c, uint32_t job)
{
    ensure(job < c->s->jobs.count);
    struct job *j = &c->s->jobs.items[job];
    bool has_stored = false;
    for (uint32_t i = 0; j->min_priorities != NULL && i < j->partition_count; i++)
        has_stored |= j->min_priorities[i].stored != 0;
    if (has_stored) apply_note_change(c, TABLE_MIN_PRIORITY, job);
    mem_free(j->min_priorities);
    j->min_priorities = NULL;
}

void min_priority_forget_all(struct apply_context *c)
{
    for (uint32_t i = 0; i < c->s->jobs.count; i++) {
        struct job *j = &c->s->jobs.items[i];
        mem_free(j->min_priorities);
        j->min_priorities = NULL;
    }
    apply_note_change(c, TABLE_MIN_PRIORITIES, 0);
}

/* The fields of an update on which the sum depends, whatever the weights are. */
static const enum job_field sum_fields[] = {
    JOB_FIELD_NICE,  JOB_FIELD_SITE,       JOB_FIELD_SET_PRIORITY,   JOB_FIELD_QOS,     JOB_FIELD_PARTITIONS,
    JOB_FIELD_CPUS,  JOB_FIELD_GPUS,       JOB_FIELD_TIME_LIMIT,     JOB_FIELD_MEM_MIB, JOB_FIELD_REQUESTS,
    JOB_FIELD_BEGIN, JOB_FIELD_DEPENDENCY, JOB_FIELD_ASSOCIATION_ID,
};

void min_priority_update(struct apply_context *c, uint32_t job, struct job *row)
{
    struct state *s = c->s;
    bool is_changed = false;
    for (size_t i = 0; i < sizeof sum_fields / sizeof *sum_fields; i++) {
        const struct field_value old = job_member(s, &s->jobs.items[job], sum_fields[i], &s->cycle);
        const struct field_value new = job_member(s, row, sum_fields[i], &s->cycle);
        is_changed |= !field_equal(job_field_at(sum_fields[i]), &old, &new);
    }
    if (!is_changed) return;
    min_priority_forget(c, job);
    row->min_priorities = NULL;
}

bool min_priority_set_stored(struct job *j, uint32_t partition, uint32_t priority)
{
    uint32_t position = position_of(j, partition);
    if (position == NONE) return false;
    if (j->min_priorities == NULL) j->min_priorities = new_min_priorities(j->partition_count);
    j->min_priorities[position] = (struct min_priority){priority, priority};
    return true;
}
