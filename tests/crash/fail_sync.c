/* A library for LD_PRELOAD: fsync fails with EIO as long as the file exists that the variable FAIL_SYNC names, as on a
 * disk whose errors appear only when it is synced. */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int fsync(int fd)
{
    const char *name = getenv("FAIL_SYNC");
    if (name != NULL && access(name, F_OK) == 0) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}
