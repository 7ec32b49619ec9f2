/* What takes long to compute from the whole state, such as a plan of all waiting jobs, is computed by a process with a
 * copy of the memory as it is at that time: a fork. The loop goes on, and what it changes does not change the copy.
 *
 *     loop: fork (about 3 ms for each 100 MB)      the process: compute, write     thread: read      loop: done
 *
 * The daemon has threads, and of its locks the process may only use those of malloc, which glibc makes usable after a
 * fork. So it computes with the pure rooms alone and writes to a pipe: no file, no database, no clock, no log. It has
 * no other descriptor, so that it keeps nothing locked that belongs to the daemon, and it ends with the daemon.
 *
 * One process runs at a time; the others wait for it in order, and have the state of the time at which they begin.
 * Where no process can be made, it is computed in the loop. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ensure.h"
#include "daemon/daemon.h"
#include "daemon/log.h"

enum { PIECE_BYTES = 1 << 20 };

struct snapshot_process {
    uv_work_t work;
    struct daemon *d;
    struct snapshot_work what;
    void *argument;
    struct snapshot_process *next; /* that waits */
    bool has_begun;
    int from;  /* the end of the pipe that is read */
    pid_t pid; /* 0: there is no process */
    struct buf text;
    bool has_failed;
    struct err err;
};

/* --- in the process ----------------------------------------------------------------------------------------------- */

static bool write_all(int fd, const void *bytes, size_t length)
{
    const char *next = bytes;
    while (length > 0) {
        ssize_t written = write(fd, next, length);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        next += written;
        length -= (size_t)written;
    }
    return true;
}

/* Signals are blocked until they have their default actions: libuv's handlers would write to the daemon's own pipe. */
static void become_process(int to, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++) (void)signal(number, SIG_DFL);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
    if (dup2(to, STDIN_FILENO) < 0 || close_range(STDIN_FILENO + 1, ~0u, 0) != 0) _exit(1);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void run_process(const struct snapshot_process *p, int to, pid_t parent)
{
    struct buf text = {0};
    become_process(to, parent);
    p->what.compute(p->argument, &text);
    _exit(write_all(STDIN_FILENO, text.text, text.length) ? 0 : 1);
}

/* --- in a thread -------------------------------------------------------------------------------------------------- */

static void read_text(struct snapshot_process *p)
{
    char *piece = mem_resize_raw(NULL, PIECE_BYTES);
    for (;;) {
        ssize_t length = read(p->from, piece, PIECE_BYTES);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) break;
        buf_add(&p->text, piece, (size_t)length);
    }
    mem_free(piece);
}

static void read_in_thread(uv_work_t *work)
{
    struct snapshot_process *p = work->data;
    int status = 0;
    if (p->pid == 0) return;
    read_text(p);
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        p->what.read(p->argument, &p->text);
        return;
    }
    p->has_failed = true;
    if (WIFSIGNALED(status))
        err_set(&p->err, ERR_UNAVAILABLE, "the process that computes the answer was ended by signal %d; try again",
                WTERMSIG(status));
    else
        err_set(&p->err, ERR_UNAVAILABLE, "the process that computes the answer could not write it; try again");
}

/* --- in the loop -------------------------------------------------------------------------------------------------- */

static void start_process(struct snapshot_process *p)
{
    int ends[2];
    sigset_t all, before;
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    p->pid = fork();
    if (p->pid == 0) run_process(p, ends[1], parent);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    p->from = ends[0];
    if (p->pid > 0) return;
    log_line(LOG_WARNING, "snapshot-in-loop", " error=\"%s\"", strerror(errno));
    p->pid = 0;
    close(ends[0]);
}

static void finish_in_loop(uv_work_t *work, int status);

static void begin_first(struct daemon *d)
{
    struct snapshot_process *p = d->snapshots;
    if (p == NULL || p->has_begun) return;
    p->has_begun = true;
    if (p->what.prepare != NULL) p->what.prepare(p->argument);
    if (!d->is_stopping) start_process(p);
    ensure(uv_queue_work(&d->loop, &p->work, read_in_thread, finish_in_loop) == 0);
}

static void compute_here(struct snapshot_process *p)
{
    p->what.compute(p->argument, &p->text);
    p->what.read(p->argument, &p->text);
}

static void finish_in_loop(uv_work_t *work, int status)
{
    struct snapshot_process *p = work->data;
    struct daemon *d = p->d;
    (void)status; /* not UV_ECANCELED: the daemon calls no uv_cancel */
    if (p->pid > 0) {
        close(p->from);
    } else if (d->is_stopping) {
        p->has_failed = true;
        err_set(&p->err, ERR_UNAVAILABLE, "the instance is stopping");
    } else {
        compute_here(p);
    }
    if (p->has_failed) log_line(LOG_ERROR, "snapshot-failed", " error=\"%s\"", ERR_SENTENCE(&p->err));
    d->snapshots = p->next;
    p->what.done(p->argument, p->has_failed ? &p->err : NULL);
    buf_release(&p->text);
    mem_free(p);
    begin_first(d);
}

void daemon_run_in_snapshot(void *context, const struct snapshot_work *work, void *argument)
{
    struct daemon *d = context;
    struct snapshot_process *p = mem_resize(NULL, 0, sizeof *p), **last = &d->snapshots;
    *p = (struct snapshot_process){.d = d, .what = *work, .argument = argument};
    p->work.data = p;
    while (*last != NULL) last = &(*last)->next;
    *last = p;
    begin_first(d);
}

void daemon_end_snapshots(struct daemon *d)
{
    d->is_stopping = true;
    if (d->snapshots != NULL && d->snapshots->pid > 0) (void)kill(d->snapshots->pid, SIGKILL);
}
