/* Times as users write them: the formats of base/quantity.h, which need neither clock nor time zone, and those that are
 * relative to the current time or in local time. The local zone is that of TZ. */
#ifndef FAIRLEAD_OPTIONS_TIME_TEXT_H
#define FAIRLEAD_OPTIONS_TIME_TEXT_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* The most important formats in one line, for messages. */
#define TIME_TEXT_FORMATS \
    "now+1hour, 16:00, tomorrow, 2026-11-21, 2026-11-21T09:05, with a zone (Z), seconds since 1970"

/* Parses one of these formats. now_us: the current time. what: the name of the option, for the error.
 *
 *     now, now+90, now+1hour                 seconds without a unit; second, minute, hour, day, week, or a prefix of
 *                                            them
 *     16:00, 16:00:30, noon, midnight        the next one, local
 *     today, tomorrow                        local midnight at its start
 *     2026-11-21, 2026-11-21T09:05[:30]      local; a blank may replace the T
 *     2026-11-21T09:05Z, ...+01:00, seconds  those of base/quantity.h
 *     202611210905[.30]                      local, the format of Grid Engine
 *
 * The time may be before 1970 or after the year 9999, and a time that is far too late may be another one after that
 * year: the caller checks the range. ERR_INPUT: another text, or a local time that does not exist. */
int time_text_parse(struct str text, const char *what, int64_t now_us, int64_t *out_us, struct err *e);

#endif
