/* Fields. A field is anything with a name, a type and a value: a setting, a property of a partition, user or job, a
 * column of a listing. Each field is one row of a table. Parsing, checking and printing its values, scenario documents,
 * the API, the database, help, manual pages and completion all come from that row.
 *
 *     PriorityTier=10       a whole number             TRESBillingWeights=CPU=1.0,Mem=0.25G   text with its own check
 *     PriorityMaxAge=7-0    a duration in minutes      share_functional_shares=true           yes or no
 *
 * A value is small and is passed by copying. Its text belongs to the arena that field_parse was given. */
#ifndef FAIRLEAD_FIELDS_FIELD_H
#define FAIRLEAD_FIELDS_FIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/text.h"

enum field_type {
    FIELD_NUMBER,  /* whole */
    FIELD_REAL,    /* finite; in listings also infinite */
    FIELD_BOOL,    /* true, yes, 1; false, no, 0 */
    FIELD_CHOICE,  /* one of choices, any case; the value is its index there */
    FIELD_TEXT,    /* printable UTF-8 */
    FIELD_BYTES,   /* such as a path: any bytes but zero */
    FIELD_SECONDS, /* a duration: seconds, or one of duration_forms but for the first */
    FIELD_MINUTES, /* a duration as Slurm writes it: minutes, or D-H:M:S; in seconds, rounded up to minutes */
    FIELD_HOURS,   /* a duration as Grid Engine's halftime: whole hours; the value is in seconds */
    FIELD_MEMORY,  /* MiB, or a number with a suffix */
    FIELD_TIME     /* microseconds since the epoch; written as seconds since the epoch or ISO 8601 with a zone */
};

/* The field's type decides which member holds the value; the other two are 0 and "". Where a nullable field has no
 * value, number is FIELD_ABSENT, real is NAN and text is NULL. */
struct field_value {
    int64_t number;
    double real;
    const char *text;
};

#define FIELD_ABSENT INT64_MIN
enum { FIELD_SPECIAL = -1, FIELD_TEXT_MAX = 4000 };

struct field {
    const char *name;
    const char *help;  /* one line: a phrase without a capital letter and without a full stop */
    const char *group; /* the heading above it in listings; NULL: none */
    enum field_type type;
    /* The range of numbers, reals, durations (seconds), memory (MiB) and times (microseconds); of texts the range of
     * their length in bytes, where max 0 stands for FIELD_TEXT_MAX. */
    double min, max;
    struct field_value default_value;
    const char *choices; /* of FIELD_CHOICE: "merge,slurm" */
    /* A word that stands for FIELD_SPECIAL: "auto", "UNLIMITED"; or NULL. For UNLIMITED and FIELD_MINUTES, INFINITE and
     * -1 do so too. */
    const char *special;
    bool is_nullable;  /* may have no value: null in JSON, empty in lines, NULL in the database */
    bool is_hidden;    /* in no listing and not in the API */
    bool is_private;   /* a reply may withhold its value: then null in JSON, and empty in lines */
    bool is_read_only; /* only the instance sets it */
    /* Of FIELD_TEXT: each line is NAME=VALUE. In JSON it is an object, elsewhere commas separate the pairs. */
    bool is_pairs;
    bool has_lines;   /* of FIELD_TEXT: line ends are accepted, and kept as "; " */
    bool is_tres;     /* of FIELD_TEXT: limits by TRES, "cpu=64,mem=8G", which a change merges (policy/tres.h) */
    bool is_text;     /* of durations: in JSON as people write it, whatever the table says (field_table.is_written) */
    bool is_host_set; /* names of hosts, separated by commas: tables shorten them to "n[1-3]" (fields/host_list.h) */
    bool is_task_set; /* a job's id or tasks: tables shorten it to "5_[0,2,4,...]" (fields/job_id.h) */
    /* For FIELD_TEXT and FIELD_BYTES: ERR_INPUT if the text has the wrong form. NULL: there is no further rule. */
    int (*check)(struct str text, const char *field, struct err *e);
    /* Appends what a person should know about an accepted value, as a sentence without a full stop, or nothing. NULL:
     * nothing about any value. */
    void (*remark)(const struct field_value *value, struct buf *out);
    bool remark_is_of_instance; /* readers of documents do not print it */
};

/* One kind of record: rows that each begin with a struct field. */
struct field_table {
    const char *name, *help; /* "Partition", "Where jobs are submitted to ..." */
    const void *rows;
    size_t row_size;
    uint32_t count;
    bool is_written; /* in JSON, durations and memory are text as people write it; otherwise numbers */
};

static inline const struct field *field_at(const struct field_table *t, uint32_t i)
{
    return (const struct field *)(const void *)((const char *)t->rows + i * t->row_size);
}

/* Values made from a number, a real or a text. A text that is NULL gives a value that is absent. */
static inline struct field_value field_number(int64_t number)
{
    return (struct field_value){.number = number, .text = ""};
}
static inline struct field_value field_real(double real)
{
    return (struct field_value){.real = real, .text = ""};
}
static inline struct field_value field_text(const char *text)
{
    return text != NULL ? (struct field_value){.text = text} : (struct field_value){.number = FIELD_ABSENT};
}

/* Whether the field's values are whole numbers, which words and times are, too. */
static inline bool field_is_whole(const struct field *f)
{
    return f->type != FIELD_REAL && f->type != FIELD_TEXT && f->type != FIELD_BYTES;
}
/* Whether they are texts. */
static inline bool field_is_text(const struct field *f)
{
    return f->type == FIELD_TEXT || f->type == FIELD_BYTES;
}
/* Whether they are durations, which are whole numbers of their unit. */
static inline bool field_is_duration(const struct field *f)
{
    return f->type == FIELD_SECONDS || f->type == FIELD_MINUTES || f->type == FIELD_HOURS;
}

/* The value of a nullable field that has none. */
struct field_value field_absent(void);

/* The value of a field in a record that does not name it: absent if the field is nullable, otherwise 0 or the empty
 * text. */
struct field_value field_nothing(const struct field *f);

/* The value of a field that a reply leaves out: absent if it is private, otherwise field_nothing. */
struct field_value field_unsaid(const struct field *f);

/* Whether a nullable field has no value. */
bool field_is_absent(const struct field *f, const struct field_value *value);

/* Parses a value as people write it. ERR_INPUT names the field, the value and what is accepted. Text is copied into
 * arena, which may be NULL for fields that hold no text. */
int field_parse(const struct field *f, struct str value, struct arena *arena, struct field_value *out_value,
                struct err *e);

/* Checks a value that did not come as text. The errors are those of field_parse. */
int field_check(const struct field *f, const struct field_value *value, struct err *e);

/* Appends what field_parse accepts, for messages and manual pages: "a whole number from 1 to 65536, or auto". Appends
 * nothing for texts: their help says what is accepted. */
void field_accepted(const struct field *f, struct buf *out);

/* Appends the value as field_parse reads it back; nothing if it is absent. */
void field_format(const struct field *f, const struct field_value *value, struct buf *out);

/* Whether two values of the field are the same; absent ones are. */
bool field_equal(const struct field *f, const struct field_value *a, const struct field_value *b);

/* The word at an index of a list such as "merge,slurm". The index must be in the list. */
struct str field_choice(const char *choices, int64_t index);

/* The index of a word, in any case, in such a list; -1 if it is not in the list. */
int64_t field_choice_index(const char *choices, struct str word);

/* Parses true, yes, 1, false, no and 0, in any case. */
bool field_parse_bool(struct str text, bool *out_value);

/* The index of the field with that name, in any case, or NONE. */
uint32_t field_find(const struct field_table *t, struct str name);

/* Appends the names of the fields that are not hidden, for messages: "NAME, NAME, NAME". */
void field_names(const struct field_table *t, struct buf *out);

#endif
