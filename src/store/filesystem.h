/* Whether a file system is local. SQLite's write-ahead log needs shared memory and locks within one kernel; on a
 * network file system it loses data silently. */
#ifndef FAIRLEAD_STORE_FILESYSTEM_H
#define FAIRLEAD_STORE_FILESYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum { FILESYSTEM_NAME_SIZE = 64 };

/* True, with its name, for a file system that other machines serve or share; an unknown one counts as local. Pure.
 * type: f_type of statfs; major, minor: the device; mountinfo: the text of /proc/self/mountinfo. O(length of
 * mountinfo). */
bool filesystem_is_shared(uint64_t type, uint32_t major, uint32_t minor, struct str mountinfo,
                          char out_name[FILESYSTEM_NAME_SIZE]);

/* ERR_INPUT when path is on a network file system; ERR_IO when that cannot be read. */
int filesystem_check_local(const char *path, struct err *e);

#endif
