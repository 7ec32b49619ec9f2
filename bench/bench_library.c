/* The cost of a ranking through the installed library, per user association, against the internal call: 10^5 and 10^6
 * associations. Fair Tree, ties merged; the usage of every hundredth association changes between passes.
 *
 *   internal   tree_sum_usage and fair_tree_rank with a kept order, in memory of the caller's
 *   factors    fl_tree_rank with factors_only, by usage that the caller keeps
 *   charged    the same by usage that the tree keeps and decays
 *   all        fl_tree_rank: also the columns of sshare, the ranks and the order of all users
 *
 * Each figure is the median of several runs. With --quick there are few runs, on small trees only. */
#include <stdio.h>

#include "fairlead.h"
#include "policy/fair_tree.h"
#include "share_world.h"

enum kind { INTERNAL, FACTORS, CHARGED, ALL, KIND_COUNT };

static const char *const names[KIND_COUNT] = {"internal", "factors", "charged", "all"};

static void check(int result)
{
    if (result == FL_OK) return;
    fprintf(stderr, "bench_library: %s\n", fl_result_text(result));
    exit(1);
}

static struct fl_tree *copy_tree(const struct world *w)
{
    struct fl_tree *t;
    check(fl_tree_new(&t));
    check(fl_tree_set_halflife(t, INT64_C(86400000000), 0));
    for (uint32_t i = 1; i < w->tree.count; i++) {
        check(fl_tree_add(t, w->tree.parent[i], w->tree.is_user[i] ? FL_USER : FL_ACCOUNT, w->tree.shares[i], NULL));
        check(fl_tree_set_usage(t, i, w->own[i], 0));
    }
    return t;
}

static void rank(struct world *w, struct fl_tree *t, struct rank_order *order, enum kind kind, int run)
{
    struct fl_rank_options options = {.factors_only = kind != ALL};
    if (kind == INTERNAL) {
        tree_sum_usage(&w->tree, w->own, w->usage);
        fair_tree_rank(&w->tree, w->usage, order, w->factor);
        return;
    }
    if (kind == FACTORS) options.own_usage = w->own;
    check(fl_tree_rank(t, run * INT64_C(1000000), &options));
}

static double measure(struct world *w, struct fl_tree *t, enum kind kind, int runs)
{
    struct samples s = {0};
    struct rank_order *order = rank_order_new();
    for (int run = -2; run < runs; run++) {
        change_some(w);
        for (uint32_t i = 0; kind >= CHARGED && i < w->tree.count; i += 100)
            check(fl_tree_set_usage(t, i, w->own[i], 0));
        double start = now_ns();
        rank(w, t, order, kind, run + 2);
        if (run >= 0) s.ns[s.count++] = (now_ns() - start) / w->tree.user_count;
    }
    rank_order_free(order);
    return median(&s);
}

int main(int count, char **words)
{
    bool quick = count > 1 && strcmp(words[1], "--quick") == 0;
    static const uint32_t sizes[] = {100000, 1000000};
    printf("ns a user association\n%9s", "users");
    for (int k = 0; k < KIND_COUNT; k++) printf("%10s", names[k]);
    printf("\n");
    for (int s = 0; s < (quick ? 1 : 2); s++) {
        struct world w;
        make_world(&w, quick ? 1000 : sizes[s], 100, BY_ACCOUNT);
        struct fl_tree *t = copy_tree(&w);
        printf("%9u", w.tree.user_count);
        for (int k = 0; k < KIND_COUNT; k++) printf("%10.1f", measure(&w, t, (enum kind)k, quick ? 3 : 21));
        printf("\n");
        fl_tree_free(t);
        free_world(&w);
    }
    return 0;
}
