/* fairlead whoami: who one is for the instance that answers, and what one may. */
#include <string.h>

#include "cli/instance.h"
#include "cli/listing.h"
#include "fields/permissions.h"
#include "fields/share_fields.h"

struct whoami_values {
    bool is_json, is_parsable;
};

static const struct option_row whoami_options[] = {
    {.name = "json", .value = FLAG_IN(struct whoami_values, is_json), .help = "print one JSON object"},
    {.name = "parsable",
     .letter = 'P',
     .value = FLAG_IN(struct whoami_values, is_parsable),
     .help = "print the permissions, separated by |"},
    {0},
};

static void write_accounts(const struct api_whoami *w, struct output *out)
{
    const struct field_value *user = w->associations.items;
    struct buf text = {0};
    for (uint32_t i = 0; i < w->associations.count; i++, user += ACCOUNT_USER_FIELD_COUNT) {
        const char *partition = user[ACCOUNT_USER_FIELD_PARTITION].text;
        buf_format(&text, "%s%s", i > 0 ? ", " : "", user[ACCOUNT_USER_FIELD_ACCOUNT].text);
        if (partition != NULL) buf_format(&text, " (only in partition %s)", partition);
    }
    output_line(out, "Accounts   %s", text.length > 0 ? text.text : "none yet: the first job adds you to one");
    output_line(out, "Default    %s", w->default_account);
    buf_release(&text);
}

static void write_hidden(const struct api_whoami *w, struct output *out)
{
    const char **words = w->hidden.items;
    struct buf text = {0};
    for (uint32_t i = 0; i < w->hidden.count; i++) buf_format(&text, "%s%s", i > 0 ? ", " : "", words[i]);
    output_line(out, "Hidden     %s%s", text.length > 0 ? text.text : "nothing",
                text.length > 0 ? " of other users (private_data)" : "");
    buf_release(&text);
}

static void write_client(const struct api_whoami *w, struct output *out)
{
    output_line(out, "User       %s (uid %u, gid %u)", w->user, w->uid, w->gid);
    output_line(out, "Role       %s%s%s%s", w->role, w->role_from ? " (" : "", w->role_from ? w->role_from : "",
                w->role_from ? ")" : "");
    write_accounts(w, out);
    write_hidden(w, out);
    output_line(out, "Instance   %s, of %s (uid %u), version %s", w->instance, w->daemon_user ? w->daemon_user : "?",
                w->daemon_uid, w->version);
    output_line(out, "Socket     %s", w->socket);
}

static int write_permissions(const struct api_whoami *w, bool is_parsable, struct output *out, struct err *e)
{
    const struct listing_values form = {.is_parsable = is_parsable};
    const struct field_value *row = w->permissions.items;
    struct listing listing;
    if (listing_begin(&listing, &permission_fields_columns, &form, out, e) != 0) return -1;
    for (uint32_t i = 0; i < w->permissions.count; i++, row += PERMISSION_FIELD_COUNT) listing_add(&listing, row);
    listing_end(&listing);
    listing_release(&listing);
    return 0;
}

static int whoami_run(struct call *call, struct err *e)
{
    const struct whoami_values *values = call->values;
    struct api_whoami whoami;
    if (values->is_json && values->is_parsable)
        return err_set(e, ERR_USAGE, "--json and --parsable exclude each other; give one of them");
    if (values->is_json) return instance_copy(call, API_WHOAMI, e);
    if (instance_request_once(call, "GET", API_WHOAMI, NULL, NULL, &api_whoami_shape, &whoami, e) != 0) return -1;
    if (values->is_parsable) return write_permissions(&whoami, true, call->out, e);
    write_client(&whoami, call->out);
    buf_add_char(&call->out->text, '\n');
    return write_permissions(&whoami, false, call->out, e);
}

static const struct command_example whoami_examples[] = {
    {.line = "fairlead whoami", .meaning = "your role, your accounts and what you may do"},
    {.line = "fairlead whoami --json", .meaning = "the same for a script"},
    {0},
};

const struct command cmd_whoami = {
    .name = "whoami",
    .group = GROUP_SERVICE,
    .summary = "show who you are for the instance, and what you may do",
    .usage = "[--json|-P]",
    .description =
        "The instance knows you by your user id, which the kernel reports; name and groups come from the user database and are kept for "
        "a minute. Your role decides what you may do: members of the group in the setting operator_group are operators, root and members "
        "of the group in administrator_group are administrators, and in a private instance its only user is one. The setting private_data "
        "says what users who are not operators cannot see of others.\n\n"
        "'fairlead help permissions' lists the permissions of each role.",
    .options = whoami_options,
    .values_size = sizeof(struct whoami_values),
    .examples = whoami_examples,
    .see_also = "status audit set",
    .run = whoami_run,
};
