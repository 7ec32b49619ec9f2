/* A site's configuration files as lists of NAME=VALUE, which know where they stand. What cannot be read is a fault of
 * the list, and reading goes on, so that a check of a file finds all of its faults at once. */
#ifndef FAIRLEAD_FORMATS_CONF_PAIRS_H
#define FAIRLEAD_FORMATS_CONF_PAIRS_H

#include "base/array.h"
#include "formats/source_text.h"

struct conf_pair {
    struct str name, value; /* views of the source's text, or of arena where the value was joined or unescaped */
    const struct source *source;
    const char *position;       /* of the name, in the source's text */
    const char *value_position; /* likewise */
    uint32_t line;              /* pairs of one line, with its continuations, have the same; from 0 over all files */
};

struct conf_fault {
    const struct source *source;
    const char *position;
    const char *text; /* a sentence without a full stop, in arena */
};

enum { CONF_FAULTS_MAX = 100 };

struct conf_pairs {
    ARRAY(struct conf_pair) items;
    ARRAY(struct conf_fault) faults; /* at most CONF_FAULTS_MAX are kept */
    uint32_t fault_count;            /* all */
    uint32_t line_count;             /* lines with pairs, over all files */
    uint32_t template_count;         /* marks of a template, as {{ name }}: read as text, {% ... %} left out */
    struct conf_fault template_mark; /* the first of them */
    struct arena arena;
};

/* Adds a fault. */
void conf_pairs_fault(struct conf_pairs *p, const struct source *s, const char *position, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The last pair of that name, in any case, or NULL. */
const struct conf_pair *conf_pairs_find(const struct conf_pairs *p, const char *name);

void conf_pairs_release(struct conf_pairs *p);

#endif
