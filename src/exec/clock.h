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

/* The timeout of a poll until a time since boot, of a second at most; INT64_MAX: for ever. */
static inline int clock_poll_timeout_ms(int64_t until_us)
{
    if (until_us == INT64_MAX) return -1;
    int64_t left_ms = (until_us - clock_boot_us()) / US_PER_MS + 1;
    return left_ms < 0 ? 0 : left_ms < 1000 ? (int)left_ms : 1000;
}

#endif
