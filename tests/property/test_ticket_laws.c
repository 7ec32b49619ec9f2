/* Laws of tickets: the fast policies give what choosing one by one gives, to the last bit; running jobs divide each
 * pool and do not exceed it; scaling, renumbering and more usage have the right effects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "../ticket_reference.h"
#include "base/rng.h"

enum { JOBS = REFERENCE_JOBS, NODES = REFERENCE_NODES, MEMBERS = REFERENCE_MEMBERS };

struct world {
    struct rng rng;
    struct ticket_rules rules;
    struct ticket_member members[MEMBER_KIND_COUNT][MEMBERS];
    struct ticket_node nodes[NODES];
    bool is_leaf[NODES];
    struct ticket_job jobs[JOBS];
    uint32_t list[JOBS];
    struct ticket_input input;
    struct tickets tickets[JOBS], tickets2[JOBS];
    struct arena arena;
};

static uint32_t below(struct world *w, uint32_t max)
{
    return rng_below(&w->rng, max);
}

/* One of a few values, so that there are many ties; if varied, sometimes any value. */
static double amount(struct world *w, bool is_varied)
{
    static const double FEW[] = {0, 0, 1, 1, 2, 3, 10, 100, 1000};
    if (is_varied && below(w, 2) == 0) return (double)(rng_u64(&w->rng) >> (32 + below(w, 32)));
    return FEW[below(w, sizeof FEW / sizeof *FEW)];
}

static void make_rules(struct world *w)
{
    static const char *const ORDERS[] = {"",   "O",  "F",   "S",   "OF",  "OS",  "FO",  "FS",
                                         "SO", "SF", "OFS", "OSF", "FOS", "FSO", "SOF", "SFO"};
    static const double WEIGHTS[] = {0, 0.1, 0.25, 0.25, 1, 2, 1e-9};
    static const double FACTORS[] = {0, 0.5, 1, 2, 5};
    static const uint32_t MAX[] = {0, 1, 2, 5, 20, 200, 10000};
    struct ticket_rules *r = &w->rules;
    *r = (struct ticket_rules){
        .share_pool = below(w, 4) == 0 ? 0 : 1e9,
        .functional_pool = below(w, 4) == 0   ? 0
                           : below(w, 2) == 0 ? 10000
                                              : 1e9,
        .share_functional_shares = below(w, 2) == 0,
        .share_override_tickets = below(w, 3) != 0,
        .max_functional_jobs = MAX[below(w, 7)],
        .weight_user = WEIGHTS[below(w, 7)],
        .weight_project = WEIGHTS[below(w, 7)],
        .weight_department = WEIGHTS[below(w, 7)],
        .weight_job = WEIGHTS[below(w, 7)],
        .weight_job_class = below(w, 2) == 0 ? 0 : WEIGHTS[below(w, 7)],
        .compensation_factor = FACTORS[below(w, 5)],
    };
    strcpy(r->hierarchy, ORDERS[below(w, 16)]);
}

static double random_usage(struct world *w)
{
    return below(w, 3) == 0 ? 0 : rng_double(&w->rng) * (double)(1u << below(w, 25));
}

static void make_nodes(struct world *w, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        w->nodes[i] = (struct ticket_node){.parent = NONE, .shares = below(w, 5) == 0 ? 0 : 1 + below(w, 100)};
        if (below(w, 3) == 0) w->nodes[i].shares = 10;
        w->is_leaf[i] = true;
        if (i == 0) continue;
        w->nodes[i].parent = below(w, 2) == 0 ? 0 : below(w, i);
        w->is_leaf[w->nodes[i].parent] = false;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct ticket_node *n = &w->nodes[i];
        n->is_group = !w->is_leaf[i] && (i == 0 || below(w, 4) != 0); /* otherwise a project */
        n->usage = n->is_group ? 0 : random_usage(w);
    }
    for (uint32_t i = count; i-- > 1;) {
        struct ticket_node *parent = &w->nodes[w->nodes[i].parent];
        if (parent->is_group) parent->usage += w->nodes[i].usage;
    }
}

static uint32_t random_leaf(struct world *w)
{
    if (w->input.node_count == 0 || below(w, 10) == 0) return NONE;
    uint32_t node = below(w, w->input.node_count);
    while (!w->is_leaf[node] && below(w, 20) != 0) node = below(w, w->input.node_count);
    return node;
}

static void make_jobs(struct world *w, uint32_t count)
{
    uint32_t id = 1;
    for (uint32_t i = 0; i < count; i++) {
        struct ticket_job *j = &w->jobs[i];
        bool is_task = i > 0 && below(w, 8) == 0;
        id += 1 + below(w, 3);
        *j = (struct ticket_job){.id = id, .submit_us = below(w, 5), .slots = 1 + (below(w, 4) == 0) * below(w, 8)};
        if (is_task) {
            *j = w->jobs[i - 1];
            j->task++;
        }
        j->is_running = below(w, 5) == 0;
        if (is_task) continue;
        for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
            bool is_none = w->input.member_count[k] == 0 || (k != MEMBER_USER && below(w, 3) == 0);
            j->member[k] = is_none ? NONE : below(w, w->input.member_count[k]);
        }
        j->node = random_leaf(w);
        j->job_share = below(w, 4) == 0 ? amount(w, false) : 0;
        j->override_tickets = below(w, 4) == 0 ? amount(w, false) : 0;
    }
}

/* The list: some changed jobs come last. */
static void make_list(struct world *w)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->input.job_count; i++) {
        if (!w->jobs[i].is_running) w->list[count++] = i;
    }
    w->input.list = below(w, 4) == 0 ? NULL : w->list;
    for (uint32_t i = 0; i < count / 5; i++) {
        uint32_t at = below(w, count), changed = w->list[at];
        memmove(&w->list[at], &w->list[at + 1], (count - at - 1) * sizeof changed);
        if (w->input.list != NULL) w->list[count - 1] = changed;
    }
}

static void world_init(struct world *w, uint64_t seed, uint32_t max_users, uint32_t max_jobs)
{
    memset(w, 0, sizeof *w);
    w->rng.state = seed;
    make_rules(w);
    bool is_varied = below(w, 2) == 0;
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
        uint32_t count = k == MEMBER_USER ? 1 + below(w, max_users) : below(w, 4);
        for (uint32_t i = 0; i < count; i++) {
            w->members[k][i].fshare = amount(w, is_varied);
            w->members[k][i].oticket = amount(w, is_varied);
        }
        w->input.members[k] = w->members[k];
        w->input.member_count[k] = count;
    }
    w->input.node_count = below(w, 5) == 0 ? 0 : 1 + below(w, max_users + 5);
    make_nodes(w, w->input.node_count);
    w->input.job_count = below(w, max_jobs + 1);
    make_jobs(w, w->input.job_count);
    make_list(w);
    w->input.rules = &w->rules;
    w->input.nodes = w->nodes;
    w->input.jobs = w->jobs;
}

static void compute(struct world *w, struct tickets *out)
{
    tickets_compute(&w->input, &w->arena, out);
    arena_clear(&w->arena);
}

static bool is_equal(const struct tickets *a, const struct tickets *b)
{
    return a->override == b->override && a->functional == b->functional && a->share == b->share && a->total == b->total;
}

static void assert_as_reference(struct world *w, uint64_t seed)
{
    compute(w, w->tickets);
    reference_tickets(&w->input, w->tickets2);
    for (uint32_t i = 0; i < w->input.job_count; i++) {
        const struct tickets *a = &w->tickets[i], *b = &w->tickets2[i];
        if (is_equal(a, b)) continue;
        fail_msg("seed %llu, job %u of %u: override %.17g functional %.17g share %.17g, one by one %.17g %.17g %.17g",
                 (unsigned long long)seed, i, w->input.job_count, a->override, a->functional, a->share, b->override,
                 b->functional, b->share);
    }
}

static struct world world;

static void test_small(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        world_init(&world, seed, 5, 20);
        assert_as_reference(&world, seed);
        arena_release(&world.arena);
    }
}

/* Many users in one tournament. */
static void test_large(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 150; seed++) {
        world_init(&world, 100000 + seed, 150, 300);
        assert_as_reference(&world, seed);
        arena_release(&world.arena);
    }
}

static void assert_near(double value, double expected, double relative, const char *what, uint64_t seed)
{
    if (fabs(value - expected) <= relative * fabs(expected)) return;
    fail_msg("seed %llu: %s is %.17g, expected %.17g", (unsigned long long)seed, what, value, expected);
}

/* Pools and override tickets times a power of two. -js is left out, because it is compared with tickets. */
static void test_pools_scaled(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct world *w = &world;
        world_init(w, seed, 8, 40);
        for (uint32_t i = 0; i < w->input.job_count; i++) w->jobs[i].job_share = 0;
        compute(w, w->tickets);
        w->rules.share_pool *= 8;
        w->rules.functional_pool *= 8;
        for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
            for (uint32_t i = 0; i < w->input.member_count[k]; i++) w->members[k][i].oticket *= 8;
        }
        for (uint32_t i = 0; i < w->input.job_count; i++) w->jobs[i].override_tickets *= 8;
        compute(w, w->tickets2);
        for (uint32_t i = 0; i < w->input.job_count; i++) {
            const struct tickets *a = &w->tickets[i], *b = &w->tickets2[i];
            if (a->share * 8 != b->share || a->functional * 8 != b->functional || a->override * 8 != b->override)
                fail_msg("seed %llu, job %u: not eight times as many", (unsigned long long)seed, i);
        }
        arena_release(&w->arena);
    }
}

/* All shares of the tree, times a power of two. */
static void test_shares_scaled(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct world *w = &world;
        world_init(w, seed, 8, 40);
        compute(w, w->tickets);
        for (uint32_t i = 0; i < w->input.node_count; i++) w->nodes[i].shares *= 1024;
        compute(w, w->tickets2);
        for (uint32_t i = 0; i < w->input.job_count; i++) {
            if (!is_equal(&w->tickets[i], &w->tickets2[i])) fail_msg("seed %llu, job %u", (unsigned long long)seed, i);
        }
        arena_release(&w->arena);
    }
}

static void swap_members(struct world *w, int kind, uint32_t a, uint32_t b)
{
    struct ticket_member swap = w->members[kind][a];
    w->members[kind][a] = w->members[kind][b];
    w->members[kind][b] = swap;
    for (uint32_t i = 0; i < w->input.job_count; i++) {
        uint32_t *member = &w->jobs[i].member[kind];
        *member = *member == a ? b : *member == b ? a : *member;
    }
}

/* The indices of members do not matter. */
static void test_renumbered(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct world *w = &world;
        world_init(w, seed, 8, 40);
        compute(w, w->tickets);
        for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
            for (uint32_t i = 1; i < w->input.member_count[k]; i++) swap_members(w, k, i, below(w, i));
        }
        compute(w, w->tickets2);
        for (uint32_t i = 0; i < w->input.job_count; i++) {
            if (!is_equal(&w->tickets[i], &w->tickets2[i])) fail_msg("seed %llu, job %u", (unsigned long long)seed, i);
        }
        arena_release(&w->arena);
    }
}

/* If all policies are listed, the list order of pending jobs does not matter. */
static void test_shuffled(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        static const char *const ORDERS[] = {"OFS", "OSF", "FOS", "FSO", "SOF", "SFO"};
        struct world *w = &world;
        uint32_t of[JOBS];
        world_init(w, seed, 8, 40);
        strcpy(w->rules.hierarchy, ORDERS[seed % 6]);
        w->input.list = NULL;
        for (uint32_t i = 0; i < w->input.job_count; i++) {
            w->jobs[i].is_running = false;
            of[i] = i;
        }
        compute(w, w->tickets);
        for (uint32_t i = 1; i < w->input.job_count; i++) {
            uint32_t other = below(w, i + 1), swap = of[i];
            struct ticket_job job = w->jobs[i];
            w->jobs[i] = w->jobs[other];
            w->jobs[other] = job;
            of[i] = of[other];
            of[other] = swap;
        }
        compute(w, w->tickets2);
        for (uint32_t i = 0; i < w->input.job_count; i++) {
            if (!is_equal(&w->tickets[of[i]], &w->tickets2[i])) fail_msg("seed %llu", (unsigned long long)seed);
        }
        arena_release(&w->arena);
    }
}

/* Running jobs divide each pool and do not exceed it: the share tree's if every job has a node with a part, the
 * functional one if a job has shares of a kind with a weight. */
static void test_running_divide_pools(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5000; seed++) {
        struct world *w = &world;
        world_init(w, seed, 8, 40);
        if (w->input.node_count == 0 || w->input.job_count == 0) continue;
        uint32_t running = 0;
        for (uint32_t i = 0; i < w->input.node_count; i++) w->nodes[i].shares += 1;
        for (uint32_t i = 0; i < w->input.job_count; i++) {
            struct ticket_job *j = &w->jobs[i];
            j->job_share = 0;
            while (j->node == NONE || !w->is_leaf[j->node]) j->node = below(w, w->input.node_count);
            running += j->is_running;
        }
        compute(w, w->tickets);
        double share = 0, functional = 0;
        bool has_functional = false;
        for (uint32_t i = 0; i < w->input.job_count; i++) {
            if (!w->jobs[i].is_running) continue;
            share += w->tickets[i].share;
            functional += w->tickets[i].functional;
            has_functional |= w->tickets[i].functional > 0;
        }
        if (running > 0) assert_near(share, w->rules.share_pool, 1e-12, "the share tree's tickets", seed);
        if (has_functional) assert_near(functional, w->rules.functional_pool, 1e-12, "functional tickets", seed);
        arena_release(&w->arena);
    }
}

/* A user who used more gets no more of the share tree. Compensation is off, because it also reduces the weights of
 * others. */
static void test_more_usage(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct world *w = &world;
        world_init(w, seed, 8, 40);
        if (w->input.node_count == 0) continue;
        w->rules.compensation_factor = 0;
        strcpy(w->rules.hierarchy, "");
        uint32_t leaf = below(w, w->input.node_count);
        double more = random_usage(w), before = 0, after = 0;
        compute(w, w->tickets);
        for (uint32_t n = leaf; n != NONE; n = w->nodes[n].parent) w->nodes[n].usage += more;
        compute(w, w->tickets2);
        for (uint32_t i = 0; i < w->input.job_count; i++) {
            if (w->jobs[i].node != leaf) continue;
            before += w->tickets[i].share;
            after += w->tickets2[i].share;
        }
        if (after > before * (1 + 1e-12)) fail_msg("seed %llu: %g after %g", (unsigned long long)seed, after, before);
        arena_release(&w->arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_pools_scaled),
        cmocka_unit_test(test_shares_scaled),
        cmocka_unit_test(test_renumbered),
        cmocka_unit_test(test_shuffled),
        cmocka_unit_test(test_running_divide_pools),
        cmocka_unit_test(test_more_usage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
