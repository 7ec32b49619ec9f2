/* Times as users write them: the formats of base/quantity.h, which need neither clock nor time zone, and those that are
 * relative to the current time or in local time. The local zone is that of TZ. */
#ifndef FAIRLEAD_OPTIONS_TIME_TEXT_H
#define FAIRLEAD_OPTIONS_TIME_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* The most important formats in one line, for messages. */
#define TIME_TEXT_FORMATS \
    "now+1hour, 2h, 16:00, tomorrow, monday, 2026-11-21, 2026-11-21T09:05, with a zone (Z), seconds since 1970"

/* Where a time lies that is written without a date: "2h" and "16:00" of --begin come next, those of --since were
 * last. */
enum time_side { TIME_AHEAD, TIME_BEHIND };

struct time_context {
    enum time_side side;
    int64_t now_us;
};

/* How times are written: a row for each form, which the parser walks in order; ends with {0}. */
struct time_form {
    const char *form, *meaning;
    bool (*read)(struct str s, const struct time_context *c, int64_t *out_us);
};
extern const struct time_form time_text_forms[];

/* Parses one of these forms. c: the current time, and the side. what: the name of the option, for the error.
 *
 * The time may be before 1970 or after the year 9999, and a time that is far too late may be another one after that
 * year: the caller checks the range. ERR_INPUT: another text, or a local time that does not exist. */
int time_text_parse(struct str text, const char *what, const struct time_context *c, int64_t *out_us, struct err *e);

#endif
