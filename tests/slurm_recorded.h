/* The recorded trees of Slurm 22.05.8 for the conformance tests: the input as a tree in Slurm's order, and the recorded
 * rows (conformance/slurm/ORIGIN.md). A missing file or association fails the test with its name. */
#ifndef FAIRLEAD_TESTS_SLURM_RECORDED_H
#define FAIRLEAD_TESTS_SLURM_RECORDED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "policy/tree.h"
#include "rows.h"

#define SLURM_CASES_FOLDER "tests/conformance/slurm/"

static const double SLURM_NOT_SET = 4294967294;

struct assoc {
    const char *account, *user, *parent, *shares, *usage;
    int id;
};

/* A recorded tree, in Slurm's order. Texts point into input and order, the contents of the files. */
struct recorded {
    char *input, *order;
    struct assoc *assocs;
    uint32_t count;
    struct tree tree;
    double *own;
};

static inline char *recorded_text(const char *name, const char *file)
{
    char path[256];
    snprintf(path, sizeof path, SLURM_CASES_FOLDER "%s/%s", name, file);
    char *text = rows_read(path);
    if (text == NULL) fail_msg("cannot read %s", path);
    return text;
}

static inline uint32_t recorded_find(const struct recorded *r, const char *account, const char *user)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (strcmp(r->assocs[i].account, account) == 0 && strcmp(r->assocs[i].user, user) == 0) return i;
    }
    fail_msg("no association %s/%s", account, user);
    return 0;
}

static inline void recorded_read_order(struct recorded *r)
{
    struct row row;
    char *cursor = r->order;
    r->assocs = calloc(strlen(r->order), sizeof *r->assocs);
    rows_next(&cursor, '\t', &row);
    while (rows_next(&cursor, '\t', &row)) {
        r->assocs[r->count++] = (struct assoc){.account = row.field[2], .user = row.field[3], .id = atoi(row.field[1])};
    }
}

static inline void recorded_read_input(struct recorded *r)
{
    struct row row;
    char *cursor = r->input;
    rows_next(&cursor, '\t', &row);
    while (rows_next(&cursor, '\t', &row)) {
        struct assoc *a = &r->assocs[recorded_find(r, row.field[1], row.field[2])];
        a->parent = row.field[0];
        a->shares = row.field[3];
        a->usage = row.field[4];
    }
}

/* Parents come first in Slurm's order, so each row can be added as a node. */
static inline void recorded_make_tree(struct recorded *r)
{
    tree_init(&r->tree);
    r->own = calloc(r->count, sizeof *r->own);
    assert_string_equal(r->assocs[0].account, "root");
    for (uint32_t i = 1; i < r->count; i++) {
        const struct assoc *a = &r->assocs[i];
        bool is_user = a->user[0] != '\0';
        uint32_t shares = strcmp(a->shares, "parent") == 0 ? SHARES_PARENT : (uint32_t)strtoul(a->shares, NULL, 10);
        uint32_t node = tree_add(&r->tree, recorded_find(r, is_user ? a->account : a->parent, ""), is_user, shares);
        assert_int_equal(node, i);
        r->own[i] = strtod(a->usage, NULL);
    }
    tree_finish(&r->tree);
}

static inline struct recorded recorded_load(const char *name, const char *order)
{
    struct recorded r = {.input = recorded_text(name, "input.tsv"), .order = recorded_text(name, order)};
    recorded_read_order(&r);
    recorded_read_input(&r);
    return r;
}

static inline void recorded_unload(struct recorded *r)
{
    tree_release(&r->tree);
    free(r->own);
    free(r->assocs);
    free(r->input);
    free(r->order);
}

/* The node of a row that sshare printed. */
static inline uint32_t recorded_find_id(const struct recorded *r, const char *id)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (r->assocs[i].id == atoi(id)) return i;
    }
    fail_msg("no association has the id %s", id);
    return NONE;
}

static const char *const SLURM_CASES[] = {
    "00-textbook",       "01-textbook-root",  "02-textbook-capacity", "03-accounts-tied",     "04-user-account-tied",
    "05-zero",           "06-parent",         "07-all-zero",          "08-proportional-ties", "09-wide-shares",
    "10-random-d1-u20",  "12-random-d2-u60",  "14-random-d3-u90",     "16-random-d4-u80",     "18-random-d4-u300",
    "20-random-d5-u250", "22-random-d6-u200", "24-tie-order",
};
enum { SLURM_CASE_COUNT = sizeof SLURM_CASES / sizeof *SLURM_CASES };

#endif
