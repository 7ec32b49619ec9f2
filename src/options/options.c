/* Parses options by table. getopt_long splits the command line by the usual rules (order, "--", joined letters); the
 * rows determine the types and the error messages.
 *
 * The value of each long option passed to getopt_long is LONG_BASE plus the row's number, which is OPTION_ROWS_MAX
 * times its set plus its index. The value of a letter is the letter, which is less than LONG_BASE. */
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

static size_t value_size(enum option_type type)
{
    static const size_t sizes[] = {[OPTION_FLAG] = sizeof(bool),         [OPTION_TEXT] = sizeof(const char *),
                                   [OPTION_CHOICE] = sizeof(int),        [OPTION_TEXTS] = sizeof(struct option_texts),
                                   [OPTION_U64] = sizeof(uint64_t),      [OPTION_I64] = sizeof(int64_t),
                                   [OPTION_DOUBLE] = sizeof(double),     [OPTION_DURATION] = sizeof(int64_t),
                                   [OPTION_MEMORY] = sizeof(uint64_t),   [OPTION_TIME] = sizeof(int64_t),
                                   [OPTION_PAST_TIME] = sizeof(int64_t), [OPTION_FIELD] = sizeof(struct field_value)};
    ensure(type < sizeof sizes / sizeof *sizes);
    return sizes[type];
}

void options_copy_value(const struct option_row *row, const void *from, void *to)
{
    const struct option_value *v = &row->value;
    memcpy((char *)to + v->offset, (const char *)from + v->offset, value_size(v->type));
    if (v->type == OPTION_FIELD) ((bool *)to)[v->given_offset] = ((const bool *)from)[v->given_offset];
}

void options_clear_value(const struct option_row *row, void *values)
{
    const struct option_value *v = &row->value;
    memset((char *)values + v->offset, 0, value_size(v->type));
    if (v->type == OPTION_FIELD) ((bool *)values)[v->given_offset] = false;
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

bool options_explain_bare(const struct parsed *parsed, struct err *e)
{
    const struct option_row *row = parsed->bare_option;
    for (uint32_t i = 0; row != NULL && i < parsed->operand_count; i++) {
        const char *word = parsed->operands[i];
        if (word != parsed->after_bare_option) continue;
        err_set(e, ERR_USAGE, "unexpected argument '%s': the argument of --%s follows a '=': --%s=%s", word, row->name,
                row->name, word);
        return true;
    }
    return false;
}

/* The tables for getopt_long. */
struct getopt_tables {
    const struct option_rules *rules;
    struct option longs[ROWS_MAX + 1];
    char letters[2 + 3 * ROWS_MAX + 1];
};

static void add_rows(struct getopt_tables *t, uint32_t set, uint32_t *count, size_t *length)
{
    const struct option_row *rows = t->rules->sets[set].rows;
    for (int i = 0; rows != NULL && rows[i].name != NULL; i++) {
        int argument_kind = rows[i].argument == NULL              ? no_argument
                            : rows[i].value.default_value != NULL ? optional_argument
                                                                  : required_argument;
        t->longs[(*count)++] = (struct option){
            .name = rows[i].name,
            .has_arg = argument_kind,
            .val = LONG_BASE + (int)set * OPTION_ROWS_MAX + i,
        };
        if (rows[i].letter == 0) continue;
        t->letters[(*length)++] = rows[i].letter;
        for (int colons = 0; colons < argument_kind; colons++) t->letters[(*length)++] = ':';
    }
}

static void build_tables(struct getopt_tables *t, const struct option_rules *rules)
{
    *t = (struct getopt_tables){.rules = rules};
    uint32_t count = 0;
    size_t length = 0;
    if (rules->options_first) t->letters[length++] = '+';
    t->letters[length++] = ':'; /* getopt_long then reports a missing argument as ':', not '?' */
    for (uint32_t set = 0; set < rules->set_count; set++) {
        ensure(options_count(rules->sets[set].rows) < OPTION_ROWS_MAX);
        add_rows(t, set, &count, &length);
    }
}

static const struct option_row *row_of_number(const struct getopt_tables *t, int number)
{
    return &t->rules->sets[number / OPTION_ROWS_MAX].rows[number % OPTION_ROWS_MAX];
}

/* The number of the row of a result of getopt_long (a long option's value, or a letter), or -1. */
static int number_of_result(const struct getopt_tables *t, int result)
{
    if (result >= LONG_BASE) return result - LONG_BASE;
    for (const struct option *o = t->longs; o->name != NULL; o++) {
        if (row_of_number(t, o->val - LONG_BASE)->letter == result) return o->val - LONG_BASE;
    }
    return -1;
}

/* The long option most like a mistyped one, or NULL. *out_match_count: how many begin with the word. */
static const char *nearest_option(const struct getopt_tables *t, const char *word, uint32_t *out_match_count)
{
    const char *nearest = NULL;
    uint32_t min = (uint32_t)strlen(word) / 3 + 2;
    *out_match_count = 0;
    for (const struct option *o = t->longs; o->name != NULL; o++) {
        uint32_t distance = str_distance(str(word), str(o->name));
        if (strncmp(word, o->name, strlen(word)) == 0) ++*out_match_count;
        if (distance < min) {
            min = distance;
            nearest = o->name;
        }
    }
    return nearest;
}

/* Refuses an option that the rules have advice for: "unknown option '--wrap': give a command after --". Returns whether
 * they have. */
static bool refuse_explained(const struct getopt_tables *t, const char *dashes, const char *word, struct err *e)
{
    const char *advice = t->rules->explain != NULL ? t->rules->explain(word) : NULL;
    if (advice != NULL)
        err_set(e, ERR_USAGE, "unknown option '%s%s': %s; see '%s --help'", dashes, word, advice, t->rules->name);
    return advice != NULL;
}

/* "option '--si' is ambiguous: --sign or --size; see 'fairlead x --help'" */
static int refuse_ambiguous(const struct getopt_tables *t, const char *word, uint32_t match_count, struct err *e)
{
    struct buf names = {0};
    uint32_t i = 0;
    for (const struct option *o = t->longs; o->name != NULL; o++) {
        if (strncmp(word, o->name, strlen(word)) != 0) continue;
        const char *joint = i == 0 ? "" : i + 1 < match_count ? ", " : " or ";
        buf_format(&names, "%s--%s", joint, o->name);
        i++;
    }
    (void)err_set(e, ERR_USAGE, "option '--%s' is ambiguous: %s; see '%s --help'", word, names.text, t->rules->name);
    buf_release(&names);
    return -1;
}

static int refuse_long(const struct getopt_tables *t, const char *token, struct err *e)
{
    char word[2 * WORD_MAX];
    struct str rest, typed = str_cut(str(token + 2), '=', &rest);
    text_format(word, sizeof word, "%.*s", (int)typed.length, typed.text);

    uint32_t match_count;
    const char *nearest = nearest_option(t, word, &match_count);
    if (refuse_explained(t, "--", word, e)) return -1;
    if (match_count > 1) return refuse_ambiguous(t, word, match_count, e);
    if (nearest != NULL) {
        return err_set(e, ERR_USAGE, "unknown option '--%s'; did you mean '--%s'? see '%s --help'", word, nearest,
                       t->rules->name);
    }
    return err_set(e, ERR_USAGE, "unknown option '--%s'; see '%s --help'", word, t->rules->name);
}

/* Fills the error for a result ':' or '?' of getopt_long. token: the word that it read last. optopt is the letter or
 * the value of a known long option, or 0 for an unknown long option. */
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
    if (refuse_explained(t, "-", letter, e)) return -1;
    return err_set(e, ERR_USAGE, "unknown option '-%c'; see '%s --help'", optopt, t->rules->name);
}

/* Refuses an option of several letters after one dash that the rules have advice for: "-pe" is not -p with the argument
 * e. words: those that getopt_long reads next. It skips operands unless options come first. */
static bool refuse_long_letters(const struct getopt_tables *t, char *const *words, struct err *e)
{
    while (!t->rules->options_first && *words != NULL && (*words)[0] != '-') words++;
    const char *token = *words;
    bool has_several = token != NULL && token[0] == '-' && token[1] != '-' && token[1] != '\0' && token[2] != '\0';
    return has_several && refuse_explained(t, "-", token + 1, e);
}

int options_parse(const struct option_rules *rules, int argc, char **argv, struct parsed *out_parsed, struct err *e)
{
    struct getopt_tables t;
    build_tables(&t, rules);

    *out_parsed = (struct parsed){0};
    for (uint32_t set = 0; set < rules->set_count; set++) out_parsed->rows[set] = rules->sets[set].rows;
    int options_end = 1; /* index of the word after the last option */
    opterr = 0;
    optind = 0; /* resets getopt_long */
    for (;;) {
        out_parsed->failed_index = optind > 0 ? (uint32_t)optind : 1;
        if (refuse_long_letters(&t, argv + out_parsed->failed_index, e)) return -1;
        int result = getopt_long(argc, argv, t.letters, t.longs, NULL);
        if (result == -1) break;
        if (result == '?' || result == ':') return refuse(&t, result, argv[optind - 1], e);

        int number = number_of_result(&t, result);
        int set = number / OPTION_ROWS_MAX;
        const struct option_row *row = row_of_number(&t, number);
        uint64_t bit = UINT64_C(1) << number % OPTION_ROWS_MAX;
        if (row->is_once && (out_parsed->given[set] & bit) != 0)
            return err_set(e, ERR_USAGE, "--%s is given twice; give it once", row->name);
        if (option_store(rules, row, optarg, rules->sets[set].values, e) != 0) return -1;
        out_parsed->given[set] |= bit;
        options_end = optind;
        if (row->value.default_value == NULL || optarg != NULL) continue;
        out_parsed->bare_option = row;
        out_parsed->after_bare_option = argv[optind];
    }
    out_parsed->operands = argv + optind;
    out_parsed->operand_count = (uint32_t)(argc - optind);
    out_parsed->is_after_dashes = optind > options_end;
    return 0;
}
