/* Fair Tree with ties = slurm, and the columns of the share table, against the answers of Slurm 22.05.8
 * (slurm/ORIGIN.md). Every cell has to be the same double; NaN stands for an empty cell and for Slurm's "not set". */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/arena.h"
#include "policy/share_table.h"
#include "slurm_recorded.h"

/* The number of compared values by column. */
static struct {
    int trees, rows, norm_shares, raw_usage, norm_usage, effective_usage, fair_share, level_fs;
} compared;

/* Compares one cell; a value that is not set is empty or "not set" in Slurm. */
static void compare(const struct assoc *a, const char *column, const char *text, double ours, int *count)
{
    double theirs = text[0] == '\0' ? NAN : strtod(text, NULL);
    if (theirs == SLURM_NOT_SET) theirs = NAN;
    bool same = isnan(theirs) ? isnan(ours) : ours == theirs;
    if (!same) fail_msg("%s/%s %s: %.17g, Slurm has %s", a->account, a->user, column, ours, text);
    *count += !isnan(theirs);
}

static void compare_case(const char *name)
{
    struct recorded r = recorded_load(name, "order.tsv");
    recorded_make_tree(&r);
    struct arena arena = {0};
    struct share_table s;
    share_table_compute(&r.tree, r.own, NULL, TIES_SLURM, NULL, NULL, &arena, &s);

    char *psv = recorded_text(name, "fairtree.psv"), *cursor = psv;
    struct row row;
    uint32_t rows = 0;
    rows_next(&cursor, '|', &row);
    assert_string_equal(row.field[9], "LevelFS");
    while (rows_next(&cursor, '|', &row)) {
        uint32_t i = recorded_find_id(&r, row.field[0]);
        const struct assoc *a = &r.assocs[i];
        compare(a, "NormShares", row.field[4], s.norm_shares[i], &compared.norm_shares);
        compare(a, "RawUsage", row.field[5], floor(s.raw_usage[i]), &compared.raw_usage);
        compare(a, "NormUsage", row.field[6], s.norm_usage[i], &compared.norm_usage);
        compare(a, "EffectvUsage", row.field[7], s.effective_usage[i], &compared.effective_usage);
        compare(a, "FairShare", row.field[8], s.fair_share[i], &compared.fair_share);
        compare(a, "LevelFS", row.field[9], s.level_fs[i], &compared.level_fs);
        rows++;
    }
    assert_int_equal(rows, r.count);
    compared.trees++;
    compared.rows += (int)rows;
    free(psv);
    arena_release(&arena);
    recorded_unload(&r);
}

static void require_slurm_arithmetic(void)
{
    if (fair_tree_slurm_available()) return;
    printf("# skip: long double is not the x87's, so ties = slurm is refused\n");
    skip();
}

static void test_every_column(void **state)
{
    (void)state;
    require_slurm_arithmetic();
    for (int c = 0; c < SLURM_CASE_COUNT; c++) compare_case(SLURM_CASES[c]);
    printf("# compared %d FairShare, %d LevelFS, %d NormShares values with Slurm 22.05.8: the same to the last bit\n",
           compared.fair_share, compared.level_fs, compared.norm_shares);
    printf("# compared %d NormUsage, %d EffectvUsage values with Slurm 22.05.8: the same to the last bit\n",
           compared.norm_usage, compared.effective_usage);
    printf("# compared %d RawUsage values with Slurm 22.05.8: the same whole number\n", compared.raw_usage);
    assert_int_equal(compared.trees, SLURM_CASE_COUNT);
    assert_int_equal(compared.rows, 1405);
}

/* Ranks by the log of a walk: each user's line gets the next rank, or with `=` the last one again. */
static int compare_walk(const struct recorded *r, const double *factor, const double *level)
{
    char *walk = recorded_text("24-tie-order", "late-walk.txt"), *cursor = walk;
    struct row row;
    uint32_t left = r->tree.user_count, last = left;
    int values = 0;
    while (rows_next(&cursor, ' ', &row)) {
        int f = 0;
        while (row.field[f][0] == '\0') f++;
        bool tied = row.field[f][0] == '=';
        const char *name = row.field[f] + tied;
        char account[16] = "";
        sscanf(row.field[f + 1], "(%15[^)])", account);
        bool is_user = strcmp(name, account) != 0;
        uint32_t i = recorded_find(r, account, is_user ? name : "");
        double logged = strtod(row.field[f + 3], NULL);
        assert_true(fabs(level[i] - logged) <= 1e-15 * logged);
        values++;
        if (!is_user) continue;
        if (!tied) last = left;
        left--;
        assert_true(factor[i] == (double)last / r->tree.user_count);
        values++;
    }
    assert_int_equal(left, 0);
    free(walk);
    return values;
}

/* An account that was added later precedes its tied siblings in Slurm's order, so it is ranked before them. */
static void test_order_of_ties(void **state)
{
    (void)state;
    require_slurm_arithmetic();
    struct recorded r = recorded_load("24-tie-order", "late-order.tsv");
    static const struct assoc LATE[] = {
        {.account = "k", .user = "", .parent = "root", .shares = "10", .usage = ""},
        {.account = "k", .user = "k1", .shares = "1", .usage = "400"},
        {.account = "k", .user = "k2", .shares = "1", .usage = "600"},
    };
    for (int l = 0; l < 3; l++) {
        struct assoc *a = &r.assocs[recorded_find(&r, "k", LATE[l].user)];
        int id = a->id;
        *a = LATE[l];
        a->id = id;
    }
    recorded_make_tree(&r);
    long double usage[16];
    double factor[16], level[16];
    struct arena arena = {0};
    fair_tree_slurm_sum(&r.tree, r.own, usage);
    fair_tree_slurm(&r.tree, usage, &arena, factor, level);
    printf("# compared %d values of a walk with Slurm 22.05.8's log of it\n", compare_walk(&r, factor, level));
    arena_release(&arena);
    recorded_unload(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_column),
        cmocka_unit_test(test_order_of_ties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
