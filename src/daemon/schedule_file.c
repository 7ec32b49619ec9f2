#include "daemon/schedule_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/quantity.h"
#include "base/text.h"
#include "daemon/log.h"

#define REPORT_AGAIN_US (3600 * US_PER_S)

/* number 0: the file itself. */
static const char *path_of(char path[PATH_MAX], const char *directory, int number)
{
    size_t length = text_format(path, PATH_MAX, "%s/schedule", directory);
    if (number > 0 && length < PATH_MAX) text_format(path + length, PATH_MAX - length, ".%d", number);
    return path;
}

/* These return 0, or the errno of the failure. */

/* A file of another kind, such as a pipe, is refused and does not block. */
static int open_file(const char *directory, int *out_fd, int64_t *out_size)
{
    enum { FLAGS = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK };
    char path[PATH_MAX];
    struct stat st;
    int fd = open(path_of(path, directory, 0), FLAGS, 0600);
    if (fd < 0) return errno;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return EINVAL;
    }
    *out_fd = fd;
    *out_size = st.st_size;
    return 0;
}

static int rotate(const char *directory)
{
    char from[PATH_MAX], to[PATH_MAX];
    for (int number = SCHEDULE_FILE_OLD_COUNT; number > 0; number--) {
        path_of(from, directory, number - 1);
        if (rename(from, path_of(to, directory, number)) != 0 && errno != ENOENT) return errno;
    }
    return 0;
}

/* A pass that is not written as a whole, because the disk is full, is cut off again. */
static int write_lines(int fd, int64_t size, struct str lines)
{
    ssize_t written;
    do written = write(fd, lines.text, lines.length);
    while (written < 0 && errno == EINTR);
    if (written >= 0 && (size_t)written == lines.length) return 0;
    int result = written < 0 ? errno : ENOSPC;
    return written > 0 && ftruncate(fd, size) != 0 ? errno : result;
}

static int append(const char *directory, struct str lines)
{
    int fd;
    int64_t size;
    int result = open_file(directory, &fd, &size);
    if (result == 0 && size > 0 && size + (int64_t)lines.length > SCHEDULE_FILE_BYTES_MAX) {
        close(fd);
        result = rotate(directory);
        if (result == 0) result = open_file(directory, &fd, &size);
    }
    if (result != 0) return result;
    result = write_lines(fd, size, lines);
    close(fd);
    return result;
}

void schedule_file_append(struct schedule_file *f, const char *directory, struct str lines, int64_t now_us)
{
    int failure = lines.length > 0 ? append(directory, lines) : 0;
    bool is_known = failure == f->reported_errno && now_us - f->reported_us < REPORT_AGAIN_US;
    if (failure == 0 || is_known) return;
    f->reported_errno = failure;
    f->reported_us = now_us;
    log_line(LOG_WARNING, "schedule-file-failed", " path=%s/schedule error=\"%s\"", directory,
             failure == EINVAL  ? "not a regular file"
             : failure == ELOOP ? "is a symbolic link"
                                : strerror(failure));
}
