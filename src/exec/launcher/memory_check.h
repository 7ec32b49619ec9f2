/* How much memory the processes of a job use, exactly: what several of them share counts once. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_MEMORY_CHECK_H
#define FAIRLEAD_EXEC_LAUNCHER_MEMORY_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A child of the keeper that adds up the memory of the keeper's other descendants. All zero: there is none. */
struct memory_check {
    pid_t pid;
    int result_fd;       /* if pid is not 0 */
    uint32_t stop_count; /* checks in a row that were stopped */
};

/* Starts one, unless it is running. O(processes of the machine), and of each descendant its page tables. False: the job
 * has stopped the child again and again, as a job of the keeper's own user can, so its memory cannot be checked. */
bool memory_check_begin(struct memory_check *check);

/* To be called when result_fd is readable. Returns the memory in KiB; -1: the child has ended without a result. The
 * child still has to be waited for. */
int64_t memory_check_end(struct memory_check *check);

#endif
