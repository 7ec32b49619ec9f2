#include <string.h>

#include "cli/instance_listing.h"
#include "cli/pairs.h"
#include "fields/settings.h"

/* For people the groups are lines of their own, and what is accepted says --help. */
static const struct column set_columns[] = {
    {.field = SETTING_FIELD_NAME, .heading = "SETTING"},
    {.field = SETTING_FIELD_VALUE, .width_min = 8},
    {.field = SETTING_FIELD_DEFAULT, .width_min = 8, .rank = 1},
    {.field = SETTING_FIELD_HELP, .heading = "MEANING", .width_min = 20, .rank = 2},
    {.field = SETTING_FIELD_GROUP, .is_for_programs = true},
    {.field = SETTING_FIELD_ACCEPTED, .is_for_programs = true},
};
static const struct column_table set_table = {&setting_fields, set_columns, sizeof set_columns / sizeof *set_columns};

static const char *group_of(const struct field_value *row)
{
    static const struct {
        const char *group, *heading;
    } headings[] = {{"Fairlead", "Fairlead's own"}, {"Slurm", "as in slurm.conf"}, {"Grid Engine", "as in sched_conf"}};
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        if (strcmp(headings[i].group, row[SETTING_FIELD_GROUP].text) == 0) return headings[i].heading;
    }
    return "others";
}

static int set_run(struct call *call, struct err *e)
{
    const struct listing_only_values *values = call->values;
    const struct instance_listing listing = {.columns = &set_table, .target = API_SETTINGS, .group = group_of};
    if (call->parsed.operand_count == 0) return instance_listing_run(call, &listing, &values->listing, NULL, e);

    struct pairs change = {.hint = "'fairlead set'"};
    struct client client = {.fd = -1};
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < call->parsed.operand_count; i++)
        status = pairs_add(&change, str(call->parsed.operands[i]), e);
    if (status == 0) status = instance_open(call, &client, e);
    if (status == 0) status = pairs_send(&change, &client, "PATCH", API_SETTINGS, e);
    for (uint32_t i = 0; status == 0 && i < call->parsed.operand_count; i++)
        buf_format(&call->out->text, "Set %s\n", call->parsed.operands[i]);
    client_close(&client);
    pairs_release(&change);
    return status;
}

static const struct object_class settings_class = {
    .name = "setting", .plural = "settings", .fields = settings_table, .field_count = SETTING_COUNT};

static const struct command_example set_examples[] = {
    {"fairlead set", "every setting, its value and meaning"},
    {"fairlead set halflife_s=86400 ties=slurm", "two at once"},
    {"fairlead set default_mem_mib=2G default_time_s=1:00:00", "memory and times with their usual suffixes"},
    {"fairlead set PriorityType=priority/tickets weight_tickets_functional=1000000",
     "another model of priorities, at once"},
    {0},
};

const struct command cmd_set = {
    .name = "set",
    .group = GROUP_SERVICE,
    .summary = "change settings, or show them",
    .usage = "[OPTIONS] [NAME=VALUE...]",
    .text =
        "Settings are kept with the state and act at once, for jobs that wait too. When one of several is not acceptable, none "
        "is changed. Those that Slurm and Grid Engine have bear the names they have there and take the values they take "
        "there; names may be written in capitals or small, and PriorityDecayHalfLife and FairTreeTies mean halflife_s and "
        "ties. An empty value takes a text away. -P and --json say of each what it accepts.\n"
        "\n"
        "PriorityFlags are any of these, by commas:\n"
        "\n"
        "  NO_FAIR_TREE            fair share by the classic formula, not Fair Tree\n"
        "  DEPTH_OBLIVIOUS         fair share by the depth-oblivious formula\n"
        "  ACCRUE_ALWAYS           age counts from the submission, not from the begin\n"
        "  CALCULATE_RUNNING       running jobs keep a priority that changes\n"
        "  INCR_ONLY               a job's priority never falls\n"
        "  MAX_TRES                of CPUs, memory, nodes and GRES a job pays the dearest\n"
        "  MAX_TRES_GRES           the dearest of CPUs, memory and nodes, and all GRES\n"
        "  NO_NORMAL_ALL           the next four together\n"
        "  NO_NORMAL_ASSOC, NO_NORMAL_PART, NO_NORMAL_QOS, NO_NORMAL_TRES\n"
        "                          that term's number itself, not divided by the largest\n"
        "  SMALL_RELATIVE_TO_TIME  size is CPUs by time limit\n"
        "  FAIR_TREE, TICKET_BASED taken and without effect, as in Slurm\n"
        "\n"
        "Every formula is in docs/formulas.md.",
    .fields = &settings_class,
    .options = listing_only_options,
    .values_size = sizeof(struct listing_only_values),
    .listed = &set_table,
    .operands_max = OPERANDS_ANY,
    .examples = set_examples,
    .see_also = "status",
    .run = set_run,
};
