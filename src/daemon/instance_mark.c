#include "daemon/instance_mark.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/number.h"
#include "base/quantity.h"
#include "exec/record.h"

enum { MARK_BYTES_MAX = 1024 };

static int fail(const char *action, const char *path, struct err *e)
{
    return err_set(e, ERR_IO, "cannot %s %s: %s", action, path, strerror(errno));
}

int instance_mark_probe(const char *directory, const char *boot_id, struct instance_mark *out, struct err *e)
{
    struct statx s;
    if (statx(AT_FDCWD, directory, 0, STATX_INO | STATX_BTIME, &s) != 0) return fail("examine", directory, e);
    *out = (struct instance_mark){.device = makedev(s.stx_dev_major, s.stx_dev_minor), .inode = s.stx_ino};
    if ((s.stx_mask & STATX_BTIME) != 0)
        out->born_us = (int64_t)s.stx_btime.tv_sec * US_PER_S + s.stx_btime.tv_nsec / NS_PER_US;
    text_format(out->boot_id, sizeof out->boot_id, "%s", boot_id);
    return 0;
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

static bool is_id(struct str text)
{
    bool result = text.length == INSTANCE_MARK_ID_SIZE - 1;
    for (size_t i = 0; i < text.length; i++) result &= isxdigit((unsigned char)text.text[i]) != 0;
    return result;
}

static void parse(struct str text, struct instance_mark *out)
{
    struct instance_mark mark = {0};
    struct str id = record_value(text, "id"), boot_id = record_value(text, "boot_id");
    *out = mark;
    if (!is_id(id) || boot_id.length >= sizeof mark.boot_id) return;
    if (!number_parse_u64(record_value(text, "device"), &mark.device)) return;
    if (!number_parse_u64(record_value(text, "inode"), &mark.inode)) return;
    if (!number_parse_i64(record_value(text, "born_us"), &mark.born_us)) return;
    text_format(mark.id, sizeof mark.id, "%.*s", (int)id.length, id.text);
    text_format(mark.boot_id, sizeof mark.boot_id, "%.*s", (int)boot_id.length, boot_id.length > 0 ? boot_id.text : "");
    *out = mark;
}

int instance_mark_read(const char *directory, struct instance_mark *out, struct err *e)
{
    char path[PATH_MAX], text[MARK_BYTES_MAX];
    *out = (struct instance_mark){0};
    text_format(path, sizeof path, "%s/instance", directory);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) return 0;
    if (fd < 0) return fail("open", path, e);
    ssize_t length = read(fd, text, sizeof text);
    int status = length < 0 ? fail("read", path, e) : 0;
    close(fd);
    if (status == 0) parse((struct str){text, (size_t)length}, out);
    return status;
}

static int write_synced(const char *path, struct str text, struct err *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return fail("write", path, e);
    ssize_t written = write(fd, text.text, text.length);
    if (written >= 0 && (size_t)written < text.length) errno = ENOSPC;
    int status = written == (ssize_t)text.length && fsync(fd) == 0 ? 0 : fail("write", path, e);
    close(fd);
    return status;
}

static int sync_directory(const char *path, struct err *e)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int status = fd >= 0 && fsync(fd) == 0 ? 0 : fail("sync", path, e);
    if (fd >= 0) close(fd);
    return status;
}

int instance_mark_write(const char *directory, const struct instance_mark *mark, struct err *e)
{
    char path[PATH_MAX], new_path[PATH_MAX], text[MARK_BYTES_MAX];
    text_format(path, sizeof path, "%s/instance", directory);
    text_format(new_path, sizeof new_path, "%s/instance.new", directory);
    size_t length = text_format(text, sizeof text, "id=%s\ndevice=%llu\ninode=%llu\nborn_us=%lld\nboot_id=%s\n",
                                mark->id, (unsigned long long)mark->device, (unsigned long long)mark->inode,
                                (long long)mark->born_us, mark->boot_id);
    if (write_synced(new_path, (struct str){text, length}, e) != 0) return -1;
    if (rename(new_path, path) != 0) return fail("write", path, e);
    return sync_directory(directory, e);
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

bool instance_mark_fits(const struct instance_mark *mark, const struct instance_mark *present)
{
    bool is_same_boot = strcmp(mark->boot_id, present->boot_id) == 0;
    bool is_same_birth = mark->born_us == present->born_us || mark->born_us == 0 || present->born_us == 0;
    return mark->inode == present->inode && is_same_birth && (!is_same_boot || mark->device == present->device);
}

int instance_mark_make_id(char out[INSTANCE_MARK_ID_SIZE], struct err *e)
{
    unsigned char bytes[(INSTANCE_MARK_ID_SIZE - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return err_set(e, ERR_UNAVAILABLE, "cannot get random bytes: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++) text_format(out + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}
