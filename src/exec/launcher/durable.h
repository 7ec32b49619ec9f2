/* Reading small files, and writing all of a text. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_DURABLE_H
#define FAIRLEAD_EXEC_LAUNCHER_DURABLE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/text.h"

/* Appends the text of a file. *out_found: whether the file exists. ERR_UNAVAILABLE: it cannot be read now (shortage.h).
 * ERR_IO: it exists and cannot be read. */
int durable_read(int directory_fd, const char *name, struct buf *out, bool *out_found, struct err *e);

/* The text of a file, in scratch, whose former text is lost. Its text is NULL if there is no such file or it cannot be
 * read; that of an empty file is not. */
struct str durable_read_text(const char *path, struct buf *scratch);

/* Writes all of text, with as many writes as it takes; -1 with errno. */
int durable_write_all(int fd, struct str text);

/* Appends lines of a record log by one write, because lines of other processes may follow. A short write is a failure
 * (ENOSPC): each line begins with a newline, so all lines can be written again behind it. */
int durable_append(int fd, struct str lines);

#endif
