/* What people are told about the clock, by 'status' and 'clock'. */
#ifndef FAIRLEAD_CLI_CLOCK_LINE_H
#define FAIRLEAD_CLI_CLOCK_LINE_H

#include "api/bodies.h"
#include "cli/output.h"

enum { CLOCK_LINE_TIME_SIZE = 64 };

/* "23 Nov 2026 09:45:00" */
void clock_line_time(char out[CLOCK_LINE_TIME_SIZE], int64_t time_us);

/* The gap that is not counted, and what to do about it. heading: of the first line, 11 columns. */
void clock_line_write_gap(const struct api_clock *c, const char *heading, struct output *out);

/* What is open, or has happened last; nothing if there is nothing to tell. */
void clock_line_write(const struct api_clock *c, struct output *out);

#endif
