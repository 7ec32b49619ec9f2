/* A heap of sets, each with a tournament of groups. The value of a set may be out of date, but never too small, because
 * no job's value rises. So the set at the top of the heap is the best one if it is still at the top after its update.
 *
 * Two maps find groups: a set by a path of pairs (the path so far, the next member), a group by its set and user. The
 * most recent sets and groups are cached, so most jobs need no map.
 *
 * Cost: O(n log n) to group n jobs. A selection is O(log n) plus an update of each set whose last value is larger than
 * the value of the best job. If every selection reduces all values, as in the functional policy, that is every set.
 * There are few sets, because there are few projects, departments, partitions and different -js. */
#include "policy/ticket_selection.h"

#include "base/ensure.h"
#include "base/hash.h"
#include "base/map.h"

enum { SET_KIND_COUNT = MEMBER_KIND_COUNT - 1, RECENT_COUNT = 1024 };

static const enum ticket_member_kind SET_KINDS[SET_KIND_COUNT] = {MEMBER_DEPARTMENT, MEMBER_PROJECT, MEMBER_JOB_CLASS};

/* The two most recent groups of a user. */
struct latest {
    uint32_t set[2]; /* set + 1; 0: none */
    uint32_t group[2];
};

/* The state while jobs are put into groups. */
struct grouping {
    const struct ticket_run *run;
    const struct ticket_selection_rules *rules;
    struct map paths, owns, set_ids, group_ids;
    uint32_t path_count;
    uint32_t recent[RECENT_COUNT]; /* set + 1 by a hash of its key, for recent sets; 0: none */
    struct latest *latest;         /* by user */
    ARRAY(struct ticket_selection_set) sets;
    ARRAY(struct ticket_selection_group) groups; /* `end` counts the jobs */
};

/* The value of a key. A new key gets *next, which is then increased. */
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

static uint32_t find_set(struct grouping *g, const struct job_key *key)
{
    uint32_t path = 0, first = 0;
    for (size_t k = 0; k < SET_KIND_COUNT; k++) {
        uint32_t member = key->member[SET_KINDS[k]];
        if (member != NONE) path = find_or_add(&g->paths, map_key_of_pair(path, first + member), &g->path_count);
        first += g->run->in->member_count[SET_KINDS[k]];
    }
    if (key->own > 0.0)
        path = find_or_add(&g->paths, map_key_of_pair(path, first + own_id(g, key->own)), &g->path_count);
    uint32_t set = g->sets.count, id = find_or_add(&g->set_ids, path, &set);
    if (set > g->sets.count) {
        struct ticket_selection_set *new = array_add_in(&g->sets, g->run->arena);
        new->key = *key;
        new->key.member[MEMBER_USER] = NONE;
    }
    return id;
}

static bool is_of_set(const struct ticket_selection_set *set, const struct job_key *key)
{
    for (size_t k = 0; k < SET_KIND_COUNT; k++) {
        if (set->key.member[SET_KINDS[k]] != key->member[SET_KINDS[k]]) return false;
    }
    return set->key.own == key->own;
}

static uint32_t set_of(struct grouping *g, const struct job_key *key)
{
    uint64_t hash = sort_key_double(key->own);
    for (size_t k = 0; k < SET_KIND_COUNT; k++) hash = hash_u64(hash + key->member[SET_KINDS[k]]);
    uint32_t *recent = &g->recent[hash % RECENT_COUNT];
    if (*recent == 0 || !is_of_set(&g->sets.items[*recent - 1], key)) *recent = find_set(g, key) + 1;
    return *recent - 1;
}

static uint32_t find_group(struct grouping *g, uint32_t set, uint32_t user)
{
    uint32_t group = g->groups.count, id = find_or_add(&g->group_ids, map_key_of_pair(set, user), &group);
    if (group > g->groups.count) {
        *array_add_in(&g->groups, g->run->arena) = (struct ticket_selection_group){.user = user, .set = set};
        g->sets.items[set].group_count++;
    }
    return id;
}

/* Most users have jobs in one set or two: with a project, and without. */
static uint32_t group_of(struct grouping *g, const struct job_key *key)
{
    uint32_t set = set_of(g, key), user = key->member[MEMBER_USER];
    if (user == NONE) return find_group(g, set, user);
    struct latest *latest = &g->latest[user];
    if (latest->set[0] == set + 1) return latest->group[0];
    struct latest now = {{set + 1, latest->set[0]}, {latest->group[1], latest->group[0]}};
    if (latest->set[1] != set + 1) now.group[0] = find_group(g, set, user);
    *latest = now;
    return now.group[0];
}

/* The group of every job, by job. NONE: the job does not compete. */
static uint32_t *group_jobs(struct grouping *g)
{
    const struct ticket_input *in = g->run->in;
    uint32_t *group = arena_alloc(g->run->arena, in->job_count * sizeof *group);
    for (uint32_t i = 0; i < in->job_count; i++) {
        struct job_key key;
        bool takes_part = !in->jobs[i].is_running && g->rules->key_of(g->rules->policy, &in->jobs[i], &key);
        group[i] = takes_part ? group_of(g, &key) : NONE;
        if (takes_part) g->groups.items[group[i]].end++;
    }
    return group;
}

/* The groups, those of the largest amounts first. Groups that win at about the same time are then close in memory. */
static const struct sort_record *sort_by_amount(const struct ticket_selection *s, const struct grouping *g)
{
    struct sort_record *records = g->run->records; /* there are no more groups than pending jobs */
    for (uint32_t i = 0; i < s->group_count; i++) {
        uint32_t user = g->groups.items[i].user;
        double amount = user == NONE ? 0.0 : s->rules->amount_of(s->rules->policy, user);
        records[i] = (struct sort_record){.key = ~sort_key_double(amount), .index = i};
    }
    sort_records(records, s->group_count, g->run->scratch);
    return records;
}

/* Puts the groups in the order of their sets, each with room in line for its jobs. out_renumbered: the new index of
 * each group by its old one. */
static void lay_out_groups(struct ticket_selection *s, const struct grouping *g, uint32_t *out_renumbered)
{
    for (uint32_t i = 0, group = 0; i < s->set_count; i++) {
        s->sets[i] = g->sets.items[i];
        s->sets[i].first_group = group;
        group += s->sets[i].group_count;
        s->sets[i].group_count = 0;
    }
    const struct sort_record *by_amount = sort_by_amount(s, g);
    for (uint32_t i = 0; i < s->group_count; i++) {
        uint32_t group = by_amount[i].index;
        struct ticket_selection_set *set = &s->sets[g->groups.items[group].set];
        out_renumbered[group] = set->first_group + set->group_count++;
        s->groups[out_renumbered[group]] = g->groups.items[group];
    }
    for (uint32_t i = 0; i < s->group_count; i++) {
        uint32_t jobs = s->groups[i].end;
        s->groups[i].next = s->groups[i].end = s->job_count;
        s->job_count += jobs;
    }
}

/* Lists the users in the order of their first groups. */
static void list_users(struct ticket_selection *s, const struct ticket_run *run)
{
    uint32_t max = run->in->member_count[MEMBER_USER];
    uint32_t *listed = arena_alloc(run->arena, max * sizeof *listed); /* index + 1; 0: not listed yet */
    if (max > s->group_count) max = s->group_count;
    s->users = arena_alloc(run->arena, max * sizeof *s->users);
    for (uint32_t i = 0; i < s->group_count; i++) {
        uint32_t member = s->groups[i].user;
        if (member == NONE) continue;
        if (listed[member] == 0) {
            double amount = s->rules->amount_of(s->rules->policy, member);
            s->users[s->user_count++] = (struct ticket_selection_user){
                .amount = amount, .counted = run->running_count[MEMBER_USER][member], .member = member};
            listed[member] = s->user_count;
        }
        s->groups[i].user = listed[member] - 1;
    }
}

static void stand_in_line(struct ticket_selection *s, const struct ticket_run *run, const uint32_t *order,
                          const uint32_t *group, const uint32_t *renumbered)
{
    s->jobs = arena_alloc(run->arena, s->job_count * sizeof *s->jobs);
    for (uint32_t i = 0; i < run->pending_count; i++) {
        uint32_t job = order[i];
        if (group[job] == NONE) continue;
        double tickets_so_far = s->rules->tickets_so_far == NULL ? 0.0 : s->rules->tickets_so_far[job];
        s->jobs[s->groups[renumbered[group[job]]].end++] =
            (struct ticket_selection_job){.tickets_so_far = tickets_so_far, .job = job, .rank = s->rules->rank[job]};
    }
}

static void make_groups(struct ticket_selection *s, const struct ticket_run *run, const uint32_t *order)
{
    struct map empty = {.arena = run->arena};
    struct grouping g = {.run = run, .rules = s->rules, .path_count = 1};
    g.paths = g.owns = g.set_ids = g.group_ids = empty;
    g.latest = arena_alloc(run->arena, run->in->member_count[MEMBER_USER] * sizeof *g.latest);
    const uint32_t *group = group_jobs(&g);
    s->set_count = g.sets.count;
    s->group_count = g.groups.count;
    s->sets = arena_alloc(run->arena, s->set_count * sizeof *s->sets);
    s->groups = arena_alloc(run->arena, s->group_count * sizeof *s->groups);
    uint32_t *renumbered = arena_alloc(run->arena, s->group_count * sizeof *renumbered);
    lay_out_groups(s, &g, renumbered);
    list_users(s, run);
    stand_in_line(s, run, order, group, renumbered);
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

/* The most sets that the jobs can be in: by the members that there are, and by the jobs' own amounts, if they have
 * any. */
static uint32_t set_count_max(const struct ticket_input *in)
{
    uint64_t max = 1;
    for (size_t k = 0; k < SET_KIND_COUNT && max < in->job_count; k++)
        max *= (uint64_t)in->member_count[SET_KINDS[k]] + 1;
    for (uint32_t i = 0; i < in->job_count && max < in->job_count; i++) {
        if (in->jobs[i].job_share > 0.0 || in->jobs[i].override_tickets > 0.0) max = in->job_count;
    }
    return max < in->job_count ? (uint32_t)max : in->job_count;
}

size_t ticket_selection_memory(const struct ticket_input *in)
{
    uint32_t jobs = in->job_count, users = in->member_count[MEMBER_USER], sets = set_count_max(in);
    uint64_t pairs = (uint64_t)sets * ((uint64_t)users + 1);
    uint32_t groups = pairs < jobs ? (uint32_t)pairs : jobs,
             paths = sets < NONE / 8 ? sets * (SET_KIND_COUNT + 1) : NONE / 2;
    size_t bytes = arena_size(users, sizeof(struct latest)) + arena_size(jobs, sizeof(uint32_t));
    bytes += map_memory_u64(paths) + 2 * map_memory_u64(sets) + map_memory_u64(groups);
    bytes += array_memory_in(sets, sizeof(struct ticket_selection_set)) +
             arena_size(sets, sizeof(struct ticket_selection_set));
    bytes += array_memory_in(groups, sizeof(struct ticket_selection_group)) +
             arena_size(groups, sizeof(struct ticket_selection_group));
    bytes += arena_size(groups, sizeof(uint32_t)) + arena_size(users, sizeof(uint32_t));
    bytes += arena_size(groups, sizeof(struct ticket_selection_user)) +
             arena_size(jobs, sizeof(struct ticket_selection_job));
    bytes += arena_size(sets, sizeof(uint32_t));
    return bytes + 2 * (size_t)groups * sizeof(struct tournament_match) + arena_size(sets, arena_size(1, 1));
}

/* The share of the user's next job. */
static double share_of(const struct ticket_selection *s, uint32_t user)
{
    if (user == NONE) return 0.0;
    const struct ticket_selection_user *u = &s->users[user];
    return s->rules->is_divided ? u->amount / (u->counted + 1) : u->amount;
}

/* Enters the group's first job in the tournament of its set; removes the group if it has no job left. */
static void enter(struct ticket_selection *s, uint32_t group)
{
    const struct ticket_selection_group *g = &s->groups[group];
    struct ticket_selection_set *set = &s->sets[g->set];
    struct tournament_player player = {.rank = NONE};
    if (g->next < g->end) {
        const struct ticket_selection_job *first = &s->jobs[g->next];
        player.share = share_of(s, g->user);
        player.tickets_so_far = first->tickets_so_far;
        player.rank = first->rank;
    }
    tournament_set(&set->tournament, group - set->first_group, player);
}

/* Updates a set's value and rank, and returns its best group, or NONE. A share may have become smaller since its player
 * was entered, because jobs of the same user in other sets were selected. So the share of the group that seems best is
 * read again. */
static uint32_t look(struct ticket_selection *s, struct ticket_selection_set *set)
{
    struct tournament_context now = s->rules->context_of(s->rules->policy, &set->key);
    for (;;) {
        const struct tournament_player *first = tournament_first(&set->tournament, &now);
        if (first == NULL) return NONE;
        uint32_t group = set->first_group + first->index;
        struct tournament_player updated = *first;
        updated.share = share_of(s, s->groups[group].user);
        if (updated.share < first->share) {
            tournament_set(&set->tournament, first->index, updated);
            continue;
        }
        set->value = tournament_value(first, &now);
        set->rank = first->rank;
        return group;
    }
}

static bool is_before(const struct ticket_selection *s, uint32_t a, uint32_t b)
{
    const struct ticket_selection_set *x = &s->sets[a], *y = &s->sets[b];
    return x->value > y->value || (x->value == y->value && x->rank < y->rank);
}

static void sift_down(struct ticket_selection *s, uint32_t at)
{
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= s->heap_count) return;
        if (child + 1 < s->heap_count && is_before(s, s->heap[child + 1], s->heap[child])) child++;
        if (!is_before(s, s->heap[child], s->heap[at])) return;
        uint32_t swap = s->heap[at];
        s->heap[at] = s->heap[child];
        s->heap[child] = swap;
        at = child;
    }
}

struct ticket_selection ticket_selection_make(const struct ticket_run *run, const uint32_t *order,
                                              const struct ticket_selection_rules *rules)
{
    struct ticket_selection s = {.rules = rules};
    make_groups(&s, run, order);
    s.heap = arena_alloc(run->arena, s.set_count * sizeof *s.heap);
    for (uint32_t i = 0; i < s.set_count; i++) {
        struct ticket_selection_set *set = &s.sets[i];
        set->tournament = tournament_make(set->group_count, run->arena);
        for (uint32_t g = 0; g < set->group_count; g++) enter(&s, set->first_group + g);
        look(&s, set);
        s.heap[s.heap_count++] = i;
    }
    for (uint32_t i = s.heap_count; i-- > 0;) sift_down(&s, i);
    return s;
}

uint32_t ticket_selection_best(struct ticket_selection *s, double *out_value)
{
    while (s->heap_count > 0) {
        uint32_t top = s->heap[0];
        uint32_t group = look(s, &s->sets[top]);
        if (group == NONE) s->heap[0] = s->heap[--s->heap_count];
        sift_down(s, 0);
        if (group == NONE || s->heap[0] != top) continue;
        if (out_value != NULL) *out_value = s->sets[top].value;
        return group;
    }
    return NONE;
}

void ticket_selection_take(struct ticket_selection *s, uint32_t group)
{
    ensure(group < s->group_count && s->groups[group].next < s->groups[group].end);
    s->groups[group].next++;
    if (s->groups[group].user != NONE) s->users[s->groups[group].user].counted++;
    enter(s, group);
}

struct job_key ticket_selection_key(const struct ticket_selection *s, uint32_t group)
{
    ensure(group < s->group_count);
    struct job_key key = s->sets[s->groups[group].set].key;
    uint32_t user = s->groups[group].user;
    if (user != NONE) key.member[MEMBER_USER] = s->users[user].member;
    return key;
}

double ticket_selection_value(const struct ticket_selection *s, uint32_t group)
{
    const struct ticket_selection_group *g = &s->groups[group];
    struct tournament_context now = s->rules->context_of(s->rules->policy, &s->sets[g->set].key);
    struct tournament_player player = {.share = share_of(s, g->user)};
    return tournament_value(&player, &now);
}
