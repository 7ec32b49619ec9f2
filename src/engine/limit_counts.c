#include "engine/limit_counts.h"

#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "engine/placements.h"
#include "sched/timeline.h"

/* Rates have RATE_UNIT units to one, and at most RATE_LIMIT; so the sums of millions of tasks, over ends of a hundred
 * years, are below 2^126. */
#define RATE_UNIT 65536.0
#define RATE_LIMIT 1e10

/* --- counters ----------------------------------------------------------------------------------------------------- */

static uint32_t add_counter(struct limit_counts *c)
{
    *array_add(&c->counters) = (struct limit_counter){0};
    return c->counters.count - 1;
}

static uint32_t counter_of_assoc(struct limit_counts *c, uint32_t assoc)
{
    while (c->of_assoc.count <= assoc) *array_add(&c->of_assoc) = NONE;
    if (c->of_assoc.items[assoc] == NONE) c->of_assoc.items[assoc] = add_counter(c);
    return c->of_assoc.items[assoc];
}

static uint32_t counter_of_qos(struct limit_counts *c, uint32_t qos)
{
    while (c->of_qos.count <= qos) *array_add(&c->of_qos) = NONE;
    if (c->of_qos.items[qos] == NONE) c->of_qos.items[qos] = add_counter(c);
    return c->of_qos.items[qos];
}

enum { PAIR_KEY_SIZE = DOCUMENT_NAME_BYTES_MAX + 32 };

static struct str pair_key(char out[PAIR_KEY_SIZE], char kind, uint32_t qos, const char *name)
{
    int length = (int)text_format(out, PAIR_KEY_SIZE, "%c%u\x1f%s", kind, qos, name);
    return (struct str){out, (size_t)length};
}

static uint32_t counter_of_pair(struct limit_counts *c, char kind, uint32_t qos, const char *name)
{
    char text[PAIR_KEY_SIZE];
    struct str key = pair_key(text, kind, qos, name);
    uint32_t counter = map_get(&c->of_pair, key);
    if (counter != NONE) return counter;
    counter = add_counter(c);
    map_set(&c->of_pair, (struct str){arena_copy(&c->arena, key), key.length}, counter);
    return counter;
}

/* All counters that count for jobs of an association and its QOS. */
struct counter_list {
    uint32_t items[TREE_DEPTH_MAX + 8];
    uint32_t count;
};

static void add_qos_counters(struct limit_counts *c, uint32_t qos, const struct assoc *a, struct counter_list *out)
{
    if (qos == NONE) return;
    out->items[out->count++] = counter_of_qos(c, qos);
    if (a->user != NULL) out->items[out->count++] = counter_of_pair(c, 'u', qos, a->user);
    out->items[out->count++] = counter_of_pair(c, 'a', qos, a->account);
}

/* partition_qos NONE: none, or the same. */
static void list_counters(const struct state *s, struct limit_counts *c, uint32_t assoc, uint32_t qos,
                          uint32_t partition_qos, struct counter_list *out)
{
    out->count = 0;
    for (uint32_t a = assoc; a != NONE && out->count <= TREE_DEPTH_MAX; a = s->assocs.items[a].parent)
        out->items[out->count++] = counter_of_assoc(c, a);
    add_qos_counters(c, qos, &s->assocs.items[assoc], out);
    add_qos_counters(c, partition_qos, &s->assocs.items[assoc], out);
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

static double rate_of(const struct limit_live *k, uint32_t i)
{
    double rate = k->tres.items[i].amount * k->usage_factor;
    if (!(rate > 0.0)) return 0.0;
    return rate < RATE_LIMIT ? rate : RATE_LIMIT;
}

static void count_reserve(struct limit_counts *c, const struct limit_live *k, const struct counter_list *counters,
                          int by)
{
    limit_sum end = k->end_us - c->base_us;
    for (uint32_t i = 0; i < k->tres.count; i++) {
        limit_sum rate = (limit_sum)(rate_of(k, i) * RATE_UNIT) * by;
        for (uint32_t n = 0; n < counters->count; n++) {
            struct limit_amount *a = &c->counters.items[counters->items[n]].amounts[k->tres.items[i].tres];
            a->rate += rate;
            a->rate_end += rate * end;
        }
    }
}

/* Returns the change in the counter's number of hosts. */
static int count_host(struct limit_counts *c, uint32_t counter, uint32_t host, int by)
{
    uint64_t key = map_key_of_pair(counter, host);
    uint32_t tasks = map_get_u64(&c->hosts, key);
    if (tasks == NONE) tasks = 0;
    tasks += (uint32_t)by; /* modulo 2^32 */
    if (tasks == 0)
        ensure(map_remove_u64(&c->hosts, key));
    else
        map_set_u64(&c->hosts, key, tasks);
    bool is_change = (by > 0 && tasks == 1) || tasks == 0;
    c->counters.items[counter].host_edition += is_change;
    return is_change ? by : 0;
}

static void count_live(struct limit_counts *c, const struct limit_live *k, const struct counter_list *counters, int by)
{
    for (uint32_t n = 0; n < counters->count; n++) {
        struct limit_counter *counter = &c->counters.items[counters->items[n]];
        if (counter->amounts == NULL)
            counter->amounts = arena_alloc(&c->arena, c->tres_count * sizeof *counter->amounts);
        counter->jobs += (uint32_t)by;
        counter->submitted += (uint64_t)(int64_t)by;
        counter->decrease_count += by < 0;
        for (uint32_t i = 0; i < k->tres.count; i++) {
            const struct tres_amount *a = &k->tres.items[i];
            if (a->tres != TRES_NODE) counter->amounts[a->tres].used += by * a->amount;
        }
        for (uint32_t i = 0; i < k->host_count; i++)
            counter->amounts[TRES_NODE].used += count_host(c, counters->items[n], k->hosts[i], by);
    }
}

static void add_live(const struct state *s, struct limit_counts *c, struct limit_live *k, int64_t now_us)
{
    struct counter_list counters;
    list_counters(s, c, k->assoc, k->qos, k->partition_qos, &counters);
    count_live(c, k, &counters, 1);
    k->has_reserve = k->end_us > now_us;
    if (k->has_reserve) count_reserve(c, k, &counters, 1);
}

static void remove_live(const struct state *s, struct limit_counts *c, struct limit_live *k)
{
    struct counter_list counters;
    list_counters(s, c, k->assoc, k->qos, k->partition_qos, &counters);
    if (k->has_reserve) count_reserve(c, k, &counters, -1);
    count_live(c, k, &counters, -1);
    mem_free(k->tres.items);
    mem_free(k->hosts);
    *k = (struct limit_live){.launch_id = 0};
}

static void drop_reserve(const struct state *s, struct limit_counts *c, struct limit_live *k)
{
    struct counter_list counters;
    list_counters(s, c, k->assoc, k->qos, k->partition_qos, &counters);
    count_reserve(c, k, &counters, -1);
    for (uint32_t n = 0; n < counters.count; n++) c->counters.items[counters.items[n]].decrease_count++;
    k->has_reserve = false;
}

static uint32_t new_live(struct limit_counts *c)
{
    if (c->unused_live.count > 0) return c->unused_live.items[--c->unused_live.count];
    *array_add(&c->live) = (struct limit_live){.launch_id = 0};
    return c->live.count - 1;
}

static struct tres_list copy_list(const struct tres_list *list)
{
    struct tres_list copy = {.count = list->count};
    copy.items = mem_resize(NULL, 0, (list->count + (size_t)1) * sizeof *copy.items);
    if (list->count > 0) memcpy(copy.items, list->items, list->count * sizeof *copy.items);
    return copy;
}

static uint32_t *copy_hosts(const uint32_t *hosts, uint32_t count)
{
    uint32_t *copy = mem_resize(NULL, 0, (count + (size_t)1) * sizeof *copy);
    if (count > 0) memcpy(copy, hosts, count * sizeof *copy);
    return copy;
}

static uint32_t partition_qos_of(struct state *s, uint32_t partition, uint32_t qos)
{
    uint32_t other = limit_table_of(s)->qos_of_partition.items[partition];
    return other == qos ? NONE : other;
}

/* Its TRES, with the billing, which the row has by itself. */
static struct tres_list tres_of(const struct task *k)
{
    struct tres_list list = copy_list(&k->tres);
    tres_list_set(&list, TRES_BILLING, floor(k->billing));
    return list;
}

static void describe_task(const struct task *k, const struct job *j, struct limit_live *out)
{
    int64_t start_us = k->start_us != 0 ? k->start_us : k->launch_us;
    *out = (struct limit_live){.launch_id = k->launch_id,
                               .assoc = k->assoc,
                               .qos = j->qos,
                               .partition_qos = k->partition_qos,
                               .end_us = timeline_end_of(start_us, task_time_limit_s(j, k) * US_PER_S),
                               .usage_factor = k->usage_factor,
                               .tres = tres_of(k)};
    out->hosts = mem_resize(NULL, 0, (k->placement_count + (size_t)1) * sizeof *out->hosts);
    out->host_count = placements_list_hosts(k, out->hosts);
}

/* Whether it is counted as the task's row says. What a task has got does not change while it runs. */
static bool is_current(const struct limit_live *have, const struct task *k, const struct job *j)
{
    int64_t start_us = k->start_us != 0 ? k->start_us : k->launch_us;
    return have->assoc == k->assoc && have->qos == j->qos &&
           have->end_us == timeline_end_of(start_us, task_time_limit_s(j, k) * US_PER_S);
}

/* Drops entries of ended tasks once they are three quarters of the heap. */
static void note_end(struct limit_counts *c, const struct limit_live *k)
{
    enum { FEW_ENDS = 64 };
    if (!k->has_reserve) return;
    time_heap_push(&c->ends, k->end_us, k->launch_id);
    if (c->ends.list.count < FEW_ENDS + 4 * (uint64_t)c->live_of_launch.count) return;
    array_clear(&c->ends.list);
    for (uint32_t i = 0; i < c->live.count; i++) {
        const struct limit_live *other = &c->live.items[i];
        if (other->launch_id != 0 && other->has_reserve) time_heap_push(&c->ends, other->end_us, other->launch_id);
    }
}

static void update_task(struct state *s, struct limit_counts *c, uint64_t launch_id, int64_t now_us)
{
    uint32_t task = map_get_u64(&s->task_by_launch, launch_id), at = map_get_u64(&c->live_of_launch, launch_id);
    const struct task *k = task != NONE ? &s->tasks.items[task] : NULL;
    uint32_t job = k != NULL ? state_find_job(s, k->job_id) : NONE;
    bool is_live = k != NULL && !job_state_is_end(k->state) && job != NONE;
    if (at != NONE && is_live && is_current(&c->live.items[at], k, &s->jobs.items[job])) return;
    if (at != NONE) {
        remove_live(s, c, &c->live.items[at]);
        map_remove_u64(&c->live_of_launch, launch_id);
        *array_add(&c->unused_live) = at;
    }
    if (!is_live) return;
    at = new_live(c);
    describe_task(k, &s->jobs.items[job], &c->live.items[at]);
    add_live(s, c, &c->live.items[at], now_us);
    map_set_u64(&c->live_of_launch, launch_id, at);
    note_end(c, &c->live.items[at]);
}

/* --- waiting tasks ------------------------------------------------------------------------------------------------ */

static void add_submitted(struct limit_counts *c, const struct counter_list *counters, uint32_t tasks, bool is_added)
{
    for (uint32_t n = 0; n < counters->count; n++) {
        struct limit_counter *counter = &c->counters.items[counters->items[n]];
        counter->submitted = is_added ? counter->submitted + tasks : counter->submitted - tasks;
    }
}

static void count_waiting(const struct state *s, struct limit_counts *c, const struct limit_waiting *w, bool is_added)
{
    struct counter_list counters;
    list_counters(s, c, w->assoc, w->qos, NONE, &counters);
    add_submitted(c, &counters, w->tasks, is_added);
    for (uint32_t i = 0; i < w->partition_qos_count; i++) {
        counters.count = 0;
        add_qos_counters(c, w->partition_qos[i], &s->assocs.items[w->assoc], &counters);
        add_submitted(c, &counters, w->tasks, is_added);
    }
}

static void add_partition_qos(struct limit_waiting *w, uint32_t qos, uint32_t max)
{
    for (uint32_t i = 0; i < w->partition_qos_count; i++) {
        if (w->partition_qos[i] == qos) return;
    }
    if (w->partition_qos == NULL) w->partition_qos = mem_resize(NULL, 0, max * sizeof *w->partition_qos);
    w->partition_qos[w->partition_qos_count++] = qos;
}

static struct limit_waiting describe_waiting(struct state *s, const struct job *j)
{
    struct limit_waiting w = {.job_id = j->id,
                              .assoc = state_assoc_in_partition(s, j->assoc, j->partitions[0]),
                              .qos = j->qos,
                              .tasks = idset_count(&j->pending)};
    for (uint32_t i = 0; i < j->partition_count && w.tasks > 0; i++) {
        uint32_t qos = partition_qos_of(s, j->partitions[i], j->qos);
        if (qos != NONE) add_partition_qos(&w, qos, j->partition_count);
    }
    return w;
}

static bool is_same_waiting(const struct limit_waiting *a, const struct limit_waiting *b)
{
    uint32_t count = a->partition_qos_count;
    bool is_same = a->job_id == b->job_id && a->assoc == b->assoc && a->qos == b->qos && a->tasks == b->tasks &&
                   count == b->partition_qos_count;
    for (uint32_t i = 0; i < count && is_same; i++) is_same = a->partition_qos[i] == b->partition_qos[i];
    return is_same;
}

static void update_job(struct state *s, struct limit_counts *c, uint32_t job_id)
{
    uint32_t job = state_find_job(s, job_id), at = map_get_u64(&c->waiting_of_job, job_id);
    struct limit_waiting w = {.job_id = 0};
    if (job != NONE && s->jobs.items[job].ended_us == 0) w = describe_waiting(s, &s->jobs.items[job]);
    if (at != NONE) {
        struct limit_waiting *have = &c->waiting.items[at];
        if (is_same_waiting(have, &w)) {
            mem_free(w.partition_qos);
            return;
        }
        count_waiting(s, c, have, false);
        mem_free(have->partition_qos);
        have->partition_qos = NULL;
        map_remove_u64(&c->waiting_of_job, job_id);
        *array_add(&c->unused_waiting) = at;
    }
    if (w.tasks == 0) return;
    count_waiting(s, c, &w, true);
    if (c->unused_waiting.count > 0) {
        at = c->unused_waiting.items[--c->unused_waiting.count];
        c->waiting.items[at] = w;
    } else {
        at = c->waiting.count;
        *array_add(&c->waiting) = w;
    }
    map_set_u64(&c->waiting_of_job, job_id, at);
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

/* When no limit is enforced, nothing reads the changes; beyond a bound they are dropped and the counts rebuilt at the
 * next use. */
static bool records_changes(struct state *s)
{
    enum { FEW_CHANGES = 4096 };
    struct limit_counts *c = s->limit_counts;
    if (c == NULL || !c->is_valid) return false;
    uint64_t changes = (uint64_t)c->touched_jobs.count + c->touched_launches.count;
    if (changes < FEW_CHANGES + 2 * ((uint64_t)s->jobs.count + s->tasks.count)) return true;
    c->is_valid = false;
    array_release(&c->touched_jobs);
    array_release(&c->touched_launches);
    return false;
}

void limit_counts_touch_job(struct state *s, uint32_t job_id)
{
    if (records_changes(s)) *array_add(&s->limit_counts->touched_jobs) = job_id;
}

void limit_counts_touch_task(struct state *s, uint64_t launch_id)
{
    if (records_changes(s)) *array_add(&s->limit_counts->touched_launches) = launch_id;
}

static void release_rows(struct limit_counts *c)
{
    for (uint32_t i = 0; i < c->live.count; i++) {
        mem_free(c->live.items[i].tres.items);
        mem_free(c->live.items[i].hosts);
    }
    for (uint32_t i = 0; i < c->waiting.count; i++) mem_free(c->waiting.items[i].partition_qos);
    array_clear(&c->counters);
    array_clear(&c->of_assoc);
    array_clear(&c->of_qos);
    array_clear(&c->live);
    array_clear(&c->waiting);
    array_clear(&c->unused_live);
    array_clear(&c->unused_waiting);
    array_clear(&c->ends.list);
    array_clear(&c->touched_launches);
    array_clear(&c->touched_jobs);
    map_clear(&c->of_pair);
    map_clear(&c->hosts);
    map_clear(&c->live_of_launch);
    map_clear(&c->waiting_of_job);
    arena_clear(&c->arena);
}

/* Whether jobs count for the same QOS of their partitions as before. */
static bool has_same_partitions(struct state *s, struct limit_counts *c)
{
    if (c->rules_edition == s->rules_edition) return true;
    const struct limit_table *t = limit_table_of(s);
    c->rules_edition = s->rules_edition;
    for (uint32_t i = 0; i < t->qos_of_partition.count; i++) {
        uint32_t before = i < c->qos_of_partition.count ? c->qos_of_partition.items[i] : NONE;
        if (t->qos_of_partition.items[i] != before) return false;
    }
    return true;
}

static void rebuild(struct state *s, struct limit_counts *c, int64_t now_us)
{
    const struct limit_table *t = limit_table_of(s);
    release_rows(c);
    c->rebuild_count++;
    c->is_valid = true;
    c->base_us = now_us;
    c->tres_count = s->policy.tres.count;
    c->move_edition = s->move_edition;
    c->rules_edition = s->rules_edition;
    array_clear(&c->qos_of_partition);
    for (uint32_t i = 0; i < t->qos_of_partition.count; i++)
        *array_add(&c->qos_of_partition) = t->qos_of_partition.items[i];
    for (uint32_t i = 0; i < s->jobs.count; i++) update_job(s, c, s->jobs.items[i].id);
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        if (!job_state_is_end(s->tasks.items[i].state)) update_task(s, c, s->tasks.items[i].launch_id, now_us);
    }
}

struct limit_counts *limit_counts_update(struct state *s, int64_t now_us)
{
    if (s->limit_counts == NULL) {
        s->limit_counts = mem_resize(NULL, 0, sizeof *s->limit_counts);
        *s->limit_counts = (struct limit_counts){.is_valid = false};
    }
    struct limit_counts *c = s->limit_counts;
    if (!c->is_valid || c->move_edition != s->move_edition || c->tres_count != s->policy.tres.count ||
        !has_same_partitions(s, c)) {
        rebuild(s, c, now_us);
        return c;
    }
    for (uint32_t i = 0; i < c->touched_jobs.count; i++) update_job(s, c, c->touched_jobs.items[i]);
    for (uint32_t i = 0; i < c->touched_launches.count; i++) update_task(s, c, c->touched_launches.items[i], now_us);
    array_clear(&c->touched_jobs);
    array_clear(&c->touched_launches);
    while (c->ends.list.count > 0 && c->ends.list.items[0].at_us <= now_us) {
        struct time_entry end = time_heap_pop(&c->ends);
        uint32_t at = map_get_u64(&c->live_of_launch, end.id);
        if (at == NONE) continue;
        struct limit_live *k = &c->live.items[at];
        if (k->has_reserve && k->end_us <= now_us) drop_reserve(s, c, k);
    }
    return c;
}

void limit_counts_invalidate(struct state *s)
{
    if (s->limit_counts != NULL) s->limit_counts->is_valid = false;
}

void limit_counts_free(struct limit_counts *c)
{
    if (c == NULL) return;
    release_rows(c);
    array_release(&c->counters);
    array_release(&c->of_assoc);
    array_release(&c->of_qos);
    array_release(&c->qos_of_partition);
    array_release(&c->live);
    array_release(&c->waiting);
    array_release(&c->unused_live);
    array_release(&c->unused_waiting);
    array_release(&c->ends.list);
    array_release(&c->touched_launches);
    array_release(&c->touched_jobs);
    map_release(&c->of_pair);
    map_release(&c->hosts);
    map_release(&c->live_of_launch);
    map_release(&c->waiting_of_job);
    arena_release(&c->arena);
    mem_free(c);
}

/* --- readers ------------------------------------------------------------------------------------------------------ */

static const struct limit_counter *counter_at(const struct limit_counts *c, uint32_t counter)
{
    return counter != NONE ? &c->counters.items[counter] : NULL;
}

const struct limit_counter *limit_counts_of_assoc(const struct limit_counts *c, uint32_t assoc)
{
    return counter_at(c, assoc < c->of_assoc.count ? c->of_assoc.items[assoc] : NONE);
}

const struct limit_counter *limit_counts_of_qos(const struct limit_counts *c, uint32_t qos)
{
    return counter_at(c, qos < c->of_qos.count ? c->of_qos.items[qos] : NONE);
}

const struct limit_counter *limit_counts_of_user(const struct limit_counts *c, uint32_t qos, const char *user)
{
    char key[PAIR_KEY_SIZE];
    return counter_at(c, map_get(&c->of_pair, pair_key(key, 'u', qos, user)));
}

const struct limit_counter *limit_counts_of_account(const struct limit_counts *c, uint32_t qos, const char *account)
{
    char key[PAIR_KEY_SIZE];
    return counter_at(c, map_get(&c->of_pair, pair_key(key, 'a', qos, account)));
}

double limit_counter_used(const struct limit_counter *k, uint32_t tres)
{
    return k != NULL && k->amounts != NULL ? k->amounts[tres].used : 0.0;
}

double limit_counter_reserved(const struct limit_counts *c, const struct limit_counter *k, uint32_t tres,
                              int64_t now_us)
{
    if (k == NULL || k->amounts == NULL) return 0.0;
    const struct limit_amount *a = &k->amounts[tres];
    return (double)(a->rate_end - a->rate * (now_us - c->base_us)) / RATE_UNIT / (double)US_PER_S;
}

bool limit_counter_has_host(const struct limit_counts *c, const struct limit_counter *k, uint32_t host)
{
    if (k == NULL) return false;
    uint32_t counter = (uint32_t)(k - c->counters.items);
    return map_get_u64(&c->hosts, map_key_of_pair(counter, host)) != NONE;
}

/* --- plans -------------------------------------------------------------------------------------------------------- */

uint32_t limit_counts_plan(struct state *s, struct limit_counts *c, const struct limit_live *live, int64_t now_us)
{
    uint32_t at = new_live(c);
    struct limit_live *k = &c->live.items[at];
    *k = *live;
    k->launch_id = 0;
    k->tres = copy_list(&live->tres);
    k->hosts = copy_hosts(live->hosts, live->host_count);
    add_live(s, c, k, now_us);
    return at;
}

void limit_counts_unplan(struct state *s, struct limit_counts *c, uint32_t planned)
{
    remove_live(s, c, &c->live.items[planned]);
    *array_add(&c->unused_live) = planned;
}
