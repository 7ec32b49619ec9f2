/* user add, modify, delete, show: users in accounts, the leaves of the association tree. */
#include <string.h>

#include "cli/instance.h"
#include "cli/listing.h"
#include "cli/object.h"

struct user_values {
    const char *account, *shares, *priority;
    bool is_default, is_policy;
};

static const struct option_row user_options[] = {
    {"account", 'A', "ACCOUNT", TEXT_IN(struct user_values, account), "in which account"},
    {"shares", 's', "COUNT", TEXT_IN(struct user_values, shares),
     "shares beside the account's other members, or 'parent': the user competes one level up"},
    {"priority", 0, "COUNT", TEXT_IN(struct user_values, priority),
     "part of the jobs' priority there (PriorityWeightAssoc), or 'parent': as the account's"},
    {"default", 0, NULL, FLAG_IN(struct user_values, is_default), "the account of jobs that do not name one"},
    {0},
};

static const struct option_row delete_options[] = {
    {"account", 'A', "ACCOUNT", TEXT_IN(struct user_values, account), "only from this account"},
    {"policy", 0, NULL, FLAG_IN(struct user_values, is_policy),
     "what the ticket policies give, instead of the user in accounts"},
    {0},
};

static const char *user_target(struct call *call, const char *account)
{
    struct buf target = {0};
    buf_add_text(&target, WIRE_USERS);
    target_add_segment(&target, call->parsed.operands[0]);
    if (account) target_add_query(&target, "account", account);
    return instance_target(call, &target);
}

/* NAME=VALUE behind the name is what the ticket policies give, which is the user's, whatever the account. Options are of
 * the user in an account. One request cannot change both. */
static int check_one_of_both(const struct call *call, struct err *e)
{
    if (call->parsed.given == 0) return 0;
    return err_set(
        e, ERR_USAGE,
        "'%s' is the user's, whatever the account; it goes with no option: change it by a command of its own",
        call->parsed.operands[1]);
}

static int user_add_run(struct call *call, struct err *e)
{
    const struct user_values *values = call->values;
    struct wire_user body = {.name = call->parsed.operands[0],
                             .account = values->account,
                             .raw_usage = -1,
                             .is_default = values->is_default};
    struct wire_done reply;
    if (call->parsed.operand_count > 1)
        return check_one_of_both(call, e) != 0 ? -1 : object_row_add(call, OBJECT_USER, e);
    if (shares_parse(values->shares, &body.shares, e) != 0) return -1;
    if (priority_parse(values->priority, &body.priority, e) != 0) return -1;
    if (instance_ask_once(call, "POST", WIRE_USERS, &wire_user_shape, &body, &wire_done_shape, &reply, e) != 0)
        return -1;
    buf_format(&call->out->text, "Added user %s to account %s\n", body.name, body.account ? body.account : "default");
    return 0;
}

static int user_modify_run(struct call *call, struct err *e)
{
    const struct user_values *values = call->values;
    struct wire_user body = {.is_default = values->is_default};
    struct wire_done reply;
    const char *other;
    if (raw_usage_read(call, &body.raw_usage, &other, e) != 0) return -1;
    if (other != NULL && body.raw_usage == 0)
        return err_set(e, ERR_USAGE,
                       "RawUsage=0 goes with options, not with other fields: change those by a command of their own");
    if (other != NULL) return check_one_of_both(call, e) != 0 ? -1 : object_modify(call, OBJECT_USER, true, e);
    if (values->shares == NULL && values->priority == NULL && !values->is_default && body.raw_usage != 0)
        return err_set(e, ERR_USAGE,
                       "what is to change? --shares, --priority, --default, RawUsage=0 or NAME=VALUE says");
    if (shares_parse(values->shares, &body.shares, e) != 0) return -1;
    if (priority_parse(values->priority, &body.priority, e) != 0) return -1;
    const char *target = user_target(call, values->account);
    if (instance_ask_once(call, "PATCH", target, &wire_user_modify_shape, &body, &wire_done_shape, &reply, e) != 0)
        return -1;
    buf_format(&call->out->text, "Modified user %s\n", call->parsed.operands[0]);
    return 0;
}

static int user_delete_run(struct call *call, struct err *e)
{
    const struct user_values *values = call->values;
    struct wire_done reply;
    if (values->is_policy && values->account)
        return err_set(e, ERR_USAGE, "--policy and --account: one of them is wanted");
    if (values->is_policy) return object_delete(call, OBJECT_USER, e);
    const char *target = user_target(call, values->account);
    if (instance_ask_once(call, "DELETE", target, NULL, NULL, &wire_done_shape, &reply, e) != 0) return -1;
    buf_format(&call->out->text, "Deleted user %s", call->parsed.operands[0]);
    if (values->account) buf_format(&call->out->text, " from account %s", values->account);
    buf_add_char(&call->out->text, '\n');
    return 0;
}

static void cell_name(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_user_row *)row)->name, is_exact);
}

static void cell_account(const void *row, bool is_exact, struct buf *out)
{
    cell_add_text(out, ((const struct wire_user_row *)row)->account, is_exact);
}

static void cell_shares(const void *row, bool is_exact, struct buf *out)
{
    (void)is_exact;
    cell_add_shares(out, ((const struct wire_user_row *)row)->shares);
}

static void cell_default(const void *row, bool is_exact, struct buf *out)
{
    bool is_default = ((const struct wire_user_row *)row)->is_default;
    if (is_exact) {
        buf_add_text(out, is_default ? "1" : "0");
    } else {
        buf_add_text(out, is_default ? "yes" : "-");
    }
}

static void cell_priority(const void *row, bool is_exact, struct buf *out)
{
    (void)is_exact;
    cell_add_priority(out, ((const struct wire_user_row *)row)->priority);
}

static void cell_created(const void *row, bool is_exact, struct buf *out)
{
    cell_add_moment(out, ((const struct wire_user_row *)row)->created_us, is_exact);
}

static const struct column user_columns[] = {
    {"USER", "name", false, cell_name},
    {"ACCOUNT", "account", false, cell_account},
    {"SHARES", "shares", true, cell_shares},
    {"DEFAULT", "default", false, cell_default},
    {"PRIORITY", "priority", true, cell_priority},
    {"CREATED", "created", false, cell_created},
};

struct show_values {
    struct listing_values listing;
    const char *account;
    bool is_policy;
};

static const struct option_row show_options[] = {
    {"account", 'A', "ACCOUNT", TEXT_IN(struct show_values, account), "only this account's"},
    {"policy", 0, NULL, FLAG_IN(struct show_values, is_policy),
     "what the ticket policies give each user, instead of accounts"},
    LISTING_OPTIONS(struct show_values, listing),
    {0},
};

/* What of the rows is wanted; NULL: any. */
struct wanted {
    const char *name, *account;
};

static bool wants_user(const void *row, const void *context)
{
    const struct wire_user_row *user = row;
    const struct wanted *wanted = context;
    return (!wanted->name || strcmp(user->name, wanted->name) == 0) &&
           (!wanted->account || strcmp(user->account, wanted->account) == 0);
}

static int user_show_run(struct call *call, struct err *e)
{
    const struct show_values *values = call->values;
    if (values->is_policy && values->account)
        return err_set(e, ERR_USAGE, "--policy and --account: one of them is wanted");
    if (values->is_policy) return object_show(call, OBJECT_USER, &values->listing, e);
    const struct wanted wanted = {call->parsed.operand_count > 0 ? call->parsed.operands[0] : NULL, values->account};
    const struct listing listing = {
        .shape = &wire_user_row_shape,
        .columns = user_columns,
        .column_count = sizeof user_columns / sizeof user_columns[0],
        .empty = wanted.name      ? NULL
                 : wanted.account ? "no users in that account; 'fairlead user add' adds one"
                                  : "no users; whoever submits a job gets into account 'default'",
        .account = wanted.account,
        .wants = wanted.name || wanted.account ? wants_user : NULL,
        .context = &wanted,
    };
    uint32_t count;
    if (listing_run(call, &listing, &values->listing, WIRE_USERS, &count, e) != 0) return -1;
    if (wanted.name && count == 0)
        return err_set(e, ERR_NOT_FOUND, "no user '%s'; 'fairlead user show' lists them", wanted.name);
    return 0;
}

static const struct command_example add_examples[] = {
    {"fairlead user add alice -A physics --shares 2 --default", "alice's jobs go to physics unless they say -A"},
    {0},
};

const struct command cmd_user_add = {
    .name = "user add",
    .group = GROUP_SHARES,
    .summary = "add a user to an account",
    .usage = "[-A ACCOUNT] [--shares COUNT|parent] [--priority COUNT|parent] [--default] NAME | NAME FIELD=VALUE...",
    .text =
        "A user may be in several accounts; each is an association with shares and usage of its own. Without -A the account is "
        "'default', without --shares it is 1 share.\n\n"
        "With FIELD=VALUE the user is not put into an account, but named for the ticket policies (PriorityType="
        "priority/tickets).",
    .fields = &object_classes[OBJECT_USER],
    .options = user_options,
    .values_size = sizeof(struct user_values),
    .operands_min = 1,
    .operands_max = OPERANDS_ANY,
    .examples = add_examples,
    .see_also = "account share",
    .run = user_add_run,
};

static const struct command_example modify_examples[] = {
    {"fairlead user modify alice -A physics --shares 3", "her shares in one account"},
    {"fairlead user modify alice -A optics --default", "where her jobs go unless they say -A"},
    {"fairlead user modify alice RawUsage=0", "what she used so far is forgotten"},
    {"fairlead user modify alice fshare=100 department=chem", "what the ticket policies give her"},
    {0},
};

const struct command cmd_user_modify = {
    .name = "user modify",
    .group = GROUP_SHARES,
    .summary = "change a user's shares, priority, default or usage",
    .usage =
        "[-A ACCOUNT] [--shares COUNT|parent] [--priority COUNT|parent] [--default] NAME [RawUsage=0] | NAME FIELD=VALUE...",
    .text =
        "Without -A, --shares, --priority and RawUsage=0 change all of the user's associations.\n\n"
        "RawUsage=0 resets usage: what the user used so far counts no more, what runs counts from here on. Without -A that is "
        "also what the share tree of the ticket policies counts, which is the user's, whatever the account.\n\n"
        "FIELD=VALUE is what the ticket policies (PriorityType=priority/tickets) give the user, whatever the account; a user "
        "whom they do not know yet is named by it. 'fairlead user show --policy' lists it.",
    .fields = &object_classes[OBJECT_USER],
    .resets_usage = true,
    .options = user_options,
    .values_size = sizeof(struct user_values),
    .operands_min = 1,
    .operands_max = OPERANDS_ANY,
    .examples = modify_examples,
    .see_also = "share",
    .run = user_modify_run,
};

const struct command cmd_user_delete = {
    .name = "user delete",
    .group = GROUP_SHARES,
    .summary = "remove a user from an account, or from all",
    .usage = "[-A ACCOUNT | --policy] NAME",
    .text = "A user with jobs that wait or run is not removed. The usage goes to the account.",
    .options = delete_options,
    .values_size = sizeof(struct user_values),
    .operands_min = 1,
    .operands_max = 1,
    .see_also = "account",
    .run = user_delete_run,
};

const struct command cmd_user_show = {
    .name = "user show",
    .group = GROUP_SHARES,
    .summary = "list users and their accounts",
    .usage = "[OPTIONS] [NAME]",
    .options = show_options,
    .values_size = sizeof(struct show_values),
    .operands_max = 1,
    .see_also = "share account",
    .run = user_show_run,
};
