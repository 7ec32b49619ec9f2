/* report: sums over the history. Rows stream from the instance as lines; each is read, summed up and forgotten. */
#include <math.h>

#include "base/quantity.h"
#include "cli/history_report.h"
#include "cli/instance.h"
#include "cli/listing.h"
#include "cli/share_promise.h"
#include "cli/unknown_name.h"
#include "fields/job_fields.h"
#include "options/time_text.h"

enum { DEFAULT_DAYS = 30, S_PER_DAY = 86400 };

struct report_values {
    struct listing_values listing;
    int key;
    const char *account, *user;
    int64_t since_us, until_us;
};

static const struct option_row report_options[] = {
    {.name = "by",
     .letter = 'b',
     .argument = "KEY",
     .value = CHOICE_IN(struct report_values, key, REPORT_KEYS),
     .help = "a row for each: user (default), account, day, week, month, partition, qos, state, name, project"},
    {.name = "account",
     .letter = 'A',
     .argument = "NAME",
     .value = TEXT_IN(struct report_values, account),
     .help = "only jobs of this account"},
    {.name = "user",
     .letter = 'u',
     .argument = "NAME",
     .value = TEXT_IN(struct report_values, user),
     .help = "only jobs of this user"},
    {.name = "since",
     .argument = "TIME",
     .value = PAST_TIME_IN(struct report_values, since_us),
     .help = "only jobs that ended at TIME or later (30d, by default)"},
    {.name = "until",
     .argument = "TIME",
     .value = PAST_TIME_IN(struct report_values, until_us),
     .help = "only jobs that ended before TIME"},
    LISTING_OPTIONS(struct report_values, listing),
    {0},
};

/* Whatever the instance lists as lines: calls add for each record of the table. */
static int read_lines(struct call *call, struct client *c, const char *target, const struct field_table *table,
                      void (*add)(void *context, const struct field_value *row), void *context, struct err *e)
{
    struct wire_columns columns;
    struct str line;
    struct arena arena = {0};
    struct field_value *row = arena_alloc(call->arena, table->count * sizeof *row);
    if (client_request(c, "GET", target, str(""), e) != 0) return -1;
    int more = client_line(c, &line, e);
    if (more == 0) return err_set(e, ERR_INTERNAL, "the instance's listing has no heading");
    if (more < 0 || wire_read_heading(table, line, &columns, e) != 0) return -1;
    while ((more = client_line(c, &line, e)) > 0) {
        arena_clear(&arena);
        if (wire_read_line(&columns, line, &arena, row, e) != 0) break;
        add(context, row);
    }
    arena_release(&arena);
    return more == 0 ? 0 : -1;
}

static void add_job(void *context, const struct field_value *row)
{
    history_report_add(context, row);
}

static void add_share(void *context, const struct field_value *row)
{
    share_promise_add(context, row);
}

static void add_time(struct buf *target, const char *name, int64_t time_us)
{
    char text[32];
    if (time_us == 0) return;
    text_format(text, sizeof text, "%lld", (long long)time_us);
    client_add_query(target, name, text);
}

static int read_jobs(struct call *call, struct client *c, struct history_report *report, struct err *e)
{
    const struct report_values *v = call->values;
    struct buf target = {0};
    int64_t since_us = v->since_us;
    if (!options_given(&call->parsed, "since"))
        since_us = instance_now_us(call) - INT64_C(1) * DEFAULT_DAYS * S_PER_DAY * US_PER_S;
    buf_add_text(&target, API_JOBS "?which=ended&format=lines");
    if (v->account != NULL) client_add_query(&target, "account", v->account);
    if (v->user != NULL) client_add_query(&target, "user", v->user);
    add_time(&target, "since_us", since_us > 0 ? since_us : 1);
    add_time(&target, "until_us", v->until_us);
    return read_lines(call, c, instance_target(call, &target), &job_fields, add_job, report, e);
}

/* Of users and accounts only; where the shares of others are hidden, nothing is promised. */
static bool read_shares(struct call *call, struct client *c, enum report_key key, struct share_promise *promise)
{
    struct err ignored;
    if (key != REPORT_BY_USER && key != REPORT_BY_ACCOUNT) return false;
    if (read_lines(call, c, API_SHARES "?format=lines", &share_fields, add_share, promise, &ignored) != 0) return false;
    share_promise_finish(promise);
    return true;
}

static double promised_to(const struct share_promise *promise, enum report_key key, const char *name)
{
    return key == REPORT_BY_USER ? share_promise_of_user(promise, name) : share_promise_of_account(promise, name);
}

static int write_rows(struct call *call, struct client *c, struct history_report *report, struct err *e)
{
    const struct report_values *v = call->values;
    struct share_promise promise = {.arena = call->arena};
    struct listing listing;
    bool has_promise = report->groups.count > 0 && read_shares(call, c, report->key, &promise);
    int status = listing_begin(&listing, &history_report_columns, &v->listing, call->out, e);
    history_report_sort(report);
    for (uint32_t i = 0; status == 0 && i < report->groups.count; i++) {
        struct field_value row[REPORT_FIELD_COUNT];
        const struct report_group *group = &report->groups.items[i];
        history_report_row(report, group, has_promise ? promised_to(&promise, report->key, group->key) : NAN, row);
        listing_add(&listing, row);
    }
    if (status == 0) listing_end(&listing);
    bool is_told = status == 0 && report->groups.count == 0 && unknown_name_note(call, v->user, v->account);
    if (status == 0 && !is_told && report->groups.count == 0 && listing_is_table(&v->listing))
        output_note("no jobs have ended in this time; --since TIME begins earlier");
    listing_release(&listing);
    share_promise_release(&promise);
    return status;
}

static int report_run(struct call *call, struct err *e)
{
    const struct report_values *v = call->values;
    struct history_report report = {.key = (enum report_key)v->key, .arena = call->arena};
    struct client client;
    if (listing_check(&v->listing, e) != 0 || instance_open(call, &client, e) != 0) return -1;
    client_wait_long(&client);
    int status = read_jobs(call, &client, &report, e);
    if (status == 0) status = write_rows(call, &client, &report, e);
    history_report_release(&report);
    client_close(&client);
    return status;
}

static const struct command_example report_examples[] = {
    {.line = "fairlead report", .meaning = "who used what in the last 30 days"},
    {.line = "fairlead report --by account --since 7d", .meaning = "shares promised and received in a week"},
    {.line = "fairlead report --by day -u alice -P", .meaning = "days of one user, for a script"},
    {0},
};

const struct command cmd_report = {
    .name = "report",
    .group = GROUP_SHARES,
    .summary = "sum up ended jobs by user, account, day or partition",
    .usage = "[OPTIONS]",
    .description =
        "Each attempt of a task counts as a job, at its end and whole: what ended within the time counts from its start. WAIT is the "
        "median from submission (or --begin) to the start, LONGEST the longest; a later attempt of a task waits from the end of the one "
        "before it (or from its begin), and counts for no wait if that one ended before the time. 'completed' has each attempt that "
        "completed, also one that was requeued by hand afterwards. CPU-H, GPU-H and GIB-H are what was allocated, in "
        "hours; CPU% and MEM% how much of it was used.\n\n"
        "PROMISED% is the share of a user or account in the whole tree, RECEIVED% the part of the billing of all rows. They are equal in "
        "the long run if all have enough to run; who has not leaves the rest to others.",
    .options = report_options,
    .values_size = sizeof(struct report_values),
    .listed = &history_report_columns,
    .examples = report_examples,
    .see_also = "history share efficiency",
    .run = report_run,
};
