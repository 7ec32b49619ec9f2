/* The table of commands, in the order of --help. A new command is a file and an entry here, and a name in
 * docs/meson.build for its manual page. */
#include <string.h>

#include "base/ensure.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/job_options.h"

extern const struct command cmd_submit, cmd_queue, cmd_show_job, cmd_log, cmd_wait, cmd_cancel, cmd_hold, cmd_release,
    cmd_requeue, cmd_resubmit, cmd_suspend, cmd_resume, cmd_signal, cmd_update, cmd_history, cmd_check, cmd_efficiency,
    cmd_report, cmd_run, cmd_attach;
extern const struct command cmd_share, cmd_prio, cmd_schedule, cmd_scenario_dump, cmd_account_add, cmd_account_modify,
    cmd_account_delete, cmd_account_show, cmd_user_add, cmd_user_modify, cmd_user_delete, cmd_user_show;
#define OF_KIND(id) cmd_##id##_add, cmd_##id##_modify, cmd_##id##_delete, cmd_##id##_show
extern const struct command OF_KIND(partition), OF_KIND(qos), OF_KIND(project), OF_KIND(department), OF_KIND(resource),
    OF_KIND(host), OF_KIND(group), OF_KIND(pe), OF_KIND(calendar),
    OF_KIND(quota), cmd_host_drain, cmd_host_resume, cmd_partition_drain, cmd_partition_resume;
extern const struct command cmd_places, cmd_policy_check, cmd_quota_usage, cmd_top;
extern const struct command cmd_start, cmd_stop, cmd_status, cmd_whoami, cmd_clock, cmd_set, cmd_history_prune,
    cmd_audit, cmd_backup, cmd_restore, cmd_verify, cmd_move_in;
extern const struct command cmd_help, cmd_manual, cmd_completion;

static const struct option_row common_options[] = {
    {.name = "socket",
     .argument = "PATH",
     .value = TEXT_IN(struct common_values, socket),
     .help = "socket of the instance"},
    {.name = "help", .letter = 'h', .value = FLAG_IN(struct common_values, wants_help), .help = "print this help"},
    {0},
};

void command_option_tables(const struct command *command, struct option_tables *out_tables)
{
    bool has_job_options = command->job_options != JOB_OPTIONS_NONE;
    *out_tables = (struct option_tables){.count = 3};
    out_tables->rows[0] = command->options;
    if (has_job_options) out_tables->rows[1] = job_option_rows(command->job_options == JOB_OPTIONS_UPDATE);
    out_tables->rows[2] = common_options + command->is_local; /* --socket is the first row */
}

/* clang-format off */
const struct command *const commands[] = {
    &cmd_submit, &cmd_run, &cmd_attach, &cmd_queue, &cmd_show_job, &cmd_check, &cmd_log, &cmd_wait,
    &cmd_cancel, &cmd_hold, &cmd_release, &cmd_requeue, &cmd_resubmit, &cmd_suspend, &cmd_resume, &cmd_signal,
    &cmd_update, &cmd_history, &cmd_efficiency,
    &cmd_share, &cmd_report, &cmd_prio, &cmd_schedule, &cmd_scenario_dump, &cmd_policy_check,
    &cmd_account_add, &cmd_account_modify, &cmd_account_delete, &cmd_account_show,
    &cmd_user_add, &cmd_user_modify, &cmd_user_delete, &cmd_user_show,
    &cmd_places,
    &cmd_partition_add, &cmd_partition_modify, &cmd_partition_delete, &cmd_partition_show,
    &cmd_partition_drain, &cmd_partition_resume,
    &cmd_qos_add, &cmd_qos_modify, &cmd_qos_delete, &cmd_qos_show,
    &cmd_project_add, &cmd_project_modify, &cmd_project_delete, &cmd_project_show,
    &cmd_department_add, &cmd_department_modify, &cmd_department_delete, &cmd_department_show,
    &cmd_resource_add, &cmd_resource_modify, &cmd_resource_delete, &cmd_resource_show,
    &cmd_host_add, &cmd_host_modify, &cmd_host_delete, &cmd_host_show, &cmd_host_drain, &cmd_host_resume,
    &cmd_group_add, &cmd_group_modify, &cmd_group_delete, &cmd_group_show,
    &cmd_pe_add, &cmd_pe_modify, &cmd_pe_delete, &cmd_pe_show,
    &cmd_calendar_add, &cmd_calendar_modify, &cmd_calendar_delete, &cmd_calendar_show,
    &cmd_quota_add, &cmd_quota_modify, &cmd_quota_delete, &cmd_quota_show, &cmd_quota_usage,
    &cmd_start, &cmd_stop, &cmd_status, &cmd_top, &cmd_whoami, &cmd_clock, &cmd_set, &cmd_verify,
    &cmd_history_prune, &cmd_audit, &cmd_backup, &cmd_restore, &cmd_move_in,
    &cmd_help, &cmd_manual, &cmd_completion,
    NULL,
};
/* clang-format on */

const char *const command_group_names[GROUP_COUNT] = {
    [GROUP_JOBS] = "Jobs",
    [GROUP_SHARES] = "Shares and accounts",
    [GROUP_POLICY] = "Partitions, QOS, projects, departments, resources and hosts",
    [GROUP_SERVICE] = "The instance",
    [GROUP_HELP] = "Help",
};

const struct command *command_find(const char *name)
{
    for (const struct command *const *c = commands; *c != NULL; c++) {
        if (strcmp((*c)->name, name) == 0) return *c;
    }
    return NULL;
}

int command_unknown(const struct parsed *parsed, struct err *e)
{
    bool has_two = parsed->operand_count > 1;
    ensure(parsed->operand_count > 0);
    return err_set(e, ERR_USAGE, "unknown command '%s%s%s'; see 'fairlead --help'", parsed->operands[0],
                   has_two ? " " : "", has_two ? parsed->operands[1] : "");
}

const struct command *command_of_operands(const struct parsed *parsed)
{
    char name[80];
    size_t length = 0;
    for (uint32_t i = 0; i < parsed->operand_count && length < sizeof name; i++) {
        const char *separator = i > 0 ? " " : "";
        length += text_format(name + length, sizeof name - length, "%s%s", separator, parsed->operands[i]);
    }
    return length < sizeof name ? command_find(name) : NULL;
}
