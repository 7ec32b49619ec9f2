/* What of a job's output may reach a terminal, in pieces of every size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/log_filter.h"

static const struct {
    const char *input, *expected;
} rows[] = {
    {"plain\ttext\n", "plain\ttext\n"},
    {"50 %\r100 %\b\n", "50 %\r100 %\b\n"},
    {"\033[1;31mred\033[0m", "\033[1;31mred\033[0m"},
    {"\033[38:5:200mcolour\033[m", "\033[38:5:200mcolour\033[m"},
    {"\033[2Jcleared", "?[2Jcleared"},
    {"\033]0;title\007", "?]0;title?"},
    {"\033c", "?c"},
    {"\033\033[31m", "?\033[31m"},
    {"\033[31\n", "?[31\n"},
    {"a\x7f\x01z", "a??z"},
    {"caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80"},
    {"\xc2\x9b"
     "31m",
     "??31m"}, /* CSI as one character */
    {"\x9b"
     "31m",
     "?31m"},
    {"\xff\xc3+", "??+"},
    {"\xe4\xb8\n", "?\n"},
    {"\033[0000000000000000000000000000000000001m", "?[0000000000000000000000000000000000001m"},
    {"end\033[3", "end?[3"},
    {"end\xe4", "end?"},
};

static void test_pieces(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t length = strlen(rows[i].input);
        for (size_t piece = 1; piece <= length; piece++) {
            struct log_filter filter = {0};
            struct buf out = {0};
            for (size_t at = 0; at < length; at += piece)
                log_filter_add(&filter, rows[i].input + at, length - at < piece ? length - at : piece, &out);
            log_filter_end(&filter, &out);
            assert_string_equal(out.text, rows[i].expected);
            buf_release(&out);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
