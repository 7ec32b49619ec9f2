/* Grid Engine's schedule file: with MONITOR in params the lines of each pass (engine/pass_lines.c) are appended to the
 * file `schedule` in the state directory, mode 0600.
 *
 *     schedule      at most SCHEDULE_FILE_BYTES_MAX, unless a single pass has more lines
 *     schedule.1    the file before it, and so on; the last one is deleted
 *
 * The file is opened for each pass, so it may be moved or deleted at any time. It is for people and for other programs;
 * nothing here reads it, and if it cannot be written, its lines are lost and nothing else. */
#ifndef FAIRLEAD_DAEMON_SCHEDULE_FILE_H
#define FAIRLEAD_DAEMON_SCHEDULE_FILE_H

#include <stdint.h>

#include "base/str.h"

enum { SCHEDULE_FILE_BYTES_MAX = 10 << 20, SCHEDULE_FILE_OLD_COUNT = 3 };

/* All zero at first. */
struct schedule_file {
    int64_t reported_us; /* when a failure was last logged */
    int reported_errno;
};

/* Appends lines to the file in a directory: all of them or, with a line in the log, none. The same failure is logged
 * at most once an hour. */
void schedule_file_append(struct schedule_file *f, const char *directory, struct str lines, int64_t now_us);

#endif
