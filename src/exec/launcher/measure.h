/* Measures what running launches use. Nothing is kept between two measurements: CPU time and I/O are sums that the
 * kernel keeps, so they are right whatever was killed in between. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_MEASURE_H
#define FAIRLEAD_EXEC_LAUNCHER_MEASURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "exec/launch.h"

struct measured_launch {
    pid_t keeper;                           /* pid of a running keeper */
    const char *group_path;                 /* the caller's: of its control group; "" without one */
    int64_t before_cpu_us, before_io_bytes; /* of its record: what the keeper's earlier children have used */
    bool is_stopped;                        /* measure_launches: the keeper is stopped by a signal */
    struct launch_usage usage;
};

/* Fills in the usage of each launch, except usage.id, which is the caller's. O(processes of the machine): a file of
 * each is read, another one of those that belong to the launches, three of each keeper, and three of each group. */
void measure_launches(struct measured_launch *launches, uint32_t count);

#endif
