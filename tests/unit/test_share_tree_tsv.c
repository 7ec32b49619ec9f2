/* The tab-separated share tree: the tree that a text becomes, the order of its rows, and the errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "formats/share_tree_tsv.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])
#define HEAD "parent\taccount\tuser\tshares\tusage\n"

struct row {
    const char *text;
    const char *expected; /* the tree as print_tree prints it, or the error */
};

/* "account/user parent depth shares usage;" for each row in the order of the text, then the depth-first order. */
static void print_tree(const struct share_tree_tsv *t, struct buf *out)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const struct share_tree_tsv_row *r = &t->rows[i];
        buf_format(out, "%.*s", (int)r->account.length, r->account.text);
        if (r->user.length > 0) buf_format(out, "/%.*s", (int)r->user.length, r->user.text);
        if (r->parent == NONE) {
            buf_add_text(out, " -");
        } else {
            buf_format(out, " %u", r->parent);
        }
        buf_format(out, " %u ", r->depth);
        if (r->shares.is_parent) {
            buf_add_text(out, "parent");
        } else {
            buf_add_u64(out, r->shares.number);
        }
        buf_format(out, " %g;", r->usage);
    }
    for (uint32_t i = 0; i < t->count; i++) buf_format(out, " %u", t->order[i]);
}

static void check(const struct row *row)
{
    struct arena arena = {0};
    struct share_tree_tsv read = {.count = 12345};
    struct source source = {"f", str(row->text)};
    struct err e = {0};
    struct buf got = {0};
    if (share_tree_tsv_parse(&source, &arena, &read, &e) == 0) {
        print_tree(&read, &got);
        assert_int_equal(e.code, ERR_NONE);
    } else {
        buf_add_text(&got, ERR_SENTENCE(&e));
        assert_int_equal(e.code, ERR_INPUT);
        assert_int_equal(read.count, 12345);
    }
    assert_string_equal(got.text, row->expected);
    buf_release(&got);
    arena_release(&arena);
}

static const struct row trees[] = {
    {HEAD "root\ta\t\t40\t\n\ta\tu\tparent\t2.5\n", "a - 1 40 0;a/u 0 2 parent 2.5; 0 1"},
    {HEAD "root\ta\t\t40\t7\n", "a - 1 40 7; 0"},
    {HEAD "\troot\troot\t1\t0\n", "root/root - 1 1 0; 0"},
    /* children before parents; siblings keep the order of the text */
    {HEAD "\tc\tu\t1\t1\nb\tc\t\t2\t\na\tb\t\t3\t\nroot\ta\t\t4\t\nroot\td\t\t5\t\n\ta\tv\t6\t\n",
     "c/u 1 4 1 1;c 2 3 2 0;b 3 2 3 0;a - 1 4 0;d - 1 5 0;a/v 3 2 6 0; 3 2 1 0 5 4"},
    {HEAD "root\ta\t\t1\t\nroot\tb\t\t1\t\n\tb\tu\t1\t\n\ta\tu\t1\t\na\tc\t\t1\t\n\tc\tu\t1\t\n\ta\tv\t1\t\n",
     "a - 1 1 0;b - 1 1 0;b/u 1 2 1 0;a/u 0 2 1 0;c 0 2 1 0;c/u 4 3 1 0;a/v 0 2 1 0; 0 3 4 5 6 1 2"},
    /* a user's line may name the parent; columns in any order; comments, blank lines, CR LF, no end of line */
    {HEAD "root\ta\t\t1\t\na\tb\t\t1\t\na\tb\tu\t1\t\nroot\ta\tw\t1\t\n",
     "a - 1 1 0;b 0 2 1 0;b/u 1 3 1 0;a/w 0 2 1 0; 0 1 2 3"},
    {"# c\r\n\r\nusage\tshares\tuser\tACCOUNT\tparent\r\n#\r\n\r\n5\t0\t\ta\troot\r\n-0\tParent\tu\ta\t",
     "a - 1 0 5;a/u 0 2 parent 0; 0 1"},
    {HEAD "root\t\xc3\xa9t\xc3\xa9 1\t\t2147483646\t1e300\n", "\xc3\xa9t\xc3\xa9 1 - 1 2147483646 1e+300; 0"},
};

static void test_trees(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(trees); i++) check(&trees[i]);
}

static const struct row errors[] = {
    {"", "f:1:1: the text is empty"},
    {"# only\n", "f:1:1: the text has no header line"},
    {HEAD, "f:2:1: no line follows the header"},
    {"parent\taccount\tuser\tshares\n", "f:1:1: header: the column 'usage' is missing"},
    {"parent\taccount\tuser\tshares\tusage\tcolour\n",
     "f:1:34: header: 'colour' is not a known column (parent, account, user, shares, usage)"},
    {"parent\taccount\tuser\tshares\tusage\tuser\n", "f:1:34: header: 'user' is named twice"},
    {HEAD "root\ta\t\t40\n", "f:2:11: the line has 4 fields, but the header has 5"},
    {HEAD "root\ta\t\t40\t1\t2\n", "f:2:14: the line has more fields than the header, which has 5"},
    {HEAD "root\t\t\t40\t1\n", "f:2:6: account: the name is empty"},
    {HEAD "\t\tu\t40\t1\n", "f:2:2: account: the name is empty"},
    {HEAD "root\t a\t\t40\t1\n", "f:2:6: account: ' a' begins or ends with a blank"},
    {HEAD "root\ta|b\t\t40\t1\n", "f:2:7: account: 'a|b' contains '|', which separates columns"},
    {HEAD "root\t#a\t\t40\t1\n", "f:2:6: account: '#a' begins with '#', which starts a comment"},
    {HEAD "root\ta\x01\t\t40\t1\n", "f:2:6: account: 'a?' contains control characters or invalid UTF-8"},
    {HEAD "root\ta\xc3\t\t40\t1\n", "f:2:6: account: 'a?' contains control characters or invalid UTF-8"},
    {HEAD "\troot\tu\xc2\x85\t40\t1\n", "f:2:7: user: 'u?\?' contains control characters or invalid UTF-8"},
    {HEAD "root\ta\t\t\t1\n", "f:2:9: shares: '' is not a whole number from 0 to 2147483646 or 'parent'"},
    {HEAD "root\ta\t\t+1\t1\n", "f:2:9: shares: '+1' is not a whole number from 0 to 2147483646 or 'parent'"},
    {HEAD "root\ta\t\t99999999999999999999\t1\n",
     "f:2:9: shares: '99999999999999999999' is not a whole number from 0 to 2147483646 or 'parent'"},
    {HEAD "root\ta\t\t1\t-0.5\n", "f:2:11: usage: '-0.5' is not a number from 0 to 1e300"},
    {HEAD "root\ta\t\t1\t1,5\n", "f:2:11: usage: '1,5' is not a number from 0 to 1e300"},
    {HEAD "root\ta\t\t1\t1e301\n", "f:2:11: usage: '1e301' is not a number from 0 to 1e300"},
    {HEAD "root\troot\t\t1\t1\n", "f:2:6: account 'root' is implied; remove this line"},
    {HEAD "\ta\t\t1\t1\n", "f:2:1: account 'a' names no parent; name an account or root"},
    {HEAD "root\ta\t\t1\t1\nroot\ta\t\t1\t1\n", "f:3:6: account 'a' has two lines"},
    {HEAD "root\ta\t\t1\t1\n\ta\tu\t1\t1\n\ta\tu\t2\t1\n", "f:4:4: user 'u' has two lines in account 'a'"},
    {HEAD "\troot\tu\t1\t1\n\troot\tu\t2\t1\n", "f:3:7: user 'u' has two lines in account 'root'"},
    {HEAD "zz\ta\t\t1\t1\n", "f:2:1: account 'a': parent: 'zz' has no line"},
    {HEAD "\tzz\tu\t1\t1\n", "f:2:2: user 'u': account: 'zz' has no line"},
    {HEAD "root\ta\t\t1\t1\nx\ta\tu\t1\t1\n",
     "f:3:1: user 'u': parent: 'x' is not the parent of the user's account; leave it empty"},
    {HEAD "root\troot\tu\t1\t1\n",
     "f:2:1: user 'u': parent: 'root' is not the parent of the user's account; leave it empty"},
    {HEAD "a\ta\t\t1\t1\n", "f:2:3: the accounts form a cycle: a -> a"},
    {HEAD "root\tx\t\t1\t\n\tc\tu\t1\t1\nd\tc\t\t1\t1\na\tb\t\t1\t1\nb\ta\t\t1\t1\nb\td\t\t1\t1\n",
     "f:5:3: the accounts form a cycle: b -> a -> b"},
};

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(errors); i++) check(&errors[i]);
}

/* A chain of accounts with a user at its end, written from the deepest one up. */
static int parse_chain(uint32_t accounts, struct err *e)
{
    struct buf text = {0};
    buf_format(&text, HEAD "\ta%u\tu\t1\t1\n", accounts - 1);
    for (uint32_t i = accounts; --i > 0;) buf_format(&text, "a%u\ta%u\t\t1\t\n", i - 1, i);
    buf_add_text(&text, "root\ta0\t\t1\t\n");

    struct arena arena = {0};
    struct source source = {"f", {text.text, text.length}};
    struct share_tree_tsv read;
    int status = share_tree_tsv_parse(&source, &arena, &read, e);
    if (status == 0) {
        assert_int_equal(read.rows[0].depth, accounts + 1);
        assert_int_equal(read.order[0], accounts);
        assert_int_equal(read.order[accounts], 0);
    }
    arena_release(&arena);
    buf_release(&text);
    return status;
}

static void test_depth(void **state)
{
    (void)state;
    struct err e = {0};
    assert_int_equal(parse_chain(1, &e), 0);
    assert_int_equal(parse_chain(63, &e), 0);
    assert_int_equal(parse_chain(64, &e), -1);
    assert_string_equal(ERR_SENTENCE(&e), "f:2:6: user 'u' is more than 64 levels below the root");
    assert_int_equal(parse_chain(65, &e), -1);
    assert_int_equal(parse_chain(100000, &e), -1);
}

/* The error of a long cycle has as many names as fit, and the right line. */
static void test_long_cycle(void **state)
{
    (void)state;
    struct buf text = {0};
    buf_add_text(&text, HEAD);
    for (uint32_t i = 0; i < 1000; i++) buf_format(&text, "account%u\taccount%u\t\t1\t\n", (i + 1) % 1000, i);
    struct arena arena = {0};
    struct source source = {"f", {text.text, text.length}};
    struct share_tree_tsv read;
    struct err e = {0};
    assert_int_equal(share_tree_tsv_parse(&source, &arena, &read, &e), -1);
    static const char begin[] = "f:2:10: the accounts form a cycle: account0 -> account1 -> account2 -> ";
    assert_memory_equal(ERR_SENTENCE(&e), begin, sizeof begin - 1);
    arena_release(&arena);
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_long_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
