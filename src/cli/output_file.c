#include "cli/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MODE_OF_NEW_FILES = 0666, PERMISSIONS = 07777 };

static int fail(const struct output_file *f, struct err *e)
{
    return err_set(e, ERR_IO, "%s: %s", f->path, strerror(errno));
}

/* Like fopen, a new file has the permissions that the umask leaves. */
static mode_t mode_of_new_files(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return MODE_OF_NEW_FILES & ~mask;
}

static int open_temporary(struct output_file *f, mode_t mode, struct err *e)
{
    text_format(f->temporary, sizeof f->temporary, "%s.XXXXXX", f->target);
    int fd = mkostemp(f->temporary, O_CLOEXEC);
    if (fd < 0) {
        f->temporary[0] = '\0';
        return fail(f, e);
    }
    (void)fchmod(fd, mode); /* a file system may have no permissions */
    return fd;
}

/* Returns the descriptor, or -1. */
static int open_path(struct output_file *f, struct err *e)
{
    struct stat info;
    bool exists = stat(f->path, &info) == 0;
    if (!exists && errno != ENOENT) return fail(f, e);
    if (exists && !S_ISREG(info.st_mode)) {
        int fd = open(f->path, O_WRONLY | O_CLOEXEC);
        return fd >= 0 ? fd : fail(f, e);
    }
    if (exists && access(f->path, W_OK) != 0) return fail(f, e);
    if (exists && realpath(f->path, f->target) == NULL) return fail(f, e);
    if (!exists && text_format(f->target, sizeof f->target, "%s", f->path) >= sizeof f->target) {
        errno = ENAMETOOLONG;
        return fail(f, e);
    }
    return open_temporary(f, exists ? info.st_mode & PERMISSIONS : mode_of_new_files(), e);
}

int output_file_open(struct output_file *f, const char *path, struct err *e)
{
    *f = (struct output_file){.path = path};
    int fd = open_path(f, e);
    if (fd < 0) return -1;
    output_init(&f->output, fd);
    return 0;
}

int output_file_close(struct output_file *f, int status, struct err *e)
{
    int fd = f->output.fd;
    bool is_new = f->temporary[0] != '\0';
    if (status == 0 && output_flush(&f->output, NULL) != 0) {
        errno = f->output.write_errno;
        status = fail(f, e);
    }
    if (status == 0 && is_new && fsync(fd) != 0) status = fail(f, e);
    if (close(fd) != 0 && status == 0) status = fail(f, e);
    if (status == 0 && is_new && rename(f->temporary, f->target) != 0) status = fail(f, e);
    if (status != 0 && is_new) (void)unlink(f->temporary);
    output_release(&f->output);
    return status;
}
