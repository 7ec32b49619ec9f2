/* The cost of fair_share_factors for each algorithm, per user association, on one core. It includes the sums of usage;
 * the arena is cleared between passes. The usage of every hundredth association changes between passes. Only Fair Tree
 * keeps an order from pass to pass; bench_fair_tree.c measures it in all its cases.
 *
 *   accounts  nodes were added account by account
 *   mixed     nodes were added in random order
 *
 * Yardsticks of the same run: the same number of exp2 calls, and qsort of the same number of doubles. Each figure is
 * the median of several runs. With --quick there are few runs, on small trees only. */
#include <math.h>
#include <stdio.h>

#include "policy/fair_share.h"
#include "share_world.h"

static double measure(struct world *w, enum share_algorithm algorithm, int runs)
{
    struct samples s = {0};
    struct arena arena = {0};
    struct share_options options = {.algorithm = algorithm, .dampening = 1, .order = rank_order_new()};
    for (int run = -1; run < runs; run++) {
        change_some(w);
        double start = now_ns();
        fair_share_factors(&w->tree, w->own, &options, &arena, w->factor);
        arena_clear(&arena);
        if (run >= 0) s.ns[s.count++] = (now_ns() - start) / w->tree.user_count;
    }
    rank_order_free(options.order);
    arena_release(&arena);
    return median(&s);
}

static void measure_size(uint32_t users, uint32_t per_account)
{
    int runs = users < 100000 ? RUNS_MAX : 11;
    struct world by_account, mixed;
    make_world(&by_account, users, per_account, BY_ACCOUNT);
    make_world(&mixed, users, per_account, MIXED);
    printf("%8u %11u", users, per_account);
    for (int a = 0; a < ALGORITHM_COUNT; a++) {
        printf(" %8.1f %8.1f", measure(&by_account, (enum share_algorithm)a, runs),
               measure(&mixed, (enum share_algorithm)a, runs));
    }
    printf("\n");
    fflush(stdout);
    free_world(&by_account);
    free_world(&mixed);
}

static void measure_yardsticks(uint32_t count)
{
    struct samples powers = {0}, sorts = {0};
    struct rng rng = {3};
    double *values = malloc(count * sizeof *values);
    for (int run = 0; run < 9; run++) {
        for (uint32_t i = 0; i < count; i++) values[i] = -8 * rng_double(&rng);
        double start = now_ns();
        for (uint32_t i = 0; i < count; i++) values[i] = exp2(values[i]);
        powers.ns[powers.count++] = (now_ns() - start) / count;
        start = now_ns();
        qsort(values, count, sizeof *values, compare_doubles);
        sorts.ns[sorts.count++] = (now_ns() - start) / count;
    }
    printf("yardsticks, %u doubles: 2^x %.1f ns each, qsort %.1f ns each\n", count, median(&powers), median(&sorts));
    free(values);
}

int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    uint32_t max = quick ? 10000 : 1000000;
    printf("factors, ns per user association (at 1000000: classic at most 30, depth-oblivious at most 90)\n");
    printf("%8s %11s %17s %17s %17s\n", "", "", share_algorithm_names[0], share_algorithm_names[1],
           share_algorithm_names[2]);
    printf("%8s %11s", "users", "per account");
    for (int a = 0; a < ALGORITHM_COUNT; a++) printf(" %8s %8s", "accounts", "mixed");
    printf("\n");
    for (uint32_t users = 1000; users <= max; users *= 10) {
        static const uint32_t PER_ACCOUNT[] = {10, 100, 100000};
        for (int p = 0; p < 3; p++) measure_size(users, PER_ACCOUNT[p]);
    }
    measure_yardsticks(max);
    return 0;
}
