/* Options by table: what each kind reads, where operands begin, and what is said about what cannot be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/options.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

struct values {
    struct listing_values listing;
    const char *file;
    int ties;
    uint64_t limit, size, memory;
    double weight;
    int64_t span_s, since_us, nice, level;
    struct option_texts requests;
};

static const struct option_row rows[] = {
    {"file", 'f', "FILE", TEXT_IN(struct values, file), "a file"},
    {"ties", 0, "RULE", CHOICE_IN(struct values, ties, "merge|slurm"), "a word"},
    {"limit", 'n', "COUNT", U64_IN(struct values, limit, 1, 100), "a number"},
    {"size", 0, "COUNT", U64_IN(struct values, size, 2, 0), "a number without end"},
    {"mem", 0, "SIZE", MEMORY_IN(struct values, memory), "memory"},
    {"weight", 'w', "X", DOUBLE_IN(struct values, weight), "a fraction"},
    {"time", 't', "SPAN", DURATION_IN(struct values, span_s), "a span"},
    {"nice", 0, "N", I64_OR_IN(struct values, nice, -5, 100, "100"), "a number that may be left out"},
    {"level", 'L', "N", I64_IN(struct values, level, -1023, 1024), "a number with a sign"},
    {"request", 'l', "NAME=VALUE", TEXTS_IN(struct values, requests), "several"},
    {"since", 0, "MOMENT", MOMENT_IN(struct values, since_us), "a moment"},
    LISTING_OPTIONS(struct values, listing),
    {0},
};

enum { WORDS_MAX = 32 };

struct parse {
    char *argv[WORDS_MAX];
    struct values values;
    struct common_values common;
    struct parsed parsed;
    struct err e;
    char text[200];
};

/* Parses a command line whose words are separated by single blanks. */
static int parse(struct parse *p, const char *line, bool options_first, bool is_local)
{
    memset(p, 0, sizeof *p);
    assert_true(strlen(line) < sizeof p->text);
    memcpy(p->text, line, strlen(line) + 1);
    static char name[] = "x";
    p->argv[0] = name;
    int argc = 1;
    for (char *word = p->text[0] != 0 ? p->text : NULL; word != NULL && argc < WORDS_MAX - 1;) {
        p->argv[argc++] = word;
        word = strchr(word, ' ');
        if (word != NULL) *word++ = 0;
    }
    struct option_rules rules = {"fairlead x", rows, options_first, is_local, NULL};
    return options_parse(&rules, argc, p->argv, &p->values, &p->common, &p->parsed, &p->e);
}

static void test_every_type(void **state)
{
    (void)state;
    struct parse p;
    assert_int_equal(
        parse(&p, "-f a --ties=slurm --limit 7 --size=2 --mem 2G -w -1.5 -t 90 --since 5 -P", false, false), 0);
    assert_string_equal(p.values.file, "a");
    assert_int_equal(p.values.ties, 1);
    assert_int_equal(p.values.limit, 7);
    assert_int_equal(p.values.size, 2);
    assert_int_equal(p.values.memory, 2048);
    assert_true(p.values.weight == -1.5);
    assert_int_equal(p.values.span_s, 5400);
    assert_int_equal(p.values.since_us, 5000000);
    assert_true(p.values.listing.is_parsable);
    assert_false(p.values.listing.is_json);
    assert_true(options_given(rows, &p.parsed, "ties"));
    assert_false(options_given(rows, &p.parsed, "json"));
    assert_int_equal(p.parsed.operand_count, 0);
}

static void test_left_out_and_repeated(void **state)
{
    (void)state;
    struct parse p;
    assert_int_equal(parse(&p, "--nice a -L -7 -l x=1 --request=y=2,z=3 -lw", false, false), 0);
    assert_int_equal(p.values.nice, 100);
    assert_int_equal(p.values.level, -7);
    assert_int_equal(p.values.requests.count, 3);
    assert_string_equal(p.values.requests.items[0], "x=1");
    assert_string_equal(p.values.requests.items[1], "y=2,z=3");
    assert_string_equal(p.values.requests.items[2], "w");
    assert_int_equal(p.parsed.operand_count, 1);
    assert_int_equal(parse(&p, "--nice=-5", false, false), 0);
    assert_int_equal(p.values.nice, -5);
    assert_int_equal(parse(&p, "--nice=-6", false, false), -1);
    assert_string_equal(ERR_SENTENCE(&p.e), "--nice: '-6' is not a whole number from -5 to 100");
    assert_int_equal(parse(&p, "-L 1025", false, false), -1);
    assert_string_equal(ERR_SENTENCE(&p.e), "--level: '1025' is not a whole number from -1023 to 1024");
    assert_int_equal(parse(&p, "-L 1e2", false, false), -1);
    assert_int_equal(parse(&p, "--ties SLURM", false, false), 0);
    assert_int_equal(p.values.ties, 1);
}

/* More than there is room for. */
static void test_repeated_too_often(void **state)
{
    (void)state;
    static const struct option_row only[] = {{"x", 'x', "A", TEXTS_IN(struct values, requests), "several"}, {0}};
    char word[] = "-xa", name[] = "n";
    char *argv[OPTION_TEXTS_MAX + 3] = {name};
    struct option_rules rules = {"fairlead x", only, false, false, NULL};
    for (int count = OPTION_TEXTS_MAX; count <= OPTION_TEXTS_MAX + 1; count++) {
        struct values values = {0};
        struct common_values common = {0};
        struct parsed parsed;
        struct err e = {0};
        for (int i = 1; i <= count; i++) argv[i] = word;
        int status = options_parse(&rules, count + 1, argv, &values, &common, &parsed, &e);
        assert_int_equal(status, count == OPTION_TEXTS_MAX ? 0 : -1);
        assert_int_equal(values.requests.count, OPTION_TEXTS_MAX);
        if (status != 0) assert_string_equal(ERR_SENTENCE(&e), "--x: given more than 32 times");
    }
}

static const char *elsewhere(const char *word)
{
    return strcmp(word, "fx") == 0 ? "write it so" : NULL;
}

/* -fx is -f with an argument of x, unless other programs mean something by it. */
static void test_letters_together(void **state)
{
    (void)state;
    static const struct {
        const char *words[3];
        bool options_first, is_good;
    } cases[] = {
        {{"-fx"}, true, false},     {{"-P", "-fx"}, true, false}, {{"a", "-fx"}, false, false},
        {{"a", "-fx"}, true, true}, {{"--", "-fx"}, false, true}, {{"-fy"}, true, true},
        {{"-f", "x"}, false, true},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct parse p = {0};
        char text[3][8] = {""};
        char *argv[5] = {text[0]};
        int argc = 1;
        for (; argc <= 3 && cases[i].words[argc - 1] != NULL; argc++) {
            argv[argc] = memcpy(p.text + 8 * argc, cases[i].words[argc - 1], strlen(cases[i].words[argc - 1]) + 1);
        }
        struct option_rules rules = {"fairlead x", rows, cases[i].options_first, false, elsewhere};
        int status = options_parse(&rules, argc, argv, &p.values, &p.common, &p.parsed, &p.e);
        assert_int_equal(status, cases[i].is_good ? 0 : -1);
        if (status != 0)
            assert_string_equal(ERR_SENTENCE(&p.e), "unknown option '-fx': write it so; see 'fairlead x --help'");
    }
}

static void test_forms(void **state)
{
    (void)state;
    struct parse p;
    assert_int_equal(parse(&p, "-Pfx --json", false, false), 0);
    assert_string_equal(p.values.file, "x");
    assert_true(p.values.listing.is_parsable && p.values.listing.is_json);

    assert_int_equal(parse(&p, "-f a --fi=b", false, false), 0); /* the last one; a beginning that is unique */
    assert_string_equal(p.values.file, "b");
    assert_int_equal(parse(&p, "-f -", false, false), 0);
    assert_string_equal(p.values.file, "-");
    assert_int_equal(parse(&p, "--socket /s -h", false, false), 0);
    assert_string_equal(p.common.socket, "/s");
    assert_true(p.common.wants_help);
    assert_int_equal(parse(&p, "", false, false), 0);
    assert_null(p.common.socket);
    assert_int_equal(p.parsed.given, 0);
}

static const struct {
    const char *line;
    bool options_first;
    const char *operands;
    bool is_after_dashes, is_parsable;
} lines[] = {
    {"a -P b", false, "a b ", false, true},
    {"a -- -P", false, "a -P ", false, false},
    {"a -P b", true, "a -P b ", false, false},
    {"-P a -x", true, "a -x ", false, true},
    {"-P -- a -x", true, "a -x ", true, true},
    {"-- -P", true, "-P ", true, false},
    {"-f -- a", true, "a ", false, false},
    {"-f -- -- a", true, "a ", true, false},
    {"-P", true, "", false, true},
    {"-P --", true, "", true, true},
};

static void test_operands(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct parse p;
        char operands[100] = "";
        assert_int_equal(parse(&p, lines[i].line, lines[i].options_first, false), 0);
        for (uint32_t j = 0; j < p.parsed.operand_count; j++) {
            strcat(operands, p.parsed.operands[j]);
            strcat(operands, " ");
        }
        assert_string_equal(operands, lines[i].operands);
        assert_int_equal(p.values.listing.is_parsable, lines[i].is_parsable);
        if (lines[i].options_first) assert_int_equal(p.parsed.is_after_dashes, lines[i].is_after_dashes);
    }
}

static const struct {
    const char *line, *text;
    enum err_code code;
} refusals[] = {
    {"--foo", "unknown option '--foo'; see 'fairlead x --help'", ERR_USAGE},
    {"--flie a", "unknown option '--flie'; did you mean '--file'? see 'fairlead x --help'", ERR_USAGE},
    {"--pasrable", "unknown option '--pasrable'; did you mean '--parsable'? see 'fairlead x --help'", ERR_USAGE},
    {"--flie=a", "unknown option '--flie'; did you mean '--file'? see 'fairlead x --help'", ERR_USAGE},
    {"--si", "option '--si' could mean several; see 'fairlead x --help'", ERR_USAGE},
    {"-x", "unknown option '-x'; see 'fairlead x --help'", ERR_USAGE},
    {"-Px", "unknown option '-x'; see 'fairlead x --help'", ERR_USAGE},
    {"-f", "option '--file' needs an argument: FILE", ERR_USAGE},
    {"--file", "option '--file' needs an argument: FILE", ERR_USAGE},
    {"--socket", "option '--socket' needs an argument: PATH", ERR_USAGE},
    {"--json=1", "option '--json' takes no argument", ERR_USAGE},
    {"--ties both", "--ties: 'both' is not one of: merge, slurm", ERR_INPUT},
    {"--ties merg", "--ties: 'merg' is not one of: merge, slurm", ERR_INPUT},
    {"-n 0", "--limit: '0' is not a whole number from 1 to 100", ERR_INPUT},
    {"-n 101", "--limit: '101' is not a whole number from 1 to 100", ERR_INPUT},
    {"-n 1x", "--limit: '1x' is not a whole number from 1 to 100", ERR_INPUT},
    {"-n -1", "--limit: '-1' is not a whole number from 1 to 100", ERR_INPUT},
    {"--size 1", "--size: '1' is not a whole number from 2 up", ERR_INPUT},
    {"--size 18446744073709551616", "--size: '18446744073709551616' is not a whole number from 2 up", ERR_INPUT},
    {"-w inf", "--weight: 'inf' is not a finite number", ERR_INPUT},
    {"-w nan", "--weight: 'nan' is not a finite number", ERR_INPUT},
    {"-w 1,5", "--weight: '1,5' is not a finite number", ERR_INPUT},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refusals); i++) {
        struct parse p;
        assert_int_equal(parse(&p, refusals[i].line, false, false), -1);
        assert_string_equal(ERR_SENTENCE(&p.e), refusals[i].text);
        assert_int_equal(p.e.code, refusals[i].code);
    }
}

/* Spans, memory and moments are told about by base/quantity, under the option's name. */
static void test_quantities(void **state)
{
    (void)state;
    static const char *const bad[] = {"--time 0", "--mem 0", "--since yesterday"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct parse p;
        assert_int_equal(parse(&p, bad[i], false, false), -1);
        assert_int_equal(p.e.code, ERR_INPUT);
        assert_memory_equal(ERR_SENTENCE(&p.e), bad[i], (size_t)(strchr(bad[i], ' ') - bad[i]));
    }
}

static void test_local(void **state)
{
    (void)state;
    struct parse p;
    assert_int_equal(parse(&p, "--socket /s", false, true), -1);
    assert_int_equal(parse(&p, "--help", false, true), 0);
    assert_true(p.common.wants_help);
}

static const struct {
    const char *a, *b;
    uint32_t distance;
} words[] = {
    {"", "", 0},
    {"submit", "submit", 0},
    {"submit", "sumbit", 1},
    {"submit", "submt", 1},
    {"submit", "xsubmit", 1},
    {"queue", "quue", 1},
    {"queue", "share", 4},
    {"abc", "", 3},
    {"ca", "abc", 3}, /* a swap is not edited further */
};

static void test_word_distance(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(words); i++) {
        assert_int_equal(word_distance(words[i].a, words[i].b), words[i].distance);
        assert_int_equal(word_distance(words[i].b, words[i].a), words[i].distance);
    }
    char longest[300];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_true(word_distance(longest, "x") >= 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type),
        cmocka_unit_test(test_left_out_and_repeated),
        cmocka_unit_test(test_repeated_too_often),
        cmocka_unit_test(test_letters_together),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_quantities),
        cmocka_unit_test(test_local),
        cmocka_unit_test(test_word_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
