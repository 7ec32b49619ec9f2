/* A chart of a schedule: for each queue on a host that has jobs, a bar for each job over time.
 *
 *                      0:00      10:00     20:00
 *     all.q@n1, 4 slots
 *       295  2 slots  |#########           |
 *       299  1 slot   |>>>>>               |
 *       296  4 slots  |         ===========...
 *       closed        |                xxxx|
 *
 * # runs, ~ is suspended, > starts now, = is reserved, x: the queue is closed; dots at the end: longer than the chart.
 * The axis has times since now, at multiples of the smallest duration of a list for which the texts do not touch. */
#ifndef FAIRLEAD_CLI_SCHEDULE_CHART_H
#define FAIRLEAD_CLI_SCHEDULE_CHART_H

#include "cli/output.h"
#include "sim/scenario.h"

/* Appends an empty line and the chart, at most width columns wide (0: 100). Nothing if no job runs or starts. */
void schedule_chart_write(const struct schedule *p, const struct scenario *s, uint32_t width, struct output *out);

#endif
