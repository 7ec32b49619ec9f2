#include "daemon/gpu_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/quantity.h"
#include "daemon/log.h"
#include "exec/clock.h"

enum {
    READ_SIZE = 16 * 1024,
    REPORT_BYTES_MAX = 1024 * 1024,
    INTERVAL_S = 10,
    TIMEOUT_S = 20,
    BACK_OFF_S = 1,
    BACK_OFF_DOUBLINGS = 8,
    REAP_MS = 1000,
    MS_PER_S = 1000
};

struct probe {
    struct gpu_watch *owner;
    enum gpu_vendor vendor;
    pid_t pid;    /* 0: it does not run */
    pid_t dying;  /* killed, to be waited for; 0: none */
    int to, from; /* pipes */
    uv_poll_t *poll;
    uv_timer_t timer; /* the next thing to do: what that is follows from the state */
    bool is_asked, has_report, has_no_library;
    struct buf line; /* the part of a line that has arrived */
    uint32_t report_bytes;
    struct gpu_report coming, last;
    uint32_t failure_count;
    char fault[GPU_FAULT_SIZE]; /* empty: it works */
};

struct gpu_watch {
    uv_loop_t *loop;
    struct gpu_watch_host host;
    int64_t interval_s, timeout_s;
    bool is_waiting; /* gpu_watch_wait runs */
    struct probe probes[GPU_VENDOR_COUNT];
};

/* --- the process -------------------------------------------------------------------------------------------------- */

static void free_handle(uv_handle_t *handle)
{
    mem_free(handle);
}

static void close_pipes(struct probe *p)
{
    if (p->poll != NULL) uv_close((uv_handle_t *)p->poll, free_handle);
    if (p->to >= 0) close(p->to);
    if (p->from >= 0) close(p->from);
    p->poll = NULL;
    p->to = p->from = -1;
}

static void reap(struct probe *p)
{
    if (p->dying != 0 && waitpid(p->dying, NULL, WNOHANG) != 0) p->dying = 0;
}

static void kill_process(struct probe *p)
{
    close_pipes(p);
    if (p->pid == 0) return;
    (void)kill(p->pid, SIGKILL);
    p->dying = p->pid;
    p->pid = 0;
    p->is_asked = false;
    reap(p);
}

static bool spawn(struct probe *p, int in, int out)
{
    static char name[] = "fairleadd", option[] = "--probe-gpus";
    char *const arguments[] = {name, option, (char *)(uintptr_t)gpu_vendor_names[p->vendor], NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    ensure(posix_spawn_file_actions_init(&files) == 0 && posix_spawnattr_init(&attributes) == 0);
    posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    bool is_started = posix_spawn(&p->pid, "/proc/self/exe", &files, &attributes, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (!is_started) p->pid = 0;
    return is_started;
}

static void on_readable(uv_poll_t *poll, int status, int events);

static bool watch(struct probe *p)
{
    p->poll = mem_resize(NULL, 0, sizeof *p->poll);
    ensure(uv_poll_init(p->owner->loop, p->poll, p->from) == 0);
    p->poll->data = p;
    return uv_poll_start(p->poll, UV_READABLE, on_readable) == 0;
}

/* The daemon's ends of the pipes do not block. */
static bool start(struct probe *p)
{
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) != 0) return false;
    if (pipe2(from, O_CLOEXEC) != 0) {
        close(to[0]);
        close(to[1]);
        return false;
    }
    bool is_started = spawn(p, to[0], from[1]);
    close(to[0]);
    close(from[1]);
    p->to = to[1];
    p->from = from[0];
    buf_clear(&p->line);
    gpu_report_clear(&p->coming);
    return is_started && fcntl(p->to, F_SETFL, O_NONBLOCK) == 0 && fcntl(p->from, F_SETFL, O_NONBLOCK) == 0 && watch(p);
}

/* --- what to do next ---------------------------------------------------------------------------------------------- */

static void on_timer(uv_timer_t *timer);

static void wait_for_timer(struct probe *p, int64_t ms)
{
    uv_timer_start(&p->timer, on_timer, (uint64_t)ms, 0);
}

static void fail(struct probe *p, const char *fault)
{
    uint32_t doublings = p->failure_count < BACK_OFF_DOUBLINGS ? p->failure_count : BACK_OFF_DOUBLINGS;
    if (strcmp(p->fault, fault) != 0)
        log_line(LOG_WARNING, "gpu-probe", " vendor=%s fault=\"%s\"", gpu_vendor_names[p->vendor], fault);
    text_format(p->fault, sizeof p->fault, "%s", fault);
    kill_process(p);
    p->failure_count++;
    wait_for_timer(p, ((int64_t)BACK_OFF_S << doublings) * MS_PER_S);
}

static void ask(struct probe *p)
{
    if (p->pid == 0 && !start(p)) {
        fail(p, "cannot be started");
        return;
    }
    p->is_asked = true;
    p->report_bytes = 0;
    if (write(p->to, "\n", 1) < 0 && errno != EAGAIN)
        fail(p, "ended");
    else
        wait_for_timer(p, p->owner->timeout_s * MS_PER_S);
}

static void on_timer(uv_timer_t *timer)
{
    struct probe *p = timer->data;
    char fault[GPU_FAULT_SIZE];
    reap(p);
    text_format(fault, sizeof fault, "has not answered for %lld s: the driver hangs", (long long)p->owner->timeout_s);
    if (p->is_asked)
        fail(p, fault);
    else if (p->dying != 0)
        wait_for_timer(p, REAP_MS); /* invariant 2 */
    else if (!p->has_no_library)
        ask(p);
}

/* --- reports ------------------------------------------------------------------------------------------------------ */

static void take_report(struct probe *p)
{
    struct gpu_report former = p->last;
    p->is_asked = false;
    p->has_no_library = p->coming.has_no_library;
    if (p->has_no_library) {
        kill_process(p); /* it ends by itself */
        uv_timer_stop(&p->timer);
        if (p->dying != 0) wait_for_timer(p, REAP_MS);
        return;
    }
    wait_for_timer(p, p->owner->interval_s * MS_PER_S);
    if (strcmp(p->fault, p->coming.fault) != 0 && p->coming.fault[0] != '\0')
        log_line(LOG_WARNING, "gpu-probe", " vendor=%s fault=\"%s\"", gpu_vendor_names[p->vendor], p->coming.fault);
    text_format(p->fault, sizeof p->fault, "%s", p->coming.fault);
    if (p->fault[0] == '\0') {
        p->last = p->coming;
        p->coming = former;
        p->has_report = true;
        p->failure_count = 0;
    }
    gpu_report_clear(&p->coming);
    if (p->has_report && p->fault[0] == '\0' && !p->owner->is_waiting)
        p->owner->host.on_report(p->owner->host.context, p->vendor);
}

static void take_text(struct probe *p, struct str text)
{
    while (text.length > 0 && p->pid != 0) {
        const char *end = memchr(text.text, '\n', text.length);
        size_t length = end != NULL ? (size_t)(end - text.text) : text.length;
        buf_add(&p->line, text.text, length);
        text = str_range(text.text + length + (end != NULL), text.text + text.length);
        if (end == NULL) return;
        bool is_end = gpu_report_read(&p->coming, p->vendor, (struct str){p->line.text, p->line.length});
        buf_clear(&p->line);
        if (is_end) take_report(p);
    }
}

static void read_text(struct probe *p)
{
    char bytes[READ_SIZE];
    ssize_t got = read(p->from, bytes, sizeof bytes);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        fail(p, "ended: its library has crashed");
        return;
    }
    p->report_bytes += (uint32_t)got;
    if (p->report_bytes > REPORT_BYTES_MAX)
        fail(p, "wrote too much");
    else
        take_text(p, (struct str){bytes, (size_t)got});
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events;
    read_text(poll->data);
}

void gpu_watch_wait(struct gpu_watch *w, int64_t max_us)
{
    int64_t end_us = clock_boot_us() + max_us;
    w->is_waiting = true;
    for (uint32_t i = 0; i < GPU_VENDOR_COUNT; i++) {
        struct probe *p = &w->probes[i];
        while (p->is_asked) {
            int64_t left_us = end_us - clock_boot_us();
            struct pollfd from = {.fd = p->from, .events = POLLIN};
            if (left_us <= 0 || poll(&from, 1, (int)(left_us / 1000) + 1) < 0) break;
            if (from.revents != 0) read_text(p);
        }
    }
    w->is_waiting = false;
}

const struct gpu_report *gpu_watch_report(const struct gpu_watch *w, enum gpu_vendor vendor)
{
    const struct probe *p = &w->probes[vendor];
    return p->has_report && !p->has_no_library ? &p->last : NULL;
}

bool gpu_watch_has_answered(const struct gpu_watch *w, enum gpu_vendor vendor)
{
    return w->probes[vendor].has_report || w->probes[vendor].has_no_library;
}

void gpu_watch_describe(const struct gpu_watch *w, struct buf *out)
{
    for (uint32_t i = 0; i < GPU_VENDOR_COUNT; i++) {
        const struct probe *p = &w->probes[i];
        if (p->fault[0] == '\0') continue;
        buf_format(out, "%s%s: %s", out->length > 0 ? "; " : "", gpu_vendor_names[i], p->fault);
    }
}

/* --- opening and closing ------------------------------------------------------------------------------------------ */

struct gpu_watch *gpu_watch_new(uv_loop_t *loop, const struct gpu_watch_host *host)
{
    struct gpu_watch *w = mem_resize(NULL, 0, sizeof *w);
    w->loop = loop;
    w->host = *host;
    w->interval_s = INTERVAL_S;
    w->timeout_s = TIMEOUT_S;
    for (uint32_t i = 0; i < GPU_VENDOR_COUNT; i++) {
        struct probe *p = &w->probes[i];
        p->owner = w;
        p->vendor = (enum gpu_vendor)i;
        p->to = p->from = -1;
        uv_timer_init(loop, &p->timer);
        p->timer.data = p;
        ask(p);
    }
    return w;
}

/* The timer that runs has the time that is new, from now. */
void gpu_watch_set_times(struct gpu_watch *w, int64_t interval_s, int64_t timeout_s)
{
    if (w->interval_s == interval_s && w->timeout_s == timeout_s) return;
    w->interval_s = interval_s;
    w->timeout_s = timeout_s;
    for (uint32_t i = 0; i < GPU_VENDOR_COUNT; i++) {
        struct probe *p = &w->probes[i];
        if (p->pid == 0) continue; /* a back-off */
        wait_for_timer(p, (p->is_asked ? timeout_s : interval_s) * MS_PER_S);
    }
}

void gpu_watch_stop(struct gpu_watch *w)
{
    for (uint32_t i = 0; w != NULL && i < GPU_VENDOR_COUNT; i++) {
        kill_process(&w->probes[i]);
        uv_timer_stop(&w->probes[i].timer);
    }
}

void gpu_watch_free(struct gpu_watch *w)
{
    for (uint32_t i = 0; w != NULL && i < GPU_VENDOR_COUNT; i++) {
        buf_release(&w->probes[i].line);
        gpu_report_release(&w->probes[i].coming);
        gpu_report_release(&w->probes[i].last);
    }
    mem_free(w);
}
