/* Fields: what the tables of settings and of objects are made of. A field has a name as its own program writes it, a
 * type, a range, a default and one line of help; from its row come reading, printing, listings and the manual.
 *
 *     PriorityTier=10      whole number          TRESBillingWeights=CPU=1.0,Mem=0.25G    text, checked by its own rule
 *     PriorityMaxAge=7-0   span, in minutes where a bare number is given             share_functional_shares=true  yes or no
 *
 * Values are small and copied freely; the text of one belongs to the arena that field_parse was given. */
#ifndef FAIRLEAD_POLICY_FIELD_H
#define FAIRLEAD_POLICY_FIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/text.h"

enum field_type {
    FIELD_NUMBER,  /* whole */
    FIELD_REAL,    /* finite */
    FIELD_SECONDS, /* a span: seconds, or as sbatch -t writes spans where it has ':' or '-' */
    FIELD_MINUTES, /* a span as Slurm writes them: minutes, or with ':' or '-'; in seconds, of whole minutes, rounded up */
    FIELD_HOURS,  /* a span as Grid Engine's halftime: whole hours; the value is in seconds */
    FIELD_MEMORY, /* MiB, or with a suffix */
    FIELD_CHOICE, /* one of choices, any case; the value is the place in it */
    FIELD_BOOL,   /* true, yes, 1; false, no, 0 */
    FIELD_TEXT
};

/* By the field's type one of these holds; the other two are 0. Text is never NULL. */
struct field_value {
    int64_t number;
    double real;
    const char *text;
};

enum { FIELD_SPECIAL = -1, FIELD_TEXT_MAX = 4000 };

struct field {
    const char *name;
    const char *help;
    enum field_type type;
    double min, max; /* of numbers, reals and spans (seconds); whole ones are exact */
    struct field_value default_value;
    const char *choices; /* of FIELD_CHOICE: "merge,slurm" */
    /* A word that stands for FIELD_SPECIAL: "auto", "UNLIMITED"; or NULL. Of minutes INFINITE and -1 do, too. */
    const char *special;
    /* Of FIELD_TEXT: ERR_INPUT when the text is not of the field's form, naming what and the item; NULL: any printable. */
    int (*check)(struct str text, const char *what, struct err *e);
};

/* Reads a value: ERR_INPUT names the field, the value and what is accepted. Text is copied into arena. */
int field_parse(const struct field *f, struct str value, struct arena *arena, struct field_value *out_value,
                struct err *e);

/* "a whole number from 1 to 65536, or auto": what field_parse takes, for messages and manuals. Nothing for text: what is
 * accepted there says help. */
void field_accepted(const struct field *f, struct buf *out);

/* The value as field_parse reads it back. */
void field_format(const struct field *f, const struct field_value *value, struct buf *out);

bool field_equal(const struct field *f, const struct field_value *a, const struct field_value *b);

/* The place of the field of that name (any case), or NONE. */
uint32_t field_find(const struct field *fields, uint32_t count, struct str name);

/* "KEY, KEY, KEY": what there is, for messages. */
void field_names(const struct field *fields, uint32_t count, struct buf *out);

#endif
