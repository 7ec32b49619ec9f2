/* Classic and depth-oblivious fair share against the answers of Slurm 22.05.8 (slurm/ORIGIN.md): every cell of the same
 * trees, to 1e-12 of its value. sshare computes the factor from rounded numbers, so its last bits differ. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/arena.h"
#include "policy/fair_share.h"
#include "slurm_recorded.h"

static const double TOLERANCE = 1e-12;

/* The number of compared values by column, and the largest relative difference. */
struct compared {
    int rows, norm_shares, norm_usage, effective_usage, fair_share;
    double difference_max;
};

static void compare(const struct assoc *a, const char *column, const char *text, double ours, struct compared *all,
                    int *count)
{
    double theirs = strtod(text, NULL);
    if (theirs == SLURM_NOT_SET) {
        if (!isnan(ours)) fail_msg("%s/%s %s: %.17g, not set in Slurm", a->account, a->user, column, ours);
        return;
    }
    double difference = theirs == ours ? 0 : fabs(ours - theirs) / fabs(theirs);
    if (!(difference <= TOLERANCE)) fail_msg("%s/%s %s: %.17g, Slurm has %s", a->account, a->user, column, ours, text);
    if (difference > all->difference_max) all->difference_max = difference;
    ++*count;
}

static void compare_rows(const struct recorded *r, const struct share_table *s, char *psv, struct compared *all)
{
    struct row row;
    uint32_t rows = 0;
    rows_next(&psv, '|', &row);
    assert_string_equal(row.field[8], "FairShare");
    while (rows_next(&psv, '|', &row)) {
        uint32_t i = recorded_find_id(r, row.field[0]);
        const struct assoc *a = &r->assocs[i];
        compare(a, "NormShares", row.field[4], s->norm_shares[i], all, &all->norm_shares);
        compare(a, "NormUsage", row.field[6], s->norm_usage[i], all, &all->norm_usage);
        compare(a, "EffectvUsage", row.field[7], s->effective_usage[i], all, &all->effective_usage);
        compare(a, "FairShare", row.field[8], s->fair_share[i], all, &all->fair_share);
        assert_true(floor(s->raw_usage[i]) == strtod(row.field[5], NULL));
        assert_true(isnan(s->level_fs[i]));
        rows++;
    }
    assert_int_equal(rows, r->count);
    all->rows += (int)rows;
}

/* fair_share_factors gives users the same factors as the table, to the last bit, and accounts 0. */
static void compare_factors(const struct recorded *r, const struct share_options *options, const struct share_table *s,
                            struct arena *arena)
{
    double *factor = arena_alloc(arena, r->count * sizeof *factor);
    fair_share_factors(&r->tree, r->own, options, arena, factor);
    for (uint32_t i = 0; i < r->count; i++) assert_true(factor[i] == (r->tree.is_user[i] ? s->fair_share[i] : 0));
}

static void compare_case(const char *name, enum share_algorithm algorithm, const char *file, struct compared *all)
{
    struct recorded r = recorded_load(name, "order.tsv");
    recorded_make_tree(&r);
    char *psv = recorded_text(name, file);
    struct arena arena = {0};
    struct share_options options = {.algorithm = algorithm, .dampening = 1};
    struct share_table s;
    fair_share_table(&r.tree, r.own, NULL, &options, &arena, &s);
    compare_rows(&r, &s, psv, all);
    compare_factors(&r, &options, &s, &arena);
    arena_release(&arena);
    free(psv);
    recorded_unload(&r);
}

static void compare_algorithm(enum share_algorithm algorithm, const char *file)
{
    struct compared all = {0};
    for (int c = 0; c < SLURM_CASE_COUNT; c++) compare_case(SLURM_CASES[c], algorithm, file, &all);
    printf("# compared %d FairShare, %d EffectvUsage, %d NormShares, %d NormUsage values of %s with Slurm 22.05.8: "
           "to 1e-12 (largest difference %.1g)\n",
           all.fair_share, all.effective_usage, all.norm_shares, all.norm_usage, share_algorithm_names[algorithm],
           all.difference_max);
    assert_int_equal(all.rows, 1405);
    assert_int_equal(all.norm_usage, 1405 - SLURM_CASE_COUNT);
}

static void test_classic(void **state)
{
    (void)state;
    compare_algorithm(ALGORITHM_CLASSIC, "classic.psv");
}

static void test_depth_oblivious(void **state)
{
    (void)state;
    compare_algorithm(ALGORITHM_DEPTH_OBLIVIOUS, "oblivious.psv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classic),
        cmocka_unit_test(test_depth_oblivious),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
