/* Quantities as people write them: durations as sbatch reads them, amounts of memory, and points in time. The
 * formatters write a text and a closing zero byte to out, which has 32 bytes, and return the length of the text. field:
 * the field's name, for errors. A parser that fails leaves its output untouched. */
#ifndef FAIRLEAD_BASE_QUANTITY_H
#define FAIRLEAD_BASE_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

#define US_PER_S INT64_C(1000000)
enum { US_PER_MS = 1000, NS_PER_US = 1000, BYTES_PER_KIB = 1024, BYTES_PER_MIB = 1024 * 1024 };
#define DURATION_S_MAX INT64_C(316224000) /* 3660 days: ten years, however long */

static inline double seconds_between(int64_t from_us, int64_t to_us)
{
    return (double)(to_us - from_us) / (double)US_PER_S;
}

/* How durations are written: a row for each form, which the parser walks, too; ends with {0}. */
struct duration_form {
    const char *form, *meaning;
    bool has_days;  /* a number of days and a '-' come first */
    int parts_s[3]; /* seconds in one of each number; 0: there are no more. None: a number with a unit */
};
extern const struct duration_form duration_forms[];

/* A duration in seconds, in one of these forms; false for another text. Any length is read, also 0. */
bool duration_read(struct str s, int64_t *out_s);

/* The form with units alone: "90m", "1.5h", "2days", "1h30m"; a unit is a prefix of seconds, minutes, hours, days or
 * weeks, in any case. Fractions are rounded to whole seconds. */
bool duration_read_units(struct str s, int64_t *out_s);

/* The same for a time limit: "UNLIMITED" and "INFINITE" (any case) give INT64_MAX. ERR_INPUT for 0, and for a duration
 * that is negative, malformed or over 3660 days. */
int duration_parse(struct str s, const char *field, int64_t *out_s, struct err *e);

/* "1-02:03:04", "02:03:04" below a day, or "UNLIMITED": duration_parse reads it back. A negative duration, which occurs
 * when a clock is set back, begins with a minus. */
size_t duration_format(char *out, int64_t duration_s);

/* A duration in the short form for tables: "2:05", "1:02:03", "3-04:05:06". */
size_t duration_format_short(char *out, int64_t duration_s);

/* An amount of memory in MiB: a number with an optional suffix K, M (default), G or T, in any case and optionally
 * followed by B or iB. Fractions ("1.5G") and K are rounded up to whole MiB. ERR_INPUT for zero and for more than 2^40
 * MiB. */
int memory_parse(struct str s, const char *field, uint64_t *out_mib, struct err *e);

/* "512M", "4G", "1536M": memory_parse reads it back. */
size_t memory_format(char *out, uint64_t mib);

/* "2026-11-21T09:05:00Z": UTC, without the fraction of a second. time_us: microseconds since the epoch. */
size_t time_format(char *out, int64_t time_us);

/* Reads seconds since the epoch, or ISO 8601 with a zone (Z or +hh:mm) and with optional seconds and fraction. The
 * fraction is truncated to microseconds. Years 1 to 9999; ERR_INPUT otherwise. */
int time_parse(struct str s, const char *field, int64_t *out_us, struct err *e);

#endif
