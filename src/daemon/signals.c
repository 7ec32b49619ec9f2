/* Signals, and what the daemon looks at every few seconds: that its socket and its state directory are still there.
 *
 *     TERM, INT, QUIT        stop; jobs go on
 *     HUP                    looks at once
 *     USR1, USR2, ALRM       nothing, but a line in the log: the default action would end the daemon without a word
 */
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>

#include "daemon/daemon.h"
#include "daemon/known_users.h"
#include "daemon/log.h"
#include "exec/service_manager.h"

enum { CHECK_MS = 5000 };

static const int stop_signals[] = {SIGTERM, SIGINT, SIGQUIT}, other_signals[] = {SIGHUP, SIGUSR1, SIGUSR2, SIGALRM};

enum { STOP_COUNT = sizeof stop_signals / sizeof *stop_signals };
_Static_assert(sizeof stop_signals + sizeof other_signals == DAEMON_SIGNAL_COUNT * sizeof(int),
               "each signal has a handle");

void daemon_ignore_signals(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* under ulimit -f a write fails instead; jobs get the default action */
    for (size_t i = 0; i < sizeof other_signals / sizeof *other_signals; i++) signal(other_signals[i], SIG_IGN);
}

static void stop(struct daemon *d)
{
    service_manager_stopping();
    d->is_stopping = true;
    uv_stop(&d->loop);
}

/* A directory that was only moved still has its lock file, and its database is written on. */
static bool is_directory_removed(const struct daemon *d)
{
    struct stat directory, lock;
    bool is_missing = stat(d->state_dir.path, &directory) != 0 && errno == ENOENT;
    return is_missing && fstat(d->state_dir.lock_fd, &lock) == 0 && lock.st_nlink == 0;
}

static void check_files(struct daemon *d)
{
    struct err e;
    if (is_directory_removed(d)) {
        log_line(LOG_ERROR, "stopping", " error=\"the state directory %s was removed\"", d->state_dir.path);
        d->exit_status = 1;
        stop(d);
        return;
    }
    int result = server_listen_again(d->server, &e);
    if (result == 1)
        log_line(LOG_WARNING, "listening-again", " socket=%s error=\"the socket was removed\"",
                 d->state_dir.socket_path);
    else if (result < 0 && !d->has_lost_socket)
        log_line(LOG_ERROR, "socket-lost", " error=\"%s\"", ERR_SENTENCE(&e));
    d->has_lost_socket = result < 0;
}

static void on_check_timer(uv_timer_t *timer)
{
    check_files(timer->data);
    known_users_refresh(timer->data);
}

static void on_stop_signal(uv_signal_t *handle, int number)
{
    log_line(LOG_INFO, "stopping", " signal=%d", number);
    stop(handle->data);
}

static void on_other_signal(uv_signal_t *handle, int number)
{
    log_line(LOG_INFO, "signal", " signal=%d action=%s", number, number == SIGHUP ? "check" : "none");
    if (number == SIGHUP) check_files(handle->data);
}

void daemon_init_signals(struct daemon *d)
{
    uv_timer_init(&d->loop, &d->check_timer);
    d->check_timer.data = d;
    for (int i = 0; i < DAEMON_SIGNAL_COUNT; i++) {
        uv_signal_init(&d->loop, &d->signals[i]);
        d->signals[i].data = d;
    }
}

void daemon_watch_signals(struct daemon *d)
{
    for (int i = 0; i < DAEMON_SIGNAL_COUNT; i++) {
        if (i < STOP_COUNT)
            uv_signal_start(&d->signals[i], on_stop_signal, stop_signals[i]);
        else
            uv_signal_start(&d->signals[i], on_other_signal, other_signals[i - STOP_COUNT]);
    }
    uv_timer_start(&d->check_timer, on_check_timer, CHECK_MS, CHECK_MS);
}
