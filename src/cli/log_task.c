#include "cli/log_task.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ensure.h"
#include "cli/job_stdio.h"
#include "fields/job_fields.h"

enum { PIECE_BYTES = 65536, LINE_MAX_BYTES = 65536, GID_OF_NO_ONE = 65534 };

void log_task_init(struct log_task *t, uint32_t job_id, uint32_t task_id)
{
    *t = (struct log_task){.job_id = job_id, .task_id = task_id, .fd = -1};
    job_id_format(t->id, job_id, task_id);
}

void log_task_release(struct log_task *t)
{
    if (t->fd >= 0) close(t->fd);
    t->fd = -1;
    buf_release(&t->path);
    buf_release(&t->line);
    buf_release(&t->new_bytes);
}

void log_task_take(struct log_task *t, const struct field_value *row, bool wants_error)
{
    const char *err_path = row[JOB_FIELD_ERR_PATH].text, *out_path = row[JOB_FIELD_OUT_PATH].text;
    t->state = (enum job_state)row[JOB_FIELD_STATE].number;
    t->reason = (enum pending_reason)row[JOB_FIELD_REASON].number;
    t->has_started = row[JOB_FIELD_START].number != FIELD_ABSENT;
    t->is_ended = row[JOB_FIELD_END].number != FIELD_ABSENT;
    t->is_hidden = out_path[0] == '\0';
    t->uid = (uid_t)row[JOB_FIELD_UID].number;
    t->is_error = wants_error && err_path[0] != '\0';
    text_format(t->detail, sizeof t->detail, "%s", row[JOB_FIELD_DETAIL].text);
    buf_clear(&t->path);
    buf_add_text(&t->path, t->is_error ? err_path : out_path);
}

void log_task_wait_text(const struct log_task *t, struct buf *out)
{
    buf_add_text(out, job_state_name(t->state));
    if (t->reason != PENDING_NONE) buf_format(out, " (%s)", pending_reason_name(t->reason));
}

int log_task_explain(const struct log_task *t, struct err *e)
{
    struct str id = str(t->id);
    if (!t->has_started && t->is_ended)
        return err_subject(e, ERR_NOT_FOUND, "job", id, "has no output: it was %s before it started%s%s",
                           job_state_name(t->state), t->detail[0] != '\0' ? ": " : "", t->detail);
    if (!t->has_started) {
        struct buf text = {0};
        log_task_wait_text(t, &text);
        err_subject(e, ERR_NOT_FOUND, "job", id, "has not started: %s", text.text);
        buf_release(&text);
        return -1;
    }
    return err_set(e, ERR_NOT_FOUND, "%s: %s", t->path.text, strerror(ENOENT));
}

/* A file of that name is not the job's, if the job could not open it. */
static int check_opened(const struct log_task *t, struct err *e)
{
    static const char output[] = "cannot open output ", error[] = "cannot open error output ";
    bool has_failed = strncmp(t->detail, output, strlen(output)) == 0 || strncmp(t->detail, error, strlen(error)) == 0;
    if (!has_failed || !t->is_ended) return 0;
    return err_subject(e, ERR_NOT_FOUND, "job", str(t->id), "has no output: %s", t->detail);
}

/* A job writes wherever it is told, but what is no file has nothing to read back, and may be waited for without end. */
static int check_kind(int fd, const char *path, struct err *e)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    if (S_ISREG(info.st_mode)) return 0;
    const char *kind = S_ISDIR(info.st_mode)    ? "a directory"
                       : S_ISFIFO(info.st_mode) ? "a fifo"
                       : S_ISCHR(info.st_mode)  ? "a character device"
                       : S_ISBLK(info.st_mode)  ? "a block device"
                                                : "a socket";
    return err_set(e, ERR_CONFLICT, "%s is %s; only the output in a regular file can be printed", path, kind);
}

/* Root reads the file as the job's user, who may have put a link to a file of root's, or to a device, in its place. */
static int open_as_user(const struct log_task *t)
{
    bool changes = geteuid() == 0 && t->uid != 0;
    if (changes && (setegid(GID_OF_NO_ONE) != 0 || seteuid(t->uid) != 0)) return -1;
    int fd = open(t->path.text, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), error = errno;
    if (changes) ensure(seteuid(0) == 0 && setegid(0) == 0);
    errno = error;
    return fd;
}

int log_task_open(struct log_task *t, const char *socket, struct err *e)
{
    if (t->fd >= 0) return 1;
    if (t->is_hidden) return err_subject(e, ERR_DENIED, "job", str(t->id), "belongs to another user");
    if (check_opened(t, e) != 0) return -1;
    if (!t->has_started) return 0;
    t->fd = open_as_user(t);
    if (t->fd < 0 && errno != ENOENT) return err_set(e, ERR_IO, "%s: %s", t->path.text, strerror(errno));
    if (t->fd >= 0) return check_kind(t->fd, t->path.text, e) == 0 ? 1 : -1;
    if (t->is_ended) return 0;
    t->fd = job_stdio_open(t->job_id, t->task_id, socket, t->is_error ? STDERR_FILENO : STDOUT_FILENO);
    return t->fd >= 0 ? 1 : 0;
}

/* The number of line ends in a piece of the file, from its end on, until there are as many as sought; *io_end becomes
 * the offset behind the last one that was counted. */
static uint64_t count_back(const char *piece, size_t length, uint64_t sought, size_t *io_end)
{
    uint64_t count = 0;
    for (size_t i = length; i > 0 && count < sought; i--) {
        if (piece[i - 1] != '\n') continue;
        count++;
        *io_end = i;
    }
    return count;
}

void log_task_seek_tail(struct log_task *t, uint64_t line_count)
{
    char piece[PIECE_BYTES];
    off_t end = lseek(t->fd, 0, SEEK_END);
    if (end <= 0) return;
    char last;
    if (pread(t->fd, &last, 1, end - 1) != 1) return;
    /* The end of the last line precedes no line; a last line without an end counts as one. */
    uint64_t sought = line_count + (last == '\n' ? 1 : 0), found = 0;
    off_t begin = end, to = line_count == 0 ? end : 0;
    while (line_count > 0 && begin > 0 && found < sought) {
        size_t length = begin > PIECE_BYTES ? PIECE_BYTES : (size_t)begin, line_begin = 0;
        begin -= (off_t)length;
        ssize_t count = pread(t->fd, piece, length, begin);
        if (count <= 0) break;
        found += count_back(piece, (size_t)count, sought - found, &line_begin);
        if (found == sought) to = begin + (off_t)line_begin;
    }
    lseek(t->fd, to, SEEK_SET);
}

/* A file that became shorter than the offset is read from its start. */
static void rewind_if_truncated(int fd)
{
    struct stat info;
    off_t offset = lseek(fd, 0, SEEK_CUR);
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && offset > info.st_size) lseek(fd, 0, SEEK_SET);
}

static void add_bytes(struct log_task *t, const char *bytes, size_t length, struct output *out)
{
    if (out->is_terminal)
        log_filter_add(&t->filter, bytes, length, &out->text);
    else
        buf_add(&out->text, bytes, length);
}

/* Prints the line that was gathered, with its end. */
static void print_line(struct log_task *t, uint32_t prefix_width, struct output *out)
{
    buf_format(&out->text, "%-*s  ", (int)prefix_width, t->id);
    add_bytes(t, t->line.text, t->line.length, out);
    if (out->is_terminal) log_filter_end(&t->filter, &out->text);
    buf_add_char(&out->text, '\n');
    buf_clear(&t->line);
}

/* A line that is too long is printed in pieces, as lines of their own. */
static void add_lines(struct log_task *t, const char *bytes, size_t length, uint32_t prefix_width, struct output *out)
{
    while (length > 0) {
        const char *end = memchr(bytes, '\n', length);
        size_t step = end != NULL ? (size_t)(end - bytes) : length, room = LINE_MAX_BYTES - t->line.length;
        bool is_long = step > room;
        if (is_long) step = room;
        buf_add(&t->line, bytes, step);
        if (is_long || end != NULL) print_line(t, prefix_width, out);
        if (!is_long && end != NULL) step++;
        bytes += step;
        length -= step;
    }
}

int log_task_copy(struct log_task *t, uint32_t prefix_width, struct output *out, struct err *e)
{
    ssize_t count;
    rewind_if_truncated(t->fd);
    do {
        buf_clear(&t->new_bytes);
        count = read(t->fd, buf_room(&t->new_bytes, PIECE_BYTES), PIECE_BYTES);
        if (count < 0 && errno != EINTR) return err_set(e, ERR_IO, "%s: %s", t->path.text, strerror(errno));
        if (count > 0 && prefix_width > 0)
            add_lines(t, t->new_bytes.text, (size_t)count, prefix_width, out);
        else if (count > 0)
            add_bytes(t, t->new_bytes.text, (size_t)count, out);
        output_pace(out);
    } while (count != 0 && out->write_errno == 0);
    return output_flush(out, e);
}

int log_task_finish(struct log_task *t, uint32_t prefix_width, struct output *out, struct err *e)
{
    if (t->line.length > 0) print_line(t, prefix_width, out);
    if (out->is_terminal) log_filter_end(&t->filter, &out->text);
    t->is_finished = true;
    if (t->fd >= 0) close(t->fd);
    t->fd = -1;
    return output_flush(out, e);
}
