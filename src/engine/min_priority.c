#include "engine/min_priority.h"

bool min_priority_is_kept(const struct state *s)
{
    return s->policy.model == MODEL_MULTIFACTOR && (s->policy.multifactor.flags & FLAG_INCR_ONLY) != 0;
}

static uint32_t place_of(const struct job *j, uint32_t partition)
{
    for (uint32_t i = 0; i < j->partition_count; i++) {
        if (j->partitions[i] == partition) return i;
    }
    return NONE;
}

uint32_t min_priority_bound(const struct state *s, const struct job *j, uint32_t partition, uint32_t priority)
{
    if (j->floors == NULL || !min_priority_is_kept(s)) return priority;
    uint32_t place = place_of(j, partition);
    return place != NONE && priority < j->floors[place].min ? j->floors[place].min : priority;
}

/* --- raising ------------------------------------------------------------------------------------------------------ */

struct raising {
    struct apply_context *t;
    const struct multifactor_context *m;
    struct tres_amount amounts[TRES_MAX];
    uint32_t written;
    bool is_full; /* some that bind were not written */
};

static struct min_priority *new_floors(uint32_t count)
{
    return mem_resize(NULL, 0, count * sizeof(struct min_priority));
}

static uint32_t computed_priority(struct raising *r, const struct job *j, uint32_t partition)
{
    const struct multifactor_rules *rules = &r->t->s->policy.multifactor;
    struct multifactor_job asked;
    uint32_t priority;
    multifactor_job_of(r->m, j, partition, rules->has_tres_weights ? r->amounts : NULL, &asked);
    multifactor_priorities(rules, &r->m->cluster, &asked, 1, &priority);
    return priority;
}

/* All that the job has, whichever of them binds: they are its rows. */
static void write_floors(struct raising *r, uint32_t job)
{
    struct job *j = &r->t->s->jobs.items[job];
    if (r->written >= FLOORS_A_PASS) {
        r->is_full = true;
        return;
    }
    for (uint32_t i = 0; i < j->partition_count; i++) j->floors[i].stored = j->floors[i].min;
    r->written += j->partition_count;
    apply_note_change(r->t, TABLE_MIN_PRIORITY, job);
}

static void raise_job(struct raising *r, uint32_t job)
{
    struct job *j = &r->t->s->jobs.items[job];
    bool is_news = false;
    if (j->floors == NULL) j->floors = new_floors(j->partition_count);
    for (uint32_t i = 0; i < j->partition_count; i++) {
        struct min_priority *floor = &j->floors[i];
        uint32_t priority = computed_priority(r, j, j->partitions[i]);
        bool binds = priority < floor->min;
        if (!binds) floor->min = priority;
        is_news |= binds && floor->stored != floor->min;
    }
    if (is_news) write_floors(r, job);
}

void min_priority_raise_all(struct apply_context *t, const struct multifactor_context *m)
{
    struct state *s = t->s;
    struct raising r = {.t = t, .m = m};
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *j = &s->jobs.items[i];
        if (j->ended_us != 0 || j->held || j->set_priority != NONE || idset_first(&j->pending) == NONE) continue;
        raise_job(&r, i);
    }
    if (r.is_full) state_want_pass_at(s, t->now_us + FLOORS_PAUSE_US);
}

/* --- going -------------------------------------------------------------------------------------------------------- */

void min_priority_rewrite(struct apply_context *t, uint32_t job)
{
    const struct job *j = &t->s->jobs.items[job];
    bool has_stored = false;
    for (uint32_t i = 0; j->floors != NULL && i < j->partition_count; i++) has_stored |= j->floors[i].stored != 0;
    if (has_stored) apply_note_change(t, TABLE_MIN_PRIORITY, job);
}

void min_priority_forget(struct apply_context *t, uint32_t job)
{
    struct job *j = &t->s->jobs.items[job];
    min_priority_rewrite(t, job);
    mem_free(j->floors);
    j->floors = NULL;
}

void min_priority_forget_all(struct apply_context *t)
{
    for (uint32_t i = 0; i < t->s->jobs.count; i++) {
        struct job *j = &t->s->jobs.items[i];
        mem_free(j->floors);
        j->floors = NULL;
    }
    apply_note_change(t, TABLE_MIN_PRIORITIES, 0);
}

void min_priority_carry(struct job *j, const struct job *old)
{
    j->floors = NULL;
    if (old->floors == NULL) return;
    if (j->set_priority == NONE) {
        j->floors = new_floors(j->partition_count);
        for (uint32_t i = 0; i < j->partition_count; i++) {
            uint32_t place = place_of(old, j->partitions[i]);
            if (place != NONE) j->floors[i] = old->floors[place];
        }
    }
    mem_free(old->floors);
}

bool min_priority_set_stored(struct job *j, uint32_t partition, uint32_t priority)
{
    uint32_t place = place_of(j, partition);
    if (place == NONE) return false;
    if (j->floors == NULL) j->floors = new_floors(j->partition_count);
    j->floors[place] = (struct min_priority){priority, priority};
    return true;
}
