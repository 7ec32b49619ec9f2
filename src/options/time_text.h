/* Times as people write them: on top of base/quantity.h's, which know no clock and no zone, those that mean something
 * here and now. Local time is the zone of TZ. */
#ifndef FAIRLEAD_OPTIONS_TIME_TEXT_H
#define FAIRLEAD_OPTIONS_TIME_TEXT_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* In one line, for help. */
#define TIME_TEXT_FORMS "now+1hour, 16:00, tomorrow, 2026-11-21, 2026-11-21T09:05, with a zone (Z), seconds since 1970"

/* Reads, with now_us as now:
 *
 *     now, now+90, now+1hour                 seconds without a unit; second, minute, hour, day, week, or how they begin
 *     16:00, 16:00:30, noon, midnight        the next one, local
 *     today, tomorrow                        at its beginning, local
 *     2026-11-21, 2026-11-21T09:05[:30]      local; a blank may stand for the T
 *     2026-11-21T09:05Z, ...+01:00, seconds  as base/quantity.h
 *     202611210905[.30]                      local, as Grid Engine writes it
 *
 * ERR_INPUT otherwise; what is the field's name. */
int time_text_parse(struct str text, const char *what, int64_t now_us, int64_t *out_us, struct err *e);

#endif
