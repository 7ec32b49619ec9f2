/* Backups: a thread of libuv's pool copies the database into a file of the state directory, which is removed at once
 * and sent from its descriptor. So a client that reads slowly holds no snapshot of the database, and the file that it
 * writes is its own. One copy is made at a time; the thread of a daemon that was killed leaves a file, which the next
 * start removes. */
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/ensure.h"
#include "daemon/daemon.h"
#include "daemon/log.h"

struct backup {
    uv_work_t work;
    struct daemon *d;
    struct request *request;
    uint64_t commit;
    int fd;
    struct err err;
};

static void copy_in_thread(uv_work_t *work)
{
    struct backup *b = work->data;
    char path[PATH_MAX];
    text_format(path, sizeof path, "%s/fairlead.db-backup", b->d->state_dir.path);
    if (store_backup(b->d->state_dir.path, path, &b->commit, &b->err) != 0) return;
    b->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (b->fd < 0) err_set(&b->err, ERR_IO, "cannot open %s", path);
    (void)unlink(path);
}

static void answer_in_loop(uv_work_t *work, int status)
{
    struct backup *b = work->data;
    ensure(status == 0);
    b->d->is_backing_up = false;
    if (b->fd < 0)
        log_line(LOG_ERROR, "backup-failed", " error=\"%s\"", ERR_SENTENCE(&b->err));
    else
        log_line(LOG_INFO, "backup", " commit=%llu", (unsigned long long)b->commit);
    server_backed_up(b->request, b->fd, b->commit, b->fd < 0 ? &b->err : NULL);
    mem_free(b);
}

void daemon_remove_unfinished_backup(const struct daemon *d)
{
    static const char *const names[] = {"fairlead.db-backup", "fairlead.db-backup-journal"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        text_format(path, sizeof path, "%s/%s", d->state_dir.path, names[i]);
        (void)unlink(path);
    }
}

int daemon_backup(void *context, struct request *request, struct err *e)
{
    struct daemon *d = context;
    if (d->pretend != NULL)
        return err_set(e, ERR_CONFLICT, "a pretend instance has no backup: it could be started as one with real jobs");
    if (d->is_backing_up) return err_set(e, ERR_UNAVAILABLE, "another backup is being made; try again when it is done");
    struct backup *b = mem_resize(NULL, 0, sizeof *b);
    *b = (struct backup){.work = {.data = b}, .d = d, .request = request, .fd = -1};
    d->is_backing_up = true;
    uv_queue_work(&d->loop, &b->work, copy_in_thread, answer_in_loop);
    return 0;
}
