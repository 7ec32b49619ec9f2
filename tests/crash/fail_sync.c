/* A library for LD_PRELOAD: fsync and fdatasync fail with EIO as long as the file exists that the variable FAIL_SYNC
 * names, as on a disk whose errors appear only when it is synced. If the file has a number, so many of them fail.
 * Reads of pages fail while the file of FAIL_READ exists.
 *
 * It appends to the file that SYNC_LOG names what a test needs to know of what is on the disk: "sync INODE SIZE
 * RESULT", and "write INODE OFFSET COUNT" of a pwrite. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void note(const char *what, int fd, long a, long b)
{
    char line[100];
    struct stat file = {0};
    const char *name = getenv("SYNC_LOG");
    int error_number = errno, log = name != NULL ? open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    (void)fstat(fd, &file);
    int length = snprintf(line, sizeof line, "%s %lu %ld %ld\n", what, (unsigned long)file.st_ino,
                          a < 0 ? (long)file.st_size : a, b);
    if (log >= 0 && write(log, line, (size_t)length) == length) close(log);
    errno = error_number;
}

/* Whether the file says so; counts its number down. */
static int fails(void)
{
    const char *name = getenv("FAIL_SYNC");
    char text[20] = "";
    int fd = name != NULL ? open(name, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return 0;
    int has_number = read(fd, text, sizeof text - 1) > 0, left = atoi(text);
    if (has_number && left > 0) {
        snprintf(text, sizeof text, "%-10d", left - 1);
        (void)!pwrite(fd, text, strlen(text), 0);
    }
    close(fd);
    return !has_number || left > 0;
}

static int sync_by(long call, int fd)
{
    int has_failed = fails();
    int result = has_failed ? -1 : (int)syscall(call, fd);
    if (has_failed) errno = EIO;
    note("sync", fd, -1, result);
    return result;
}

int fsync(int fd)
{
    return sync_by(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return sync_by(SYS_fdatasync, fd);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset)
{
    ssize_t written = syscall(SYS_pwrite64, fd, bytes, count, offset);
    if (written > 0) note("write", fd, (long)offset, written);
    return written;
}

enum { PAGE_BYTES = 512 };

static int fails_to_read(size_t size)
{
    const char *name = getenv("FAIL_READ");
    if (size < PAGE_BYTES || name == NULL || access(name, F_OK) != 0) return 0;
    errno = EIO;
    return 1;
}

ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
    return fails_to_read(size) ? -1 : syscall(SYS_pread64, fd, bytes, size, offset);
}

ssize_t pread64(int fd, void *bytes, size_t size, off64_t offset)
{
    return fails_to_read(size) ? -1 : syscall(SYS_pread64, fd, bytes, size, offset);
}
