/* Preloaded into programs under test: adds to the wall clock what the file FAKE_CLOCK says, in seconds, and shows the
 * boot id that it says instead of the machine's. The time since boot stays the machine's.
 *
 *     FAKE_CLOCK   "SECONDS BOOT_ID\n", read at each look at the clock, so that a test sets the clock of programs
 *                  that run */
#undef _FILE_OFFSET_BITS /* it would make open another name of open64, and both are defined here */
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const char boot_id_path[] = "/proc/sys/kernel/random/boot_id";

/* The first word, and what follows it; without libc's open, which is replaced below. */
static long read_fake(char *boot_id, size_t size)
{
    char text[128];
    const char *path = getenv("FAKE_CLOCK");
    long fd = path != NULL ? syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t length = fd >= 0 ? read((int)fd, text, sizeof text - 1) : -1;
    if (fd >= 0) close((int)fd);
    if (length <= 0) return 0;
    text[length] = '\0';
    char *rest;
    long seconds = strtol(text, &rest, 10);
    rest += strspn(rest, " ");
    if (boot_id != NULL) snprintf(boot_id, size, "%.*s", (int)strcspn(rest, " \n"), rest);
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    long result = syscall(SYS_clock_gettime, clock, out);
    if (result == 0 && clock == CLOCK_REALTIME) out->tv_sec += read_fake(NULL, 0);
    return (int)result;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    *out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return (time_t)-1;
    if (out != NULL) *out = now.tv_sec;
    return now.tv_sec;
}

/* A file that has the boot id of the test, or -1: another file is to be opened, or the test gives none. */
static int open_boot_id(const char *path)
{
    char id[80] = "";
    int ends[2];
    if (strcmp(path, boot_id_path) != 0) return -1;
    read_fake(id, sizeof id);
    if (id[0] == '\0' || pipe2(ends, O_CLOEXEC) != 0) return -1;
    dprintf(ends[1], "%s\n", id);
    close(ends[1]);
    return ends[0];
}

/* Programs with 64-bit offsets call the names with 64. */
#define REPLACE_OPEN(name)                                                           \
    int name(const char *path, int flags, ...)                                       \
    {                                                                                \
        va_list arguments;                                                           \
        va_start(arguments, flags);                                                  \
        int mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, int) : 0;     \
        va_end(arguments);                                                           \
        int fd = open_boot_id(path);                                                 \
        return fd >= 0 ? fd : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode); \
    }
#define REPLACE_OPENAT(name)                                                          \
    int name(int directory, const char *path, int flags, ...)                         \
    {                                                                                 \
        va_list arguments;                                                            \
        va_start(arguments, flags);                                                   \
        int mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, int) : 0;      \
        va_end(arguments);                                                            \
        int fd = open_boot_id(path);                                                  \
        return fd >= 0 ? fd : (int)syscall(SYS_openat, directory, path, flags, mode); \
    }
#define REPLACE_FOPEN(name)                                                                                           \
    FILE *name(const char *restrict path, const char *restrict mode)                                                  \
    {                                                                                                                 \
        FILE *(*real)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, #name); \
        int fd = open_boot_id(path);                                                                                  \
        return fd >= 0 ? fdopen(fd, mode) : real(path, mode);                                                         \
    }

REPLACE_OPEN(open)
REPLACE_OPEN(open64)
REPLACE_OPENAT(openat)
REPLACE_OPENAT(openat64)
REPLACE_FOPEN(fopen)
REPLACE_FOPEN(fopen64)
