/* A text from elsewhere and the places in it. Records hold views into the text, so whatever turns out wrong, and however
 * late, has a place; line and column are counted only then. */
#ifndef FAIRLEAD_FORMATS_SOURCE_H
#define FAIRLEAD_FORMATS_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct source {
    const char *name; /* what messages call it: a file's name */
    struct str text;  /* must outlive every record made from it */
};

/* ERR_INPUT with "NAME:LINE:COLUMN: " before the formatted text; returns -1. at: in the text, or at its end. Lines count
 * from 1, columns in characters from 1. */
int source_error(const struct source *s, const char *at, struct err *e, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Fails where the text is empty or holds a zero byte: it is no text then. */
int source_check(const struct source *s, struct err *e);

/* The next line of *rest without its end (LF or CR LF); false when there is none. */
bool source_line(struct str *rest, struct str *out_line);

/* The first line that is neither blank nor a comment (#); *rest becomes what follows it. A byte order mark at the
 * beginning is skipped. False when there is none. */
bool source_header(const struct source *s, struct str *out_line, struct str *rest);

#endif
