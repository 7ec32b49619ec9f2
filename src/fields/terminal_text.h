/* The field terminal of a job: "pty", "pipes,detach". Pure. */
#ifndef FAIRLEAD_FIELDS_TERMINAL_TEXT_H
#define FAIRLEAD_FIELDS_TERMINAL_TEXT_H

#include "base/err.h"
#include "base/str.h"

enum terminal_kind { TERMINAL_NONE, TERMINAL_PTY, TERMINAL_PIPES };

struct terminal_text {
    enum terminal_kind kind;
    bool detaches; /* the job goes on if the command that submitted it is lost */
};

/* Reads "pty" or "pipes", each with or without ",detach"; "": none. terminal_text_check: for a field. ERR_INPUT with
 * the name of the field. */
int terminal_text_parse(struct str text, const char *field, struct terminal_text *out, struct err *e);
int terminal_text_check(struct str text, const char *field, struct err *e);

#endif
