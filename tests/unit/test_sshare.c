/* The output of sshare: the tree that a text becomes, and the errors with their positions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "formats/sshare.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])
#define HEAD "Account|User|RawShares|RawUsage\n"

struct row {
    const char *text;
    const char *expected; /* the tree as print_tree prints it, or the error */
};

/* "account/user/partition parent depth.indent shares usage;" for each row. */
static void print_tree(const struct sshare *s, struct buf *out)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const struct sshare_row *r = &s->rows[i];
        buf_format(out, "%.*s", (int)r->account.length, r->account.text);
        if (r->user.length > 0) buf_format(out, "/%.*s", (int)r->user.length, r->user.text);
        if (r->partition.length > 0) buf_format(out, "/%.*s", (int)r->partition.length, r->partition.text);
        if (i == s->root) {
            buf_add_text(out, " root");
        } else if (r->parent == NONE) {
            buf_add_text(out, " -");
        } else {
            buf_format(out, " %u", r->parent);
        }
        buf_format(out, " %u.%u ", r->depth, r->indent);
        if (r->shares.is_missing) {
            buf_add_text(out, "none");
        } else if (r->shares.is_parent) {
            buf_add_text(out, "parent");
        } else {
            buf_add_u64(out, r->shares.number);
        }
        buf_format(out, " %g;", r->usage);
    }
}

static void check(const struct row *row)
{
    struct arena arena = {0};
    struct sshare read = {.count = 12345};
    struct source source = {"f", str(row->text)};
    struct err e = {0};
    struct buf got = {0};
    if (sshare_parse(&source, &arena, &read, &e) == 0) {
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
    {HEAD "root|||9\n a||40|9\n  a|u1|parent|8\n", "root root 0.0 none 9;a - 1.1 40 9;a/u1 1 2.2 parent 8;"},
    {HEAD "root|||9\n root|root|1|0\n a||40|9\n", "root root 0.0 none 9;root/root - 1.1 1 0;a - 1.1 40 9;"},
    {HEAD "root|||9\n a||1|9\n  b||2|9\n   c||3|9\n  d||4|0\n e||5|0\n",
     "root root 0.0 none 9;a - 1.1 1 9;b 1 2.2 2 9;c 2 3.3 3 9;d 1 2.2 4 0;e - 1.1 5 0;"},
    {HEAD "root||1|9\n", "root root 0.0 1 9;"},
    {HEAD "root|||1.5e3\n", "root root 0.0 none 1500;"},
    /* the header of sshare -a -l -p, other orders, other columns, CR LF, blank lines, comments, a byte order mark */
    {"Account|User|RawShares|NormShares|RawUsage|\nroot|||x|5|\n a||0|x|5|\n", "root root 0.0 none 5;a - 1.1 0 5;"},
    {"RawUsage|X|User|RawShares|Account\n5||||root\n5|x||0| a\n", "root root 0.0 none 5;a - 1.1 0 5;"},
    {"account|USER|rawshares|RAWUSAGE\nroot|||5\n", "root root 0.0 none 5;"},
    {"Account|User|RawShares|RawUsage\r\nroot|||9\r\n\r\n a||PARENT|9\r\n", "root root 0.0 none 9;a - 1.1 parent 9;"},
    {"\xef\xbb\xbf# made by\n\n  \n" HEAD "root|||9", "root root 0.0 none 9;"},
    {"Account|User|Partition|RawShares|RawUsage\nroot||||9\n a|||1|9\n  a|u|fast|1|4\n  a|u|slow|2|5\n",
     "root root 0.0 none 9;a - 1.1 1 9;a/u/fast 1 2.2 1 4;a/u/slow 1 2.2 2 5;"},
    /* a second row of a user is a partition association */
    {HEAD "root|||9\n a||1|9\n  a|u|1|4\n  a|u|2|5\n", "root root 0.0 none 9;a - 1.1 1 9;a/u 1 2.2 1 4;a/u 1 2.2 2 5;"},
    /* filtered: no root, and the first account at the left edge, or one further as in Fairlead's own listing */
    {HEAD "b||30|5\n b|u|1|5\n c||10|0\nd||1|2\n", "b - 1.0 30 5;b/u 0 2.1 1 5;c 0 2.1 10 0;d - 1.0 1 2;"},
    {HEAD " b||30|5\n  b|u|1|5\n root|r|1|0\n", "b - 1.1 30 5;b/u 0 2.2 1 5;root/r - 1.1 1 0;"},
    {HEAD "root|||7\nc||10|7\n c|u|1|7\n", "root root 0.0 none 7;c - 1.0 10 7;c/u 1 2.1 1 7;"},
    {HEAD "c||10|7\nroot|||7\n", "c - 1.0 10 7;root root 0.0 none 7;"},
    /* the nearest account of that name above; a user of an outer account after an inner account */
    {HEAD "root|||9\n a||1|9\n  x||1|4\n b||1|9\n  x||2|5\n   x|u|1|5\n",
     "root root 0.0 none 9;a - 1.1 1 9;x 1 2.2 1 4;b - 1.1 1 9;x 3 2.2 2 5;x/u 4 3.3 1 5;"},
    {HEAD "root|||9\n a||1|9\n  b||1|4\n  a|u|1|5\n  c||1|0\n",
     "root root 0.0 none 9;a - 1.1 1 9;b 1 2.2 1 4;a/u 1 2.2 1 5;c 1 2.2 1 0;"},
    {HEAD "root|||9\n caf\xc3\xa9 x||2147483646|1e300\n",
     "root root 0.0 none 9;caf\xc3\xa9 x - 1.1 2147483646 1e+300;"},
};

static void test_trees(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(trees); i++) check(&trees[i]);
}

static const struct row errors[] = {
    {"", "f:1:1: the text is empty"},
    {"\n# only\n", "f:1:1: the text has no header line"},
    {HEAD, "f:2:1: no row follows the header"},
    {"Account|User|RawShares\nroot||\n", "f:1:1: header: the column 'RawUsage' is missing"},
    {"# x\nUser|RawShares|RawUsage\n", "f:2:1: header: the column 'Account' is missing"},
    {"Account|User|User|RawShares|RawUsage\n", "f:1:14: header: 'User' is named twice"},
    {HEAD "root||\n", "f:2:7: the line has 3 fields, but the header has 4"},
    {HEAD "root|||9|\n", "f:2:10: the line has more fields than the header, which has 4"},
    {"Account|User|RawShares|RawUsage|\nroot|||9|x\n", "f:2:10: 'x' follows the last column"},
    {"Account|User|RawShares|RawUsage|\nroot|||9\n", "f:2:9: the line has 4 fields, but the header has 5"},
    {HEAD "|||9\n", "f:2:1: account: the name is empty"},
    {HEAD "  |||9\n", "f:2:3: account: the name is empty"},
    {HEAD "root|||9\n a ||1|9\n", "f:3:2: account: 'a ' begins or ends with a blank"},
    {HEAD "root|||9\n a\t||1|9\n", "f:3:2: account: 'a?' contains control characters or invalid UTF-8"},
    {HEAD "root|||9\n a\xff||1|9\n", "f:3:2: account: 'a?' contains control characters or invalid UTF-8"},
    {HEAD "root|||9\n a||1|9\n  a|\x1b[1m|1|9\n", "f:4:5: user: '?[1m' contains control characters or invalid UTF-8"},
    {HEAD "root|||9\n a||-1|9\n", "f:3:5: shares: '-1' is not a whole number from 0 to 2147483646 or 'parent'"},
    {HEAD "root|||9\n a||1.5|9\n", "f:3:5: shares: '1.5' is not a whole number from 0 to 2147483646 or 'parent'"},
    {HEAD "root|||9\n a||2147483647|9\n",
     "f:3:5: shares: '2147483647' is not a whole number from 0 to 2147483646 or 'parent'"},
    {HEAD "root|||9\n a|||9\n", "f:3:5: shares: '' is not a whole number from 0 to 2147483646 or 'parent'"},
    {HEAD "root|||9\n root|u||9\n", "f:3:9: shares: '' is not a whole number from 0 to 2147483646 or 'parent'"},
    {HEAD "root|||\n", "f:2:8: usage: '' is not a number from 0 to 1e300"},
    {HEAD "root|||-5\n", "f:2:8: usage: '-5' is not a number from 0 to 1e300"},
    {HEAD "root|||inf\n", "f:2:8: usage: 'inf' is not a number from 0 to 1e300"},
    {HEAD "root|||nan\n", "f:2:8: usage: 'nan' is not a number from 0 to 1e300"},
    {HEAD "root|||1.1e300\n", "f:2:8: usage: '1.1e300' is not a number from 0 to 1e300"},
    {HEAD "root|||1e999\n", "f:2:8: usage: '1e999' is not a number from 0 to 1e300"},
    {HEAD "root|||12x\n", "f:2:8: usage: '12x' is not a number from 0 to 1e300"},
    {HEAD "root|||9\nroot|||9\n", "f:3:1: account 'root' has two rows"},
    {HEAD "root|||9\n a||1|9\n  root||1|9\n", "f:4:3: account 'root' is below another account"},
    {HEAD "root|||9\n  a||1|9\n", "f:3:3: account 'a' is indented by 2 below an account that is indented by 0"},
    {HEAD "root|||9\n a||1|9\n    b||1|9\n",
     "f:4:5: account 'b' is indented by 4 below an account that is indented by 1"},
    {HEAD "root|||9\n caf\xc3\xa9||1|9\n    b|x|y\n", "f:4:10: the line has 3 fields, but the header has 4"},
    {HEAD "root|||9\n a||1|9\n a||2|9\n", "f:4:2: account 'a' has two rows below the same parent"},
    {HEAD "root|||9\n a|u|1|9\n", "f:3:2: user 'u': account: 'a' has no row above"},
    {HEAD "root|||9\n a||1|9\na|u|1|9\n", "f:4:1: user 'u' is indented by 0; one more than its account is 2"},
    {HEAD "root|||9\nroot|u|1|9\n", "f:3:1: user 'u' is indented by 0; one more than its account is 1"},
};

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(errors); i++) check(&errors[i]);
}

/* A zero byte, which the C strings of the rows cannot contain. */
static void test_zero_byte(void **state)
{
    (void)state;
    static const char text[] = HEAD "root|||9\0\n";
    struct arena arena = {0};
    struct source source = {"f", {text, sizeof text - 1}};
    struct sshare read;
    struct err e = {0};
    assert_int_equal(sshare_parse(&source, &arena, &read, &e), -1);
    assert_string_equal(ERR_SENTENCE(&e), "f:2:9: the text contains a zero byte");
    arena_release(&arena);
}

/* A chain of accounts with a user at its end. Without a first row it begins at the left edge (filtered). */
static int parse_chain(const char *first, uint32_t indent, uint32_t accounts, struct err *e)
{
    struct buf text = {0};
    buf_add_text(&text, HEAD);
    buf_add_text(&text, first);
    for (uint32_t i = 0; i < accounts; i++) buf_format(&text, "%*sa%u||1|9\n", (int)(indent + i), "", i);
    buf_format(&text, "%*sa%u|u|1|9\n", (int)(indent + accounts), "", accounts - 1);

    struct arena arena = {0};
    struct source source = {"f", {text.text, text.length}};
    struct sshare read;
    int status = sshare_parse(&source, &arena, &read, e);
    if (status == 0) assert_int_equal(read.rows[read.count - 1].depth, accounts + 1);
    arena_release(&arena);
    buf_release(&text);
    return status;
}

static void test_depth(void **state)
{
    (void)state;
    struct err e = {0};
    assert_int_equal(parse_chain("root|||9\n", 1, 63, &e), 0);
    assert_int_equal(parse_chain("", 0, 63, &e), 0);
    assert_int_equal(parse_chain("root|||9\n", 1, 64, &e), -1);
    assert_string_equal(ERR_SENTENCE(&e), "f:67:66: user 'u' is more than 64 levels below the root");
    assert_int_equal(parse_chain("", 0, 64, &e), -1);
    assert_int_equal(parse_chain("", 0, 65, &e), -1);
    assert_string_equal(ERR_SENTENCE(&e), "f:66:65: account 'a64' is more than 64 levels below the root");
    assert_int_equal(parse_chain("", 0, 200, &e), -1);
}

static void test_header(void **state)
{
    (void)state;
    assert_true(sshare_is_header(str("Account|User")));
    assert_false(sshare_is_header(str("parent\taccount")));
    assert_false(sshare_is_header(str("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees), cmocka_unit_test(test_errors), cmocka_unit_test(test_zero_byte),
        cmocka_unit_test(test_depth), cmocka_unit_test(test_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
