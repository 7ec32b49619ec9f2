/* The clocks of executor and launcher, in microseconds.
 *
 *     clock_wall_us    the time of day, which an administrator or NTP may set: for people who read records
 *     clock_boot_us    the time since boot, also while the machine sleeps; never set: for all that is computed */
#ifndef FAIRLEAD_EXEC_CLOCK_H
#define FAIRLEAD_EXEC_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "base/ensure.h"
#include "base/quantity.h"

static inline int64_t clock_read_us(clockid_t clock)
{
    struct timespec now;
    ensure(clock_gettime(clock, &now) == 0);
    return (int64_t)now.tv_sec * US_PER_S + now.tv_nsec / NS_PER_US;
}

static inline int64_t clock_wall_us(void)
{
    return clock_read_us(CLOCK_REALTIME);
}

static inline int64_t clock_boot_us(void)
{
    return clock_read_us(CLOCK_BOOTTIME);
}

#endif
