/* Tables: widths in characters, alignment, headings, no control characters; in tables wider than the output, texts are
 * cut and columns of the highest rank are left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/table.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])
#define WIDE "\xe4\xb8\xad" /* one character, two columns */
#define MARK "\xe2\x80\xa6" /* the end of a text that was cut */

static const struct table_column columns[] = {
    {.heading = "Name"}, {.heading = "Count", .is_right_aligned = true}, {.heading = "Note"}};

static void test_layout(void **state)
{
    (void)state;
    struct table t;
    struct output out = {.fd = -1};
    table_init(&t, columns, 3);
    table_add_text(&t, "\xc3\xa9t\xc3\xa9");
    table_add_text(&t, "7");
    table_add_text(&t, "");
    table_add_text(&t, " inner");
    table_add_text(&t, "1234567");
    table_add_text(&t, "a\tb\x1b[1m\xff\xc2\x9b");
    assert_int_equal(table_row_count(&t), 2);
    table_write(&t, true, NULL, &out);
    assert_string_equal(out.text.text, "Name      Count  Note\n"
                                       "\xc3\xa9t\xc3\xa9           7\n"
                                       " inner  1234567  a?b?[1m???\n");
    buf_clear(&out.text);
    out.has_styles = true;
    table_write(&t, true, NULL, &out);
    assert_memory_equal(out.text.text, "\033[1mName", 8);
    assert_non_null(strstr(out.text.text, "Note\n\033[0m"));
    buf_clear(&out.text);
    table_write(&t, false, NULL, &out);
    assert_memory_equal(out.text.text, "\xc3\xa9t\xc3\xa9   ", 8);
    table_release(&t);
    output_release(&out);
}

static void test_empty(void **state)
{
    (void)state;
    struct table t;
    struct output out = {.fd = -1};
    table_init(&t, columns, 2);
    table_write(&t, true, NULL, &out);
    assert_string_equal(out.text.text, "Name  Count\n");
    table_release(&t);
    output_release(&out);
}

/* --- the table and the note on standard error --------------------------------------------------------------------- */

static struct {
    struct output out;
    char note[500];
} last;

/* Runs table_write with standard error redirected to a file. */
static void write_noting(const struct table *t, uint32_t width, bool has_header, const uint32_t *order)
{
    FILE *file = tmpfile();
    int standard_error = dup(STDERR_FILENO);
    assert_non_null(file);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    buf_clear(&last.out.text);
    buf_add_text(&last.out.text, "");
    last.out.fd = -1;
    last.out.width = width;
    table_write(t, has_header, order, &last.out);
    dup2(standard_error, STDERR_FILENO);
    close(standard_error);
    rewind(file);
    last.note[fread(last.note, 1, sizeof last.note - 1, file)] = '\0';
    fclose(file);
}

/* The text of a table of that width. cells: row by row, separated by |. */
static const char *laid_out(const struct table_column *some, uint32_t count, const char *cells, uint32_t width)
{
    struct table t;
    table_init(&t, some, count);
    for (struct str rest = str(cells); rest.text != NULL;) table_add(&t, str_cut(rest, '|', &rest));
    write_noting(&t, width, true, NULL);
    table_release(&t);
    return last.out.text.text;
}

/* --- too wide: texts are cut -------------------------------------------------------------------------------------- */

static const struct table_column texts[] = {{.heading = "ID", .is_right_aligned = true},
                                            {.heading = "NAME", .width_min = 4},
                                            {.heading = "NOTE", .width_min = 6}};

static void test_texts_are_cut(void **state)
{
    (void)state;
    static const char cells[] = "5|a-long-name|short|17|x|quite-a-long-note";
    static const struct {
        uint32_t width;
        const char *text;
    } rows[] = {
        {0, "ID  NAME         NOTE\n 5  a-long-name  short\n17  x            quite-a-long-note\n"},
        {34, "ID  NAME         NOTE\n 5  a-long-name  short\n17  x            quite-a-long-note\n"},
        {33, "ID  NAME         NOTE\n 5  a-long-name  short\n17  x            quite-a-long-no" MARK "\n"},
        /* The widest column is cut first, then both alternately. */
        {28, "ID  NAME         NOTE\n 5  a-long-name  short\n17  x            quite-a-lo" MARK "\n"},
        {26, "ID  NAME        NOTE\n 5  a-long-na" MARK "  short\n17  x           quite-a-l" MARK "\n"},
        {18, "ID  NAME    NOTE\n 5  a-lon" MARK "  short\n17  x       quite" MARK "\n"},
        /* The minimum widths. */
        {16, "ID  NAME  NOTE\n 5  a-l" MARK "  short\n17  x     quite" MARK "\n"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_string_equal(laid_out(texts, 3, cells, rows[i].width), rows[i].text);
        assert_string_equal(last.note, "");
    }
    /* Narrower: no column can be left out, so the lines exceed the width. */
    assert_string_equal(laid_out(texts, 3, cells, 5), rows[COUNT(rows) - 1].text);
    assert_string_equal(last.note, "");
}

static void test_wide_characters_are_cut_whole(void **state)
{
    (void)state;
    static const struct table_column some[] = {{.heading = "N", .width_min = 1}, {.heading = "X"}};
    static const struct {
        uint32_t width;
        const char *text;
    } rows[] = {
        {9, "N       X\n" WIDE WIDE WIDE "  1\nabcdef  2\n"},
        {8, "N      X\n" WIDE WIDE MARK "  1\nabcd" MARK "  2\n"},
        /* One wide character and the mark leave one blank. */
        {7, "N     X\n" WIDE MARK "   1\nabc" MARK "  2\n"},
        {4, "N  X\n" MARK "  1\n" MARK "  2\n"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(laid_out(some, 2, WIDE WIDE WIDE "|1|abcdef|2", rows[i].width), rows[i].text);
}

/* A right-aligned cell stays right-aligned. */
static void test_numbers_are_cut_at_the_right(void **state)
{
    (void)state;
    static const struct table_column some[] = {{.heading = "N", .is_right_aligned = true, .width_min = 3},
                                               {.heading = "X"}};
    assert_string_equal(laid_out(some, 2, "12345|a|7|b", 6), "  N  X\n12" MARK "  a\n  7  b\n");
}

static void test_mark_depends_on_the_locale(void **state)
{
    (void)state;
    setenv("LC_ALL", "C", 1);
    assert_string_equal(laid_out(texts, 3, "5|a-long-name|short", 18), "ID  NAME     NOTE\n 5  a-long+  short\n");
    setenv("LC_ALL", "C.UTF-8", 1);
}

/* --- too wide: columns are left out ------------------------------------------------------------------------------- */

static const struct table_column ranked[] = {{.heading = "ID"},
                                             {.heading = "ONE", .rank = 1},
                                             {.heading = "THREE", .rank = 3},
                                             {.heading = "NAM", .rank = 2, .width_min = 2},
                                             {.heading = "TWO", .rank = 2},
                                             {.heading = "LAST"}};

static void test_columns_are_left_out_by_rank(void **state)
{
    (void)state;
    static const char cells[] = "1|a|b|abcdef|c|d";
    static const char rest[] = "; give -o FIELD,... to choose columns or -P for all\n";
    static const struct {
        uint32_t width;
        const char *text, *left_out; /* NULL: no column */
    } rows[] = {
        {33, "ID  ONE  THREE  NAM     TWO  LAST\n1   a    b      abcdef  c    d\n", NULL},
        {32, "ID  ONE  THREE  NAM    TWO  LAST\n1   a    b      abcd" MARK "  c    d\n", NULL},
        {30, "ID  ONE  THREE  NAM  TWO  LAST\n1   a    b      ab" MARK "  c    d\n", NULL},
        /* The highest rank is left out first; then the remaining texts may have room again. */
        {29, "ID  ONE  NAM     TWO  LAST\n1   a    abcdef  c    d\n", "THREE"},
        {23, "ID  ONE  NAM  TWO  LAST\n1   a    ab" MARK "  c    d\n", "THREE"},
        /* Of equal ranks, the last column is left out first. */
        {22, "ID  ONE  NAM     LAST\n1   a    abcdef  d\n", "THREE, TWO"},
        {17, "ID  ONE  LAST\n1   a    d\n", "THREE, NAM, TWO"},
        {12, "ID  LAST\n1   d\n", "ONE, THREE, NAM, TWO"},
        {1, "ID  LAST\n1   d\n", "ONE, THREE, NAM, TWO"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char note[200] = "";
        assert_string_equal(laid_out(ranked, COUNT(ranked), cells, rows[i].width), rows[i].text);
        if (rows[i].left_out != NULL)
            text_format(note, sizeof note, "columns left out to fit the width: %s%s", rows[i].left_out, rest);
        assert_string_equal(last.note, note);
    }
}

/* Columns in which no row has a value are left out before texts are cut, and no note names them. */
static void test_columns_without_values_are_left_out_first(void **state)
{
    (void)state;
    static const struct table_column some[] = {{.heading = "ID"},
                                               {.heading = "NOTHING"},
                                               {.heading = "NONE", .rank = 1},
                                               {.heading = "TEXT", .rank = 2, .width_min = 2},
                                               {.heading = "DASH", .rank = 3},
                                               {.heading = "BOTH", .rank = 4}};
    static const char cells[] = "1|-|NONE|abcdefgh|-|-|2|||ij||x";
    static const struct {
        uint32_t width;
        const char *text;
    } rows[] = {
        {43, "ID  NOTHING  NONE  TEXT      DASH  BOTH\n1   -        NONE  abcdefgh  -     -\n2                  ij"
             "              x\n"},
        {38, "ID  NOTHING  NONE  TEXT      BOTH\n1   -        NONE  abcdefgh  -\n2                  ij        x\n"},
        {30, "ID  NOTHING  TEXT      BOTH\n1   -        abcdefgh  -\n2            ij        x\n"},
        {26, "ID  NOTHING  TEXT     BOTH\n1   -        abcdef" MARK "  -\n2            ij       x\n"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_string_equal(laid_out(some, COUNT(some), cells, rows[i].width), rows[i].text);
        assert_string_equal(last.note, "");
    }
}

/* A heading that is not written does not count for the width. */
static void test_headings_need_room_only_when_written(void **state)
{
    (void)state;
    static const struct table_column some[] = {{.heading = "LONG HEADING"}, {.heading = "OTHER", .rank = 1}};
    struct table t;
    table_init(&t, some, 2);
    table_add_text(&t, "a");
    table_add_text(&t, "b");
    write_noting(&t, 12, true, NULL);
    assert_string_equal(last.out.text.text, "LONG HEADING\na\n");
    write_noting(&t, 12, false, NULL);
    assert_string_equal(last.out.text.text, "a  b\n");
    assert_string_equal(last.note, "");
    table_release(&t);
}

/* --- widths that were set ----------------------------------------------------------------------------------------- */

static void test_widths_are_set(void **state)
{
    (void)state;
    static const struct table_column some[] = {{.heading = "NAME", .width_set = 6},
                                               {.heading = "NUMBER", .is_right_aligned = true, .width_set = 3},
                                               {.heading = "X", .width_min = 1, .width_set = 5},
                                               {.heading = "Y"}};
    static const char text[] = "NAME    NU" MARK "  X      Y\n"
                               "abcde" MARK "    1  12345  y\n"
                               "a       12" MARK "  1234" MARK "  z\n";
    static const char cells[] = "abcdefg|1|12345|y|a|1234|123456|z";
    assert_string_equal(laid_out(some, 4, cells, 0), text);
    assert_string_equal(laid_out(some, 4, cells, 10), text); /* wider than the output: set widths are kept */
    assert_string_equal(last.note, "");
}

static void test_width_of_one(void **state)
{
    (void)state;
    static const struct table_column some[] = {{.heading = "AB", .width_set = 1}, {.heading = "C"}};
    assert_string_equal(laid_out(some, 2, "a|1|ab|2|" WIDE "|3||4", 0),
                        MARK "  C\na  1\n" MARK "  2\n" MARK "  3\n   4\n");
}

/* --- order and lines ---------------------------------------------------------------------------------------------- */

static void test_rows_are_in_the_order_given(void **state)
{
    (void)state;
    static const uint32_t order[] = {2, 0, 1};
    struct table t;
    table_init(&t, columns, 2);
    for (int i = 0; i < 3; i++) {
        const char name[] = {(char)('a' + i), '\0'};
        table_add_text(&t, name);
        table_add_text(&t, i == 1 ? "100" : "1");
    }
    write_noting(&t, 0, true, order);
    assert_string_equal(last.out.text.text, "Name  Count\nc         1\na         1\nb       100\n");
    write_noting(&t, 0, true, NULL);
    assert_string_equal(last.out.text.text, "Name  Count\na         1\nb       100\nc         1\n");
    table_release(&t);
}

static void test_lines_stand_between_rows(void **state)
{
    (void)state;
    struct table t;
    table_init(&t, columns, 2);
    table_add_line(&t, "first:");
    table_add_text(&t, "a");
    table_add_text(&t, "1");
    table_add_text(&t, "b");
    table_add_text(&t, "2");
    table_add_line(&t, "a line that is longer than the table is wide:");
    table_add_text(&t, "c");
    table_add_text(&t, "3");
    write_noting(&t, 20, true, NULL);
    assert_string_equal(last.out.text.text, "Name  Count\nfirst:\na         1\nb         2\n\n"
                                            "a line that is longer than the table is wide:\nc         3\n");
    table_release(&t);
}

/* Empty cells at the end of a line leave no blanks. */
static void test_no_blanks_at_the_end(void **state)
{
    (void)state;
    static const struct table_column some[] = {{.heading = "A"}, {.heading = "B"}, {.heading = ""}};
    assert_string_equal(laid_out(some, 3, "a|||abc||x", 0), "A    B\na\nabc     x\n");
}

static int release(void **state)
{
    (void)state;
    output_release(&last.out);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_texts_are_cut),
        cmocka_unit_test(test_wide_characters_are_cut_whole),
        cmocka_unit_test(test_numbers_are_cut_at_the_right),
        cmocka_unit_test(test_mark_depends_on_the_locale),
        cmocka_unit_test(test_columns_are_left_out_by_rank),
        cmocka_unit_test(test_columns_without_values_are_left_out_first),
        cmocka_unit_test(test_headings_need_room_only_when_written),
        cmocka_unit_test(test_widths_are_set),
        cmocka_unit_test(test_width_of_one),
        cmocka_unit_test(test_rows_are_in_the_order_given),
        cmocka_unit_test(test_lines_stand_between_rows),
        cmocka_unit_test(test_no_blanks_at_the_end),
    };
    setenv("LC_ALL", "C.UTF-8", 1);
    return cmocka_run_group_tests(tests, NULL, release);
}
