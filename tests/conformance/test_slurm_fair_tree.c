/* Fair Tree with ties = slurm, and the share table's columns, against what Slurm 22.05.8 answered (slurm/ORIGIN.md).
 * Every cell has to be the same
 * double, NaN standing for a blank and for Slurm's "not set". */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/arena.h"
#include "policy/share_table.h"
#include "rows.h"

#define FOLDER "tests/conformance/slurm/"

static const double NOT_SET = 4294967294;

/* The values compared so far, by column. */
static struct {
    int trees, rows, norm_shares, raw_usage, norm_usage, effective_usage, fair_share, level_fs;
} compared;

struct assoc {
    const char *account, *user, *parent, *shares, *usage;
    int id;
};

/* A recorded tree, in Slurm's order; texts point into the files. */
struct recorded {
    char *input, *order;
    struct assoc *assocs;
    uint32_t count;
    struct tree tree;
    double *own;
};

static char *read_case(const char *name, const char *file)
{
    char path[256];
    snprintf(path, sizeof path, FOLDER "%s/%s", name, file);
    char *text = rows_read(path);
    if (text == NULL) fail_msg("cannot read %s", path);
    return text;
}

static uint32_t find(const struct recorded *r, const char *account, const char *user)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (strcmp(r->assocs[i].account, account) == 0 && strcmp(r->assocs[i].user, user) == 0) return i;
    }
    fail_msg("no association %s/%s", account, user);
    return 0;
}

static void read_order(struct recorded *r)
{
    struct row row;
    char *cursor = r->order;
    r->assocs = calloc(strlen(r->order), sizeof *r->assocs);
    rows_next(&cursor, '\t', &row);
    while (rows_next(&cursor, '\t', &row)) {
        r->assocs[r->count++] = (struct assoc){.account = row.field[2], .user = row.field[3], .id = atoi(row.field[1])};
    }
}

static void read_input(struct recorded *r)
{
    struct row row;
    char *cursor = r->input;
    rows_next(&cursor, '\t', &row);
    while (rows_next(&cursor, '\t', &row)) {
        struct assoc *a = &r->assocs[find(r, row.field[1], row.field[2])];
        a->parent = row.field[0];
        a->shares = row.field[3];
        a->usage = row.field[4];
    }
}

/* Slurm's order has parents first, so its rows become nodes one by one. */
static void make_tree(struct recorded *r)
{
    tree_init(&r->tree);
    r->own = calloc(r->count, sizeof *r->own);
    assert_string_equal(r->assocs[0].account, "root");
    for (uint32_t i = 1; i < r->count; i++) {
        const struct assoc *a = &r->assocs[i];
        bool is_user = a->user[0] != '\0';
        uint32_t shares = strcmp(a->shares, "parent") == 0 ? SHARES_PARENT : (uint32_t)strtoul(a->shares, NULL, 10);
        uint32_t node = tree_add(&r->tree, find(r, is_user ? a->account : a->parent, ""), is_user, shares);
        assert_int_equal(node, i);
        r->own[i] = strtod(a->usage, NULL);
    }
    tree_finish(&r->tree);
}

static struct recorded load(const char *name, const char *order)
{
    struct recorded r = {.input = read_case(name, "input.tsv"), .order = read_case(name, order)};
    read_order(&r);
    read_input(&r);
    return r;
}

static void unload(struct recorded *r)
{
    tree_release(&r->tree);
    free(r->own);
    free(r->assocs);
    free(r->input);
    free(r->order);
}

/* One cell: blank or "not set" where there is nothing, else the same number. */
static void compare(const struct assoc *a, const char *column, const char *text, double ours, int *count)
{
    double theirs = text[0] == '\0' ? NAN : strtod(text, NULL);
    if (theirs == NOT_SET) theirs = NAN;
    bool same = isnan(theirs) ? isnan(ours) : ours == theirs;
    if (!same) fail_msg("%s/%s %s: %.17g, Slurm has %s", a->account, a->user, column, ours, text);
    *count += !isnan(theirs);
}

static void compare_case(const char *name)
{
    struct recorded r = load(name, "order.tsv");
    make_tree(&r);
    struct arena arena = {0};
    struct share_table s;
    share_table_compute(&r.tree, r.own, NULL, TIES_SLURM, NULL, &arena, &s);

    char *psv = read_case(name, "fairtree.psv"), *cursor = psv;
    struct row row;
    uint32_t rows = 0;
    rows_next(&cursor, '|', &row);
    assert_string_equal(row.field[9], "LevelFS");
    while (rows_next(&cursor, '|', &row)) {
        uint32_t i = 0;
        while (i < r.count && r.assocs[i].id != atoi(row.field[0])) i++;
        assert_true(i < r.count);
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
    unload(&r);
}

static const char *const CASES[] = {
    "00-textbook",       "01-textbook-root",  "02-textbook-capacity", "03-accounts-tied",     "04-user-account-tied",
    "05-zero",           "06-parent",         "07-all-zero",          "08-proportional-ties", "09-wide-shares",
    "10-random-d1-u20",  "12-random-d2-u60",  "14-random-d3-u90",     "16-random-d4-u80",     "18-random-d4-u300",
    "20-random-d5-u250", "22-random-d6-u200", "24-tie-order",
};
enum { CASE_COUNT = sizeof CASES / sizeof *CASES };

static void require_slurm_arithmetic(void)
{
    if (fair_tree_slurm_available()) return;
    printf("# skip: long double is not the x87's here, and ties = slurm is refused\n");
    skip();
}

static void test_every_column(void **state)
{
    (void)state;
    require_slurm_arithmetic();
    for (int c = 0; c < CASE_COUNT; c++) compare_case(CASES[c]);
    printf("# compared %d FairShare, %d LevelFS, %d NormShares values with Slurm 22.05.8: the same to the last bit\n",
           compared.fair_share, compared.level_fs, compared.norm_shares);
    printf("# compared %d NormUsage, %d EffectvUsage values with Slurm 22.05.8: the same to the last bit\n",
           compared.norm_usage, compared.effective_usage);
    printf("# compared %d RawUsage values with Slurm 22.05.8: the same whole number\n", compared.raw_usage);
    assert_int_equal(compared.trees, CASE_COUNT);
    assert_int_equal(compared.rows, 1405);
}

/* Ranks as the log of a walk has them: each line that is a user's gets the next, or with `=` the last one. */
static int compare_walk(const struct recorded *r, const double *factor, const double *level)
{
    char *walk = read_case("24-tie-order", "late-walk.txt"), *cursor = walk;
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
        uint32_t i = find(r, account, is_user ? name : "");
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

/* An account that came later stands before its tied siblings, and so is ranked before them. */
static void test_order_of_ties(void **state)
{
    (void)state;
    require_slurm_arithmetic();
    struct recorded r = load("24-tie-order", "late-order.tsv");
    static const struct assoc LATE[] = {
        {.account = "k", .user = "", .parent = "root", .shares = "10", .usage = ""},
        {.account = "k", .user = "k1", .shares = "1", .usage = "400"},
        {.account = "k", .user = "k2", .shares = "1", .usage = "600"},
    };
    for (int l = 0; l < 3; l++) {
        struct assoc *a = &r.assocs[find(&r, "k", LATE[l].user)];
        int id = a->id;
        *a = LATE[l];
        a->id = id;
    }
    make_tree(&r);
    long double usage[16];
    double factor[16], level[16];
    fair_tree_slurm_sum(&r.tree, r.own, usage);
    fair_tree_slurm(&r.tree, usage, factor, level);
    printf("# compared %d values of a walk with Slurm 22.05.8's log of it\n", compare_walk(&r, factor, level));
    unload(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_column),
        cmocka_unit_test(test_order_of_ties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
