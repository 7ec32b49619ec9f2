#include "base/number.h"
#include "cli/listing.h"

enum { ROWS_SHOWN = 50 };

struct verify_values {
    bool is_json;
};

static const struct option_row verify_options[] = {
    {"json", 0, NULL, FLAG_IN(struct verify_values, is_json), "one JSON object"},
    {0},
};

static void write_differences(const struct wire_list *differences, struct output *out)
{
    static const struct table_column columns[] = {{"ACCOUNT", false},  {"USER", false}, {"QOS", false},
                                                  {"PROJECT", false},  {"TRES", false}, {"STORED", true},
                                                  {"RECOMPUTED", true}};
    struct table table;
    table_init(&table, columns, sizeof columns / sizeof columns[0]);
    for (uint32_t i = 0; i < differences->count && i < ROWS_SHOWN; i++) {
        const struct wire_difference *row = &((const struct wire_difference *)differences->items)[i];
        char number[NUMBER_TEXT_SIZE];
        table_add_text(&table, row->account);
        table_add_text(&table, row->user);
        table_add_text(&table, row->qos);
        table_add_text(&table, row->project);
        table_add_text(&table, row->tres);
        table_add(&table, (struct str){number, number_format_g17(number, row->stored)});
        table_add(&table, (struct str){number, number_format_g17(number, row->recomputed)});
    }
    table_write(&table, true, out);
    table_release(&table);
    if (differences->count > ROWS_SHOWN)
        buf_format(&out->text, "and %u more; --json has all\n", differences->count - ROWS_SHOWN);
}

static int verify_run(struct call *call, struct err *e)
{
    struct client client;
    struct str text;
    struct wire_verified verified;
    if (instance_open(call, &client, e) != 0) return -1;
    int status = client_request(&client, "GET", WIRE_VERIFY, str(""), e);
    if (status == 0) status = client_rest(&client, &text, e);
    if (status == 0) status = wire_read_text(&wire_verified_shape, text, call->arena, &verified, e);
    if (status == 0 && ((const struct verify_values *)call->values)->is_json) {
        buf_add_str(&call->out->text, str_trim(text));
        buf_add_char(&call->out->text, '\n');
    } else if (status == 0) {
        buf_format(&call->out->text, "checked %u associations against %llu task records: ", verified.associations,
                   (unsigned long long)verified.tasks);
        if (verified.differences.count == 0) {
            buf_add_text(&call->out->text, "all agree\n");
        } else {
            buf_format(&call->out->text, "%u differ\n", verified.differences.count);
            write_differences(&verified.differences, call->out);
        }
    }
    client_close(&client);
    return status == 0 ? verified.differences.count > 0 : -1;
}

static const struct command_exit verify_exits[] = {
    {1,
     "the stored usage of some association, QOS, user or project is not what its jobs' records come to; or it failed"},
    {0},
};

const struct command cmd_verify = {
    .name = "verify",
    .group = GROUP_SERVICE,
    .summary = "recompute all usage from the job records and compare",
    .usage = "[--json]",
    .text =
        "Usage is kept as one number per association, one per association and resource, one per QOS, and, for the share tree "
        "of the ticket policies, one per user, project and resource. This command computes them once more, from the records of all jobs that ever ran and the journal of what changed the rules, and lists every "
        "one that differs by more than 1e-9.",
    .options = verify_options,
    .values_size = sizeof(struct verify_values),
    .exits = verify_exits,
    .see_also = "share status",
    .run = verify_run,
};
