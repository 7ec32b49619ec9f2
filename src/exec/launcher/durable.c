/* Write to another name, fsync, rename, fsync the directory: after a crash at any point the name holds the old text or
 * the new, and once we have returned it holds the new. What is only placed goes without both fsyncs: the kernel has it,
 * the disk may not. */
#include "exec/launcher/durable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int durable_write_all(int fd, struct str text)
{
    while (text.length > 0) {
        ssize_t n = write(fd, text.text, text.length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        text = (struct str){text.text + n, text.length - (size_t)n};
    }
    return 0;
}

static int close_well(int fd, int result)
{
    int why = errno;
    if (close(fd) < 0 && result == 0) return -1;
    errno = why;
    return result;
}

static int write_temporary(int directory_fd, const char *name, struct str text, bool synced)
{
    int fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return -1;
    return close_well(fd, durable_write_all(fd, text) == 0 && (!synced || fsync(fd) == 0) ? 0 : -1);
}

static int put(int directory_fd, const char *name, struct str text, bool synced, struct err *e)
{
    char temporary[64];
    text_format(temporary, sizeof temporary, "%s.new", name);
    if (write_temporary(directory_fd, temporary, text, synced) < 0 ||
        renameat(directory_fd, temporary, directory_fd, name) < 0 || (synced && fsync(directory_fd) < 0)) {
        return err_set(e, ERR_IO, "cannot write the record \"%s\": %s", name, strerror(errno));
    }
    return 0;
}

int durable_write(int directory_fd, const char *name, struct str text, struct err *e)
{
    return put(directory_fd, name, text, true, e);
}

int durable_write_unsynced(int directory_fd, const char *name, struct str text, struct err *e)
{
    return put(directory_fd, name, text, false, e);
}

int durable_sync(int directory_fd, const char *name, struct err *e)
{
    int fd = openat(directory_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || close_well(fd, fsync(fd)) < 0 || fsync(directory_fd) < 0) {
        return err_set(e, ERR_IO, "cannot sync the record \"%s\": %s", name, strerror(errno));
    }
    return 0;
}

static int read_all(int fd, struct buf *out)
{
    for (;;) {
        ssize_t n = read(fd, buf_room(out, 4096), 4096);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return (int)n;
        out->length += (size_t)n;
    }
}

int durable_read(int directory_fd, const char *name, struct buf *out, bool *out_found, struct err *e)
{
    int fd = openat(directory_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT) {
        *out_found = false;
        return 0;
    }
    if (fd < 0) return err_set(e, ERR_IO, "cannot open the record \"%s\": %s", name, strerror(errno));
    int result = read_all(fd, out);
    int why = errno;
    close(fd);
    if (result < 0) return err_set(e, ERR_IO, "cannot read the record \"%s\": %s", name, strerror(why));
    *out_found = true;
    return 0;
}
