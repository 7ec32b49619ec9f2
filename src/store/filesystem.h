/* Whether a directory is on this machine. SQLite's write-ahead log needs shared memory and locks that only one kernel
 * gives; on a network file system it loses data without a word. */
#ifndef FAIRLEAD_STORE_FILESYSTEM_H
#define FAIRLEAD_STORE_FILESYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum { FILESYSTEM_NAME_SIZE = 64 };

/* Pure: true where the file system is one that other machines serve or share, and its name. type: statfs's f_type; major,
 * minor: of the device; mountinfo: the text of /proc/self/mountinfo. What neither table knows counts as local. */
bool filesystem_is_shared(uint64_t type, uint32_t major, uint32_t minor, struct str mountinfo,
                          char out_name[FILESYSTEM_NAME_SIZE]);

/* ERR_INPUT naming path, its file system and what to use instead; ERR_IO when it cannot be asked. */
int filesystem_check_local(const char *path, struct err *e);

#endif
