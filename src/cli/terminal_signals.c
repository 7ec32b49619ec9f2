#include "cli/terminal_signals.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const int others[] = {SIGTSTP, SIGCONT, SIGWINCH, SIGUSR1, SIGUSR2};

enum { ENDING_COUNT = sizeof ending / sizeof *ending, OTHER_COUNT = sizeof others / sizeof *others, EXIT_SIGNAL = 128 };

static int signal_fd = -1;
static sigset_t ending_set;
static volatile sig_atomic_t kept; /* arrived during a request; 0: none */

static void on_signal(int number)
{
    if (kept != 0) _exit(EXIT_SIGNAL + number);
    kept = number;
}

int terminal_signals_open(void)
{
    sigset_t all;
    struct sigaction action = {.sa_handler = on_signal}; /* without SA_RESTART */
    sigemptyset(&ending_set);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < ENDING_COUNT; i++) {
        sigaddset(&ending_set, ending[i]);
        (void)sigaction(ending[i], &action, NULL);
    }
    all = ending_set;
    for (size_t i = 0; i < OTHER_COUNT; i++) sigaddset(&all, others[i]);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGTTOU, SIG_IGN); /* a background process may restore the modes of its terminal */
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    signal_fd = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
    return signal_fd;
}

void terminal_signals_begin_request(void)
{
    (void)sigprocmask(SIG_UNBLOCK, &ending_set, NULL);
}

void terminal_signals_end_request(void)
{
    (void)sigprocmask(SIG_BLOCK, &ending_set, NULL);
}

int terminal_signals_next(void)
{
    struct signalfd_siginfo info;
    int number = kept;
    kept = 0;
    if (number != 0) return number;
    if (read(signal_fd, &info, sizeof info) != (ssize_t)sizeof info) return 0;
    return (int)info.ssi_signo;
}

int terminal_signals_wait(int timeout_ms)
{
    struct pollfd p = {.fd = signal_fd, .events = POLLIN};
    int number = terminal_signals_next();
    if (number != 0) return number;
    (void)poll(&p, 1, timeout_ms);
    return terminal_signals_next();
}

void terminal_signals_stop(void)
{
    (void)kill(getpid(), SIGSTOP);
}
