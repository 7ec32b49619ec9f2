/* Boundaries of PriorityUsageResetPeriod: midnights by the clock on the machine's wall, whatever its time zone does.
 *
 *     DAILY every midnight    WEEKLY Sunday's    MONTHLY the first's    QUARTERLY of January, April, July, October
 *     YEARLY 1 January's
 *
 * A day begins with its first moment: where clocks are turned back over midnight with the first 00:00, where they are put
 * forward over it with what comes instead. */
#ifndef FAIRLEAD_DAEMON_RESET_PERIOD_H
#define FAIRLEAD_DAEMON_RESET_PERIOD_H

#include <stdint.h>

#include "fields/settings.h"

/* The last boundary that is not after at_us, and the first that is. period: DAILY to YEARLY. */
int64_t reset_period_begin_us(enum usage_reset period, int64_t at_us);
int64_t reset_period_end_us(enum usage_reset period, int64_t at_us);

#endif
