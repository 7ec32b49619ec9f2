/* The file stays the launcher's, and only an entry of its access control list lets the job's user read it (acl(5)): an
 * owner could write to it, and make links that outlive the job, on a disk that is root's. The list is set once the
 * file is complete, so at no moment can another user read it. The descriptor is used, and no path twice.
 *
 * On a file system without such lists the user becomes the owner. What a link keeps of a file is empty after its job,
 * also where users may link what they do not own (fs.protected_hardlinks=0). */
#include "exec/launcher/job_script.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/text.h"
#include "exec/launcher/durable.h"

enum { SCRIPT_PATH_SIZE = 64 };

static void format_path(uint64_t launch_id, char out[SCRIPT_PATH_SIZE])
{
    text_format(out, SCRIPT_PATH_SIZE, "launches/%" PRIu64 ".script", launch_id);
}

static struct posix_acl_xattr_entry entry_of(uint16_t tag, uint16_t permissions, uint32_t id)
{
    return (struct posix_acl_xattr_entry){htole16(tag), htole16(permissions), htole32(id)};
}

static int let_read(int fd, uint32_t uid)
{
    const uint32_t none = (uint32_t)ACL_UNDEFINED_ID;
    const struct {
        struct posix_acl_xattr_header header;
        struct posix_acl_xattr_entry entries[5];
    } list = {{htole32(POSIX_ACL_XATTR_VERSION)},
              {entry_of(ACL_USER_OBJ, ACL_READ, none), entry_of(ACL_USER, ACL_READ, uid),
               entry_of(ACL_GROUP_OBJ, 0, none), entry_of(ACL_MASK, ACL_READ, none), entry_of(ACL_OTHER, 0, none)}};
    if (fsetxattr(fd, "system.posix_acl_access", &list, sizeof list, 0) == 0) return 0;
    return errno == EOPNOTSUPP ? fchown(fd, uid, (gid_t)-1) : -1;
}

/* A private launcher has the user's identity already. */
static int fill(int fd, const struct launch *launch)
{
    if (durable_write_all(fd, launch->script) < 0) return -1;
    return launch->uid == geteuid() ? 0 : let_read(fd, launch->uid);
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
    struct stat file;
    bool is_linked =
        fstatat(s->fd, path, &file, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(file.st_mode) && file.st_nlink > 1;
    int fd = is_linked ? openat(s->fd, path, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd >= 0) close(fd);
    (void)unlinkat(s->fd, path, 0);
}
