/* The configuration file: one "setting = value" a line, '#' begins a comment, blank lines are skipped. Which settings
 * there are and what they accept is fields/settings.h's business. */
#ifndef FAIRLEAD_DAEMON_CONFIG_H
#define FAIRLEAD_DAEMON_CONFIG_H

#include "base/array.h"
#include "base/err.h"
#include "fields/settings.h"

struct config_line {
    enum setting setting;
    struct str name, value; /* into the text */
};

struct config {
    ARRAY(struct config_line) lines;
};

/* Reads a whole text; file is its name for errors (FILE:LINE:COLUMN). An unknown or repeated setting or a bad value is
 * ERR_INPUT, and out_config stays untouched. Release with array_release(&c.lines). */
int config_parse(const char *file, struct str text, struct config *out_config, struct err *e);

#endif
