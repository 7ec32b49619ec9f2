/* A heap of sets, each with a race of groups. A set's value may be out of date, but never too small (nobody's worth
 * rises), so the top of the heap is the best as soon as it was looked at and stayed on top.
 *
 * Groups are found by two maps: a set by a path of pairs (the set so far, the next member), a group by its set and user;
 * both only where it is not one of those met last.
 * Cost: O(n log n) to put n jobs in line. A choice is O(log n), and a look at each set that seemed worth more than the best
 * is: all of them where every choice makes everybody worth less, as in the functional policy. Sets are few, since projects,
 * departments, partitions and different -js are. */
#include "policy/ticket_selection.h"

#include "base/ensure.h"
#include "base/hash.h"

enum { SET_KIND_COUNT = MEMBER_KIND_COUNT - 1, RECENT_COUNT = 1024 };

static const enum ticket_member_kind SET_KINDS[SET_KIND_COUNT] = {MEMBER_DEPARTMENT, MEMBER_PROJECT, MEMBER_JOB_CLASS};

/* The last two groups of a user that were met. */
struct latest {
    uint32_t set[2]; /* 1 more than the set, 0: none */
    uint32_t group[2];
};

/* While jobs are put into groups. */
struct grouping {
    const struct ticket_run *run;
    const struct ticket_selection_rules *rules;
    struct map paths, owns, set_ids, group_ids;
    uint32_t path_count;
    uint32_t recent[RECENT_COUNT]; /* sets met lately, by a hash of their standing; 1 more than the set, 0: none */
    struct latest *latest;         /* by user */
    ARRAY(struct ticket_selection_set) sets;
    ARRAY(struct ticket_selection_group) groups; /* end counts the jobs */
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

static uint32_t find_set(struct grouping *g, const struct job_key *s)
{
    uint32_t path = 0, first = 0;
    for (size_t k = 0; k < SET_KIND_COUNT; k++) {
        uint32_t member = s->member[SET_KINDS[k]];
        if (member != NONE) path = find_or_add(&g->paths, pair(path, first + member), &g->path_count);
        first += g->run->q->member_count[SET_KINDS[k]];
    }
    if (s->own > 0.0) path = find_or_add(&g->paths, pair(path, first + own_id(g, s->own)), &g->path_count);
    uint32_t set = g->sets.count, id = find_or_add(&g->set_ids, path, &set);
    if (set > g->sets.count) {
        struct ticket_selection_set *new = array_add(&g->sets);
        new->standing = *s;
        new->standing.member[MEMBER_USER] = NONE;
    }
    return id;
}

static bool is_of_set(const struct ticket_selection_set *set, const struct job_key *s)
{
    for (size_t k = 0; k < SET_KIND_COUNT; k++) {
        if (set->standing.member[SET_KINDS[k]] != s->member[SET_KINDS[k]]) return false;
    }
    return set->standing.own == s->own;
}

static uint32_t set_of(struct grouping *g, const struct job_key *s)
{
    uint64_t hash = sort_key_double(s->own);
    for (size_t k = 0; k < SET_KIND_COUNT; k++) hash = hash_u64(hash + s->member[SET_KINDS[k]]);
    uint32_t *recent = &g->recent[hash % RECENT_COUNT];
    if (*recent == 0 || !is_of_set(&g->sets.items[*recent - 1], s)) *recent = find_set(g, s) + 1;
    return *recent - 1;
}

static uint32_t find_group(struct grouping *g, uint32_t set, uint32_t user)
{
    uint32_t group = g->groups.count, id = find_or_add(&g->group_ids, pair(set, user), &group);
    if (group > g->groups.count) {
        *array_add(&g->groups) = (struct ticket_selection_group){.user = user, .set = set};
        g->sets.items[set].group_count++;
    }
    return id;
}

/* Most users have jobs in one set or two: with a project and without. */
static uint32_t group_of(struct grouping *g, const struct job_key *s)
{
    uint32_t set = set_of(g, s), user = s->member[MEMBER_USER];
    if (user == NONE) return find_group(g, set, user);
    struct latest *latest = &g->latest[user];
    if (latest->set[0] == set + 1) return latest->group[0];
    struct latest now = {{set + 1, latest->set[0]}, {latest->group[1], latest->group[0]}};
    if (latest->set[1] != set + 1) now.group[0] = find_group(g, set, user);
    *latest = now;
    return now.group[0];
}

/* Groups of all jobs, by job; NONE takes no part. */
static uint32_t *group_jobs(struct grouping *g)
{
    const struct ticket_input *q = g->run->q;
    uint32_t *group = arena_alloc(g->run->arena, q->job_count * sizeof *group);
    for (uint32_t i = 0; i < q->job_count; i++) {
        struct job_key s;
        bool takes_part = !q->jobs[i].is_running && g->rules->job_key_of(g->rules->policy, &q->jobs[i], &s);
        group[i] = takes_part ? group_of(g, &s) : NONE;
        if (takes_part) g->groups.items[group[i]].end++;
    }
    return group;
}

/* Who has most first: those who win at about the same time are then together in memory. */
static const struct sort_record *sort_by_amount(const struct ticket_selection *c, const struct grouping *g)
{
    struct sort_record *records = g->run->records; /* groups are no more than pending jobs */
    for (uint32_t i = 0; i < c->group_count; i++) {
        uint32_t user = g->groups.items[i].user;
        double amount = user == NONE ? 0.0 : c->rules->amount_of(c->rules->policy, user);
        records[i] = (struct sort_record){.key = ~sort_key_double(amount), .index = i};
    }
    sort_records(records, c->group_count, g->run->scratch);
    return records;
}

/* Groups in the order of their sets, each with room in line for its jobs. out_renamed: by what they were before. */
static void lay_out_groups(struct ticket_selection *c, const struct grouping *g, uint32_t *out_renamed)
{
    for (uint32_t i = 0, group = 0; i < c->set_count; i++) {
        c->sets[i] = g->sets.items[i];
        c->sets[i].first_group = group;
        group += c->sets[i].group_count;
        c->sets[i].group_count = 0;
    }
    const struct sort_record *by_amount = sort_by_amount(c, g);
    for (uint32_t i = 0; i < c->group_count; i++) {
        uint32_t group = by_amount[i].index;
        struct ticket_selection_set *set = &c->sets[g->groups.items[group].set];
        out_renamed[group] = set->first_group + set->group_count++;
        c->groups[out_renamed[group]] = g->groups.items[group];
    }
    for (uint32_t i = 0; i < c->group_count; i++) {
        uint32_t jobs = c->groups[i].end;
        c->groups[i].next = c->groups[i].end = c->job_count;
        c->job_count += jobs;
    }
}

/* Users in the order of their first groups. */
static void list_users(struct ticket_selection *c, const struct ticket_run *run)
{
    uint32_t max = run->q->member_count[MEMBER_USER];
    uint32_t *listed = arena_alloc(run->arena, max * sizeof *listed); /* 1 more than the place, 0: not yet */
    if (max > c->group_count) max = c->group_count;
    c->users = arena_alloc(run->arena, max * sizeof *c->users);
    for (uint32_t i = 0; i < c->group_count; i++) {
        uint32_t member = c->groups[i].user;
        if (member == NONE) continue;
        if (listed[member] == 0) {
            double amount = c->rules->amount_of(c->rules->policy, member);
            c->users[c->user_count++] =
                (struct ticket_selection_user){amount, run->running[MEMBER_USER][member], member};
            listed[member] = c->user_count;
        }
        c->groups[i].user = listed[member] - 1;
    }
}

static void stand_in_line(struct ticket_selection *c, const struct ticket_run *run, const uint32_t *order,
                          const uint32_t *group, const uint32_t *renamed)
{
    c->jobs = arena_alloc(run->arena, c->job_count * sizeof *c->jobs);
    for (uint32_t i = 0; i < run->pending_count; i++) {
        uint32_t job = order[i];
        if (group[job] == NONE) continue;
        double held = c->rules->held == NULL ? 0.0 : c->rules->held[job];
        c->jobs[c->groups[renamed[group[job]]].end++] =
            (struct ticket_selection_job){.held = held, .job = job, .place = c->rules->place[job]};
    }
}

static void make_groups(struct ticket_selection *c, const struct ticket_run *run, const uint32_t *order)
{
    struct grouping g = {.run = run, .rules = c->rules, .path_count = 1};
    g.latest = arena_alloc(run->arena, run->q->member_count[MEMBER_USER] * sizeof *g.latest);
    const uint32_t *group = group_jobs(&g);
    c->set_count = g.sets.count;
    c->group_count = g.groups.count;
    c->sets = arena_alloc(run->arena, c->set_count * sizeof *c->sets);
    c->groups = arena_alloc(run->arena, c->group_count * sizeof *c->groups);
    uint32_t *renamed = arena_alloc(run->arena, c->group_count * sizeof *renamed);
    lay_out_groups(c, &g, renamed);
    list_users(c, run);
    stand_in_line(c, run, order, group, renamed);
    map_release(&g.paths);
    map_release(&g.owns);
    map_release(&g.set_ids);
    map_release(&g.group_ids);
    array_release(&g.sets);
    array_release(&g.groups);
}

/* A user's share of one more job. */
static double share_of(const struct ticket_selection *c, uint32_t user)
{
    if (user == NONE) return 0.0;
    const struct ticket_selection_user *u = &c->users[user];
    return c->rules->is_divided ? u->amount / (u->counted + 1) : u->amount;
}

/* The group's first job as its set's racer. */
static void enter(struct ticket_selection *c, uint32_t group)
{
    const struct ticket_selection_group *g = &c->groups[group];
    struct ticket_selection_set *set = &c->sets[g->set];
    struct tournament_player racer = {.place = NONE};
    if (g->next < g->end) {
        const struct ticket_selection_job *first = &c->jobs[g->next];
        racer.share = share_of(c, g->user);
        racer.held = first->held;
        racer.place = first->place;
    }
    tournament_set(&set->race, group - set->first_group, racer);
}

/* Looks at a set again; returns its first group, or NONE. Those who seem first have their share looked up again, which may
 * have shrunk since: jobs of the user in other sets were taken. */
static uint32_t look(struct ticket_selection *c, struct ticket_selection_set *set)
{
    struct tournament_context m = c->rules->moment_of(c->rules->policy, &set->standing);
    for (;;) {
        const struct tournament_player *first = tournament_first(&set->race, &m);
        if (first == NULL) return NONE;
        uint32_t group = set->first_group + first->index;
        struct tournament_player again = *first;
        again.share = share_of(c, c->groups[group].user);
        if (again.share < first->share) {
            tournament_set(&set->race, first->index, again);
            continue;
        }
        set->value = tournament_value(first, &m);
        set->place = first->place;
        return group;
    }
}

static bool is_before(const struct ticket_selection *c, uint32_t a, uint32_t b)
{
    const struct ticket_selection_set *x = &c->sets[a], *y = &c->sets[b];
    return x->value > y->value || (x->value == y->value && x->place < y->place);
}

static void sift_down(struct ticket_selection *c, uint32_t at)
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

struct ticket_selection ticket_selection_make(const struct ticket_run *run, const uint32_t *order,
                                              const struct ticket_selection_rules *rules)
{
    struct ticket_selection c = {.rules = rules};
    make_groups(&c, run, order);
    c.heap = arena_alloc(run->arena, c.set_count * sizeof *c.heap);
    for (uint32_t i = 0; i < c.set_count; i++) {
        struct ticket_selection_set *set = &c.sets[i];
        set->race = tournament_make(set->group_count, run->arena);
        for (uint32_t g = 0; g < set->group_count; g++) enter(&c, set->first_group + g);
        look(&c, set);
        c.heap[c.heap_count++] = i;
    }
    for (uint32_t i = c.heap_count; i-- > 0;) sift_down(&c, i);
    return c;
}

uint32_t ticket_selection_best(struct ticket_selection *c, double *out_value)
{
    while (c->heap_count > 0) {
        uint32_t top = c->heap[0];
        uint32_t group = look(c, &c->sets[top]);
        if (group == NONE) c->heap[0] = c->heap[--c->heap_count];
        sift_down(c, 0);
        if (group == NONE || c->heap[0] != top) continue;
        if (out_value != NULL) *out_value = c->sets[top].value;
        return group;
    }
    return NONE;
}

void ticket_selection_take(struct ticket_selection *c, uint32_t group)
{
    ensure(c->groups[group].next < c->groups[group].end);
    c->groups[group].next++;
    if (c->groups[group].user != NONE) c->users[c->groups[group].user].counted++;
    enter(c, group);
}

struct job_key ticket_selection_key(const struct ticket_selection *c, uint32_t group)
{
    struct job_key s = c->sets[c->groups[group].set].standing;
    uint32_t user = c->groups[group].user;
    if (user != NONE) s.member[MEMBER_USER] = c->users[user].member;
    return s;
}

double ticket_selection_value(const struct ticket_selection *c, uint32_t group)
{
    const struct ticket_selection_group *g = &c->groups[group];
    struct tournament_context m = c->rules->moment_of(c->rules->policy, &c->sets[g->set].standing);
    struct tournament_player racer = {.share = share_of(c, g->user)};
    return tournament_value(&racer, &m);
}
