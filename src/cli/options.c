/* Reading options by table. getopt_long finds them (its rules of order, "--" and joined letters are the ones people know);
 * what they mean, and what is said when they are wrong, comes from the rows.
 *
 * The long options handed to getopt_long carry as their value the row's number: the command's rows first, the common ones
 * from COMMON_BASE on. Letters carry themselves, which are all below LONG_BASE. */
#include "cli/options.h"

#include <getopt.h>
#include <string.h>
#include <time.h>

#include "base/ensure.h"
#include "base/number.h"
#include "base/quantity.h"
#include "base/text.h"
#include "cli/time_text.h"

enum { LONG_BASE = 256, COMMON_BASE = OPTION_ROWS_MAX, COMMON_MAX = 2, WORD_MAX = 40 };

const struct option_row common_options[] = {
    {"socket", 0, "PATH", TEXT_IN(struct common_values, socket), "the socket of the service to ask"},
    {"help", 'h', NULL, FLAG_IN(struct common_values, wants_help), "this text"},
    {0},
};

uint32_t options_count(const struct option_row *rows)
{
    uint32_t count = 0;
    while (rows != NULL && rows[count].name != NULL) count++;
    return count;
}

bool options_given(const struct option_row *rows, const struct parsed *parsed, const char *name)
{
    for (uint32_t i = 0; rows != NULL && rows[i].name != NULL; i++) {
        if (strcmp(rows[i].name, name) == 0) return parsed->given >> i & 1;
    }
    ensure(!"no option of that name in the table");
    return false;
}

/* Optimal string alignment: as Levenshtein's, with swapped neighbours as one step. Two rows of the matrix and one back. */
uint32_t word_distance(const char *a, const char *b)
{
    size_t rows = strlen(a), columns = strlen(b);
    if (rows > WORD_MAX || columns > WORD_MAX) return WORD_MAX;

    uint32_t before[WORD_MAX + 1] = {0}, last[WORD_MAX + 1], now[WORD_MAX + 1];
    for (uint32_t j = 0; j <= columns; j++) last[j] = j;
    for (uint32_t i = 1; i <= rows; i++) {
        now[0] = i;
        for (uint32_t j = 1; j <= columns; j++) {
            uint32_t min = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < min) min = last[j] + 1;
            if (now[j - 1] + 1 < min) min = now[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < min) min = before[j - 2] + 1;
            now[j] = min;
        }
        memcpy(before, last, sizeof before);
        memcpy(last, now, sizeof last);
    }
    return last[columns];
}

/* The rows of one command, and the tables getopt_long wants of them. */
struct option_tables {
    const struct option_rules *rules;
    const struct option_row *common; /* common_options, or only its end where --socket is not offered */
    struct option longs[OPTION_ROWS_MAX + COMMON_MAX + 1];
    char letters[2 + 3 * (OPTION_ROWS_MAX + COMMON_MAX) + 1];
};

static void add_rows(struct option_tables *t, const struct option_row *rows, int base, uint32_t *count, size_t *length)
{
    for (int i = 0; rows != NULL && rows[i].name != NULL; i++) {
        int takes = rows[i].argument == NULL              ? no_argument
                    : rows[i].value.default_value != NULL ? optional_argument
                                                          : required_argument;
        t->longs[(*count)++] = (struct option){rows[i].name, takes, NULL, LONG_BASE + base + i};
        if (rows[i].letter == 0) continue;
        t->letters[(*length)++] = rows[i].letter;
        for (int colons = 0; colons < takes; colons++) t->letters[(*length)++] = ':';
    }
}

static void make_tables(struct option_tables *t, const struct option_rules *rules)
{
    ensure(options_count(rules->rows) < OPTION_ROWS_MAX);
    *t = (struct option_tables){.rules = rules, .common = rules->is_local ? common_options + 1 : common_options};
    uint32_t count = 0;
    size_t length = 0;
    if (rules->options_first) t->letters[length++] = '+';
    t->letters[length++] = ':'; /* a missing argument is told apart from an unknown option */
    add_rows(t, rules->rows, 0, &count, &length);
    add_rows(t, t->common, COMMON_BASE, &count, &length);
}

/* The row of a number: the command's own from 0, the common ones from COMMON_BASE. */
static const struct option_row *row_of_number(const struct option_tables *t, int number)
{
    return number >= COMMON_BASE ? &t->common[number - COMMON_BASE] : &t->rules->rows[number];
}

/* The number of the row getopt_long means by its result (a long option's value, or a letter); -1: none. */
static int number_of_result(const struct option_tables *t, int result)
{
    if (result >= LONG_BASE) return result - LONG_BASE;
    for (const struct option *o = t->longs; o->name != NULL; o++) {
        if (row_of_number(t, o->val - LONG_BASE)->letter == result) return o->val - LONG_BASE;
    }
    return -1;
}

/* "merge|slurm" as "merge, slurm". */
static void spell_choices(const char *choices, char *out, size_t size)
{
    struct str rest = str(choices);
    size_t length = 0;
    out[0] = 0;
    while (rest.text != NULL && length < size) {
        struct str word = str_cut(rest, '|', &rest);
        length += text_format(out + length, size - length, length > 0 ? ", %.*s" : "%.*s", (int)word.length, word.text);
    }
}

static int store_choice(const struct option_row *row, const char *argument, int *field, struct err *e)
{
    struct str rest = str(row->value.choices);
    for (int i = 0; rest.text != NULL; i++) {
        if (str_equal_nocase(str_cut(rest, '|', &rest), str(argument))) {
            *field = i;
            return 0;
        }
    }
    char choices[200];
    spell_choices(row->value.choices, choices, sizeof choices);
    return err_set(e, ERR_INPUT, "--%s: '%s' is not one of: %s", row->name, argument, choices);
}

static int store_u64(const struct option_row *row, const char *argument, uint64_t *field, struct err *e)
{
    const struct option_value *v = &row->value;
    uint64_t max = v->max > 0 ? v->max : UINT64_MAX, value;
    if (number_parse_u64(str(argument), &value) && value >= v->min && value <= max) {
        *field = value;
        return 0;
    }
    if (v->max == 0) {
        return err_set(e, ERR_INPUT, "--%s: '%s' is not a whole number from %llu up", row->name, argument,
                       (unsigned long long)v->min);
    }
    return err_set(e, ERR_INPUT, "--%s: '%s' is not a whole number from %llu to %llu", row->name, argument,
                   (unsigned long long)v->min, (unsigned long long)v->max);
}

static int store_i64(const struct option_row *row, const char *argument, int64_t *field, struct err *e)
{
    int64_t min = (int64_t)row->value.min, max = (int64_t)row->value.max, value;
    if (number_parse_i64(str(argument), &value) && value >= min && value <= max) {
        *field = value;
        return 0;
    }
    return err_set(e, ERR_INPUT, "--%s: '%s' is not a whole number from %lld to %lld", row->name, argument,
                   (long long)min, (long long)max);
}

static int store_another(const struct option_row *row, const char *argument, struct option_texts *field, struct err *e)
{
    if (field->count == OPTION_TEXTS_MAX)
        return err_set(e, ERR_USAGE, "--%s: given more than %d times", row->name, OPTION_TEXTS_MAX);
    field->items[field->count++] = argument;
    return 0;
}

static int store_moment(const char *argument, const char *what, int64_t *field, struct err *e)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return moment_read(str(argument), what, now.tv_sec * US_PER_S + now.tv_nsec / 1000, field, e);
}

static int store_double(const struct option_row *row, const char *argument, double *field, struct err *e)
{
    double value;
    if (!number_parse_double(str(argument), &value) || !__builtin_isfinite(value)) {
        return err_set(e, ERR_INPUT, "--%s: '%s' is not a finite number", row->name, argument);
    }
    *field = value;
    return 0;
}

static int store(const struct option_row *row, const char *given, void *values, struct err *e)
{
    const char *argument = given != NULL ? given : row->value.default_value;
    void *field = (char *)values + row->value.offset;
    char what[WORD_MAX + 3];
    text_format(what, sizeof what, "--%s", row->name);
    switch (row->value.type) {
    case OPTION_FLAG: *(bool *)field = true; return 0;
    case OPTION_TEXT: *(const char **)field = argument; return 0;
    case OPTION_TEXTS: return store_another(row, argument, field, e);
    case OPTION_CHOICE: return store_choice(row, argument, field, e);
    case OPTION_U64: return store_u64(row, argument, field, e);
    case OPTION_I64: return store_i64(row, argument, field, e);
    case OPTION_DOUBLE: return store_double(row, argument, field, e);
    case OPTION_DURATION: return duration_parse(str(argument), what, field, e);
    case OPTION_MEMORY: return memory_parse(str(argument), what, field, e);
    case OPTION_MOMENT: return store_moment(argument, what, field, e);
    }
    ensure(!"an option type without a parser");
    return -1;
}

/* The long option most like a mistyped one, or NULL; *out_fits: how many begin with what was typed. */
static const char *nearest_option(const struct option_tables *t, const char *word, uint32_t *out_fits)
{
    const char *nearest = NULL;
    uint32_t min = (uint32_t)strlen(word) / 3 + 2;
    *out_fits = 0;
    for (const struct option *o = t->longs; o->name != NULL; o++) {
        uint32_t distance = word_distance(word, o->name);
        if (strncmp(word, o->name, strlen(word)) == 0) ++*out_fits;
        if (distance < min) {
            min = distance;
            nearest = o->name;
        }
    }
    return nearest;
}

/* "unknown option '--wrap': a program goes behind --"; false: nobody brings this one along. */
static bool refuse_habit(const struct option_tables *t, const char *dashes, const char *word, struct err *e)
{
    const char *ours = t->rules->habit != NULL ? t->rules->habit(word) : NULL;
    if (ours != NULL)
        err_set(e, ERR_USAGE, "unknown option '%s%s': %s; see '%s --help'", dashes, word, ours, t->rules->name);
    return ours != NULL;
}

static int refuse_long(const struct option_tables *t, const char *token, struct err *e)
{
    char word[2 * WORD_MAX];
    struct str rest, typed = str_cut(str(token + 2), '=', &rest);
    text_format(word, sizeof word, "%.*s", (int)typed.length, typed.text);

    uint32_t fits;
    const char *nearest = nearest_option(t, word, &fits);
    if (refuse_habit(t, "--", word, e)) return -1;
    if (fits > 1) {
        return err_set(e, ERR_USAGE, "option '--%s' could mean several; see '%s --help'", word, t->rules->name);
    }
    if (nearest != NULL) {
        return err_set(e, ERR_USAGE, "unknown option '--%s'; did you mean '--%s'? see '%s --help'", word, nearest,
                       t->rules->name);
    }
    return err_set(e, ERR_USAGE, "unknown option '--%s'; see '%s --help'", word, t->rules->name);
}

/* What getopt_long could not read. Long options leave their whole word behind, letters only themselves. */
static int refuse(const struct option_tables *t, int result, const char *token, struct err *e)
{
    int number = optopt != 0 ? number_of_result(t, optopt) : -1;
    const struct option_row *row = number >= 0 ? row_of_number(t, number) : NULL;
    if (row != NULL && result == ':') {
        return err_set(e, ERR_USAGE, "option '--%s' needs an argument: %s", row->name, row->argument);
    }
    if (row != NULL) return err_set(e, ERR_USAGE, "option '--%s' takes no argument", row->name);
    if (optopt == 0) return refuse_long(t, token, e);
    const char letter[] = {(char)optopt, '\0'};
    if (refuse_habit(t, "-", letter, e)) return -1;
    return err_set(e, ERR_USAGE, "unknown option '-%c'; see '%s --help'", optopt, t->rules->name);
}

/* "-pe" is no -p with an argument of e: letters behind one dash that stand together elsewhere. words: what getopt_long
 * looks at next, which passes over operands where options may follow them. */
static bool refuse_together(const struct option_tables *t, char *const *words, struct err *e)
{
    while (!t->rules->options_first && *words != NULL && (*words)[0] != '-') words++;
    const char *token = *words;
    bool is_one = token == NULL || token[0] != '-' || token[1] == '-' || token[1] == '\0' || token[2] == '\0';
    return !is_one && refuse_habit(t, "-", token + 1, e);
}

int options_parse(const struct option_rules *rules, int argc, char **argv, void *values,
                  struct common_values *out_common, struct parsed *out_parsed, struct err *e)
{
    struct option_tables t;
    make_tables(&t, rules);

    uint64_t given = 0;
    int last = 1; /* where the last option ended */
    opterr = 0;
    optind = 0; /* begin anew */
    for (;;) {
        if (refuse_together(&t, argv + (optind > 0 ? optind : 1), e)) return -1;
        int result = getopt_long(argc, argv, t.letters, t.longs, NULL);
        if (result == -1) break;
        if (result == '?' || result == ':') return refuse(&t, result, argv[optind - 1], e);

        int number = number_of_result(&t, result);
        bool is_own = number < COMMON_BASE;
        if (store(row_of_number(&t, number), optarg, is_own ? values : out_common, e) != 0) return -1;
        if (is_own) given |= UINT64_C(1) << number;
        last = optind;
    }
    *out_parsed = (struct parsed){
        .given = given,
        .operands = argv + optind,
        .operand_count = (uint32_t)(argc - optind),
        .is_after_dashes = optind > last,
    };
    return 0;
}
