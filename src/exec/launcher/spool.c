/* Directories, locks and fifos of the launcher (their layout is in spool.h).
 *
 * Of a directory that an older launcher has made:
 *
 *  I1  Its lock belongs to an open file description (flock) that the keeper inherited. The kernel releases it when the
 *      keeper is gone, however it ended. So a locked directory has a running keeper.
 *  I2  A launch with a start record may have run. A launch without one, whose directory is not locked, never ran; the
 *      next launcher removes the directory.
 *  I3  The end record is removed last. So a directory that is removed in part has either an end record (and is reported
 *      again) or no record (and never ran): in neither case is anything started again. */
#include "exec/launcher/spool.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "exec/launcher/durable.h"
#include "exec/launcher/shortage.h"
#include "exec/record.h"

enum { ID_SIZE = 24, LOCK_TRIES = 100, LOCK_WAIT_US = 10000 };

static int system_error(struct err *e, const char *action, const char *object)
{
    return err_set(e, ERR_IO, "cannot %s %s: %s", action, object, strerror(errno));
}

/* --- the state directory ------------------------------------------------------------------------------------------ */

static int check_owner_and_mode(int fd, const char *path, bool is_system, struct err *e)
{
    const mode_t system_mode = 0711;
    struct stat s;
    if (fstat(fd, &s) < 0) return system_error(e, "get the owner of", path);
    if (s.st_uid != geteuid()) {
        return err_set(e, ERR_DENIED, "directory %s belongs to user %u; it must belong to user %u", path, s.st_uid,
                       geteuid());
    }
    if (is_system && (s.st_mode & 0777) != system_mode) {
        unsigned mode = s.st_mode & 0777;
        return err_set(e, ERR_DENIED, "directory %s has mode %u%u%u: run 'chmod 711 %s'", path, mode >> 6,
                       mode >> 3 & 7, mode & 7, path);
    }
    if (!is_system && (s.st_mode & 077) != 0)
        return err_set(e, ERR_DENIED, "directory %s is open to others: run 'chmod 700 %s'", path, path);
    return 0;
}

static int open_directory(int at_fd, const char *name, bool is_system, int *out_fd, struct err *e)
{
    int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return system_error(e, "open directory", name);
    if (check_owner_and_mode(fd, name, is_system, e)) {
        close(fd);
        return -1;
    }
    *out_fd = fd;
    return 0;
}

/* Tries for a second, because a launcher that was killed stops answering a moment before its lock is released. */
static int take_lock(struct spool *s, struct err *e)
{
    s->lock_fd = openat(s->fd, "launcher.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (s->lock_fd < 0) return system_error(e, "open", "launcher.lock");
    for (int tries = 0; tries < LOCK_TRIES; tries++) {
        if (flock(s->lock_fd, LOCK_EX | LOCK_NB) == 0) return 0;
        usleep(LOCK_WAIT_US);
    }
    return err_set(e, ERR_CONFLICT, "another launcher serves %s", s->path);
}

static int make_launches(struct spool *s, struct err *e)
{
    if (mkdirat(s->fd, "launches", 0700) < 0)
        return errno == EEXIST ? 0 : system_error(e, "create directory", "launches");
    if (!s->is_system || fchmodat(s->fd, "launches", 0711, 0) == 0) return 0;
    return system_error(e, "open to users the directory", "launches");
}

static int open_parts(struct spool *s, struct err *e)
{
    if (open_directory(AT_FDCWD, s->path, s->is_system, &s->fd, e)) return -1;
    if (take_lock(s, e) || make_launches(s, e)) return -1;
    return open_directory(s->fd, "launches", s->is_system, &s->launches_fd, e);
}

int spool_open(struct spool *s, const char *path, bool is_system, struct err *e)
{
    *s = (struct spool){.path = path, .is_system = is_system, .fd = -1, .launches_fd = -1, .lock_fd = -1};
    if (open_parts(s, e) == 0) return 0;
    spool_release(s);
    return -1;
}

void spool_release(struct spool *s)
{
    if (s->launches_fd >= 0) close(s->launches_fd);
    if (s->lock_fd >= 0) close(s->lock_fd);
    if (s->fd >= 0) close(s->fd);
    *s = (struct spool){.path = s->path, .is_system = s->is_system, .fd = -1, .launches_fd = -1, .lock_fd = -1};
}

/* Creates the fifo if it is missing. Opens it for reading and writing, so that opening does not wait for a writer and
 * reading never meets the end. */
static int open_fifo(int directory_fd, const char *name, int *out_fd, struct err *e)
{
    struct stat s;
    if (mkfifoat(directory_fd, name, 0600) < 0 && errno != EEXIST) return system_error(e, "create fifo", name);
    int fd = openat(directory_fd, name, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return system_error(e, "open fifo", name);
    if (fstat(fd, &s) < 0 || !S_ISFIFO(s.st_mode)) {
        close(fd);
        return err_set(e, ERR_IO, "%s is not a fifo", name);
    }
    *out_fd = fd;
    return 0;
}

int spool_open_events(const struct spool *s, int *out_fd, struct err *e)
{
    return open_fifo(s->fd, "launcher.events", out_fd, e);
}

void spool_read_instance_id(const struct spool *s, struct buf *out)
{
    enum { DIGITS = 32 };
    struct buf text = {0};
    bool found = false;
    (void)durable_read(s->fd, "instance", &text, &found, NULL);
    struct str id = record_value((struct str){text.text, text.length}, "id");
    bool is_hex = id.length == DIGITS;
    for (size_t i = 0; i < id.length; i++) is_hex &= isxdigit((unsigned char)id.text[i]) != 0;
    if (is_hex) buf_add_str(out, id);
    buf_release(&text);
}

int spool_list_launches(const struct spool *s, struct launch_ids *out, struct err *e)
{
    int fd = openat(s->launches_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (directory == NULL) {
        (void)system_error(e, "list", "launches");
        if (fd >= 0) close(fd);
        return -1;
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        uint64_t id;
        if (number_parse_u64(str(entry->d_name), &id) && id >= 1 && id <= INT64_MAX) *array_add(&out->list) = id;
    }
    closedir(directory);
    return 0;
}

/* --- the directory of a launch ------------------------------------------------------------------------------------ */

/* About a launch: its messages leave out which one, so that those of one shortage are all the same. */
static int launch_error(struct err *e, const char *action, const char *object)
{
    return err_set(e, shortage_code(errno), "cannot %s %s: %s", action, object, strerror(errno));
}

static void format_id(uint64_t id, char out[ID_SIZE])
{
    text_format(out, ID_SIZE, "%" PRIu64, id);
}

int launch_dir_open(const struct spool *s, uint64_t id, struct launch_dir *out, struct err *e)
{
    char name[ID_SIZE];
    format_id(id, name);
    int fd = openat(s->launches_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return launch_error(e, "open", "the directory of a launch");
    *out = (struct launch_dir){.id = id, .fd = fd, .lock_fd = -1};
    return 0;
}

bool launch_dir_lock(struct launch_dir *d)
{
    int fd = openat(d->fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return false;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        close(fd);
        return false;
    }
    d->lock_fd = fd;
    return true;
}

void launch_dir_close(struct launch_dir *d)
{
    if (d->lock_fd >= 0) close(d->lock_fd); /* I1 */
    close(d->fd);
    d->fd = d->lock_fd = -1;
}

static void remove_files(const struct spool *s, const char *directory, const char *const *names, size_t count)
{
    char path[ID_SIZE + 20];
    for (size_t i = 0; i < count; i++) {
        text_format(path, sizeof path, "%s/%s", directory, names[i]);
        unlinkat(s->launches_fd, path, 0);
    }
}

/* By paths, because there may be no descriptor to open the directory with. */
void launch_dir_remove(const struct spool *s, uint64_t id)
{
    static const char *const names[] = {"script", "control", "lock", "start", "completing", "end"}; /* I3 */
    static const char *const unfinished[] = {"start.new", "completing.new", "end.new"};
    char name[ID_SIZE];
    struct stat directory;
    format_id(id, name);
    /* A link that another program of this user has put here is not followed. */
    if (fstatat(s->launches_fd, name, &directory, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(directory.st_mode)) return;
    remove_files(s, name, names, sizeof names / sizeof *names);
    if (unlinkat(s->launches_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return;
    remove_files(s, name, unfinished, sizeof unfinished / sizeof *unfinished); /* of a keeper that was killed */
    unlinkat(s->launches_fd, name, AT_REMOVEDIR);
}

struct process_identity_place launch_dir_place(const struct launch_dir *d)
{
    struct stat s;
    if (fstat(d->fd, &s) < 0) return (struct process_identity_place){0};
    return (struct process_identity_place){s.st_dev, s.st_ino};
}

bool launch_dir_is(const struct launch_dir *d, struct process_identity_place place)
{
    const struct process_identity_place own = launch_dir_place(d);
    return place.inode == 0 || own.inode == 0 || (place.device == own.device && place.inode == own.inode);
}

/* The text is three lines: the pid, the path of the group and the place; older keepers wrote no place. An incomplete
 * text counts as none. */
pid_t launch_dir_read_keeper(const struct launch_dir *d, struct cgroup *out_group)
{
    struct buf text = {0};
    bool found = false;
    uint64_t pid = 0;
    out_group->path[0] = '\0';
    (void)durable_read(d->fd, "lock", &text, &found, NULL);
    struct str group, rest;
    struct str first = str_cut((struct str){text.text, text.length}, '\n', &group);
    group = str_cut(group, '\n', &rest);
    bool is_complete = rest.text != NULL && number_parse_u64(first, &pid) && pid <= INT_MAX;
    struct process_identity_place place;
    (void)process_identity_parse_place(str_cut(rest, '\n', &rest), &place);
    is_complete &= launch_dir_is(d, place);
    if (is_complete && group.length < sizeof out_group->path) {
        text_format(out_group->path, sizeof out_group->path, "%.*s", (int)group.length, group.text);
    }
    buf_release(&text);
    return is_complete ? (pid_t)pid : 0;
}

/* --- records and orders ------------------------------------------------------------------------------------------- */

/* A record has all fields; the last is the detail, one line. */
static bool is_complete_record(struct str text)
{
    return text.text[text.length - 1] == '\n' && record_value(text, "detail").text != NULL;
}

/* Leaves *out and *out_found untouched if it fails or finds no record. */
static int read_record(const struct launch_dir *d, const char *name, struct buf *text, struct launch_record *out,
                       bool *out_found, struct err *e)
{
    bool found, is_start = strcmp(name, "start") == 0;
    struct launch_record record;
    if (durable_read(d->fd, name, text, &found, e)) return -1;
    if (!found || (text->length == 0 && !is_start)) return 0;
    struct str written = {text->text, text->length};
    if (record_parse(written, &record, e)) return err_of(e, "record", str(name));
    if (!is_start && !is_complete_record(written))
        return err_subject(e, ERR_INTERNAL, "record", str(name), "is cut off");
    if (record.id != d->id) {
        return err_subject(e, ERR_INTERNAL, "record", str(name), "is of launch %" PRIu64 ", not %" PRIu64, record.id,
                           d->id);
    }
    *out = record;
    *out_found = true;
    return 0;
}

int launch_dir_read_last(const struct launch_dir *d, struct launch_record *out, struct buf *out_start_text,
                         bool *out_found, struct err *e)
{
    static const char *const names[] = {"completing", "end"};
    *out_found = false;
    if (read_record(d, "start", out_start_text, out, out_found, e)) return -1;
    int result = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct buf text = {0};
        bool found = false;
        int record_result = read_record(d, names[i], &text, out, &found, e);
        buf_release(&text);
        if (record_result || found) result = record_result; /* a readable end makes up for a completing that is not */
        *out_found |= found;
    }
    return result;
}

/* The end is looked for first: each record has all values of those before it. */
int launch_dir_read_newest(const struct launch_dir *d, struct launch_record *out, bool *out_found, struct err *e)
{
    static const char *const names[] = {"end", "completing", "start"};
    int result = 0;
    *out_found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && result == 0 && !*out_found; i++) {
        struct buf text = {0};
        result = read_record(d, names[i], &text, out, out_found, e);
        buf_release(&text);
    }
    return result;
}

int launch_dir_send(const struct launch_dir *d, const char *line, struct err *e)
{
    int fd = openat(d->fd, "control", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return err_set(e, ERR_UNAVAILABLE, "no keeper reads orders: %s", strerror(errno));
    int result = durable_write_all(fd, str(line)); /* shorter than PIPE_BUF, so it is written whole or not at all */
    int error_number = errno;
    close(fd);
    return result == 0 ? 0
                       : err_set(e, ERR_UNAVAILABLE, "cannot send an order to the keeper: %s", strerror(error_number));
}
