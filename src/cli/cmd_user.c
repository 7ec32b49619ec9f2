/* user add, modify, delete, show: users in accounts, the leaves of the association tree. */
#include <string.h>

#include "cli/instance_listing.h"
#include "cli/object.h"
#include "fields/share_fields.h"

struct user_values {
    const char *account;
    struct field_value shares, priority;
    bool has_shares, has_priority, is_default, is_policy;
};

static const struct option_row user_options[] = {
    {.name = "account",
     .letter = 'A',
     .argument = "ACCOUNT",
     .value = TEXT_IN(struct user_values, account),
     .help = "the account"},
    {.name = "shares",
     .letter = 's',
     .argument = "COUNT",
     .value = FIELD_IN(struct user_values, shares, has_shares, &account_fields_shares),
     .help = "shares among the account's other members, or 'parent': the user competes one level up"},
    {.name = "priority",
     .argument = "COUNT",
     .value = FIELD_IN(struct user_values, priority, has_priority, &account_fields_priority),
     .help = "association term of the jobs' priority there (PriorityWeightAssoc), or 'parent': as the account's"},
    {.name = "default",
     .value = FLAG_IN(struct user_values, is_default),
     .help = "make it the account of jobs that name none"},
    {0},
};

static const struct option_row delete_options[] = {
    {.name = "account",
     .letter = 'A',
     .argument = "ACCOUNT",
     .value = TEXT_IN(struct user_values, account),
     .help = "only from this account"},
    {.name = "policy",
     .value = FLAG_IN(struct user_values, is_policy),
     .help = "what the ticket policies give, instead of the user in accounts"},
    {0},
};

/* What the options say of a user in an account. */
static struct api_user body_of(const struct user_values *values)
{
    return (struct api_user){.shares = values->has_shares ? values->shares.number : API_UNSET,
                             .priority = values->has_priority ? values->priority.number : API_UNSET,
                             .raw_usage = API_UNSET,
                             .is_default = values->is_default};
}

static const char *user_target(struct call *call, const char *account)
{
    struct buf target = {0};
    buf_add_text(&target, API_USERS);
    client_add_segment(&target, call->parsed.operands[0]);
    if (account) client_add_query(&target, "account", account);
    return instance_target(call, &target);
}

/* NAME=VALUE behind the name is what the ticket policies give, which is the user's, whatever the account. Options are of
 * the user in an account. One request cannot change both. */
static int check_one_of_both(const struct call *call, struct err *e)
{
    if (!options_any_given(&call->parsed, user_options)) return 0;
    return err_set(
        e, ERR_USAGE,
        "'%s' is the user's, whatever the account; it goes with no option: change it by a command of its own",
        call->parsed.operands[1]);
}

static int user_add_run(struct call *call, struct err *e)
{
    const struct user_values *values = call->values;
    struct api_user body = body_of(values);
    struct api_done reply;
    if (call->parsed.operand_count > 1)
        return check_one_of_both(call, e) != 0 ? -1 : object_run_add(call, OBJECT_USER, e);
    body.name = call->parsed.operands[0];
    body.account = values->account;
    if (instance_ask_once(call, "POST", API_USERS, &api_user_shape, &body, &api_done_shape, &reply, e) != 0) return -1;
    buf_format(&call->out->text, "Added user %s to account %s\n", body.name, body.account ? body.account : "default");
    return 0;
}

static int user_modify_run(struct call *call, struct err *e)
{
    const struct user_values *values = call->values;
    struct api_user body = body_of(values);
    struct api_done reply;
    const char *other;
    if (object_read_raw_usage(call, &body.raw_usage, &other, e) != 0) return -1;
    if (other != NULL && body.raw_usage == 0)
        return err_set(e, ERR_USAGE,
                       "RawUsage=0 goes with options, not with other fields: change those by a command of their own");
    if (other != NULL) return check_one_of_both(call, e) != 0 ? -1 : object_run_modify(call, OBJECT_USER, true, e);
    if (!values->has_shares && !values->has_priority && !values->is_default && body.raw_usage != 0)
        return err_set(e, ERR_USAGE,
                       "what is to change? --shares, --priority, --default, RawUsage=0 or NAME=VALUE says");
    const char *target = user_target(call, values->account);
    if (instance_ask_once(call, "PATCH", target, &api_user_change_shape, &body, &api_done_shape, &reply, e) != 0)
        return -1;
    buf_format(&call->out->text, "Modified user %s\n", call->parsed.operands[0]);
    return 0;
}

static int user_delete_run(struct call *call, struct err *e)
{
    const struct user_values *values = call->values;
    struct api_done reply;
    if (values->is_policy && values->account)
        return err_set(e, ERR_USAGE, "--policy and --account: only one of them is accepted");
    if (values->is_policy) return object_run_delete(call, OBJECT_USER, e);
    const char *target = user_target(call, values->account);
    if (instance_ask_once(call, "DELETE", target, NULL, NULL, &api_done_shape, &reply, e) != 0) return -1;
    buf_format(&call->out->text, "Deleted user %s", call->parsed.operands[0]);
    if (values->account) buf_format(&call->out->text, " from account %s", values->account);
    buf_add_char(&call->out->text, '\n');
    return 0;
}

static const struct column user_columns[] = {
    {.field = ACCOUNT_USER_FIELD_NAME, .heading = "USER", .width_min = 8},
    {.field = ACCOUNT_USER_FIELD_ACCOUNT, .width_min = 8},
    {.field = ACCOUNT_USER_FIELD_SHARES},
    {.field = ACCOUNT_USER_FIELD_IS_DEFAULT, .zero_is_absent = true, .rank = 3},
    {.field = ACCOUNT_USER_FIELD_PRIORITY, .rank = 2},
    {.field = ACCOUNT_USER_FIELD_CREATED, .rank = 1},
};
static const struct column_table user_table = {&account_fields_user, user_columns,
                                               sizeof user_columns / sizeof *user_columns};

struct show_values {
    struct listing_values listing;
    const char *account;
    bool is_policy;
};

static const struct option_row show_options[] = {
    {.name = "account",
     .letter = 'A',
     .argument = "ACCOUNT",
     .value = TEXT_IN(struct show_values, account),
     .help = "only this account's"},
    {.name = "policy",
     .value = FLAG_IN(struct show_values, is_policy),
     .help = "what the ticket policies give each user, instead of accounts"},
    LISTING_OPTIONS(struct show_values, listing),
    {0},
};

/* What of the rows is wanted; NULL: any. */
struct wanted {
    const char *name, *account;
};

static bool wants_user(const struct field_value *row, const void *context)
{
    const struct wanted *wanted = context;
    return (!wanted->name || strcmp(row[ACCOUNT_USER_FIELD_NAME].text, wanted->name) == 0) &&
           (!wanted->account || strcmp(row[ACCOUNT_USER_FIELD_ACCOUNT].text, wanted->account) == 0);
}

static int user_show_run(struct call *call, struct err *e)
{
    const struct show_values *values = call->values;
    if (values->is_policy && values->account)
        return err_set(e, ERR_USAGE, "--policy and --account: only one of them is accepted");
    if (values->is_policy) return object_run_show(call, OBJECT_USER, &values->listing, e);
    const struct wanted wanted = {call->parsed.operand_count > 0 ? call->parsed.operands[0] : NULL, values->account};
    const struct instance_listing listing = {
        .columns = &user_table,
        .target = API_USERS,
        .empty = wanted.name      ? NULL
                 : wanted.account ? "no users in that account; 'fairlead user add' adds one"
                                  : "no users; whoever submits a job gets into account 'default'",
        .account = wanted.account,
        .wants = wanted.name || wanted.account ? wants_user : NULL,
        .context = &wanted,
    };
    uint32_t count;
    if (instance_listing_run(call, &listing, &values->listing, &count, e) != 0) return -1;
    return wanted.name && count == 0 ? err_not_found(e, "user", str(wanted.name)) : 0;
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
    .listed = &user_table,
    .operands_max = 1,
    .see_also = "share account",
    .run = user_show_run,
};
