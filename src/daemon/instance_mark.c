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

/* 0: the file system does not say. */
static int64_t birth_us(const struct statx *s)
{
    if ((s->stx_mask & STATX_BTIME) == 0) return 0;
    return (int64_t)s->stx_btime.tv_sec * US_PER_S + s->stx_btime.tv_nsec / NS_PER_US;
}

int instance_mark_probe(const char *directory, const char *boot_id, struct instance_mark *out, struct err *e)
{
    struct statx s;
    if (statx(AT_FDCWD, directory, 0, STATX_INO | STATX_BTIME, &s) != 0) return fail("examine", directory, e);
    *out = (struct instance_mark){
        .device = makedev(s.stx_dev_major, s.stx_dev_minor), .inode = s.stx_ino, .born_us = birth_us(&s)};
    text_format(out->boot_id, sizeof out->boot_id, "%s", boot_id);
    return 0;
}

/* --- the seal ----------------------------------------------------------------------------------------------------- */

/* What an older copy that is written into the same file does not leave as it is: the time of the file's last change
 * (ctime), which no program can set. With the other properties whose change changes it as well. */
struct seal {
    int64_t changed_ns;
    uint64_t mode, uid, gid;
};

static int examine_for_seal(const char *directory, struct seal *out, bool *out_has_links)
{
    char path[PATH_MAX];
    struct statx s;
    text_format(path, sizeof path, "%s/instance", directory);
    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &s) != 0) return -1;
    *out = (struct seal){.changed_ns = (int64_t)s.stx_ctime.tv_sec * 1000000000 + s.stx_ctime.tv_nsec,
                         .mode = s.stx_mode,
                         .uid = s.stx_uid,
                         .gid = s.stx_gid};
    *out_has_links = s.stx_nlink > 1;
    return 0;
}

static void make_seal_path(const char *directory, char out[PATH_MAX])
{
    text_format(out, PATH_MAX, "%s/instance.seal", directory);
}

/* Without a seal, which is one more check, the mark counts alone. */
static void write_seal(const char *directory)
{
    char path[PATH_MAX], text[MARK_BYTES_MAX];
    struct seal seal;
    bool has_links;
    make_seal_path(directory, path);
    if (examine_for_seal(directory, &seal, &has_links) != 0) return;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return;
    size_t length = text_format(text, sizeof text, "changed_ns=%lld\nmode=%llu\nuid=%llu\ngid=%llu\nend=1\n",
                                (long long)seal.changed_ns, (unsigned long long)seal.mode, (unsigned long long)seal.uid,
                                (unsigned long long)seal.gid);
    bool is_whole = write(fd, text, length) == (ssize_t)length;
    close(fd);
    if (!is_whole) (void)unlink(path);
}

/* False: there is none, or a part of one. */
static bool read_seal(const char *directory, struct seal *out)
{
    char path[PATH_MAX], bytes[MARK_BYTES_MAX];
    make_seal_path(directory, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return false;
    ssize_t length = read(fd, bytes, sizeof bytes);
    close(fd);
    struct str text = {bytes, length > 0 ? (size_t)length : 0};
    return number_parse_i64(record_value(text, "changed_ns"), &out->changed_ns) &&
           number_parse_u64(record_value(text, "mode"), &out->mode) &&
           number_parse_u64(record_value(text, "uid"), &out->uid) &&
           number_parse_u64(record_value(text, "gid"), &out->gid) && record_value(text, "end").length == 1;
}

/* A change of its mode, its owner or its links explains another time. */
static void check_seal(const char *directory, struct instance_mark *mark)
{
    struct seal sealed, present;
    bool has_links;
    mark->is_sealed = read_seal(directory, &sealed);
    if (!mark->is_sealed || examine_for_seal(directory, &present, &has_links) != 0) return;
    bool is_explained =
        has_links || sealed.mode != present.mode || sealed.uid != present.uid || sealed.gid != present.gid;
    bool is_changed = sealed.changed_ns != present.changed_ns;
    mark->is_overwritten = is_changed && !is_explained;
    mark->is_sealed = !is_changed;
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

static bool is_id(struct str text)
{
    bool result = text.length == INSTANCE_MARK_ID_SIZE - 1;
    for (size_t i = 0; i < text.length; i++) result &= isxdigit((unsigned char)text.text[i]) != 0;
    return result;
}

static int examine_file(int fd, const char *path, uint64_t *out_inode, int64_t *out_born_us, struct err *e)
{
    struct statx s;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &s) != 0) return fail("examine", path, e);
    *out_inode = s.stx_ino;
    *out_born_us = birth_us(&s);
    return 0;
}

static bool is_same_birth(int64_t a_us, int64_t b_us)
{
    return a_us == b_us || a_us == 0 || b_us == 0;
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
    if (!number_parse_u64(record_value(text, "file_inode"), &mark.file_inode)) mark.file_inode = 0;
    if (!number_parse_i64(record_value(text, "file_born_us"), &mark.file_born_us)) mark.file_born_us = 0;
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
    uint64_t inode = 0;
    int64_t born_us = 0;
    int status = length < 0 ? fail("read", path, e) : examine_file(fd, path, &inode, &born_us, e);
    close(fd);
    if (status != 0) return status;
    parse((struct str){text, (size_t)length}, out);
    out->is_other_file =
        out->file_inode != 0 && (out->file_inode != inode || !is_same_birth(out->file_born_us, born_us));
    check_seal(directory, out);
    return 0;
}

static int write_all(int fd, const char *path, const struct instance_mark *mark, struct err *e)
{
    char text[MARK_BYTES_MAX];
    uint64_t inode;
    int64_t born_us;
    if (examine_file(fd, path, &inode, &born_us, e) != 0) return -1;
    size_t length = text_format(text, sizeof text,
                                "id=%s\ndevice=%llu\ninode=%llu\nborn_us=%lld\nfile_inode=%llu\nfile_born_us=%lld\n"
                                "boot_id=%s\n",
                                mark->id, (unsigned long long)mark->device, (unsigned long long)mark->inode,
                                (long long)mark->born_us, (unsigned long long)inode, (long long)born_us, mark->boot_id);
    ssize_t written = write(fd, text, length);
    if (written >= 0 && (size_t)written < length) errno = ENOSPC;
    return written == (ssize_t)length && fsync(fd) == 0 ? 0 : fail("write", path, e);
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* Always a new file, so that no mark is in the file of an older one. */
static int write_synced(const char *path, const struct instance_mark *mark, struct err *e)
{
    if (unlink(path) != 0 && errno != ENOENT) return fail("replace", path, e);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return fail("write", path, e);
    int status = write_all(fd, path, mark, e);
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
    char path[PATH_MAX], new_path[PATH_MAX], seal_path[PATH_MAX];
    text_format(path, sizeof path, "%s/instance", directory);
    text_format(new_path, sizeof new_path, "%s/instance.new", directory);
    make_seal_path(directory, seal_path);
    if (write_synced(new_path, mark, e) != 0) return -1;
    if (unlink(seal_path) != 0 && errno != ENOENT) return fail("remove", seal_path, e); /* it is of the old mark */
    if (rename(new_path, path) != 0) return fail("write", path, e);
    if (sync_directory(directory, e) != 0) return -1;
    write_seal(directory);
    return 0;
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

bool instance_mark_fits(const struct instance_mark *mark, const struct instance_mark *present)
{
    bool is_same_boot = strcmp(mark->boot_id, present->boot_id) == 0;
    return mark->inode == present->inode && is_same_birth(mark->born_us, present->born_us) && !mark->is_other_file &&
           !mark->is_overwritten && (!is_same_boot || mark->device == present->device);
}

int instance_mark_make_id(char out[INSTANCE_MARK_ID_SIZE], struct err *e)
{
    unsigned char bytes[(INSTANCE_MARK_ID_SIZE - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return err_set(e, ERR_UNAVAILABLE, "cannot get random bytes: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++) text_format(out + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}
