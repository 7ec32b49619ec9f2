#include "exec/launcher/shortage.h"

#include <errno.h>

bool shortage_of_kernel(int error_number)
{
    switch (error_number) {
    case EAGAIN: /* fork: RLIMIT_NPROC, or pids.max of a control group */
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOLCK:
    case ENOMEM: return true;
    default: return false;
    }
}

bool shortage_of_disk(int error_number)
{
    switch (error_number) {
    case EDQUOT:
    case EIO:
    case ENOSPC:
    case EROFS: return true;
    default: return false;
    }
}

enum err_code shortage_code(int error_number)
{
    if (error_number == ENOENT) return ERR_NOT_FOUND;
    return shortage_of_kernel(error_number) || shortage_of_disk(error_number) ? ERR_UNAVAILABLE : ERR_IO;
}
