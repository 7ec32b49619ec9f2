/* Keepers that no record leads to: the record log was deleted while their jobs ran, and the launcher that knew them was
 * killed. The daemon is going to be told that their launches are not known, and may start the jobs again. So they are
 * ended before that.
 *
 * A keeper has its state directory open, which says for certain whose it is: a copy of the directory is another one, a
 * renamed directory is the same. The key in the environment of a job's processes would not do. The mark of a copy has
 * the original's id until its daemon has changed it; and a job may hand its environment to programs that outlive it
 * and are not its own, such as one that at(1) starts. So what is left of a job whose keeper was killed, too, is not
 * found. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_STRAYS_H
#define FAIRLEAD_EXEC_LAUNCHER_STRAYS_H

#include "exec/launcher/launch_table.h"

/* The kernel's name of a keeper, with the end of line that /proc/PID/comm has (keeper.c). strays_is_keeper: whether a
 * process of the launcher's user has it: another user's may be called like a keeper, so that a launcher looks at it
 * again and again. */
extern const char strays_keeper_name[];
bool strays_is_keeper(pid_t pid, struct buf *scratch);

/* One round: sends SIGKILL to all processes below such keepers, and continues these, because they end by themselves
 * then; with_keepers: SIGKILL to them, too. Returns how many such keepers there are; UINT32_MAX if that cannot be told
 * now, because the keeper of a known launch is not known yet. O(processes of the machine + launches). */
uint32_t strays_kill(const struct launches *l, bool with_keepers);

#endif
