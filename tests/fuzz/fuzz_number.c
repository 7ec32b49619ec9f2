/* Numbers from arbitrary bytes. A number that is read is the same as strtod reads, and reads back the same from its own
 * text. A refused text leaves the output untouched. Eight bytes as a double read back from all three of its texts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"
#include "base/number.h"

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static double read_back(const char *text, size_t length)
{
    double value;
    ensure(strlen(text) == length && length < NUMBER_TEXT_SIZE);
    ensure(number_parse_double((struct str){text, length}, &value));
    return value;
}

static void check_double_text(double value)
{
    char text[NUMBER_TEXT_SIZE], expected[NUMBER_TEXT_SIZE];
    ensure(same(read_back(text, number_format_shortest(text, value)), value));
    ensure(strlen(text) <= 24);
    ensure(same(read_back(text, number_format_g17(text, value)), value));
    snprintf(expected, sizeof expected, "%.17g", value);
    ensure(strcmp(text, expected) == 0);
    read_back(text, number_format_double(text, value, 6, 'f'));
    snprintf(expected, sizeof expected, "%.6f", value);
    ensure(strcmp(text, expected) == 0);
}

static void check_doubles(struct str s)
{
    double value = 77;
    if (!number_parse_double(s, &value)) {
        ensure(value == 77);
        return;
    }
    check_double_text(value);
    char *text = malloc(s.length + 1), *end; /* strtod needs a closing zero byte */
    ensure(text != NULL);
    memcpy(text, s.text, s.length);
    text[s.length] = '\0';
    double expected = strtod(text, &end);
    ensure(end == text + s.length);
    ensure(same(expected, value));
    free(text);
}

static void check_whole_numbers(struct str s)
{
    uint64_t number = 77;
    int64_t integer = 77;
    char text[NUMBER_TEXT_SIZE];
    bool is_number = number_parse_u64(s, &number), is_integer = number_parse_i64(s, &integer);
    ensure(is_number || number == 77);
    ensure(is_integer || integer == 77);
    if (is_number) {
        uint64_t back;
        size_t length = number_format_u64(text, number);
        ensure(length <= s.length && number_parse_u64((struct str){text, length}, &back) && back == number);
        ensure(is_integer == (number <= INT64_MAX));
    }
    double value;
    if (is_number || is_integer) ensure(number_parse_double(s, &value));
    if (is_integer) ensure(value == (double)integer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str s = {(const char *)data, size};
    check_whole_numbers(s);
    check_doubles(s);
    double value;
    if (size >= sizeof value) {
        memcpy(&value, data, sizeof value);
        if (!isnan(value)) check_double_text(value);
    }
    return 0;
}
