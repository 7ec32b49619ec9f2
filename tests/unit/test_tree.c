/* The association tree: the nodes that compete, their shares, and sums of usage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "policy/tree.h"
#include "tree_text.h"

/* A tree and one of its nodes: the node's fair-share parent, its fair-share children and the sum of their shares. */
struct row {
    const char *tree, *node, *fs_parent, *children;
    uint64_t level_shares;
};

static const struct row ROWS[] = {
    {.tree = "u:3 v:4", .node = "root", .fs_parent = "", .children = "u v", .level_shares = 7},
    {.tree = "u:3 v:4", .node = "u", .fs_parent = "root", .children = "", .level_shares = 0},
    {.tree = "a:10{u:3} b:5{}", .node = "a", .fs_parent = "root", .children = "u", .level_shares = 3},
    {.tree = "a:10{u:3} b:5{}", .node = "b", .fs_parent = "root", .children = "", .level_shares = 0},
    {.tree = "a:10{u:3} b:5{}", .node = "root", .fs_parent = "", .children = "a b", .level_shares = 15},
    /* users with `parent` stay where they are and do not count in the sum */
    {.tree = "a:10{u:p v:2}", .node = "a", .fs_parent = "root", .children = "u v", .level_shares = 2},
    {.tree = "a:10{u:p v:p}", .node = "a", .fs_parent = "root", .children = "u v", .level_shares = 0},
    /* accounts with `parent` give their children to their own fair-share parent, through several levels */
    {.tree = "a:10{u:3 s:p{x:7}}", .node = "a", .fs_parent = "root", .children = "u s x", .level_shares = 10},
    {.tree = "a:10{u:3 s:p{x:7}}", .node = "s", .fs_parent = "a", .children = "", .level_shares = 0},
    {.tree = "a:10{u:3 s:p{x:7}}", .node = "x", .fs_parent = "a", .children = "", .level_shares = 0},
    {.tree = "a:10{s:p{t:p{x:7 y:p}}}", .node = "x", .fs_parent = "a", .children = "", .level_shares = 0},
    {.tree = "a:10{s:p{t:p{x:7 y:p}}}", .node = "a", .fs_parent = "root", .children = "s t x y", .level_shares = 7},
    {.tree = "a:p{b:2{u:1}} c:1{}", .node = "root", .fs_parent = "", .children = "a b c", .level_shares = 3},
    {.tree = "a:p{b:2{u:1}} c:1{}", .node = "u", .fs_parent = "b", .children = "", .level_shares = 0},
    {.tree = "a:p{b:p{u:1}} v:4", .node = "root", .fs_parent = "", .children = "a b u v", .level_shares = 5},
    /* an account without `parent` below one with `parent` competes above, and keeps its children */
    {.tree = "a:3{s:p{b:5{u:1 v:1}}}", .node = "b", .fs_parent = "a", .children = "u v", .level_shares = 2},
    {.tree = "a:0{u:0}", .node = "a", .fs_parent = "root", .children = "u", .level_shares = 0},
    {.tree = "u:2147483646 v:2147483646 w:2147483646",
     .node = "root",
     .fs_parent = "",
     .children = "u v w",
     .level_shares = 6442450938},
};

static void test_views(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        struct text_tree t;
        text_tree_init(&t, ROWS[r].tree);
        uint32_t node = text_tree_find(&t, ROWS[r].node, strlen(ROWS[r].node));
        uint32_t fs_parent = t.tree.fs_parent[node];
        assert_string_equal(fs_parent == NONE ? "" : t.name[fs_parent], ROWS[r].fs_parent);
        char children[TEXT_NODES_MAX * TEXT_NAME_MAX] = "";
        for (uint32_t c = t.tree.child_start[node]; c < t.tree.child_start[node + 1]; c++) {
            if (children[0] != '\0') strcat(children, " ");
            strcat(children, t.name[t.tree.children[c]]);
        }
        assert_string_equal(children, ROWS[r].children);
        assert_true(t.tree.level_shares[node] == ROWS[r].level_shares);
        tree_release(&t.tree);
    }
}

static void test_only_a_root(void **state)
{
    (void)state;
    struct tree t;
    tree_init(&t);
    tree_finish(&t);
    assert_int_equal(t.count, 1);
    assert_int_equal(t.user_count, 0);
    assert_int_equal(t.child_start[1], 0);
    double usage = 5;
    tree_sum_usage(&t, &usage, &usage);
    assert_true(usage == 5);
    tree_release(&t);
}

/* Usage is added to the parent's, whatever its shares. An account's own usage is in its total. */
static void test_sums(void **state)
{
    (void)state;
    struct text_tree t;
    text_tree_init(&t, "a:10=1000{u:3=1 s:p=100{x:7=2 y:1=4} v:1=8} b:5{w:1=16}");
    double total[TEXT_NODES_MAX];
    static const struct {
        const char *name;
        double total;
    } EXPECTED[] = {{"root", 1131}, {"a", 1115}, {"s", 106}, {"x", 2}, {"v", 8}, {"b", 16}, {"w", 16}};
    for (int in_place = 0; in_place < 2; in_place++) {
        tree_sum_usage(&t.tree, t.own, in_place ? t.own : total);
        for (size_t i = 0; i < sizeof EXPECTED / sizeof *EXPECTED; i++) {
            uint32_t node = text_tree_find(&t, EXPECTED[i].name, strlen(EXPECTED[i].name));
            assert_true((in_place ? t.own : total)[node] == EXPECTED[i].total);
        }
    }
    tree_release(&t.tree);
}

/* Sums start at the last index. Two times 1 is lost when added one by one to 2^53, but not when added to each other
 * first. */
static void test_order_of_summing(void **state)
{
    (void)state;
    struct text_tree t;
    double total[TEXT_NODES_MAX];
    text_tree_init(&t, "u:1=1 v:1=1 w:1=9007199254740992");
    tree_sum_usage(&t.tree, t.own, total);
    assert_true(total[0] == 9007199254740992);
    tree_release(&t.tree);
    text_tree_init(&t, "u:1=9007199254740992 v:1=1 w:1=1");
    tree_sum_usage(&t.tree, t.own, total);
    assert_true(total[0] == 9007199254740994);
    tree_release(&t.tree);
}

/* Changing the number of shares keeps the lists. They are rebuilt only when an account gets or loses `parent`, or when
 * a node is added. */
static void test_versions(void **state)
{
    (void)state;
    struct text_tree t;
    text_tree_init(&t, "a:10{u:3 s:4{x:7}}");
    uint32_t a = 1, u = 2, s = 3, x = 4, version = t.tree.lists_version;
    tree_set_shares(&t.tree, u, 5);
    assert_false(t.tree.is_finished);
    tree_finish(&t.tree);
    assert_int_equal(t.tree.level_shares[a], 9);
    assert_int_equal(t.tree.lists_version, version);

    tree_set_shares(&t.tree, u, SHARES_PARENT);
    tree_finish(&t.tree);
    assert_int_equal(t.tree.level_shares[a], 4);
    assert_int_equal(t.tree.lists_version, version);

    tree_set_shares(&t.tree, s, SHARES_PARENT);
    tree_finish(&t.tree);
    assert_int_equal(t.tree.fs_parent[x], a);
    assert_int_equal(t.tree.level_shares[a], 7);
    assert_int_equal(t.tree.lists_version, version + 1);

    tree_set_shares(&t.tree, s, 1);
    tree_finish(&t.tree);
    assert_int_equal(t.tree.fs_parent[x], s);
    assert_int_equal(t.tree.lists_version, version + 2);

    tree_set_shares(&t.tree, s, 1);
    assert_true(t.tree.is_finished);
    tree_finish(&t.tree);
    assert_int_equal(t.tree.lists_version, version + 2);

    assert_int_equal(tree_add(&t.tree, a, true, 1), 5);
    tree_finish(&t.tree);
    assert_int_equal(t.tree.lists_version, version + 3);
    assert_int_equal(t.tree.level_shares[a], 2);
    tree_release(&t.tree);
}

/* Growing keeps the nodes, with tree_finish in between and without. */
static void test_growth(void **state)
{
    (void)state;
    struct tree t;
    tree_init(&t);
    uint32_t account = 0;
    for (uint32_t i = 1; i < 5000; i++) {
        bool is_user = i % 50 != 1;
        uint32_t node = tree_add(&t, is_user ? account : 0, is_user, i);
        assert_int_equal(node, i);
        if (!is_user) account = i;
        if (i % 333 == 0) tree_finish(&t);
    }
    tree_finish(&t);
    assert_int_equal(t.user_count, 4899);
    for (uint32_t i = 1; i < 5000; i++) {
        assert_int_equal(t.shares[i], i);
        assert_int_equal(t.parent[i], i % 50 == 1 ? 0 : (i - 2) / 50 * 50 + 1);
        assert_int_equal(t.depth[i], i % 50 == 1 ? 1 : 2);
    }
    assert_int_equal(t.child_start[1], 100);
    assert_int_equal(t.children[t.child_start[51]], 52);
    tree_release(&t);
}

static void test_deepest(void **state)
{
    (void)state;
    struct tree t;
    tree_init(&t);
    uint32_t account = 0;
    while (t.depth[account] < TREE_DEPTH_MAX) account = tree_add(&t, account, false, 1);
    tree_finish(&t);
    assert_int_equal(account, TREE_DEPTH_MAX);
    tree_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_views),    cmocka_unit_test(test_only_a_root),
        cmocka_unit_test(test_sums),     cmocka_unit_test(test_order_of_summing),
        cmocka_unit_test(test_versions), cmocka_unit_test(test_growth),
        cmocka_unit_test(test_deepest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
