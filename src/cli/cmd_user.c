/* user add, modify, delete, show: users in accounts, the leaves of the association tree. */
#include <string.h>

#include "cli/instance_listing.h"
#include "cli/limit_columns.h"
#include "cli/limit_operands.h"
#include "cli/object.h"
#include "fields/share_fields.h"

struct user_values {
    const char *account, *partition;
    struct field_value shares, priority;
    bool has_shares, has_priority, is_default, is_policy;
};

static const struct option_row user_options[] = {
    {.name = "account",
     .letter = 'A',
     .argument = "ACCOUNT",
     .value = TEXT_IN(struct user_values, account),
     .help = "the account"},
    {.name = "partition",
     .argument = "PARTITION",
     .value = TEXT_IN(struct user_values, partition),
     .help = "the association that is only for jobs in this partition"},
    {.name = "shares",
     .letter = 's',
     .argument = "COUNT",
     .value = FIELD_IN(struct user_values, shares, has_shares, &account_fields_shares),
     .help = "shares among the account's members, or 'parent': the user competes at the level of the account itself"},
    {.name = "priority",
     .argument = "COUNT",
     .value = FIELD_IN(struct user_values, priority, has_priority, &account_fields_priority),
     .help = "association term of the jobs' priority (PriorityWeightAssoc), or 'parent': that of the account"},
    {.name = "default",
     .value = FLAG_IN(struct user_values, is_default),
     .help = "make the account the user's default account"},
    {0},
};

static const struct option_row delete_options[] = {
    {.name = "account",
     .letter = 'A',
     .argument = "ACCOUNT",
     .value = TEXT_IN(struct user_values, account),
     .help = "only from this account"},
    {.name = "partition",
     .argument = "PARTITION",
     .value = TEXT_IN(struct user_values, partition),
     .help = "only the association for this partition"},
    {.name = "policy",
     .value = FLAG_IN(struct user_values, is_policy),
     .help = "delete the user from the ticket policies instead of accounts"},
    {0},
};

/* The request body with the values of options and operands. */
static struct api_user body_of(const struct user_values *values, const struct limit_operands *operands)
{
    return (struct api_user){.shares = values->has_shares ? values->shares.number : API_UNSET,
                             .priority = values->has_priority ? values->priority.number : API_UNSET,
                             .raw_usage = operands->raw_usage,
                             .is_default = values->is_default,
                             .limits = operands->limits};
}

/* The partition of --partition, or of the operand Partition=. */
static const char *partition_of(const struct user_values *values, const struct limit_operands *operands)
{
    return values->partition != NULL ? values->partition : operands->partition;
}

static int check_one_partition(const struct user_values *values, const struct limit_operands *operands, struct err *e)
{
    if (values->partition == NULL || operands->partition == NULL) return 0;
    return err_set(e, ERR_USAGE, "--partition and Partition=%s: only one of them is accepted", operands->partition);
}

static const char *user_target(struct call *call, const char *account, const char *partition)
{
    struct buf target = {0};
    buf_add_text(&target, API_USERS);
    client_add_segment(&target, call->parsed.operands[0]);
    if (account) client_add_query(&target, "account", account);
    if (partition) client_add_query(&target, "partition", partition);
    return instance_target(call, &target);
}

/* Fields of the ticket policies are for the user in all accounts; options, limits and RawUsage are for the user in an
 * account. One request cannot change both. other: the operand that is none of the latter. */
static int check_policies_alone(const struct call *call, const struct limit_operands *operands, struct err *e)
{
    const struct wire_pair *limits = operands->limits.items;
    struct str value, name = str_cut(str(operands->other), '=', &value);
    if (value.text == NULL || object_field_find(OBJECT_USER_POLICY, name) == NONE)
        return limit_operands_refuse(call, operands->other, e);
    if (operands->raw_usage == 0)
        return err_set(e, ERR_USAGE,
                       "RawUsage=0 and '%s': only one of them is accepted; change fields by a second command",
                       operands->other);
    if (operands->limits.count > 0)
        return err_set(e, ERR_USAGE,
                       "%s and '%s': only one of them is accepted; limits belong to the user in an account, "
                       "fshare and the like to the ticket policies",
                       limits[0].name, operands->other);
    if (!options_any_given(&call->parsed, user_options) && operands->partition == NULL) return 0;
    return err_set(e, ERR_USAGE, "'%s' and options: only one of them is accepted; change fields by a second command",
                   operands->other);
}

static int user_add_run(struct call *call, struct err *e)
{
    const struct user_values *values = call->values;
    struct limit_operands operands;
    struct api_done reply;
    if (limit_operands_read(call, &operands, e) != 0) return -1;
    if (operands.other != NULL)
        return check_policies_alone(call, &operands, e) != 0 ? -1 : object_run_add(call, OBJECT_USER_POLICY, e);
    if (operands.raw_usage == 0) return limit_operands_refuse(call, "RawUsage=0", e);
    if (check_one_partition(values, &operands, e) != 0) return -1;
    struct api_user body = body_of(values, &operands);
    body.name = call->parsed.operands[0];
    body.account = values->account;
    body.partition = partition_of(values, &operands);
    if (instance_request_once(call, "POST", API_USERS, &api_user_shape, &body, &api_done_shape, &reply, e) != 0)
        return -1;
    output_line(call->out, "Added user %s to account %s%s%s", body.name, body.account ? body.account : "default",
                body.partition ? " for partition " : "", body.partition ? body.partition : "");
    return 0;
}

static int user_modify_run(struct call *call, struct err *e)
{
    const struct user_values *values = call->values;
    struct limit_operands operands;
    struct api_done reply;
    if (limit_operands_read(call, &operands, e) != 0) return -1;
    if (operands.other != NULL)
        return check_policies_alone(call, &operands, e) != 0 ? -1
                                                             : object_run_modify(call, OBJECT_USER_POLICY, true, e);
    if (check_one_partition(values, &operands, e) != 0) return -1;
    struct api_user body = body_of(values, &operands);
    if (!values->has_shares && !values->has_priority && !values->is_default && body.raw_usage != 0 &&
        body.limits.count == 0)
        return err_set(e, ERR_USAGE,
                       "nothing to change: give --shares, --priority, --default, RawUsage=0 or FIELD=VALUE");
    const char *target = user_target(call, values->account, partition_of(values, &operands));
    if (instance_request_once(call, "PATCH", target, &api_user_change_shape, &body, &api_done_shape, &reply, e) != 0)
        return -1;
    output_line(call->out, "Modified user %s%s", call->parsed.operands[0],
                values->account == NULL ? " in all accounts of this user" : "");
    return 0;
}

static struct field_value compute_limits(const struct field_value *row, struct arena *arena)
{
    return limit_columns_value(limit_fields.rows, limit_fields.count, &row[ACCOUNT_USER_FIELD_LIMITS], arena);
}

static void show_limits(const struct field_value *row, struct buf *out)
{
    limit_columns_show_set(limit_fields.rows, limit_fields.count, &row[ACCOUNT_USER_FIELD_LIMITS], out);
}

static const struct column user_columns[] = {
    {.field = ACCOUNT_USER_FIELD_NAME, .heading = "USER", .width_min = 8},
    {.field = ACCOUNT_USER_FIELD_ACCOUNT, .width_min = 8},
    {.field = ACCOUNT_USER_FIELD_PARTITION, .width_min = 8, .is_optional = true},
    {.field = ACCOUNT_USER_FIELD_SHARES},
    {.field = ACCOUNT_USER_FIELD_IS_DEFAULT, .zero_is_absent = true, .rank = 3},
    {.field = ACCOUNT_USER_FIELD_PRIORITY, .rank = 2},
    {.field = ACCOUNT_USER_FIELD_CREATED, .rank = 4},
    LIMIT_COLUMNS(ACCOUNT_USER_FIELD_LIMITS, compute_limits, show_limits),
};
static const struct column_table user_table = {
    .fields = &account_fields_user, .columns = user_columns, .count = sizeof user_columns / sizeof *user_columns};

/* The accounts of a user, "physics, teaching". */
struct user_accounts {
    const char *name;
    struct buf list;
};

/* Notes a row, and lists none: rows of one user and account for several partitions follow each other. context: struct
 * user_accounts. */
static bool note_account(const struct field_value *row, const void *context)
{
    struct user_accounts *u = (struct user_accounts *)(uintptr_t)context;
    const char *account = row[ACCOUNT_USER_FIELD_ACCOUNT].text, *partition = row[ACCOUNT_USER_FIELD_PARTITION].text;
    bool has_partition = partition != NULL && partition[0] != '\0';
    if (strcmp(row[ACCOUNT_USER_FIELD_NAME].text, u->name) != 0) return false;
    buf_format(&u->list, "%s%s%s%s%s", u->list.length > 0 ? ", " : "", account, has_partition ? " (partition " : "",
               has_partition ? partition : "", has_partition ? ")" : "");
    return false;
}

static int list_accounts(struct call *call, struct user_accounts *out, struct err *e)
{
    const struct listing_values form = {.has_no_header = true};
    const struct instance_listing listing = {
        .columns = &user_table, .target = API_USERS, .has_blocks = true, .filter = note_account, .filter_context = out};
    return instance_listing_write(call, &listing, &form, NULL, e);
}

/* accounts: those that the user was in; NULL: -A names the one. */
static void write_deleted(struct call *call, const struct user_values *values, const char *accounts)
{
    bool is_one = values->account != NULL || accounts == NULL || strchr(accounts, ',') == NULL;
    const char *from = values->account != NULL ? values->account : values->partition == NULL ? accounts : NULL;
    output_line(call->out, "Deleted user %s%s%s%s%s", call->parsed.operands[0],
                from == NULL ? ""
                : is_one     ? " from account "
                             : " from accounts ",
                from != NULL ? from : "", values->partition ? " for partition " : "",
                values->partition ? values->partition : "");
}

static int user_delete_run(struct call *call, struct err *e)
{
    const struct user_values *values = call->values;
    struct api_done reply;
    if (values->is_policy && values->account)
        return err_set(e, ERR_USAGE, "--policy and --account: only one of them is accepted");
    if (values->is_policy && values->partition)
        return err_set(e, ERR_USAGE, "--policy and --partition: only one of them is accepted");
    if (values->is_policy) return object_run_delete(call, OBJECT_USER_POLICY, e);
    struct user_accounts accounts = {.name = call->parsed.operands[0]};
    int status = values->account == NULL ? list_accounts(call, &accounts, e) : 0;
    const char *target = user_target(call, values->account, values->partition);
    if (status == 0) status = instance_request_once(call, "DELETE", target, NULL, NULL, &api_done_shape, &reply, e);
    if (status == 0) write_deleted(call, values, accounts.list.text);
    buf_release(&accounts.list);
    return status;
}

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
     .help = "only users in this account"},
    {.name = "policy",
     .value = FLAG_IN(struct show_values, is_policy),
     .help = "list the users of the ticket policies instead of accounts"},
    LISTING_OPTIONS(struct show_values, listing),
    {0},
};

/* NULL: any. */
struct user_filter {
    const char *name, *account;
};

static bool matches_filter(const struct field_value *row, const void *context)
{
    const struct user_filter *filter = context;
    return (!filter->name || strcmp(row[ACCOUNT_USER_FIELD_NAME].text, filter->name) == 0) &&
           (!filter->account || strcmp(row[ACCOUNT_USER_FIELD_ACCOUNT].text, filter->account) == 0);
}

static int user_show_run(struct call *call, struct err *e)
{
    const struct show_values *values = call->values;
    if (values->is_policy && values->account)
        return err_set(e, ERR_USAGE, "--policy and --account: only one of them is accepted");
    if (values->is_policy) return object_run_show(call, OBJECT_USER_POLICY, &values->listing, e);
    const struct user_filter filter = {
        .name = call->parsed.operand_count > 0 ? call->parsed.operands[0] : NULL,
        .account = values->account,
    };
    const struct instance_listing listing = {
        .columns = &user_table,
        .target = API_USERS,
        .empty_note = filter.name      ? NULL
                      : filter.account ? "no users in this account; run 'fairlead user add' to add one"
                                       : "no users; a user's first job adds the user to the account 'default'",
        .account = filter.account,
        .filter = filter.name || filter.account ? matches_filter : NULL,
        .filter_context = &filter,
    };
    uint32_t count;
    if (instance_listing_write(call, &listing, &values->listing, &count, e) != 0) return -1;
    return filter.name && count == 0 ? err_not_found(e, "user", str(filter.name)) : 0;
}

static const struct command_example add_examples[] = {
    {.line = "fairlead user add alice -A physics --shares 2 --default",
     .meaning = "alice with 2 shares in physics, which is her default account"},
    {.line = "fairlead user add alice -A physics --partition gpu GrpTRES=gres/gpu=2",
     .meaning = "her jobs in the partition gpu have shares of their own, and two GPUs together"},
    {.line = "fairlead user add alice fshare=100",
     .meaning = "alice in the ticket policies, with 100 functional shares"},
    {0},
};

const struct command cmd_user_add = {
    .name = "user add",
    .group = GROUP_SHARES,
    .summary = "add a user to an account",
    .usage = "[-A ACCOUNT] [--partition PARTITION] [--shares COUNT|parent] [--priority COUNT|parent] [--default] NAME "
             "[LIMIT=VALUE...] | NAME FIELD=VALUE...",
    .description =
        "A user may be in several accounts; each pair of user and account is an association with its own shares and usage. The "
        "default is the account 'default' and 1 share.\n\n"
        "With --partition the association is only for the user's jobs in that partition, which then have its shares, usage and "
        "limits instead of those of the association for all partitions. A job in several partitions is of the association of "
        "its first one until it starts. Sacctmgr's Partition=PARTITION is accepted, too.\n\n"
        "With one of the fields fshare, oticket, department and deadline the user is added to the ticket policies "
        "(PriorityType=priority/tickets) instead of an account. The other fields below are limits of the user in the account.",
    .fields = &object_classes[OBJECT_USER_POLICY],
    .has_limits = true,
    .options = user_options,
    .values_size = sizeof(struct user_values),
    .operands_min = 1,
    .operands_max = OPERANDS_ANY,
    .examples = add_examples,
    .see_also = "account-add user-show share",
    .run = user_add_run,
};

static const struct command_example modify_examples[] = {
    {.line = "fairlead user modify alice -A physics --shares 3", .meaning = "change her shares in one account"},
    {.line = "fairlead user modify alice -A optics --default", .meaning = "make optics her default account"},
    {.line = "fairlead user modify alice RawUsage=0", .meaning = "reset her usage"},
    {.line = "fairlead user modify alice MaxJobs=4", .meaning = "let four of her jobs run at a time in each account"},
    {.line = "fairlead user modify alice fshare=100 department=chem",
     .meaning = "change her functional shares and her department"},
    {0},
};

const struct command cmd_user_modify = {
    .name = "user modify",
    .group = GROUP_SHARES,
    .summary = "change a user's shares, priority, limits or usage",
    .usage =
        "[-A ACCOUNT] [--partition PARTITION] [--shares COUNT|parent] [--priority COUNT|parent] [--default] NAME [RawUsage=0] "
        "[LIMIT=VALUE...] | NAME FIELD=VALUE...",
    .description =
        "Without -A and --partition, --shares, --priority, limits and RawUsage=0 change all associations of the user; with -A "
        "alone, the one for all partitions; with --partition, those for that partition.\n\n"
        "RawUsage=0 resets the user's usage. Running jobs are charged from the time of the reset. Without both it also resets the "
        "usage that the share tree of the ticket policies counts, which does not depend on the account.\n\n" LIMIT_TEXT
        "\n\n"
        "The fields fshare, oticket, department and deadline change the user in the ticket policies "
        "(PriorityType=priority/tickets), for all accounts. A user that they do not have yet is added. 'fairlead user show "
        "--policy' lists these users.",
    .fields = &object_classes[OBJECT_USER_POLICY],
    .has_limits = true,
    .resets_usage = true,
    .options = user_options,
    .values_size = sizeof(struct user_values),
    .operands_min = 1,
    .operands_max = OPERANDS_ANY,
    .examples = modify_examples,
    .see_also = "user-show share",
    .run = user_modify_run,
};

const struct command cmd_user_delete = {
    .name = "user delete",
    .group = GROUP_SHARES,
    .summary = "delete a user from an account, or from all accounts",
    .usage = "[[-A ACCOUNT] [--partition PARTITION] | --policy] NAME",
    .description =
        "A user with pending or running jobs cannot be deleted. The usage is added to the account.\n\n"
        "Without -A and --partition all associations of the user are deleted; with -A alone, the one for all partitions; with "
        "--partition, those for that partition.",
    .options = delete_options,
    .values_size = sizeof(struct user_values),
    .operands_min = 1,
    .operands_max = 1,
    .see_also = "user-show account-delete",
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
    .see_also = "share account-show",
    .run = user_show_run,
};
