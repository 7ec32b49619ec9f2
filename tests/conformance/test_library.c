/* The installed library against the answers of Slurm 22.05.8 (slurm/ORIGIN.md): the recorded trees, built through
 * the API and ranked with FL_TIES_SLURM, have the recorded cells, and the table that the command prints. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/arena.h"
#include "fairlead.h"
#include "policy/fair_share.h"
#include "slurm_recorded.h"

static int compared;

static struct fl_tree *through_library(const struct recorded *r)
{
    struct fl_tree *t;
    assert_int_equal(fl_tree_new(&t), FL_OK);
    for (uint32_t i = 0; i < r->count; i++) {
        const struct tree *from = &r->tree;
        int kind = from->is_user[i] ? FL_USER : FL_ACCOUNT;
        if (i > 0) assert_int_equal(fl_tree_add(t, from->parent[i], kind, from->shares[i], NULL), FL_OK);
        assert_int_equal(fl_tree_charge(t, i, r->own[i], 0), FL_OK);
    }
    return t;
}

static void compare(const struct assoc *a, const char *column, const char *text, double ours)
{
    double theirs = text[0] == '\0' ? NAN : strtod(text, NULL);
    if (theirs == SLURM_NOT_SET) theirs = NAN;
    bool same = isnan(theirs) ? isnan(ours) : ours == theirs;
    if (!same) fail_msg("%s/%s %s: %.17g, Slurm has %s", a->account, a->user, column, ours, text);
    compared += !isnan(theirs);
}

static void compare_recorded(const struct recorded *r, const char *name, const struct fl_tree *t)
{
    char *psv = recorded_text(name, "fairtree.psv"), *cursor = psv;
    struct row row;
    rows_next(&cursor, '|', &row);
    while (rows_next(&cursor, '|', &row)) {
        uint32_t i = recorded_find_id(r, row.field[0]);
        struct fl_share s;
        assert_int_equal(fl_tree_share(t, i, &s), FL_OK);
        compare(&r->assocs[i], "NormShares", row.field[4], s.norm_shares);
        compare(&r->assocs[i], "RawUsage", row.field[5], floor(s.usage));
        compare(&r->assocs[i], "NormUsage", row.field[6], s.norm_usage);
        compare(&r->assocs[i], "EffectvUsage", row.field[7], s.effective_usage);
        compare(&r->assocs[i], "FairShare", row.field[8], s.factor);
        compare(&r->assocs[i], "LevelFS", row.field[9], s.level);
    }
    free(psv);
}

static void test_recorded_trees(void **state)
{
    (void)state;
    const struct fl_rank_options options = {.ties = FL_TIES_SLURM};
    if (!fair_tree_slurm_available()) {
        printf("# skip: long double is not the x87's, so FL_TIES_SLURM is refused\n");
        skip();
    }
    for (int c = 0; c < SLURM_CASE_COUNT; c++) {
        struct recorded r = recorded_load(SLURM_CASES[c], "order.tsv");
        recorded_make_tree(&r);
        struct fl_tree *t = through_library(&r);
        assert_int_equal(fl_tree_rank(t, 0, &options), FL_OK);
        compare_recorded(&r, SLURM_CASES[c], t);
        fl_tree_free(t);
        recorded_unload(&r);
    }
    printf("# compared %d values with Slurm 22.05.8 through the library: the same to the last bit\n", compared);
    assert_in_range(compared, 6000, 9000);
}

/* Every algorithm gives the table that `fairlead share -f` prints of the same tree. */
static void test_tables(void **state)
{
    (void)state;
    for (int c = 0; c < SLURM_CASE_COUNT; c++) {
        struct recorded r = recorded_load(SLURM_CASES[c], "order.tsv");
        recorded_make_tree(&r);
        struct fl_tree *t = through_library(&r);
        for (uint32_t algorithm = 0; algorithm < ALGORITHM_COUNT; algorithm++) {
            const struct fl_rank_options options = {.algorithm = algorithm};
            const struct share_options internal = {.algorithm = (enum share_algorithm)algorithm, .dampening = 1};
            struct arena arena = {0};
            struct share_table s;
            fair_share_table(&r.tree, r.own, NULL, &internal, &arena, &s);
            assert_int_equal(fl_tree_rank(t, 0, &options), FL_OK);
            for (uint32_t i = 0; i < r.count; i++) {
                struct fl_share share;
                fl_tree_share(t, i, &share);
                assert_memory_equal(&share.factor, &s.fair_share[i], sizeof share.factor);
                assert_memory_equal(&share.effective_usage, &s.effective_usage[i], sizeof share.effective_usage);
            }
            arena_release(&arena);
        }
        fl_tree_free(t);
        recorded_unload(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded_trees),
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
