/* account add, modify, delete, show: the inner nodes of the association tree. */
#include <string.h>

#include "cli/instance.h"
#include "cli/listing.h"
#include "cli/object.h"

struct account_values {
    const char *parent, *shares, *priority;
};

#define PARENT_OPTION                                                                                 \
    {                                                                                                 \
        "parent", 'p', "ACCOUNT", TEXT_IN(struct account_values, parent), "the account it is part of" \
    }
#define SHARES_OPTION                                                                        \
    {                                                                                        \
        "shares", 's', "COUNT", TEXT_IN(struct account_values, shares),                      \
            "its shares beside its siblings', or 'parent': its members compete one level up" \
    }

static const struct option_row account_options[] = {
    PARENT_OPTION,
    SHARES_OPTION,
    {"priority", 0, "COUNT", TEXT_IN(struct account_values, priority),
     "its part of its jobs' priority (PriorityWeightAssoc), or 'parent': as its parent's"},
    {0},
};

static const char *account_target(struct call *call)
{
    struct buf target = {0};
    buf_add_text(&target, WIRE_ACCOUNTS);
    target_add_segment(&target, call->parsed.operands[0]);
    return instance_target(call, &target);
}

static int account_add_run(struct call *call, struct err *e)
{
    const struct account_values *values = call->values;
    struct wire_account body = {.name = call->parsed.operands[0], .parent = values->parent, .raw_usage = -1};
    struct wire_done reply;
    if (shares_parse(values->shares, &body.shares, e) != 0) return -1;
    if (priority_parse(values->priority, &body.priority, e) != 0) return -1;
    if (instance_ask_once(call, "POST", WIRE_ACCOUNTS, &wire_account_shape, &body, &wire_done_shape, &reply, e) != 0)
        return -1;
    buf_format(&call->out->text, "Added account %s\n", body.name);
    return 0;
}

static int account_modify_run(struct call *call, struct err *e)
{
    const struct account_values *values = call->values;
    struct wire_account body = {.parent = values->parent};
    struct wire_done reply;
    const char *other;
    if (raw_usage_read(call, &body.raw_usage, &other, e) != 0) return -1;
    if (other != NULL)
        return err_set(e, ERR_USAGE, "'%s' is nothing to change of an account; RawUsage=0 and options are", other);
    if (call->parsed.given == 0 && body.raw_usage != 0)
        return err_set(e, ERR_USAGE, "what is to change? --shares, --parent, --priority or RawUsage=0 says");
    if (shares_parse(values->shares, &body.shares, e) != 0) return -1;
    if (priority_parse(values->priority, &body.priority, e) != 0) return -1;
    if (instance_ask_once(call, "PATCH", account_target(call), &wire_account_modify_shape, &body, &wire_done_shape,
                          &reply, e) != 0)
        return -1;
    buf_format(&call->out->text, "Modified account %s\n", call->parsed.operands[0]);
    return 0;
}

static int account_delete_run(struct call *call, struct err *e)
{
    struct wire_done reply;
    if (instance_ask_once(call, "DELETE", account_target(call), NULL, NULL, &wire_done_shape, &reply, e) != 0)
        return -1;
    buf_format(&call->out->text, "Deleted account %s\n", call->parsed.operands[0]);
    return 0;
}

static void cell_name(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_account_row *)row)->name, is_exact);
}

static void cell_parent(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_account_row *)row)->parent, is_exact);
}

static void cell_shares(const void *row, bool is_exact, struct buf *out)
{
    (void)is_exact;
    cell_add_shares(out, ((const struct wire_account_row *)row)->shares);
}

static void cell_priority(const void *row, bool is_exact, struct buf *out)
{
    (void)is_exact;
    cell_add_priority(out, ((const struct wire_account_row *)row)->priority);
}

static void cell_created(const void *row, bool is_exact, struct buf *out)
{
    cell_add_moment(out, ((const struct wire_account_row *)row)->created_us, is_exact);
}

static const struct column account_columns[] = {
    {"ACCOUNT", "name", false, cell_name},       {"PARENT", "parent", false, cell_parent},
    {"SHARES", "shares", true, cell_shares},     {"PRIORITY", "priority", true, cell_priority},
    {"CREATED", "created", false, cell_created},
};

static bool wants_account(const void *row, const void *name)
{
    return strcmp(((const struct wire_account_row *)row)->name, name) == 0;
}

static int account_show_run(struct call *call, struct err *e)
{
    const struct listing_only_values *values = call->values;
    const char *name = call->parsed.operand_count > 0 ? call->parsed.operands[0] : NULL;
    const struct listing listing = {
        .shape = &wire_account_row_shape,
        .columns = account_columns,
        .column_count = sizeof account_columns / sizeof account_columns[0],
        .wants = name ? wants_account : NULL,
        .context = name,
    };
    uint32_t count;
    if (listing_run(call, &listing, &values->listing, WIRE_ACCOUNTS, &count, e) != 0) return -1;
    if (name && count == 0)
        return err_set(e, ERR_NOT_FOUND, "no account '%s'; 'fairlead account show' lists them", name);
    return 0;
}

static const struct command_example add_examples[] = {
    {"fairlead account add physics --shares 50", "an account at the top"},
    {"fairlead account add optics --parent physics --shares 2", "a part of it"},
    {0},
};

const struct command cmd_account_add = {
    .name = "account add",
    .group = GROUP_SHARES,
    .summary = "add an account",
    .usage = "[--parent ACCOUNT] [--shares COUNT|parent] [--priority COUNT|parent] NAME",
    .text =
        "Shares say how much of its parent's part an account is promised beside its siblings: with shares 50, 30 and 20, one "
        "half, three tenths and two tenths. Without --shares it has 1; without --parent it stands at the top, below root.\n\n"
        "In the tickets model (PriorityType=priority/tickets) accounts and users are the share tree, for which "
        "weight_tickets_share is the pool: an account called like a project serves that project's jobs, and a user 'default' "
        "stands for everybody who is not in the tree.",
    .options = account_options,
    .values_size = sizeof(struct account_values),
    .operands_min = 1,
    .operands_max = 1,
    .examples = add_examples,
    .see_also = "user share",
    .run = account_add_run,
};

static const struct command_example modify_examples[] = {
    {"fairlead account modify physics --shares 60", "more for physics, from now on"},
    {"fairlead account modify physics RawUsage=0", "what physics used so far is forgotten"},
    {0},
};

const struct command cmd_account_modify = {
    .name = "account modify",
    .group = GROUP_SHARES,
    .summary = "change an account's shares or usage, or move it",
    .usage = "[--parent ACCOUNT] [--shares COUNT|parent] [--priority COUNT|parent] NAME [RawUsage=0]",
    .text =
        "RawUsage=0 resets the usage of the account and of all accounts and users below it: what they used so far counts no "
        "more, what runs counts from here on. Root is all there is. What the share tree of the ticket policies counts is "
        "users' and projects'; 'fairlead user modify' and 'fairlead project modify' reset that.",
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
    .text = "An account with users, accounts or jobs is not deleted. Its usage goes to its parent.",
    .operands_min = 1,
    .operands_max = 1,
    .see_also = "user",
    .run = account_delete_run,
};

const struct command cmd_account_show = {
    .name = "account show",
    .group = GROUP_SHARES,
    .summary = "list accounts, or one",
    .usage = "[OPTIONS] [NAME]",
    .options = listing_only_options,
    .values_size = sizeof(struct listing_only_values),
    .operands_max = 1,
    .see_also = "share user",
    .run = account_show_run,
};
