/* Small files that are either complete or absent, whatever is killed or loses power. Sources: rename(2), fsync(2). */
#ifndef FAIRLEAD_EXEC_LAUNCHER_DURABLE_H
#define FAIRLEAD_EXEC_LAUNCHER_DURABLE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/text.h"

/* Replaces the file name in the directory, or creates it, mode 0600. On success the text survives power loss. ERR_IO:
 * the old file is still there, unless only the sync of the directory failed. */
int durable_write(int directory_fd, const char *name, struct str text, struct err *e);

/* The same in two steps. After durable_write_unsynced the text survives the death of every process; power loss leaves
 * the old file, or the new one empty or torn. After durable_sync the text survives power loss, too. */
int durable_write_unsynced(int directory_fd, const char *name, struct str text, struct err *e);
int durable_sync(int directory_fd, const char *name, struct err *e);

/* Appends the text of a file. *out_found: whether the file exists. ERR_UNAVAILABLE: it cannot be read now (shortage.h).
 * ERR_IO: it exists and cannot be read. */
int durable_read(int directory_fd, const char *name, struct buf *out, bool *out_found, struct err *e);

/* The text of a file, in scratch, whose former text is lost. Its text is NULL if there is no such file or it cannot be
 * read; that of an empty file is not. */
struct str durable_read_text(const char *path, struct buf *scratch);

/* Writes all of text, with as many writes as it takes; -1 with errno. */
int durable_write_all(int fd, struct str text);

#endif
