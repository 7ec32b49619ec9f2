/* Standard output, buffered and written in large pieces. Write errors are remembered, so that a full disk is not
 * reported as success. */
#ifndef FAIRLEAD_CLI_OUTPUT_H
#define FAIRLEAD_CLI_OUTPUT_H

#include <stdbool.h>

#include "base/err.h"
#include "base/text.h"

struct output {
    struct buf text; /* not yet written; callers append here */
    int fd;          /* -1: all text stays in text */
    bool is_terminal;
    bool has_styles;       /* headings are bold: on a terminal, unless NO_COLOR is set */
    int write_errno;       /* of the first write that failed, after which nothing is written; 0: none */
    bool is_failure_known; /* a flush has failed, so that its caller reports it */
    bool has_no_notes; /* the caller draws the whole screen: a note about left-out columns would be written over it */
    const char *done;  /* what was done although writing fails: "job 5 was submitted all the same"; NULL: nothing */
    uint32_t width;    /* columns of a line: COLUMNS, else the terminal's; 0: unlimited */
};

/* fd stays open until the output is released, and is not closed then. */
void output_init(struct output *o, int fd);
void output_release(struct output *o);

/* Called between rows: writes the text once there is enough of it. */
void output_pace(struct output *o);

/* Writes all text. ERR_IO: this or an earlier write failed. */
int output_flush(struct output *o, struct err *e);

/* Appends one line. Control characters become '?': the line may have the name of a file, or another program's text. */
void output_line(struct output *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints one line to standard error at once; a terminal gets it folded at blanks. Control characters become '?'. */
void output_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
