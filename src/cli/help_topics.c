#include "cli/help_topics.h"

#include <string.h>

#include "base/array.h"
#include "base/quantity.h"
#include "cli/directive_help.h"
#include "cli/field_help.h"
#include "cli/reason_help.h"
#include "fields/limit_fields.h"
#include "fields/objects.h"
#include "fields/pending_reason.h"
#include "fields/permissions.h"
#include "fields/settings.h"
#include "options/time_text.h"
#include "options/usage.h"

static void write_text(const char *text, struct buf *out)
{
    usage_wrap(out, str(text), 0, USAGE_WIDTH);
}

static void write_field(const struct field *f, struct buf *out)
{
    char syntax[FIELD_HELP_BYTES];
    struct buf meaning = {0};
    field_help_syntax(f, syntax);
    field_help_meaning(f, &meaning);
    usage_write_entry(out, syntax, meaning.text, USAGE_OPTION_COLUMN);
    buf_release(&meaning);
}

/* --- limits ------------------------------------------------------------------------------------------------------- */

static const char limits_text[] =
    "Limits of what runs and waits. Keywords are Slurm's; TRES is a list such as cpu=64,mem=8G,gres/gpu=4, and UNLIMITED or -1 "
    "removes a limit. A job that a limit keeps back waits, and its reason names the limit ('fairlead help reasons'). A submission "
    "is refused beyond submit limits, beyond a partition's limits (EnforcePartLimits), and, if its QOS has the flag DenyOnLimit, "
    "beyond any limit that it exceeds by itself. The setting AccountingStorageEnforce says what is enforced.";
static const char accounts_text[] =
    "Of accounts and of users in accounts: 'fairlead account modify NAME LIMIT=VALUE...', 'fairlead user modify NAME -A ACCOUNT "
    "LIMIT=VALUE...'. Grp limits are of all jobs of the account and of those below it; Max limits are of each user, who inherits "
    "those of the accounts above.";
static const char qos_text[] =
    "Of a QOS: 'fairlead qos modify NAME LIMIT=VALUE...'; also of a partition, by its field QOS. A limit that a QOS sets holds "
    "instead of that of accounts and users; with the flag OverPartQOS also instead of that of the partition's QOS.";
static const char partition_text[] = "Of a partition: 'fairlead partition modify NAME FIELD=VALUE...'.";
static const char setting_text_[] = "Of the instance: 'fairlead set NAME=VALUE'.";
static const char quota_text[] =
    "Of users, projects, departments, hosts and queues in any combination: resource quota sets, 'fairlead help quota add'.";

static void write_limits(struct buf *out)
{
    static const uint8_t partition_limits[] = {PARTITION_MAX_TIME, PARTITION_SLOTS, PARTITION_USER_LISTS,
                                               PARTITION_XUSER_LISTS, PARTITION_QOS};
    static const enum setting setting_limits[] = {SET_ENFORCE_PART_LIMITS, SET_MAX_JOBS, SET_MAX_ARRAY_TASKS,
                                                  SET_ENFORCE};
    write_text(limits_text, out);
    buf_add_char(out, '\n');
    write_text(accounts_text, out);
    for (uint32_t i = 0; i < limit_fields.count; i++) write_field(field_at(&limit_fields, i), out);
    buf_add_char(out, '\n');
    write_text(qos_text, out);
    for (uint32_t i = QOS_GRP_JOBS; i < QOS_FIELD_COUNT; i++) write_field(&object_classes[OBJECT_QOS].fields[i], out);
    write_field(&object_classes[OBJECT_QOS].fields[QOS_USAGE_THRESHOLD], out);
    buf_add_char(out, '\n');
    write_text(partition_text, out);
    for (size_t i = 0; i < sizeof partition_limits; i++)
        write_field(&object_classes[OBJECT_PARTITION].fields[partition_limits[i]], out);
    for (uint32_t i = PARTITION_DEFAULT_TIME; i < PARTITION_FIELD_COUNT; i++)
        write_field(&object_classes[OBJECT_PARTITION].fields[i], out);
    buf_add_char(out, '\n');
    write_text(setting_text_, out);
    for (size_t i = 0; i < sizeof setting_limits / sizeof *setting_limits; i++)
        write_field(&settings_table[setting_limits[i]], out);
    buf_add_char(out, '\n');
    write_text(quota_text, out);
}

/* --- reasons ------------------------------------------------------------------------------------------------------ */

static void write_reasons(struct buf *out)
{
    write_text(
        "Why a job is pending: the reasons in 'fairlead queue', with what they mean and what to do. 'fairlead check ID' "
        "says more of one job, 'fairlead help limits' lists the limits.",
        out);
    reason_help_write(out);
}

/* --- times -------------------------------------------------------------------------------------------------------- */

static void write_times(struct buf *out)
{
    write_text("A TIME is one of these; words are not case-sensitive:", out);
    for (const struct time_form *f = time_text_forms; f->form != NULL; f++)
        usage_write_entry(out, f->form, f->meaning, USAGE_OPTION_COLUMN);
    buf_add_char(out, '\n');
    write_text(
        "A DURATION is one of these; no time limit is UNLIMITED. Settings whose unit is not minutes have a number "
        "without a unit in their own.",
        out);
    for (const struct duration_form *f = duration_forms; f->form != NULL; f++)
        usage_write_entry(out, f->form, f->meaning, USAGE_OPTION_COLUMN);
}

static void write_permissions(struct buf *out)
{
    buf_add_text(
        out, "Who may do what. A role has the permissions of the roles above it, too. Roles come from the settings\n"
             "operator_group and administrator_group; root, and the user of a private instance, are administrators.\n"
             "'fairlead whoami' shows those that you have.\n");
    for (int role = 0; role < ROLE_COUNT; role++) {
        buf_format(out, "\n%s\n", permission_roles[role]);
        for (int p = PERMISSION_UNSET + 1; p < PERMISSION_COUNT; p++) {
            if ((int)permissions[p].role == role)
                buf_format(out, "  %-22s%s\n", permissions[p].name, permissions[p].what);
        }
    }
}

const struct help_topic help_topics[] = {
    {.name = "directives", .summary = "options in job scripts: #FAIRLEAD, #SBATCH, #$", .write = directive_help_write},
    {.name = "limits", .summary = "which limits there are, and of what", .write = write_limits},
    {.name = "permissions", .summary = "which role may do what", .write = write_permissions},
    {.name = "reasons", .summary = "why jobs are pending, and what to do", .write = write_reasons},
    {.name = "times", .summary = "how times and durations are written", .write = write_times},
    {0},
};

const struct help_topic *help_topic_find(const char *name)
{
    for (const struct help_topic *t = help_topics; t->name != NULL; t++) {
        if (strcmp(t->name, name) == 0) return t;
    }
    return NULL;
}

/* Whether a limit of an association or a QOS has the name, in any case. */
static bool is_limit(struct str name)
{
    const struct object_class *qos = &object_classes[OBJECT_QOS];
    if (limit_fields_find(&limit_fields, name) != NONE) return true;
    for (uint32_t i = QOS_GRP_JOBS; i < QOS_FIELD_COUNT; i++) {
        if (str_equal_nocase(name, str(qos->fields[i].name))) return true;
    }
    return false;
}

static bool is_reason(struct str name)
{
    for (int i = PENDING_NONE + 1; i < PENDING_REASON_COUNT; i++) {
        if (str_equal_nocase(name, str(pending_reason_name((enum pending_reason)i)))) return true;
    }
    return false;
}

static bool is_setting(struct str name)
{
    for (int i = 0; i < SETTING_COUNT; i++) {
        if (str_equal_nocase(name, str(settings_table[i].name))) return true;
    }
    return false;
}

const char *help_topic_of_name(const char *name, const char **out_kind)
{
    static const struct {
        bool (*has)(struct str name);
        const char *kind, *topic;
    } lists[] = {
        {is_limit, "limit", "limits"}, {is_reason, "pending reason", "reasons"}, {is_setting, "setting", "set"}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (!lists[i].has(str(name))) continue;
        *out_kind = lists[i].kind;
        return lists[i].topic;
    }
    return NULL;
}

const struct help_topic *help_topic_nearest(const char *word)
{
    enum { ERRORS_MAX = 2 };
    for (const struct help_topic *t = help_topics; t->name != NULL; t++) {
        if (str_distance(str(word), str(t->name)) <= ERRORS_MAX) return t;
    }
    return NULL;
}
