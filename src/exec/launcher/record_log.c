/* Writes records to disk first and notifies the launcher then, by writing the launch id into DIR/launcher.events. The
 * notice may be lost together with the launcher. The next launcher opens the fifo first and reads all directories then,
 * so it misses nothing.
 *
 * Only the start record is synced before the launcher hears of it. The later records are sent without a sync, because
 * the daemon passes nothing on before its own commit, and from then on its database has the record. If power is lost
 * before that commit, the disk has a start without an end, and the end has been reported to no user: the same as if
 * power had been lost a moment earlier, while the job was running. */
#include "exec/launcher/record_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/ensure.h"
#include "exec/clock.h"
#include "exec/launcher/durable.h"
#include "exec/record.h"

static const char *const file_names[] = {
    [LAUNCH_STARTED] = "start", [LAUNCH_COMPLETING] = "completing", [LAUNCH_ENDED] = "end"};

/* Syncs the directory of launches: without its entry for this launch's directory, the record would be lost, too. */
static int sync_parent(const struct launch_dir *d, struct err *e)
{
    int fd = openat(d->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = fd < 0 ? -1 : fsync(fd);
    int error_number = errno;
    if (fd >= 0) close(fd);
    if (result == 0) return 0;
    return err_set(e, ERR_IO, "cannot sync the directory 'launches': %s", strerror(error_number));
}

int record_log_write_start(struct record_log *log, struct launch_record record, const struct process_identity *identity,
                           struct err *e)
{
    struct buf text = {0};
    record.phase = LAUNCH_STARTED;
    launch_record_set_time(&record, identity->boot_id);
    record.started_us = record.at_us;
    record.started_boot_us = record.at_boot_us;
    record_format(&record, &text);
    process_identity_format(identity, &text);
    int result = durable_write(log->dir->fd, file_names[record.phase], (struct str){text.text, text.length}, e);
    buf_release(&text);
    if (result) {
        /* It may have been renamed before the sync failed. Without it, the launch certainly never ran. */
        (void)unlinkat(log->dir->fd, file_names[record.phase], 0);
        return -1;
    }
    log->record = record;
    if (sync_parent(log->dir, e)) return -1;
    record_log_notify(log);
    return 0;
}

int record_log_write(struct record_log *log, struct launch_record record, struct err *e)
{
    struct buf text = {0};
    ensure(record.phase != LAUNCH_STARTED);
    record_format(&record, &text);
    int result =
        durable_write_unsynced(log->dir->fd, file_names[record.phase], (struct str){text.text, text.length}, e);
    buf_release(&text);
    if (result) return -1;
    log->record = record;
    record_log_notify(log);
    return 0;
}

int record_log_sync(const struct record_log *log, struct err *e)
{
    return durable_sync(log->dir->fd, file_names[log->record.phase], e);
}

void record_log_notify(struct record_log *log)
{
    log->is_launcher_notified = log->is_notice_due = false;
    int fd = openat(log->spool_fd, "launcher.events", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return; /* no launcher */
    log->is_launcher_notified = write(fd, &log->dir->id, sizeof log->dir->id) > 0;
    log->is_notice_due = !log->is_launcher_notified && errno == EAGAIN;
    close(fd);
}
