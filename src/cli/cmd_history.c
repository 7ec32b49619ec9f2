#include "base/text.h"
#include "cli/foreign_syntax.h"
#include "cli/instance_listing.h"
#include "cli/job_columns.h"
#include "cli/job_ids.h"

enum { DEFAULT_LIMIT = 100 };

struct history_values {
    struct listing_values listing;
    const char *account, *user;
    int64_t since_us, until_us;
    uint64_t limit;
    struct field_value state;
    bool has_state;
};

static const struct field state_field = {.name = "state", .type = FIELD_CHOICE, .choices = job_state_words};

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
    {.name = "state",
     .letter = 's',
     .argument = "STATE",
     .value = FIELD_IN(struct history_values, state, has_state, &state_field),
     .help = "only rows in this state: failed or F, timeout or TO, ..."},
    {.name = "since",
     .argument = "TIME",
     .value = PAST_TIME_IN(struct history_values, since_us),
     .help = "only jobs that ended at TIME or later"},
    {.name = "until",
     .argument = "TIME",
     .value = PAST_TIME_IN(struct history_values, until_us),
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

/* "1,5_3" as the API has them. */
static void add_ids(struct buf *target, const struct wire_list *ids)
{
    struct buf list = {0};
    for (uint32_t i = 0; i < ids->count; i++)
        buf_format(&list, "%s%s", i > 0 ? "," : "", ((const char **)ids->items)[i]);
    client_add_query(target, "id", list.text);
    buf_release(&list);
}

static int history_run(struct call *call, struct err *e)
{
    const struct history_values *values = call->values;
    struct wire_list ids;
    struct buf target = {0};
    bool has_limit = options_given(&call->parsed, "limit");
    if (job_ids_parse(call, 0, &ids, e) != 0) return -1;
    uint64_t limit = has_limit ? values->limit : values->since_us != 0 || ids.count > 0 ? 0 : DEFAULT_LIMIT;

    buf_add_text(&target, API_JOBS "?which=ended&order=newest");
    if (values->account) client_add_query(&target, "account", values->account);
    if (values->user) client_add_query(&target, "user", values->user);
    if (ids.count > 0) add_ids(&target, &ids);
    if (values->has_state)
        client_add_query(&target, "state", job_state_name((enum job_state)(values->state.number % JOB_STATE_COUNT)));
    if (values->since_us != 0) add_number(&target, "since_us", values->since_us);
    if (values->until_us != 0) add_number(&target, "until_us", values->until_us);
    if (limit > 0) add_number(&target, "limit", (int64_t)limit);

    bool is_filtered = values->account || values->user || values->since_us != 0 || values->until_us != 0 ||
                       values->has_state || ids.count > 0;
    const struct instance_listing listing = {
        .columns = &job_columns_history,
        .target = instance_target(call, &target),
        .has_lines = true,
        .account = values->account,
        .user = values->user,
        .empty_note = is_filtered
                          ? "no matching jobs have ended"
                          : "no ended jobs are in the history; run 'fairlead queue' to list pending and running jobs",
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
    {.line = "fairlead history 6", .meaning = "the tasks of array 6 that have ended"},
    {.line = "fairlead history --since 2h", .meaning = "what ended in the last two hours"},
    {.line = "fairlead history --since 2026-11-01T00:00Z -P", .meaning = "all jobs since a time, for a script"},
    {0},
};

const struct command cmd_history = {
    .name = "history",
    .group = GROUP_JOBS,
    .summary = "list ended jobs, the newest last",
    .usage = "[OPTIONS] [ID...]",
    .description =
        "EXIT is the exit status, or the signal that ended the job. ELAPSED is the time it ran. MAXMEM is the peak memory of "
        "its largest process.\n\n"
        "A TIME is so long ago (2h, 90m, 2d), the last time of day (16:00) or day of the week (monday), today, yesterday, "
        "2026-11-21 or 2026-11-21T09:05; 'fairlead help times' lists all forms.\n\n"
        "'fairlead history prune' removes jobs that ended long ago.",
    .options = history_options,
    .values_size = sizeof(struct history_values),
    .listed = &job_columns_history,
    .operands_max = OPERANDS_ANY,
    .examples = history_examples,
    .see_also = "queue log share",
    .explain = foreign_syntax_history_option,
    .run = history_run,
};
