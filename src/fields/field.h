/* Fields: what everything is made of that has a name, a type and a value: settings, the properties of partitions and their
 * like, of jobs and tasks, and the columns of every listing. A field is one row of a table. Reading and checking values,
 * printing them, documents, the API, the database, help, manuals and completion all come from that row.
 *
 *     PriorityTier=10       a whole number             TRESBillingWeights=CPU=1.0,Mem=0.25G   text, checked by its own rule
 *     PriorityMaxAge=7-0    a duration, in minutes     share_functional_shares=true           yes or no
 *
 * A value is small and copied freely; its text belongs to the arena that field_parse was given. */
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
    FIELD_BYTES,   /* a path or the like: any bytes but zero */
    FIELD_SECONDS, /* a duration: seconds, or D-H:M:S and its short forms */
    FIELD_MINUTES, /* a duration as Slurm writes them: minutes, or D-H:M:S; kept in seconds, whole minutes, rounded up */
    FIELD_HOURS,   /* a duration as Grid Engine's halftime: whole hours; kept in seconds */
    FIELD_MEMORY,  /* MiB, or with a suffix */
    FIELD_TIME     /* microseconds since the epoch; written as seconds since the epoch or ISO 8601 with a zone */
};

/* By the field's type one of these holds; the other two are 0 and "". Where there is no value (of a nullable field) number
 * is FIELD_ABSENT, real is NAN, text is NULL. */
struct field_value {
    int64_t number;
    double real;
    const char *text;
};

#define FIELD_ABSENT INT64_MIN
enum { FIELD_SPECIAL = -1, FIELD_TEXT_MAX = 4000 };

struct field {
    const char *name;
    const char *help;  /* one line */
    const char *group; /* the heading it stands under in listings; NULL: none */
    enum field_type type;
    /* Of numbers, reals, durations (seconds), memory (MiB) and times; of text the bytes, where max 0 is FIELD_TEXT_MAX. */
    double min, max;
    struct field_value default_value;
    const char *choices; /* of FIELD_CHOICE: "merge,slurm" */
    /* A word that stands for FIELD_SPECIAL: "auto", "UNLIMITED"; or NULL. Of minutes INFINITE and -1 do, too. */
    const char *special;
    bool is_nullable;  /* may have no value: null in JSON, nothing in lines, NULL in the database */
    bool is_hidden;    /* in no listing and not in the API */
    bool is_read_only; /* made by the instance: nobody sets it */
    /* Of FIELD_TEXT: ERR_INPUT when the text is not of the field's form; NULL: any printable text is. */
    int (*check)(struct str text, const char *field, struct err *e);
};

/* Rows that begin with a struct field, as one kind of record. */
struct field_table {
    const char *name, *help; /* "Partition", "Where jobs are submitted to ..." */
    const void *rows;
    size_t row_size;
    uint32_t count;
    bool is_written; /* in JSON durations and memory are text, as people write them; else numbers */
};

static inline const struct field *field_at(const struct field_table *t, uint32_t i)
{
    return (const struct field *)(const void *)((const char *)t->rows + i * t->row_size);
}

/* Values from what they hold; a text that is NULL is none. */
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

/* Whether the type's values are whole numbers; a text. */
static inline bool field_is_whole(const struct field *f)
{
    return f->type != FIELD_REAL && f->type != FIELD_TEXT && f->type != FIELD_BYTES;
}
static inline bool field_is_text(const struct field *f)
{
    return f->type == FIELD_TEXT || f->type == FIELD_BYTES;
}
static inline bool field_is_duration(const struct field *f)
{
    return f->type == FIELD_SECONDS || f->type == FIELD_MINUTES || f->type == FIELD_HOURS;
}

/* No value; what a record has where nothing is said of a field: no value, or of one that always has one 0 and the empty
 * text; and whether there is none. */
struct field_value field_absent(void);
struct field_value field_nothing(const struct field *f);
bool field_is_absent(const struct field *f, const struct field_value *value);

/* Reads a value as people write it. ERR_INPUT names the field, the value and what is accepted. Text is copied into arena. */
int field_parse(const struct field *f, struct str value, struct arena *arena, struct field_value *out_value,
                struct err *e);

/* Whether a value that did not come as text is acceptable; refused as field_parse refuses. */
int field_check(const struct field *f, const struct field_value *value, struct err *e);

/* "a whole number from 1 to 65536, or auto": what field_parse takes, for messages and manuals. Nothing for text: its help
 * says what is accepted. */
void field_accepted(const struct field *f, struct buf *out);

/* The value as field_parse reads it back; nothing where there is none. */
void field_format(const struct field *f, const struct field_value *value, struct buf *out);

bool field_equal(const struct field *f, const struct field_value *a, const struct field_value *b);

/* The word at an index of a list such as "merge,slurm" (which has one there), and the index of a word, any case; -1: none. */
struct str field_choice(const char *choices, int64_t index);
int64_t field_choice_index(const char *choices, struct str word);

/* Reads true, yes, 1, false, no, 0, any case. */
bool field_parse_bool(struct str text, bool *out_value);

/* The index of the field of that name (any case), or NONE. */
uint32_t field_find(const struct field_table *t, struct str name);

/* "NAME, NAME, NAME": the fields that are not hidden, for messages. */
void field_names(const struct field_table *t, struct buf *out);

#endif
