/* The loop of a session. Nothing in it waits but poll, so that signals and the end of the job are noticed at any time:
 * output is written in pieces that a pipe takes at once after poll says so, and output is read from the relay only once
 * what was read before is written, which holds the program back (terminal/relay.h, I2). */
#include "cli/terminal_session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/terminal_modes.h"
#include "cli/terminal_signals.h"

enum { INPUT_SIZE = 16384, WRITE_SIZE = 4096 /* PIPE_BUF */, FLUSH_MS = 1000, CONTROL_Z = 0x1a };

/* Output on its way to a descriptor of this command. */
struct output_sink {
    int fd; /* -1: it is closed, and what comes is dropped */
    struct buf text;
    size_t written;
};

struct session {
    struct terminal_link *link;
    const struct terminal_session_options *options;
    struct terminal_end *end;
    struct output_sink out, err;
    enum frame_mode mode;                         /* 0 before the relay's WELCOME */
    uint32_t on_the_way;                          /* bytes of input that the program has not taken */
    bool has_input, is_at_line_start, has_escape; /* has_escape: the escape character was typed */
    bool is_over;
};

static void finish(struct session *s, enum terminal_outcome outcome, int value)
{
    if (s->is_over) return;
    s->is_over = true;
    s->end->outcome = outcome;
    s->end->value = value;
}

static void add_simple(struct session *s, enum frame_kind kind)
{
    terminal_link_add(s->link, &(struct frame){.kind = kind});
}

static void add_signal(struct session *s, int number)
{
    terminal_link_add(s->link, &(struct frame){.kind = FRAME_SIGNAL, .value = (uint8_t)number});
}

/* --- leaving ------------------------------------------------------------------------------------------------------ */

static void detach(struct session *s)
{
    add_simple(s, FRAME_DETACH);
    terminal_link_flush(s->link, FLUSH_MS);
    finish(s, TERMINAL_DETACHED, 0);
}

/* The relay notices that the command is gone without a DETACH. */
static void hang_up(struct session *s, int number)
{
    if (s->options->detaches || !s->options->owns) detach(s);
    s->is_over = false;
    finish(s, TERMINAL_HUNG_UP, number);
}

/* --- output ------------------------------------------------------------------------------------------------------- */

static bool has_output(const struct output_sink *k)
{
    return k->written < k->text.length;
}

static void close_sink(struct session *s, struct output_sink *k, int error_number)
{
    k->fd = -1;
    k->written = k->text.length = 0;
    if (k == &s->err) return;
    s->end->write_errno = error_number;
    if (s->mode == FRAME_MODE_PTY)
        hang_up(s, SIGHUP);
    else if (s->options->owns && error_number == EPIPE)
        add_signal(s, SIGPIPE); /* as if the program had written there itself */
    else if (!s->options->owns)
        detach(s);
}

static void write_sink(struct session *s, struct output_sink *k)
{
    size_t size = k->text.length - k->written;
    if (size > WRITE_SIZE) size = WRITE_SIZE;
    ssize_t n = write(k->fd, k->text.text + k->written, size);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n < 0) {
        close_sink(s, k, errno);
        return;
    }
    k->written += (size_t)n;
    if (!has_output(k)) k->written = k->text.length = 0;
}

static void add_output(struct output_sink *k, struct str bytes)
{
    if (k->fd >= 0) buf_add_str(&k->text, bytes);
}

/* --- frames ------------------------------------------------------------------------------------------------------- */

static bool has_control(const struct session *s)
{
    return !s->options->reads_only && (s->mode == FRAME_MODE_PTY || s->options->owns);
}

static void add_size(struct session *s)
{
    struct frame f = {.kind = FRAME_SIZE};
    bool has_size = s->mode == FRAME_MODE_PTY && !s->options->reads_only && terminal_modes_size(&f.rows, &f.columns);
    if (has_size) terminal_link_add(s->link, &f);
}

static void on_welcome(struct session *s, const struct frame *f)
{
    if (f->version != FRAME_VERSION) {
        finish(s, TERMINAL_REFUSED, 0);
        return;
    }
    s->mode = f->mode;
    s->has_input = has_control(s);
    if (s->mode == FRAME_MODE_PTY && !s->options->reads_only) terminal_modes_set_raw();
}

static void take_frame(struct session *s, const struct frame *f)
{
    switch (f->kind) {
    case FRAME_WELCOME: on_welcome(s, f); break;
    case FRAME_OUTPUT: add_output(&s->out, f->bytes); break;
    case FRAME_ERRORS: add_output(&s->err, f->bytes); break;
    case FRAME_TAKEN: s->on_the_way -= f->count < s->on_the_way ? f->count : s->on_the_way; break;
    case FRAME_SKIPPED: break;
    case FRAME_EXIT:
        s->end->is_signal = f->is_signal;
        finish(s, TERMINAL_EXITED, f->value);
        break;
    default: break;
    }
}

static void read_link(struct session *s)
{
    struct frame f;
    int found;
    bool is_there = terminal_link_receive(s->link);
    while (!s->is_over && (found = terminal_link_next(s->link, &f)) > 0) take_frame(s, &f);
    if (!is_there || (!s->is_over && found < 0)) finish(s, TERMINAL_CUT, 0);
}

/* --- input -------------------------------------------------------------------------------------------------------- */

static void suspend(struct session *s)
{
    terminal_link_flush(s->link, FLUSH_MS);
    terminal_modes_restore();
    terminal_signals_stop();
    if (s->mode == FRAME_MODE_PTY && !s->options->reads_only) terminal_modes_set_raw();
    add_size(s);
}

static void add_input(struct session *s, const char *bytes, size_t size)
{
    if (size == 0) return;
    terminal_link_add(s->link, &(struct frame){.kind = FRAME_INPUT, .bytes = {bytes, size}});
    s->on_the_way += (uint32_t)size;
    s->end->has_sent_input = true;
}

/* What follows the escape character at the beginning of a line. Returns how many of both characters are input. */
static size_t take_escape(struct session *s, char c)
{
    s->has_escape = false;
    if (c == '.') {
        detach(s);
        return 0;
    }
    if (c == CONTROL_Z) {
        suspend(s);
        return 0;
    }
    return c == s->options->escape ? 1 : 2;
}

/* Takes the escapes out of what was typed. */
static void add_typed(struct session *s, const char *bytes, size_t size)
{
    char input[2 * INPUT_SIZE];
    size_t n = 0;
    const char escape = s->options->escape;
    for (size_t i = 0; i < size && !s->is_over; i++) {
        if (s->has_escape) {
            size_t kept = take_escape(s, bytes[i]);
            if (kept > 0) input[n++] = escape;
            if (kept > 1) input[n++] = bytes[i];
            s->is_at_line_start = kept > 1 && (bytes[i] == '\r' || bytes[i] == '\n');
            continue;
        }
        s->has_escape = escape != 0 && s->is_at_line_start && bytes[i] == escape;
        s->is_at_line_start = bytes[i] == '\r' || bytes[i] == '\n';
        if (!s->has_escape) input[n++] = bytes[i];
    }
    add_input(s, input, n);
}

static size_t input_room(const struct session *s)
{
    size_t room = (FRAME_WINDOW - s->on_the_way) / 2; /* an escape that is none adds a character */
    return room < INPUT_SIZE ? room : INPUT_SIZE;
}

static void read_input(struct session *s)
{
    char bytes[INPUT_SIZE];
    ssize_t n = read(STDIN_FILENO, bytes, input_room(s));
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n > 0 && s->mode == FRAME_MODE_PTY) {
        add_typed(s, bytes, (size_t)n);
    } else if (n > 0) {
        add_input(s, bytes, (size_t)n);
    } else {
        s->has_input = false;
        if (s->mode == FRAME_MODE_PIPES) add_simple(s, FRAME_INPUT_END);
        if (s->mode == FRAME_MODE_PTY && s->options->owns) hang_up(s, SIGHUP);
    }
}

/* --- signals ------------------------------------------------------------------------------------------------------ */

/* With pipes they are the program's. At a pseudo-terminal keys are, and a signal is for this command. */
static void take_signal(struct session *s, int number)
{
    enum frame_mode mode = s->mode != 0 ? s->mode : s->options->expected;
    bool passes = mode == FRAME_MODE_PIPES && s->options->owns;
    switch (number) {
    case SIGWINCH: add_size(s); break;
    case SIGCONT:
        if (s->mode == FRAME_MODE_PTY && !s->options->reads_only) terminal_modes_set_raw();
        add_size(s);
        break;
    case SIGTSTP:
        if (passes) add_signal(s, SIGTSTP);
        suspend(s);
        if (passes) add_signal(s, SIGCONT);
        break;
    case SIGUSR1:
    case SIGUSR2:
        if (passes) add_signal(s, number);
        break;
    default:
        if (passes && !(number == SIGHUP && s->options->detaches))
            add_signal(s, number);
        else
            hang_up(s, number);
    }
}

/* --- the loop ----------------------------------------------------------------------------------------------------- */

static bool may_read(const struct session *s)
{
    return s->has_input && input_room(s) > 0 && !terminal_link_is_behind(s->link);
}

static void step(struct session *s)
{
    bool wants_frames = !has_output(&s->out) && !has_output(&s->err);
    short link_events = (short)((wants_frames ? POLLIN : 0) | (terminal_link_is_behind(s->link) ? POLLOUT : 0));
    struct pollfd fds[] = {{.fd = s->options->signal_fd, .events = POLLIN},
                           {.fd = link_events != 0 ? s->link->fd : -1, .events = link_events},
                           {.fd = may_read(s) ? STDIN_FILENO : -1, .events = POLLIN},
                           {.fd = has_output(&s->out) ? s->out.fd : -1, .events = POLLOUT},
                           {.fd = has_output(&s->err) ? s->err.fd : -1, .events = POLLOUT}};
    if (poll(fds, sizeof fds / sizeof *fds, -1) < 0) return;
    if (fds[0].revents != 0) {
        for (int number; !s->is_over && (number = terminal_signals_next()) != 0;) take_signal(s, number);
    }
    if (fds[3].revents != 0) write_sink(s, &s->out);
    if (fds[4].revents != 0) write_sink(s, &s->err);
    if (!s->is_over && wants_frames && (fds[1].revents & ~POLLOUT) != 0) read_link(s);
    if (!s->is_over && fds[2].revents != 0) read_input(s);
    if (!s->is_over && !terminal_link_send(s->link)) s->has_input = false;
}

/* What was received before the end is written. */
static void write_rest(struct session *s)
{
    struct output_sink *const sinks[] = {&s->out, &s->err};
    for (size_t i = 0; i < sizeof sinks / sizeof *sinks; i++) {
        while (sinks[i]->fd >= 0 && has_output(sinks[i]) && s->end->outcome != TERMINAL_HUNG_UP) {
            struct pollfd fds[] = {{.fd = sinks[i]->fd, .events = POLLOUT},
                                   {.fd = s->options->signal_fd, .events = POLLIN}};
            if (poll(fds, 2, -1) < 0) continue;
            if (fds[1].revents != 0) {
                int number = terminal_signals_next();
                if (number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT) return;
            }
            if (fds[0].revents != 0) write_sink(s, sinks[i]);
        }
    }
}

void terminal_session_run(struct terminal_link *l, const struct terminal_session_options *options,
                          struct terminal_end *out)
{
    struct session s = {.link = l,
                        .options = options,
                        .end = out,
                        .out = {.fd = STDOUT_FILENO},
                        .err = {.fd = STDERR_FILENO},
                        .is_at_line_start = true};
    struct frame hello = {.kind = FRAME_HELLO, .version = FRAME_VERSION};
    *out = (struct terminal_end){0};
    hello.flags =
        (uint8_t)((options->reads_only ? FRAME_HELLO_READS_ONLY : 0) | (options->owns ? FRAME_HELLO_OWNS : 0));
    (void)terminal_modes_size(&hello.rows, &hello.columns);
    terminal_link_add(l, &hello);
    while (!s.is_over) step(&s);
    write_rest(&s);
    terminal_modes_restore();
    buf_release(&s.out.text);
    buf_release(&s.err.text);
}
