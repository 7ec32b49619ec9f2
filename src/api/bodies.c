/* The shapes: every body of the API that is not a record of a field table. To add a member is one in bodies.h and a row here;
 * writing, reading and the API's description follow. */
#include "api/bodies.h"

#include <stddef.h>

#include "base/array.h"
#include "fields/limits.h"
#include "fields/priority_fields.h"
#include "fields/settings.h"
#include "fields/share_fields.h"

#define ROW(owner, member, json_name, kind, ...)                                                   \
    {                                                                                              \
        .name = (json_name), .type = (kind), .offset = offsetof(struct owner, member), __VA_ARGS__ \
    }
#define MAYBE(owner, member, kind, ...) ROW(owner, member, #member, kind, __VA_ARGS__)
#define MUST(owner, member, kind, ...) ROW(owner, member, #member, kind, .is_required = true, __VA_ARGS__)

#define SHAPE(name_, owner, rows, ...)                                               \
    {                                                                                \
        .name = (name_), .fields = (rows), .size = sizeof(struct owner), __VA_ARGS__ \
    }

#define COUNT32 .min = 0, .max = UINT32_MAX
#define COUNT64 .min = 0, .max = WHOLE_REAL_MAX
#define TIME_US .min = 0, .max = TIME_US_MAX
#define ANY_NUMBER .min = -WHOLE_REAL_MAX, .max = WHOLE_REAL_MAX

/* --- requests ----------------------------------------------------------------------------------------------------- */

static const char *name_in_submission(uint32_t field)
{
    return job_field_is_settable((enum job_field)field, false) ? job_field_at((enum job_field)field)->name : NULL;
}

static const char *name_in_update(uint32_t field)
{
    return job_field_is_settable((enum job_field)field, true) ? job_field_at((enum job_field)field)->name : NULL;
}

static bool is_required_in_submission(uint32_t field)
{
    return field == JOB_FIELD_DIRECTORY || field == JOB_FIELD_COMMAND;
}

#define JOB_VALUES(owner)                                                                                    \
    .table = &job_fields, .values_offset = offsetof(struct owner, job) + offsetof(struct job_values, value), \
    .given_offset = offsetof(struct owner, job) + offsetof(struct job_values, is_given)

static const struct wire_field submit_fields[] = {
    MAYBE(api_submit, script, WIRE_BLOB, .help = "the script's text; absent: the first argument is the program"),
    MAYBE(api_submit, script_name, WIRE_BYTES, .help = "what the user calls the script"),
    MAYBE(api_submit, arguments, WIRE_BYTES_LIST, .help = "of the script; or the program and its arguments"),
    MAYBE(api_submit, environment, WIRE_BYTES_LIST, .help = "entries NAME=value"),
    MAYBE(api_submit, department, WIRE_TEXT, .help = "has to be the submitter's own"),
    {0}};
const struct wire_shape api_submit_shape = SHAPE(
    "Submit", api_submit, submit_fields, .help = "A job to run. What is absent has its default.",
    .table_fields = {JOB_VALUES(api_submit), .name = name_in_submission, .is_required = is_required_in_submission});

static const struct wire_field update_fields[] = {{0}};
const struct wire_shape api_update_shape =
    SHAPE("Update", api_update, update_fields, .help = "What to change of a job. What is absent stays.",
          .table_fields = {JOB_VALUES(api_update), .name = name_in_update});

static const struct wire_field jobs_fields[] = {
    MAYBE(api_jobs, ids, WIRE_TEXTS, .help = "jobs, and tasks of arrays: 5, 6_1"),
    MAYBE(api_jobs, all, WIRE_BOOL, .help = "instead of ids: every job that the caller may change"),
    {0}};
const struct wire_shape api_jobs_shape = SHAPE("Jobs", api_jobs, jobs_fields, .help = "Which jobs: ids, or all.");

#define SHARES(owner)                                                                              \
    MAYBE(owner, shares, WIRE_I64, .help = "its shares among its siblings, or 'parent'", .min = 0, \
          .max = SHARE_COUNT_MAX, .absent = API_UNSET, .special = "parent", .special_number = FIELD_SPECIAL)

#define PRIORITY(owner)                                                                         \
    MAYBE(owner, priority, WIRE_I64, .help = "of its jobs, or 'parent', the default", .min = 0, \
          .max = UINT32_MAX - 2.0, .absent = API_UNSET, .special = "parent", .special_number = FIELD_SPECIAL)

#define RAW_USAGE(owner, words) \
    MAYBE(owner, raw_usage, WIRE_I64, .help = (words), .min = 0, .max = 0, .absent = API_UNSET)

#define DEFAULT_ACCOUNT(owner)                   \
    ROW(owner, is_default, "default", WIRE_BOOL, \
        .help = "make it the account that the user's jobs are charged to when they name none")

static const struct wire_field account_fields_[] = {
    MUST(api_account, name, WIRE_TEXT, .help = "the account's name"),
    MAYBE(api_account, parent, WIRE_TEXT, .help = "the account it is part of; absent: root"),
    SHARES(api_account),
    PRIORITY(api_account),
    {0}};
const struct wire_shape api_account_shape =
    SHAPE("Account", api_account, account_fields_, .help = "An account to add.");

static const struct wire_field account_change_fields[] = {
    MAYBE(api_account, parent, WIRE_TEXT, .help = "the account to move it to"),
    SHARES(api_account),
    PRIORITY(api_account),
    RAW_USAGE(api_account, "0: discard the usage so far of it and of all below it"),
    {0}};
const struct wire_shape api_account_change_shape = SHAPE("AccountChange", api_account, account_change_fields,
                                                         .help = "What to change of an account. What is absent stays.");

static const struct wire_field user_fields[] = {
    MUST(api_user, name, WIRE_TEXT, .help = "the user's name"),
    MAYBE(api_user, account, WIRE_TEXT, .help = "the account to add the user to; absent: default"),
    SHARES(api_user),
    PRIORITY(api_user),
    DEFAULT_ACCOUNT(api_user),
    {0}};
const struct wire_shape api_user_shape = SHAPE("User", api_user, user_fields, .help = "A user to add to an account.");

static const struct wire_field user_change_fields[] = {SHARES(api_user),
                                                       PRIORITY(api_user),
                                                       RAW_USAGE(api_user, "0: discard the user's usage so far"),
                                                       DEFAULT_ACCOUNT(api_user),
                                                       {0}};
const struct wire_shape api_user_change_shape =
    SHAPE("UserChange", api_user, user_change_fields,
          .help = "What to change of a user in an account. What is absent stays.");

#define FORMAT(owner) \
    MAYBE(owner, format, WIRE_CHOICE, .help = "JSON, or lines between |; absent: json", .choices = "json,lines")

static const struct wire_field jobs_query_fields[] = {
    MAYBE(api_jobs_query, which, WIRE_CHOICE, .help = "waiting and running jobs, ended ones, or all; absent: live",
          .choices = "live,ended,all"),
    MAYBE(api_jobs_query, id, WIRE_TEXTS, .help = "only these jobs, separated by commas"),
    MAYBE(api_jobs_query, account, WIRE_TEXT, .help = "only of this account"),
    MAYBE(api_jobs_query, user, WIRE_TEXT, .help = "only of this user"),
    MAYBE(api_jobs_query, state, WIRE_CHOICE, .help = "only in this state", .choices = job_state_names),
    MAYBE(api_jobs_query, since_us, WIRE_I64, .help = "only those that ended at this time or later", .min = 1,
          .max = TIME_US_MAX),
    MAYBE(api_jobs_query, until_us, WIRE_I64, .help = "only those that ended before this time", .min = 1,
          .max = TIME_US_MAX),
    MAYBE(api_jobs_query, order, WIRE_CHOICE, .help = "absent: oldest first", .choices = "oldest,newest"),
    MAYBE(api_jobs_query, limit, WIRE_U32, .help = "maximum number of rows", .min = 1, .max = UINT32_MAX),
    FORMAT(api_jobs_query),
    {0}};
const struct wire_shape api_jobs_query_shape =
    SHAPE("JobsQuery", api_jobs_query, jobs_query_fields, .help = "Which rows of jobs.");

static const struct wire_field shares_query_fields[] = {
    MAYBE(api_shares_query, format, WIRE_CHOICE,
          .help = "JSON, lines between |, or those of 'fairlead share -P'; absent: json", .choices = "json,lines,psv"),
    MAYBE(api_shares_query, account, WIRE_TEXT, .help = "only of this account and what is below it"),
    MAYBE(api_shares_query, user, WIRE_TEXT, .help = "only of this user"),
    MAYBE(api_shares_query, tres, WIRE_BOOL, .help = "with tres_raw; as columns: GrpTRESRaw behind the others"),
    {0}};
const struct wire_shape api_shares_query_shape =
    SHAPE("SharesQuery", api_shares_query, shares_query_fields, .help = "Which associations.");

static const struct wire_field priorities_query_fields[] = {
    FORMAT(api_priorities_query),
    MAYBE(api_priorities_query, job, WIRE_U32, .help = "only of this job", .min = 1, .max = NONE - 1, .absent = NONE),
    {0}};
const struct wire_shape api_priorities_query_shape =
    SHAPE("PrioritiesQuery", api_priorities_query, priorities_query_fields, .help = "Which jobs.");

static const struct wire_field wait_query_fields[] = {
    MAYBE(api_wait_query, timeout_s, WIRE_I64, .help = "answer after this long even if it has not ended; absent: 30",
          .min = 0, .max = API_WAIT_MAX_S, .absent = -1),
    {0}};
const struct wire_shape api_wait_query_shape =
    SHAPE("WaitQuery", api_wait_query, wait_query_fields, .help = "How long to wait.");

static const struct wire_field account_query_fields[] = {
    MAYBE(api_account_query, account, WIRE_TEXT, .help = "only in this account; absent: in all the user is in"), {0}};
const struct wire_shape api_account_query_shape =
    SHAPE("AccountQuery", api_account_query, account_query_fields, .help = "In which account.");

/* --- replies ------------------------------------------------------------------------------------------------------ */

#define REPLY(name_, owner, rows, words) SHAPE(name_, owner, rows, .help = (words), .is_reply = true)

static const struct wire_field error_text_fields[] = {
    MUST(api_error_text, name, WIRE_TEXT, .help = "the kind of error"),
    MUST(api_error_text, message, WIRE_TEXT, .help = "one line for people"),
    MAYBE(api_error_text, subject, WIRE_TEXT, .help = "the kind of thing it is about, as partition; null: none"),
    MAYBE(api_error_text, subject_name, WIRE_TEXT, .help = "which one; null: none"),
    MAYBE(api_error_text, field, WIRE_TEXT, .help = "the field it is about; null: none"),
    MAYBE(api_error_text, value, WIRE_TEXT, .help = "the value that was given; null: none"),
    MAYBE(api_error_text, accepted, WIRE_TEXT, .help = "what is accepted; null: the message says it"),
    MAYBE(api_error_text, reason, WIRE_TEXT,
          .help = "what is wrong, without what it is about; null: the message says it"),
    {0}};
static const struct wire_shape error_text_shape = REPLY("ErrorText", api_error_text, error_text_fields, "Why not.");

static const struct wire_field error_fields[] = {
    MUST(api_error, error, WIRE_OBJECT, .help = "why not", .shape = &error_text_shape), {0}};
const struct wire_shape api_error_shape = REPLY("Error", api_error, error_fields, "A refusal.");

static const struct wire_field submitted_fields[] = {
    MUST(api_submitted, job_id, WIRE_U32, .help = "the new job's id", COUNT32), {0}};
const struct wire_shape api_submitted_shape =
    REPLY("Submitted", api_submitted, submitted_fields, "The job is accepted, and survives a power cut.");

static const struct wire_field count_fields[] = {
    MUST(api_count, count, WIRE_U32, .help = "number of jobs and tasks that were changed", COUNT32), {0}};
const struct wire_shape api_count_shape = REPLY("Count", api_count, count_fields, "It is done.");

static const struct wire_field done_fields[] = {MUST(api_done, ok, WIRE_BOOL, .help = "true"), {0}};
const struct wire_shape api_done_shape = REPLY("Done", api_done, done_fields, "It is done.");

static const struct wire_field host_fields[] = {
    MUST(api_host, name, WIRE_TEXT, .help = "the machine's name"),
    MUST(api_host, cpus, WIRE_U32, .help = "for jobs", COUNT32),
    MUST(api_host, mem_mib, WIRE_U64, .help = "for jobs", COUNT64),
    MUST(api_host, gpus, WIRE_U32, .help = "for jobs", COUNT32),
    MUST(api_host, free_cpus, WIRE_U32, .help = "free now", COUNT32),
    MUST(api_host, free_mem_mib, WIRE_I64, .help = "free now; below 0: the host became smaller", ANY_NUMBER),
    MUST(api_host, free_gpus, WIRE_U32, .help = "free now", COUNT32),
    {0}};
static const struct wire_shape host_shape = REPLY("Host", api_host, host_fields, "The machine.");

static const struct wire_field tasks_fields[] = {
    MUST(api_tasks, pending, WIRE_U64, .help = "that wait", COUNT64),
    MUST(api_tasks, starting, WIRE_U32, .help = "decided, not yet started", COUNT32),
    MUST(api_tasks, running, WIRE_U32, .help = "that run", COUNT32),
    MUST(api_tasks, completing, WIRE_U32, .help = "that are being ended", COUNT32),
    {0}};
static const struct wire_shape tasks_shape = REPLY("Tasks", api_tasks, tasks_fields, "Numbers of tasks.");

static const struct wire_field status_fields[] = {
    MUST(api_status, version, WIRE_TEXT, .help = "of the daemon"),
    MUST(api_status, pid, WIRE_I64, .help = "of the daemon", COUNT64),
    MUST(api_status, uid, WIRE_U32, .help = "user id that the daemon runs as", COUNT32),
    MAYBE(api_status, user, WIRE_TEXT, .help = "the name of that user; null: none"),
    MUST(api_status, state_directory, WIRE_BYTES, .help = "directory of the instance's state"),
    MUST(api_status, socket, WIRE_BYTES, .help = "the socket that the daemon listens on"),
    MUST(api_status, started_us, WIRE_I64, .help = "time of the daemon's start", TIME_US),
    MUST(api_status, now_us, WIRE_I64, .help = "time of the answer", TIME_US),
    MUST(api_status, host, WIRE_OBJECT, .help = "the machine", .shape = &host_shape),
    MUST(api_status, tasks, WIRE_OBJECT, .help = "numbers of tasks", .shape = &tasks_shape),
    MUST(api_status, associations, WIRE_U32, .help = "number of accounts, and users in accounts", COUNT32),
    MUST(api_status, policy, WIRE_TEXT, .help = "the policy in force, in one line"),
    MUST(api_status, model, WIRE_TEXT, .help = "the model of priorities in force, as PriorityType has it"),
    MUST(api_status, algorithm, WIRE_TEXT, .help = "the fair-share algorithm in force"),
    MUST(api_status, settings, WIRE_RECORDS, .help = "every setting", .table = &setting_fields),
    {0}};
const struct wire_shape api_status_shape = REPLY("Status", api_status, status_fields, "The instance at a glance.");

static const struct wire_field difference_fields[] = {
    MAYBE(api_difference, account, WIRE_TEXT, .help = "the account; null: a QOS', or what the share tree counts"),
    MAYBE(api_difference, user, WIRE_TEXT, .help = "the user; null: the account's own, or the project's"),
    MAYBE(api_difference, qos, WIRE_TEXT, .help = "the QOS; null: an association's, or what the share tree counts"),
    MAYBE(api_difference, project, WIRE_TEXT, .help = "of what the share tree counts; null: outside of projects"),
    MAYBE(api_difference, tres, WIRE_TEXT, .help = "the TRES, in its units times seconds; null: billing-seconds"),
    MUST(api_difference, stored, WIRE_DOUBLE, .help = "usage as stored"),
    MUST(api_difference, recomputed, WIRE_DOUBLE, .help = "usage recomputed from the job records"),
    {0}};
const struct wire_shape api_difference_shape =
    REPLY("Difference", api_difference, difference_fields,
          "An association, QOS, user or project whose stored usage differs from that of its jobs.");

static const struct wire_field verified_fields[] = {
    MUST(api_verified, associations, WIRE_U32, .help = "number of associations checked", COUNT32),
    MUST(api_verified, owners, WIRE_U32, .help = "number of users and projects checked by what the share tree counts",
         COUNT32),
    MUST(api_verified, tasks, WIRE_U64, .help = "number of records that they were checked by", COUNT64),
    MUST(api_verified, differences, WIRE_ROWS, .help = "beyond 1e-9 relative", .shape = &api_difference_shape),
    {0}};
const struct wire_shape api_verified_shape = REPLY("Verified", api_verified, verified_fields, "Usage, recomputed.");

/* --- listings ----------------------------------------------------------------------------------------------------- */

static const struct wire_field waited_fields[] = {
    MUST(api_waited, ended, WIRE_BOOL, .help = "whether all of it has ended"),
    MUST(api_waited, jobs, WIRE_RECORDS, .help = "one row a line", .table = &job_fields),
    {0}};
const struct wire_shape api_waited_shape =
    REPLY("Waited", api_waited, waited_fields, "The job has ended, or the time is over.");

#define LISTING(name_, rows_, words)                                                                              \
    {                                                                                                             \
        .name = (name_), .help = (words), .fields = (rows_), .size = sizeof(struct api_listing), .is_reply = true \
    }
#define RECORDS(plural, table_, words)                 \
    {                                                  \
        {.name = (plural),                             \
         .type = WIRE_RECORDS,                         \
         .is_required = true,                          \
         .help = (words),                              \
         .offset = offsetof(struct api_listing, rows), \
         .table = (table_)},                           \
        {                                              \
            0                                          \
        }                                              \
    }

static const struct wire_field job_list[] = RECORDS("jobs", &job_fields, "one row a line");
const struct wire_shape api_job_list_shape = LISTING("JobList", job_list, "Jobs, at one time.");

static const struct wire_field priority_list[] =
    RECORDS("priorities", &priority_fields, "by job; running tasks behind waiting ones");
const struct wire_shape api_priority_list_shape =
    LISTING("PriorityList", priority_list, "Who comes first and why, at one time.");

static const struct wire_field share_list[] =
    RECORDS("shares", &share_fields, "depth first, an account's users before its sub-accounts");
const struct wire_shape api_share_list_shape = LISTING("ShareList", share_list, "The tree, at one time.");

static const struct wire_field account_list[] = RECORDS("accounts", &account_fields, "depth first");
const struct wire_shape api_account_list_shape = LISTING("AccountList", account_list, "Accounts.");

static const struct wire_field user_list[] = RECORDS("users", &account_fields_user, "depth first");
const struct wire_shape api_user_list_shape = LISTING("UserList", user_list, "Users in accounts.");

static const struct wire_field setting_list[] = RECORDS("settings", &setting_fields, "every setting");
const struct wire_shape api_setting_list_shape = LISTING("SettingList", setting_list, "The settings.");

const char *const api_object_paths[OBJECT_KIND_COUNT] = {
    [OBJECT_PARTITION] = API_PARTITIONS,   [OBJECT_QOS] = API_QOS,
    [OBJECT_USER] = API_POLICY_USERS,      [OBJECT_PROJECT] = API_PROJECTS,
    [OBJECT_DEPARTMENT] = API_DEPARTMENTS, [OBJECT_RESOURCE] = API_RESOURCES,
};

#define OBJECT_ROWS(kind, plural) [kind] = RECORDS(plural, &object_classes[kind].record, "one row a line")

static const struct wire_field object_lists[OBJECT_KIND_COUNT][2] = {
    OBJECT_ROWS(OBJECT_PARTITION, "partitions"),
    OBJECT_ROWS(OBJECT_QOS, "qos"),
    OBJECT_ROWS(OBJECT_USER, "users"),
    OBJECT_ROWS(OBJECT_PROJECT, "projects"),
    OBJECT_ROWS(OBJECT_DEPARTMENT, "departments"),
    OBJECT_ROWS(OBJECT_RESOURCE, "resources"),
};

#define OBJECT_LIST(kind, name_, words) [kind] = LISTING(name_, object_lists[kind], words)

const struct wire_shape api_object_lists[OBJECT_KIND_COUNT] = {
    OBJECT_LIST(OBJECT_PARTITION, "PartitionList", "Partitions; the first one is the default."),
    OBJECT_LIST(OBJECT_QOS, "QosList", "Qualities of service."),
    OBJECT_LIST(OBJECT_USER, "PolicyUserList", "Users by what the ticket policies give them."),
    OBJECT_LIST(OBJECT_PROJECT, "ProjectList", "Projects."),
    OBJECT_LIST(OBJECT_DEPARTMENT, "DepartmentList", "Departments."),
    OBJECT_LIST(OBJECT_RESOURCE, "ResourceList", "What jobs can request."),
};
