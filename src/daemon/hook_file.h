/* Whether a program of the site may be run by the daemon. */
#ifndef FAIRLEAD_DAEMON_HOOK_FILE_H
#define FAIRLEAD_DAEMON_HOOK_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { HOOK_FAULT_SIZE = 200 };

/* What keeps the program at an absolute path from being run, as the end of a sentence that begins with the path:
 * "does not exist". is_system: it decides for all users of a machine, so it, and each directory on the way to it, has
 * to belong to root or to the daemon's account, and others may not write there; a directory with the sticky bit is
 * accepted, because others cannot replace a file in it. Returns whether nothing does. Asks the file system: not for
 * the loop, except for a new setting. */
bool hook_file_check(const char *path, bool is_system, char out_fault[HOOK_FAULT_SIZE]);

#endif
