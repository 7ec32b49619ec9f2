/* Options by table: the values of each type, operands, and the messages of errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "options/options.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

struct values {
    bool is_parsable, is_json;
    const char *file;
    int ties;
    uint64_t limit, size, memory;
    double weight;
    int64_t duration_s, since_us, nice, level;
    struct option_texts requests;
};

static const struct option_row rows[] = {
    {.name = "file", .letter = 'f', .argument = "FILE", .value = TEXT_IN(struct values, file), .help = "a file"},
    {.name = "ties", .argument = "RULE", .value = CHOICE_IN(struct values, ties, "merge|slurm"), .help = "a word"},
    {.name = "limit",
     .letter = 'n',
     .argument = "COUNT",
     .value = U64_IN(struct values, limit, 1, 100),
     .help = "a number"},
    {.name = "size",
     .argument = "COUNT",
     .value = U64_IN(struct values, size, 2, 0),
     .help = "a number without a maximum"},
    {.name = "mem", .argument = "SIZE", .value = MEMORY_IN(struct values, memory), .help = "memory"},
    {.name = "weight", .letter = 'w', .argument = "X", .value = DOUBLE_IN(struct values, weight), .help = "a fraction"},
    {.name = "time",
     .letter = 't',
     .argument = "DURATION",
     .value = DURATION_IN(struct values, duration_s),
     .help = "a duration"},
    {.name = "nice",
     .argument = "N",
     .value = I64_OR_IN(struct values, nice, -5, 100, "100"),
     .help = "a number that is optional"},
    {.name = "level",
     .letter = 'L',
     .argument = "N",
     .value = I64_IN(struct values, level, -1023, 1024),
     .help = "a number with a sign"},
    {.name = "request",
     .letter = 'l',
     .argument = "NAME=VALUE",
     .value = TEXTS_IN(struct values, requests),
     .help = "several"},
    {.name = "since", .argument = "TIME", .value = TIME_IN(struct values, since_us), .help = "a time"},
    {.name = "parsable", .letter = 'P', .value = FLAG_IN(struct values, is_parsable), .help = "a flag with a letter"},
    {.name = "json", .value = FLAG_IN(struct values, is_json), .help = "a flag"},
    {0},
};

/* A second table, for the options of every command; and one without --socket. */
struct common {
    const char *socket;
    bool wants_help;
};

static const struct option_row common_rows[] = {
    {.name = "socket", .argument = "PATH", .value = TEXT_IN(struct common, socket), .help = "a path"},
    {.name = "help", .letter = 'h', .value = FLAG_IN(struct common, wants_help), .help = "help"},
    {0},
};
static const struct option_row local_rows[] = {
    {.name = "help", .letter = 'h', .value = FLAG_IN(struct common, wants_help), .help = "help"},
    {0},
};

enum { WORDS_MAX = 32 };

struct parse {
    char *argv[WORDS_MAX];
    struct values values;
    struct common common;
    struct parsed parsed;
    struct err e;
    char text[200];
};

/* Splits a line at single blanks into p->argv, after the name of a program. Returns argc. */
static int split(struct parse *p, const char *line)
{
    static char name[] = "x";
    memset(p, 0, sizeof *p);
    assert_true(strlen(line) < sizeof p->text);
    memcpy(p->text, line, strlen(line) + 1);
    p->argv[0] = name;
    int argc = 1;
    for (char *word = p->text[0] != 0 ? p->text : NULL; word != NULL && argc < WORDS_MAX - 1;) {
        p->argv[argc++] = word;
        word = strchr(word, ' ');
        if (word != NULL) *word++ = 0;
    }
    return argc;
}

/* Parses a command line. */
static int parse(struct parse *p, const char *line, bool options_first, bool is_local)
{
    int argc = split(p, line);
    struct option_rules rules = {.name = "fairlead x",
                                 .sets = {{rows, &p->values}, {is_local ? local_rows : common_rows, &p->common}},
                                 .set_count = 2,
                                 .options_first = options_first};
    return options_parse(&rules, argc, p->argv, &p->parsed, &p->e);
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
    assert_int_equal(p.values.duration_s, 5400);
    assert_int_equal(p.values.since_us, 5000000);
    assert_true(p.values.is_parsable);
    assert_false(p.values.is_json);
    assert_true(options_given(&p.parsed, "ties"));
    assert_false(options_given(&p.parsed, "json"));
    assert_false(options_given(&p.parsed, "help"));
    assert_true(options_any_given(&p.parsed, rows));
    assert_false(options_any_given(&p.parsed, common_rows));
    assert_int_equal(p.parsed.operand_count, 0);
}

static void test_optional_and_repeated(void **state)
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

static void test_repeated_too_often(void **state)
{
    (void)state;
    static const struct option_row only[] = {
        {.name = "x", .letter = 'x', .argument = "A", .value = TEXTS_IN(struct values, requests), .help = "several"},
        {0}};
    char word[] = "-xa", name[] = "n";
    char *argv[OPTION_TEXTS_MAX + 3] = {name};
    for (int count = OPTION_TEXTS_MAX; count <= OPTION_TEXTS_MAX + 1; count++) {
        struct values values = {0};
        struct option_rules rules = {.name = "fairlead x", .sets = {{only, &values}}, .set_count = 1};
        struct parsed parsed;
        struct err e = {0};
        for (int i = 1; i <= count; i++) argv[i] = word;
        int status = options_parse(&rules, count + 1, argv, &parsed, &e);
        assert_int_equal(status, count == OPTION_TEXTS_MAX ? 0 : -1);
        assert_int_equal(values.requests.count, OPTION_TEXTS_MAX);
        if (status != 0) assert_string_equal(ERR_SENTENCE(&e), "--x: given more than 32 times");
    }
}

static const char *advice(const char *word)
{
    return strcmp(word, "fx") == 0 ? "use -y" : NULL;
}

/* -fx is -f with the argument x, unless there is advice for fx. */
static void test_long_letters(void **state)
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
        struct option_rules rules = {.name = "fairlead x",
                                     .sets = {{rows, &p.values}, {common_rows, &p.common}},
                                     .set_count = 2,
                                     .options_first = cases[i].options_first,
                                     .explain = advice};
        int status = options_parse(&rules, argc, argv, &p.parsed, &p.e);
        assert_int_equal(status, cases[i].is_good ? 0 : -1);
        if (status != 0)
            assert_string_equal(ERR_SENTENCE(&p.e), "unknown option '-fx': use -y; see 'fairlead x --help'");
    }
}

static void test_forms(void **state)
{
    (void)state;
    struct parse p;
    assert_int_equal(parse(&p, "-Pfx --json", false, false), 0);
    assert_string_equal(p.values.file, "x");
    assert_true(p.values.is_parsable && p.values.is_json);

    assert_int_equal(parse(&p, "-f a --fi=b", false, false), 0); /* the last one counts; a prefix that is unique */
    assert_string_equal(p.values.file, "b");
    assert_int_equal(parse(&p, "-f -", false, false), 0);
    assert_string_equal(p.values.file, "-");
    assert_int_equal(parse(&p, "--socket /s -h", false, false), 0);
    assert_string_equal(p.common.socket, "/s");
    assert_true(p.common.wants_help);
    assert_true(options_given(&p.parsed, "socket") && options_any_given(&p.parsed, common_rows));
    assert_false(options_any_given(&p.parsed, rows));
    assert_int_equal(parse(&p, "", false, false), 0);
    assert_null(p.common.socket);
    assert_false(options_any_given(&p.parsed, rows) || options_any_given(&p.parsed, common_rows));
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
        assert_int_equal(p.values.is_parsable, lines[i].is_parsable);
        if (lines[i].options_first) assert_int_equal(p.parsed.is_after_dashes, lines[i].is_after_dashes);
    }
}

static void test_bare_options(void **state)
{
    (void)state;
    static const struct {
        const char *line, *text; /* NULL: no operand was meant as an argument */
    } cases[] = {
        {"a --nice 5", "unexpected argument '5': the argument of --nice follows a '=': --nice=5"},
        {"--nice 5 a", "unexpected argument '5': the argument of --nice follows a '=': --nice=5"},
        {"a --nice=5 7", NULL},
        {"5 --nice", NULL},
        {"a --nice -P 5", NULL},
        {"--limit 5 a", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct parse p;
        struct err e = {0};
        assert_int_equal(parse(&p, cases[i].line, false, false), 0);
        assert_int_equal(options_explain_bare(&p.parsed, &e), cases[i].text != NULL);
        assert_string_equal(ERR_SENTENCE(&e), cases[i].text != NULL ? cases[i].text : "");
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
    {"--si", "option '--si' is ambiguous: --size or --since; see 'fairlead x --help'", ERR_USAGE},
    {"-x", "unknown option '-x'; see 'fairlead x --help'", ERR_USAGE},
    {"-Px", "unknown option '-x'; see 'fairlead x --help'", ERR_USAGE},
    {"-f", "option '--file' needs an argument: FILE", ERR_USAGE},
    {"--file", "option '--file' needs an argument: FILE", ERR_USAGE},
    {"--socket", "option '--socket' needs an argument: PATH", ERR_USAGE},
    {"--json=1", "option '--json' takes no argument", ERR_USAGE},
    {"--ties both", "--ties: 'both' is not one of merge, slurm", ERR_INPUT},
    {"--ties merg", "--ties: 'merg' is not one of merge, slurm", ERR_INPUT},
    {"-n 0", "--limit: '0' is not a whole number from 1 to 100", ERR_INPUT},
    {"-n 101", "--limit: '101' is not a whole number from 1 to 100", ERR_INPUT},
    {"-n 1x", "--limit: '1x' is not a whole number from 1 to 100", ERR_INPUT},
    {"-n -1", "--limit: '-1' is not a whole number from 1 to 100", ERR_INPUT},
    {"--size 1", "--size: '1' is not a whole number of at least 2", ERR_INPUT},
    {"--size 18446744073709551616", "--size: '18446744073709551616' is not a whole number of at least 2", ERR_INPUT},
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

/* Errors of durations, memory and times begin with the option's name. */
static void test_quantities(void **state)
{
    (void)state;
    static const char *const bad[] = {"--time 0", "--mem 0", "--since lately"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct parse p;
        assert_int_equal(parse(&p, bad[i], false, false), -1);
        assert_int_equal(p.e.code, ERR_INPUT);
        assert_memory_equal(ERR_SENTENCE(&p.e), bad[i], (size_t)(strchr(bad[i], ' ') - bad[i]));
    }
}

/* Times without a field are of the years 1970 to 9999. */
static void test_times(void **state)
{
    (void)state;
    static const struct {
        const char *line, *text;
    } bad[] = {
        {"--since 1969-12-30", "--since: '1969-12-30' is not a time from 1970-01-01T00:00:00Z to 9999-12-31T23:59:59Z"},
        {"--since now+99999999days",
         "--since: 'now+99999999days' is not a time from 1970-01-01T00:00:00Z to 9999-12-31T23:59:59Z"},
    };
    struct parse p;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(parse(&p, bad[i].line, false, false), -1);
        assert_string_equal(ERR_SENTENCE(&p.e), bad[i].text);
        assert_int_equal(p.e.code, ERR_INPUT);
    }
    assert_int_equal(parse(&p, "--since 0", false, false), 0);
    assert_int_equal(p.values.since_us, 0);
}

/* An option of a table that is not among the sets is unknown. */
static void test_local(void **state)
{
    (void)state;
    struct parse p;
    assert_int_equal(parse(&p, "--socket /s", false, true), -1);
    assert_string_equal(ERR_SENTENCE(&p.e), "unknown option '--socket'; see 'fairlead x --help'");
    assert_int_equal(parse(&p, "--help", false, true), 0);
    assert_true(p.common.wants_help);
}

/* --- fields ------------------------------------------------------------------------------------------------------- */

enum field_row { COUNT_FIELD, TEXT_FIELD, HOLD_FIELD, TIME_FIELD, BEGIN_FIELD, MEM_FIELD, RULE_FIELD, FIELD_ROWS };

static int check_lower(struct str text, const char *field, struct err *e)
{
    return text.length > 0 && text.text[0] >= 'a' ? 0 : err_value(e, field, text, "lower case");
}

static const struct field fields[FIELD_ROWS] = {
    [COUNT_FIELD] = {.name = "count_field", .type = FIELD_NUMBER, .min = -9, .max = 9, .special = "auto"},
    [TEXT_FIELD] = {.name = "text_field", .type = FIELD_TEXT, .min = 1, .max = 4, .check = check_lower},
    [HOLD_FIELD] = {.name = "hold_field", .type = FIELD_BOOL, .max = 1},
    [TIME_FIELD] = {.name = "time_field", .type = FIELD_SECONDS, .min = 1, .max = 777600},
    [BEGIN_FIELD] = {.name = "begin_field", .type = FIELD_TIME, .min = 1, .max = 1e17, .special = "none"},
    [MEM_FIELD] = {.name = "mem_field", .type = FIELD_MEMORY, .min = 1, .max = 1e6},
    [RULE_FIELD] = {.name = "rule_field", .type = FIELD_CHOICE, .choices = "merge,slurm"},
};

struct field_values {
    struct field_value value[FIELD_ROWS];
    bool is_given[FIELD_ROWS];
};

#define ROW_OF(f, name_, letter_, argument_)                                      \
    {                                                                             \
        .name = (name_), .letter = (letter_), .argument = (argument_),            \
        .value = FIELD_IN(struct field_values, value[f], is_given[f], &fields[f]) \
    }

static struct option_row field_rows[] = {
    ROW_OF(COUNT_FIELD, "count", 'c', "N"),  ROW_OF(TEXT_FIELD, "text", 0, "TEXT"),
    ROW_OF(HOLD_FIELD, "hold", 'H', NULL),   ROW_OF(TIME_FIELD, "time", 't', "DURATION"),
    ROW_OF(BEGIN_FIELD, "begin", 0, "TIME"), ROW_OF(MEM_FIELD, "mem", 0, "SIZE"),
    ROW_OF(RULE_FIELD, "rule", 0, "RULE"),   {0},
};

static int parse_fields(struct parse *p, const char *line, struct field_values *out)
{
    int argc = split(p, line);
    *out = (struct field_values){0};
    field_rows[0].value.default_value = "7"; /* the argument of --count is optional */
    struct option_rules rules = {.name = "fairlead x", .sets = {{field_rows, out}}, .set_count = 1};
    return options_parse(&rules, argc, p->argv, &p->parsed, &p->e);
}

static const struct {
    const char *line;
    enum field_row field;
    int64_t number;
} field_lines[] = {
    {"--count=-9", COUNT_FIELD, -9},
    {"--count", COUNT_FIELD, 7},
    {"--count=AUTO", COUNT_FIELD, FIELD_SPECIAL},
    {"-c3", COUNT_FIELD, 3},
    {"-H", HOLD_FIELD, 1},
    {"-t 90", TIME_FIELD, 5400}, /* minutes, as for sbatch */
    {"-t 1:30", TIME_FIELD, 90},
    {"-t UNLIMITED", TIME_FIELD, 777600}, /* the maximum */
    {"--begin 5", BEGIN_FIELD, 5000000},
    {"--begin 2026-11-21T09:05:00Z", BEGIN_FIELD, 1795251900000000},
    {"--begin None", BEGIN_FIELD, FIELD_SPECIAL},
    {"--mem 2G", MEM_FIELD, 2048},
    {"--mem 7", MEM_FIELD, 7},
    {"--rule Slurm", RULE_FIELD, 1},
    {"--rule slurm --rule merge", RULE_FIELD, 0},
};

static void test_fields(void **state)
{
    (void)state;
    struct parse p;
    struct field_values values;
    for (size_t i = 0; i < COUNT(field_lines); i++) {
        if (parse_fields(&p, field_lines[i].line, &values) != 0)
            fail_msg("%s: %s", field_lines[i].line, ERR_SENTENCE(&p.e));
        if (values.value[field_lines[i].field].number != field_lines[i].number) fail_msg("%s", field_lines[i].line);
        for (int f = 0; f < FIELD_ROWS; f++) assert_int_equal(values.is_given[f], f == (int)field_lines[i].field);
        assert_string_equal(values.value[field_lines[i].field].text, "");
    }
    assert_int_equal(parse_fields(&p, "--text abc", &values), 0);
    assert_string_equal(values.value[TEXT_FIELD].text, "abc");
    assert_int_equal(parse_fields(&p, "a --begin now+60 b", &values), 0);
    assert_true(values.value[BEGIN_FIELD].number > INT64_C(1700000000000000));
    assert_int_equal(p.parsed.operand_count, 2);
}

static void test_fields_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *line, *text;
    } bad[] = {
        {"--count=10", "--count: '10' is not a whole number from -9 to 9, or auto"},
        {"--count=", "--count: '' is not a whole number from -9 to 9, or auto"},
        {"--text ABC", "--text: 'ABC' is not lower case"},
        {"--text abcde", "--text: 'abcde' has 5 bytes; 1 to 4 are accepted"},
        {"--rule both", "--rule: 'both' is not one of merge, slurm"},
        {"--begin 0", "--begin: '0' is not a time from 1970-01-01T00:00:01Z to 5138-11-16T09:46:40Z, or none"},
        {"--begin 1969-01-01T00:00Z",
         "--begin: '1969-01-01T00:00Z' is not a time from 1970-01-01T00:00:01Z to 5138-11-16T09:46:40Z, or none"},
        {"--begin now+61001138weeks",
         "--begin: 'now+61001138weeks' is not a time from 1970-01-01T00:00:01Z to 5138-11-16T09:46:40Z, or none"},
        {"--hold=1", "option '--hold' takes no argument"},
        {"--time", "option '--time' needs an argument: DURATION"},
    };
    static const char *const others[] = {"--time 0", "--time -5", "--mem 0", "--mem 1.5X", "--begin lately"};
    struct parse p;
    struct field_values values;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(parse_fields(&p, bad[i].line, &values), -1);
        assert_string_equal(ERR_SENTENCE(&p.e), bad[i].text);
    }
    for (size_t i = 0; i < COUNT(others); i++) {
        assert_int_equal(parse_fields(&p, others[i], &values), -1);
        assert_int_equal(p.e.code, ERR_INPUT);
        assert_memory_equal(ERR_SENTENCE(&p.e), others[i], (size_t)(strchr(others[i], ' ') - others[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type),
        cmocka_unit_test(test_optional_and_repeated),
        cmocka_unit_test(test_repeated_too_often),
        cmocka_unit_test(test_long_letters),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_bare_options),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_quantities),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_local),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_fields_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
