/* A line on standard error that says what a job waits for: on a terminal one line that is written anew, elsewhere a
 * line for each change, at most one in a while. It needs no terminfo: a carriage return and blanks do. */
#ifndef FAIRLEAD_CLI_WAIT_LINE_H
#define FAIRLEAD_CLI_WAIT_LINE_H

#include "base/text.h"

struct wait_line {
    bool is_live;       /* written anew */
    uint32_t width;     /* columns of what stands there; 0: nothing */
    int64_t written_us; /* monotonic; 0: never */
    char last[200];
};

void wait_line_begin(struct wait_line *w);

/* Shows the text, whose control characters become '?'. now_us: monotonic. */
void wait_line_show(struct wait_line *w, const char *text, int64_t now_us);

/* Removes what stands there, before anything else is written. */
void wait_line_clear(struct wait_line *w);

#endif
