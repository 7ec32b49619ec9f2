/* The text of --help: entries in two columns, folded to USAGE_WIDTH. */
#ifndef FAIRLEAD_OPTIONS_USAGE_H
#define FAIRLEAD_OPTIONS_USAGE_H

#include "base/text.h"
#include "options/options.h"

enum { USAGE_WIDTH = 80, USAGE_OPTION_COLUMN = 28, USAGE_ARGUMENT_BYTES = 60 };

/* Appends text, folded into lines of at most width characters, each of them indented. Paragraphs are separated by an
 * empty line. A line of the text that begins with a blank is indented, but not folded. */
void usage_wrap(struct buf *out, struct str text, uint32_t indent, uint32_t width);

/* Appends "  name        what it means", with the meaning folded at its column. */
void usage_write_entry(struct buf *out, const char *name, const char *meaning, uint32_t column);

/* Writes the argument of an option as it follows the name: " FILE", "[=N]", "". out: USAGE_ARGUMENT_BYTES. */
void usage_argument(const struct option_row *row, char *out);

/* Appends the entries of all rows. rows: ends with {0}; NULL: none. */
void usage_write_options(struct buf *out, const struct option_row *rows);

/* The --help of a program without commands. */
struct program_usage {
    const char *name;    /* "fairleadd" */
    const char *title;   /* what it is, in a few words, for its manual page */
    const char *line;    /* what follows the name: "--private [OPTION...]" */
    const char *summary; /* paragraphs before the options, for usage_wrap */
    const struct option_row *rows;
    const char *text; /* paragraphs after the options */
};
void usage_write_program(struct buf *out, const struct program_usage *u);

#endif
