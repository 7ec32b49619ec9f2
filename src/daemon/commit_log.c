#include "daemon/commit_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/number.h"

enum { HASH_DIGITS = 16 };

static void make_path(const char *directory, const char *suffix, char out[PATH_MAX])
{
    text_format(out, PATH_MAX, "%s/commits.log%s", directory, suffix);
}

static int fail(const char *action, const char *path, struct err *e)
{
    return err_set(e, ERR_IO, "cannot %s %s: %s", action, path, strerror(errno));
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

static void add_line(struct buf *out, struct str rest)
{
    buf_format(out, "%016" PRIx64 " ", hash_bytes(rest.text, rest.length, 0));
    buf_add_str(out, rest);
    buf_add_char(out, '\n');
}

void commit_log_add_job(struct buf *lines, uint32_t job_id)
{
    char rest[32];
    add_line(lines, (struct str){rest, text_format(rest, sizeof rest, "job %" PRIu32, job_id)});
}

void commit_log_add_task(struct buf *lines, struct str row)
{
    struct buf rest = {0};
    buf_add_text(&rest, "task ");
    buf_add_str(&rest, row);
    add_line(lines, (struct str){rest.text, rest.length});
    buf_release(&rest);
}

/* instance_id: "" for none. */
static void add_numbers(struct buf *out, const char *kind, uint64_t number, uint32_t next_job_id,
                        uint64_t next_launch_id, const char *instance_id)
{
    char rest[160];
    size_t length = text_format(rest, sizeof rest, "%s %" PRIu64 " %" PRIu32 " %" PRIu64 "%s%.64s", kind, number,
                                next_job_id, next_launch_id, instance_id[0] != '\0' ? " " : "", instance_id);
    add_line(out, (struct str){rest, length});
}

void commit_log_add_commit(struct buf *lines, uint64_t number, uint32_t next_job_id, uint64_t next_launch_id)
{
    add_numbers(lines, "commit", number, next_job_id, next_launch_id, "");
}

/* Another program may have put a fifo in the place of the file: opening it would wait for the other end. */
static int open_regular(const char *path, int flags)
{
    struct stat s;
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0 || (fstat(fd, &s) == 0 && S_ISREG(s.st_mode))) return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

static int write_lines(int fd, const char *path, const struct buf *text, struct err *e)
{
    ssize_t written = write(fd, text->text, text->length);
    if (written >= 0 && (size_t)written < text->length) errno = ENOSPC;
    return written == (ssize_t)text->length ? 0 : fail("write", path, e);
}

void commit_log_close(struct commit_log *log)
{
    if (log->fd > 0) close(log->fd);
    log->fd = 0;
}

/* Whether the path still leads to the open file: another program may have removed or replaced it. */
static bool is_at(const struct commit_log *log, const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0 && s.st_dev == log->device && s.st_ino == log->inode;
}

static int open_log(struct commit_log *log, const char *path, struct err *e)
{
    struct stat s;
    int fd = open_regular(path, O_WRONLY | O_CREAT | O_APPEND);
    if (fd < 0 || fstat(fd, &s) < 0) {
        (void)fail("open", path, e);
        if (fd >= 0) close(fd);
        return -1;
    }
    *log = (struct commit_log){.fd = fd, .device = s.st_dev, .inode = s.st_ino};
    return 0;
}

int commit_log_append(struct commit_log *log, const char *directory, const struct buf *lines, struct err *e)
{
    char path[PATH_MAX];
    make_path(directory, "", path);
    if (log->fd > 0 && !is_at(log, path)) commit_log_close(log);
    if (log->fd == 0 && open_log(log, path, e) != 0) return -1;
    return write_lines(log->fd, path, lines, e);
}

static int write_new(const char *path, const struct buf *text, struct err *e)
{
    int fd = open_regular(path, O_WRONLY | O_CREAT | O_EXCL);
    if (fd < 0) return fail("open", path, e);
    int status = write_lines(fd, path, text, e);
    close(fd);
    return status;
}

int commit_log_begin(struct commit_log *log, const char *directory, const char *instance_id, uint64_t since,
                     uint32_t next_job_id, uint64_t next_launch_id, struct err *e)
{
    char path[PATH_MAX], new_path[PATH_MAX];
    struct buf text = {0};
    make_path(directory, "", path);
    make_path(directory, ".new", new_path);
    add_numbers(&text, "since", since, next_job_id, next_launch_id, instance_id);
    if (unlink(new_path) != 0 && errno != ENOENT) {
        buf_release(&text);
        return fail("remove", new_path, e);
    }
    int status = write_new(new_path, &text, e);
    buf_release(&text);
    if (status != 0) return -1;
    commit_log_close(log);
    return rename(new_path, path) == 0 ? 0 : fail("write", path, e);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

struct commit_reader {
    struct commit_log_tail *tail;
    uint64_t after, expected;       /* the number of the next commit, if none is missing in the log */
    bool is_damaged;                /* a line, or a commit is missing */
    uint32_t task_count, job_count; /* of tail, up to the last commit */
};

/* The words of a line after its kind; false if one of the first is no number. *out_rest: the words after them. */
static bool read_first_numbers(struct str rest, uint64_t *out, int count, struct str *out_rest)
{
    for (int i = 0; i < count; i++) {
        if (!number_parse_u64(str_cut(rest, ' ', &rest), &out[i])) return false;
    }
    *out_rest = rest;
    return true;
}

static bool read_numbers(struct str rest, uint64_t *out, int count)
{
    return read_first_numbers(rest, out, count, &rest) && rest.text == NULL;
}

/* The first commit that the database does not have, or that follows the log's last one. */
static void expect_after(struct commit_reader *r, uint64_t number)
{
    r->expected = (number > r->after ? number : r->after) + 1;
}

static void note_last(struct commit_log_tail *tail, const uint64_t numbers[3])
{
    tail->last = numbers[0];
    tail->next_job_id = numbers[1] < UINT32_MAX ? (uint32_t)numbers[1] : 0;
    tail->next_launch_id = numbers[2] <= INT64_MAX ? numbers[2] : 0;
}

/* Rows of a commit that the database has are dropped again. */
static void end_commit(struct commit_reader *r, const uint64_t numbers[3])
{
    struct commit_log_tail *tail = r->tail;
    r->is_damaged |= numbers[0] != r->expected;
    expect_after(r, numbers[0]);
    if (numbers[0] <= r->after) {
        tail->tasks.count = tail->ended_jobs.count = 0;
        r->is_damaged = false; /* what is not in the log before this one is in the database */
        return;
    }
    r->task_count = tail->tasks.count;
    r->job_count = tail->ended_jobs.count;
    note_last(tail, numbers);
}

/* All commits up to this one have been in the database file; if one of them is missing, nothing else is known of it. */
static void begin_log(struct commit_reader *r, const uint64_t numbers[3])
{
    expect_after(r, numbers[0]);
    if (numbers[0] <= r->after) return;
    r->is_damaged = true;
    note_last(r->tail, numbers);
}

static bool read_line(struct commit_reader *r, struct str rest)
{
    uint64_t numbers[3];
    struct str words, kind = str_cut(rest, ' ', &words);
    if (str_equal(kind, str("task"))) {
        *array_add(&r->tail->tasks) = words;
    } else if (str_equal(kind, str("job"))) {
        if (!read_numbers(words, numbers, 1) || numbers[0] >= UINT32_MAX) return false;
        *array_add(&r->tail->ended_jobs) = (uint32_t)numbers[0];
    } else if (str_equal(kind, str("commit"))) {
        if (!read_numbers(words, numbers, 3)) return false;
        end_commit(r, numbers);
    } else if (str_equal(kind, str("since"))) {
        if (!read_first_numbers(words, numbers, 3, &r->tail->instance_id)) return false;
        begin_log(r, numbers);
    }
    return true;
}

static void read_lines(struct commit_reader *r, struct str text)
{
    while (text.length > 0) {
        struct str rest, line = str_cut(text, '\n', &text);
        char hash[HASH_DIGITS + 1] = "";
        struct str written = str_cut(line, ' ', &rest);
        if (rest.text != NULL) text_format(hash, sizeof hash, "%016" PRIx64, hash_bytes(rest.text, rest.length, 0));
        if (!str_equal(written, str(hash)) || !read_line(r, rest)) r->is_damaged = true;
    }
    r->tail->tasks.count = r->task_count; /* a commit that has no end was not written whole */
    r->tail->ended_jobs.count = r->job_count;
}

static int read_file(const char *path, struct buf *out, struct err *e)
{
    enum { CHUNK = 65536 };
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) return 0;
    if (fd < 0) return fail("open", path, e);
    ssize_t length;
    while ((length = read(fd, buf_room(out, CHUNK), CHUNK)) > 0) out->length += (size_t)length;
    int status = length == 0 ? 0 : fail("read", path, e);
    close(fd);
    return status;
}

void commit_log_parse(struct str text, uint64_t after, struct commit_log_tail *out)
{
    *out = (struct commit_log_tail){.first = after + 1};
    struct commit_reader reader = {.tail = out, .after = after, .expected = after + 1};
    read_lines(&reader, text);
    out->is_complete = !reader.is_damaged;
}

int commit_log_read(const char *directory, uint64_t after, struct commit_log_tail *out, struct err *e)
{
    char path[PATH_MAX];
    struct buf text = {0};
    *out = (struct commit_log_tail){.first = after + 1};
    make_path(directory, "", path);
    int status = read_file(path, &text, e);
    if (status == 0) commit_log_parse((struct str){text.text, text.length}, after, out);
    out->text = text;
    return status;
}

void commit_log_tail_release(struct commit_log_tail *tail)
{
    array_release(&tail->tasks);
    array_release(&tail->ended_jobs);
    buf_release(&tail->text);
}
