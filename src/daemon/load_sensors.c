#include "daemon/load_sensors.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/quantity.h"
#include "daemon/log.h"
#include "daemon/sensor_text.h"
#include "exec/clock.h"

enum {
    SENSOR_READ_SIZE = 16 * 1024,
    ANSWER_BYTES_MAX = 256 * 1024, /* of a sensor, for one line that it was sent */
    SILENT_INTERVALS = 3,
    STEADY_REPORTS = 3, /* after so many the back-off is short again, and faults are logged again */
    BACK_OFF_DOUBLINGS = 9,
    EXEC_FAILED = 127
};
#define BACK_OFF_US US_PER_S
#define QUIT_WAIT_US INT64_C(200000) /* at the daemon's end; LEAVE_WAIT_US: while it goes on */
#define LEAVE_WAIT_US US_PER_S

/* What is logged, beside the faults of its text. */
enum { FAULT_START = SENSOR_FAULT_COUNT, FAULT_ENDED, FAULT_SILENT, FAULT_FLOOD };

struct sensor {
    struct load_sensors *owner;
    char *path;
    pid_t pid;    /* also the group's; 0: it does not run */
    int to, from; /* pipes */
    uv_poll_t *poll;
    struct sensor_reader reader;
    struct load_values values; /* of the last report */
    uint32_t answer_bytes;     /* since it was asked */
    uint32_t silent_intervals;
    bool is_asked;
    uint32_t logged;       /* faults, bits */
    const char *fault;     /* the last one since it has worked for a while; NULL: none */
    uint32_t report_count; /* since it was started, or had a fault */
    uint32_t failure_count;
    int64_t start_at_us; /* not earlier; by the clock of the boot */
    bool is_listed;      /* by load_sensors_configure */
    int64_t leave_at_us; /* it was asked to quit, and is killed then; 0: it stays */
};

struct load_sensors {
    uv_loop_t *loop;
    struct load_sensors_host host;
    uv_signal_t children;
    ARRAY(struct sensor *) list;
    ARRAY(pid_t) dying; /* killed, to be waited for */
};

/* --- processes ---------------------------------------------------------------------------------------------------- */

/* A process in a disk wait may take its time to die, so this does not wait. */
static void reap(struct load_sensors *l)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < l->dying.count; i++) {
        pid_t pid = l->dying.items[i];
        if (waitpid(pid, NULL, WNOHANG) == 0) l->dying.items[left++] = pid;
    }
    l->dying.count = left;
}

static void free_handle(uv_handle_t *handle)
{
    mem_free(handle);
}

static void close_pipes(struct sensor *s)
{
    if (s->poll != NULL) uv_close((uv_handle_t *)s->poll, free_handle);
    if (s->to >= 0) close(s->to);
    if (s->from >= 0) close(s->from);
    s->poll = NULL;
    s->to = s->from = -1;
}

static void kill_group(struct sensor *s)
{
    close_pipes(s);
    if (s->pid == 0) return;
    (void)kill(-s->pid, SIGKILL);
    *array_add(&s->owner->dying) = s->pid;
    s->pid = 0;
    reap(s->owner);
}

/* In the child: only async-signal-safe functions. */
static _Noreturn void run_program(const struct sensor *s, int in, int out, pid_t parent)
{
    static char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                language[] = "LANG=C.UTF-8";
    char *const environment[] = {path, language, NULL}, *const arguments[] = {s->path, NULL};
    static const int ignored[] = {SIGPIPE, SIGXFSZ};
    sigset_t none;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    sigemptyset(&none);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) (void)signal(ignored[i], SIG_DFL);
    bool is_ready = null >= 0 && setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
                    dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 && dup2(null, STDERR_FILENO) >= 0 &&
                    close_range(STDERR_FILENO + 1, ~0u, 0) == 0 && chdir("/") == 0 &&
                    setrlimit(RLIMIT_NOFILE, &s->owner->host.file_limit) == 0 &&
                    sigprocmask(SIG_SETMASK, &none, NULL) == 0;
    if (is_ready) execve(s->path, arguments, environment);
    _exit(EXEC_FAILED);
}

static bool open_pipes(int to[2], int from[2])
{
    if (pipe2(to, O_CLOEXEC) != 0) return false;
    if (pipe2(from, O_CLOEXEC) == 0) return true;
    close(to[0]);
    close(to[1]);
    return false;
}

/* The pipe ends of the sensor do block; those of the daemon do not. */
static bool start_process(struct sensor *s)
{
    int to[2], from[2];
    pid_t parent = getpid();
    if (!open_pipes(to, from)) return false;
    s->pid = fork();
    if (s->pid == 0) run_program(s, to[0], from[1], parent);
    close(to[0]);
    close(from[1]);
    s->to = to[1];
    s->from = from[0];
    if (s->pid < 0 || fcntl(s->to, F_SETFL, O_NONBLOCK) != 0 || fcntl(s->from, F_SETFL, O_NONBLOCK) != 0) {
        s->pid = s->pid < 0 ? 0 : s->pid;
        return false;
    }
    (void)setpgid(s->pid, s->pid); /* as the child does: whichever comes first */
    return true;
}

static void quit(struct sensor *s)
{
    static const char line[] = "quit\n";
    if (s->pid != 0 && s->to >= 0) (void)!write(s->to, line, sizeof line - 1);
}

static void free_sensor(struct sensor *s)
{
    kill_group(s);
    sensor_reader_release(&s->reader);
    load_values_release(&s->values);
    mem_free(s->path);
    mem_free(s);
}

/* --- faults ------------------------------------------------------------------------------------------------------- */

static void log_fault(struct sensor *s, uint32_t fault)
{
    static const char *const texts[] = {
        [SENSOR_LINE_OUTSIDE] = "wrote a line that is in no report",
        [SENSOR_LINE_INVALID] = "wrote a line that is not host:name:value",
        [SENSOR_LINE_TOO_LONG] = "wrote a line that is too long",
        [SENSOR_TOO_MANY_VALUES] = "reported too many values",
        [FAULT_START] = "cannot be started",
        [FAULT_ENDED] = "ended",
        [FAULT_SILENT] = "has not answered for three intervals",
        [FAULT_FLOOD] = "wrote too much",
    };
    s->report_count = 0;
    s->fault = texts[fault];
    if ((s->logged >> fault & 1) != 0) return;
    s->logged |= UINT32_C(1) << fault;
    log_line(LOG_WARNING, "load-sensor", " path=\"%s\" fault=\"%s\"", s->path, texts[fault]);
}

static void log_text_faults(struct sensor *s)
{
    for (uint32_t fault = 0; fault < SENSOR_FAULT_COUNT; fault++) {
        if ((s->reader.faults >> fault & 1) != 0) log_fault(s, fault);
    }
    s->reader.faults = 0;
}

/* Ends it; it starts again after a time that doubles with each failure. Its values stay until it is silent for too
 * long. */
static void fail(struct sensor *s, uint32_t fault)
{
    uint32_t doublings = s->failure_count < BACK_OFF_DOUBLINGS ? s->failure_count : BACK_OFF_DOUBLINGS;
    log_fault(s, fault);
    kill_group(s);
    s->failure_count++;
    s->start_at_us = clock_boot_us() + (BACK_OFF_US << doublings);
}

/* --- reports ------------------------------------------------------------------------------------------------------ */

/* Returns whether values have changed. A report that it was not asked for is left out. */
static bool take_report(struct sensor *s)
{
    struct load_values values = s->values;
    if (s->leave_at_us != 0) return false;
    if (!s->is_asked) {
        s->reader.faults |= UINT32_C(1) << SENSOR_LINE_OUTSIDE;
        return false;
    }
    s->values = s->reader.values;
    s->reader.values = values;
    s->is_asked = false;
    s->silent_intervals = 0;
    if (++s->report_count >= STEADY_REPORTS) {
        s->failure_count = 0;
        s->logged = 0;
        s->fault = NULL;
    }
    return true;
}

static void read_answer(struct sensor *s)
{
    char bytes[SENSOR_READ_SIZE];
    bool has_report = false;
    ssize_t got = read(s->from, bytes, sizeof bytes);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0 && s->leave_at_us != 0) {
        kill_group(s);
        return;
    }
    if (got <= 0) {
        fail(s, FAULT_ENDED);
        return;
    }
    struct str rest = {bytes, (size_t)got};
    s->answer_bytes += (uint32_t)got;
    while (rest.length > 0 && !sensor_is_broken(&s->reader)) {
        if (sensor_reader_read(&s->reader, &rest)) has_report = take_report(s) || has_report;
    }
    bool is_broken = sensor_is_broken(&s->reader);
    uint32_t fault =
        (s->reader.faults >> SENSOR_LINE_TOO_LONG & 1) != 0 ? SENSOR_LINE_TOO_LONG : SENSOR_TOO_MANY_VALUES;
    log_text_faults(s);
    if (is_broken)
        fail(s, fault);
    else if (s->answer_bytes > ANSWER_BYTES_MAX)
        fail(s, FAULT_FLOOD);
    if (has_report) s->owner->host.on_report(s->owner->host.context);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events;
    read_answer(poll->data);
}

/* --- asking ------------------------------------------------------------------------------------------------------- */

static bool watch(struct sensor *s)
{
    uv_poll_t *poll = mem_resize(NULL, 0, sizeof *poll);
    if (uv_poll_init(s->owner->loop, poll, s->from) != 0) {
        mem_free(poll);
        return false;
    }
    s->poll = poll;
    s->poll->data = s;
    return uv_poll_start(s->poll, UV_READABLE, on_readable) == 0;
}

static void start(struct sensor *s)
{
    sensor_reader_clear(&s->reader);
    s->is_asked = false;
    if (access(s->path, X_OK) != 0 || !start_process(s) || !watch(s)) fail(s, FAULT_START);
}

/* A pipe that is full is one that the sensor does not read: it is silent. */
static void send_line(struct sensor *s)
{
    ssize_t sent = write(s->to, "\n", 1);
    s->is_asked = true;
    s->answer_bytes = 0;
    if (sent < 0 && errno == EPIPE) fail(s, FAULT_ENDED);
}

static void ask(struct sensor *s)
{
    s->silent_intervals += s->is_asked || s->pid == 0;
    if (s->silent_intervals >= SILENT_INTERVALS) {
        load_values_clear(&s->values);
        if (s->pid != 0) fail(s, FAULT_SILENT);
        s->silent_intervals = 0;
    }
    if (s->pid == 0 && clock_boot_us() >= s->start_at_us) start(s);
    if (s->pid != 0 && !s->is_asked) send_line(s);
}

/* Frees those that have left, or had their time to. */
static void drop_leaving(struct load_sensors *l)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < l->list.count; i++) {
        struct sensor *s = l->list.items[i];
        bool has_left = s->leave_at_us != 0 && (s->pid == 0 || clock_boot_us() >= s->leave_at_us);
        if (has_left)
            free_sensor(s);
        else
            l->list.items[left++] = s;
    }
    l->list.count = left;
}

void load_sensors_ask(struct load_sensors *l)
{
    reap(l);
    drop_leaving(l);
    for (uint32_t i = 0; i < l->list.count; i++) {
        if (l->list.items[i]->leave_at_us == 0) ask(l->list.items[i]);
    }
}

void load_sensors_add_values(const struct load_sensors *l, struct load_values *out)
{
    for (uint32_t i = 0; i < l->list.count; i++) {
        const struct sensor *s = l->list.items[i];
        for (uint32_t k = 0; k < s->values.list.count; k++)
            load_values_add(out, str(s->values.list.items[k].name), str(s->values.list.items[k].value));
    }
}

void load_sensors_describe(const struct load_sensors *l, struct buf *out)
{
    for (uint32_t i = 0; i < l->list.count; i++) {
        const struct sensor *s = l->list.items[i];
        if (s->fault == NULL || s->leave_at_us != 0) continue;
        buf_format(out, "%s%s: %s", out->length > 0 ? "; " : "", s->path, s->fault);
    }
}

/* --- the list ----------------------------------------------------------------------------------------------------- */

static struct sensor *find(const struct load_sensors *l, struct str path)
{
    for (uint32_t i = 0; i < l->list.count; i++) {
        struct sensor *s = l->list.items[i];
        if (s->leave_at_us == 0 && str_equal(str(s->path), path)) return s;
    }
    return NULL;
}

static struct sensor *add(struct load_sensors *l, struct str path)
{
    struct sensor *s = mem_resize(NULL, 0, sizeof *s);
    s->owner = l;
    s->path = mem_resize(NULL, 0, path.length + 1);
    memcpy(s->path, path.text, path.length);
    s->to = s->from = -1;
    s->reader.host_name = l->host.machine_name;
    *array_add(&l->list) = s;
    return s;
}

void load_sensors_configure(struct load_sensors *l, const char *paths)
{
    for (uint32_t i = 0; i < l->list.count; i++) l->list.items[i]->is_listed = false;
    for (struct str rest = str(paths); rest.text != NULL;) {
        struct str path = str_trim(str_cut(rest, ',', &rest));
        if (path.length == 0) continue;
        struct sensor *s = find(l, path);
        if (s == NULL) s = add(l, path);
        s->is_listed = true;
    }
    for (uint32_t i = 0; i < l->list.count; i++) {
        struct sensor *s = l->list.items[i];
        if (s->is_listed || s->leave_at_us != 0) continue;
        quit(s);
        load_values_clear(&s->values);
        s->leave_at_us = clock_boot_us() + LEAVE_WAIT_US;
    }
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static void on_child(uv_signal_t *handle, int number)
{
    (void)number;
    reap(handle->data);
}

struct load_sensors *load_sensors_new(uv_loop_t *loop, const struct load_sensors_host *host)
{
    struct load_sensors *l = mem_resize(NULL, 0, sizeof *l);
    l->loop = loop;
    l->host = *host;
    ensure(uv_signal_init(loop, &l->children) == 0);
    l->children.data = l;
    uv_signal_start(&l->children, on_child, SIGCHLD);
    return l;
}

static bool has_ended(struct sensor *s)
{
    siginfo_t info = {0};
    return s->pid == 0 || waitid(P_PID, (id_t)s->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

static void wait_for_all(struct load_sensors *l)
{
    static const struct timespec pause = {.tv_nsec = 5000000};
    int64_t end_us = clock_boot_us() + QUIT_WAIT_US;
    for (uint32_t i = 0; i < l->list.count; i++) {
        while (!has_ended(l->list.items[i]) && clock_boot_us() < end_us) (void)nanosleep(&pause, NULL);
    }
}

void load_sensors_stop(struct load_sensors *l)
{
    if (l == NULL) return;
    for (uint32_t i = 0; i < l->list.count; i++) quit(l->list.items[i]);
    wait_for_all(l);
    for (uint32_t i = 0; i < l->list.count; i++) free_sensor(l->list.items[i]);
    array_clear(&l->list);
    uv_close((uv_handle_t *)&l->children, NULL);
}

void load_sensors_free(struct load_sensors *l)
{
    if (l == NULL) return;
    array_release(&l->list);
    array_release(&l->dying);
    mem_free(l);
}
