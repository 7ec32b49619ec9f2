/* Ranks the users of a small tree.
 *
 *     cc rank.c $(pkg-config --cflags --libs fairlead) -o rank && ./rank */
#include <fairlead.h>
#include <stdio.h>

static const struct {
    const char *name;
    uint32_t parent, shares;
    double usage; /* CPU seconds so far; 0 for accounts */
} rows[] = {{"root", 0, 1, 0},   {"physics", 0, 60, 0}, {"biology", 0, 40, 0},
            {"ann", 1, 2, 5000}, {"ben", 1, 1, 4000},   {"cleo", 2, 1, 3000}};

int main(void)
{
    struct fl_tree *tree;
    const uint32_t *users;
    uint32_t count;
    int result = fl_tree_new(&tree); /* it has the root */
    for (uint32_t i = 1; i < 6 && result == FL_OK; i++) {
        result = fl_tree_add(tree, rows[i].parent, rows[i].usage > 0 ? FL_USER : FL_ACCOUNT, rows[i].shares, NULL);
        if (result == FL_OK) result = fl_tree_charge(tree, i, rows[i].usage, 0);
    }
    if (result == FL_OK) result = fl_tree_rank(tree, 0, NULL);
    if (result == FL_OK) result = fl_tree_order(tree, &users, &count);
    if (result != FL_OK) return fprintf(stderr, "rank: %s\n", fl_result_text(result)), 1;
    for (uint32_t i = 0; i < count; i++) {
        struct fl_share s;
        fl_tree_share(tree, users[i], &s);
        printf("%u. %-5s factor %.3f, level %.3f\n", s.rank, rows[users[i]].name, s.factor, s.level);
    }
    struct fl_comparison c;
    fl_tree_compare(tree, users[0], users[1], &c);
    printf("%s comes before %s: %s has level %.3f, %s %.3f\n", rows[users[0]].name, rows[users[1]].name,
           rows[c.a_node].name, c.a_value, rows[c.b_node].name, c.b_value);
    fl_tree_free(tree);
    return 0;
}
