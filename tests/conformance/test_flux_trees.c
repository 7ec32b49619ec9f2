/* Fair Tree against numbers that other projects publish with their tests: flux-accounting's trees, where tied accounts
 * are merged, and Slurm's own tree, where they are not. The tables are not part of this project. The tests read them
 * from $FAIRLEAD_TRACES/fairshare, by default ../shared/traces/fairshare, and are skipped without them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/arena.h"
#include "policy/share_table.h"
#include "rows.h"

enum { NODES_MAX = 64, ROWS_MAX = 256 };

/* A file of several trees. */
struct table {
    char *text;
    struct row rows[ROWS_MAX];
    int count, next;
};

/* One of these trees, its usages, and the rows with the expected values. */
struct published {
    const char *name;
    struct tree tree;
    const struct row *rows[NODES_MAX];
    double usage[NODES_MAX];
};

/* Reads the table, or skips the test. */
static void read_table(struct table *t, const char *file)
{
    const char *traces = getenv("FAIRLEAD_TRACES");
    char path[512];
    snprintf(path, sizeof path, "%s/fairshare/%s", traces != NULL ? traces : "../shared/traces", file);
    *t = (struct table){.text = rows_read(path)};
    if (t->text == NULL) {
        printf("# skip: traces absent: %s\n", path);
        skip();
    }
    char *cursor = t->text;
    while (rows_next(&cursor, '\t', &t->rows[t->count])) assert_true(++t->count < ROWS_MAX);
}

static uint32_t find(const struct published *p, const char *id)
{
    for (uint32_t i = 0; i < p->tree.count; i++) {
        if (strcmp(p->rows[i]->field[2], id) == 0) return i;
    }
    fail_msg("%s: no node %s", p->name, id);
    return 0;
}

/* The next case of an algorithm; false at the end. Columns: case, algorithm, id, parent, account, user, shares,
 * usage */
static bool next_case(struct table *t, const char *algorithm, struct published *out)
{
    while (t->next < t->count && strcmp(t->rows[t->next].field[1], algorithm) != 0) t->next++;
    if (t->next == t->count) return false;
    *out = (struct published){.name = t->rows[t->next].field[0]};
    tree_init(&out->tree);
    for (uint32_t node = 0; t->next < t->count; node++, t->next++) {
        const struct row *row = &t->rows[t->next];
        if (strcmp(row->field[0], out->name) != 0) break;
        assert_true(node < NODES_MAX);
        out->rows[node] = row;
        out->usage[node] = strtod(row->field[7], NULL);
        if (node == 0) continue;
        bool is_parent = strcmp(row->field[6], "parent") == 0;
        uint32_t shares = is_parent ? SHARES_PARENT : (uint32_t)strtoul(row->field[6], NULL, 10);
        tree_add(&out->tree, find(out, row->field[3]), row->field[5][0] != '\0', shares);
    }
    tree_finish(&out->tree);
    return true;
}

/* Published numbers have six decimals. */
static void compare(const struct published *p, uint32_t node, const char *text, double ours, int *count)
{
    if (text[0] == '\0') return;
    double theirs = strtod(text, NULL);
    if (!(ours == theirs || fabs(ours - theirs) <= 0.5000001e-6)) {
        fail_msg("%s, node %s: %.9g, published %s", p->name, p->rows[node]->field[2], ours, text);
    }
    ++*count;
}

/* Usages are totals. A published rank is a position in a sequence in which the order of ties is arbitrary: a node with
 * a lower rank never has a lower factor. */
static void test_flux_accounting(void **state)
{
    (void)state;
    struct table table;
    read_table(&table, "flux_trees.tsv");
    struct published p;
    int cases = 0, factors = 0, ranks = 0;
    while (next_case(&table, "fair-tree", &p)) {
        double factor[NODES_MAX];
        fair_tree_rank(&p.tree, p.usage, NULL, factor);
        for (uint32_t i = 0; i < p.tree.count; i++) {
            compare(&p, i, p.rows[i]->field[8], factor[i], &factors);
            int rank = atoi(p.rows[i]->field[9]);
            if (rank == 0) continue;
            ranks++;
            for (uint32_t j = 0; j < p.tree.count; j++) {
                if (atoi(p.rows[j]->field[9]) > rank && factor[j] > factor[i]) {
                    fail_msg("%s: node %s is before node %s", p.name, p.rows[j]->field[2], p.rows[i]->field[2]);
                }
            }
        }
        tree_release(&p.tree);
        cases++;
    }
    printf("# compared %d factors and %d ranks of flux-accounting's %d trees, ties merged\n", factors, ranks, cases);
    assert_int_equal(cases, 5);
    assert_int_equal(factors, 24);
    assert_int_equal(ranks, 38);
    free(table.text);
}

/* Usages are those of the leaves. The next columns are norm_shares, raw_usage, norm_usage, effective_usage, fairshare,
 * level_fs. */
static void test_slurm_own_tree(void **state)
{
    (void)state;
    struct table table;
    read_table(&table, "slurm_trees.tsv");
    struct published p;
    int cases = 0, values = 0;
    while (next_case(&table, "fair-tree", &p)) {
        struct arena arena = {0};
        struct share_table s;
        share_table_compute(&p.tree, p.usage, NULL, TIES_SLURM, NULL, NULL, &arena, &s);
        for (uint32_t i = 0; i < p.tree.count; i++) {
            char *const *expected = &p.rows[i]->field[8];
            compare(&p, i, expected[0], s.norm_shares[i], &values);
            compare(&p, i, expected[1], s.raw_usage[i], &values);
            compare(&p, i, expected[2], s.norm_usage[i], &values);
            compare(&p, i, expected[3], s.effective_usage[i], &values);
            compare(&p, i, expected[4], s.fair_share[i], &values);
            compare(&p, i, expected[5], s.level_fs[i], &values);
        }
        arena_release(&arena);
        tree_release(&p.tree);
        cases++;
    }
    printf("# compared %d values of Slurm's own Fair Tree test, ties as in Slurm\n", values);
    assert_int_equal(cases, 1);
    assert_int_equal(values, 191);
    free(table.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flux_accounting),
        cmocka_unit_test(test_slurm_own_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
