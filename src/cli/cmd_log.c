/* log: prints a job's output file; with --follow, until the job has ended.
 *
 * The command reads the file itself, with its user's rights; the instance only reports the path. With --follow it reads
 * new output every POLL_MS and requests the job's state after every POLLS_PER_REQUEST polls. The job continues while
 * the instance is down, so only FAILURES_MAX unanswered requests in a row are an error. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/quantity.h"
#include "cli/instance.h"
#include "cli/job_ids.h"

enum { POLL_MS = 100, POLLS_PER_REQUEST = 5, FAILURES_MAX = 120 };

struct log_values {
    bool has_follow, has_err;
};

static const struct option_row log_options[] = {
    {.name = "follow",
     .letter = 'f',
     .value = FLAG_IN(struct log_values, has_follow),
     .help = "print new output until the job has ended"},
    {.name = "err",
     .letter = 'e',
     .value = FLAG_IN(struct log_values, has_err),
     .help = "the error output, if it has its own file"},
    {0},
};

static bool is_ended(const struct field_value *row)
{
    return row[JOB_FIELD_END].number != FIELD_ABSENT;
}

static bool has_started(const struct field_value *row)
{
    return row[JOB_FIELD_START].number != FIELD_ABSENT;
}

/* Whether the row stands for several tasks of an array, which have not started. */
static bool has_tasks(const struct field_value *row)
{
    return row[JOB_FIELD_ARRAY_TASKS].text != NULL;
}

static bool names_task(const struct call *call)
{
    return strchr(call->parsed.operands[0], '_') != NULL;
}

/* The row of the job or task; for a task that has not started, the row of all such tasks of its array. In the call's
 * arena. */
static int request_row(struct call *call, struct client *c, const char *target, const struct field_value **out_row,
                       struct err *e)
{
    struct api_listing list;
    if (instance_request(call, c, "GET", target, NULL, NULL, &api_job_list_shape, &list, e) != 0) return -1;
    const struct field_value *row = list.rows.items, *first = row;
    bool has_follow = ((const struct log_values *)call->values)->has_follow;
    if (list.rows.count == 0) return err_not_found(e, "job", str(call->parsed.operands[0]));
    for (; list.rows.count > 1 && row[JOB_FIELD_STATE].number == JOB_REQUEUED; list.rows.count--)
        row += JOB_FIELD_COUNT; /* the output is that of the last attempt */
    bool waits = !has_started(row) && !is_ended(row);
    if (waits && row != first && !has_follow && list.rows.count == 1) row -= JOB_FIELD_COUNT; /* that has begun */
    if (list.rows.count > 1 || (has_tasks(row) && !names_task(call))) {
        char id[24], task[24];
        const char *tasks = row[JOB_FIELD_ARRAY_TASKS].text; /* "3-9": NULL where the row is of one task */
        text_format(id, sizeof id, "%lld", (long long)row[JOB_FIELD_JOB_ID].number);
        if (tasks != NULL)
            text_format(task, sizeof task, "%.*s", (int)strspn(tasks, "0123456789"), tasks);
        else
            text_format(task, sizeof task, "%lld", (long long)row[JOB_FIELD_TASK_ID].number);
        return err_subject(e, ERR_INPUT, "job", str(id), "is an array; give one of its tasks, such as %s_%s", id, task);
    }
    *out_row = row;
    return 0;
}

static int open_error(const struct field_value *row, const char *path, int error, struct err *e)
{
    const char *state = job_state_name((enum job_state)row[JOB_FIELD_STATE].number);
    struct str id = str(row[JOB_FIELD_ID].text);
    const char *detail = row[JOB_FIELD_DETAIL].text;
    if (error == ENOENT && !has_started(row) && is_ended(row))
        return err_subject(e, ERR_NOT_FOUND, "job", id, "has no output: it was %s before it started%s%s", state,
                           detail[0] != '\0' ? ": " : "", detail);
    if (error == ENOENT && !has_started(row))
        return err_subject(e, ERR_NOT_FOUND, "job", id, "has not started: %s (%s)", state,
                           pending_reason_name((enum pending_reason)row[JOB_FIELD_REASON].number));
    return err_set(e, error == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %s", path, strerror(error));
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

/* Opens the file that a job writes to. Returns -1 if it cannot be opened (errno), or not be printed (e). */
static int open_output(const char *path, int *out_fd, struct err *e)
{
    *out_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return *out_fd >= 0 ? check_kind(*out_fd, path, e) : 0;
}

/* A file of that name is not the job's, if the job could not open it. */
static int check_opened(const struct field_value *row, struct err *e)
{
    const char *detail = row[JOB_FIELD_DETAIL].text;
    bool has_failed = strncmp(detail, "cannot open output ", strlen("cannot open output ")) == 0 ||
                      strncmp(detail, "cannot open error output ", strlen("cannot open error output ")) == 0;
    if (!has_failed || !is_ended(row)) return 0;
    return err_subject(e, ERR_NOT_FOUND, "job", str(row[JOB_FIELD_ID].text), "has no output: %s", detail);
}

/* Copies the file from its current offset to its end. */
static int copy_new(int fd, const char *path, struct output *out, struct err *e)
{
    ssize_t count;
    do {
        count = read(fd, buf_room(&out->text, 65536), 65536);
        if (count < 0 && errno != EINTR) return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
        if (count > 0) out->text.length += (size_t)count;
        output_pace(out);
    } while (count != 0 && out->write_errno == 0);
    return output_flush(out, e);
}

/* A file that became shorter than the offset is read from its start. */
static void rewind_if_truncated(int fd)
{
    struct stat info;
    off_t offset = lseek(fd, 0, SEEK_CUR);
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && offset > info.st_size) lseek(fd, 0, SEEK_SET);
}

/* The state of --follow. The row lives in one of the arenas, so the next reply is read into the other one. */
struct follower {
    struct client *client;
    const char *target, *path;
    int fd; /* -1: the file does not exist yet */
    const struct field_value *row;
    struct arena arenas[2];
    uint32_t reply_count;
    uint32_t failure_count; /* requests without a reply, since the last reply */
};

static int request_row_again(struct call *call, struct follower *f, struct err *e)
{
    struct arena *arena = &f->arenas[f->reply_count % 2], *call_arena = call->arena;
    const struct field_value *row;
    arena_clear(arena);
    call->arena = arena;
    int status = request_row(call, f->client, f->target, &row, e);
    call->arena = call_arena;
    if (status == 0) {
        f->row = row;
        f->reply_count++;
        f->failure_count = 0;
        return 0;
    }
    return e->code == ERR_UNAVAILABLE && ++f->failure_count < FAILURES_MAX ? 0 : -1;
}

static int follow(struct call *call, struct follower *f, struct err *e)
{
    const struct timespec pause = {0, POLL_MS * 1000000};
    for (uint32_t poll = 1;; poll++) {
        bool was_ended = is_ended(f->row); /* if so, this is the last read */
        if (was_ended && check_opened(f->row, e) != 0) return -1;
        if (f->fd < 0 && open_output(f->path, &f->fd, e) != 0) return -1;
        if (f->fd < 0 && (errno != ENOENT || was_ended)) return open_error(f->row, f->path, errno, e);
        if (f->fd >= 0) {
            rewind_if_truncated(f->fd);
            if (copy_new(f->fd, f->path, call->out, e) != 0) return -1;
        }
        if (was_ended) return 0;
        nanosleep(&pause, NULL);
        if (poll % POLLS_PER_REQUEST == 0 && request_row_again(call, f, e) != 0) return -1;
    }
}

/* Waits until the task has a row of its own, which has its path: that is when it starts or ends. */
static int await_task(struct call *call, struct client *c, const char *target, const struct field_value **io_row,
                      struct err *e)
{
    const struct timespec pause = {0, POLL_MS * POLLS_PER_REQUEST * 1000000};
    struct arena reply_arena = {0}, *call_arena = call->arena;
    uint32_t failure_count = 0;
    int status = 0;
    call->arena = &reply_arena;
    bool is_waiting = !is_ended(*io_row);
    while (status == 0 && is_waiting) {
        const struct field_value *row;
        nanosleep(&pause, NULL);
        arena_clear(&reply_arena);
        status = request_row(call, c, target, &row, e);
        if (status == 0) {
            is_waiting = has_tasks(row) && !is_ended(row);
            failure_count = 0;
        } else if (e->code == ERR_UNAVAILABLE && ++failure_count < FAILURES_MAX) {
            status = 0;
        }
    }
    call->arena = call_arena;
    arena_release(&reply_arena);
    return status == 0 ? request_row(call, c, target, io_row, e) : -1;
}

/* In a pretend cluster no job has output. */
static int explain_no_file(struct call *call, struct client *c, const struct field_value *row, struct err *e)
{
    struct api_status status;
    struct err ignored;
    if (instance_request(call, c, "GET", API_STATUS, NULL, NULL, &api_status_shape, &status, &ignored) != 0) return -1;
    if (status.pretend == NULL) return -1;
    return err_subject(e, ERR_NOT_FOUND, "job", str(row[JOB_FIELD_ID].text),
                       "has no output: in a pretend cluster no job really runs");
}

/* The setting private_data hides where another user's job writes. */
static int check_visible(const struct field_value *row, struct err *e)
{
    if (row[JOB_FIELD_OUT_PATH].text[0] != '\0') return 0;
    return err_subject(e, ERR_DENIED, "job", str(row[JOB_FIELD_ID].text), "belongs to another user");
}

/* Prints the output of the row's job. */
static int print_log(struct call *call, struct client *c, const char *target, const struct field_value *row,
                     struct err *e)
{
    const struct log_values *values = call->values;
    const char *err_path = row[JOB_FIELD_ERR_PATH].text;
    bool has_own = values->has_err && err_path[0] != '\0';
    const char *path = arena_copy(call->arena, str(has_own ? err_path : row[JOB_FIELD_OUT_PATH].text));
    struct follower f = {.client = c, .target = target, .path = path, .fd = -1, .row = row};
    int status = check_opened(row, e), error = ENOENT; /* before the start, a file of that name is not the job's */
    if (status == 0 && (has_started(row) || is_ended(row))) {
        status = open_output(path, &f.fd, e);
        error = errno;
    }
    if (status != 0) {
        /* e says why */
    } else if (values->has_follow && (f.fd >= 0 || !is_ended(row))) {
        status = follow(call, &f, e);
    } else {
        status = f.fd >= 0 ? copy_new(f.fd, path, call->out, e) : open_error(row, path, error, e);
    }
    if (status != 0 && f.fd < 0 && e->code == ERR_NOT_FOUND && has_started(row))
        status = explain_no_file(call, c, f.row, e);
    if (f.fd >= 0) close(f.fd);
    arena_release(&f.arenas[0]);
    arena_release(&f.arenas[1]);
    return status;
}

static int log_run(struct call *call, struct err *e)
{
    struct wire_list ids;
    struct client client;
    const struct field_value *row;
    if (job_ids_parse(call, 0, &ids, e) != 0) return -1;
    struct buf text = {0};
    buf_add_text(&text, API_JOBS);
    client_add_segment(&text, call->parsed.operands[0]);
    const char *target = instance_target(call, &text);

    if (instance_open(call, &client, e) != 0) return -1;
    int status = request_row(call, &client, target, &row, e);
    if (status == 0) status = check_visible(row, e);
    if (status == 0 && ((const struct log_values *)call->values)->has_follow && has_tasks(row))
        status = await_task(call, &client, target, &row, e);
    if (status == 0) status = print_log(call, &client, target, row, e);
    client_close(&client);
    return status;
}

static const struct command_example log_examples[] = {
    {.line = "fairlead log 5", .meaning = "the output of job 5 so far"},
    {.line = "fairlead log -f 6_3", .meaning = "the output of task 3 of array 6, until it has ended"},
    {0},
};

const struct command cmd_log = {
    .name = "log",
    .group = GROUP_JOBS,
    .summary = "print a job's output",
    .usage = "[--follow] [--err] JOB[_TASK]",
    .description =
        "Prints the file that the job writes to. With --follow it also waits for a job that has not started.",
    .options = log_options,
    .values_size = sizeof(struct log_values),
    .operands_min = 1,
    .operands_max = 1,
    .examples = log_examples,
    .see_also = "show-job queue wait",
    .run = log_run,
};
