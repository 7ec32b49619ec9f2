/* Reading options by table. getopt_long finds them (its rules of order, "--" and joined letters are the ones people know);
 * what they mean, and what is said when they are wrong, comes from the rows.
 *
 * The long options handed to getopt_long carry as their value the row's number: OPTION_ROWS_MAX for each set, and the row in
 * it. Letters carry themselves, which are all below LONG_BASE. */
#include "options/options.h"

#include <getopt.h>
#include <string.h>

#include "base/ensure.h"
#include "base/text.h"
#include "options/option_store.h"

enum { LONG_BASE = 256, ROWS_MAX = OPTION_SETS_MAX * OPTION_ROWS_MAX, WORD_MAX = 40 };

uint32_t options_count(const struct option_row *rows)
{
    uint32_t count = 0;
    while (rows != NULL && rows[count].name != NULL) count++;
    return count;
}

bool options_given(const struct parsed *parsed, const char *name)
{
    for (uint32_t set = 0; set < OPTION_SETS_MAX; set++) {
        const struct option_row *rows = parsed->rows[set];
        for (uint32_t i = 0; rows != NULL && rows[i].name != NULL; i++) {
            if (strcmp(rows[i].name, name) == 0) return parsed->given[set] >> i & 1;
        }
    }
    ensure(!"no option of that name in the tables");
    return false;
}

bool options_any_given(const struct parsed *parsed, const struct option_row *rows)
{
    for (uint32_t set = 0; set < OPTION_SETS_MAX; set++) {
        if (parsed->rows[set] == rows && parsed->given[set] != 0) return true;
    }
    return false;
}

/* Optimal string alignment: as Levenshtein's, with swapped neighbours as one step. Two rows of the matrix and one back. */
uint32_t options_word_distance(const char *a, const char *b)
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

/* The tables that getopt_long wants. */
struct getopt_tables {
    const struct option_rules *rules;
    struct option longs[ROWS_MAX + 1];
    char letters[2 + 3 * ROWS_MAX + 1];
};

static void add_rows(struct getopt_tables *t, uint32_t set, uint32_t *count, size_t *length)
{
    const struct option_row *rows = t->rules->sets[set].rows;
    for (int i = 0; rows != NULL && rows[i].name != NULL; i++) {
        int takes = rows[i].argument == NULL              ? no_argument
                    : rows[i].value.default_value != NULL ? optional_argument
                                                          : required_argument;
        t->longs[(*count)++] = (struct option){rows[i].name, takes, NULL, LONG_BASE + (int)set * OPTION_ROWS_MAX + i};
        if (rows[i].letter == 0) continue;
        t->letters[(*length)++] = rows[i].letter;
        for (int colons = 0; colons < takes; colons++) t->letters[(*length)++] = ':';
    }
}

static void make_tables(struct getopt_tables *t, const struct option_rules *rules)
{
    *t = (struct getopt_tables){.rules = rules};
    uint32_t count = 0;
    size_t length = 0;
    if (rules->options_first) t->letters[length++] = '+';
    t->letters[length++] = ':'; /* a missing argument is told apart from an unknown option */
    for (uint32_t set = 0; set < rules->set_count; set++) {
        ensure(options_count(rules->sets[set].rows) < OPTION_ROWS_MAX);
        add_rows(t, set, &count, &length);
    }
}

static const struct option_row *row_of_number(const struct getopt_tables *t, int number)
{
    return &t->rules->sets[number / OPTION_ROWS_MAX].rows[number % OPTION_ROWS_MAX];
}

/* The number of the row getopt_long means by its result (a long option's value, or a letter); -1: none. */
static int number_of_result(const struct getopt_tables *t, int result)
{
    if (result >= LONG_BASE) return result - LONG_BASE;
    for (const struct option *o = t->longs; o->name != NULL; o++) {
        if (row_of_number(t, o->val - LONG_BASE)->letter == result) return o->val - LONG_BASE;
    }
    return -1;
}

/* The long option most like a mistyped one, or NULL; *out_fits: how many begin with what was typed. */
static const char *nearest_option(const struct getopt_tables *t, const char *word, uint32_t *out_fits)
{
    const char *nearest = NULL;
    uint32_t min = (uint32_t)strlen(word) / 3 + 2;
    *out_fits = 0;
    for (const struct option *o = t->longs; o->name != NULL; o++) {
        uint32_t distance = options_word_distance(word, o->name);
        if (strncmp(word, o->name, strlen(word)) == 0) ++*out_fits;
        if (distance < min) {
            min = distance;
            nearest = o->name;
        }
    }
    return nearest;
}

/* "unknown option '--wrap': a program goes behind --"; false: nobody brings this one along. */
static bool refuse_foreign(const struct getopt_tables *t, const char *dashes, const char *word, struct err *e)
{
    const char *ours = t->rules->explain != NULL ? t->rules->explain(word) : NULL;
    if (ours != NULL)
        err_set(e, ERR_USAGE, "unknown option '%s%s': %s; see '%s --help'", dashes, word, ours, t->rules->name);
    return ours != NULL;
}

static int refuse_long(const struct getopt_tables *t, const char *token, struct err *e)
{
    char word[2 * WORD_MAX];
    struct str rest, typed = str_cut(str(token + 2), '=', &rest);
    text_format(word, sizeof word, "%.*s", (int)typed.length, typed.text);

    uint32_t fits;
    const char *nearest = nearest_option(t, word, &fits);
    if (refuse_foreign(t, "--", word, e)) return -1;
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
static int refuse(const struct getopt_tables *t, int result, const char *token, struct err *e)
{
    int number = optopt != 0 ? number_of_result(t, optopt) : -1;
    const struct option_row *row = number >= 0 ? row_of_number(t, number) : NULL;
    if (row != NULL && result == ':') {
        return err_set(e, ERR_USAGE, "option '--%s' needs an argument: %s", row->name, row->argument);
    }
    if (row != NULL) return err_set(e, ERR_USAGE, "option '--%s' takes no argument", row->name);
    if (optopt == 0) return refuse_long(t, token, e);
    const char letter[] = {(char)optopt, '\0'};
    if (refuse_foreign(t, "-", letter, e)) return -1;
    return err_set(e, ERR_USAGE, "unknown option '-%c'; see '%s --help'", optopt, t->rules->name);
}

/* "-pe" is no -p with an argument of e: letters behind one dash that stand together elsewhere. words: what getopt_long
 * looks at next, which passes over operands where options may follow them. */
static bool refuse_together(const struct getopt_tables *t, char *const *words, struct err *e)
{
    while (!t->rules->options_first && *words != NULL && (*words)[0] != '-') words++;
    const char *token = *words;
    bool is_one = token == NULL || token[0] != '-' || token[1] == '-' || token[1] == '\0' || token[2] == '\0';
    return !is_one && refuse_foreign(t, "-", token + 1, e);
}

int options_parse(const struct option_rules *rules, int argc, char **argv, struct parsed *out_parsed, struct err *e)
{
    struct getopt_tables t;
    make_tables(&t, rules);

    *out_parsed = (struct parsed){0};
    for (uint32_t set = 0; set < rules->set_count; set++) out_parsed->rows[set] = rules->sets[set].rows;
    int last = 1; /* where the last option ended */
    opterr = 0;
    optind = 0; /* begin anew */
    for (;;) {
        if (refuse_together(&t, argv + (optind > 0 ? optind : 1), e)) return -1;
        int result = getopt_long(argc, argv, t.letters, t.longs, NULL);
        if (result == -1) break;
        if (result == '?' || result == ':') return refuse(&t, result, argv[optind - 1], e);

        int number = number_of_result(&t, result);
        int set = number / OPTION_ROWS_MAX;
        if (option_store(row_of_number(&t, number), optarg, rules->sets[set].values, e) != 0) return -1;
        out_parsed->given[set] |= UINT64_C(1) << number % OPTION_ROWS_MAX;
        last = optind;
    }
    out_parsed->operands = argv + optind;
    out_parsed->operand_count = (uint32_t)(argc - optind);
    out_parsed->is_after_dashes = optind > last;
    return 0;
}
