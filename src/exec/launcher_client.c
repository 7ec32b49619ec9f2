/* The launcher as the daemon sees it: a connection to DIR/launcher.sock that never blocks once it is open.
 *
 * Opening waits: it connects, says HELLO and waits for the launcher's; where nobody answers it starts a launcher and
 * tries again, until OPEN_WAIT_US have passed. A launcher that was greeted in another version steps aside and the next
 * round starts ours. A socket file left by a launcher that is gone refuses connections and counts as nobody.
 *
 * The launcher is started by two forks, so that it is nobody's child, in a session of its own, with nothing of ours but
 * its standard error, which is appended to DIR/launcher.log.
 *
 *  I1  Once gone, always gone: EXECUTOR_GONE is reported once, nothing is sent or received any more.
 *  I2  Between fork and exec only async-signal-safe calls are made. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/ensure.h"
#include "exec/executor_kind.h"
#include "exec/protocol.h"

#define OPEN_WAIT_US INT64_C(5000000)
#define RETRY_US INT64_C(10000)
#define RESPAWN_US INT64_C(1000000)

enum { RECEIVE_AT_ONCE = 64 * 1024, RECEIVE_A_TURN = 1024 * 1024 };

struct client {
    struct executor base;
    int fd;
    bool gone, gone_told;
    struct buf out; /* out.text + sent is not yet with the socket */
    size_t sent;
    struct buf in;
    struct arena scratch;
    struct executor_reports own; /* made here, not received */
};

static struct client *client_of(struct executor *x)
{
    return (struct client *)x;
}

static int64_t clock_us(clockid_t clock)
{
    struct timespec now;
    ensure(clock_gettime(clock, &now) == 0);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* ---- sending and receiving ---- */

static void flush_out(struct client *c)
{
    while (!c->gone && c->sent < c->out.length) {
        ssize_t n = send(c->fd, c->out.text + c->sent, c->out.length - c->sent, MSG_NOSIGNAL);
        if (n >= 0)
            c->sent += (size_t)n;
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            return;
        else if (errno != EINTR)
            c->gone = true;
    }
    buf_clear(&c->out);
    c->sent = 0;
}

static void take_message(struct client *c, const struct message *m, struct executor_reports *out)
{
    if (m->kind == MESSAGE_RECORD) {
        *array_add(&out->list) = (struct executor_report){.kind = EXECUTOR_RECORD, .record = m->record};
    } else if (m->kind == MESSAGE_SYNCED) {
        *array_add(&out->list) = (struct executor_report){.kind = EXECUTOR_SYNCED};
    } else {
        c->gone = true; /* not for us to hear: whoever speaks there is no launcher */
    }
}

static void take_messages(struct client *c, struct executor_reports *out)
{
    size_t at = 0;
    while (!c->gone) {
        size_t used;
        struct message m;
        if (protocol_decode((struct str){c->in.text + at, c->in.length - at}, &c->scratch, &used, &m, NULL)) {
            c->gone = true;
            break;
        }
        if (used == 0) break;
        take_message(c, &m, out);
        at += used;
    }
    arena_clear(&c->scratch);
    if (at > 0) memmove(c->in.text, c->in.text + at, c->in.length - at);
    c->in.length -= at;
}

/* Reads what is there, up to RECEIVE_A_TURN so that one talker cannot hold up the loop. */
static void receive(struct client *c, struct executor_reports *out)
{
    for (size_t turn = 0; turn < RECEIVE_A_TURN && !c->gone;) {
        ssize_t n = recv(c->fd, buf_room(&c->in, RECEIVE_AT_ONCE), RECEIVE_AT_ONCE, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (n <= 0) {
            c->gone = true;
            return;
        }
        c->in.length += (size_t)n;
        turn += (size_t)n;
        take_messages(c, out);
    }
}

/* ---- what an executor does ---- */

static void client_start(struct executor *x, const struct launch *launch)
{
    struct client *c = client_of(x);
    struct err e;
    if (c->gone) return; /* I1 */
    if (protocol_start(&c->out, launch, &e)) {
        struct launch_record refused = launch_record_refused(launch->id, clock_us(CLOCK_REALTIME), ERR_SENTENCE(&e));
        *array_add(&c->own.list) = (struct executor_report){.kind = EXECUTOR_RECORD, .record = refused};
    }
    flush_out(c);
}

static void client_end(struct executor *x, uint64_t launch_id, int64_t grace_us)
{
    struct client *c = client_of(x);
    if (c->gone) return;
    protocol_end(&c->out, launch_id, grace_us);
    flush_out(c);
}

static void client_acknowledge(struct executor *x, uint64_t launch_id)
{
    struct client *c = client_of(x);
    if (c->gone) return;
    protocol_ack(&c->out, launch_id);
    flush_out(c);
}

static void client_weigh(struct executor *x, uint64_t launch_id, uint32_t cpu_weight)
{
    struct client *c = client_of(x);
    if (c->gone) return;
    protocol_weight(&c->out, launch_id, cpu_weight);
    flush_out(c);
}

static int client_descriptor(const struct executor *x)
{
    const struct client *c = (const struct client *)x;
    return c->gone_told ? -1 : c->fd;
}

/* Also where we have something to tell without having received anything: a socket is writable at once. */
static bool client_wants_write(const struct executor *x)
{
    const struct client *c = (const struct client *)x;
    return !c->gone_told && (c->gone || c->sent < c->out.length || c->own.list.count > 0);
}

static void client_ready(struct executor *x, struct executor_reports *out_reports)
{
    struct client *c = client_of(x);
    for (uint32_t i = 0; i < c->own.list.count; i++) *array_add(&out_reports->list) = c->own.list.items[i];
    array_clear(&c->own.list);
    if (c->gone_told) return;
    flush_out(c);
    receive(c, out_reports);
    if (!c->gone) return;
    *array_add(&out_reports->list) = (struct executor_report){.kind = EXECUTOR_GONE};
    c->gone_told = true;
}

static void client_close(struct executor *x)
{
    struct client *c = client_of(x);
    if (c->fd >= 0) close(c->fd);
    buf_release(&c->out);
    buf_release(&c->in);
    arena_release(&c->scratch);
    array_release(&c->own.list);
    mem_free(c);
}

static const struct executor_kind client_kind = {
    .close = client_close,
    .start = client_start,
    .end = client_end,
    .acknowledge = client_acknowledge,
    .weigh = client_weigh,
    .descriptor = client_descriptor,
    .wants_write = client_wants_write,
    .ready = client_ready,
};

/* ---- starting a launcher ---- */

struct spawn {
    const char *program;
    const char *directory;
    int log_fd;
    int status_fd; /* gets errno when the program cannot be run; closed by exec */
};

static _Noreturn void spawn_give_up(const struct spawn *s)
{
    int why = errno;
    (void)!write(s->status_fd, &why, sizeof why);
    _exit(127);
}

/* 0, 1, 2 as a launcher wants them, status at 3, nothing else open. Sources are moved out of the way first, for a
 * daemon may have been started with some of 0 to 3 closed. */
static int spawn_arrange(struct spawn *s)
{
    int opened_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    int null_fd = fcntl(opened_fd, F_DUPFD_CLOEXEC, 4), log_fd = fcntl(s->log_fd, F_DUPFD_CLOEXEC, 4);
    if (null_fd < 0 || log_fd < 0) return -1;
    int status_fd = fcntl(s->status_fd, F_DUPFD_CLOEXEC, 4);
    if (status_fd < 0) return -1;
    s->status_fd = status_fd;
    if (dup2(null_fd, 0) < 0 || dup2(null_fd, 1) < 0 || dup2(log_fd, 2) < 0) return -1;
    if (dup3(status_fd, 3, O_CLOEXEC) < 0) return -1;
    s->status_fd = 3;
    return close_range(4, ~0u, 0);
}

/* In the grandchild (I2). */
static _Noreturn void spawn_run(const struct spawn *given)
{
    struct spawn self = *given;
    if (spawn_arrange(&self) < 0) spawn_give_up(&self);
    sigset_t none;
    sigemptyset(&none);
    if (sigprocmask(SIG_SETMASK, &none, NULL) < 0 || chdir("/") < 0) spawn_give_up(&self);
    char *const arguments[] = {(char *)self.program, "--private", "--state", (char *)self.directory, NULL};
    execv(self.program, arguments);
    spawn_give_up(&self);
}

/* In the child (I2): a session of its own, then a child that nobody waits for. */
static _Noreturn void spawn_detach(const struct spawn *s)
{
    if (setsid() < 0) spawn_give_up(s);
    pid_t pid = fork();
    if (pid < 0) spawn_give_up(s);
    if (pid == 0) spawn_run(s);
    _exit(0);
}

static int spawn_with(const struct spawn *s, int read_fd, struct err *e)
{
    pid_t pid = fork();
    if (pid < 0) return err_set(e, ERR_UNAVAILABLE, "cannot start %s: %s", s->program, strerror(errno));
    if (pid == 0) spawn_detach(s);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
    close(s->status_fd);
    int why;
    ssize_t n;
    do n = read(read_fd, &why, sizeof why); /* ends with exec */
    while (n < 0 && errno == EINTR);
    if (n == (ssize_t)sizeof why) return err_set(e, ERR_UNAVAILABLE, "cannot run %s: %s", s->program, strerror(why));
    return 0;
}

static int spawn_launcher(const char *directory, const char *program, struct err *e)
{
    char log_path[LAUNCH_PATH_MAX + 1];
    int status[2];
    text_format(log_path, sizeof log_path, "%s/launcher.log", directory);
    int log_fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (log_fd < 0) return err_set(e, ERR_IO, "cannot open %s: %s", log_path, strerror(errno));
    if (pipe2(status, O_CLOEXEC) < 0) {
        close(log_fd);
        return err_set(e, ERR_IO, "cannot make a pipe: %s", strerror(errno));
    }
    struct spawn s = {.program = program, .directory = directory, .log_fd = log_fd, .status_fd = status[1]};
    int result = spawn_with(&s, status[0], e); /* closes status[1] unless it could not fork */
    close(status[0]);
    close(log_fd);
    return result;
}

/* ---- opening ---- */

static int check_directory(const char *directory, struct sockaddr_un *out_address, struct err *e)
{
    struct stat s;
    if (directory[0] != '/')
        return err_set(e, ERR_INPUT, "the state directory must be an absolute path, not \"%s\"", directory);
    size_t length = strlen(directory) + strlen("/launcher.sock");
    if (length >= sizeof out_address->sun_path) {
        return err_set(e, ERR_INPUT,
                       "the launcher's socket %s/launcher.sock has a path of %zu bytes; Linux takes at most %zu",
                       directory, length, sizeof out_address->sun_path - 1);
    }
    if (stat(directory, &s) < 0) return err_set(e, ERR_IO, "the state directory %s: %s", directory, strerror(errno));
    if (!S_ISDIR(s.st_mode) || s.st_uid != geteuid() || (s.st_mode & 077) != 0) {
        return err_set(e, ERR_DENIED, "the state directory %s must be a directory of our own with mode 0700",
                       directory);
    }
    *out_address = (struct sockaddr_un){.sun_family = AF_UNIX};
    text_format(out_address->sun_path, sizeof out_address->sun_path, "%s/launcher.sock", directory);
    return 0;
}

/* Waits until the socket can be read, or until_us; false when time is up. */
static bool wait_readable(int fd, int64_t until_us)
{
    for (;;) {
        int64_t wait_us = until_us - clock_us(CLOCK_MONOTONIC);
        if (wait_us <= 0) return false;
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int n = poll(&p, 1, (int)(wait_us / 1000) + 1);
        if (n > 0) return true;
        if (n < 0 && errno != EINTR) return false;
    }
}

/* Whether the launcher's HELLO came, in our version. What came behind it waits in c->own. */
static bool greet(struct client *c, int64_t until_us)
{
    protocol_hello(&c->out, PROTOCOL_VERSION);
    flush_out(c);
    while (!c->gone && wait_readable(c->fd, until_us)) {
        ssize_t n = recv(c->fd, buf_room(&c->in, RECEIVE_AT_ONCE), RECEIVE_AT_ONCE, 0);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n <= 0) return false;
        c->in.length += (size_t)n;
        size_t used;
        struct message m;
        if (protocol_decode((struct str){c->in.text, c->in.length}, &c->scratch, &used, &m, NULL)) return false;
        if (used == 0) continue;
        if (m.kind != MESSAGE_HELLO || m.version != PROTOCOL_VERSION) return false;
        memmove(c->in.text, c->in.text + used, c->in.length - used);
        c->in.length -= used;
        take_messages(c, &c->own);
        return true;
    }
    return false;
}

static struct client *client_make(int fd)
{
    struct client *c = mem_resize(NULL, 0, sizeof *c);
    c->base.kind = &client_kind;
    c->fd = fd;
    return c;
}

/* A greeted connection, or NULL. */
static struct client *try_connect(const struct sockaddr_un *address, int64_t until_us)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return NULL;
    if (connect(fd, (const struct sockaddr *)address, sizeof *address) < 0) {
        close(fd);
        return NULL;
    }
    struct client *c = client_make(fd);
    if (greet(c, until_us)) return c;
    client_close(&c->base);
    return NULL;
}

struct executor *executor_open_launcher(const char *directory, const char *launcher_path, struct err *e)
{
    struct sockaddr_un address;
    if (check_directory(directory, &address, e)) return NULL;
    int64_t now_us = clock_us(CLOCK_MONOTONIC), until_us = now_us + OPEN_WAIT_US, spawn_us = now_us;
    while (now_us < until_us) {
        struct client *c = try_connect(&address, until_us);
        if (c != NULL) return &c->base;
        if (now_us >= spawn_us) {
            if (spawn_launcher(directory, launcher_path, e)) return NULL;
            spawn_us = now_us + RESPAWN_US;
        }
        nanosleep(&(struct timespec){.tv_nsec = RETRY_US * 1000}, NULL);
        now_us = clock_us(CLOCK_MONOTONIC);
    }
    err_set(e, ERR_UNAVAILABLE, "no launcher answers at %s within %d s; %s/launcher.log may say why", address.sun_path,
            (int)(OPEN_WAIT_US / 1000000), directory);
    return NULL;
}
