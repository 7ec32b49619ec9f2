/* Options of a program or command as a table: a row has a name, a letter, one line of help, a type and the member it fills.
 * Parsing, --help, manual pages and completion all read the same rows.
 *
 *     struct queue_values {
 *         const char *account;
 *         uint64_t limit;
 *     };
 *     static const struct option_row queue_options[] = {
 *         {.name = "account", .letter = 'A', .argument = "NAME", .value = TEXT_IN(struct queue_values, account),
 *          .help = "only jobs of this account"},
 *         {.name = "limit", .letter = 'n', .argument = "COUNT", .value = U64_IN(struct queue_values, limit, 1, 1000000),
 *          .help = "maximum number of rows"},
 *         {0},
 *     };
 *
 * TEXT_IN(struct, member) and its like are the row's type and the place of the member; a member of another C type does not
 * compile. Members start as zero. */
#ifndef FAIRLEAD_OPTIONS_OPTIONS_H
#define FAIRLEAD_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "fields/field.h"

enum option_type {
    OPTION_FLAG,     /* bool: becomes true; takes no argument */
    OPTION_TEXT,     /* const char *: as given */
    OPTION_TEXTS,    /* struct option_texts: as given, each time the option is */
    OPTION_CHOICE,   /* int: the index of the word in choices; any case */
    OPTION_U64,      /* uint64_t, min to max */
    OPTION_I64,      /* int64_t, min to max, which are of that type too */
    OPTION_DOUBLE,   /* double: any finite number */
    OPTION_DURATION, /* int64_t, seconds: as sbatch -t reads it */
    OPTION_MEMORY,   /* uint64_t, MiB: 512M, 4G */
    OPTION_TIME,     /* int64_t, microseconds since the epoch: as options/time_text.h reads it */
    OPTION_FIELD     /* struct field_value, by a field; and a bool that it was given */
};

/* Where an argument goes and what it may be. */
struct option_value {
    enum option_type type;
    size_t offset;             /* of the member in the values */
    const char *choices;       /* of OPTION_CHOICE: "merge|slurm" */
    uint64_t min, max;         /* of OPTION_U64 and OPTION_I64 */
    const char *default_value; /* not NULL: the argument may be left out, and is this then; it is written --nice=5 */
    const struct field
        *field; /* of OPTION_FIELD: durations as OPTION_DURATION (UNLIMITED is the maximum), times as OPTION_TIME */
    size_t given_offset; /* of OPTION_FIELD */
};

/* What an option was given, in order. */
enum { OPTION_TEXTS_MAX = 32 };
struct option_texts {
    const char *items[OPTION_TEXTS_MAX];
    uint32_t count;
};

struct option_row {
    const char *name;     /* without dashes; NULL ends the table */
    char letter;          /* or 0 */
    const char *argument; /* "FILE"; NULL for flags. FILE, DIR and PATH are completed as such */
    struct option_value value;
    const char *help; /* one line, no capital, no full stop */
};

/* offsetof that only compiles for a member of the given C type. */
#define OPTION_MEMBER(s, member, c_type) (offsetof(s, member) + 0 * sizeof(_Generic(((s *)0)->member, c_type : 0)))

#define OPTION_IN(kind, s, member, c_type, ...)                                               \
    {                                                                                         \
        .type = (kind), .offset = OPTION_MEMBER(s, member, c_type) __VA_OPT__(, ) __VA_ARGS__ \
    }
#define FLAG_IN(s, member) OPTION_IN(OPTION_FLAG, s, member, bool)
#define TEXT_IN(s, member) OPTION_IN(OPTION_TEXT, s, member, const char *)
#define TEXTS_IN(s, member) OPTION_IN(OPTION_TEXTS, s, member, struct option_texts)
#define CHOICE_IN(s, member, words) OPTION_IN(OPTION_CHOICE, s, member, int, .choices = (words))
#define U64_IN(s, member, low, high) OPTION_IN(OPTION_U64, s, member, uint64_t, .min = (low), .max = (high))
#define I64_IN(s, member, low, high) \
    OPTION_IN(OPTION_I64, s, member, int64_t, .min = (uint64_t)(low), .max = (uint64_t)(high))
#define I64_OR_IN(s, member, low, high, without)                                               \
    OPTION_IN(OPTION_I64, s, member, int64_t, .min = (uint64_t)(low), .max = (uint64_t)(high), \
              .default_value = (without))
#define DOUBLE_IN(s, member) OPTION_IN(OPTION_DOUBLE, s, member, double)
#define DURATION_IN(s, member) OPTION_IN(OPTION_DURATION, s, member, int64_t)
#define MEMORY_IN(s, member) OPTION_IN(OPTION_MEMORY, s, member, uint64_t)
#define TIME_IN(s, member) OPTION_IN(OPTION_TIME, s, member, int64_t)
#define FIELD_IN(s, member, given_member, field_)                             \
    OPTION_IN(OPTION_FIELD, s, member, struct field_value, .field = (field_), \
              .given_offset = OPTION_MEMBER(s, given_member, bool))

/* A table and the struct that its rows fill. */
struct option_set {
    const struct option_row *rows; /* NULL: none */
    void *values;
};

enum { OPTION_SETS_MAX = 4, OPTION_ROWS_MAX = 64 };

/* Whose options are read, and how. */
struct option_rules {
    const char *name;                        /* the program's or command's, for messages: "fairlead queue" */
    struct option_set sets[OPTION_SETS_MAX]; /* their names and letters differ */
    uint32_t set_count;
    bool options_first; /* the first operand ends the options */
    /* What is written here instead of a long option, a letter, or letters behind one dash (qsub's -pe) that people bring
     * along, or NULL; may be NULL. */
    const char *(*explain)(const char *word);
};

/* A parsed command line. */
struct parsed {
    const struct option_row *rows[OPTION_SETS_MAX]; /* of the rules */
    uint64_t given[OPTION_SETS_MAX];                /* bit i: row i of the set was given */
    char **operands;                                /* what is left, in order */
    uint32_t operand_count;
    bool is_after_dashes; /* with options_first: the operands stood behind "--" */
};

/* Reads argv[1..argc) into the values of the sets; a later option overrides an earlier one. argv is reordered. Values may be
 * partly filled on failure. ERR_USAGE: unknown option (with the nearest one that exists), argument missing or not accepted;
 * ERR_INPUT: a bad value, with what is accepted. */
int options_parse(const struct option_rules *rules, int argc, char **argv, struct parsed *out_parsed, struct err *e);

/* Whether the option of that name was given; it exists. Whether any of a table was. */
bool options_given(const struct parsed *parsed, const char *name);
bool options_any_given(const struct parsed *parsed, const struct option_row *rows);

/* Number of rows; NULL has none. */
uint32_t options_count(const struct option_row *rows);

/* The distance between two words as people mistype them: letters added, lost, changed or swapped. */
uint32_t options_word_distance(const char *a, const char *b);

#endif
