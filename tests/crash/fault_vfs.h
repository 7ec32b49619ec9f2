/* A VFS of SQLite in front of the real one, which counts the steps of a database towards the disk (writes, truncations,
 * syncs, deletions) and causes a fault at one of them.
 *
 * It also keeps what was overwritten since the last sync of each file, so it can simulate a power failure: it undoes
 * all unsynced writes, or any part of them, because a disk may write in any order. One per process. */
#ifndef FAIRLEAD_TESTS_FAULT_VFS_H
#define FAIRLEAD_TESTS_FAULT_VFS_H

#include <stdbool.h>
#include <stdint.h>

enum fault_way {
    WAY_KILL,       /* SIGKILL before the step */
    WAY_TORN,       /* SIGKILL after half of the write */
    WAY_POWER,      /* SIGKILL; all unsynced writes are lost */
    WAY_SHUFFLE,    /* SIGKILL; a random part of the unsynced writes is lost */
    WAY_ERROR,      /* the step fails once; the driver loads the state again and goes on */
    WAY_FULL,       /* the same, with a full disk */
    WAY_SHORT,      /* the same, after half of the write */
    WAY_ERROR_KILL, /* the step fails once; SIGKILL after the failed commit */
    WAY_GONE,       /* this step and all later ones fail */
    WAY_COUNT
};

extern const char *const fault_way_names[WAY_COUNT];

/* Makes this VFS the default of SQLite. fault_step: the step of the fault, from 1; 0: no fault. step_count: steps that
 * count as done. To be called once. */
void fault_vfs_install(enum fault_way way, uint64_t fault_step, uint64_t step_count);

/* Whether the fault has happened; the number of steps so far. */
bool fault_vfs_has_fault(void);
uint64_t fault_vfs_step_count(void);

/* Ends the process by SIGKILL, after the unsynced writes are undone if the way says so. */
_Noreturn void fault_vfs_die(void);

/* Prints "WHAT: TEXT" and exits with 1. */
_Noreturn void fault_vfs_fail(const char *what, const char *text);

#endif
