/* An input text, and positions in it. Parsed records point into the text, so every error has a position, however late
 * it is detected. Lines and columns are counted only for an error. */
#ifndef FAIRLEAD_FORMATS_SOURCE_TEXT_H
#define FAIRLEAD_FORMATS_SOURCE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct source {
    const char *name; /* for messages: the name of the file */
    struct str text;  /* must outlive all records that are parsed from it */
};

/* The line and the column of an address in the text, or of its end, counted from 1; a column is a character.
 * O(length). */
void source_position(const struct source *s, const char *position, uint32_t *out_line, uint32_t *out_column);

/* Adds "NAME:LINE:COLUMN" to an error and returns -1. position: an address in the text, or its end. Lines and columns
 * count from 1; a column is a character. filled: the -1 of the function that filled the error, so that failing is one
 * statement:
 *
 *     return source_error(s, field.text, e, err_value(e, "usage", field, "a number")); */
int source_error(const struct source *s, const char *position, struct err *e, int filled);

/* ERR_INPUT if the text is empty or contains a zero byte. */
int source_check(const struct source *s, struct err *e);

/* The next line of *rest without its end (LF or CR LF); false when there is none. */
bool source_line(struct str *rest, struct str *out_line);

/* The first line that is neither blank nor a comment (#); *rest becomes the text after it. A byte order mark at the
 * beginning is skipped. ERR_INPUT if there is no such line. */
int source_header(const struct source *s, struct str *out_line, struct str *rest, struct err *e);

#endif
