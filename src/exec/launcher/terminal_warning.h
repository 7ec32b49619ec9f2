/* Tells users on their terminals that they use too much outside jobs, as write(1) does: on the controlling terminals of
 * their processes outside jobs, unless the terminal accepts no messages (mesg n). */
#ifndef FAIRLEAD_EXEC_LAUNCHER_TERMINAL_WARNING_H
#define FAIRLEAD_EXEC_LAUNCHER_TERMINAL_WARNING_H

#include "exec/launcher/launch_table.h"
#include "exec/outside_warning.h"

/* Starts a process for each user that is a person (job_identity_is_person), which writes and ends; nothing in a private
 * launcher, or while it is not known what belongs to jobs. Waits for nothing. O(processes of the machine). */
void terminal_warning_send(const struct launches *l, const struct outside_warning *warnings, uint32_t count);

/* Appends the message: lines that end with "\r\n", of printable ASCII alone. now: seconds since 1970. Pure but for the
 * time zone. */
void terminal_warning_format(const struct outside_warning *warning, int64_t now, struct buf *out);

#endif
