/* fairlead top: who uses the machine now. On a terminal the listing is drawn again and again:
 *
 *     request, home, the lines (each erases the rest of its old one), erase what is below ─> wait for a key or the time
 *
 * The terminal is asked for keys one by one meanwhile, without echo; its settings are given back at the end, also after
 * Ctrl-C and SIGTERM, which only end the wait. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/quantity.h"
#include "cli/instance_listing.h"
#include "fields/use_fields.h"

enum { INTERVAL_S = 3, INTERVAL_S_MAX = 3600, CTRL_L = 12 };

struct top_values {
    struct listing_values listing;
    bool is_once, has_jobs, has_processes, only_outside;
    const char *user;
    uint64_t interval_s;
};

static const struct option_row top_options[] = {
    {.name = "once",
     .letter = '1',
     .value = FLAG_IN(struct top_values, is_once),
     .help = "print the listing once, also on a terminal"},
    {.name = "interval",
     .letter = 'd',
     .argument = "SECONDS",
     .value = U64_IN(struct top_values, interval_s, 1, INTERVAL_S_MAX),
     .help = "on a terminal: draw it again this often (3 by default)"},
    {.name = "jobs", .letter = 'j', .value = FLAG_IN(struct top_values, has_jobs), .help = "a row for each job"},
    {.name = "processes",
     .letter = 'p',
     .value = FLAG_IN(struct top_values, has_processes),
     .help = "a row for each process; those of other users are for operators"},
    {.name = "outside",
     .letter = 'x',
     .value = FLAG_IN(struct top_values, only_outside),
     .help = "only those that use CPUs or GPUs outside jobs"},
    {.name = "user",
     .letter = 'u',
     .argument = "USER",
     .value = TEXT_IN(struct top_values, user),
     .help = "only this user, a name or a uid"},
    LISTING_OPTIONS(struct top_values, listing),
    {0},
};

/* --- the listing -------------------------------------------------------------------------------------------------- */

static bool is_of_user(const struct field_value *row, const char *user)
{
    char uid[24];
    if (row[USE_FIELD_USER].number != FIELD_ABSENT && strcmp(row[USE_FIELD_USER].text, user) == 0) return true;
    text_format(uid, sizeof uid, "%lld", (long long)row[USE_FIELD_UID].number);
    return row[USE_FIELD_UID].number != FIELD_ABSENT && strcmp(uid, user) == 0;
}

static bool is_wanted(const struct field_value *row, const void *context)
{
    const struct top_values *v = context;
    if (v->user != NULL && !is_of_user(row, v->user)) return false;
    if (!v->only_outside) return true;
    return row[USE_FIELD_OUTSIDE_CPUS].real > 0.0 || row[USE_FIELD_OUTSIDE_GPUS].number != FIELD_ABSENT;
}

static int write_listing(struct call *call, struct err *e)
{
    const struct top_values *v = call->values;
    const struct instance_listing listing = {
        .columns = &use_fields_columns,
        .target = v->has_processes ? API_USE "?by=processes"
                  : v->has_jobs    ? API_USE "?by=jobs"
                                   : API_USE,
        .empty_note = v->user != NULL || v->only_outside ? "none that is shown uses the machine now" : NULL,
        .filter = v->user != NULL || v->only_outside ? is_wanted : NULL,
        .filter_context = v,
    };
    return instance_listing_write(call, &listing, &v->listing, NULL, e);
}

/* --- drawing ------------------------------------------------------------------------------------------------------ */

static volatile sig_atomic_t is_interrupted;

static void on_signal(int number)
{
    (void)number;
    is_interrupted = 1;
}

static uint32_t terminal_lines(const struct output *out)
{
    struct winsize size;
    return ioctl(out->fd, TIOCGWINSZ, &size) == 0 && size.ws_row > 1 ? size.ws_row : UINT32_MAX;
}

/* Puts the text in place of what is on the screen, as far as it fits. */
static void draw(struct output *out)
{
    struct buf screen = {0};
    struct str rest = {out->text.text, out->text.length};
    buf_add_text(&screen, "\033[H");
    for (uint32_t lines = terminal_lines(out); rest.length > 0 && lines > 1; lines--) {
        buf_add_str(&screen, str_cut(rest, '\n', &rest));
        buf_add_text(&screen, "\033[K\r\n");
    }
    buf_add_text(&screen, "\033[J");
    buf_clear(&out->text);
    buf_add(&out->text, screen.text, screen.length);
    buf_release(&screen);
}

/* Returns whether to go on: the time has passed, or a key was typed that does not mean the end. */
static bool wait_for_key(uint64_t interval_s)
{
    struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
    char key = 0;
    int ready = poll(&keys, 1, (int)interval_s * 1000);
    if (is_interrupted) return false;
    if (ready > 0 && read(STDIN_FILENO, &key, 1) <= 0) return false; /* the terminal is gone */
    return key != 'q' && key != 'Q';
}

static int redraw_until_end(struct call *call, struct err *e)
{
    const struct top_values *v = call->values;
    uint64_t interval_s = options_given(&call->parsed, "interval") ? v->interval_s : INTERVAL_S;
    buf_add_text(&call->out->text, "\033[2J");
    do {
        if (output_flush(call->out, e) != 0 || write_listing(call, e) != 0) return -1;
        draw(call->out);
        if (output_flush(call->out, e) != 0) return -1;
    } while (!is_interrupted && wait_for_key(interval_s));
    return 0;
}

static int watch(struct call *call, struct err *e)
{
    struct termios before, keys;
    const struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    bool has_keys = tcgetattr(STDIN_FILENO, &before) == 0;
    keys = before;
    keys.c_lflag &= (tcflag_t) ~(unsigned)(ICANON | ECHO);
    if (has_keys) (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
    int status = redraw_until_end(call, e);
    if (has_keys) (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
    return is_interrupted ? 0 : status; /* an interrupted request has failed because of that */
}

static int top_run(struct call *call, struct err *e)
{
    const struct top_values *v = call->values;
    if (v->has_jobs && v->has_processes) return err_set(e, ERR_USAGE, "--jobs and --processes exclude each other");
    bool draws = call->out->is_terminal && isatty(STDIN_FILENO) && !v->is_once && listing_is_table(&v->listing);
    if (!draws && options_given(&call->parsed, "interval"))
        return err_set(e, ERR_USAGE, "--interval is for a table on a terminal, without --once");
    return draws ? watch(call, e) : write_listing(call, e);
}

static const struct command_example top_examples[] = {
    {.line = "fairlead top", .meaning = "who uses the machine now; q ends it"},
    {.line = "fairlead top --outside", .meaning = "only those who use it outside jobs"},
    {.line = "fairlead top -p -u ann", .meaning = "each process of ann, with its job"},
    {.line = "fairlead top --json --jobs", .meaning = "for programs: what each job uses"},
    {0},
};

const struct command cmd_top = {
    .name = "top",
    .group = GROUP_SERVICE,
    .summary = "list who uses CPUs, memory and GPUs now, in jobs and outside",
    .usage = "[OPTION...]",
    .description =
        "A row is a user; with --jobs a job, or what a user has outside jobs; with --processes a process. CPUS is the CPU time used "
        "over the last seconds by the time: 2.00 are two CPUs. IN_JOBS is the part of it in jobs, OUTSIDE the rest. MEM counts "
        "memory that several processes share for each of them. GPUS are the GPUs whose device a process has open, whether they "
        "compute or not.\n\n"
        "On a terminal the listing is drawn again every few seconds, until q or Ctrl-C. Otherwise it is printed once.\n\n"
        "A process belongs to a job if it descends from it, whatever session it is in. What a program that is no part of the "
        "job starts for it (docker, at, systemd-run, a tmux that runs already) counts as outside, as do jobs of other "
        "instances. CPU time of processes that end between two looks is missing if no process of the same job, or "
        "of the same user outside jobs, waits for them. A private instance runs without privileges: of other users' processes it "
        "sees neither open GPUs nor, if /proc is mounted so, the processes.\n\n"
        "Users who are not operators see the totals of others, and no processes; with private_data all others are one row.",
    .options = top_options,
    .values_size = sizeof(struct top_values),
    .listed = &use_fields_columns,
    .examples = top_examples,
    .see_also = "status queue places set",
    .run = top_run,
};
