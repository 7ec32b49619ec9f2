/* Names of signals, and the time limit's warning: "USR1", "SIGUSR1", "10"; "B:USR1@90". Pure. */
#ifndef FAIRLEAD_FIELDS_SIGNAL_TEXT_H
#define FAIRLEAD_FIELDS_SIGNAL_TEXT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"

enum { SIGNAL_TEXT_LAST = 31 /* the highest number */, SIGNAL_WARNING_DEFAULT_S = 60, SIGNAL_WARNING_LAST_S = 65535 };

/* Reads a name, in any case and with or without SIG, or a number from 1 to SIGNAL_TEXT_LAST. ERR_INPUT with the name of
 * the field. */
int signal_text_parse(struct str text, const char *field, uint32_t *out_number, struct err *e);

/* "USR1"; number: from 1 to SIGNAL_TEXT_LAST. */
const char *signal_text_name(uint32_t number);

/* Appends all names with their numbers: "HUP (1), INT (2), ...". */
void signal_text_add_names(struct buf *out);

/* A signal that a job gets before its time limit. */
struct signal_warning {
    uint32_t number; /* 0: none */
    uint32_t before_s;
    bool is_to_first; /* only its first process gets it */
};

/* Reads "[B:]SIGNAL[@SECONDS]", Slurm's syntax; "": none. signal_warning_check: for a field. ERR_INPUT */
int signal_warning_parse(struct str text, const char *field, struct signal_warning *out, struct err *e);
int signal_warning_check(struct str text, const char *field, struct err *e);

#endif
