/* Manual pages in the man(7) format, for man-db and mandoc. Text is escaped, so no help text is read as a request: a
 * leading point or apostrophe, backslashes, and '-', which must stay the ASCII character. */
#ifndef FAIRLEAD_OPTIONS_MANUAL_PAGE_H
#define FAIRLEAD_OPTIONS_MANUAL_PAGE_H

#include "base/text.h"
#include "options/usage.h"

/* Appends the heading of a page and its section NAME. */
void manual_page_head(struct buf *out, const char *page, int section, const char *summary);

/* Appends a text, escaped. */
void manual_page_escape(struct buf *out, struct str text);

/* Appends what comes before, as it is, then a text, escaped, and an end of line. */
void manual_page_line(struct buf *out, const char *before, const char *text);

/* Appends paragraphs; lines that begin with a blank are not filled. */
void manual_page_text(struct buf *out, const char *text);

/* Appends an option with its argument and help. */
void manual_page_option(struct buf *out, const struct option_row *row);

/* Appends the page of a program without commands, in section 8. */
void manual_page_write_program(struct buf *out, const struct program_usage *u);

#endif
