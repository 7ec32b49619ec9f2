/* account add, modify, delete, show: the inner nodes of the association tree. */
#include <string.h>

#include "cli/instance_listing.h"
#include "cli/limit_columns.h"
#include "cli/limit_operands.h"
#include "fields/share_fields.h"

struct account_values {
    const char *parent;
    struct field_value shares, priority;
    bool has_shares, has_priority;
};

static const struct option_row account_options[] = {
    {.name = "parent",
     .letter = 'p',
     .argument = "ACCOUNT",
     .value = TEXT_IN(struct account_values, parent),
     .help = "the account above it"},
    {.name = "shares",
     .letter = 's',
     .argument = "COUNT",
     .value = FIELD_IN(struct account_values, shares, has_shares, &account_fields_shares),
     .help = "its shares among its siblings, or 'parent': its members compete at the level of the account itself"},
    {.name = "priority",
     .argument = "COUNT",
     .value = FIELD_IN(struct account_values, priority, has_priority, &account_fields_priority),
     .help = "association term of its jobs' priority (PriorityWeightAssoc), or 'parent': that of the account above"},
    {0},
};

/* The request body with the values of options and operands. */
static int make_body(const struct call *call, struct api_account *out_body, struct err *e)
{
    const struct account_values *values = call->values;
    struct limit_operands operands;
    if (limit_operands_read(call, &operands, e) != 0) return -1;
    if (operands.other != NULL) return limit_operands_refuse(call, operands.other, e);
    if (operands.partition != NULL)
        return err_set(e, ERR_USAGE,
                       "Partition=%s: only users have associations of one partition; see 'fairlead user add'",
                       operands.partition);
    *out_body = (struct api_account){.parent = values->parent,
                                     .shares = values->has_shares ? values->shares.number : API_UNSET,
                                     .priority = values->has_priority ? values->priority.number : API_UNSET,
                                     .raw_usage = operands.raw_usage,
                                     .limits = operands.limits};
    return 0;
}

static const char *account_target(struct call *call)
{
    struct buf target = {0};
    buf_add_text(&target, API_ACCOUNTS);
    client_add_segment(&target, call->parsed.operands[0]);
    return instance_target(call, &target);
}

static int account_add_run(struct call *call, struct err *e)
{
    struct api_account body;
    struct api_done reply;
    if (make_body(call, &body, e) != 0) return -1;
    if (body.raw_usage == 0) return err_set(e, ERR_USAGE, "unexpected argument 'RawUsage=0': only 'modify' accepts it");
    body.name = call->parsed.operands[0];
    if (instance_request_once(call, "POST", API_ACCOUNTS, &api_account_shape, &body, &api_done_shape, &reply, e) != 0)
        return -1;
    output_line(call->out, "Added account %s", body.name);
    return 0;
}

static int account_modify_run(struct call *call, struct err *e)
{
    struct api_account body;
    struct api_done reply;
    if (make_body(call, &body, e) != 0) return -1;
    if (!options_any_given(&call->parsed, account_options) && body.raw_usage != 0 && body.limits.count == 0)
        return err_set(e, ERR_USAGE,
                       "nothing to change: give --shares, --parent, --priority, RawUsage=0 or a limit (GrpJobs=10)");
    if (instance_request_once(call, "PATCH", account_target(call), &api_account_change_shape, &body, &api_done_shape,
                              &reply, e) != 0)
        return -1;
    output_line(call->out, "Modified account %s", call->parsed.operands[0]);
    return 0;
}

static int account_delete_run(struct call *call, struct err *e)
{
    struct api_done reply;
    if (instance_request_once(call, "DELETE", account_target(call), NULL, NULL, &api_done_shape, &reply, e) != 0)
        return -1;
    output_line(call->out, "Deleted account %s", call->parsed.operands[0]);
    return 0;
}

static struct field_value compute_limits(const struct field_value *row, struct arena *arena)
{
    return limit_columns_value(limit_fields.rows, limit_fields.count, &row[ACCOUNT_FIELD_LIMITS], arena);
}

static void show_limits(const struct field_value *row, struct buf *out)
{
    limit_columns_show_set(limit_fields.rows, limit_fields.count, &row[ACCOUNT_FIELD_LIMITS], out);
}

static const struct column account_columns[] = {
    {.field = ACCOUNT_FIELD_NAME, .heading = "ACCOUNT", .width_min = 8},
    {.field = ACCOUNT_FIELD_PARENT, .width_min = 8, .rank = 3},
    {.field = ACCOUNT_FIELD_SHARES},
    {.field = ACCOUNT_FIELD_PRIORITY, .rank = 2},
    {.field = ACCOUNT_FIELD_CREATED, .rank = 4},
    LIMIT_COLUMNS(ACCOUNT_FIELD_LIMITS, compute_limits, show_limits),
};
static const struct column_table account_table = {
    .fields = &account_fields, .columns = account_columns, .count = sizeof account_columns / sizeof *account_columns};

static bool has_name(const struct field_value *row, const void *name)
{
    return strcmp(row[ACCOUNT_FIELD_NAME].text, name) == 0;
}

static int account_show_run(struct call *call, struct err *e)
{
    const struct listing_only_values *values = call->values;
    const char *name = call->parsed.operand_count > 0 ? call->parsed.operands[0] : NULL;
    const struct instance_listing listing = {
        .columns = &account_table,
        .target = API_ACCOUNTS,
        .filter = name ? has_name : NULL,
        .filter_context = name,
    };
    uint32_t count;
    if (instance_listing_write(call, &listing, &values->listing, &count, e) != 0) return -1;
    return name && count == 0 ? err_not_found(e, "account", str(name)) : 0;
}

static const struct command_example add_examples[] = {
    {.line = "fairlead account add physics --shares 50", .meaning = "an account below root"},
    {.line = "fairlead account add optics --parent physics --shares 2", .meaning = "an account below physics"},
    {.line = "fairlead account add guests GrpTRES=cpu=8 MaxWall=2:00:00",
     .meaning = "its jobs have at most 8 CPUs together, and two hours each"},
    {0},
};

const struct command cmd_account_add = {
    .name = "account add",
    .group = GROUP_SHARES,
    .summary = "add an account",
    .usage = "[--parent ACCOUNT] [--shares COUNT|parent] [--priority COUNT|parent] NAME [LIMIT=VALUE...]",
    .description =
        "Siblings divide the part of the account above them in proportion to their shares: 50, 30 and 20 shares are 50, 30 and "
        "20 percent. The default is 1 share and an account below root.\n\n"
        "In the tickets model (PriorityType=priority/tickets), accounts and users form the share tree, which distributes "
        "weight_tickets_share tickets. An account with the name of a project is the node of that project's jobs. The user "
        "'default' stands for all users that are not in the tree.\n\n"
        "A limit is one of the fields below.",
    .has_limits = true,
    .options = account_options,
    .values_size = sizeof(struct account_values),
    .operands_min = 1,
    .operands_max = OPERANDS_ANY,
    .examples = add_examples,
    .see_also = "user-add share",
    .run = account_add_run,
};

static const struct command_example modify_examples[] = {
    {.line = "fairlead account modify physics --shares 60", .meaning = "change the shares of physics, at once"},
    {.line = "fairlead account modify physics GrpTRES=cpu=64,mem=-1", .meaning = "limit its CPUs, not its memory"},
    {.line = "fairlead account modify physics QosLevel+=long", .meaning = "allow its jobs the QOS long, too"},
    {.line = "fairlead account modify physics RawUsage=0", .meaning = "reset the usage of physics"},
    {0},
};

const struct command cmd_account_modify = {
    .name = "account modify",
    .group = GROUP_SHARES,
    .summary = "change an account's shares, limits or usage, or move it",
    .usage = "[--parent ACCOUNT] [--shares COUNT|parent] [--priority COUNT|parent] NAME [RawUsage=0] [LIMIT=VALUE...]",
    .description =
        "RawUsage=0 resets the usage of the account and of all accounts and users below it. Running jobs are charged from the "
        "time of the reset. The account root stands for the whole machine.\n\n"
        "The usage that the share tree of the ticket policies counts belongs to users and projects: 'fairlead user modify' and "
        "'fairlead project modify' reset it.\n\n" LIMIT_TEXT,
    .has_limits = true,
    .resets_usage = true,
    .options = account_options,
    .values_size = sizeof(struct account_values),
    .operands_min = 1,
    .operands_max = OPERANDS_ANY,
    .examples = modify_examples,
    .see_also = "share",
    .run = account_modify_run,
};

const struct command cmd_account_delete = {
    .name = "account delete",
    .group = GROUP_SHARES,
    .summary = "delete an empty account",
    .usage = "NAME",
    .description =
        "An account that has users, accounts or jobs cannot be deleted. Its usage is added to the account above.",
    .operands_min = 1,
    .operands_max = 1,
    .see_also = "account-show user-delete",
    .run = account_delete_run,
};

const struct command cmd_account_show = {
    .name = "account show",
    .group = GROUP_SHARES,
    .summary = "list accounts",
    .usage = "[OPTIONS] [NAME]",
    .options = listing_only_options,
    .values_size = sizeof(struct listing_only_values),
    .listed = &account_table,
    .operands_max = 1,
    .see_also = "share user-show",
    .run = account_show_run,
};
