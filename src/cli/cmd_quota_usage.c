/* fairlead quota usage: what running tasks have of resource quotas. */
#include "cli/listing.h"
#include "cli/scenario_source.h"

struct quota_usage_command_values {
    struct listing_values listing;
    const char *file, *user;
};

static const struct option_row quota_usage_options[] = {
    {.name = "file",
     .letter = 'f',
     .argument = "FILE",
     .value = TEXT_IN(struct quota_usage_command_values, file),
     .help = "a scenario instead of the instance; - is standard input"},
    {.name = "user",
     .letter = 'u',
     .argument = "USER",
     .value = TEXT_IN(struct quota_usage_command_values, user),
     .help = "only rules that are for the jobs of a user"},
    LISTING_OPTIONS(struct quota_usage_command_values, listing),
    {0},
};

static int write_usage(struct call *call, const struct quota_usage *usage, struct err *e)
{
    const struct quota_usage_command_values *v = call->values;
    struct listing listing;
    int status = listing_begin(&listing, &quota_fields_columns, &v->listing, call->out, e);
    for (uint32_t i = 0; status == 0 && i < usage->count; i++) listing_add(&listing, usage->items[i].value);
    if (status == 0) listing_end(&listing);
    if (status == 0 && usage->count == 0 && listing_is_table(&v->listing))
        output_note("no running task takes of a quota; run 'fairlead quota show' to list quotas");
    listing_release(&listing);
    return status;
}

static int quota_usage_run(struct call *call, struct err *e)
{
    const struct quota_usage_command_values *v = call->values;
    struct scenario s = {0};
    struct schedule p = {0};
    struct quota_usage usage;
    if (listing_check(&v->listing, e) != 0) return -1;
    int status = scenario_source_read(call, v->file, &s, e);
    if (status == 0) {
        status = scenario_schedule(&s, scenario_source_name(v->file), &p, e);
        call->error_has_position = status != 0;
    }
    if (status == 0) {
        scenario_quota_usage(&p, v->user, call->arena, &usage);
        status = write_usage(call, &usage, e);
    }
    schedule_release(&p);
    scenario_release(&s);
    return status;
}

static const struct command_example quota_usage_examples[] = {
    {.line = "fairlead quota usage", .meaning = "which limits are in use, and how far"},
    {.line = "fairlead quota usage -u ann", .meaning = "only what limits the jobs of ann"},
    {0},
};

const struct command cmd_quota_usage = {
    .name = "quota usage",
    .group = GROUP_POLICY,
    .summary = "list what running tasks have of quotas",
    .usage = "[OPTION...]",
    .description =
        "A row is a limit of a rule: what running tasks have of it together, how much they may have, and whose tasks they are. A "
        "rule with a list in braces has a row for each member whose tasks run. Rules of which no running task takes are not "
        "listed.",
    .options = quota_usage_options,
    .values_size = sizeof(struct quota_usage_command_values),
    .listed = &quota_fields_columns,
    .examples = quota_usage_examples,
    .see_also = "quota-show quota-add queue schedule",
    .run = quota_usage_run,
};
