#include "daemon/pretend.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

int pretend_open(struct pretend *p, const char *path, struct str text, uint32_t speed, struct err *e)
{
    *p = (struct pretend){.path = path, .speed = speed};
    return pretend_cluster_read(text, path, &p->cluster, e);
}

void pretend_release(struct pretend *p)
{
    pretend_timeline_release(&p->timeline);
    pretend_cluster_release(&p->cluster);
    array_release(&p->changed);
    arena_release(&p->command_arena);
    *p = (struct pretend){0};
}

/* --- the state directory ------------------------------------------------------------------------------------------ */

static bool has_file(const char *directory, const char *name)
{
    char path[PATH_MAX];
    text_format(path, sizeof path, "%s/%s", directory, name);
    return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int pretend_check_unmarked(const char *directory, struct err *e)
{
    if (!has_file(directory, "pretend.json")) return 0;
    return err_set(e, ERR_INPUT,
                   "state directory %s is that of a pretend instance: give --pretend FILE, or another --state",
                   directory);
}

static int fail(const char *path, struct err *e)
{
    return err_set(e, ERR_IO, "cannot write %s: %s", path, strerror(errno));
}

static int write_synced(const char *path, struct str text, struct err *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return fail(path, e);
    ssize_t written = write(fd, text.text, text.length);
    if (written >= 0 && (size_t)written < text.length) errno = ENOSPC;
    int status = written == (ssize_t)text.length && fsync(fd) == 0 ? 0 : fail(path, e);
    close(fd);
    return status;
}

static int sync_directory(const char *path, struct err *e)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int status = fd >= 0 && fsync(fd) == 0 ? 0 : fail(path, e);
    if (fd >= 0) close(fd);
    return status;
}

int pretend_mark_directory(const char *directory, struct str text, struct err *e)
{
    char path[PATH_MAX], new_path[PATH_MAX];
    if (has_file(directory, "fairlead.db") && !has_file(directory, "pretend.json"))
        return err_set(e, ERR_INPUT, "state directory %s has real jobs: give another --state for a pretend instance",
                       directory);
    text_format(path, sizeof path, "%s/pretend.json", directory);
    text_format(new_path, sizeof new_path, "%s/pretend.json.new", directory);
    if (write_synced(new_path, text, e) != 0) return -1;
    if (rename(new_path, path) != 0) return fail(path, e);
    return sync_directory(directory, e);
}
