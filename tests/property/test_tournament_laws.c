/* A tournament gives what computing every value in every context gives: for values that tie, that differ in the last
 * bits, that cross while the base grows, and in which the shares are lost beside the other terms. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "policy/tournament.h"

enum { PLAYERS = 200 };

struct world {
    struct rng rng;
    struct arena arena;
    struct tournament tournament;
    struct tournament_context context;
    struct tournament_player players[PLAYERS];
    uint32_t count;
};

/* A few values and the doubles next to them, or values of many orders of magnitude. */
static double random_share(struct rng *r)
{
    static const double FEW[] = {0, 1, 1, 2, 3, 10, 100.0 / 3, 1e5, 4294967295.0};
    switch (rng_below(r, 4)) {
    case 0: return nextafter(FEW[rng_below(r, 9)], 1e300);
    case 1: return (double)rng_below(r, 1000);
    case 2: return rng_double(r) * (double)(UINT64_C(1) << rng_below(r, 40));
    default: return FEW[rng_below(r, 9)] / (1 + rng_below(r, 5));
    }
}

static uint32_t slow_first(const struct world *w)
{
    uint32_t best = NONE;
    double best_value = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->players[i].rank == NONE) continue;
        double value = tournament_value(&w->players[i], &w->context);
        bool is_better =
            best == NONE || value > best_value || (value == best_value && w->players[i].rank < w->players[best].rank);
        if (!is_better) continue;
        best = i;
        best_value = value;
    }
    return best;
}

static void world_init(struct world *w, uint64_t seed, uint32_t max)
{
    static const double WEIGHTS[] = {0, 1e-12, 0.25, 1}, POOLS[] = {1, 1000, 1e9}, COMMON[] = {0, 0, 1, 1e9, 1e17};
    memset(w, 0, sizeof *w);
    struct rng *r = &w->rng;
    r->state = seed;
    w->count = rng_below(r, max + 1);
    w->tournament = tournament_make(w->count, &w->arena);
    w->context =
        (struct tournament_context){.weight = WEIGHTS[rng_below(r, 4)], .pool = POOLS[rng_below(r, 3)], .base = 0.001};
    w->context.adds_share = rng_below(r, 2) == 0;
    for (int k = 0; k < TOURNAMENT_COMMON_COUNT; k++) w->context.common[k] = COMMON[rng_below(r, 5)];
    bool has_tickets = rng_below(r, 2) == 0;
    for (uint32_t i = 0; i < w->count; i++) {
        double so_far = has_tickets ? random_share(r) : 0;
        w->players[i] =
            (struct tournament_player){.share = random_share(r), .tickets_so_far = so_far, .rank = i * 7919 % 1000003};
        tournament_set(&w->tournament, i, w->players[i]);
    }
}

/* What the policies do between two choices: the first player leaves or its value falls, the base grows, the common
 * terms shrink. */
static void move_on(struct world *w, uint32_t first)
{
    struct rng *r = &w->rng;
    struct tournament_player *player = &w->players[first];
    if (rng_below(r, 3) == 0) player->rank = NONE;
    player->share /= 1 + rng_below(r, 3);
    if (rng_below(r, 2) == 0) player->tickets_so_far *= rng_double(r);
    tournament_set(&w->tournament, first, *player);
    if (rng_below(r, 3) != 0) w->context.base += random_share(r);
    int k = (int)rng_below(r, TOURNAMENT_COMMON_COUNT);
    if (rng_below(r, 3) == 0) w->context.common[k] /= 1 + rng_below(r, 3);
}

static void run(uint64_t seed, uint32_t max)
{
    struct world w;
    world_init(&w, seed, max);
    for (int step = 0; step < 300; step++) {
        const struct tournament_player *first = tournament_first(&w.tournament, &w.context);
        uint32_t expected = slow_first(&w);
        if ((first == NULL ? NONE : first->index) != expected) {
            fail_msg("seed %llu, step %d, %u players: %d first, expected %d", (unsigned long long)seed, step, w.count,
                     first == NULL ? -1 : (int)first->index, (int)expected);
        }
        if (expected == NONE) break;
        move_on(&w, expected);
    }
    arena_release(&w.arena);
}

static void test_few(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20000; seed++) run(seed, 8);
}

static void test_many(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) run(50000 + seed, PLAYERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
