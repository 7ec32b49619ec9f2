/* fairlead restore: makes a state directory of a backup. It needs no instance. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/client/address.h"
#include "cli/database_check.h"
#include "cli/private_instance.h"
#include "cli/spawn.h"
#include "cli/temporary_file.h"

struct restore_values {
    const char *state;
};

static const struct option_row restore_options[] = {
    {.name = "state",
     .argument = "DIR",
     .value = TEXT_IN(struct restore_values, state),
     .help = "the state directory to make; it must not have a database"},
    {0},
};

/* The head of an SQLite file: https://www.sqlite.org/fileformat.html, 1.3. Numbers are big-endian. */
enum {
    HEAD_BYTES = 100,
    HEAD_PAGE_SIZE = 16, /* two bytes; 1 stands for 65536 */
    HEAD_PAGES = 28,
    HEAD_APPLICATION = 68,
    APPLICATION_ID = 1181508961 /* of Fairlead's databases, as docs/schema.md says */
};
static const char magic[] = "SQLite format 3";

static int fail(const char *path, struct err *e)
{
    return err_set(e, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
}

static uint32_t number_at(const unsigned char *head, int at)
{
    uint32_t number;
    memcpy(&number, head + at, sizeof number);
    return be32toh(number);
}

/* ERR_INPUT: it is no database of Fairlead's, or a part of it is missing. */
static int check_backup(int fd, const char *path, struct err *e)
{
    unsigned char head[HEAD_BYTES] = {0};
    struct stat st;
    ssize_t length = pread(fd, head, sizeof head, 0);
    if (length < 0 || fstat(fd, &st) != 0) return fail(path, e);
    bool is_database = length == HEAD_BYTES && memcmp(head, magic, sizeof magic) == 0;
    if (!is_database || number_at(head, HEAD_APPLICATION) != APPLICATION_ID)
        return err_set(e, ERR_INPUT, "%s is not a backup of Fairlead's; 'fairlead backup FILE' makes one", path);
    uint64_t page_size = (uint64_t)head[HEAD_PAGE_SIZE] << 8 | head[HEAD_PAGE_SIZE + 1];
    uint64_t size = number_at(head, HEAD_PAGES) * (page_size == 1 ? 65536 : page_size);
    if (size == (uint64_t)st.st_size) return 0;
    return err_set(e, ERR_INPUT, "%s is incomplete: it has %lld bytes of %llu", path, (long long)st.st_size,
                   (unsigned long long)size);
}

/* SQLite has the newest commits of a database in use in FILE-wal. */
static int check_log(const char *path, struct err *e)
{
    char log[PATH_MAX];
    struct stat st;
    text_format(log, sizeof log, "%s-wal", path);
    if (lstat(log, &st) != 0 || st.st_size == 0) return 0;
    return err_set(e, ERR_INPUT, "%s lacks the commits in %s; 'fairlead backup FILE' makes a complete copy", path, log);
}

/* Tries for a second: a daemon that was killed may be ending. */
static int check_lock(const char *directory, struct err *e)
{
    enum { TRIES = 100, PAUSE_US = 10000 };
    char path[PATH_MAX];
    text_format(path, sizeof path, "%s/fairleadd.lock", directory);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), tries = 0;
    if (fd < 0) return 0;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0 && ++tries < TRIES) usleep(PAUSE_US);
    close(fd);
    return tries < TRIES ? 0 : err_set(e, ERR_CONFLICT, "a daemon uses %s; stop it first", directory);
}

/* What is in the directory already may belong to another database, and would be taken for this one's. */
static int check_files(const char *directory, struct err *e)
{
    static const char *const names[] = {"fairlead.db", "fairlead.db-wal", "fairlead.db-shm", "pretend.json"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct stat st;
        text_format(path, sizeof path, "%s/%s", directory, names[i]);
        if (lstat(path, &st) == 0)
            return err_set(e, ERR_EXISTS, "%s exists; give another directory, or move all its files away", path);
    }
    return check_lock(directory, e);
}

static int copy(int from, int to)
{
    static char bytes[1 << 20];
    ssize_t length;
    while ((length = read(from, bytes, sizeof bytes)) > 0) {
        ssize_t written = write(to, bytes, (size_t)length);
        if (written >= 0 && written != length) errno = ENOSPC;
        if (written != length) return -1;
    }
    return length == 0 ? 0 : -1;
}

/* --- which instance ----------------------------------------------------------------------------------------------- */

#define STRANGE_INODE "0" /* of no directory */
enum { MARK_BYTES_MAX = 1024 };

/* The mark of a state directory (daemon/instance_mark.h); empty: it has none. */
static int read_mark(const char *directory, struct arena *arena, struct str *out, struct err *e)
{
    char path[PATH_MAX], *text = arena_alloc(arena, MARK_BYTES_MAX);
    text_format(path, sizeof path, "%s/instance", directory);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    *out = (struct str){text, 0};
    if (fd < 0) return errno == ENOENT ? 0 : fail(path, e);
    ssize_t length = read(fd, text, MARK_BYTES_MAX);
    int status = length < 0 ? fail(path, e) : 0;
    close(fd);
    if (status == 0) out->length = (size_t)length;
    return status;
}

/* What 'commits.log' and the launcher know is of the instance in the directory's mark. */
static int check_instance(const char *file, const char *directory, const struct database_check *found,
                          struct arena *arena, bool *out_has_mark, struct err *e)
{
    struct str mark;
    if (read_mark(directory, arena, &mark, e) != 0) return -1;
    struct str id = database_check_value(mark, "id");
    *out_has_mark = id.length > 0 && !str_equal(database_check_value(mark, "inode"), str(STRANGE_INODE));
    if (!*out_has_mark || str_equal(id, str(found->id))) return 0;
    return err_set(e, ERR_CONFLICT, "%s is the directory of instance %.*s, but %s is of %s%s; give a new directory",
                   directory, (int)id.length, id.text, file, found->id[0] != '\0' ? "instance " : "one without an id",
                   found->id);
}

static int write_all(int fd, struct str text)
{
    ssize_t written = write(fd, text.text, text.length);
    if (written >= 0 && (size_t)written != text.length) errno = ENOSPC;
    return written == (ssize_t)text.length ? 0 : -1;
}

/* The database has no id by which its first start could tell it from a new one. So the directory gets a mark that fits
 * none (STRANGE_INODE): that start takes it for a copy. */
static int write_strange_mark(const char *directory, struct err *e)
{
    char path[PATH_MAX];
    unsigned char bytes[16];
    struct buf text = {0};
    text_format(path, sizeof path, "%s/instance", directory);
    (void)unlink(path); /* of a restore that was interrupted */
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return fail(path, e);
    buf_add_text(&text, "id=");
    for (size_t i = 0; i < sizeof bytes; i++) buf_format(&text, "%02x", bytes[i]);
    buf_add_text(&text, "\ndevice=0\ninode=" STRANGE_INODE "\nborn_us=0\nboot_id=\n");
    int status = write_all(fd, (struct str){text.text, text.length}) == 0 && fsync(fd) == 0 ? 0 : fail(path, e);
    buf_release(&text);
    close(fd);
    if (status != 0) (void)unlink(path);
    return status;
}

/* Examines the copy that is to be published: what the backup becomes later does not matter then. */
static int check_copy(const char *file, const char *copy_path, const char *directory, struct arena *arena,
                      struct database_check *out, bool *out_has_mark, struct err *e)
{
    if (database_check_run(copy_path, file, arena, out, e) != 0) return -1;
    if (out->is_pretend)
        return err_set(e, ERR_INPUT,
                       "%s is the database of a pretend cluster, whose jobs must not really run; copy its whole "
                       "directory instead, and start it with --pretend",
                       file);
    return check_instance(file, directory, out, arena, out_has_mark, e);
}

/* --- the copy ----------------------------------------------------------------------------------------------------- */

static int publish(struct temporary_file *t, const char *directory, const struct database_check *found, bool has_mark,
                   struct err *e)
{
    if (found->id[0] == '\0' && !has_mark && write_strange_mark(directory, e) != 0) {
        temporary_file_remove(t);
        return -1;
    }
    return temporary_file_publish(t, false, e);
}

static int copy_database(const char *file, int from, const char *directory, struct arena *arena,
                         struct database_check *out, struct err *e)
{
    char path[PATH_MAX];
    struct temporary_file t;
    bool has_mark;
    if (text_format(path, sizeof path, "%s/fairlead.db", directory) >= sizeof path) {
        errno = ENAMETOOLONG;
        return fail(directory, e);
    }
    if (temporary_file_open(&t, path, e) != 0) return -1;
    int status = copy(from, t.fd) == 0 ? 0 : fail(path, e);
    if (status == 0) status = check_copy(file, t.path, directory, arena, out, &has_mark, e);
    if (status == 0) return publish(&t, directory, out, has_mark, e);
    temporary_file_remove(&t);
    return -1;
}

/* Removes the directory again if it did not exist and the copy fails. */
static int restore_into(const char *file, int fd, const char *directory, struct arena *arena,
                        struct database_check *out, struct err *e)
{
    struct stat st;
    bool is_new = lstat(directory, &st) != 0;
    int status = spawn_make_directory(directory, e);
    if (status == 0) status = private_instance_check_directory(directory, e);
    if (status == 0) status = copy_database(file, fd, directory, arena, out, e);
    if (status != 0 && is_new) (void)rmdir(directory);
    return status;
}

static int open_backup(const char *path, int *out_fd, struct err *e)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return fail(path, e);
    int status = fstat(fd, &st) != 0 ? fail(path, e) : 0;
    if (status == 0 && !S_ISREG(st.st_mode)) status = err_set(e, ERR_INPUT, "%s is not a regular file", path);
    if (status == 0) status = check_backup(fd, path, e);
    if (status == 0) status = check_log(path, e);
    if (status == 0)
        *out_fd = fd;
    else
        close(fd);
    return status;
}

static int restore_run(struct call *call, struct err *e)
{
    const struct restore_values *values = call->values;
    const char *file = call->parsed.operands[0], *directory;
    int fd;
    if (values->state == NULL) return err_set(e, ERR_USAGE, "missing --state DIR: the state directory to make");
    if (values->state[0] == '\0')
        return err_set(e, ERR_INPUT, "--state: the path is empty; give the directory to make");
    if (address_state_directory(values->state, call->arena, &directory, e) != 0) return -1;
    if (open_backup(file, &fd, e) != 0) return -1;
    int status = check_files(directory, e);
    struct database_check found = {0};
    if (status == 0) status = restore_into(file, fd, directory, call->arena, &found, e);
    close(fd);
    if (status == 0)
        output_line(call->out,
                    "Restored %s (schema version %u, instance %s) into %s: 'fairlead start --state %s' starts it, and "
                    "'fairlead status' says which jobs it holds",
                    file, found.version, found.id[0] != '\0' ? found.id : "without an id", directory, directory);
    return status;
}

static const struct command_example restore_examples[] = {
    {.line = "fairlead restore fairlead-2026-11-23.db --state /srv/fairlead", .meaning = "make a new state directory"},
    {0},
};

const struct command cmd_restore = {
    .name = "restore",
    .group = GROUP_SERVICE,
    .summary = "make a state directory of a backup",
    .usage = "FILE --state DIR",
    .description =
        "Copies FILE, which 'fairlead backup' wrote, into a directory in which there is no database yet. 'fairlead start --state "
        "DIR' then starts an instance with it, and notices that it is a copy: nothing runs twice, and nothing that runs is "
        "touched. Jobs that ran at the time of the backup end as NODE_FAIL, and those that waited are held; 'fairlead status' says so. "
        "'fairlead release' or 'cancel' decides what becomes of each; 'release --all' lets all of them run that no person held before.\n\n"
        "DIR must be new, or the state directory that FILE was made of, whose database was lost: there, what 'commits.log' and the "
        "launcher know of later starts and ends is taken over. The directory of another instance is refused.\n\n"
        "The copy is read to its end before it gets its name: a damaged one, one of a newer Fairlead and one of a pretend cluster are "
        "refused.",
    .options = restore_options,
    .values_size = sizeof(struct restore_values),
    .operands_min = 1,
    .operands_max = 1,
    .is_local = true,
    .examples = restore_examples,
    .see_also = "backup start status release",
    .run = restore_run,
};
