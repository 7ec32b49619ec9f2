/* A library for LD_PRELOAD: the first record "ended" of a process is written in part, as on a full disk, and then
 * another process appends a line. */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t write(int fd, const void *bytes, size_t count)
{
    static const char other_line[] = "\nthe line of another process\n";
    static int is_done;
    if (is_done || memmem(bytes, count, "phase=ended", 11) == NULL)
        return (ssize_t)syscall(SYS_write, fd, bytes, count);
    is_done = 1;
    ssize_t written = (ssize_t)syscall(SYS_write, fd, bytes, count / 2);
    (void)!syscall(SYS_write, fd, other_line, sizeof other_line - 1);
    return written;
}
