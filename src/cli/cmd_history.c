#include "base/text.h"
#include "cli/foreign_syntax.h"
#include "cli/instance_listing.h"
#include "cli/job_columns.h"

enum { DEFAULT_LIMIT = 100 };

struct history_values {
    struct listing_values listing;
    const char *account, *user;
    int64_t since_us, until_us;
    uint64_t limit;
};

static const struct option_row history_options[] = {
    {.name = "account",
     .letter = 'A',
     .argument = "NAME",
     .value = TEXT_IN(struct history_values, account),
     .help = "only jobs of this account"},
    {.name = "user",
     .letter = 'u',
     .argument = "NAME",
     .value = TEXT_IN(struct history_values, user),
     .help = "only jobs of this user"},
    {.name = "since",
     .argument = "TIME",
     .value = TIME_IN(struct history_values, since_us),
     .help = "only jobs that ended at TIME or later"},
    {.name = "until",
     .argument = "TIME",
     .value = TIME_IN(struct history_values, until_us),
     .help = "only jobs that ended before TIME"},
    {.name = "limit",
     .letter = 'n',
     .argument = "COUNT",
     .value = U64_IN(struct history_values, limit, 0, 4000000000),
     .help = "only the newest COUNT rows; 0: all (100 by default; all with --since)"},
    LISTING_OPTIONS(struct history_values, listing),
    {0},
};

static void add_number(struct buf *target, const char *name, int64_t value)
{
    char text[32];
    text_format(text, sizeof text, "%lld", (long long)value);
    client_add_query(target, name, text);
}

static int history_run(struct call *call, struct err *e)
{
    const struct history_values *values = call->values;
    bool has_limit = options_given(&call->parsed, "limit");
    uint64_t limit = has_limit ? values->limit : values->since_us != 0 ? 0 : DEFAULT_LIMIT;

    struct buf target = {0};
    buf_add_text(&target, API_JOBS "?which=ended&order=newest");
    if (values->account) client_add_query(&target, "account", values->account);
    if (values->user) client_add_query(&target, "user", values->user);
    if (values->since_us != 0) add_number(&target, "since_us", values->since_us);
    if (values->until_us != 0) add_number(&target, "until_us", values->until_us);
    if (limit > 0) add_number(&target, "limit", (int64_t)limit);

    bool is_filtered = values->account || values->user || values->since_us != 0 || values->until_us != 0;
    const struct instance_listing listing = {
        .columns = &job_columns_history,
        .target = instance_target(call, &target),
        .has_lines = true,
        .account = values->account,
        .empty_note = is_filtered ? "no matching jobs have ended"
                                  : "no jobs have ended yet; run 'fairlead queue' to list pending and running jobs",
        .is_reversed = true,
    };
    uint32_t count;
    if (instance_listing_write(call, &listing, &values->listing, &count, e) != 0) return -1;
    if (listing_is_table(&values->listing) && !has_limit && limit > 0 && count == limit)
        output_note("only the newest %u rows are listed; run 'fairlead history --limit 0' to list all", count);
    return 0;
}

static const struct command_example history_examples[] = {
    {.line = "fairlead history -u alice --limit 10", .meaning = "the newest ten rows of one user"},
    {.line = "fairlead history --since 2026-11-01T00:00Z -P", .meaning = "all jobs since a time, for a script"},
    {0},
};

const struct command cmd_history = {
    .name = "history",
    .group = GROUP_JOBS,
    .summary = "list ended jobs, the newest last",
    .usage = "[OPTIONS]",
    .description =
        "EXIT is the exit status, or the signal that ended the job. ELAPSED is the time it ran. MAXMEM is the peak memory of "
        "its largest process.\n\n"
        "A TIME is a date (2026-11-21: local midnight), today, a date and time (2026-11-21T09:05, local unless a zone such as Z "
        "or +01:00 follows), or a number of seconds since 1970.",
    .options = history_options,
    .values_size = sizeof(struct history_values),
    .listed = &job_columns_history,
    .examples = history_examples,
    .see_also = "queue log share",
    .explain = foreign_syntax_history_option,
    .run = history_run,
};
