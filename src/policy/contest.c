/* A heap of sets, each with a race of groups. A set's value may be out of date, but never too small (nobody's worth
 * rises), so the top of the heap is the best as soon as it was looked at and stayed on top.
 *
 * Groups are found by two maps: a set by a path of pairs (the set so far, the next member), a group by its set and user.
 * Cost: O(n) maps look-ups for n jobs; a choice costs what it changes, O(log n), and a look at the sets that were worth
 * more before. */
#include "policy/contest.h"

#include "base/ensure.h"

static const enum ticket_member_kind SET_KINDS[] = {MEMBER_DEPARTMENT, MEMBER_PROJECT, MEMBER_JOB_CLASS};

/* While jobs are put into groups. */
struct grouping {
    const struct ticket_run *run;
    struct map paths, owns, set_ids, group_ids;
    uint32_t path_count;
    ARRAY(struct contest_set) sets;
    ARRAY(struct contest_group) groups; /* end counts the jobs */
};

static uint64_t pair(uint32_t first, uint32_t second)
{
    return (uint64_t)first << 32 | second;
}

/* The value at a key, which is *next where the key is new. */
static uint32_t find_or_add(struct map *m, uint64_t key, uint32_t *next)
{
    uint32_t value = map_get_u64(m, key);
    if (value != NONE) return value;
    map_set_u64(m, key, *next);
    return (*next)++;
}

static uint32_t own_id(struct grouping *g, double own)
{
    uint32_t next = g->owns.count;
    return find_or_add(&g->owns, sort_key_double(own), &next);
}

static uint32_t set_of(struct grouping *g, const struct standing *s)
{
    uint32_t path = 0, first = 0;
    for (size_t k = 0; k < sizeof SET_KINDS / sizeof *SET_KINDS; k++) {
        uint32_t member = s->member[SET_KINDS[k]];
        if (member != NONE) path = find_or_add(&g->paths, pair(path, first + member), &g->path_count);
        first += g->run->q->member_count[SET_KINDS[k]];
    }
    if (s->own > 0.0) path = find_or_add(&g->paths, pair(path, first + own_id(g, s->own)), &g->path_count);
    uint32_t set = g->sets.count, id = find_or_add(&g->set_ids, path, &set);
    if (set > g->sets.count) {
        struct contest_set *new = array_add(&g->sets);
        new->standing = *s;
        new->standing.member[MEMBER_USER] = NONE;
    }
    return id;
}

static uint32_t group_of(struct grouping *g, const struct standing *s)
{
    uint32_t set = set_of(g, s), group = g->groups.count;
    uint32_t id = find_or_add(&g->group_ids, pair(set, s->member[MEMBER_USER]), &group);
    if (group > g->groups.count) {
        *array_add(&g->groups) = (struct contest_group){.user = s->member[MEMBER_USER], .set = set};
        g->sets.items[set].group_count++;
    }
    g->groups.items[id].end++;
    return id;
}

/* Groups in the order of their sets; renames them in group_by_job, where NONE takes no part. */
static void lay_out_groups(struct contest *c, struct grouping *g, uint32_t *renamed, struct arena *arena)
{
    c->set_count = g->sets.count;
    c->group_count = g->groups.count;
    c->sets = arena_alloc(arena, c->set_count * sizeof *c->sets);
    c->groups = arena_alloc(arena, c->group_count * sizeof *c->groups);
    for (uint32_t i = 0, group = 0; i < c->set_count; i++) {
        c->sets[i] = g->sets.items[i];
        c->sets[i].first_group = group;
        group += c->sets[i].group_count;
        c->sets[i].group_count = 0;
    }
    for (uint32_t i = 0; i < c->group_count; i++) {
        struct contest_set *set = &c->sets[g->groups.items[i].set];
        renamed[i] = set->first_group + set->group_count++;
        c->groups[renamed[i]] = g->groups.items[i];
    }
    for (uint32_t i = 0; i < c->group_count; i++) {
        uint32_t jobs = c->groups[i].end;
        c->groups[i].next = c->groups[i].end = c->job_count;
        c->job_count += jobs;
    }
}

static void fill_groups(struct contest *c, const struct ticket_run *run, const uint32_t *order)
{
    struct grouping g = {.run = run, .path_count = 1};
    uint32_t *group_by_job = arena_alloc(run->arena, run->pending_count * sizeof *group_by_job);
    for (uint32_t i = 0; i < run->pending_count; i++) {
        struct standing s;
        bool takes_part = c->rules->standing_of(c->rules->policy, &run->q->jobs[order[i]], &s);
        group_by_job[i] = takes_part ? group_of(&g, &s) : NONE;
    }
    uint32_t *renamed = arena_alloc(run->arena, g.groups.count * sizeof *renamed);
    lay_out_groups(c, &g, renamed, run->arena);
    c->jobs = arena_alloc(run->arena, c->job_count * sizeof *c->jobs);
    for (uint32_t i = 0; i < run->pending_count; i++) {
        if (group_by_job[i] != NONE) c->jobs[c->groups[renamed[group_by_job[i]]].end++] = order[i];
    }
    map_release(&g.paths);
    map_release(&g.owns);
    map_release(&g.set_ids);
    map_release(&g.group_ids);
    array_release(&g.sets);
    array_release(&g.groups);
}

static void list_groups_of_users(struct contest *c, struct arena *arena)
{
    c->user_start = arena_alloc(arena, (c->user_count + 2u) * sizeof *c->user_start);
    c->user_groups = arena_alloc(arena, c->group_count * sizeof *c->user_groups);
    for (uint32_t i = 0; i < c->group_count; i++) {
        if (c->groups[i].user != NONE) c->user_start[c->groups[i].user + 2]++;
    }
    for (uint32_t u = 2; u < c->user_count + 2; u++) c->user_start[u] += c->user_start[u - 1];
    for (uint32_t i = 0; i < c->group_count; i++) {
        if (c->groups[i].user != NONE) c->user_groups[c->user_start[c->groups[i].user + 1]++] = i;
    }
}

/* The group's first job as its set's racer. */
static void enter(struct contest *c, uint32_t group)
{
    const struct contest_group *g = &c->groups[group];
    struct contest_set *set = &c->sets[g->set];
    struct racer racer = {.place = NONE};
    if (g->next < g->end) {
        uint32_t job = c->jobs[g->next];
        racer.share = c->rules->share_of(c->rules->policy, g->user);
        racer.held = c->rules->held == NULL ? 0.0 : c->rules->held[job];
        racer.place = c->rules->place[job];
    }
    race_set(&set->race, group - set->first_group, racer);
}

/* Looks at a set again; returns its first group, or NONE. */
static uint32_t look(struct contest *c, struct contest_set *set)
{
    struct race_moment m = c->rules->moment_of(c->rules->policy, &set->standing);
    uint32_t first = race_first(&set->race, &m);
    if (first == NONE) return NONE;
    set->value = race_value(&set->race.racers[first], &m);
    set->place = set->race.racers[first].place;
    return set->first_group + first;
}

static bool is_before(const struct contest *c, uint32_t a, uint32_t b)
{
    const struct contest_set *x = &c->sets[a], *y = &c->sets[b];
    return x->value > y->value || (x->value == y->value && x->place < y->place);
}

static void sift_down(struct contest *c, uint32_t at)
{
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= c->heap_count) return;
        if (child + 1 < c->heap_count && is_before(c, c->heap[child + 1], c->heap[child])) child++;
        if (!is_before(c, c->heap[child], c->heap[at])) return;
        uint32_t swap = c->heap[at];
        c->heap[at] = c->heap[child];
        c->heap[child] = swap;
        at = child;
    }
}

struct contest contest_make(const struct ticket_run *run, const uint32_t *order, const struct contest_rules *rules)
{
    struct contest c = {.rules = rules, .user_count = run->q->member_count[MEMBER_USER]};
    fill_groups(&c, run, order);
    list_groups_of_users(&c, run->arena);
    c.heap = arena_alloc(run->arena, c.set_count * sizeof *c.heap);
    for (uint32_t i = 0; i < c.set_count; i++) {
        struct contest_set *set = &c.sets[i];
        set->race = race_make(set->group_count, run->arena);
        for (uint32_t g = 0; g < set->group_count; g++) enter(&c, set->first_group + g);
        look(&c, set);
        c.heap[c.heap_count++] = i;
    }
    for (uint32_t i = c.heap_count; i-- > 0;) sift_down(&c, i);
    return c;
}

uint32_t contest_best(struct contest *c)
{
    while (c->heap_count > 0) {
        uint32_t top = c->heap[0];
        uint32_t group = look(c, &c->sets[top]);
        if (group == NONE) c->heap[0] = c->heap[--c->heap_count];
        sift_down(c, 0);
        if (group != NONE && c->heap[0] == top) return group;
    }
    return NONE;
}

void contest_take(struct contest *c, uint32_t group)
{
    struct contest_group *g = &c->groups[group];
    ensure(g->next < g->end);
    g->next++;
    enter(c, group);
    if (g->user == NONE) return;
    for (uint32_t i = c->user_start[g->user]; i < c->user_start[g->user + 1]; i++) {
        if (c->user_groups[i] != group) enter(c, c->user_groups[i]);
    }
}

double contest_value(const struct contest *c, uint32_t group)
{
    const struct contest_group *g = &c->groups[group];
    const struct contest_set *set = &c->sets[g->set];
    struct race_moment m = c->rules->moment_of(c->rules->policy, &set->standing);
    struct racer racer = set->race.racers[group - set->first_group];
    racer.held = 0.0;
    return race_value(&racer, &m);
}
