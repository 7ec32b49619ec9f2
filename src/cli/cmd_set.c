#include <string.h>

#include "cli/listing.h"
#include "cli/settings_change.h"

static void cell_name(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_setting *)row)->name, is_exact);
}

static void cell_value(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_setting *)row)->value, is_exact);
}

static void cell_standard(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_setting *)row)->standard, is_exact);
}

static void cell_help(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_setting *)row)->help, is_exact);
}

static const struct column set_columns[] = {
    {"SETTING", "name", false, cell_name},
    {"VALUE", "value", true, cell_value},
    {"DEFAULT", "default", true, cell_standard},
    {"MEANING", "help", false, cell_help},
};

static int set_run(struct call *call, struct err *e)
{
    const struct listing listing = {
        .shape = &wire_setting_shape,
        .columns = set_columns,
        .column_count = sizeof set_columns / sizeof set_columns[0],
    };
    const struct listing_only_values *values = call->values;
    if (call->parsed.operand_count == 0) return listing_run(call, &listing, &values->listing, WIRE_SETTINGS, NULL, e);

    struct settings_change change = {0};
    struct client client = {.fd = -1};
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < call->parsed.operand_count; i++)
        status = settings_change_add(&change, str(call->parsed.operands[i]), e);
    if (status == 0) status = instance_open(call, &client, e);
    if (status == 0) status = settings_change_send(&change, &client, e);
    for (uint32_t i = 0; status == 0 && i < call->parsed.operand_count; i++)
        buf_format(&call->out->text, "Set %s\n", call->parsed.operands[i]);
    client_close(&client);
    settings_change_release(&change);
    return status;
}

static const struct command_example set_examples[] = {
    {"fairlead set", "every setting, its value and meaning"},
    {"fairlead set halflife_s=86400 ties=slurm", "two at once"},
    {"fairlead set default_mem_mib=2G default_time_s=1:00:00", "memory and times with their usual suffixes"},
    {0},
};

const struct command cmd_set = {
    .name = "set",
    .group = GROUP_SERVICE,
    .summary = "change settings, or show them",
    .usage = "[OPTIONS] [NAME=VALUE...]",
    .text = "Settings are kept with the state and act at once. When one of several is not acceptable, none is changed.",
    .options = listing_only_options,
    .values_size = sizeof(struct listing_only_values),
    .operands_max = OPERANDS_ANY,
    .examples = set_examples,
    .see_also = "status",
    .run = set_run,
};
