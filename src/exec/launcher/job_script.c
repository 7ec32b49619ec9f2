/* The file is created without any permission but the owner's to read, and changes its owner once it is complete: at no
 * moment can another user read it, or its user write it. The descriptor is used, and no path twice. */
#include "exec/launcher/job_script.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "exec/launcher/durable.h"

enum { SCRIPT_PATH_SIZE = 64 };

static void format_path(uint64_t launch_id, char out[SCRIPT_PATH_SIZE])
{
    text_format(out, SCRIPT_PATH_SIZE, "launches/%" PRIu64 ".script", launch_id);
}

/* A private launcher has the user's identity already. */
static int fill(int fd, const struct launch *launch)
{
    if (durable_write_all(fd, launch->script) < 0) return -1;
    return launch->uid == geteuid() ? 0 : fchown(fd, launch->uid, (gid_t)-1);
}

int job_script_write(const struct spool *s, const struct launch *launch, struct err *e)
{
    char path[SCRIPT_PATH_SIZE];
    format_path(launch->id, path);
    if (unlinkat(s->fd, path, 0) < 0 && errno != ENOENT)
        return err_set(e, ERR_IO, "cannot replace the job's script: %s", strerror(errno));
    int fd = openat(s->fd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
    int result = fd < 0 ? -1 : fill(fd, launch), error_number = errno;
    if (fd >= 0 && close(fd) < 0 && result == 0) {
        result = -1;
        error_number = errno;
    }
    return result == 0 ? 0 : err_set(e, ERR_IO, "cannot write the job's script: %s", strerror(error_number));
}

void job_script_remove(const struct spool *s, uint64_t launch_id)
{
    char path[SCRIPT_PATH_SIZE];
    format_path(launch_id, path);
    (void)unlinkat(s->fd, path, 0);
}
