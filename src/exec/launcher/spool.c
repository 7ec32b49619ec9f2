/* Directories, locks and fifos of the launcher (layout: spool.h).
 *
 *  I1  A lock is flock's: it belongs to the open file description, which the keeper inherits by fork and the launcher
 *      then closes. The kernel gives it back when the last process that has it is gone, however it went; so "locked"
 *      means "its keeper lives".
 *  I2  A directory with a start record may have run. One without, and not locked, never ran and is removed.
 *  I3  The end record is removed last, so that a half removed directory is either ended (and told once more) or never
 *      ran (and removed): in neither case does anything start again. */
#include "exec/launcher/spool.h"

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
#include "exec/record.h"

enum { ID_TEXT = 24, LOCK_TRIES = 100, LOCK_WAIT_US = 10000 };

static int system_error(struct err *e, const char *doing, const char *where)
{
    return err_set(e, ERR_IO, "cannot %s %s: %s", doing, where, strerror(errno));
}

/* ---- the state directory ---- */

static int check_ours(int fd, const char *path, struct err *e)
{
    struct stat s;
    if (fstat(fd, &s) < 0) return system_error(e, "look at", path);
    if (s.st_uid == geteuid() && (s.st_mode & 077) == 0) return 0;
    return err_set(e, ERR_DENIED, "%s must be a directory of our own with mode 0700, open to nobody else", path);
}

static int open_directory(int at_fd, const char *name, int *out_fd, struct err *e)
{
    int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return system_error(e, "open directory", name);
    if (check_ours(fd, name, e)) {
        close(fd);
        return -1;
    }
    *out_fd = fd;
    return 0;
}

/* A launcher that was killed stops answering a moment before its lock is free. */
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

static int open_parts(struct spool *s, struct err *e)
{
    if (open_directory(AT_FDCWD, s->path, &s->fd, e)) return -1;
    if (take_lock(s, e)) return -1;
    if (mkdirat(s->fd, "launches", 0700) < 0 && errno != EEXIST) return system_error(e, "make directory", "launches");
    return open_directory(s->fd, "launches", &s->launches_fd, e);
}

int spool_open(struct spool *s, const char *path, struct err *e)
{
    *s = (struct spool){.path = path, .fd = -1, .launches_fd = -1, .lock_fd = -1};
    if (open_parts(s, e) == 0) return 0;
    spool_release(s);
    return -1;
}

void spool_release(struct spool *s)
{
    if (s->launches_fd >= 0) close(s->launches_fd);
    if (s->lock_fd >= 0) close(s->lock_fd);
    if (s->fd >= 0) close(s->fd);
    *s = (struct spool){.path = s->path, .fd = -1, .launches_fd = -1, .lock_fd = -1};
}

/* Made if missing; opened for both, so that opening does not wait and reading does not end. */
static int open_fifo(int directory_fd, const char *name, int *out_fd, struct err *e)
{
    struct stat s;
    if (mkfifoat(directory_fd, name, 0600) < 0 && errno != EEXIST) return system_error(e, "make fifo", name);
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

int spool_list_launches(const struct spool *s, struct launch_ids *out, struct err *e)
{
    int fd = openat(s->launches_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (directory == NULL) return system_error(e, "list", "launches");
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        uint64_t id;
        if (number_parse_u64(str(entry->d_name), &id) && id > 0) *array_add(&out->list) = id;
    }
    closedir(directory);
    return 0;
}

/* ---- the directory of a launch ---- */

static void id_text(uint64_t id, char out[ID_TEXT])
{
    text_format(out, ID_TEXT, "%" PRIu64, id);
}

int launch_dir_open(const struct spool *s, uint64_t id, struct launch_dir *out, struct err *e)
{
    char name[ID_TEXT];
    id_text(id, name);
    int fd = openat(s->launches_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return system_error(e, "open directory of launch", name);
    *out = (struct launch_dir){.id = id, .fd = fd, .lock_fd = -1, .control_fd = -1};
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
    if (d->control_fd >= 0) close(d->control_fd);
    if (d->lock_fd >= 0) close(d->lock_fd); /* I1 */
    close(d->fd);
    d->fd = d->lock_fd = d->control_fd = -1;
}

int launch_dir_create(const struct spool *s, uint64_t id, struct launch_dir *out, struct err *e)
{
    char name[ID_TEXT];
    id_text(id, name);
    if (mkdirat(s->launches_fd, name, 0700) < 0) {
        if (errno == EEXIST) return err_set(e, ERR_EXISTS, "launch %s has a directory", name);
        return system_error(e, "make directory of launch", name);
    }
    struct launch_dir made;
    if (launch_dir_open(s, id, &made, e)) return -1;
    int result = open_fifo(made.fd, "control", &made.control_fd, e);
    if (result == 0 && !launch_dir_lock(&made)) result = system_error(e, "lock launch", name);
    if (result) {
        launch_dir_close(&made);
        launch_dir_remove(s, id);
        return -1;
    }
    *out = made;
    return 0;
}

void launch_dir_remove(const struct spool *s, uint64_t id)
{
    static const char *const names[] = {"script", "control",    "start.new", "completing.new", "end.new", "lock",
                                        "start",  "completing", "end"}; /* I3 */
    char name[ID_TEXT];
    struct launch_dir d;
    id_text(id, name);
    if (launch_dir_open(s, id, &d, NULL)) return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlinkat(d.fd, names[i], 0);
    launch_dir_close(&d);
    unlinkat(s->launches_fd, name, AT_REMOVEDIR);
}

/* Two lines: the process id, the group's path. Not whole: as if it were not there yet. */
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
    bool whole = rest.text != NULL && number_parse_u64(first, &pid) && pid <= INT_MAX;
    if (whole && group.length < sizeof out_group->path) {
        text_format(out_group->path, sizeof out_group->path, "%.*s", (int)group.length, group.text);
    }
    buf_release(&text);
    return whole ? (pid_t)pid : 0;
}

int launch_dir_write_keeper(const struct launch_dir *d, const struct cgroup *group, struct err *e)
{
    char lines[sizeof group->path + ID_TEXT];
    size_t length = text_format(lines, sizeof lines, "%d\n%s\n", (int)getpid(), group->path);
    if (pwrite(d->lock_fd, lines, length, 0) != (ssize_t)length) return system_error(e, "write", "lock");
    return 0;
}

/* ---- records and orders ---- */

/* Every record has all fields, and a detail of one line is the last of them. */
static bool is_whole(struct str text)
{
    return text.text[text.length - 1] == '\n' && record_value(text, "detail").text != NULL;
}

/* On failure *out and *out_found stay as they were. */
static int read_record(const struct launch_dir *d, const char *name, struct buf *text, struct launch_record *out,
                       bool *out_found, struct err *e)
{
    bool found, is_start = strcmp(name, "start") == 0;
    struct launch_record record;
    if (durable_read(d->fd, name, text, &found, e)) return -1;
    if (!found || (text->length == 0 && !is_start)) return 0;
    struct str written = {text->text, text->length};
    if (record_parse(written, &record, e)) return err_prefix(e, "%s", name);
    if (!is_start && !is_whole(written)) return err_set(e, ERR_INTERNAL, "%s: a record that is cut off", name);
    if (record.id != d->id) return err_set(e, ERR_INTERNAL, "%s is the record of launch %" PRIu64, name, record.id);
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
        int read = read_record(d, names[i], &text, out, &found, e);
        buf_release(&text);
        if (read || found) result = read; /* an end says all that a completing before it did */
        *out_found |= found;
    }
    return result;
}

int launch_dir_send(const struct launch_dir *d, const char *line, struct err *e)
{
    int fd = openat(d->fd, "control", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return err_set(e, ERR_UNAVAILABLE, "no keeper takes orders: %s", strerror(errno));
    int result = durable_write_all(fd, str(line)); /* shorter than PIPE_BUF: all or nothing */
    int why = errno;
    close(fd);
    return result == 0 ? 0 : err_set(e, ERR_UNAVAILABLE, "the keeper does not take orders: %s", strerror(why));
}
