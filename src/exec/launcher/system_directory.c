#include "exec/launcher/system_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/text.h"
#include "exec/launcher/durable.h"

static int io_error(const char *action, const char *kind, const char *path, struct err *e)
{
    return err_set(e, ERR_IO, "cannot %s %s %s: %s", action, kind, path, strerror(errno));
}

/* --- the directory ------------------------------------------------------------------------------------------------ */

/* path: without symbolic links. Checked from the root, so that what is above a directory cannot change any more when it
 * is checked. */
static int check_ancestors(const char *path, struct err *e)
{
    char prefix[PATH_MAX];
    for (const char *slash = path; (slash = strchr(slash, '/')) != NULL; slash++) {
        struct stat s;
        text_format(prefix, sizeof prefix, "%.*s", slash == path ? 1 : (int)(slash - path), path);
        if (lstat(prefix, &s) < 0) return io_error("open", "directory", prefix, e);
        bool is_closed = (s.st_mode & (S_IWGRP | S_IWOTH)) == 0 || (s.st_mode & S_ISVTX) != 0;
        if (s.st_uid == 0 && is_closed) continue;
        return err_set(
            e, ERR_DENIED,
            "directory %s, above the state directory, can be changed by others than root: choose another state "
            "directory",
            prefix);
    }
    return 0;
}

/* chmod, because the umask takes from mkdir's mode. */
static int create(const char *path, struct err *e)
{
    char parent[PATH_MAX], real_parent[PATH_MAX], real[PATH_MAX + NAME_MAX + 2];
    size_t length = strlen(path);
    while (length > 0 && path[length - 1] == '/') length--;
    const char *name = memrchr(path, '/', length);
    ensure(name != NULL); /* it is absolute, and not the root, which exists */
    text_format(parent, sizeof parent, "%.*s/", (int)(name - path), path);
    if (realpath(parent, real_parent) == NULL) return io_error("open", "directory", parent, e);
    text_format(real, sizeof real, "%s%.*s", real_parent[1] == '\0' ? "" : real_parent, (int)(path + length - name),
                name);
    if (check_ancestors(real, e)) return -1; /* from here on, only root can exchange it */
    if (mkdir(real, 0700) < 0 || chmod(real, 0711) < 0) return io_error("create", "state directory", path, e);
    return 0;
}

int system_directory_prepare(const char *path, char out_path[PATH_MAX], struct err *e)
{
    if (realpath(path, out_path) == NULL) {
        if (errno != ENOENT) return io_error("open", "state directory", path, e);
        if (create(path, e)) return -1;
        if (realpath(path, out_path) == NULL) return io_error("open", "state directory", path, e);
    }
    return check_ancestors(out_path, e);
}

/* --- the id of the instance --------------------------------------------------------------------------------------- */

static int write_id(int fd, struct err *e)
{
    unsigned char bytes[16];
    char line[sizeof "id=\n" + 2 * sizeof bytes];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return err_set(e, ERR_UNAVAILABLE, "cannot get random bytes: %s", strerror(errno));
    size_t length = text_format(line, sizeof line, "id=");
    for (size_t i = 0; i < sizeof bytes; i++)
        length += text_format(line + length, sizeof line - length, "%02x", bytes[i]);
    line[length++] = '\n';
    return durable_write_all(fd, (struct str){line, length}) < 0 || fsync(fd) < 0
               ? io_error("write", "file", "instance", e)
               : 0;
}

/* Under another name first, so that the file is complete if it exists. Always a new file: what is there, of a launcher
 * that was killed or of whoever could write here before, may be a fifo or a link to another file. */
int system_directory_make_id(int fd, struct err *e)
{
    if (faccessat(fd, "instance", F_OK, AT_SYMLINK_NOFOLLOW) == 0) return 0;
    if (unlinkat(fd, "instance.new", 0) < 0 && errno != ENOENT) return io_error("remove", "file", "instance.new", e);
    int file = openat(fd, "instance.new", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return io_error("create", "file", "instance", e);
    int result = write_id(file, e);
    close(file);
    if (result == 0 && renameat(fd, "instance.new", fd, "instance") < 0)
        return io_error("rename", "file", "instance", e);
    return result;
}

/* --- the owner ---------------------------------------------------------------------------------------------------- */

int system_directory_write_owner(int fd, const struct launcher_owner *owner, struct err *e)
{
    static const char new_name[] = LAUNCHER_OWNER_FILE ".new";
    struct buf text = {0};
    buf_format(&text, "id=%s\nstate=%s\n", owner->id, owner->state);
    int file = openat(fd, new_name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    bool is_written = file >= 0 && fchmod(file, 0644) == 0 &&
                      durable_write_all(file, (struct str){text.text, text.length}) == 0 && fsync(file) == 0 &&
                      renameat(fd, new_name, fd, LAUNCHER_OWNER_FILE) == 0 && fsync(fd) == 0;
    int result = is_written ? 0 : io_error("write", "file", LAUNCHER_OWNER_FILE, e);
    if (file >= 0) close(file);
    buf_release(&text);
    return result;
}
