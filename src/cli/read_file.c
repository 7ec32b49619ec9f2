#include "cli/read_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 256 * 1024 };

static const size_t text_bytes_max = UINT32_MAX; /* rows are counted in 32 bits */

static int read_error(struct err *e, const char *path)
{
    int cause = errno;
    return err_set(e, cause == EIO ? ERR_IO : ERR_INPUT, "%s: %s", path, strerror(cause));
}

static int read_all(int fd, const char *path, struct buf *out_text, struct err *e)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return read_error(e, path);
    if (S_ISDIR(info.st_mode)) return err_set(e, ERR_INPUT, "%s: is a directory", path);
    size_t piece = S_ISREG(info.st_mode) && info.st_size > 0 ? (size_t)info.st_size + 1 : PIECE_BYTES;
    for (;;) {
        if (out_text->length > text_bytes_max) return err_set(e, ERR_INPUT, "%s: larger than 4 GiB", path);
        ssize_t length = read(fd, buf_room(out_text, piece), piece);
        if (length < 0 && errno == EINTR) continue;
        if (length < 0) return read_error(e, path);
        if (length == 0) return 0;
        out_text->length += (size_t)length;
        piece = PIECE_BYTES;
    }
}

int read_file(const char *path, struct buf *out_text, struct err *e)
{
    if (strcmp(path, "-") == 0) return read_all(STDIN_FILENO, path, out_text, e);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return read_error(e, path);
    int status = read_all(fd, path, out_text, e);
    close(fd);
    return status;
}
