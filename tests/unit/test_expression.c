/* Expressions of patterns: which texts satisfy them, and where those that are refused go wrong. */
#include "dies.h"

#include <string.h>

#include "base/expression.h"
#include "base/text.h"

struct row {
    const char *expression;
    const char *satisfied, *others; /* texts, separated by blanks; ~ is the empty text */
};

static void check_texts(const char *expression, const char *texts, enum expression_case letters, bool expected)
{
    for (struct str rest = str(texts); rest.length > 0;) {
        struct str text = str_cut(rest, ' ', &rest);
        if (str_equal(text, str("~"))) text.length = 0;
        if (expression_is_satisfied(str(expression), text, letters) == expected) continue;
        fail_msg("'%s' and '%.*s'", expression, (int)text.length, text.text);
    }
}

static void check_rows(const struct row *rows, size_t count, enum expression_case letters)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(expression_check(str(rows[i].expression), "x", NULL), 0);
        check_texts(rows[i].expression, rows[i].satisfied, letters, true);
        check_texts(rows[i].expression, rows[i].others, letters, false);
    }
}

static void patterns_match(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        {"lx", "lx", "~ l lxx LX"},
        {"lx*", "lx lx24 lx-amd64", "l xlx ~"},
        {"*", "~ a ab", ""},
        {"**a**", "a ba ab bab", "~ b"},
        {"a*b*c", "abc aXbXc abbcc abcbc", "ab ac acb abcd"},
        {"*-amd64", "lx-amd64 -amd64 a-amd64-amd64", "lx-amd64x amd64"},
        {"?", "a \xc3\xa9", "~ ab"},
        {"lx2?", "lx22 lx2x", "lx2 lx222"},
        {"lx2[246]-*", "lx22-x lx24-", "lx23-x lx2-x lx2"},
        {"lx2[4-6]", "lx24 lx25 lx26", "lx23 lx27 lx2-"},
        {"[4|6]", "4 6 |", "5"}, /* an example of the manual: no operator within brackets */
        {"[^a]", "a ^", "b"},
        {"[a-]", "a -", "b"},
        {"[-a]", "a -", "b"},
        {"[a-cx-z]", "a c x z", "d w ~"},
        {"[\\]\\\\]", "] \\", "a"},
        {"[\xc3\xa0-\xc3\xa9]", "\xc3\xa5", "\xc3\xaa a"},
        {"\\*\\&", "*&", "a& *"},
        {"n1.chem.org", "n1.chem.org", "n1xchem.org"},
    };
    check_rows(rows, COUNT(rows), EXPRESSION_CASE_COUNTS);
}

static void operators_join_patterns(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        {"a|b", "a b", "c ab ~"},
        {"a*&*b", "ab axb", "a b ba"},
        {"!a", "b ~ aa", "a"},
        {"!!a", "a", "b"},
        {"lx*&!lx24*", "lx lx26-amd64", "lx24 lx24-amd64 sol"},
        {"!lx24-x86&!sol-sparc", "lx24-amd64 ~", "lx24-x86 sol-sparc"},
        {"a|b&c*", "a", "b c"},
        {"b*&*c|a", "a bc", "b c"},
        {"(a|b*)&!(ba|bb)", "a bc b", "ba bb c"},
        {"!(a|b)", "c", "a b"},
        {"((a))", "a", "b"},
    };
    check_rows(rows, COUNT(rows), EXPRESSION_CASE_COUNTS);
}

static void letters_may_be_equal(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        {"Node[A-C]*", "nodea1 NODEC", "noded"},
        {"[a-c]", "A c", "D"},
        {"!NODE", "n", "node Node"},
    };
    check_rows(rows, COUNT(rows), EXPRESSION_CASE_IGNORED);
    assert_false(expression_is_satisfied(str("[a-c]"), str("A"), EXPRESSION_CASE_COUNTS));
}

static void errors_have_columns(void **unused)
{
    (void)unused;
    static const struct {
        const char *expression, *error;
    } rows[] = {
        {"", "x: '' is no expression: column 1: a pattern is missing"},
        {"a&", "x: 'a&' is no expression: column 3: a pattern is missing"},
        {"a||b", "x: 'a||b' is no expression: column 3: a pattern is missing"},
        {"!", "x: '!' is no expression: column 2: a pattern is missing"},
        {"()", "x: '()' is no expression: column 2: a pattern is missing"},
        {"(a", "x: '(a' is no expression: column 3: a ( without )"},
        {"a)", "x: 'a)' is no expression: column 2: a ) without ("},
        {"a!b", "x: 'a!b' is no expression: column 2: a & or | is missing"},
        {"(a)(b)", "x: '(a)(b)' is no expression: column 4: a & or | is missing"},
        {"(a|b)*", "x: '(a|b)*' is no expression: column 6: a & or | is missing"},
        {"lx[", "x: 'lx[' is no expression: column 3: a [ without ]"},
        {"lx[\\]", "x: 'lx[\\]' is no expression: column 3: a [ without ]"},
        {"[]", "x: '[]' is no expression: column 1: no character in [ ]"},
        {"[z-a]", "x: '[z-a]' is no expression: column 1: a range that ends before it begins"},
        {"a]", "x: 'a]' is no expression: column 2: a ] without ["},
        {"a\\", "x: 'a\\' is no expression: column 2: nothing follows the \\"},
        {"a & b", "x: 'a & b' is no expression: column 2: a blank; write \\ before it"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e = {0};
        assert_int_equal(expression_check(str(rows[i].expression), "x", &e), -1);
        assert_string_equal(ERR_SENTENCE(&e), rows[i].error);
        assert_false(expression_is_satisfied(str(rows[i].expression), str("a"), EXPRESSION_CASE_COUNTS));
    }
}

static void depth_and_length_are_limited(void **unused)
{
    (void)unused;
    struct buf text = {0};
    for (int depth = EXPRESSION_DEPTH_MAX; depth <= EXPRESSION_DEPTH_MAX + 1; depth++) {
        buf_clear(&text);
        for (int i = 0; i < depth; i++) buf_add_text(&text, "!(");
        buf_add_char(&text, 'a');
        for (int i = 0; i < depth; i++) buf_add_char(&text, ')');
        struct str expression = {text.text, text.length};
        bool is_accepted = depth == EXPRESSION_DEPTH_MAX;
        assert_int_equal(expression_check(expression, "x", NULL), is_accepted ? 0 : -1);
        assert_int_equal(expression_is_satisfied(expression, str("a"), EXPRESSION_CASE_COUNTS), is_accepted);
    }
    buf_clear(&text);
    for (int i = 0; i <= EXPRESSION_LENGTH_MAX; i++) buf_add_char(&text, '*');
    assert_int_equal(expression_check((struct str){text.text, EXPRESSION_LENGTH_MAX}, "x", NULL), 0);
    struct err e = {0};
    assert_int_equal(expression_check((struct str){text.text, EXPRESSION_LENGTH_MAX + 1}, "x", &e), -1);
    assert_non_null(strstr(ERR_SENTENCE(&e), "has 1025 bytes; an expression has at most 1024"));
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match),
        cmocka_unit_test(operators_join_patterns),
        cmocka_unit_test(letters_may_be_equal),
        cmocka_unit_test(errors_have_columns),
        cmocka_unit_test(depth_and_length_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
