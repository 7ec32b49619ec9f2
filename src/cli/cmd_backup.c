/* fairlead backup: the instance sends a copy of its database, and this command writes it, as its user's file. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/quantity.h"
#include "cli/instance.h"
#include "cli/temporary_file.h"

struct backup_values {
    bool is_forced;
};

static const struct option_row backup_options[] = {
    {.name = "force", .value = FLAG_IN(struct backup_values, is_forced), .help = "replace FILE if it exists"},
    {0},
};

static int fail(const char *path, struct err *e)
{
    return err_set(e, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
}

static int write_all(int fd, struct str bytes)
{
    while (bytes.length > 0) {
        ssize_t written = write(fd, bytes.text, bytes.length);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return -1;
        bytes.text += written;
        bytes.length -= (size_t)written;
    }
    return 0;
}

/* On a terminal, in one line that is written again and again. */
static void show_progress(uint64_t done, uint64_t total, unsigned *last_percent)
{
    unsigned percent = total > 0 ? (unsigned)(done * 100 / total) : 100;
    if (percent == *last_percent || !isatty(STDERR_FILENO)) return;
    *last_percent = percent;
    (void)fprintf(stderr, "\r%u%% of %llu MiB%s", percent, (unsigned long long)(total >> 20),
                  done == total ? "\n" : "");
}

/* Writes the body of the reply, and brings it to the disk. */
static int receive(struct client *c, int fd, const char *path, uint64_t *out_bytes, struct err *e)
{
    uint64_t total = client_unread(c), done = 0;
    unsigned percent = UINT_MAX;
    struct str piece;
    int status;
    while ((status = client_piece(c, &piece, e)) == 1) {
        if (write_all(fd, piece) != 0) return fail(path, e);
        done += piece.length;
        show_progress(done, total, &percent);
    }
    if (status == 0 && done != total)
        return err_set(e, ERR_UNAVAILABLE, "the backup is incomplete: %llu of %llu bytes arrived",
                       (unsigned long long)done, (unsigned long long)total);
    *out_bytes = done;
    return status;
}

static int refuse_existing(const char *path, struct err *e)
{
    return err_set(e, ERR_EXISTS, "%s exists; give --force to replace it", path);
}

/* A state directory has a lock of its daemon; a backup over one of its files would destroy the instance. */
static int check_no_state_directory(const char *path, struct err *e)
{
    const char *slash = strrchr(path, '/');
    char lock[PATH_MAX];
    struct stat st;
    text_format(lock, sizeof lock, "%.*sfairleadd.lock", slash != NULL ? (int)(slash - path + 1) : 0, path);
    if (lstat(lock, &st) != 0) return 0;
    return err_set(e, ERR_INPUT, "%s lies in the state directory of an instance; give a file in another directory",
                   path);
}

static int check_target(const char *path, bool is_forced, struct err *e)
{
    struct stat st;
    if (path[0] == '\0') return err_set(e, ERR_INPUT, "the path of FILE is empty; give the file to write");
    if (strcmp(path, "-") == 0)
        return err_set(e, ERR_INPUT,
                       "a backup is written to a file, not to standard output; './-' is a file called '-'");
    if (check_no_state_directory(path, e) != 0) return -1;
    if (lstat(path, &st) != 0) return 0;
    if (!is_forced) return refuse_existing(path, e);
    return S_ISREG(st.st_mode) ? 0
                               : err_set(e, ERR_INPUT, "%s is not a regular file; only such a file is replaced", path);
}

static int write_backup(struct client *c, const char *path, bool is_forced, uint64_t *out_bytes, struct err *e)
{
    struct temporary_file file;
    if (temporary_file_open(&file, path, e) != 0) return -1;
    int status = client_request(c, "GET", API_BACKUP, str(""), e);
    if (status == 0) status = receive(c, file.fd, path, out_bytes, e);
    if (status == 0) return temporary_file_publish(&file, is_forced, e);
    temporary_file_remove(&file);
    return status;
}

static int backup_run(struct call *call, struct err *e)
{
    const struct backup_values *values = call->values;
    const char *path = call->parsed.operands[0];
    struct client client = {.fd = -1};
    uint64_t bytes = 0;
    if (check_target(path, values->is_forced, e) != 0) return -1;
    if (instance_open(call, &client, e) != 0) return -1;
    client_wait_long(&client);
    int status = write_backup(&client, path, values->is_forced, &bytes, e);
    if (status == 0)
        output_line(call->out, "Wrote %s: %llu bytes, up to commit %llu", path, (unsigned long long)bytes,
                    (unsigned long long)client.reply.commit);
    client_close(&client);
    return status;
}

static const struct command_example backup_examples[] = {
    {.line = "fairlead backup fairlead-$(date +%F).db", .meaning = "a backup with the day in its name"},
    {.line = "fairlead restore fairlead-2026-11-23.db --state /srv/fairlead",
     .meaning = "make a state directory of it, to be started with 'fairlead start --state'"},
    {0},
};

const struct command cmd_backup = {
    .name = "backup",
    .group = GROUP_SERVICE,
    .summary = "write a copy of all data into a file, while the instance runs",
    .usage = "[--force] FILE",
    .description =
        "The copy is consistent: it has everything up to one commit, whose number is printed, and nothing later. Jobs go on "
        "meanwhile. FILE is yours, with mode 0600, because it has scripts and environments of jobs. It appears only when it is complete and "
        "on the disk. The state directory needs as much free space as the copy, until it is sent.\n\n"
        "FILE is an SQLite database (docs/schema.md). Output files of jobs are not in it. 'fairlead restore' makes a state directory of it.",
    .options = backup_options,
    .values_size = sizeof(struct backup_values),
    .operands_min = 1,
    .operands_max = 1,
    .examples = backup_examples,
    .see_also = "restore start verify",
    .run = backup_run,
};
