#include "cli/read_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 256 * 1024, TEXT_BYTES_MAX = 1024 * 1024 * 1024 };

static int read_error(struct err *e, const char *path)
{
    int cause = errno;
    return err_set(e, cause == EIO ? ERR_IO : ERR_INPUT, "%s: %s", path, strerror(cause));
}

/* A device such as /dev/zero would be read until memory ends. */
static int check_piece(const struct buf *text, size_t length, const char *path, struct err *e)
{
    const char *zero = memchr(text->text + text->length - length, 0, length);
    size_t line = 1;
    if (zero == NULL) return 0;
    const char *begin = text->text;
    for (const char *at = begin; (at = memchr(at, '\n', (size_t)(zero - at))) != NULL; line++) begin = ++at;
    return err_set(e, ERR_INPUT, "%s:%zu:%zu: the text contains a zero byte", path, line, (size_t)(zero - begin) + 1);
}

static int read_all(int fd, const char *path, struct buf *out_text, struct err *e)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return read_error(e, path);
    if (S_ISDIR(info.st_mode)) return err_set(e, ERR_INPUT, "%s: is a directory", path);
    size_t piece = S_ISREG(info.st_mode) && info.st_size > 0 ? (size_t)info.st_size + 1 : PIECE_BYTES;
    for (;;) {
        if (out_text->length > TEXT_BYTES_MAX) return err_set(e, ERR_INPUT, "%s: larger than 1 GiB", path);
        ssize_t length = read(fd, buf_room(out_text, piece), piece);
        if (length < 0 && errno == EINTR) continue;
        if (length < 0) return read_error(e, path);
        if (length == 0) return 0;
        out_text->length += (size_t)length;
        if (check_piece(out_text, (size_t)length, path, e) != 0) return -1;
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
