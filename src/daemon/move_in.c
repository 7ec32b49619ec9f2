/* Takes the histories of private instances along (api/server/move_in.c): one request in each round of the loop, at most
 * MOVED_JOBS_ROWS_MAX rows, with a pause after each that is as long as it took. So other clients have half of the loop
 * at least, however many users send however much. */
#include "daemon/daemon.h"
#include "daemon/log.h"
#include "exec/clock.h"

enum { PAUSE_MAX_MS = 50 };

struct waiting_move {
    struct request *request;
    const struct moved_jobs *jobs;
    bool is_dry_run;
};

struct move_in {
    uv_timer_t timer;
    struct daemon *d;
    ARRAY(struct waiting_move) list;
    uint32_t next;
};

static int move(struct daemon *d, const struct waiting_move *w, struct store_moved *out, struct err *e)
{
    const struct actor *actor = request_actor(w->request);
    int64_t keep_s = setting_number(&d->state.settings, SET_HISTORY_KEEP_S);
    const struct store_move move = {.jobs = w->jobs,
                                    .user = actor->user,
                                    .uid = actor->uid,
                                    .gid = actor->gid,
                                    .now_us = d->now_us,
                                    .keep_from_us = keep_s > 0 ? d->now_us - keep_s * US_PER_S : 0,
                                    .rows_max = (uint64_t)setting_number(&d->state.settings, SET_MAX_MOVED_IN),
                                    .is_dry_run = w->is_dry_run,
                                    .next_job_id = d->state.next_job_id,
                                    .next_assoc_id = d->state.next_assoc_id};
    if (store_move_in(d->store, &move, out, e) != 0) return -1;
    if (w->is_dry_run) return 0;
    d->state.next_job_id = out->next_job_id;
    d->state.next_assoc_id = out->next_assoc_id;
    if (out->is_first)
        log_line(LOG_INFO, "move-in", " user=%s uid=%u origin=%s", actor->user, actor->uid, w->jobs->instance);
    return 0;
}

static void on_timer(uv_timer_t *timer)
{
    struct move_in *m = timer->data;
    struct store_moved moved = {0};
    struct err e;
    if (m->d->is_stopping || m->next == m->list.count) return;
    int64_t begin_us = clock_boot_us();
    const struct waiting_move w = m->list.items[m->next++];
    if (m->next == m->list.count) {
        array_clear(&m->list);
        m->next = 0;
    }
    int result = move(m->d, &w, &moved, &e);
    if (result != 0) log_line(LOG_WARNING, "move-in-failed", " error=\"%s\"", ERR_SENTENCE(&e));
    const struct server_moved answer = {moved.jobs, moved.tasks, moved.known, moved.removed};
    server_moved_in(w.request, &answer, result != 0 ? &e : NULL);
    int64_t passed_us = clock_boot_us() - begin_us;
    uint64_t passed_ms = (uint64_t)passed_us / 1000 + 1;
    log_line(LOG_DEBUG, "moved-in", " jobs=%u tasks=%u known=%u us=%lld", moved.jobs, moved.tasks, moved.known,
             (long long)passed_us);
    uv_timer_start(timer, on_timer, passed_ms < PAUSE_MAX_MS ? passed_ms : PAUSE_MAX_MS, 0);
}

void daemon_move_in(void *context, struct request *request, const struct moved_jobs *jobs, bool is_dry_run)
{
    struct move_in *m = ((struct daemon *)context)->move_in;
    *array_add(&m->list) = (struct waiting_move){request, jobs, is_dry_run};
    if (!uv_is_active((uv_handle_t *)&m->timer)) uv_timer_start(&m->timer, on_timer, 0, 0);
}

void daemon_open_move_in(struct daemon *d)
{
    struct move_in *m = mem_resize(NULL, 0, sizeof *m);
    *m = (struct move_in){.d = d};
    d->move_in = m;
    uv_timer_init(&d->loop, &m->timer);
    m->timer.data = m;
}

void daemon_close_move_in(struct daemon *d)
{
    if (d->move_in == NULL) return;
    array_release(&d->move_in->list);
    mem_free(d->move_in);
    d->move_in = NULL;
}
