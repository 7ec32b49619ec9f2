/* The socket is tried often, because that costs the instance nothing, and works while it is down. The instance is asked
 * seldom, and the more seldom the longer its answers take: the rank of one job comes with the ranks of all. */
#include "cli/terminal_wait.h"

#include <signal.h>
#include <time.h>

#include "base/quantity.h"
#include "cli/instance.h"
#include "cli/job_ranks.h"
#include "cli/terminal_signals.h"
#include "cli/wait_line.h"
#include "fields/job_id.h"

enum {
    FIRST_PAUSE_MS = 5,
    PAUSE_MAX_MS = 100,
    QUIET_MS = 300,
    LOOK_MS = 100,
    LOOK_MAX_MS = 2000,
    COST_FACTOR = 20,
    LOST_S = 60
};

struct waiting {
    struct call *call;
    const char *id;
    uint32_t job_id;
    struct wait_line line;
    struct job_watch watch;
    int64_t begin_us, look_us, look_wait_us; /* when to ask next, and how long after the last answer */
    int64_t running_us;                      /* since when it runs without a relay; 0: it does not */
};

int64_t terminal_wait_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}

/* Without an answer the rank that was known is shown. */
static uint32_t read_rank(struct waiting *w)
{
    struct arena arena = {0}, *call_arena = w->call->arena;
    struct err ignored;
    w->call->arena = &arena;
    terminal_signals_begin_request();
    (void)job_ranks_read(w->call, NONE, &ignored);
    terminal_signals_end_request();
    w->call->arena = call_arena;
    arena_release(&arena);
    return job_ranks_of(w->job_id);
}

static void show_pending(struct waiting *w)
{
    struct buf text = {0};
    char duration[64];
    uint32_t rank = read_rank(w);
    int64_t in_us = w->watch.expected_start_us - client_now_us();
    buf_format(&text, "job %s waits", w->id);
    if (w->watch.reason[0] != '\0') buf_format(&text, ": %s", w->watch.reason);
    if (rank > 0) buf_format(&text, ", rank %u", rank);
    if (w->watch.expected_start_us > 0 && in_us > 0) {
        duration_format_short(duration, in_us / US_PER_S);
        buf_format(&text, ", expected start in %s", duration);
    }
    wait_line_show(&w->line, text.text, terminal_wait_now_us());
    buf_release(&text);
}

static void show(struct waiting *w, int answer)
{
    char text[120];
    int64_t now_us = terminal_wait_now_us();
    if (now_us - w->begin_us < QUIET_MS * 1000) return;
    if (answer > 0 && w->watch.restarts == INT64_MAX) {
        show_pending(w);
        return;
    }
    if (answer != 0) { /* it starts */
        wait_line_clear(&w->line);
        return;
    }
    text_format(text, sizeof text, "job %s keeps its place; no instance answers, trying again", w->id);
    wait_line_show(&w->line, text, now_us);
}

/* Asks the instance if it is time. 1: the job has ended; 0: not; -1 with *e. */
static int look(struct waiting *w, struct err *e)
{
    int64_t before_us = terminal_wait_now_us();
    if (before_us < w->look_us) return 0;
    int answer = job_watch_read(w->call, w->id, &w->watch, e);
    if (answer < 0) return -1;
    if (answer > 0 && job_watch_is_ended(&w->watch)) return 1;
    show(w, answer);
    int64_t now_us = terminal_wait_now_us();
    bool is_running = answer > 0 && w->watch.state == JOB_RUNNING;
    if (!is_running) w->running_us = 0;
    if (is_running && w->running_us == 0) w->running_us = now_us;
    if (is_running && now_us - w->running_us > LOST_S * US_PER_S)
        return err_set(e, ERR_UNAVAILABLE, "job %s runs, but its terminal cannot be reached; run 'fairlead log %s'",
                       w->id, w->id);
    w->look_wait_us = w->look_wait_us * 2 < LOOK_MAX_MS * 1000 ? w->look_wait_us * 2 : LOOK_MAX_MS * 1000;
    int64_t min_wait_us = (now_us - before_us) * COST_FACTOR;
    w->look_us = now_us + (w->look_wait_us > min_wait_us ? w->look_wait_us : min_wait_us);
    return 0;
}

/* Returns the signal by which this command is to leave; 0: none. */
static int pause_for_signal(struct waiting *w, int pause_ms)
{
    int number = terminal_signals_wait(pause_ms);
    if (number == SIGTSTP) {
        wait_line_clear(&w->line);
        terminal_signals_stop();
    }
    bool ends = number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
    return ends ? number : 0;
}

int terminal_wait(struct call *call, const char *id, const char *directory, struct terminal_link *out_link,
                  struct job_watch *out_watch, int *out_signal, enum terminal_wait *out, struct err *e)
{
    struct waiting w = {.call = call, .id = id, .begin_us = terminal_wait_now_us(), .look_wait_us = LOOK_MS * 1000};
    uint32_t task_id;
    int result = job_id_parse(str(id), "ID", &w.job_id, &task_id, e);
    w.look_us = w.begin_us + w.look_wait_us;
    wait_line_begin(&w.line);
    for (int pause_ms = FIRST_PAUSE_MS; result == 0;
         pause_ms = pause_ms * 2 < PAUSE_MAX_MS ? pause_ms * 2 : PAUSE_MAX_MS) {
        result = terminal_link_open(out_link, directory, id, e);
        if (result > 0) *out = TERMINAL_WAIT_CONNECTED;
        if (result != 0) break;
        *out_signal = pause_for_signal(&w, pause_ms);
        *out = TERMINAL_WAIT_SIGNAL;
        if (*out_signal != 0) break;
        result = look(&w, e);
        *out = TERMINAL_WAIT_ENDED;
    }
    *out_watch = w.watch;
    wait_line_clear(&w.line);
    return result < 0 ? -1 : 0;
}
