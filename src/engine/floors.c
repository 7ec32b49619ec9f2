#include "engine/floors.h"

bool keeps_floors(const struct state *s)
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

uint32_t priority_not_below(const struct state *s, const struct job *j, uint32_t partition, uint32_t priority)
{
    if (j->floors == NULL || !keeps_floors(s)) return priority;
    uint32_t place = place_of(j, partition);
    return place != NONE && priority < j->floors[place].least ? j->floors[place].least : priority;
}

/* --- raising ------------------------------------------------------------------------------------------------------ */

struct raising {
    struct turn *t;
    const struct multifactor_moment *m;
    struct tres_amount amounts[TRES_MAX];
    uint32_t written;
    bool is_full; /* some that bind were not written */
};

static struct priority_floor *new_floors(uint32_t count)
{
    return mem_resize(NULL, 0, count * sizeof(struct priority_floor));
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
    for (uint32_t i = 0; i < j->partition_count; i++) j->floors[i].stored = j->floors[i].least;
    r->written += j->partition_count;
    note_change(r->t, TABLE_FLOOR, job);
}

static void raise_job(struct raising *r, uint32_t job)
{
    struct job *j = &r->t->s->jobs.items[job];
    bool is_news = false;
    if (j->floors == NULL) j->floors = new_floors(j->partition_count);
    for (uint32_t i = 0; i < j->partition_count; i++) {
        struct priority_floor *floor = &j->floors[i];
        uint32_t priority = computed_priority(r, j, j->partitions[i]);
        bool binds = priority < floor->least;
        if (!binds) floor->least = priority;
        is_news |= binds && floor->stored != floor->least;
    }
    if (is_news) write_floors(r, job);
}

void raise_floors(struct turn *t, const struct multifactor_moment *m)
{
    struct state *s = t->s;
    struct raising r = {.t = t, .m = m};
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *j = &s->jobs.items[i];
        if (j->ended_us != 0 || j->held || j->set_priority != NONE || idset_first(&j->pending) == NONE) continue;
        raise_job(&r, i);
    }
    if (r.is_full) want_pass_at(s, t->now_us + FLOORS_PAUSE_US);
}

/* --- going -------------------------------------------------------------------------------------------------------- */

void rewrite_floors(struct turn *t, uint32_t job)
{
    const struct job *j = &t->s->jobs.items[job];
    bool has_stored = false;
    for (uint32_t i = 0; j->floors != NULL && i < j->partition_count; i++) has_stored |= j->floors[i].stored != 0;
    if (has_stored) note_change(t, TABLE_FLOOR, job);
}

void forget_floors(struct turn *t, uint32_t job)
{
    struct job *j = &t->s->jobs.items[job];
    rewrite_floors(t, job);
    mem_free(j->floors);
    j->floors = NULL;
}

void forget_all_floors(struct turn *t)
{
    for (uint32_t i = 0; i < t->s->jobs.count; i++) {
        struct job *j = &t->s->jobs.items[i];
        mem_free(j->floors);
        j->floors = NULL;
    }
    note_change(t, TABLE_FLOORS, 0);
}

void carry_floors(struct job *j, const struct job *old)
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

bool set_stored_floor(struct job *j, uint32_t partition, uint32_t priority)
{
    uint32_t place = place_of(j, partition);
    if (place == NONE) return false;
    if (j->floors == NULL) j->floors = new_floors(j->partition_count);
    j->floors[place] = (struct priority_floor){priority, priority};
    return true;
}
