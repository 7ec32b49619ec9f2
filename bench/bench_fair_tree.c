/* The cost of a Fair Tree pass, per user association: tree_sum_usage and fair_tree_rank, on one core.
 *
 *   scratch   the first pass, without a kept order
 *   1 %       the usage of every hundredth association changed since the last pass
 *   rescaled  all usages were multiplied by one factor
 *   mixed     as 1 %, but nodes were added in random order instead of account by account
 *   idle      as 1 %, but nine accounts in ten have no usage, so that they tie and are merged
 *   tied      all accounts have the same shares and usage, so that all users are one merged list: the worst case
 *   bytes     memory of the tree and the kept order, per user association, after a pass
 *
 * Yardsticks of the same run: sorting the same number of doubles with base/sort.h and with libc's qsort. Each figure is
 * the median of several runs. With --quick there are few runs, on small trees only. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "policy/fair_tree.h"
#include "share_world.h"

static double pass(struct world *w, struct rank_order *order)
{
    double start = now_ns();
    tree_sum_usage(&w->tree, w->own, w->usage);
    fair_tree_rank(&w->tree, w->usage, order, w->factor);
    return (now_ns() - start) / w->tree.user_count;
}

static double measure_scratch(struct world *w, int runs)
{
    struct samples s = {0};
    while (s.count < runs) {
        struct rank_order *order = rank_order_new();
        s.ns[s.count++] = pass(w, order);
        rank_order_free(order);
    }
    return median(&s);
}

static double measure_kept(struct world *w, int runs, double scale)
{
    struct samples s = {0};
    struct rank_order *order = rank_order_new();
    pass(w, order);
    while (s.count < runs) {
        if (scale == 1) {
            change_some(w);
        } else {
            for (uint32_t i = 0; i < w->tree.count; i++) w->own[i] *= scale;
        }
        s.ns[s.count++] = pass(w, order);
    }
    rank_order_free(order);
    return median(&s);
}

static double measure_world(uint32_t users, uint32_t per_account, enum layout layout, int runs)
{
    struct world w;
    make_world(&w, users, per_account, layout);
    double ns = measure_kept(&w, runs, 1);
    free_world(&w);
    return ns;
}

static double allocated(void)
{
    struct mallinfo2 info = mallinfo2();
    return (double)(info.uordblks + info.hblkhd);
}

static double measure_bytes(uint32_t users, uint32_t per_account)
{
    struct world w = {.rng = {1}, .users = malloc(users * sizeof(uint32_t))};
    double before = allocated();
    make_tree(&w, users, per_account);
    double *usage = calloc(w.tree.count, sizeof *usage), *factor = calloc(w.tree.count, sizeof *factor);
    double arrays = (double)(2 * w.tree.count * sizeof *usage);
    struct rank_order *order = rank_order_new();
    fair_tree_rank(&w.tree, usage, order, factor);
    double bytes = (allocated() - before - arrays) / users;
    rank_order_free(order);
    free(usage);
    free(factor);
    free(w.users);
    tree_release(&w.tree);
    return bytes;
}

static void measure_size(uint32_t users, uint32_t per_account)
{
    int runs = users < 100000 ? RUNS_MAX : 11;
    struct world w;
    make_world(&w, users, per_account, BY_ACCOUNT);
    double scratch = measure_scratch(&w, runs), changed = measure_kept(&w, runs, 1);
    double rescaled = measure_kept(&w, runs, 0.9);
    free_world(&w);
    printf("%8u %11u %8.1f %8.1f %8.1f", users, per_account, scratch, changed, rescaled);
    for (enum layout layout = MIXED; layout <= TIED; layout++) {
        printf(" %8.1f", measure_world(users, per_account, layout, runs));
    }
    printf(" %8.0f\n", measure_bytes(users, per_account));
    fflush(stdout);
}

static void measure_sorting(uint32_t count)
{
    struct samples radix = {0}, libc = {0};
    struct sort_record *records = malloc(count * sizeof *records), *scratch = malloc(count * sizeof *scratch);
    double *values = malloc(count * sizeof *values);
    struct rng rng = {3};
    for (int run = 0; run < 9; run++) {
        for (uint32_t i = 0; i < count; i++) {
            values[i] = rng_double(&rng) * (double)(1u << rng_below(&rng, 30));
            records[i] = (struct sort_record){.key = sort_key_double(values[i]), .index = i};
        }
        double start = now_ns();
        sort_records(records, count, scratch);
        radix.ns[radix.count++] = (now_ns() - start) / count;
        start = now_ns();
        qsort(values, count, sizeof *values, compare_doubles);
        libc.ns[libc.count++] = (now_ns() - start) / count;
    }
    printf("yardsticks, sorting %u doubles: %.1f ns each (base/sort.h), %.1f ns each (qsort)\n", count, median(&radix),
           median(&libc));
    free(records);
    free(scratch);
    free(values);
}

int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    uint32_t max = quick ? 10000 : 1000000;
    printf("Fair Tree, ns per user association (at 1000000: scratch at most 70, 1 %% at most 25)\n");
    printf("%8s %11s %8s %8s %8s %8s %8s %8s %8s\n", "users", "per account", "scratch", "1 %", "rescaled", "mixed",
           "idle", "tied", "bytes");
    for (uint32_t users = 1000; users <= max; users *= 10) {
        static const uint32_t PER_ACCOUNT[] = {10, 100, 100000};
        for (int p = 0; p < 3; p++) measure_size(users, PER_ACCOUNT[p]);
    }
    measure_sorting(max);
    return 0;
}
