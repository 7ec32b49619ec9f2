/* The options of a program or a command as a table: each row has a name, a letter, one line of help, a type and the
 * struct member that it fills. Parsing, --help, manual pages and completion all use these rows.
 *
 *     struct queue_values {
 *         const char *account;
 *         uint64_t limit;
 *     };
 *     static const struct option_row queue_options[] = {
 *         {.name = "account", .letter = 'A', .argument = "NAME", .value = TEXT_IN(struct queue_values, account),
 *          .help = "only jobs of this account"},
 *         {.name = "limit", .letter = 'n', .argument = "COUNT", .help = "maximum number of rows",
 *          .value = U64_IN(struct queue_values, limit, 1, 1000000)},
 *         {0},
 *     };
 *
 * TEXT_IN(struct, member) and the like initialise the row's type and the member's offset; a member of another C type
 * does not compile. The caller sets all members to zero before parsing. */
#ifndef FAIRLEAD_OPTIONS_OPTIONS_H
#define FAIRLEAD_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "fields/field.h"

enum option_type {
    OPTION_FLAG,      /* bool: becomes true; takes no argument */
    OPTION_TEXT,      /* const char *: as given */
    OPTION_TEXTS,     /* struct option_texts: one text for each time that the option is given */
    OPTION_CHOICE,    /* int: the index of the word in choices; not case-sensitive */
    OPTION_U64,       /* uint64_t, min to max */
    OPTION_I64,       /* int64_t, min to max, which are cast to it */
    OPTION_DOUBLE,    /* double: any finite number */
    OPTION_DURATION,  /* int64_t, seconds: in the syntax of sbatch -t */
    OPTION_MEMORY,    /* uint64_t, MiB: 512M, 4G */
    OPTION_TIME,      /* int64_t, microseconds since the epoch: in the syntax of options/time_text.h */
    OPTION_PAST_TIME, /* the same, where "2h" and "16:00" are the last ones */
    OPTION_FIELD      /* struct field_value, as the field accepts it; and a bool that becomes true */
};

/* The type of an argument, the values that are accepted, and the member that it is stored in. */
struct option_value {
    enum option_type type;
    size_t offset;             /* of the member in the values */
    const char *choices;       /* for OPTION_CHOICE: "merge|slurm" */
    uint64_t min, max;         /* for OPTION_U64 and OPTION_I64; max 0: unlimited (OPTION_U64) */
    const char *default_value; /* not NULL: the argument is optional (--nice or --nice=5), and this is its default */
    const struct field
        *field; /* of OPTION_FIELD: durations as OPTION_DURATION (UNLIMITED is the maximum), times as OPTION_TIME */
    size_t given_offset; /* of OPTION_FIELD */
};

/* The arguments of an option that may be repeated, in order. */
enum { OPTION_TEXTS_MAX = 32 };
struct option_texts {
    const char *items[OPTION_TEXTS_MAX];
    uint32_t count;
};

struct option_row {
    const char *name;     /* without dashes; NULL ends the table */
    char letter;          /* 0: none */
    const char *argument; /* "FILE"; NULL for flags. The shell completes FILE, DIR and PATH as file names */
    struct option_value value;
    const char *help; /* one line, no capital, no full stop */
    bool is_once;     /* a second one is refused instead of overriding the first */
};

/* offsetof that compiles only for a member of the given C type. */
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
#define PAST_TIME_IN(s, member) OPTION_IN(OPTION_PAST_TIME, s, member, int64_t)
#define FIELD_IN(s, member, given_member, field_)                             \
    OPTION_IN(OPTION_FIELD, s, member, struct field_value, .field = (field_), \
              .given_offset = OPTION_MEMBER(s, given_member, bool))

/* A table of options and the struct that its rows fill. */
struct option_set {
    const struct option_row *rows; /* NULL: none */
    void *values;
};

enum { OPTION_SETS_MAX = 4, OPTION_ROWS_MAX = 64 };

/* The options of a program or command. */
struct option_rules {
    const char *name;                        /* of the program or command, for messages: "fairlead queue" */
    struct option_set sets[OPTION_SETS_MAX]; /* all names and letters differ */
    uint32_t set_count;
    bool options_first; /* the first operand ends the options */
    /* Advice for an unknown long option, a letter, or several letters after one dash (qsub's -pe), given without
     * dashes, or NULL. May be NULL. */
    const char *(*explain)(const char *word);
    /* The time from which "now+1hour" counts, asked for when a time is parsed. NULL: the time of day. */
    int64_t (*now_us)(void *context);
    void *now_context;
};

/* A parsed command line. */
struct parsed {
    const struct option_row *rows[OPTION_SETS_MAX]; /* of the rules' sets */
    uint64_t given[OPTION_SETS_MAX];                /* bit i: row i of the set was given */
    char **operands;                                /* all other words, in order; points into argv */
    uint32_t operand_count;
    const struct option_row *bare_option; /* the last one that was given without its optional argument; NULL: none */
    const char *after_bare_option;        /* the word behind it; NULL: none */
    bool is_after_dashes;                 /* with options_first: "--" precedes the operands */
    uint32_t failed_index;                /* after a failure: the index in argv of the option that was refused */
};

/* Parses argv[1..argc) into the values of the sets; a later option overrides an earlier one. Reorders argv, so that the
 * operands are last. On failure values may be partly filled. Not thread-safe (getopt_long). ERR_USAGE: an unknown
 * option (the message names the nearest one), a missing or an unexpected argument, a second one of is_once;
 * ERR_INPUT: an argument that is not accepted. */
int options_parse(const struct option_rules *rules, int argc, char **argv, struct parsed *out_parsed, struct err *e);

/* Copies what one row holds from one struct of its table to another; sets it as if it had not been given. */
void options_copy_value(const struct option_row *row, const void *from, void *to);
void options_clear_value(const struct option_row *row, void *values);

/* Whether the option with the name was given; the tables must have it. Whether any option of a table was given. */
bool options_given(const struct parsed *parsed, const char *name);
bool options_any_given(const struct parsed *parsed, const struct option_row *rows);

/* Whether an operand was meant as the argument of an option that takes it behind '=' ("--nice 5"); *e says so then. For
 * operands that are not accepted. */
bool options_explain_bare(const struct parsed *parsed, struct err *e);

/* The number of rows; 0 for NULL. */
uint32_t options_count(const struct option_row *rows);

#endif
