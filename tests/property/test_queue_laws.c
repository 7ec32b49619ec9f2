/* Laws of the pending queue, on random additions and removals.
 *
 *   1. Each group has exactly the jobs that were added and not removed, in order of position.
 *   2. Candidates leave the heap in their order, whatever the order in which they came.
 *   3. A shortlist keeps the best ones, and no other one comes before its last. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/text.h"
#include "sched/queue.h"

enum { GROUPS = 5, POSITIONS = 200, STEPS = 3000 };

/* By group and position: whether the job is there. */
struct model {
    bool has[GROUPS][POSITIONS];
    uint32_t group[GROUPS]; /* the queue's index */
    uint32_t count[GROUPS];
};

static struct str key_of(uint32_t group, struct buf *text)
{
    buf_clear(text);
    buf_format(text, "group %u", group);
    return (struct str){text->text, text->length};
}

static void check(struct queue *q, const struct model *m)
{
    struct buf text = {0};
    for (uint32_t g = 0; g < GROUPS; g++) {
        assert_int_equal(map_get(&q->by_key, key_of(g, &text)), m->count[g] > 0 ? m->group[g] : NONE);
        if (m->count[g] == 0) continue;
        uint32_t at = queue_next(q, m->group[g], 0), last = queue_last(q, m->group[g]);
        for (uint32_t p = 0; p < POSITIONS; p++) {
            if (!m->has[g][p]) continue;
            assert_int_not_equal(at, NONE);
            assert_true(at <= last);
            assert_int_equal(q->groups.items[m->group[g]].entries.items[at].position, p);
            assert_int_equal(q->groups.items[m->group[g]].entries.items[at].job, p + 1000 * g);
            at = queue_next(q, m->group[g], at + 1);
        }
        assert_int_equal(at, NONE);
        assert_int_equal(queue_next(q, m->group[g], last), last);
        assert_int_equal(queue_next(q, m->group[g], last + 1), NONE);
    }
    buf_release(&text);
}

/* Mostly the next position, sometimes any. */
static void change(struct queue *q, struct model *m, struct rng *rng, uint32_t step)
{
    struct buf text = {0};
    uint32_t g = rng_below(rng, GROUPS), p = rng_below(rng, 3) == 0 ? rng_below(rng, POSITIONS) : step % POSITIONS;
    if (m->has[g][p]) {
        queue_remove(q, m->group[g], p);
        m->count[g]--;
    } else {
        m->group[g] = queue_add(q, key_of(g, &text), p, p + 1000 * g, 0);
        m->count[g]++;
    }
    m->has[g][p] = !m->has[g][p];
    buf_release(&text);
}

static void groups_have_their_jobs_in_order(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct rng rng = {.state = seed};
        struct queue q = {0};
        struct model m = {0};
        for (uint32_t step = 0; step < STEPS; step++) {
            change(&q, &m, &rng, step);
            if (rng_below(&rng, 40) == 0) check(&q, &m);
        }
        check(&q, &m);
        queue_release(&q);
    }
}

static void candidates_leave_in_order(void **unused)
{
    (void)unused;
    struct rng rng = {.state = 7};
    struct queue_candidates c = {0};
    for (uint32_t round = 0; round < 200; round++) {
        uint32_t count = rng_below(&rng, 50);
        struct queue_candidate last = {.order = UINT64_MAX};
        for (uint32_t i = 0; i < count; i++)
            queue_push(&c, (struct queue_candidate){.order = rng_below(&rng, 5), .position = i * 7 % 50, .at = i});
        for (uint32_t i = 0; i < count; i++) {
            struct queue_candidate next = queue_pop(&c);
            assert_true(next.order < last.order || (next.order == last.order && next.position >= last.position));
            last = next;
        }
        assert_int_equal(c.list.count, 0);
    }
    array_release(&c.list);
}

static int compare_candidates(const void *a, const void *b)
{
    return queue_is_before(a, b) ? -1 : 1;
}

static void shortlists_have_the_best(void **unused)
{
    enum { CANDIDATES = 60 };
    (void)unused;
    struct rng rng = {.state = 8};
    struct queue_shortlist s = {0};
    for (uint32_t round = 0; round < 2000; round++) {
        struct queue_candidate all[CANDIDATES];
        uint32_t count = rng_below(&rng, CANDIDATES), max = rng_below(&rng, 20), kept = count < max ? count : max;
        queue_shortlist_begin(&s, max);
        for (uint32_t i = 0; i < count; i++) {
            all[i] = (struct queue_candidate){.order = rng_below(&rng, 5), .position = i * 7 % CANDIDATES, .at = i};
            if ((double)all[i].order < s.order_min) /* as a caller may do who knows no more of it */
                s.has_more = true;
            else
                queue_shortlist_offer(&s, all[i]);
        }
        queue_shortlist_end(&s);
        qsort(all, count, sizeof *all, compare_candidates);
        assert_int_equal(s.has_more, count > max);
        assert_int_equal(s.best.list.count, kept);
        if (kept > 0) assert_int_equal(s.last.at, all[kept - 1].at);
        for (uint32_t i = 0; i < kept; i++) assert_int_equal(queue_pop(&s.best).at, all[i].at);
    }
    array_release(&s.best.list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_have_their_jobs_in_order),
        cmocka_unit_test(candidates_leave_in_order),
        cmocka_unit_test(shortlists_have_the_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
