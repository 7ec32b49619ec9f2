#include "daemon/uploads.h"

#include "daemon/daemon.h"
#include "daemon/log.h"

static void upload_free(struct upload *u)
{
    store_upload_free(u->stored);
    mem_free(u);
}

static struct upload *first_of(const struct uploads *uploads)
{
    return uploads->list.count > 0 ? uploads->list.items[0] : NULL;
}

static void remove_first(struct uploads *uploads)
{
    for (uint32_t i = 1; i < uploads->list.count; i++) uploads->list.items[i - 1] = uploads->list.items[i];
    uploads->list.count--;
}

/* --- a round ------------------------------------------------------------------------------------------------------ */

static void store_pieces(struct daemon *d, struct upload *u)
{
    int result = store_upload_step(d->store, u->stored, &u->err);
    daemon_copy_long_log(d);
    if (result > 0) return;
    u->is_done = true;
    u->has_failed = result < 0;
    d->turn(d);
}

static void remove_rests(struct daemon *d)
{
    struct err e;
    int result = store_remove_loose(d->store, &e);
    daemon_copy_long_log(d);
    if (result < 0) log_line(LOG_WARNING, "pieces-not-removed", " error=\"%s\"", ERR_SENTENCE(&e));
    d->uploads.has_rests = result != 0;
    d->uploads.waits_for_commit = result < 0;
}

static void on_idle(uv_idle_t *idle)
{
    struct daemon *d = idle->data;
    struct upload *u = first_of(&d->uploads);
    if (u != NULL && !u->is_preparing && u->stored != NULL)
        store_pieces(d, u);
    else
        remove_rests(d);
    uploads_schedule(d);
}

static void prepare_in_thread(void *argument)
{
    struct upload *u = argument;
    u->stored = store_upload_prepare(&u->script);
}

static void on_prepared(void *argument)
{
    struct upload *u = argument;
    u->is_preparing = false;
    if (!u->d->is_stopping) uploads_schedule(u->d);
}

static void prepare(struct daemon *d, struct upload *u)
{
    u->is_preparing = true;
    daemon_run_in_thread(d, prepare_in_thread, on_prepared, u);
}

void uploads_schedule(struct daemon *d)
{
    struct uploads *uploads = &d->uploads;
    struct upload *u = first_of(uploads);
    bool may_remove = uploads->has_rests && !uploads->waits_for_commit;
    bool is_in_progress = u != NULL && (u->is_preparing || u->stored != NULL);
    if (u != NULL && !is_in_progress && !may_remove) prepare(d, u); /* invariant 2 */
    is_in_progress |= u != NULL && u->is_preparing;
    bool has_work = is_in_progress ? !u->is_preparing : may_remove;
    if (has_work && !d->is_copying_log && !d->is_stopping) /* invariant 3 */
        uv_idle_start(&uploads->idle, on_idle);
    else
        uv_idle_stop(&uploads->idle);
}

void uploads_look_for_rests(struct daemon *d)
{
    d->uploads.has_rests = true;
    uploads_schedule(d);
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

void uploads_init(struct daemon *d)
{
    uv_idle_init(&d->loop, &d->uploads.idle);
    d->uploads.idle.data = d;
    d->uploads.has_rests = true; /* of a daemon that was killed */
}

bool uploads_take(struct daemon *d, struct request *request)
{
    const struct request_script *script = request_script(request);
    if (script == NULL) return false;
    const struct job_script job_script = decided_request_script(script);
    if (!store_script_is_long(&job_script) || decided_request_would_be_refused(d, request)) return false;
    struct upload *u = mem_resize(NULL, 0, sizeof *u);
    *u = (struct upload){.d = d, .request = request, .script = job_script};
    *array_add(&d->uploads.list) = u;
    return true;
}

const struct upload *uploads_next_done(struct daemon *d)
{
    struct upload *u = first_of(&d->uploads);
    if (u == NULL || !u->is_done || d->uploads.decided != NULL) return NULL;
    d->uploads.decided = u;
    remove_first(&d->uploads);
    return u;
}

/* Pieces are left if the job was refused, or its commit failed; and a mark if an equal content was compared first. What
 * cannot be removed, because the disk is full, is tried again after the next commit that succeeds. */
void uploads_end_turn(struct daemon *d, bool has_committed, bool has_failed)
{
    struct uploads *uploads = &d->uploads;
    if (has_committed) uploads->waits_for_commit = has_failed;
    if (uploads->decided != NULL) {
        uploads->has_rests = true;
        upload_free(uploads->decided);
    }
    uploads->decided = NULL;
    uploads_schedule(d);
}

void uploads_close(struct daemon *d)
{
    struct err e;
    err_set(&e, ERR_UNAVAILABLE, "the instance is stopping; the job was not accepted");
    while (first_of(&d->uploads) != NULL) {
        struct upload *u = first_of(&d->uploads);
        remove_first(&d->uploads);
        server_answer(u->request, NULL, &e);
        upload_free(u);
    }
    array_release(&d->uploads.list);
}
