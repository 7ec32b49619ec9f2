/* Boundaries of PriorityUsageResetPeriod (Slurm): midnights of local time.
 *
 *     DAILY        every midnight
 *     WEEKLY       the one that begins Sunday
 *     MONTHLY      the first of each month
 *     QUARTERLY    1 January, April, July, October
 *     YEARLY       1 January
 *
 * A day begins with its first second. If clocks are turned back over midnight, that is the first 00:00; if they are put
 * forward over midnight, it is the first time that exists on that day. */
#ifndef FAIRLEAD_DAEMON_RESET_PERIOD_H
#define FAIRLEAD_DAEMON_RESET_PERIOD_H

#include <stdint.h>

#include "fields/settings.h"

/* The last boundary that is not after time_us, and the first one after it. period: USAGE_RESET_DAILY to
 * USAGE_RESET_YEARLY. Times are microseconds since the epoch. */
int64_t reset_period_begin_us(enum usage_reset period, int64_t time_us);
int64_t reset_period_end_us(enum usage_reset period, int64_t time_us);

#endif
