/* The node of a user's jobs in a share tree, and the trees that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "policy/share_nodes.h"

struct node {
    uint32_t depth;
    const char *name;
};

enum { NODES_MAX = 12 };

static int build(struct share_nodes *t, const struct node *nodes, const struct map *projects, struct err *e)
{
    uint32_t above[NODES_MAX] = {0};
    share_nodes_init(t);
    for (const struct node *n = nodes; n->name != NULL; n++) {
        above[n->depth] = share_nodes_add(t, n->depth == 0 ? NONE : above[n->depth - 1], n->name, 1);
    }
    return share_nodes_finish(t, projects, e);
}

static void setup_projects(struct map *projects)
{
    *projects = (struct map){0};
    for (uint32_t p = 0; p < 3; p++) map_set(projects, str((const char *[]){"P1", "P2", "P3"}[p]), p);
}

/* docs/formulas.md 5.1. */
static void test_nodes_of_jobs(void **state)
{
    (void)state;
    static const struct node TREE[] = {{0, "Root"},    {1, "P1"},      {2, "grp"},     {3, "ua"},
                                       {2, "default"}, {1, "P2"},      {1, "default"}, {1, "g"},
                                       {2, "uc"},      {2, "default"}, {2, "ud"},      {0, NULL}};
    static const struct {
        const char *user, *project;
        uint32_t node;
        bool is_default;
    } ROWS[] = {
        {.user = "uc", .node = 8},
        {.user = "ud", .node = 10},
        {.user = "ua", .node = 6, .is_default = true},
        {.user = "nobody", .node = 6, .is_default = true},
        {.user = "P1", .node = 6, .is_default = true},
        {.user = "grp", .node = 6, .is_default = true},
        {.user = "Root", .node = 6, .is_default = true},
        {.user = "default", .node = 6},
        {.user = "ua", .project = "P1", .node = 3},
        {.user = "uc", .project = "P1", .node = 4, .is_default = true},
        {.user = "grp", .project = "P1", .node = 4, .is_default = true},
        {.user = "ua", .project = "P2", .node = 5},
        {.user = "uc", .project = "P2", .node = 5},
        {.user = "ua", .project = "P3", .node = NONE},
        {.user = "ua", .project = "other", .node = NONE},
    };
    struct share_nodes t;
    struct map projects;
    struct err e;
    setup_projects(&projects);
    assert_int_equal(build(&t, TREE, &projects, &e), 0);
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        bool is_default;
        uint32_t node = share_nodes_serve(&t, ROWS[r].user, ROWS[r].project, &is_default);
        if (node != ROWS[r].node || is_default != ROWS[r].is_default)
            fail_msg("%s in %s: node %d, default %d", ROWS[r].user, ROWS[r].project ? ROWS[r].project : "no project",
                     (int)node, is_default);
    }
    assert_true(t.nodes.items[1].is_project && t.nodes.items[5].is_project && !t.nodes.items[2].is_project);
    assert_true(t.nodes.items[5].is_leaf && !t.nodes.items[1].is_leaf);
    share_nodes_release(&t);
    map_release(&projects);
}

static void test_no_default(void **state)
{
    (void)state;
    static const struct node TREE[] = {{0, "Root"}, {1, "ua"}, {1, "P1"}, {2, "ub"}, {0, NULL}},
                             ROOT[] = {{0, "Root"}, {0, NULL}};
    struct share_nodes t;
    struct map projects;
    struct err e;
    bool is_default;
    setup_projects(&projects);
    assert_int_equal(build(&t, TREE, &projects, &e), 0);
    assert_int_equal(share_nodes_serve(&t, "ub", NULL, &is_default), NONE);
    assert_int_equal(share_nodes_serve(&t, "ua", "P1", &is_default), NONE);
    share_nodes_release(&t);

    assert_int_equal(build(&t, ROOT, NULL, &e), 0);
    assert_int_equal(share_nodes_serve(&t, "Root", NULL, &is_default), NONE);
    share_nodes_release(&t);
    share_nodes_init(&t);
    assert_int_equal(share_nodes_finish(&t, NULL, &e), 0);
    assert_int_equal(share_nodes_serve(&t, "ua", NULL, &is_default), NONE);
    share_nodes_release(&t);
    map_release(&projects);
}

/* Outside projects the first `default` serves; each project may have one beside it. */
static void test_several_defaults(void **state)
{
    (void)state;
    static const struct node TREE[] = {{0, "Root"}, {1, "P1"},      {2, "default"}, {1, "g"},       {2, "default"},
                                       {1, "h"},    {2, "default"}, {1, "P2"},      {2, "default"}, {0, NULL}};
    struct share_nodes t;
    struct map projects;
    struct err e;
    bool is_default = false;
    setup_projects(&projects);
    assert_int_equal(build(&t, TREE, &projects, &e), 0);
    assert_int_equal(share_nodes_serve(&t, "ua", NULL, &is_default), 4);
    assert_true(is_default);
    assert_int_equal(share_nodes_serve(&t, "ua", "P1", &is_default), 2);
    assert_int_equal(share_nodes_serve(&t, "ua", "P2", &is_default), 8);
    share_nodes_release(&t);
    map_release(&projects);
}

/* The set of projects can change; the tree is then finished again. */
static void test_finish_again(void **state)
{
    (void)state;
    static const struct node TREE[] = {{0, "Root"}, {1, "P1"}, {2, "ua"}, {0, NULL}};
    struct share_nodes t;
    struct map projects;
    struct err e;
    bool is_default;
    setup_projects(&projects);
    assert_int_equal(build(&t, TREE, NULL, &e), 0);
    assert_int_equal(share_nodes_serve(&t, "ua", NULL, &is_default), 2);
    assert_int_equal(share_nodes_finish(&t, &projects, &e), 0);
    assert_int_equal(share_nodes_serve(&t, "ua", NULL, &is_default), NONE);
    assert_int_equal(share_nodes_serve(&t, "ua", "P1", &is_default), 2);
    share_nodes_release(&t);
    map_release(&projects);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        struct node tree[NODES_MAX];
        const char *text;
    } ROWS[] = {
        {{{0, "Root"}, {1, "P1"}, {2, "g"}, {3, "P2"}}, "'P2' is a project inside project 'P1'"},
        {{{0, "Root"}, {1, "g"}, {2, "P1"}, {1, "P1"}}, "'P1' is a project and occurs twice"},
        {{{0, "Root"}, {1, "ua"}, {1, "ua"}}, "'ua' occurs twice below 'Root'"},
        {{{0, "Root"}, {1, "g"}, {2, "ua"}, {1, "g"}, {2, "ub"}}, "'g' occurs twice below 'Root'"},
        {{{0, "Root"}, {1, "ua"}, {1, "g"}, {2, "ua"}}, "'ua' is a user and occurs twice outside projects"},
        {{{0, "Root"}, {1, "P1"}, {2, "ua"}, {2, "g"}, {3, "ua"}},
         "'ua' is a user and occurs twice inside project 'P1'"},
        {{{0, "Root"}, {1, "P1"}, {2, "default"}, {2, "g"}, {3, "default"}},
         "'default' occurs twice inside project 'P1'"},
    };
    struct map projects;
    setup_projects(&projects);
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        struct share_nodes t;
        struct err e = {0};
        assert_int_equal(build(&t, ROWS[r].tree, &projects, &e), -1);
        assert_int_equal(e.code, ERR_INPUT);
        if (strstr(ERR_SENTENCE(&e), ROWS[r].text) == NULL)
            fail_msg("\"%s\", expected \"%s\"", ERR_SENTENCE(&e), ROWS[r].text);
        share_nodes_release(&t);
    }
    map_release(&projects);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_of_jobs),    cmocka_unit_test(test_no_default),
        cmocka_unit_test(test_several_defaults), cmocka_unit_test(test_finish_again),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
