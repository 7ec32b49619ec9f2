#include "sched/queue.h"

#include <math.h>
#include <string.h>

#include "base/ensure.h"

enum { FEW_ENTRIES = 32 };

static void release_group(struct queue_group *g)
{
    mem_free(g->key);
    array_release(&g->entries);
    *g = (struct queue_group){0};
}

void queue_clear(struct queue *q)
{
    for (uint32_t i = 0; i < q->groups.count; i++) release_group(&q->groups.items[i]);
    array_clear(&q->groups);
    array_clear(&q->unused);
    map_clear(&q->by_key);
}

void queue_release(struct queue *q)
{
    queue_clear(q);
    array_release(&q->groups);
    array_release(&q->unused);
    map_release(&q->by_key);
}

/* --- groups ------------------------------------------------------------------------------------------------------- */

static uint32_t add_group(struct queue *q, struct str key)
{
    uint32_t index = q->groups.count;
    if (q->unused.count > 0)
        index = q->unused.items[--q->unused.count];
    else
        (void)array_add(&q->groups);
    struct queue_group *g = &q->groups.items[index];
    *g = (struct queue_group){.key = mem_resize(NULL, 0, key.length + 1), .key_length = (uint32_t)key.length};
    memcpy(g->key, key.text, key.length);
    map_set(&q->by_key, (struct str){g->key, key.length}, index);
    return index;
}

/* Removed entries go when they are the larger part. */
static void compact(struct queue_group *g)
{
    uint32_t kept = 0;
    if (g->entries.count < FEW_ENTRIES || g->live >= g->entries.count / 2) return;
    for (uint32_t i = g->first; i < g->entries.count; i++) {
        if (!g->entries.items[i].is_removed) g->entries.items[kept++] = g->entries.items[i];
    }
    g->entries.count = g->sorted = kept;
    g->first = 0;
}

uint32_t queue_add(struct queue *q, struct str key, uint64_t position, uint32_t job, int64_t since_us)
{
    uint32_t index = map_get(&q->by_key, key);
    if (index == NONE) index = add_group(q, key);
    struct queue_group *g = &q->groups.items[index];
    bool is_last =
        g->sorted == g->entries.count && (g->sorted == 0 || g->entries.items[g->sorted - 1].position < position);
    *array_add(&g->entries) = (struct queue_entry){.position = position, .since_us = since_us, .job = job};
    g->sorted += is_last;
    g->live++;
    return index;
}

/* --- order -------------------------------------------------------------------------------------------------------- */

/* The entries behind the sorted ones, which are few as a rule, by insertion from the end. */
static void insert_sorted(struct queue_group *g)
{
    for (; g->sorted < g->entries.count; g->sorted++) {
        const struct queue_entry entry = g->entries.items[g->sorted];
        uint32_t at = g->sorted;
        for (; at > g->first && g->entries.items[at - 1].position > entry.position; at--)
            g->entries.items[at] = g->entries.items[at - 1];
        g->entries.items[at] = entry;
    }
}

static void merge(const struct queue_entry *a, uint32_t a_count, const struct queue_entry *b, uint32_t b_count,
                  struct queue_entry *out)
{
    for (uint32_t i = 0, k = 0; i < a_count || k < b_count;) {
        bool is_a = k == b_count || (i < a_count && a[i].position < b[k].position);
        *out++ = is_a ? a[i++] : b[k++];
    }
}

/* Merge sort of the tail, then of both parts. */
static void sort_tail(struct queue_entry *entries, uint32_t count, struct queue_entry *scratch)
{
    for (uint32_t width = 1; width < count; width *= 2) {
        for (uint32_t begin = 0; begin < count; begin += 2 * width) {
            uint32_t middle = begin + width < count ? begin + width : count;
            uint32_t end = middle + width < count ? middle + width : count;
            merge(entries + begin, middle - begin, entries + middle, end - middle, scratch + begin);
        }
        memcpy(entries, scratch, count * sizeof *entries);
    }
}

static void sort_group(struct queue_group *g)
{
    uint32_t tail = g->entries.count - g->sorted, head = g->sorted - g->first;
    if (tail == 0) return;
    if (tail <= FEW_ENTRIES) {
        insert_sorted(g);
        return;
    }
    struct queue_entry *scratch = mem_resize(NULL, 0, (head + (size_t)tail) * sizeof *scratch);
    sort_tail(g->entries.items + g->sorted, tail, scratch);
    merge(g->entries.items + g->first, head, g->entries.items + g->sorted, tail, scratch);
    memcpy(g->entries.items + g->first, scratch, (head + (size_t)tail) * sizeof *scratch);
    mem_free(scratch);
    g->sorted = g->entries.count;
}

/* The index of the entry at a position, which is there. */
static uint32_t find(const struct queue_group *g, uint64_t position)
{
    uint32_t low = g->first, high = g->entries.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (g->entries.items[middle].position < position)
            low = middle + 1;
        else
            high = middle;
    }
    /* The same position may stand there as a removed entry, of a job that was removed and added again. */
    while (low < g->entries.count && g->entries.items[low].position == position && g->entries.items[low].is_removed)
        low++;
    ensure(low < g->entries.count && g->entries.items[low].position == position);
    return low;
}

void queue_remove(struct queue *q, uint32_t group, uint64_t position)
{
    struct queue_group *g = &q->groups.items[group];
    ensure(group < q->groups.count && g->key != NULL && g->live > 0);
    sort_group(g);
    g->entries.items[find(g, position)].is_removed = true;
    if (--g->live == 0) {
        ensure(map_remove(&q->by_key, (struct str){g->key, g->key_length}));
        release_group(g);
        *array_add(&q->unused) = group;
        return;
    }
    while (g->entries.items[g->first].is_removed) g->first++;
    compact(g);
}

uint32_t queue_next(struct queue *q, uint32_t group, uint32_t at)
{
    struct queue_group *g = &q->groups.items[group];
    sort_group(g);
    if (at < g->first) at = g->first;
    while (at < g->entries.count && g->entries.items[at].is_removed) at++;
    return at < g->entries.count ? at : NONE;
}

uint32_t queue_find(struct queue *q, uint32_t group, uint64_t position)
{
    struct queue_group *g = &q->groups.items[group];
    sort_group(g);
    return find(g, position);
}

uint32_t queue_last(struct queue *q, uint32_t group)
{
    struct queue_group *g = &q->groups.items[group];
    ensure(g->live > 0);
    sort_group(g);
    uint32_t at = g->entries.count - 1;
    while (g->entries.items[at].is_removed) at--;
    return at;
}

/* --- candidates --------------------------------------------------------------------------------------------------- */

bool queue_is_before(const struct queue_candidate *a, const struct queue_candidate *b)
{
    return a->order != b->order ? a->order > b->order : a->position < b->position;
}

/* Puts a candidate in place of the one at an index, below which the heap is in order. The best one is at the top, or
 * the worst one if by_worst. */
static void sift_down(struct queue_candidates *c, uint32_t at, struct queue_candidate candidate, bool by_worst)
{
    struct queue_candidate *items = c->list.items;
    for (uint32_t child; (child = 2 * at + 1) < c->list.count; at = child) {
        if (child + 1 < c->list.count && queue_is_before(&items[child + 1], &items[child]) != by_worst) child++;
        if (queue_is_before(&items[child], &candidate) == by_worst) break;
        items[at] = items[child];
    }
    items[at] = candidate;
}

static void sift_up(struct queue_candidates *c, uint32_t at, struct queue_candidate candidate, bool by_worst)
{
    struct queue_candidate *items = c->list.items;
    for (; at > 0 && queue_is_before(&candidate, &items[(at - 1) / 2]) != by_worst; at = (at - 1) / 2)
        items[at] = items[(at - 1) / 2];
    items[at] = candidate;
}

void queue_push(struct queue_candidates *c, struct queue_candidate candidate)
{
    (void)array_add(&c->list);
    sift_up(c, c->list.count - 1, candidate, false);
}

struct queue_candidate queue_pop(struct queue_candidates *c)
{
    ensure(c->list.count > 0);
    const struct queue_candidate best = c->list.items[0], last = c->list.items[--c->list.count];
    if (c->list.count > 0) sift_down(c, 0, last, false);
    return best;
}

void queue_order(struct queue_candidates *c)
{
    for (uint32_t i = c->list.count / 2; i-- > 0;) sift_down(c, i, c->list.items[i], false);
}

/* --- the best of many --------------------------------------------------------------------------------------------- */

void queue_shortlist_begin(struct queue_shortlist *s, uint32_t max)
{
    array_clear(&s->best.list);
    s->max = max;
    s->has_more = false;
    s->order_min = max > 0 ? 0.0 : INFINITY;
}

/* While candidates are offered, the worst one is at the top. */
void queue_shortlist_offer(struct queue_shortlist *s, struct queue_candidate candidate)
{
    struct queue_candidates *best = &s->best;
    s->has_more |= best->list.count == s->max;
    if (best->list.count < s->max) {
        (void)array_add(&best->list);
        sift_up(best, best->list.count - 1, candidate, true);
    } else if (s->max > 0 && queue_is_before(&candidate, &best->list.items[0])) {
        sift_down(best, 0, candidate, true);
    }
    if (best->list.count == s->max && s->max > 0) s->order_min = (double)best->list.items[0].order;
}

void queue_shortlist_end(struct queue_shortlist *s)
{
    if (s->best.list.count > 0) s->last = s->best.list.items[0];
    queue_order(&s->best);
}
