/* Records into their files first, then a word to the launcher: its launch id into DIR/launcher.events. The word may be
 * lost with the launcher; the next one reads all directories when it starts, after it has opened the fifo, so nothing falls
 * between.
 *
 * Only the start is on disk before anybody hears of it. What comes after it is told at once, without a sync: the daemon
 * passes nothing on before its own commit, and from then on its database has it. Power that is lost earlier finds a start
 * without an end, and nobody who was told otherwise: the same as power lost a moment before, while the job ran. */
#include "exec/launcher/record_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "exec/clock.h"
#include "exec/launcher/durable.h"
#include "exec/record.h"

static void copy_value(struct str text, const char *name, char *out, size_t size)
{
    struct str value = record_value(text, name);
    if (value.length >= size) value.length = 0;
    if (value.length > 0) memcpy(out, value.text, value.length);
    out[value.length] = '\0';
}

void process_identity_parse(struct str text, struct process_identity *out)
{
    copy_value(text, "key", out->key, sizeof out->key);
    copy_value(text, "boot_id", out->boot_id, sizeof out->boot_id);
    copy_value(text, "cgroup", out->cgroup.path, sizeof out->cgroup.path);
    if (!number_parse_u64(record_value(text, "born"), &out->born)) out->born = 0;
}

void process_identity_read_boot_id(char out[64])
{
    struct buf text = {0};
    bool found = false;
    out[0] = '\0';
    if (durable_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id", &text, &found, NULL) == 0 && found) {
        struct str id = str_trim((struct str){text.text, text.length});
        if (id.length < 64) text_format(out, 64, "%.*s", (int)id.length, id.text);
    }
    buf_release(&text);
}

static void process_identity_format(const struct process_identity *t, struct buf *out)
{
    buf_format(out, "key=%s\nborn=%" PRIu64 "\nboot_id=%s\n", t->key, t->born, t->boot_id);
    if (strchr(t->cgroup.path, '\n') == NULL) buf_format(out, "cgroup=%s\n", t->cgroup.path);
}

/* The directory's own entry must survive too, else the record in it does not. */
static int sync_parent(const struct launch_dir *d, struct err *e)
{
    int fd = openat(d->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = fd < 0 ? -1 : fsync(fd);
    int why = errno;
    if (fd >= 0) close(fd);
    return result == 0 ? 0 : err_set(e, ERR_IO, "cannot write the directory of launches: %s", strerror(why));
}

static const char *const names[] = {"start", "completing", "end"};

/* traces: of a start, which is synced. */
static int write_record(struct record_log *j, const struct launch_record *record, const struct process_identity *traces,
                        struct err *e)
{
    struct buf text = {0};
    record_format(record, &text);
    if (traces != NULL) process_identity_format(traces, &text);
    struct str written = {text.text, text.length};
    int result = traces != NULL ? durable_write(j->dir->fd, names[record->phase], written, e)
                                : durable_write_unsynced(j->dir->fd, names[record->phase], written, e);
    buf_release(&text);
    if (result == 0) j->record = *record;
    return result;
}

int record_log_write_start(struct record_log *j, struct launch_record record, const struct process_identity *traces,
                           struct err *e)
{
    record.phase = LAUNCH_STARTED;
    record.at_us = record.started_us = clock_wall_us();
    if (write_record(j, &record, traces, e) || sync_parent(j->dir, e)) return -1;
    record_log_notify(j);
    return 0;
}

int record_log_write(struct record_log *j, struct launch_record record, struct err *e)
{
    if (write_record(j, &record, NULL, e)) return -1;
    record_log_notify(j);
    return 0;
}

int record_log_sync(const struct record_log *j, struct err *e)
{
    return durable_sync(j->dir->fd, names[j->record.phase], e);
}

void record_log_notify(struct record_log *j)
{
    j->told = j->notice_due = false;
    int fd = openat(j->spool_fd, "launcher.events", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return; /* no launcher */
    j->told = write(fd, &j->dir->id, sizeof j->dir->id) > 0;
    j->notice_due = !j->told && errno == EAGAIN;
    close(fd);
}
