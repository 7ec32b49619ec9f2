/* The clock for budgets and timeouts, which no one sets. */
#include <time.h>

#include "api/server/internal.h"
#include "base/quantity.h"

int64_t server_monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * US_PER_S + now.tv_nsec / NS_PER_US;
}
