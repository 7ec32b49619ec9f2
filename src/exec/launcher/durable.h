/* Small files that are wholly there or not at all, whatever is killed or loses power. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_DURABLE_H
#define FAIRLEAD_EXEC_LAUNCHER_DURABLE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/text.h"

/* directory/name with this text, mode 0600, replacing what was there. On success it survives power loss; on failure
 * (ERR_IO) what was there before is still there. */
int durable_write(int directory_fd, const char *name, struct str text, struct err *e);

/* The same in two steps. placed: whoever is killed, it is there; power lost before it is settled leaves what was there
 * before, or the file empty or torn. settle, of what was placed: now it survives power loss too. */
int durable_write_unsynced(int directory_fd, const char *name, struct str text, struct err *e);
int durable_sync(int directory_fd, const char *name, struct err *e);

/* Appends the file's text. *out_found: whether there is such a file. ERR_IO: it is there and cannot be read. */
int durable_read(int directory_fd, const char *name, struct buf *out, bool *out_found, struct err *e);

/* All of text, however many writes it takes; -1 with errno. */
int durable_write_all(int fd, struct str text);

#endif
