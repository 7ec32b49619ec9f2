/* The clock of the daemon: the time of turns, of records and of all that it answers.
 *
 *     real       the wall clock; while it is set by more than a little, the time since boot (clock_decision.h)
 *     pretend    from a start on, speed virtual seconds for each second that passes while the daemon runs
 *
 * The virtual time stands still while the daemon does not run, and goes on from there: each reading is written to
 * DIR/pretend.clock, without a sync, so a kill loses none. After a loss of power it goes on from the last commit
 * (daemon_clock_not_before). */
#ifndef FAIRLEAD_DAEMON_DAEMON_CLOCK_H
#define FAIRLEAD_DAEMON_DAEMON_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* All zero is the real clock. */
struct daemon_clock {
    uint32_t speed;              /* 0: the real clock */
    int64_t begin_us, origin_us; /* at origin_us of the monotonic clock it was begin_us */
    int64_t written_us;          /* in the file */
    int fd;
    /* Of the real clock: the last reading. */
    int64_t time_us, boot_us; /* boot_us: the time since boot then; 0: not read yet */
};

/* Begins a virtual clock, where the file says or, without a file, at the time of day. speed: at least 1. ERR_IO: the
 * file cannot be opened. */
int daemon_clock_open(struct daemon_clock *c, const char *directory, uint32_t speed, struct err *e);
void daemon_clock_close(struct daemon_clock *c);

/* Never less than before. The real clock first shows the wall clock; when that is set by more than CLOCK_SMALL_US, the
 * time goes on by the time since boot, until daemon_clock_set. */
int64_t daemon_clock_us(struct daemon_clock *c);

/* Sets the real clock, also backward. */
void daemon_clock_set(struct daemon_clock *c, int64_t time_us, int64_t boot_us);

/* The virtual clock jumps to the time, if it is behind. Does nothing with the real clock. */
void daemon_clock_not_before(struct daemon_clock *c, int64_t time_us);

/* Milliseconds until so much of its time has passed, at least 1. */
uint64_t daemon_clock_wait_ms(const struct daemon_clock *c, int64_t wait_us);

#endif
