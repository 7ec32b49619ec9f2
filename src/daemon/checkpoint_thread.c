/* Checkpoints of the database: a thread of libuv's pool writes the pages of a long write-ahead log into the database
 * file, and the loop then resets the log. So a submission waits for neither. */
#include "base/ensure.h"
#include "daemon/daemon.h"
#include "daemon/log.h"

struct log_copy {
    uv_work_t work;
    struct daemon *d;
    struct err err;
    bool has_failed;
};

static void copy_in_thread(uv_work_t *work)
{
    struct log_copy *c = work->data;
    c->has_failed = store_copy_log(c->d->state_dir.path, &c->err) != 0;
}

static void reset_in_loop(uv_work_t *work, int status)
{
    struct log_copy *c = work->data;
    struct daemon *d = c->d;
    ensure(status == 0);
    d->is_copying_log = false;
    if (c->has_failed) log_line(LOG_WARNING, "checkpoint-failed", " error=\"%s\"", ERR_SENTENCE(&c->err));
    if (store_reset_log(d->store)) daemon_reset_commit_log(d);
    mem_free(c);
    if (!d->is_stopping) d->turn(d); /* uploads go on */
}

void daemon_copy_long_log(struct daemon *d)
{
    if (d->is_copying_log || !store_log_is_long(d->store)) return;
    struct log_copy *c = mem_resize(NULL, 0, sizeof *c);
    *c = (struct log_copy){.work = {.data = c}, .d = d};
    d->is_copying_log = true;
    ensure(uv_queue_work(&d->loop, &c->work, copy_in_thread, reset_in_loop) == 0);
}
