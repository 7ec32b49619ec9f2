/* Standard output, written in large pieces, and its errors: a full disk must not look like success. */
#ifndef FAIRLEAD_CLI_OUTPUT_H
#define FAIRLEAD_CLI_OUTPUT_H

#include <stdbool.h>

#include "base/err.h"
#include "base/text.h"

struct output {
    struct buf text; /* made, not yet written: append here */
    int fd;
    bool is_terminal; /* a person is looking */
    bool has_styles;  /* who wants bold headings: a terminal, NO_COLOR not set */
    int write_errno;  /* of the first write that failed; later text is thrown away */
    uint32_t width;   /* columns a line has room for: COLUMNS, else the terminal's; 0: no limit is known */
};

/* The output behind a file descriptor (1). */
void output_init(struct output *o, int fd);
void output_release(struct output *o);

/* To be called between rows: writes when enough has come together. */
void output_pace(struct output *o);

/* Writes what there is, now. ERR_IO when this or an earlier write failed. */
int output_flush(struct output *o, struct err *e);

/* One line for the person, to standard error, made plain. */
void output_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
