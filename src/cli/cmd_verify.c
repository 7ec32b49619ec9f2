/* fairlead verify: the instance recomputes all usage from its job records; this command shows the differences. */
#include "base/number.h"
#include "cli/instance.h"
#include "cli/table.h"
#include "fields/column.h"

enum { ROWS_SHOWN = 50 };

struct verify_values {
    bool is_json;
};

static const struct option_row verify_options[] = {
    {.name = "json", .value = FLAG_IN(struct verify_values, is_json), .help = "print one JSON object"},
    {0},
};

static const struct table_column difference_columns[] = {
    {.heading = "ACCOUNT", .width_min = COLUMN_NAME_WIDTH_MIN},
    {.heading = "USER", .width_min = COLUMN_NAME_WIDTH_MIN},
    {.heading = "PARTITION", .width_min = COLUMN_NAME_WIDTH_MIN, .is_optional = true},
    {.heading = "QOS", .width_min = COLUMN_NAME_WIDTH_MIN},
    {.heading = "PROJECT", .width_min = COLUMN_NAME_WIDTH_MIN},
    {.heading = "TRES", .width_min = COLUMN_NAME_WIDTH_MIN},
    {.heading = "STORED", .is_right_aligned = true},
    {.heading = "RECOMPUTED", .is_right_aligned = true},
};

static void add_number(struct table *t, double number)
{
    char text[NUMBER_TEXT_SIZE];
    table_add(t, (struct str){text, number_format_g17(text, number)});
}

static void write_differences(const struct wire_list *differences, struct output *out)
{
    const struct api_difference *rows = differences->items;
    struct table table;
    table_init(&table, difference_columns, sizeof difference_columns / sizeof *difference_columns);
    for (uint32_t i = 0; i < differences->count && i < ROWS_SHOWN; i++) {
        table_add_text(&table, rows[i].account);
        table_add_text(&table, rows[i].user);
        table_add_text(&table, rows[i].partition);
        table_add_text(&table, rows[i].qos);
        table_add_text(&table, rows[i].project);
        table_add_text(&table, rows[i].tres);
        add_number(&table, rows[i].stored);
        add_number(&table, rows[i].recomputed);
    }
    table_write(&table, true, NULL, out);
    table_release(&table);
    if (differences->count > ROWS_SHOWN)
        buf_format(&out->text, "and %u more; give --json to list all\n", differences->count - ROWS_SHOWN);
}

static void write_result(const struct api_verified *verified, struct output *out)
{
    buf_format(&out->text, "checked %u associations against %llu task records", verified->associations,
               (unsigned long long)verified->tasks);
    if (verified->pruned_tasks > 0)
        buf_format(&out->text, " and the sums of %llu removed ones", (unsigned long long)verified->pruned_tasks);
    buf_add_text(&out->text, ": ");
    if (verified->differences.count == 0) {
        buf_add_text(&out->text, "all agree\n");
        return;
    }
    buf_format(&out->text, "%u differ\n", verified->differences.count);
    write_differences(&verified->differences, out);
    buf_add_text(&out->text,
                 "The stored usage is in force, and nothing was changed. Unless another program has written into the "
                 "database, this is an error of Fairlead: keep a copy for a report ('fairlead backup FILE'). "
                 "'fairlead user modify NAME RawUsage=0' resets the usage of a user, so that it agrees again\n");
}

static int verify_run(struct call *call, struct err *e)
{
    const struct verify_values *values = call->values;
    struct client client = {.fd = -1};
    struct str text;
    struct api_verified verified;
    int status = instance_open(call, &client, e);
    if (status == 0) client_wait_long(&client);
    if (status == 0) status = client_request(&client, "GET", API_VERIFY, str(""), e);
    if (status == 0) status = client_rest(&client, &text, e);
    if (status == 0) status = wire_read_text(&api_verified_shape, text, call->arena, &verified, e);
    if (status == 0 && values->is_json) {
        buf_add_str(&call->out->text, str_trim(text));
        buf_add_char(&call->out->text, '\n');
    } else if (status == 0) {
        write_result(&verified, call->out);
    }
    client_close(&client);
    return status == 0 ? verified.differences.count > 0 : -1;
}

static const struct command_exit verify_exits[] = {
    {.status = 1,
     .meaning =
         "the stored usage of an association, QOS, user or project differs from that of its job records; or failure"},
    {0},
};

const struct command cmd_verify = {
    .name = "verify",
    .group = GROUP_SERVICE,
    .summary = "recompute all usage from the job records and compare",
    .usage = "[--json]",
    .description =
        "The records are those of all jobs and the journal of changes to the rules of charging. Every stored usage that differs "
        "by more than 1e-9 of its value is listed. A row of a job or task with a value that it cannot have is an error, which names "
        "the row.\n\n"
        "Usage is stored per association and per QOS, each in billing, by TRES and of time (wall); for the share tree of the ticket policies, per "
        "user, project and resource.",
    .options = verify_options,
    .values_size = sizeof(struct verify_values),
    .exits = verify_exits,
    .see_also = "share status",
    .run = verify_run,
};
