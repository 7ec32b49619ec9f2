/* Options of a command as a table: a row has a name, a letter, one line of help, a type and the field it fills. Parsing,
 * --help, manual pages and completion all read the same rows.
 *
 *     struct queue_values {
 *         struct listing_values listing;
 *         const char *account;
 *         uint64_t limit;
 *     };
 *     static const struct option_row queue_options[] = {
 *         {"account", 'A', "NAME", TEXT_IN(struct queue_values, account), "only jobs of this account"},
 *         {"limit", 'n', "COUNT", U64_IN(struct queue_values, limit, 1, 1000000), "at most COUNT rows"},
 *         LISTING_OPTIONS(struct queue_values, listing),
 *         {0},
 *     };
 *
 * TEXT_IN(struct, field) and its like are the row's type and the place of the field; a field of another C type does not
 * compile. The fields start as zero. Every command also has --socket and --help, which are not in its table. */
#ifndef FAIRLEAD_CLI_OPTIONS_H
#define FAIRLEAD_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum option_type {
    OPTION_FLAG,     /* bool: becomes true; takes no argument */
    OPTION_TEXT,     /* const char *: as given */
    OPTION_TEXTS,    /* struct option_texts: as given, each time the option is */
    OPTION_CHOICE,   /* int: the word's place in choices, from 0; any case */
    OPTION_U64,      /* uint64_t, min to max */
    OPTION_I64,      /* int64_t, min to max, which are of that type too */
    OPTION_DOUBLE,   /* double: any finite number */
    OPTION_DURATION, /* int64_t, seconds: as sbatch -t reads it */
    OPTION_MEMORY,   /* uint64_t, MiB: 512M, 4G */
    OPTION_MOMENT,   /* int64_t, microseconds since the epoch: as cli/time_text.h reads it */
};

/* Where an argument goes and what it may be. */
struct option_value {
    enum option_type type;
    size_t offset;             /* of the field in the command's values */
    const char *choices;       /* of OPTION_CHOICE: "merge|slurm" */
    uint64_t min, max;         /* of OPTION_U64 and OPTION_I64 */
    const char *default_value; /* not NULL: the argument may be left out, and is this then; it is written --nice=5 */
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

/* offsetof that only compiles for a field of the given C type. */
#define OPTION_FIELD(s, field, c_type) (offsetof(s, field) + 0 * sizeof(_Generic(((s *)0)->field, c_type : 0)))

/* clang-format off */
#define FLAG_IN(s, field) {OPTION_FLAG, OPTION_FIELD(s, field, bool), NULL, 0, 0, NULL}
#define TEXT_IN(s, field) {OPTION_TEXT, OPTION_FIELD(s, field, const char *), NULL, 0, 0, NULL}
#define TEXTS_IN(s, field) {OPTION_TEXTS, OPTION_FIELD(s, field, struct option_texts), NULL, 0, 0, NULL}
#define I64_IN(s, field, min, max) \
    {OPTION_I64, OPTION_FIELD(s, field, int64_t), NULL, (uint64_t)(min), (uint64_t)(max), NULL}
#define I64_OR_IN(s, field, min, max, without) \
    {OPTION_I64, OPTION_FIELD(s, field, int64_t), NULL, (uint64_t)(min), (uint64_t)(max), without}
#define CHOICE_IN(s, field, words) {OPTION_CHOICE, OPTION_FIELD(s, field, int), words, 0, 0, NULL}
#define U64_IN(s, field, min, max) {OPTION_U64, OPTION_FIELD(s, field, uint64_t), NULL, min, max, NULL}
#define DOUBLE_IN(s, field) {OPTION_DOUBLE, OPTION_FIELD(s, field, double), NULL, 0, 0, NULL}
#define DURATION_IN(s, field) {OPTION_DURATION, OPTION_FIELD(s, field, int64_t), NULL, 0, 0, NULL}
#define MEMORY_IN(s, field) {OPTION_MEMORY, OPTION_FIELD(s, field, uint64_t), NULL, 0, 0, NULL}
#define MOMENT_IN(s, field) {OPTION_MOMENT, OPTION_FIELD(s, field, int64_t), NULL, 0, 0, NULL}
/* clang-format on */

/* What every listing offers; a command embeds the struct and the rows. */
struct listing_values {
    bool is_parsable, is_json, has_no_header;
};

#define LISTING_OPTIONS(s, field)                                                                                    \
    {"parsable", 'P', NULL, FLAG_IN(s, field.is_parsable), "columns separated by |, numbers in full, for programs"}, \
        {"json", 0, NULL, FLAG_IN(s, field.is_json), "an array of objects, one object a line"},                      \
    {                                                                                                                \
        "noheader", 0, NULL, FLAG_IN(s, field.has_no_header), "leave the line of headings out"                       \
    }

/* What every command has. */
struct common_values {
    const char *socket; /* NULL: find it (FAIRLEAD_SOCKET, the private instance's, the system's) */
    bool wants_help;
};

extern const struct option_row common_options[];

enum { OPTION_ROWS_MAX = 64 };

/* A parsed command line. */
struct parsed {
    uint64_t given;  /* bit i: row i of the command's table was given */
    char **operands; /* what is left, in order */
    uint32_t operand_count;
    bool is_after_dashes; /* with options_first: the operands stood behind "--" */
};

/* Whose options are read, and how. */
struct option_rules {
    const char *name;              /* the command's, for the hint in messages */
    const struct option_row *rows; /* may be NULL */
    bool options_first;            /* the first operand ends the options */
    bool is_local;                 /* of the common options only --help */
    /* What is written here instead of a long option, a letter, or letters behind one dash (qsub's -pe) that people bring
     * along, or NULL; may be NULL. */
    const char *(*habit)(const char *word);
};

/* Reads argv[1..argc) by the rows and common_options into values and *out_common; a later option overrides an earlier
 * one. argv is reordered. Values may be partly filled on failure. ERR_USAGE: unknown option (with the nearest one that
 * exists), argument missing or not wanted; ERR_INPUT: a bad value, with what is accepted. */
int options_parse(const struct option_rules *rules, int argc, char **argv, void *values,
                  struct common_values *out_common, struct parsed *out_parsed, struct err *e);

/* Whether the row of that name was given; the row exists. */
bool options_given(const struct option_row *rows, const struct parsed *parsed, const char *name);

/* How many rows; NULL has none. */
uint32_t options_count(const struct option_row *rows);

/* The distance between two words as people mistype them: letters added, lost, changed or swapped. */
uint32_t word_distance(const char *a, const char *b);

#endif
