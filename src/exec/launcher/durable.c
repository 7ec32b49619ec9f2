/* Writes a file under another name, syncs it, renames it, and syncs the directory. After a crash at any point the name
 * holds the old text or the new one; once durable_write has returned 0, it holds the new one. Without both syncs the
 * kernel has the new text, but the disk may not have it.
 *
 * The directories are those of launches, whose files another program of the same user may have replaced: opening a pipe
 * does not wait, symbolic links are not followed, and only so much is read. */
#include "exec/launcher/durable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/ensure.h"
#include "exec/launcher/shortage.h"

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

/* Closes fd. Returns result, or -1 if that was 0 and close failed; errno is that of the first failure. */
static int close_with(int fd, int result)
{
    int error_number = errno;
    if (close(fd) < 0 && result == 0) return -1;
    errno = error_number;
    return result;
}

static int write_temporary(int directory_fd, const char *name, struct str text, bool is_synced)
{
    int fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0) return -1;
    return close_with(fd, durable_write_all(fd, text) == 0 && (!is_synced || fsync(fd) == 0) ? 0 : -1);
}

static int replace(int directory_fd, const char *name, struct str text, bool is_synced, struct err *e)
{
    char temporary[64];
    size_t length = text_format(temporary, sizeof temporary, "%s.new", name);
    ensure(length < sizeof temporary);
    if (write_temporary(directory_fd, temporary, text, is_synced) < 0 ||
        renameat(directory_fd, temporary, directory_fd, name) < 0 || (is_synced && fsync(directory_fd) < 0)) {
        return err_subject(e, ERR_IO, "file", str(name), "cannot be written: %s", strerror(errno));
    }
    return 0;
}

int durable_write(int directory_fd, const char *name, struct str text, struct err *e)
{
    return replace(directory_fd, name, text, true, e);
}

int durable_write_unsynced(int directory_fd, const char *name, struct str text, struct err *e)
{
    return replace(directory_fd, name, text, false, e);
}

int durable_sync(int directory_fd, const char *name, struct err *e)
{
    int fd = openat(directory_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || close_with(fd, fsync(fd)) < 0 || fsync(directory_fd) < 0)
        return err_subject(e, ERR_IO, "file", str(name), "cannot be synced: %s", strerror(errno));
    return 0;
}

static int read_all(int fd, struct buf *out)
{
    enum { READ_SIZE = 4096, READ_MAX = 64 << 20 };
    for (;;) {
        if (out->length > READ_MAX) {
            errno = EFBIG;
            return -1;
        }
        ssize_t n = read(fd, buf_room(out, READ_SIZE), READ_SIZE);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return (int)n;
        out->length += (size_t)n;
    }
}

int durable_read(int directory_fd, const char *name, struct buf *out, bool *out_found, struct err *e)
{
    int fd = openat(directory_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) {
        *out_found = false;
        return 0;
    }
    if (fd < 0) return err_subject(e, shortage_code(errno), "file", str(name), "cannot be opened: %s", strerror(errno));
    int result = read_all(fd, out), error_number = errno;
    close(fd);
    if (result < 0)
        return err_subject(e, shortage_code(error_number), "file", str(name), "cannot be read: %s",
                           strerror(error_number));
    *out_found = true;
    return 0;
}

struct str durable_read_text(const char *path, struct buf *scratch)
{
    bool found = false;
    buf_clear(scratch);
    if (durable_read(AT_FDCWD, path, scratch, &found, NULL) != 0 || !found) return (struct str){0};
    return (struct str){scratch->length > 0 ? scratch->text : "", scratch->length};
}
