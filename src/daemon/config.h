/* The configuration file of the daemon: lines "setting = value", comments from '#' to the end of the line, blank lines.
 * The settings and the values that they accept are those of fields/settings.h. */
#ifndef FAIRLEAD_DAEMON_CONFIG_H
#define FAIRLEAD_DAEMON_CONFIG_H

#include "base/array.h"
#include "base/err.h"
#include "fields/settings.h"

struct config_line {
    enum setting setting;
    struct str name, value; /* views of the text that was parsed */
};

struct config {
    ARRAY(struct config_line) lines;
};

/* Parses a whole file. file: its name for errors, which give FILE:LINE:COLUMN. The caller releases out_config->lines,
 * and keeps text as long as it uses them. ERR_INPUT: an unknown or repeated setting, or a value that the setting does
 * not accept; out_config is then unchanged. O(lines^2) */
int config_parse(const char *file, struct str text, struct config *out_config, struct err *e);

#endif
