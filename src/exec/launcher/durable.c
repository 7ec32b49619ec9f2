/* The files may be those of an older launch, which another program of the same user may have replaced: opening a pipe
 * does not wait, symbolic links are not followed, and only so much is read. */
#include "exec/launcher/durable.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

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

int durable_append(int fd, struct str lines)
{
    ssize_t n;
    do n = write(fd, lines.text, lines.length);
    while (n < 0 && errno == EINTR);
    if (n < 0) return -1;
    if ((size_t)n == lines.length) return 0;
    errno = ENOSPC;
    return -1;
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
