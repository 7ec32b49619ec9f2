/* log: prints a job's output file, and with --follow what it goes on to write until the job has ended.
 *
 * The file is read by whoever asks, with that person's rights; the instance only says where it is. Following looks for
 * new output every LOOK_MS and asks the instance how the job is every LOOKS_PER_ASK looks. When the instance goes away the
 * job writes on, so it is asked SILENT_ASKS times before that is an error. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/quantity.h"
#include "cli/instance.h"
#include "cli/job_ids.h"

enum { LOOK_MS = 100, LOOKS_PER_ASK = 5, SILENT_ASKS = 120 };

struct log_values {
    bool follow, err;
};

static const struct option_row log_options[] = {
    {.name = "follow",
     .letter = 'f',
     .value = FLAG_IN(struct log_values, follow),
     .help = "go on until the job has ended"},
    {.name = "err",
     .letter = 'e',
     .value = FLAG_IN(struct log_values, err),
     .help = "the error output, where it has a file of its own"},
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

static bool is_several(const struct field_value *row)
{
    return row[JOB_FIELD_ARRAY_TASKS].text != NULL;
}

static bool names_task(const struct call *call)
{
    return strchr(call->parsed.operands[0], '_') != NULL;
}

/* The one row of the job or task; of a task that has not started, the row of all of its array that have not. In memory of
 * the call. */
static int ask_row(struct call *call, struct client *c, const char *target, const struct field_value **out_row,
                   struct err *e)
{
    struct api_listing list;
    if (instance_ask(call, c, "GET", target, NULL, NULL, &api_job_list_shape, &list, e) != 0) return -1;
    const struct field_value *row = list.rows.items;
    if (list.rows.count == 0) return err_not_found(e, "job", str(call->parsed.operands[0]));
    if (list.rows.count > 1 || (is_several(row) && !names_task(call))) {
        char id[24];
        text_format(id, sizeof id, "%lld", (long long)row[JOB_FIELD_JOB_ID].number);
        return err_subject(e, ERR_INPUT, "job", str(id), "is an array; name one of its tasks, as in %s_0", id);
    }
    *out_row = row;
    return 0;
}

static int open_error(const struct field_value *row, const char *path, int error, struct err *e)
{
    const char *state = job_state_name((enum job_state)row[JOB_FIELD_STATE].number);
    struct str id = str(row[JOB_FIELD_ID].text);
    if (error == ENOENT && !has_started(row) && is_ended(row))
        return err_subject(e, ERR_NOT_FOUND, "job", id, "has no output: %s before it started", state);
    if (error == ENOENT && !has_started(row))
        return err_subject(e, ERR_NOT_FOUND, "job", id, "has not started: %s (%s)", state, row[JOB_FIELD_REASON].text);
    return err_set(e, error == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %s", path, strerror(error));
}

/* Copies what is there now. *out_count: bytes; may be NULL. */
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

/* A file that was cut is read from its beginning. */
static void notice_cut(int fd)
{
    struct stat now;
    off_t at = lseek(fd, 0, SEEK_CUR);
    if (fstat(fd, &now) == 0 && S_ISREG(now.st_mode) && at > now.st_size) lseek(fd, 0, SEEK_SET);
}

/* One who follows. The row lives in one of the arenas; the next answer goes into the other. */
struct follower {
    struct client *client;
    const char *target, *path;
    int fd; /* -1: not there yet */
    const struct field_value *row;
    struct arena arenas[2];
    uint32_t asks, silent_asks;
};

static int ask_again(struct call *call, struct follower *f, struct err *e)
{
    struct arena *arena = &f->arenas[f->asks % 2], *kept = call->arena;
    const struct field_value *row;
    arena_clear(arena);
    call->arena = arena;
    int status = ask_row(call, f->client, f->target, &row, e);
    call->arena = kept;
    if (status == 0) {
        f->row = row;
        f->asks++;
        f->silent_asks = 0;
        return 0;
    }
    return e->code == ERR_UNAVAILABLE && ++f->silent_asks < SILENT_ASKS ? 0 : -1;
}

static int follow(struct call *call, struct follower *f, struct err *e)
{
    const struct timespec pause = {0, LOOK_MS * 1000000};
    for (uint32_t look = 1;; look++) {
        bool was_ended = is_ended(f->row); /* before this reading: nothing comes after it */
        if (f->fd < 0) f->fd = open(f->path, O_RDONLY | O_CLOEXEC);
        if (f->fd < 0 && (errno != ENOENT || was_ended)) return open_error(f->row, f->path, errno, e);
        if (f->fd >= 0) {
            notice_cut(f->fd);
            if (copy_new(f->fd, f->path, call->out, e) != 0) return -1;
        }
        if (was_ended) return 0;
        nanosleep(&pause, NULL);
        if (look % LOOKS_PER_ASK == 0 && ask_again(call, f, e) != 0) return -1;
    }
}

/* Where a task writes is known when it starts: until then there is nothing to follow. */
static int await_task(struct call *call, struct client *c, const char *target, const struct field_value **io_row,
                      struct err *e)
{
    const struct timespec pause = {0, LOOK_MS * LOOKS_PER_ASK * 1000000};
    struct arena looks = {0}, *kept = call->arena;
    uint32_t silent_asks = 0;
    int status = 0;
    call->arena = &looks;
    bool waits = !is_ended(*io_row);
    while (status == 0 && waits) {
        const struct field_value *row;
        nanosleep(&pause, NULL);
        arena_clear(&looks);
        status = ask_row(call, c, target, &row, e);
        if (status == 0) {
            waits = is_several(row) && !is_ended(row);
            silent_asks = 0;
        } else if (e->code == ERR_UNAVAILABLE && ++silent_asks < SILENT_ASKS) {
            status = 0;
        }
    }
    call->arena = kept;
    arena_release(&looks);
    return status == 0 ? ask_row(call, c, target, io_row, e) : -1;
}

/* Prints the output of the job in that row. */
static int print_log(struct call *call, struct client *c, const char *target, const struct field_value *row,
                     struct err *e)
{
    const struct log_values *values = call->values;
    const char *err_path = row[JOB_FIELD_ERR_PATH].text;
    bool has_own = values->err && err_path[0] != '\0';
    const char *path = arena_copy(call->arena, str(has_own ? err_path : row[JOB_FIELD_OUT_PATH].text));
    struct follower f = {.client = c, .target = target, .path = path, .fd = -1, .row = row};
    int status, error = ENOENT; /* before the start a file of that name is somebody else's */
    if (has_started(row) || is_ended(row)) {
        f.fd = open(path, O_RDONLY | O_CLOEXEC);
        error = errno;
    }
    if (values->follow && (f.fd >= 0 || !is_ended(row))) {
        status = follow(call, &f, e);
    } else {
        status = f.fd >= 0 ? copy_new(f.fd, path, call->out, e) : open_error(row, path, error, e);
    }
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
    int status = ask_row(call, &client, target, &row, e);
    if (status == 0 && ((const struct log_values *)call->values)->follow && is_several(row))
        status = await_task(call, &client, target, &row, e);
    if (status == 0) status = print_log(call, &client, target, row, e);
    client_close(&client);
    return status;
}

static const struct command_example log_examples[] = {
    {"fairlead log 5", "what job 5 has written"},
    {"fairlead log -f 6_3", "task 3 of array 6, until it has ended"},
    {0},
};

const struct command cmd_log = {
    .name = "log",
    .group = GROUP_JOBS,
    .summary = "print a job's output",
    .usage = "[--follow] [--err] JOB[_TASK]",
    .text = "Prints the file that the job writes to. With --follow a job that has not started is waited for.",
    .options = log_options,
    .values_size = sizeof(struct log_values),
    .operands_min = 1,
    .operands_max = 1,
    .examples = log_examples,
    .see_also = "show queue wait",
    .run = log_run,
};
