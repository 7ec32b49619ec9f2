/* What the server leaves to a thread of libuv's pool: reading long bodies (api/server/read_body.c). */
#include "daemon/daemon.h"

struct thread_work {
    uv_work_t work;
    void (*run)(void *);
    void (*done)(void *);
    void *argument;
};

static void run_in_thread(uv_work_t *work)
{
    struct thread_work *w = work->data;
    w->run(w->argument);
}

static void finish_in_loop(uv_work_t *work, int status)
{
    struct thread_work *w = work->data;
    (void)status; /* not UV_ECANCELED: the daemon calls no uv_cancel */
    w->done(w->argument);
    mem_free(w);
}

void daemon_run_in_thread(void *context, void (*run)(void *), void (*done)(void *), void *argument)
{
    struct daemon *d = context;
    struct thread_work *w = mem_resize(NULL, 0, sizeof *w);
    *w = (struct thread_work){.run = run, .done = done, .argument = argument};
    w->work.data = w;
    uv_queue_work(&d->loop, &w->work, run_in_thread, finish_in_loop);
}
