/* fairlead set: lists the settings of an instance, or changes some of them in one request. */
#include <string.h>

#include "base/quantity.h"
#include "cli/instance_listing.h"
#include "cli/pairs.h"
#include "cli/setting_columns.h"
#include "cli/setting_remarks.h"

static const char *group_of(const struct field_value *row)
{
    static const struct {
        const char *group, *heading;
    } headings[] = {
        {.group = "Fairlead", .heading = "Fairlead's own"},
        {.group = "Slurm", .heading = "as in slurm.conf"},
        {.group = "Grid Engine", .heading = "as in Grid Engine's configuration"},
    };
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        if (strcmp(headings[i].group, row[SETTING_FIELD_GROUP].text) == 0) return headings[i].heading;
    }
    return "others";
}

/* The settings that are listed. */
struct named_settings {
    const enum setting *settings;
    uint32_t count;
};

static bool is_named(const struct field_value *row, const void *context)
{
    const struct named_settings *wanted = context;
    bool found = false;
    for (uint32_t i = 0; i < wanted->count; i++)
        found |= strcmp(settings_table[wanted->settings[i]].name, row[SETTING_FIELD_NAME].text) == 0;
    return found;
}

/* Those that the operands name, or all. */
static int list_settings(struct call *call, struct err *e)
{
    const struct listing_only_values *values = call->values;
    uint32_t count = call->parsed.operand_count;
    enum setting *settings = arena_alloc(call->arena, (count + (size_t)1) * sizeof *settings);
    const struct named_settings wanted = {settings, count};
    struct instance_listing listing = {.columns = &setting_columns, .target = API_SETTINGS, .group_of = group_of};
    for (uint32_t i = 0; i < count; i++) {
        const struct field *f;
        if (setting_find(str(call->parsed.operands[i]), &settings[i], &f, e) != 0) return -1;
    }
    if (count > 0) {
        listing.group_of = NULL;
        listing.filter = is_named;
        listing.filter_context = &wanted;
    }
    return instance_listing_write(call, &listing, &values->listing, NULL, e);
}

static bool has_values(const struct parsed *parsed)
{
    bool found = false;
    for (uint32_t i = 0; i < parsed->operand_count; i++) found |= strchr(parsed->operands[i], '=') != NULL;
    return found;
}

/* " (1-00:00:00)" of an hour or more, " (2G)" of a gibibyte or more: the number has no unit. */
static void add_readable(const struct field *f, const char *text, struct buf *out)
{
    enum { READABLE_S_MIN = 3600, READABLE_MIB_MIN = 1024 };
    struct field_value value;
    char shown[32];
    if (field_parse(f, str(text), NULL, &value, NULL) != 0) return;
    if (field_is_duration(f) && value.number >= READABLE_S_MIN) {
        duration_format(shown, value.number);
        buf_format(out, " (%s)", shown);
    } else if (f->type == FIELD_MEMORY && value.number >= READABLE_MIB_MIN) {
        memory_format(shown, (uint64_t)value.number);
        buf_format(out, " (%s)", shown);
    }
}

/* The setting's own name and the value in force, which can be another one than was typed: a unit, a list to which was
 * added, PriorityUsageResetPeriod=NOW. */
static void write_set(struct call *call, enum setting setting, const char *value)
{
    struct buf line = {0};
    const struct field *f = &settings_table[setting];
    buf_format(&line, "Set %s=%s", f->name, value);
    if (f->type != FIELD_TEXT && strcmp(value, f->special != NULL ? f->special : "") != 0)
        add_readable(f, value, &line);
    output_line(call->out, "%s", line.text);
    buf_release(&line);
}

/* Writes a line for each operand, in their order. */
static int write_values(struct call *call, struct client *client, struct err *e)
{
    const char *values[SETTING_COUNT] = {NULL};
    struct str text;
    int more = client_request(client, "GET", API_SETTINGS, str(""), e);
    if (more != 0) return -1;
    while ((more = client_row(client, &text, e)) > 0) {
        struct field_value row[SETTING_FIELD_COUNT];
        enum setting setting;
        const struct field *unused;
        if (wire_read_record(&setting_fields, text, call->arena, row, e) != 0) return -1;
        if (setting_find(str(row[SETTING_FIELD_NAME].text), &setting, &unused, NULL) == 0)
            values[setting] = row[SETTING_FIELD_VALUE].text;
    }
    for (uint32_t i = 0; more == 0 && i < call->parsed.operand_count; i++) {
        enum setting setting;
        const struct field *unused;
        struct str value, name = str_cut(str(call->parsed.operands[i]), '=', &value);
        if (setting_find(name, &setting, &unused, NULL) == 0 && values[setting] != NULL)
            write_set(call, setting, values[setting]);
        setting_remarks_of_pair(str(call->parsed.operands[i]));
    }
    return more;
}

static int set_run(struct call *call, struct err *e)
{
    if (!has_values(&call->parsed)) return list_settings(call, e);

    struct pairs change = {.hint = "'fairlead set'"};
    struct client client = {.fd = -1};
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < call->parsed.operand_count; i++)
        status = pairs_add(&change, str(call->parsed.operands[i]), e);
    if (status == 0) status = instance_open(call, &client, e);
    if (status == 0) status = pairs_send(&change, &client, "PATCH", API_SETTINGS, e);
    if (status == 0) status = write_values(call, &client, e);
    client_close(&client);
    pairs_release(&change);
    return status;
}

static const struct object_class settings_class = {
    .name = "setting", .plural = "settings", .fields = settings_table, .field_count = SETTING_COUNT};

static const struct command_example set_examples[] = {
    {.line = "fairlead set", .meaning = "list all settings"},
    {.line = "fairlead set halflife_s", .meaning = "show one setting"},
    {.line = "fairlead set halflife_s=86400 ties=slurm", .meaning = "change two settings"},
    {.line = "fairlead set default_mem_mib=2G default_time_s=1:00:00",
     .meaning = "sizes with a suffix, durations as H:M:S"},
    {.line = "fairlead set PriorityType=priority/tickets weight_tickets_functional=1000000",
     .meaning = "another model of priorities"},
    {0},
};

const struct command cmd_set = {
    .name = "set",
    .group = GROUP_SERVICE,
    .summary = "list or change settings",
    .usage = "[OPTIONS] [NAME... | NAME=VALUE...]",
    .description =
        "Settings are stored with the instance's state. A change takes effect at once, for pending jobs too. If one of several "
        "settings is not accepted, none is changed.\n"
        "\n"
        "Settings of Slurm and Grid Engine have the names and values that they have there. Names are not case-sensitive. "
        "PriorityDecayHalfLife, FairTreeTies and sched_interval are other names of halflife_s, ties and schedule_interval. An empty value clears a text. -P and "
        "--json list the accepted values, too; those of texts are described below or in docs/formulas.md.\n"
        "\n"
        "PriorityFlags are any of these, separated by commas:\n"
        "\n"
        "  NO_FAIR_TREE            fair share by the classic formula instead of Fair Tree\n"
        "  DEPTH_OBLIVIOUS         fair share by the depth-oblivious formula\n"
        "  ACCRUE_ALWAYS           age counts from submission, not from the begin time\n"
        "  CALCULATE_RUNNING       priorities of running jobs are computed, too\n"
        "  INCR_ONLY               a job's priority falls only when the job is changed\n"
        "  MAX_TRES                billing is the largest weighted TRES, not the sum\n"
        "  MAX_TRES_GRES           billing is the largest of CPUs, memory and nodes, plus\n"
        "                          all GRES\n"
        "  NO_NORMAL_ALL           the next four together\n"
        "  NO_NORMAL_ASSOC, NO_NORMAL_PART, NO_NORMAL_QOS, NO_NORMAL_TRES\n"
        "                          the term is not divided by its largest value\n"
        "  SMALL_RELATIVE_TO_TIME  job size is CPUs divided by the time limit\n"
        "  FAIR_TREE, TICKET_BASED accepted without effect, as in Slurm\n"
        "\n"
        "docs/formulas.md has every formula.",
    .fields = &settings_class,
    .options = listing_only_options,
    .values_size = sizeof(struct listing_only_values),
    .listed = &setting_columns,
    .operands_max = OPERANDS_ANY,
    .examples = set_examples,
    .see_also = "status",
    .run = set_run,
};
