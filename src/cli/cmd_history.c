#include "base/text.h"
#include "cli/job_row.h"
#include "cli/listing.h"

enum { STANDARD_LIMIT = 100 };

struct history_values {
    struct listing_values listing;
    const char *account, *user;
    int64_t since_us, until_us;
    uint64_t limit;
};

static const struct option_row history_options[] = {
    {"account", 'A', "NAME", TEXT_IN(struct history_values, account), "only jobs of this account"},
    {"user", 'u', "NAME", TEXT_IN(struct history_values, user), "only jobs of this user"},
    {"since", 0, "MOMENT", MOMENT_IN(struct history_values, since_us), "only what ended then or later"},
    {"until", 0, "MOMENT", MOMENT_IN(struct history_values, until_us), "only what ended before"},
    {"limit", 'n', "COUNT", U64_IN(struct history_values, limit, 0, 4000000000),
     "the newest COUNT rows (100; 0: all, also with --since)"},
    LISTING_OPTIONS(struct history_values, listing),
    {0},
};

static const struct column history_columns[] = {
    {"ID", "id", true, job_cell_id},
    {"NAME", "name", false, job_cell_name},
    {"USER", "user", false, job_cell_user},
    {"ACCOUNT", "account", false, job_cell_account},
    {"STATE", "state", false, job_cell_state},
    {"EXIT", "exit_status:signal", true, job_cell_exit},
    {"ELAPSED", "elapsed_s", true, job_cell_elapsed},
    {"CPUS", "cpus", true, job_cell_cpus},
    {"MAXMEM", "max_rss_kib", true, job_cell_max_memory},
    {"ENDED", "end", false, job_cell_ended},
};

static void add_number(struct buf *target, const char *name, int64_t value)
{
    char text[32];
    text_format(text, sizeof text, "%lld", (long long)value);
    target_add_query(target, name, text);
}

static int history_run(struct call *call, struct err *e)
{
    const struct history_values *values = call->values;
    bool has_limit = options_given(history_options, &call->parsed, "limit");
    uint64_t limit = has_limit ? values->limit : values->since_us != 0 ? 0 : STANDARD_LIMIT;

    struct buf target = {0};
    buf_add_text(&target, WIRE_JOBS "?which=ended&order=newest");
    if (values->account) target_add_query(&target, "account", values->account);
    if (values->user) target_add_query(&target, "user", values->user);
    if (values->since_us != 0) add_number(&target, "since_us", values->since_us);
    if (values->until_us != 0) add_number(&target, "until_us", values->until_us);
    if (limit > 0) add_number(&target, "limit", (int64_t)limit);

    bool is_filtered = values->account || values->user || values->since_us != 0 || values->until_us != 0;
    const struct listing listing = {
        .shape = &wire_job_row_shape,
        .has_lines = true,
        .columns = history_columns,
        .column_count = sizeof history_columns / sizeof history_columns[0],
        .account = values->account,
        .empty = is_filtered ? "no such jobs have ended"
                             : "no jobs have ended yet; 'fairlead queue' lists those that wait or run",
        .is_reversed = true,
    };
    uint32_t count;
    if (listing_run(call, &listing, &values->listing, instance_target(call, &target), &count, e) != 0) return -1;
    bool is_for_people = !values->listing.is_json && !values->listing.is_parsable;
    if (is_for_people && !has_limit && limit > 0 && count == limit)
        output_note("the newest %u; 'fairlead history --limit 0' lists all", count);
    return 0;
}

static const struct command_example history_examples[] = {
    {"fairlead history -u alice --limit 10", "the last ten of one user"},
    {"fairlead history --since 2026-11-01T00:00Z -P", "everything since then, for a script"},
    {0},
};

const struct command cmd_history = {
    .name = "history",
    .group = GROUP_JOBS,
    .summary = "list ended jobs, the newest last",
    .usage = "[OPTIONS]",
    .text =
        "EXIT is the exit status, or the signal that ended the job. ELAPSED is how long it ran, MAXMEM the most memory its "
        "largest process had.\n\n"
        "A MOMENT is a date (2026-11-21, its beginning), today, a date and time (2026-11-21T09:05), with a zone behind it (Z, "
        "+01:00) if it is not the local one, or a number of seconds since 1970.",
    .options = history_options,
    .values_size = sizeof(struct history_values),
    .examples = history_examples,
    .see_also = "queue log share",
    .run = history_run,
};
