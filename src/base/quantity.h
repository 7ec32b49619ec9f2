/* Quantities as people write them: spans of time as sbatch reads them, amounts of memory, moments. */
#ifndef FAIRLEAD_BASE_QUANTITY_H
#define FAIRLEAD_BASE_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

#define US_PER_S INT64_C(1000000)

/* A span in seconds, as sbatch -t reads it: minutes, M:S, H:M:S, D-H, D-H:M, D-H:M:S. "UNLIMITED", "INFINITE" (any case)
 * give INT64_MAX. 0 or a negative or malformed span, or one over 3650 days: ERR_INPUT; what is the field's name for the
 * text of the error. */
int duration_parse(struct str s, const char *what, int64_t *out_s, struct err *e);

/* "1-02:03:04", "02:03:04" below a day, "UNLIMITED": what duration_parse reads back. A negative span, from a clock set
 * back, has a minus in front. out: 32 bytes; the length is returned. */
size_t duration_format(char *out, int64_t span_s);

/* A span as short as a person wants it in a table: "2:05", "1:02:03", "3-04:05:06". */
size_t duration_format_short(char *out, int64_t span_s);

/* An amount of memory in MiB: a whole number, MiB unless a suffix K, M, G or T (any case, an optional B or iB behind it)
 * says otherwise; K is rounded up to whole MiB. Zero, fractions and over 2^40 MiB: ERR_INPUT. */
int memory_parse(struct str s, const char *what, uint64_t *out_mib, struct err *e);

/* "512M", "4G", "1536M": what memory_parse reads back. out: 32 bytes. */
size_t memory_format(char *out, uint64_t mib);

/* "2026-11-21T09:05:00Z" of microseconds since the epoch, UTC, without a fraction. out: 32 bytes. */
size_t time_format(char *out, int64_t moment_us);

/* Reads seconds since the epoch, or ISO 8601 with a zone (Z or +hh:mm) and optional seconds and fraction, cut to
 * microseconds; years 1 to 9999. ERR_INPUT otherwise. */
int time_parse(struct str s, const char *what, int64_t *out_us, struct err *e);

#endif
