#include <string.h>

#include "cli/foreign_syntax.h"
#include "cli/instance_listing.h"
#include "cli/job_columns.h"
#include "cli/job_ranks.h"
#include "cli/watch.h"

struct queue_values {
    struct listing_values listing;
    const char *account, *user;
    struct field_value state;
    bool has_state, has_all, has_start, is_watched;
    uint64_t interval_s;
};

static const struct field state_field = {.name = "state", .type = FIELD_CHOICE, .choices = job_state_words};

static const struct option_row queue_options[] = {
    {.name = "account",
     .letter = 'A',
     .argument = "NAME,...",
     .value = TEXT_IN(struct queue_values, account),
     .help = "only jobs of these accounts"},
    {.name = "user",
     .letter = 'u',
     .argument = "NAME,...",
     .value = TEXT_IN(struct queue_values, user),
     .help = "only jobs of these users"},
    {.name = "state",
     .letter = 's',
     .argument = "STATE",
     .value = FIELD_IN(struct queue_values, state, has_state, &state_field),
     .help = "only jobs in this state: pending or PD, running or R, ...; ended ones are listed, too"},
    {.name = "all", .letter = 'a', .value = FLAG_IN(struct queue_values, has_all), .help = "list ended jobs, too"},
    {.name = "start",
     .value = FLAG_IN(struct queue_values, has_start),
     .help =
         "list pending jobs: when and where each is expected to start if the jobs before it start first and all run "
         "as long as they may, and for which jobs it waits"},
    {.name = "watch",
     .value = FLAG_IN(struct queue_values, is_watched),
     .help = "list again and again: on a terminal as a screen that can be scrolled, until q"},
    {.name = "interval",
     .argument = "SECONDS",
     .value = U64_IN(struct queue_values, interval_s, 1, WATCH_INTERVAL_S_MAX),
     .help = "with --watch: so often (2 by default)"},
    LISTING_OPTIONS(struct queue_values, listing),
    {0},
};

/* Whether -o or --sort names a column that is computed from the ranks. */
static bool names_rank(const char *list)
{
    for (struct str rest = str(list); rest.text != NULL;) {
        struct str unused, name = str_cut(str_trim(str_cut(rest, ',', &rest)), ':', &unused);
        if (name.length > 0 && name.text[0] == '-') name = (struct str){name.text + 1, name.length - 1};
        if (str_equal_nocase(name, str("rank")) || str_equal_nocase(name, str("priority"))) return true;
    }
    return false;
}

/* A table of the queue is in the order in which jobs start. */
static int order_by_rank(struct call *call, const struct queue_values *values, struct listing_values *io_form,
                         struct err *e)
{
    bool has_ranks = !values->has_state || values->state.number == JOB_PENDING; /* jobs that wait have them */
    bool is_queue = !values->has_start && has_ranks && listing_is_table(io_form) && io_form->sort == NULL;
    if (!is_queue && !names_rank(io_form->columns) && !names_rank(io_form->sort)) return 0;
    if (is_queue) io_form->sort = "rank";
    return job_ranks_read(call, NONE, e);
}

/* A name that is no list, which is looked up if no job has it. */
static const char *one_name(const char *names)
{
    return names != NULL && strchr(names, ',') == NULL ? names : NULL;
}

static int write_queue(struct call *call, struct err *e)
{
    const struct queue_values *values = call->values;
    struct listing_values form = values->listing;
    struct buf target = {0};
    enum job_state state =
        values->has_state ? (enum job_state)(values->state.number % JOB_STATE_COUNT) : JOB_STATE_COUNT;
    bool wants_ended = values->has_all || (values->has_state && job_state_is_end(state));
    buf_add_text(&target, API_JOBS);
    client_add_query(&target, "which", wants_ended ? "all" : "live");
    if (values->account) client_add_query(&target, "account", values->account);
    if (values->user) client_add_query(&target, "user", values->user);
    if (values->has_start) {
        client_add_query(&target, "state", job_state_name(JOB_PENDING));
        client_add_query(&target, "start", "true");
    }
    if (values->has_state) client_add_query(&target, "state", job_state_name(state));
    bool is_filtered = values->has_start || values->account || values->user || values->has_state;
    const struct instance_listing listing = {
        .columns = values->has_start ? &job_columns_start : &job_columns_queue,
        .target = instance_target(call, &target),
        .has_lines = true,
        .account = one_name(values->account),
        .user = values->is_watched ? NULL : one_name(values->user),
        .empty_note = values->is_watched ? NULL
                      : is_filtered      ? "no matching jobs; run 'fairlead queue' to list all pending and running jobs"
                                         : "no jobs; run 'fairlead submit' to submit one",
    };
    if (order_by_rank(call, values, &form, e) != 0) return -1;
    return instance_listing_write(call, &listing, &form, NULL, e);
}

static int write_watched(struct call *call, const void *context, struct err *e)
{
    (void)context;
    return write_queue(call, e);
}

static int queue_run(struct call *call, struct err *e)
{
    const struct queue_values *values = call->values;
    bool has_interval = options_given(&call->parsed, "interval");
    const struct watch watch = {.write = write_watched,
                                .interval_s = has_interval ? values->interval_s : WATCH_INTERVAL_S,
                                .empty_text = "(no jobs)"};
    if (values->has_start && (values->has_all || values->has_state))
        return err_set(e, ERR_USAGE, "--start lists pending jobs: give neither --state nor --all with it");
    if (!values->is_watched && has_interval) return err_set(e, ERR_USAGE, "--interval is accepted with --watch only");
    if (!values->is_watched) return write_queue(call, e);
    if (!listing_is_table(&values->listing))
        return err_set(e, ERR_USAGE, "--watch is for a table: neither --json nor --parsable is accepted with it");
    return watch_run(call, &watch, e);
}

static const struct command_example queue_examples[] = {
    {.line = "fairlead queue -A physics", .meaning = "the jobs of one account"},
    {.line = "fairlead queue --state running -P", .meaning = "running jobs, for a script"},
    {.line = "fairlead queue --watch", .meaning = "the same every two seconds, until q"},
    {.line = "fairlead queue --start", .meaning = "when pending jobs are expected to start"},
    {0},
};

const struct command cmd_queue = {
    .name = "queue",
    .group = GROUP_JOBS,
    .summary = "list pending and running jobs",
    .usage = "[OPTIONS]",
    .description =
        "A row is a task that has started, or all tasks of a job that have not: 6_[3-9%2] stands for tasks 3 to 9 of array 6, "
        "of which at most two may run at once.\n\n"
        "Tasks that run come first, then pending jobs in the order in which they would start: RANK 1 is the next one, a job without "
        "a RANK may not start now (it is held, or waits for a time or for other jobs). -o priority adds the priority by which they are "
        "ordered, 'fairlead prio' its terms. A job that is kept back by its own size, by backfill or by a limit may start after one of a "
        "higher RANK.\n\n"
        "TIME is the time a task has run, LIMIT its time limit, REASON the reason why a job is pending: Priority if others come first, "
        "Resources if it is the next one and too little is free, with the resources of which too little is free on every host. With -P, durations are "
        "in seconds, memory is in MiB, and times are as 2026-11-22T09:05:00Z; a | in a name is replaced by a ?.",
    .options = queue_options,
    .values_size = sizeof(struct queue_values),
    .listed = &job_columns_queue,
    .examples = queue_examples,
    .see_also = "submit history share",
    .explain = foreign_syntax_queue_option,
    .run = queue_run,
};
