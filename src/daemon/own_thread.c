/*  I1  A thread that was left alone (is_left) touches nothing of the loop, and its memory stays. */
#include "daemon/own_thread.h"

#include <pthread.h>
#include <time.h>

#include "base/arena.h"
#include "base/ensure.h"

struct own_thread {
    struct own_threads *all;
    struct own_thread *next, *previous;
    void (*run)(void *);
    void (*done)(void *);
    void *argument;
    uv_thread_t thread;
    uv_async_t *end; /* NULL: of the pool */
    bool may_be_left;
    bool is_left;
    uv_work_t work; /* of the pool */
};

static void free_handle(uv_handle_t *handle)
{
    mem_free(handle);
}

static void unlink_thread(struct own_thread *t)
{
    if (t->next != NULL) t->next->previous = t->previous;
    if (t->previous != NULL)
        t->previous->next = t->next;
    else
        t->all->first = t->next;
}

static void finish(struct own_thread *t)
{
    unlink_thread(t);
    if (t->end != NULL) uv_close((uv_handle_t *)t->end, free_handle);
    t->done(t->argument);
    mem_free(t);
}

static pthread_mutex_t leaving = PTHREAD_MUTEX_INITIALIZER; /* of is_left */

static void run_alone(void *thread)
{
    struct own_thread *t = thread;
    t->run(t->argument);
    pthread_mutex_lock(&leaving);
    if (!t->is_left) uv_async_send(t->end); /* I1 */
    pthread_mutex_unlock(&leaving);
}

static void on_end(uv_async_t *end)
{
    struct own_thread *t = end->data;
    uv_thread_join(&t->thread);
    finish(t);
}

static void run_in_pool(uv_work_t *work)
{
    struct own_thread *t = work->data;
    t->run(t->argument);
}

static void on_pool_end(uv_work_t *work, int status)
{
    (void)status; /* not UV_ECANCELED: nothing calls uv_cancel */
    finish(work->data);
}

static void do_nothing(uv_work_t *work)
{
    (void)work;
}

static void free_work(uv_work_t *work, int status)
{
    (void)status;
    mem_free(work);
}

void own_threads_begin(struct own_threads *threads, uv_loop_t *loop)
{
    uv_work_t *work = mem_resize(NULL, 0, sizeof *work);
    *threads = (struct own_threads){.loop = loop};
    ensure(uv_queue_work(loop, work, do_nothing, free_work) == 0);
}

static void begin(const struct own_thread *is)
{
    struct own_threads *threads = is->all;
    struct own_thread *t = mem_resize(NULL, 0, sizeof *t);
    *t = *is;
    t->next = threads->first;
    if (t->next != NULL) t->next->previous = t;
    threads->first = t;
    t->end = mem_resize(NULL, 0, sizeof *t->end);
    t->end->data = t;
    ensure(uv_async_init(threads->loop, t->end, on_end) == 0);
    if (uv_thread_create(&t->thread, run_alone, t) == 0) return;
    uv_close((uv_handle_t *)t->end, free_handle);
    t->end = NULL;
    t->work.data = t;
    ensure(uv_queue_work(threads->loop, &t->work, run_in_pool, on_pool_end) == 0);
}

void own_thread_run(struct own_threads *threads, void (*run)(void *), void (*done)(void *), void *argument)
{
    begin(&(struct own_thread){.all = threads, .run = run, .done = done, .argument = argument});
}

void own_thread_ask(struct own_threads *threads, void (*run)(void *), void (*done)(void *), void *argument)
{
    begin(&(struct own_thread){.all = threads, .run = run, .done = done, .argument = argument, .may_be_left = true});
}

static void leave(struct own_thread *t)
{
    pthread_mutex_lock(&leaving);
    t->is_left = true;
    pthread_mutex_unlock(&leaving);
    unlink_thread(t);
    uv_close((uv_handle_t *)t->end, free_handle);
    pthread_detach(t->thread);
}

static void end_thread(struct own_thread *t, const struct timespec *until)
{
    int result =
        t->may_be_left ? pthread_clockjoin_np(t->thread, NULL, CLOCK_MONOTONIC, until) : pthread_join(t->thread, NULL);
    if (result == 0)
        finish(t);
    else
        leave(t);
}

void own_threads_end(struct own_threads *threads)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += OWN_THREAD_WAIT_S;
    for (struct own_thread *t = threads->first; t != NULL; t = threads->first) {
        while (t != NULL && t->end == NULL) t = t->next;
        if (t == NULL) return; /* those of the pool are finished by the loop */
        end_thread(t, &until);
    }
}
