/* fairlead top: the queue with what its jobs use, shares, and who uses the machine, in jobs and outside. On a terminal
 * it is a screen with keys (top_screen.h); elsewhere, and with --once, one frame is printed as text. A terminal that
 * cannot be drawn on gets frames below each other. */
#include <unistd.h>

#include "cli/screen.h"
#include "cli/top_columns.h"
#include "cli/top_screen.h"
#include "cli/watch.h"

struct top_values {
    struct listing_values listing;
    bool is_once, has_shares, has_users, has_jobs, has_processes, only_outside;
    const char *user;
    uint64_t interval_s;
};

static const struct option_row top_options[] = {
    {.name = "once",
     .letter = '1',
     .value = FLAG_IN(struct top_values, is_once),
     .help = "print one frame as text, also on a terminal"},
    {.name = "interval",
     .letter = 'd',
     .argument = "SECONDS",
     .value = U64_IN(struct top_values, interval_s, 1, WATCH_INTERVAL_S_MAX),
     .help = "on a terminal: a new frame this often (2 by default)"},
    {.name = "shares",
     .value = FLAG_IN(struct top_values, has_shares),
     .help = "a row for each association: what it was promised and has received"},
    {.name = "users",
     .value = FLAG_IN(struct top_values, has_users),
     .help = "a row for each user: what it uses in jobs and outside"},
    {.name = "jobs",
     .letter = 'j',
     .value = FLAG_IN(struct top_values, has_jobs),
     .help = "a row for each job that runs, and for what a user has outside jobs"},
    {.name = "processes",
     .letter = 'p',
     .value = FLAG_IN(struct top_values, has_processes),
     .help = "a row for each process; those of other users are for operators"},
    {.name = "outside",
     .letter = 'x',
     .value = FLAG_IN(struct top_values, only_outside),
     .help = "only those that use CPUs or GPUs outside jobs; without --jobs and --processes by user"},
    {.name = "user",
     .letter = 'u',
     .argument = "USER",
     .value = TEXT_IN(struct top_values, user),
     .help = "only this user, a name or a uid"},
    LISTING_OPTIONS(struct top_values, listing),
    {0},
};

/* --- one frame ---------------------------------------------------------------------------------------------------- */

static bool is_of_use(enum top_view view)
{
    return view != TOP_QUEUE && view != TOP_SHARES;
}

static int write_head(struct call *call, enum top_view view, struct err *e)
{
    struct top_head head = {0};
    int status = top_head_read(call, top_view_titles[view], &head, e);
    if (status == 0) {
        output_line(call->out, "%s", head.tasks.text);
        output_line(call->out, "%s", head.host.text);
        output_line(call->out, "%s", "");
    }
    top_head_release(&head);
    return status;
}

/* Views of use are a table alone, as scripts have it since there is no other view; the other two have lines above. */
static int write_frame(struct call *call, const struct top_query *query, struct err *e)
{
    const struct top_values *v = call->values;
    struct top_rows rows = {0};
    int status = listing_check(&v->listing, e);
    if (status == 0) status = top_rows_read(call, query, &rows, e);
    if (status == 0 && listing_is_table(&v->listing) && !is_of_use(query->view))
        status = write_head(call, query->view, e);
    if (status == 0) status = top_rows_write(&rows, &v->listing, 0, UINT32_MAX, call->out, e);
    if (status == 0 && rows.list.count == 0 && listing_is_table(&v->listing))
        output_note("%s", is_of_use(query->view) ? "none that is shown uses the machine now" : "nothing to show");
    top_rows_release(&rows);
    return status;
}

/* --- frames on a terminal ----------------------------------------------------------------------------------------- */

static int write_watched(struct call *call, const void *context, struct err *e)
{
    return write_frame(call, context, e);
}

/* -o and --sort are of text: the screen has its own columns and keys. */
static int show_frames(struct call *call, const struct top_query *query, uint64_t interval_s, struct err *e)
{
    const struct top_values *v = call->values;
    const char *why = NULL;
    const struct watch text = {.write = write_watched, .context = query, .interval_s = interval_s};
    struct top_state screen = {.call = call, .query = *query, .interval_s = interval_s};
    for (int i = 0; i < TOP_VIEW_COUNT; i++) screen.sort_column[i] = NONE;
    screen.rows.columns = top_view_columns(query->view);
    bool has_form = v->listing.columns != NULL || v->listing.sort != NULL;
    if (!has_form && screen_open(&why) == 0) return top_screen_run(&screen);
    return watch_run_plain(call, &text, why, e);
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static int choose_view(const struct top_values *v, enum top_view *out_view, struct err *e)
{
    const bool has[TOP_VIEW_COUNT] = {[TOP_SHARES] = v->has_shares,
                                      [TOP_USERS] = v->has_users,
                                      [TOP_JOBS] = v->has_jobs,
                                      [TOP_PROCESSES] = v->has_processes};
    *out_view = v->only_outside ? TOP_USERS : TOP_QUEUE;
    uint32_t count = 0;
    for (int i = 0; i < TOP_VIEW_COUNT; i++) {
        if (has[i]) *out_view = (enum top_view)i;
        count += has[i];
    }
    if (count > 1) return err_set(e, ERR_USAGE, "--shares, --users, --jobs and --processes exclude each other");
    if (v->has_shares && v->only_outside)
        return err_set(e, ERR_USAGE, "--outside is for --users, --jobs and --processes");
    return 0;
}

static int top_run(struct call *call, struct err *e)
{
    const struct top_values *v = call->values;
    struct top_query query = {.user = v->user, .only_outside = v->only_outside};
    bool has_interval = options_given(&call->parsed, "interval");
    bool draws = call->out->is_terminal && isatty(STDIN_FILENO) && !v->is_once && listing_is_table(&v->listing);
    if (choose_view(v, &query.view, e) != 0) return -1;
    if (!draws && has_interval) return err_set(e, ERR_USAGE, "--interval is for a table on a terminal, without --once");
    return draws ? show_frames(call, &query, has_interval ? v->interval_s : WATCH_INTERVAL_S, e)
                 : write_frame(call, &query, e);
}

static const struct command_example top_examples[] = {
    {.line = "fairlead top", .meaning = "the queue and what its jobs use now; q ends it"},
    {.line = "fairlead top --shares --once", .meaning = "what everyone was promised and has received"},
    {.line = "fairlead top --users", .meaning = "who uses the machine now, in jobs and outside"},
    {.line = "fairlead top --outside", .meaning = "only those who use it outside jobs"},
    {.line = "fairlead top -p -u ann", .meaning = "each process of ann, with its job"},
    {.line = "fairlead top --json --jobs", .meaning = "for programs: what each job uses"},
    {0},
};

const struct command cmd_top = {
    .name = "top",
    .group = GROUP_SERVICE,
    .summary = "show the queue, shares and what uses CPUs, memory and GPUs now",
    .usage = "[OPTION...]",
    .description =
        "The queue: running and waiting jobs, those that start next first, with the CPUs (USED), the memory and the GPUs that each uses now. "
        "With --shares a row is an association: the part of the whole that its shares promise, the part of all usage that it has "
        "received, and a bar of both. The other views show who uses the machine, in jobs and outside: with --users a row is a user, with "
        "--jobs a job, or what a user has outside jobs; with --processes a process. CPUS is the CPU time used over the last seconds "
        "by the time: 2.00 are two CPUs. IN_JOBS is the part of it in jobs, OUTSIDE the rest. MEM counts memory that several "
        "processes share for each of them. GPUS are the GPUs whose device a process has open, whether they compute or not.\n\n"
        "On a terminal there is a new frame every few seconds. q or Ctrl-C ends it, ? lists the keys: they change the view, sort, filter, and "
        "cancel, hold or release the selected job after a question. If the instance is away, the last frame stays, says so, and the next answer "
        "goes on. A frame that takes long is made less often, so that it costs at most a tenth of the time. Otherwise, and with --once, one "
        "frame is printed as text; a terminal that cannot move its cursor (TERM=dumb) gets one after the other, and so do -o and --sort.\n\n"
        "A process belongs to a job if it descends from it, whatever session it is in. What a program that is no part of the "
        "job starts for it (docker, at, systemd-run, a tmux that runs already) counts as outside, as do jobs of other "
        "instances. CPU time of processes that end between two looks is missing if no process of the same job, or "
        "of the same user outside jobs, waits for them. A private instance runs without privileges: of other users' processes it "
        "sees neither open GPUs nor, if /proc is mounted so, the processes.\n\n"
        "Users who are not operators see the totals of others, and no processes; with private_data all others are one row.",
    .options = top_options,
    .values_size = sizeof(struct top_values),
    .listed = &top_columns_jobs,
    .examples = top_examples,
    .see_also = "status queue places set",
    .run = top_run,
};
