/* A chart of a schedule: for each queue on a host that has jobs, a bar for each job over time.
 *
 *                     0:00      0:10      0:20
 *     all.q@n1, 4 slots
 *       295  2 slots  |#########           |
 *       299  1 slot   |>>>>>               |
 *       296  4 slots  |         ==========>|
 *
 * # runs, > starts now, = is reserved; an arrow at the end: longer than the chart. */
#ifndef FAIRLEAD_CLI_SCHEDULE_CHART_H
#define FAIRLEAD_CLI_SCHEDULE_CHART_H

#include "cli/output.h"
#include "sim/scenario.h"

/* Appends the chart, at most width columns wide (0: 100). Nothing if no job runs or starts. */
void schedule_chart_write(const struct schedule *p, const struct scenario *s, uint32_t width, struct output *out);

#endif
