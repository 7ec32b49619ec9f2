/* The two clocks: what a person calls now, and one that nobody sets and that goes on while the machine sleeps. */
#ifndef FAIRLEAD_EXEC_CLOCK_H
#define FAIRLEAD_EXEC_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "base/ensure.h"

static inline int64_t clock_read_us(clockid_t clock)
{
    struct timespec now;
    ensure(clock_gettime(clock, &now) == 0);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
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
