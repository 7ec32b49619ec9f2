/* What --help prints of options: entries in two columns, folded to a line's width. */
#ifndef FAIRLEAD_OPTIONS_USAGE_H
#define FAIRLEAD_OPTIONS_USAGE_H

#include "base/text.h"
#include "options/options.h"

enum { USAGE_WIDTH = 80, USAGE_OPTION_COLUMN = 28, USAGE_ARGUMENT_BYTES = 60 };

/* Appends text broken into lines of at most width characters, each behind indent blanks. Paragraphs are separated by a blank
 * line; a line of the text that begins with a blank stays as it is. */
void usage_wrap(struct buf *out, struct str text, uint32_t indent, uint32_t width);

/* "  name        what it means", the meaning folded behind its column. */
void usage_write_entry(struct buf *out, const char *name, const char *meaning, uint32_t column);

/* What the argument of an option looks like behind its name: " FILE", "[=N]", "". out: USAGE_ARGUMENT_BYTES. */
void usage_argument(const struct option_row *row, char *out);

/* The entries of all rows. */
void usage_write_options(struct buf *out, const struct option_row *rows);

/* The --help of a program that has no commands. */
struct program_usage {
    const char *name;    /* "fairleadd" */
    const char *line;    /* what follows the name: "--private [OPTION...]" */
    const char *summary; /* paragraphs, as usage_wrap takes them; before the options and behind them */
    const struct option_row *rows;
    const char *text;
};
void usage_write_program(struct buf *out, const struct program_usage *u);

#endif
