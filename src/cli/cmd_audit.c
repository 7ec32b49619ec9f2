/* fairlead audit: who has changed what. */
#include "base/text.h"
#include "cli/instance_listing.h"
#include "fields/audit_fields.h"

enum { DEFAULT_LIMIT = 100 };

struct audit_values {
    struct listing_values listing;
    const char *user, *command, *name;
    int64_t since_us, until_us;
    uint64_t limit;
};

static const struct option_row audit_options[] = {
    {.name = "user",
     .letter = 'u',
     .argument = "NAME",
     .value = TEXT_IN(struct audit_values, user),
     .help = "only changes that this user made"},
    {.name = "command",
     .argument = "COMMAND",
     .value = TEXT_IN(struct audit_values, command),
     .help = "only changes by this command, as the column COMMAND has it: 'partition modify'"},
    {.name = "name",
     .argument = "NAME",
     .value = TEXT_IN(struct audit_values, name),
     .help = "only changes of what has this name: a setting, an account, ACCOUNT/USER"},
    {.name = "since",
     .argument = "TIME",
     .value = PAST_TIME_IN(struct audit_values, since_us),
     .help = "only changes made at TIME or later"},
    {.name = "until",
     .argument = "TIME",
     .value = PAST_TIME_IN(struct audit_values, until_us),
     .help = "only changes made before TIME"},
    {.name = "limit",
     .letter = 'n',
     .argument = "COUNT",
     .value = U64_IN(struct audit_values, limit, 0, 4000000000),
     .help = "only the newest COUNT rows; 0: all (100 by default; all with --since)"},
    LISTING_OPTIONS(struct audit_values, listing),
    {0},
};

static void add_number(struct buf *target, const char *name, int64_t value)
{
    char text[32];
    text_format(text, sizeof text, "%lld", (long long)value);
    client_add_query(target, name, text);
}

static int audit_run(struct call *call, struct err *e)
{
    const struct audit_values *values = call->values;
    bool has_limit = options_given(&call->parsed, "limit");
    uint64_t limit = has_limit ? values->limit : values->since_us != 0 ? 0 : DEFAULT_LIMIT;
    struct buf target = {0};
    buf_add_text(&target, API_AUDIT "?order=newest");
    if (values->user) client_add_query(&target, "user", values->user);
    if (values->command) client_add_query(&target, "command", values->command);
    if (values->name) client_add_query(&target, "name", values->name);
    if (values->since_us != 0) add_number(&target, "since_us", values->since_us);
    if (values->until_us != 0) add_number(&target, "until_us", values->until_us);
    if (limit > 0) add_number(&target, "limit", (int64_t)limit);
    bool is_filtered =
        values->user || values->command || values->name || values->since_us != 0 || values->until_us != 0;
    const struct instance_listing listing = {
        .columns = &audit_fields_columns,
        .target = instance_target(call, &target),
        .empty_note = is_filtered ? "no matching changes" : "nothing has been changed yet",
        .is_reversed = true,
    };
    uint32_t count;
    if (instance_listing_write(call, &listing, &values->listing, &count, e) != 0) return -1;
    if (listing_is_table(&values->listing) && !has_limit && limit > 0 && count == limit)
        output_note("only the newest %u rows are listed; run 'fairlead audit --limit 0' to list all", count);
    return 0;
}

static const struct command_example audit_examples[] = {
    {.line = "fairlead audit --since today", .meaning = "what was changed today"},
    {.line = "fairlead audit --command set --name FairShareDampeningFactor",
     .meaning = "who changed a setting, and when"},
    {.line = "fairlead audit -u alice --json", .meaning = "what one user has changed, for a script"},
    {0},
};

const struct command cmd_audit = {
    .name = "audit",
    .group = GROUP_SERVICE,
    .summary = "list what administrators have changed, the newest last",
    .usage = "[OPTIONS]",
    .description =
        "A row is a value that was changed: who did it, by which command, and the values before and after it. Of what was "
        "added there is no value before, of what was deleted none after, and fields at their defaults are left out. Draining "
        "and resuming are changes of a state. NAME is a setting, an account, ACCOUNT/USER for a user in an account, another "
        "object, or jobs: those of other users that an operator has changed. A row with the command start is a change by the "
        "configuration file. Changes are recorded together with their effect, and those of the instance itself, such as resets "
        "by PriorityUsageResetPeriod, are not.",
    .options = audit_options,
    .values_size = sizeof(struct audit_values),
    .listed = &audit_fields_columns,
    .examples = audit_examples,
    .see_also = "set history status",
    .run = audit_run,
};
