#include "terminal/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/quantity.h"
#include "terminal/relay_child.h"
#include "terminal/relay_client.h"

enum {
    FAREWELL_S = 1 /* so long the end waits for a client that only reads */,
    ROWS_DEFAULT = 24,
    COLUMNS_DEFAULT = 80
};

struct relay {
    int listen_fd, signal_fd;
    bool has_pty, ends_on_hangup;
    char **arguments;
    struct relay_child child;
    struct ring rings[RELAY_STREAM_COUNT];
    bool is_draining, is_drained;             /* the program has ended; its output is in the rings, too */
    uint64_t drain_end[RELAY_STREAM_COUNT];   /* if is_draining: where its output ends in the ring, at the latest */
    int64_t start_us, hangup_us, farewell_us; /* monotonic, when it is due; 0: it is not */
    struct relay_client clients[RELAY_CLIENTS_MAX];
    uint32_t client_count;
};

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}

/* --- the program -------------------------------------------------------------------------------------------------- */

static void start_program(struct relay *r, uint16_t rows, uint16_t columns)
{
    static const char message[] = "fairlead: cannot start a process for the job's program\n";
    r->start_us = 0;
    if (relay_child_start(&r->child, r->has_pty, rows, columns, r->arguments) == 0) return;
    (void)!write(STDERR_FILENO, message, sizeof message - 1);
    _exit(126);
}

static void hang_up(struct relay *r)
{
    if (r->hangup_us != 0 || !r->ends_on_hangup) return;
    if (r->child.pid == 0) relay_child_die(SIGHUP);
    r->hangup_us = now_us() + RELAY_HANGUP_S * US_PER_S;
    relay_child_hang_up(&r->child);
}

/* An interactive shell ignores SIGTERM, which all processes of a job get that is to end, but not that its terminal is
 * lost. What is sent to the first process alone is meant for the program; the keeper marks it by SI_QUEUE. */
static void on_signal(struct relay *r, const struct signalfd_siginfo *info)
{
    int number = (int)info->ssi_signo;
    if (number == SIGCHLD) return;
    if (r->child.pid == 0 && number == SIGTERM) relay_child_die(SIGTERM);
    if (r->child.pid == 0 || r->child.has_ended) return;
    if (info->ssi_code == SI_QUEUE)
        (void)kill(r->child.pid, number);
    else if (number == SIGTERM && r->has_pty)
        relay_child_hang_up(&r->child);
}

static void read_signals(struct relay *r)
{
    struct signalfd_siginfo info;
    while (read(r->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) on_signal(r, &info);
    relay_child_reap(&r->child);
}

/* --- output ------------------------------------------------------------------------------------------------------- */

static int source_of(const struct relay *r, enum relay_stream s)
{
    return s == RELAY_OUTPUT ? r->child.out_fd : r->child.err_fd;
}

/* The oldest byte that a client needs which the program waits for (I2). */
static uint64_t kept_from(const struct relay *r, enum relay_stream s)
{
    uint64_t keep = r->rings[s].end;
    for (uint32_t i = 0; i < r->client_count; i++) {
        const struct relay_client *c = &r->clients[i];
        if (c->is_greeted && !c->reads_only && c->position[s] < keep) keep = c->position[s];
    }
    return keep;
}

static bool has_room(struct relay *r, enum relay_stream s)
{
    size_t size;
    (void)ring_room(&r->rings[s], kept_from(r, s), &size);
    return size > 0;
}

/* The job's output file has everything, too; a disk that is full does not end the job. */
static void copy_to_file(enum relay_stream s, const char *bytes, size_t size)
{
    const int fd = s == RELAY_OUTPUT ? STDOUT_FILENO : STDERR_FILENO;
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;
        bytes += n;
        size -= (size_t)n;
    }
}

static void close_stream(struct relay *r, enum relay_stream s)
{
    if (s == RELAY_ERRORS) {
        close(r->child.err_fd);
        r->child.err_fd = -1;
        return;
    }
    if (r->child.in_fd == r->child.out_fd) r->child.in_fd = -1;
    close(r->child.out_fd);
    r->child.out_fd = -1;
}

/* Returns whether there may be more. */
static bool read_output(struct relay *r, enum relay_stream s)
{
    size_t size;
    if (source_of(r, s) < 0) return false;
    char *room = ring_room(&r->rings[s], kept_from(r, s), &size);
    if (size == 0) return true;
    ssize_t n = read(source_of(r, s), room, size);
    if (n < 0 && errno == EINTR) return true;
    if (n < 0 && errno == EAGAIN) return false;
    if (n <= 0) {
        close_stream(r, s);
        return false;
    }
    copy_to_file(s, room, (size_t)n);
    ring_added(&r->rings[s], (size_t)n);
    return true;
}

/* What is in the pipes when the program has ended is all that it can have written. */
static void begin_drain(struct relay *r)
{
    r->is_draining = true;
    for (int s = 0; s < RELAY_STREAM_COUNT; s++) {
        int fd = source_of(r, (enum relay_stream)s), waiting = 0;
        if (fd >= 0) (void)ioctl(fd, FIONREAD, &waiting);
        r->drain_end[s] = r->rings[s].end + (waiting > 0 ? (uint64_t)waiting : 0);
    }
}

/* What the program wrote before its end is there; what processes that it has left behind write later is not waited
 * for, however much it is. A pty has no more once its session has gone. */
static void drain(struct relay *r)
{
    if (!r->child.has_ended || r->is_drained) return;
    if (!r->is_draining) begin_drain(r);
    bool has_more = false;
    for (int s = 0; s < RELAY_STREAM_COUNT; s++) {
        while ((r->has_pty || r->rings[s].end < r->drain_end[s]) && read_output(r, (enum relay_stream)s)) {
            if (has_room(r, (enum relay_stream)s)) continue;
            has_more = r->has_pty || r->rings[s].end < r->drain_end[s];
            break;
        }
    }
    r->is_drained = !has_more;
    if (r->is_drained) r->farewell_us = now_us() + FAREWELL_S * US_PER_S;
}

/* --- input -------------------------------------------------------------------------------------------------------- */

static void close_input(struct relay *r)
{
    if (r->has_pty || r->child.in_fd < 0) return;
    close(r->child.in_fd);
    r->child.in_fd = -1;
}

/* Whether the client's input is the program's. With pipes only one client can say where the input ends. */
static bool has_input(const struct relay *r, const struct relay_client *c)
{
    return r->has_pty ? !c->reads_only : c->owns;
}

/* What nothing reads any more is dropped, so that the client goes on. */
static void give_input(struct relay *r, struct relay_client *c)
{
    for (struct str input; (input = relay_client_input(c)).length > 0;) {
        ssize_t n = (ssize_t)input.length;
        if (r->child.pid == 0) return;
        if (has_input(r, c) && r->child.in_fd >= 0) n = write(r->child.in_fd, input.text, input.length);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (n < 0) {
            close_input(r);
            n = (ssize_t)input.length;
        }
        relay_client_take_input(c, (size_t)n);
    }
    if (c->has_input_end && has_input(r, c) && r->child.pid != 0) close_input(r);
}

/* --- clients ------------------------------------------------------------------------------------------------------ */

static bool has_other_writer(const struct relay *r, const struct relay_client *c)
{
    for (uint32_t i = 0; i < r->client_count; i++) {
        const struct relay_client *other = &r->clients[i];
        if (other != c && other->is_greeted && !other->reads_only) return true;
    }
    return false;
}

static void remove_client(struct relay *r, struct relay_client *c)
{
    bool is_lost = c->owns && !c->is_detached && !c->is_told && !has_other_writer(r, c);
    if (c->owns && r->child.pid != 0) close_input(r);
    relay_client_close(c);
    *c = r->clients[--r->client_count];
    if (is_lost) hang_up(r);
}

/* A client that speaks another version learns this one's from the WELCOME, and disconnects. */
static void greet(struct relay *r, struct relay_client *c, const struct frame *hello)
{
    const struct frame welcome = {
        .kind = FRAME_WELCOME, .version = FRAME_VERSION, .mode = r->has_pty ? FRAME_MODE_PTY : FRAME_MODE_PIPES};
    relay_client_tell(c, &welcome);
    if (c->is_greeted || hello->version != FRAME_VERSION) return;
    c->is_greeted = true;
    c->reads_only = (hello->flags & FRAME_HELLO_READS_ONLY) != 0;
    c->owns = (hello->flags & FRAME_HELLO_OWNS) != 0 && !c->reads_only;
    for (int s = 0; s < RELAY_STREAM_COUNT; s++) c->position[s] = ring_begin(&r->rings[s]);
    if (r->child.pid == 0 && !c->reads_only)
        start_program(r, hello->rows, hello->columns);
    else if (!c->reads_only && hello->rows > 0)
        relay_child_set_size(&r->child, hello->rows, hello->columns);
}

/* False: the client breaks the protocol. */
static bool take_frame(struct relay *r, struct relay_client *c, const struct frame *f)
{
    bool may_write = c->is_greeted && !c->reads_only;
    switch (f->kind) {
    case FRAME_HELLO: greet(r, c, f); return true;
    case FRAME_INPUT: return may_write && relay_client_add_input(c, f->bytes);
    case FRAME_INPUT_END: c->has_input_end = true; return may_write;
    case FRAME_SIZE:
        if (may_write) relay_child_set_size(&r->child, f->rows, f->columns);
        return may_write;
    case FRAME_SIGNAL:
        if (may_write) relay_child_signal(&r->child, f->value);
        return may_write;
    case FRAME_DETACH: c->is_detached = true; return c->is_greeted;
    default: return false;
    }
}

/* False: the client is gone, or to be. */
static bool read_client(struct relay *r, struct relay_client *c)
{
    struct frame f;
    int found;
    bool is_connected = relay_client_receive(c);
    while ((found = relay_client_next(c, &f)) > 0) {
        if (!take_frame(r, c, &f)) return false;
    }
    return is_connected && found == 0;
}

static void accept_clients(struct relay *r)
{
    while (r->client_count < RELAY_CLIENTS_MAX && relay_client_accept(r->listen_fd, &r->clients[r->client_count]))
        r->client_count++;
}

static struct frame exit_frame(const struct relay_child *c)
{
    struct frame f = {.kind = FRAME_EXIT, .is_signal = WIFSIGNALED(c->status)};
    f.value = (uint8_t)(f.is_signal ? WTERMSIG(c->status) : WEXITSTATUS(c->status));
    return f;
}

/* Walked backward, because removing a client moves the last one to its place. */
static void serve_clients(struct relay *r, const struct pollfd *fds)
{
    const struct frame exit = r->is_drained ? exit_frame(&r->child) : (struct frame){0};
    for (uint32_t i = r->client_count; i-- > 0;) {
        struct relay_client *c = &r->clients[i];
        bool is_there = fds[i].revents == 0 || read_client(r, c);
        give_input(r, c);
        is_there = is_there && relay_client_send(c, r->rings, r->is_drained ? &exit : NULL);
        if (!is_there) remove_client(r, c);
    }
}

/* Whether the end still waits for clients. */
static bool has_waiting_clients(const struct relay *r)
{
    for (uint32_t i = 0; i < r->client_count; i++) {
        const struct relay_client *c = &r->clients[i];
        bool is_behind = !c->is_told || relay_client_is_behind(c);
        if (is_behind && ((c->is_greeted && !c->reads_only) || now_us() < r->farewell_us)) return true;
    }
    return false;
}

/* --- the loop ----------------------------------------------------------------------------------------------------- */

static void check_deadlines(struct relay *r)
{
    int64_t now = now_us();
    if (r->start_us != 0 && now >= r->start_us) {
        if (r->ends_on_hangup) relay_child_die(SIGHUP);
        start_program(r, ROWS_DEFAULT, COLUMNS_DEFAULT);
        close_input(r);
    }
    if (r->hangup_us != 0 && now >= r->hangup_us) relay_child_die(SIGHUP);
}

static int timeout_ms(const struct relay *r)
{
    const int64_t due[] = {r->start_us, r->hangup_us, r->farewell_us};
    int64_t first = 0, now = now_us();
    for (size_t i = 0; i < sizeof due / sizeof *due; i++) {
        if (due[i] > now && (first == 0 || due[i] < first)) first = due[i];
    }
    return first == 0 ? -1 : (int)((first - now) / 1000 + 1);
}

enum { FD_SIGNAL, FD_LISTEN, FD_OUTPUT, FD_ERRORS, FD_INPUT, FD_CLIENTS, FD_COUNT = FD_CLIENTS + RELAY_CLIENTS_MAX };

static void set_fds(struct relay *r, struct pollfd fds[FD_COUNT])
{
    bool wants_input = false;
    for (uint32_t i = 0; i < r->client_count; i++) {
        const struct relay_client *c = &r->clients[i];
        short events = relay_client_is_behind(c) ? POLLIN | POLLOUT : POLLIN;
        fds[FD_CLIENTS + i] = (struct pollfd){.fd = c->fd, .events = events};
        wants_input = wants_input || (has_input(r, c) && relay_client_input(c).length > 0);
    }
    bool reads = r->child.pid != 0;
    fds[FD_SIGNAL] = (struct pollfd){.fd = r->signal_fd, .events = POLLIN};
    fds[FD_LISTEN] = (struct pollfd){.fd = r->client_count < RELAY_CLIENTS_MAX ? r->listen_fd : -1, .events = POLLIN};
    fds[FD_OUTPUT] = (struct pollfd){.fd = reads && has_room(r, RELAY_OUTPUT) ? r->child.out_fd : -1, .events = POLLIN};
    fds[FD_ERRORS] = (struct pollfd){.fd = reads && has_room(r, RELAY_ERRORS) ? r->child.err_fd : -1, .events = POLLIN};
    fds[FD_INPUT] = (struct pollfd){.fd = reads && wants_input ? r->child.in_fd : -1, .events = POLLOUT};
}

static _Noreturn void run(struct relay *r)
{
    for (;;) {
        struct pollfd fds[FD_COUNT];
        uint32_t polled_count = r->client_count;
        set_fds(r, fds);
        if (poll(fds, FD_CLIENTS + polled_count, timeout_ms(r)) < 0) memset(fds, 0, sizeof fds);
        if (fds[FD_SIGNAL].revents != 0) read_signals(r);
        if (fds[FD_OUTPUT].revents != 0) (void)read_output(r, RELAY_OUTPUT);
        if (fds[FD_ERRORS].revents != 0) (void)read_output(r, RELAY_ERRORS);
        drain(r);
        serve_clients(r, fds + FD_CLIENTS);
        if (fds[FD_LISTEN].revents != 0) accept_clients(r);
        check_deadlines(r);
        if (r->is_drained && !has_waiting_clients(r)) relay_child_imitate(&r->child);
    }
}

/* Signals of errors of this program itself stay as they are. */
static int open_signals(void)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t set;
    sigfillset(&set);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&set, own[i]);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

void relay_main(int argc, char **argv)
{
    static struct relay r; /* its rings are too large for a stack */
    ensure(argc > RELAY_ARGUMENT_PROGRAM);
    r.listen_fd = atoi(argv[RELAY_ARGUMENT_SOCKET]);
    r.has_pty = strcmp(argv[RELAY_ARGUMENT_MODE], "pty") == 0;
    r.ends_on_hangup = strcmp(argv[RELAY_ARGUMENT_HANGUP], "end") == 0;
    r.arguments = argv + RELAY_ARGUMENT_PROGRAM;
    r.child.in_fd = r.child.out_fd = r.child.err_fd = r.child.slave_fd = -1;
    r.start_us = now_us() + RELAY_START_WAIT_S * US_PER_S;
    (void)prctl(PR_SET_NAME, RELAY_NAME);
    (void)fcntl(r.listen_fd, F_SETFD, FD_CLOEXEC);
    r.signal_fd = open_signals();
    if (r.signal_fd < 0) _exit(126);
    run(&r);
}
