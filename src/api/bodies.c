/* The shapes of the API's bodies. A new member is one in bodies.h and a row here; the readers, the writers and the
 * API's description follow from the row. */
#include "api/bodies.h"

#include <stddef.h>

#include "base/array.h"
#include "fields/account_fields.h"
#include "fields/audit_fields.h"
#include "fields/clock_fields.h"
#include "fields/gpu_fields.h"
#include "fields/limit_fields.h"
#include "fields/limits.h"
#include "fields/moved_fields.h"
#include "fields/permissions.h"
#include "fields/place_fields.h"
#include "fields/priority_fields.h"
#include "fields/settings.h"
#include "fields/share_fields.h"
#include "fields/use_fields.h"

#define ROW(struct_name, member, json_name, kind, ...)                                                   \
    {                                                                                                    \
        .name = (json_name), .type = (kind), .offset = offsetof(struct struct_name, member), __VA_ARGS__ \
    }
#define OPTIONAL(struct_name, member, kind, ...) ROW(struct_name, member, #member, kind, __VA_ARGS__)
#define REQUIRED(struct_name, member, kind, ...) \
    ROW(struct_name, member, #member, kind, .is_required = true, __VA_ARGS__)

#define SHAPE(name_, struct_name, rows, ...)                                               \
    {                                                                                      \
        .name = (name_), .fields = (rows), .size = sizeof(struct struct_name), __VA_ARGS__ \
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

/* The server names a job that is given no name. */
static bool is_required_in_submission(uint32_t field)
{
    return job_field_rows[field].is_required && field != JOB_FIELD_NAME;
}

#define JOB_VALUES(struct_name)                                                                                    \
    .table = &job_fields, .values_offset = offsetof(struct struct_name, job) + offsetof(struct job_values, value), \
    .given_offset = offsetof(struct struct_name, job) + offsetof(struct job_values, is_given)

static const struct wire_field submit_fields[] = {
    OPTIONAL(api_submit, script, WIRE_BLOB, .help = "the script's text; absent: the first argument is the program"),
    OPTIONAL(api_submit, script_name, WIRE_BYTES, .help = "the user's name of the script"),
    OPTIONAL(api_submit, arguments, WIRE_BYTES_LIST,
             .help = "the script's arguments, or the program and its arguments"),
    OPTIONAL(api_submit, environment, WIRE_BYTES_LIST, .help = "entries NAME=value"),
    OPTIONAL(api_submit, department, WIRE_TEXT, .help = "the submitter's own department"),
    {0}};
const struct wire_shape api_submit_shape = SHAPE(
    "Submit", api_submit, submit_fields, .help = "A job to run. Absent members have their defaults.",
    .table_fields = {JOB_VALUES(api_submit), .name = name_in_submission, .is_required = is_required_in_submission});

static const struct wire_field submit_query_fields[] = {
    OPTIONAL(api_submit_query, test_only, WIRE_BOOL,
             .help = "submit nothing; answer when and where the job would start (status 200)"),
    {0}};
const struct wire_shape api_submit_query_shape =
    SHAPE("SubmitQuery", api_submit_query, submit_query_fields, .help = "Whether to submit the job.");

static const struct wire_field update_fields[] = {{0}};
const struct wire_shape api_update_shape =
    SHAPE("Update", api_update, update_fields, .help = "Changes of a job. Absent members stay.",
          .table_fields = {JOB_VALUES(api_update), .name = name_in_update});

#define JOB_SELECTION                                                                                              \
    OPTIONAL(api_jobs, ids, WIRE_TEXTS, .help = "ids of jobs (5) and of tasks (6_1)"),                             \
        OPTIONAL(api_jobs, all, WIRE_BOOL, .help = "instead of ids: all jobs that the caller may change"),         \
        OPTIONAL(api_jobs, user, WIRE_TEXT, .help = "with all: only jobs of this user"),                           \
        OPTIONAL(api_jobs, account, WIRE_TEXT, .help = "with all: only jobs of this account"),                     \
        OPTIONAL(api_jobs, partition, WIRE_TEXT, .help = "with all: only jobs that name this partition"),          \
        OPTIONAL(api_jobs, qos, WIRE_TEXT, .help = "with all: only jobs of this QOS"),                             \
        OPTIONAL(api_jobs, name, WIRE_TEXT, .help = "with all: only jobs of this name"),                           \
        OPTIONAL(api_jobs, partial, WIRE_BOOL,                                                                     \
                 .help = "change the other jobs if one is refused, and list it; absent: one refusal refuses all"), \
        OPTIONAL(api_jobs, dry_run, WIRE_BOOL, .help = "change nothing; list the jobs that would be changed")

static const struct wire_field jobs_fields[] = {JOB_SELECTION, {0}};
const struct wire_shape api_jobs_shape = SHAPE("Jobs", api_jobs, jobs_fields, .help = "Jobs, by ids or all.");

static const struct wire_field cancel_fields[] = {
    JOB_SELECTION,
    OPTIONAL(api_jobs, state, WIRE_CHOICE,
             .help = "with all: only tasks that are pending, that have started, or that are suspended",
             .choices = "pending,running,suspended"),
    {0}};
const struct wire_shape api_cancel_shape =
    SHAPE("Cancel", api_jobs, cancel_fields, .help = "Jobs to cancel, by ids or all.");

#define STARTED_STATE                                                                                                \
    OPTIONAL(api_jobs, state, WIRE_CHOICE, .help = "with all: only tasks that have started, or only suspended ones", \
             .choices = "running,suspended")

static const struct wire_field suspend_fields[] = {JOB_SELECTION, STARTED_STATE, {0}};
const struct wire_shape api_suspend_shape =
    SHAPE("Suspend", api_jobs, suspend_fields, .help = "Running or suspended jobs, by ids or all.");

static const struct wire_field signal_fields[] = {
    JOB_SELECTION,
    STARTED_STATE,
    REQUIRED(api_jobs, signal, WIRE_TEXT, .help = "the signal: USR1, SIGUSR1 or 10"),
    OPTIONAL(api_jobs, batch, WIRE_BOOL, .help = "only the first process of each job gets it; absent: all do"),
    {0}};
const struct wire_shape api_signal_shape =
    SHAPE("Signal", api_jobs, signal_fields, .help = "Running jobs, by ids or all, and the signal.");

static const struct wire_field requeue_fields[] = {
    JOB_SELECTION, OPTIONAL(api_jobs, hold, WIRE_BOOL, .help = "the jobs are held then"), {0}};
const struct wire_shape api_requeue_shape =
    SHAPE("Requeue", api_jobs, requeue_fields, .help = "Running or ended jobs by ids, or all running ones.");

#define SHARES(struct_name)                                                                             \
    OPTIONAL(struct_name, shares, WIRE_I64, .help = "shares among the siblings, or 'parent'", .min = 0, \
             .max = SHARE_COUNT_MAX, .absent = API_UNSET, .special = "parent", .special_number = FIELD_SPECIAL)

#define PRIORITY(struct_name)                                                                                  \
    OPTIONAL(struct_name, priority, WIRE_I64, .help = "priority of its jobs, or 'parent' (default)", .min = 0, \
             .max = UINT32_MAX - 2.0, .absent = API_UNSET, .special = "parent", .special_number = FIELD_SPECIAL)

#define RAW_USAGE(struct_name, words) \
    OPTIONAL(struct_name, raw_usage, WIRE_I64, .help = (words), .min = 0, .max = 0, .absent = API_UNSET)

#define DEFAULT_ACCOUNT(struct_name)                   \
    ROW(struct_name, is_default, "default", WIRE_BOOL, \
        .help = "make this the account of the user's jobs that name no account")

static bool is_limit(const char *name)
{
    char sign;
    return limit_fields_find_key(str(name), &sign) != NONE;
}

#define LIMITS(struct_name) \
    .pair_fields = {.table = &limit_fields, .offset = offsetof(struct struct_name, limits), .is_member = is_limit}

static const struct wire_field account_fields_[] = {
    REQUIRED(api_account, name, WIRE_TEXT, .help = "the account's name"),
    OPTIONAL(api_account, parent, WIRE_TEXT, .help = "the parent account; absent: root"),
    SHARES(api_account),
    PRIORITY(api_account),
    {0}};
const struct wire_shape api_account_shape =
    SHAPE("Account", api_account, account_fields_, .help = "An account to add.", LIMITS(api_account));

static const struct wire_field account_change_fields[] = {
    OPTIONAL(api_account, parent, WIRE_TEXT, .help = "the new parent account"),
    SHARES(api_account),
    PRIORITY(api_account),
    RAW_USAGE(api_account, "0: reset the usage of the account and of all accounts and users below it"),
    {0}};
const struct wire_shape api_account_change_shape =
    SHAPE("AccountChange", api_account, account_change_fields, .help = "Changes of an account. Absent members stay.",
          LIMITS(api_account));

static const struct wire_field user_fields[] = {
    REQUIRED(api_user, name, WIRE_TEXT, .help = "the user's name"),
    OPTIONAL(api_user, account, WIRE_TEXT, .help = "the account to add the user to; absent: default"),
    OPTIONAL(api_user, partition, WIRE_TEXT, .help = "only for jobs in this partition; absent: for all partitions"),
    SHARES(api_user),
    PRIORITY(api_user),
    DEFAULT_ACCOUNT(api_user),
    {0}};
const struct wire_shape api_user_shape =
    SHAPE("User", api_user, user_fields, .help = "A user to add to an account.", LIMITS(api_user));

static const struct wire_field user_change_fields[] = {SHARES(api_user),
                                                       PRIORITY(api_user),
                                                       RAW_USAGE(api_user, "0: reset the user's usage"),
                                                       DEFAULT_ACCOUNT(api_user),
                                                       {0}};
const struct wire_shape api_user_change_shape =
    SHAPE("UserChange", api_user, user_change_fields, .help = "Changes of a user in an account. Absent members stay.",
          LIMITS(api_user));

#define FORMAT(struct_name)                                                                                  \
    OPTIONAL(struct_name, format, WIRE_CHOICE, .help = "JSON, or lines with | between values; absent: json", \
             .choices = "json,lines")

static const struct wire_field jobs_query_fields[] = {
    OPTIONAL(api_jobs_query, which, WIRE_CHOICE, .help = "pending and running jobs, ended ones, or all; absent: live",
             .choices = "live,ended,all"),
    OPTIONAL(api_jobs_query, id, WIRE_TEXTS, .help = "only these jobs, separated by commas"),
    OPTIONAL(api_jobs_query, account, WIRE_TEXT, .help = "only jobs of these accounts, separated by commas"),
    OPTIONAL(api_jobs_query, user, WIRE_TEXT, .help = "only jobs of these users, separated by commas"),
    OPTIONAL(api_jobs_query, state, WIRE_CHOICE, .help = "only jobs in this state", .choices = job_state_names),
    OPTIONAL(api_jobs_query, since_us, WIRE_I64, .help = "only jobs that ended at this time or later", .min = 1,
             .max = TIME_US_MAX),
    OPTIONAL(api_jobs_query, until_us, WIRE_I64, .help = "only jobs that ended before this time", .min = 1,
             .max = TIME_US_MAX),
    OPTIONAL(api_jobs_query, order, WIRE_CHOICE, .help = "which jobs come first; absent: oldest",
             .choices = "oldest,newest"),
    OPTIONAL(api_jobs_query, limit, WIRE_U32, .help = "maximum number of rows", .min = 1, .max = UINT32_MAX),
    OPTIONAL(api_jobs_query, start, WIRE_BOOL, .help = "also when and where waiting jobs are expected to start"),
    FORMAT(api_jobs_query),
    {0}};
const struct wire_shape api_jobs_query_shape =
    SHAPE("JobsQuery", api_jobs_query, jobs_query_fields, .help = "Which jobs to list.");

static const struct wire_field audit_query_fields[] = {
    OPTIONAL(api_audit_query, order, WIRE_CHOICE, .help = "which changes come first; absent: newest",
             .choices = "newest"),
    OPTIONAL(api_audit_query, user, WIRE_TEXT, .help = "only changes by this user"),
    OPTIONAL(api_audit_query, command, WIRE_TEXT, .help = "only changes by this command, such as partition modify"),
    OPTIONAL(api_audit_query, name, WIRE_TEXT, .help = "only changes of what has this name"),
    OPTIONAL(api_audit_query, since_us, WIRE_I64, .help = "only changes made at this time or later", .min = 1,
             .max = TIME_US_MAX),
    OPTIONAL(api_audit_query, until_us, WIRE_I64, .help = "only changes made before this time", .min = 1,
             .max = TIME_US_MAX),
    OPTIONAL(api_audit_query, before, WIRE_U64, .help = "only entries before that of this number: the next page",
             .min = 1, .max = WHOLE_REAL_MAX),
    OPTIONAL(api_audit_query, limit, WIRE_U32, .help = "maximum number of rows", .min = 1, .max = UINT32_MAX),
    {0}};
const struct wire_shape api_audit_query_shape =
    SHAPE("AuditQuery", api_audit_query, audit_query_fields, .help = "Which changes to list.");

static const struct wire_field shares_query_fields[] = {
    OPTIONAL(api_shares_query, format, WIRE_CHOICE,
             .help = "JSON, lines with | between values, or lines like those of Slurm's sshare -P; absent: json",
             .choices = "json,lines,psv"),
    OPTIONAL(api_shares_query, account, WIRE_TEXT, .help = "only this account, and the accounts and users below it"),
    OPTIONAL(api_shares_query, user, WIRE_TEXT, .help = "only this user"),
    OPTIONAL(api_shares_query, tres, WIRE_BOOL, .help = "also tres_raw; in psv the last column, GrpTRESRaw"),
    OPTIONAL(api_shares_query, partition, WIRE_BOOL, .help = "in psv also the column Partition, as of sshare -m"),
    {0}};
const struct wire_shape api_shares_query_shape =
    SHAPE("SharesQuery", api_shares_query, shares_query_fields, .help = "Which associations to list.");

static const struct wire_field priorities_query_fields[] = {
    FORMAT(api_priorities_query),
    OPTIONAL(api_priorities_query, job, WIRE_U32, .help = "only this job", .min = 1, .max = NONE - 1, .absent = NONE),
    OPTIONAL(api_priorities_query, task, WIRE_U32, .help = "with job: only this task of an array", .max = NONE - 1,
             .absent = NONE),
    {0}};
const struct wire_shape api_priorities_query_shape =
    SHAPE("PrioritiesQuery", api_priorities_query, priorities_query_fields, .help = "Which jobs to list.");

static const struct wire_field wait_query_fields[] = {
    OPTIONAL(api_wait_query, timeout_s, WIRE_I64,
             .help = "answer after this time even if the job has not ended; absent: 30", .min = 0,
             .max = API_WAIT_MAX_S, .absent = -1),
    {0}};
const struct wire_shape api_wait_query_shape =
    SHAPE("WaitQuery", api_wait_query, wait_query_fields, .help = "How long to wait.");

static const struct wire_field use_query_fields[] = {
    OPTIONAL(api_use_query, by, WIRE_CHOICE, .help = "what a row is; absent: users", .choices = "users,jobs,processes"),
    {0}};
const struct wire_shape api_use_query_shape =
    SHAPE("UseQuery", api_use_query, use_query_fields, .help = "What a row is.");

static const struct wire_field account_query_fields[] = {
    OPTIONAL(api_account_query, account, WIRE_TEXT,
             .help = "only in this account; absent: in all accounts of the user"),
    OPTIONAL(api_account_query, partition, WIRE_TEXT,
             .help = "the association for this partition only; absent: that for all partitions, without account each"),
    {0}};
const struct wire_shape api_account_query_shape =
    SHAPE("AccountQuery", api_account_query, account_query_fields, .help = "Which association of the user.");

/* --- replies ------------------------------------------------------------------------------------------------------ */

#define REPLY(name_, struct_name, rows, words) SHAPE(name_, struct_name, rows, .help = (words), .is_reply = true)

static const struct wire_field error_text_fields[] = {
    REQUIRED(api_error_text, name, WIRE_TEXT, .help = "the kind of error"),
    REQUIRED(api_error_text, message, WIRE_TEXT, .help = "one line for people"),
    REQUIRED(api_error_text, form, WIRE_CHOICE, .choices = API_ERROR_FORMS,
             .help = "how the message is made of the other members; a later version may have more forms"),
    OPTIONAL(api_error_text, where, WIRE_TEXT,
             .help = "a file, or a position in one, with which the message begins; null: none"),
    OPTIONAL(api_error_text, subject, WIRE_TEXT,
             .help = "the kind of thing that the error is about, such as partition; null: none"),
    OPTIONAL(api_error_text, subject_name, WIRE_TEXT, .help = "its name; null: none"),
    OPTIONAL(api_error_text, field, WIRE_TEXT, .help = "the field that the error is about; null: none"),
    OPTIONAL(api_error_text, value, WIRE_TEXT, .help = "the value that was given; null: none"),
    REQUIRED(api_error_text, value_is_number, WIRE_BOOL, .help = "true: the message has the value without quotes"),
    OPTIONAL(api_error_text, accepted, WIRE_TEXT, .help = "what is accepted; null: see message"),
    OPTIONAL(api_error_text, reason, WIRE_TEXT, .help = "what is wrong, without subject and field; null: see message"),
    {0}};
static const struct wire_shape error_text_shape = REPLY("ErrorText", api_error_text, error_text_fields, "An error.");

static const struct wire_field error_fields[] = {
    REQUIRED(api_error, error, WIRE_OBJECT, .help = "the error", .shape = &error_text_shape), {0}};
const struct wire_shape api_error_shape = REPLY("Error", api_error, error_fields, "A refusal.");

/* What a reply says of a job that waits until something changes. */
#define LIMIT_NOTE(body)                                                                                             \
    OPTIONAL(body, limit, WIRE_TEXT,                                                                                 \
             .help =                                                                                                 \
                 "the limit, or the dependencies, that keep it waiting, whatever else runs, until the limit or the " \
                 "job changes; or why it was cancelled at once; null: none"),                                        \
        OPTIONAL(body, limit_field, WIRE_TEXT, .help = "the field of the job that this is about; null: none")

static const struct wire_field submitted_fields[] = {
    REQUIRED(api_submitted, job_id, WIRE_U32, .help = "the new job's id", COUNT32), LIMIT_NOTE(api_submitted), {0}};
const struct wire_shape api_submitted_shape =
    REPLY("Submitted", api_submitted, submitted_fields, "The job is accepted, and survives a power cut.");

static const struct wire_field refused_fields[] = {
    REQUIRED(api_refused, id, WIRE_TEXT, .help = "the job or task"),
    REQUIRED(api_refused, name, WIRE_TEXT, .help = "the kind of error, as of an error"),
    REQUIRED(api_refused, message, WIRE_TEXT, .help = "one line of English"),
    {0}};
static const struct wire_shape refused_shape =
    REPLY("Refused", api_refused, refused_fields, "A job that was not changed.");

static const struct wire_field count_fields[] = {
    REQUIRED(api_count, count, WIRE_U32, .help = "number of jobs and tasks that were changed", COUNT32),
    REQUIRED(api_count, refused, WIRE_ROWS, .help = "with partial: the jobs that were not changed, and why",
             .shape = &refused_shape),
    REQUIRED(api_count, jobs, WIRE_TEXTS, .help = "of a dry run: the ids of those that would be changed"),
    {0}};
const struct wire_shape api_count_shape = REPLY("Count", api_count, count_fields, "The jobs were changed.");

static const struct wire_field done_fields[] = {REQUIRED(api_done, ok, WIRE_BOOL, .help = "true"), {0}};
const struct wire_shape api_done_shape = REPLY("Done", api_done, done_fields, "The request was carried out.");

static const struct wire_field updated_fields[] = {
    REQUIRED(api_updated, ok, WIRE_BOOL, .help = "true"),
    REQUIRED(api_updated, is_time_exempt, WIRE_BOOL,
             .help = "an operator has set the time limit above MaxWall, which does not limit the job then"),
    LIMIT_NOTE(api_updated),
    {0}};
const struct wire_shape api_updated_shape = REPLY("Updated", api_updated, updated_fields, "The job was changed.");

static const struct wire_field host_fields[] = {
    REQUIRED(api_host, name, WIRE_TEXT, .help = "the machine's name"),
    REQUIRED(api_host, cpus, WIRE_U32, .help = "CPUs for jobs", COUNT32),
    REQUIRED(api_host, mem_mib, WIRE_U64, .help = "memory for jobs, in MiB", COUNT64),
    REQUIRED(api_host, gpus, WIRE_U32, .help = "GPUs for jobs", COUNT32),
    REQUIRED(api_host, free_cpus, WIRE_U32, .help = "free CPUs", COUNT32),
    REQUIRED(api_host, free_mem_mib, WIRE_I64,
             .help = "free memory, in MiB; below 0: the host shrank under running jobs", ANY_NUMBER),
    REQUIRED(api_host, free_gpus, WIRE_U32, .help = "free GPUs", COUNT32),
    REQUIRED(api_host, state, WIRE_TEXT, .help = "UP, or DRAIN or DOWN: nothing new starts"),
    {0}};
static const struct wire_shape host_shape = REPLY("Host", api_host, host_fields, "The machine.");

static const struct wire_field clock_state_fields[] = {
    REQUIRED(api_clock, now_us, WIRE_I64, .help = "time of the instance", TIME_US),
    REQUIRED(api_clock, wall_us, WIRE_I64, .help = "what the wall clock of the machine shows", ANY_NUMBER),
    REQUIRED(api_clock, started_us, WIRE_I64, .help = "time of the daemon's start", TIME_US),
    REQUIRED(
        api_clock, is_followed, WIRE_BOOL,
        .help = "the instance follows the wall clock; false: that shows a time that cannot be, or the time is virtual"),
    REQUIRED(api_clock, is_virtual, WIRE_BOOL, .help = "the cluster is pretended, and has a time of its own"),
    REQUIRED(api_clock, has_gap, WIRE_BOOL,
             .help = "a gap after a reboot is not counted, because the clock made it negative or longer than 30 days"),
    REQUIRED(api_clock, gap_s, WIRE_I64, .help = "its length, as the clock shows it; 0: there is none", ANY_NUMBER),
    REQUIRED(api_clock, gap_from_us, WIRE_I64, .help = "its beginning, as shifted; 0: there is none", TIME_US),
    REQUIRED(api_clock, events, WIRE_RECORDS, .help = "what happened to the clock", .table = &clock_fields),
    {0}};
const struct wire_shape api_clock_shape =
    REPLY("Clock", api_clock, clock_state_fields, "The time of the instance, and what happened to the clock.");

static const struct wire_field gap_fields[] = {
    REQUIRED(api_gap, gap, WIRE_CHOICE, .choices = "count,discard",
             .help = "count: the machine was off for that long; discard: the gap is never counted"),
    {0}};
const struct wire_shape api_gap_shape = SHAPE("Gap", api_gap, gap_fields, .help = "What a gap after a reboot is.");

static const struct wire_field hosts_fields[] = {
    REQUIRED(api_hosts, count, WIRE_U32, .help = "hosts on which jobs can run", COUNT32),
    REQUIRED(api_hosts, down, WIRE_U32, .help = "those of them that are down", COUNT32),
    REQUIRED(api_hosts, cpus, WIRE_U64, .help = "their CPUs", COUNT64),
    REQUIRED(api_hosts, free_cpus, WIRE_U64, .help = "CPUs without a job on those that are not down", COUNT64),
    {0}};
static const struct wire_shape hosts_shape =
    REPLY("Hosts", api_hosts, hosts_fields, "All hosts on which jobs can run.");

static const struct wire_field enforcement_fields[] = {
    REQUIRED(api_enforcement, resource, WIRE_TEXT,
             .help = "memory, CPUs, GPUs, kill (the end of all its processes) or outside jobs"),
    REQUIRED(api_enforcement, mechanism, WIRE_TEXT, .help = "what keeps jobs to what they asked for; none"),
    OPTIONAL(api_enforcement, gap, WIRE_TEXT, .help = "what that does not prevent; null: nothing that is known"),
    {0}};
const struct wire_shape api_enforcement_shape =
    REPLY("Enforcement", api_enforcement, enforcement_fields, "What keeps jobs to what they asked for.");

static const struct wire_field tasks_fields[] = {
    REQUIRED(api_tasks, pending, WIRE_U64, .help = "tasks that wait", COUNT64),
    REQUIRED(api_tasks, starting, WIRE_U32, .help = "tasks that are being started", COUNT32),
    REQUIRED(api_tasks, running, WIRE_U32, .help = "tasks that run", COUNT32),
    REQUIRED(api_tasks, suspended, WIRE_U32, .help = "suspended tasks", COUNT32),
    REQUIRED(api_tasks, completing, WIRE_U32, .help = "tasks that are being ended", COUNT32),
    {0}};
static const struct wire_shape tasks_shape = REPLY("Tasks", api_tasks, tasks_fields, "Numbers of tasks.");

static const struct wire_field status_fields[] = {
    REQUIRED(api_status, version, WIRE_TEXT, .help = "version of the daemon"),
    REQUIRED(api_status, pid, WIRE_I64, .help = "process id of the daemon", COUNT64),
    REQUIRED(api_status, uid, WIRE_U32, .help = "user id that the daemon runs as", COUNT32),
    OPTIONAL(api_status, user, WIRE_TEXT, .help = "the name of that user; null: none"),
    OPTIONAL(api_status, serves_all, WIRE_BOOL,
             .help = "all users of the machine are served; absent or false: that user only"),
    REQUIRED(api_status, state_directory, WIRE_BYTES, .help = "the state directory of the instance"),
    REQUIRED(api_status, socket, WIRE_BYTES, .help = "the socket that the daemon listens on"),
    REQUIRED(api_status, started_us, WIRE_I64, .help = "time of the daemon's start", TIME_US),
    REQUIRED(api_status, now_us, WIRE_I64, .help = "time of the answer", TIME_US),
    OPTIONAL(api_status, pretend, WIRE_BYTES,
             .help = "the document of a pretend instance, whose jobs run nowhere; null: jobs are real"),
    REQUIRED(api_status, speed, WIRE_U32, .help = "seconds of its time in a second; 1 if jobs are real", COUNT32),
    REQUIRED(api_status, host, WIRE_OBJECT, .help = "the machine", .shape = &host_shape),
    REQUIRED(api_status, hosts, WIRE_OBJECT, .help = "all hosts on which jobs can run", .shape = &hosts_shape),
    REQUIRED(api_status, tasks, WIRE_OBJECT, .help = "numbers of tasks", .shape = &tasks_shape),
    REQUIRED(api_status, associations, WIRE_U32, .help = "number of accounts and of users in accounts", COUNT32),
    REQUIRED(api_status, policy, WIRE_TEXT, .help = "the policy in force, in one line"),
    REQUIRED(api_status, model, WIRE_TEXT, .help = "the priority model in force, as in PriorityType"),
    REQUIRED(api_status, algorithm, WIRE_TEXT, .help = "the fair-share algorithm in force"),
    REQUIRED(api_status, default_partition, WIRE_TEXT, .help = "the partition of jobs that name none"),
    OPTIONAL(api_status, gpus, WIRE_TEXT,
             .help = "what is wrong with GPUs, or with the libraries that show them; null: nothing"),
    OPTIONAL(api_status, load_sensors, WIRE_TEXT,
             .help = "which load sensors fail, and why: /opt/scratch: ended; null: none"),
    OPTIONAL(api_status, launch_failure, WIRE_TEXT,
             .help = "why the machine can start no job at present; jobs wait, and one is tried again; null: it can"),
    REQUIRED(api_status, launch_retry_us, WIRE_I64,
             .help = "time of the next try; 0: one is under way, or none is needed", TIME_US),
    OPTIONAL(api_status, write_failure, WIRE_TEXT,
             .help = "why nothing can be written to the database at present; changes are refused, and the ends of jobs "
                     "are recorded once it can be; null: it can"),
    OPTIONAL(api_status, launcher_failure, WIRE_TEXT,
             .help = "why no launcher can be reached at present; running jobs go on, and none starts; null: one can"),
    OPTIONAL(api_status, terminals, WIRE_TEXT,
             .help = "the directory with the sockets of jobs with a terminal, JOB.tty; null: no job has one"),
    OPTIONAL(
        api_status, recovery, WIRE_TEXT,
        .help = "which commits of the database the daemon found missing when it started, and what follows; null: none"),
    OPTIONAL(api_status, outside_jobs, WIRE_TEXT,
             .help = "who uses the machine outside jobs above the threshold; null: outside_jobs is ignore"),
    OPTIONAL(api_status, last_recovery, WIRE_TEXT,
             .help = "the same of the last start that found any, for a week; null: none has"),
    REQUIRED(api_status, last_recovery_us, WIRE_I64, .help = "time of that start; 0: none", TIME_US),
    OPTIONAL(api_status, quarantine, WIRE_TEXT,
             .help =
                 "why the jobs that waited at quarantined_us are held: they may have run elsewhere, as in the original "
                 "of a copy; null: none is held for that"),
    REQUIRED(api_status, quarantined_us, WIRE_I64, .help = "time of the quarantine; 0: none", TIME_US),
    REQUIRED(api_status, quarantined_jobs, WIRE_U32, .help = "number of jobs that are still held since then", COUNT32),
    REQUIRED(api_status, enforcement, WIRE_ROWS, .help = "what keeps jobs to what they asked for",
             .shape = &api_enforcement_shape),
    REQUIRED(api_status, clock, WIRE_OBJECT, .help = "the clock, with what happened to it in the last day",
             .shape = &api_clock_shape),
    REQUIRED(api_status, settings, WIRE_RECORDS, .help = "all settings", .table = &setting_fields),
    {0}};
const struct wire_shape api_status_shape = REPLY("Status", api_status, status_fields, "The instance at a glance.");

static const struct wire_field whoami_fields[] = {
    REQUIRED(api_whoami, uid, WIRE_U32, .help = "user id of the client, as the kernel reports it", COUNT32),
    REQUIRED(api_whoami, gid, WIRE_U32, .help = "group id that its jobs get", COUNT32),
    REQUIRED(api_whoami, user, WIRE_TEXT, .help = "the name that the instance knows it by"),
    REQUIRED(api_whoami, role, WIRE_TEXT, .help = "user, operator or administrator"),
    OPTIONAL(api_whoami, role_from, WIRE_TEXT,
             .help = "where the role comes from: uid 0, group NAME, own instance; null: each user has it"),
    REQUIRED(api_whoami, default_account, WIRE_TEXT, .help = "the account of jobs that name none"),
    REQUIRED(api_whoami, associations, WIRE_RECORDS, .help = "the accounts in which the user is",
             .table = &account_fields_user),
    REQUIRED(api_whoami, permissions, WIRE_RECORDS, .help = "all permissions, and which of them the client has",
             .table = &permission_fields),
    REQUIRED(api_whoami, hidden, WIRE_TEXTS, .help = "what private_data hides from the client"),
    REQUIRED(api_whoami, instance, WIRE_TEXT, .help = "system: it serves all users of the machine; private: one user"),
    REQUIRED(api_whoami, socket, WIRE_BYTES, .help = "the socket that answers"),
    REQUIRED(api_whoami, version, WIRE_TEXT, .help = "version of the daemon"),
    REQUIRED(api_whoami, daemon_uid, WIRE_U32, .help = "user id that the daemon runs as", COUNT32),
    OPTIONAL(api_whoami, daemon_user, WIRE_TEXT, .help = "the name of that user; null: none"),
    {0}};
const struct wire_shape api_whoami_shape =
    REPLY("Whoami", api_whoami, whoami_fields, "Who the client is, and what it may do.");

static const struct wire_field prune_fields[] = {
    OPTIONAL(api_prune, older_than_s, WIRE_I64,
             .help = "jobs that ended longer ago than so many seconds; absent, without before_us: history_keep_s",
             .min = 0, .max = TIME_US_MAX / 1e6, .absent = -1),
    OPTIONAL(api_prune, before_us, WIRE_I64, .help = "jobs that ended before this time", .min = 1, .max = TIME_US_MAX),
    OPTIONAL(api_prune, dry_run, WIRE_BOOL, .help = "nothing is removed; the reply says what would be"),
    {0}};
const struct wire_shape api_prune_shape =
    SHAPE("Prune", api_prune, prune_fields, .help = "Which jobs to remove from the history.");

static const char *name_in_moved_job(uint32_t field)
{
    return moved_fields_in_job((enum job_field)field) != MOVED_NOT ? job_field_at((enum job_field)field)->name : NULL;
}

static bool is_required_in_moved_job(uint32_t field)
{
    return moved_fields_in_job((enum job_field)field) == MOVED_REQUIRED;
}

static const char *name_in_moved_task(uint32_t field)
{
    return moved_fields_in_task((enum job_field)field) != MOVED_NOT ? job_field_at((enum job_field)field)->name : NULL;
}

static bool is_required_in_moved_task(uint32_t field)
{
    return moved_fields_in_task((enum job_field)field) == MOVED_REQUIRED;
}

static const struct wire_field moved_task_fields[] = {{0}};
static const struct wire_shape api_moved_task_shape = SHAPE(
    "MovedTask", api_moved_task, moved_task_fields, .help = "A start of a task, and how it ended.",
    .table_fields = {JOB_VALUES(api_moved_task), .name = name_in_moved_task, .is_required = is_required_in_moved_task});

static const struct wire_field moved_job_fields[] = {
    REQUIRED(api_moved_job, id, WIRE_U32, .help = "its id in the instance where it ran", .min = 1,
             .max = UINT32_MAX - 1),
    OPTIONAL(api_moved_job, tasks, WIRE_ROWS, .help = "the starts of its tasks, or some of them",
             .max = API_MOVED_ROWS_MAX, .shape = &api_moved_task_shape),
    {0}};
const struct wire_shape api_moved_job_shape = SHAPE(
    "MovedJob", api_moved_job, moved_job_fields, .help = "An ended job of another instance.",
    .table_fields = {JOB_VALUES(api_moved_job), .name = name_in_moved_job, .is_required = is_required_in_moved_job});

static const struct wire_field move_in_fields[] = {
    REQUIRED(api_move_in, instance, WIRE_NAME, .help = "the id of the instance where the jobs ran"),
    REQUIRED(api_move_in, jobs, WIRE_ROWS, .help = "ended jobs, which become the client's own",
             .max = API_MOVED_ROWS_MAX, .shape = &api_moved_job_shape),
    OPTIONAL(api_move_in, dry_run, WIRE_BOOL, .help = "nothing is taken; the reply says what would be"),
    {0}};
const struct wire_shape api_move_in_shape =
    SHAPE("MoveIn", api_move_in, move_in_fields, .help = "Jobs to take into the history, by their user.");

static const struct wire_field moved_in_fields[] = {
    REQUIRED(api_moved_in, jobs, WIRE_U64, .help = "jobs that are new in the history", COUNT64),
    REQUIRED(api_moved_in, tasks, WIRE_U64, .help = "starts of their tasks that are new", COUNT64),
    REQUIRED(api_moved_in, known, WIRE_U64, .help = "jobs that were there already", COUNT64),
    REQUIRED(api_moved_in, removed, WIRE_U64,
             .help = "jobs that were not taken: they are older than the history is kept, or were removed from it",
             COUNT64),
    {0}};
const struct wire_shape api_moved_in_shape =
    REPLY("MovedIn", api_moved_in, moved_in_fields, "What was taken into the history.");

static const struct wire_field pruned_fields[] = {
    REQUIRED(api_pruned, jobs, WIRE_U64, .help = "jobs that were removed", COUNT64),
    REQUIRED(api_pruned, tasks, WIRE_U64, .help = "records of their tasks: one for each start", COUNT64),
    REQUIRED(api_pruned, before_us, WIRE_I64, .help = "the jobs ended before this time", TIME_US),
    {0}};
const struct wire_shape api_pruned_shape =
    REPLY("Pruned", api_pruned, pruned_fields, "What was removed from the history.");

static const struct wire_field difference_fields[] = {
    OPTIONAL(api_difference, account, WIRE_TEXT, .help = "the account; null: usage of a QOS, or in the share tree"),
    OPTIONAL(api_difference, user, WIRE_TEXT, .help = "the user; null: usage of the account or project itself"),
    OPTIONAL(api_difference, partition, WIRE_TEXT, .help = "the only partition of the association; null: all"),
    OPTIONAL(api_difference, qos, WIRE_TEXT, .help = "the QOS; null: usage of an association, or in the share tree"),
    OPTIONAL(api_difference, project, WIRE_TEXT, .help = "the project of usage in the share tree; null: none"),
    OPTIONAL(api_difference, tres, WIRE_TEXT,
             .help = "the TRES, as units times seconds, or wall: seconds; null: billing-seconds"),
    REQUIRED(api_difference, stored, WIRE_DOUBLE, .help = "usage as stored"),
    REQUIRED(api_difference, recomputed, WIRE_DOUBLE, .help = "usage recomputed from the job records"),
    {0}};
const struct wire_shape api_difference_shape =
    REPLY("Difference", api_difference, difference_fields, "Stored usage that differs from that of the jobs.");

static const struct wire_field verified_fields[] = {
    REQUIRED(api_verified, associations, WIRE_U32, .help = "number of associations checked", COUNT32),
    REQUIRED(api_verified, usage_owners, WIRE_U32,
             .help = "number of users and projects with checked usage in the share tree", COUNT32),
    REQUIRED(api_verified, tasks, WIRE_U64, .help = "number of job records that were read", COUNT64),
    REQUIRED(api_verified, pruned_tasks, WIRE_U64,
             .help = "number of records that were removed from the history, and of which only sums are left", COUNT64),
    REQUIRED(api_verified, differences, WIRE_ROWS, .help = "relative differences above 1e-9",
             .shape = &api_difference_shape),
    {0}};
const struct wire_shape api_verified_shape = REPLY("Verified", api_verified, verified_fields, "Usage, recomputed.");

static const struct wire_field tested_fields[] = {
    REQUIRED(api_tested, never, WIRE_BOOL, .help = "whether the job could never run as the cluster is"),
    REQUIRED(api_tested, now, WIRE_BOOL, .help = "whether it would start at once"),
    REQUIRED(api_tested, start_us, WIRE_I64, .help = "when it would start; 0: not known", TIME_US),
    OPTIONAL(api_tested, places, WIRE_TEXT, .help = "where, as main@localhost=4; null: not known"),
    REQUIRED(api_tested, cpus, WIRE_U32, .help = "its CPUs", COUNT32),
    REQUIRED(api_tested, partitions, WIRE_TEXT, .help = "its partitions"),
    OPTIONAL(api_tested, waits_for, WIRE_TEXT, .help = "what it would wait for; null: nothing, or not known"),
    OPTIONAL(api_tested, never_runs, WIRE_TEXT, .help = "why it could never run; null: it could"),
    REQUIRED(api_tested, scheduling_info, WIRE_TEXTS, .help = "what keeps it from starting, as 'qstat -j' says it"),
    {0}};
const struct wire_shape api_tested_shape =
    REPLY("Tested", api_tested, tested_fields, "What would become of a job that was not submitted.");

static const struct wire_field check_answer_fields[] = {
    REQUIRED(api_check_answer, possible, WIRE_BOOL, .help = "whether the job could run"),
    REQUIRED(api_check_answer, slots, WIRE_U32, .help = "slots that it would get; 0: it could not run", COUNT32),
    REQUIRED(api_check_answer, sentences, WIRE_TEXTS, .help = "what keeps it from queues, as 'qalter -w' says it"),
    {0}};
static const struct wire_shape check_answer_shape =
    REPLY("CheckAnswer", api_check_answer, check_answer_fields, "Whether a job could run, and what is in its way.");

static const struct wire_field check_fields[] = {
    REQUIRED(api_check, job_id, WIRE_U32, .help = "the job", COUNT32),
    REQUIRED(api_check, held, WIRE_BOOL, .help = "whether it is held; the answers are those of a job that is not"),
    REQUIRED(api_check, waits_for_jobs, WIRE_BOOL, .help = "whether it depends on other jobs; the same holds"),
    REQUIRED(api_check, waits_for_begin, WIRE_BOOL, .help = "whether its begin is in the future; the same holds"),
    REQUIRED(api_check, scheduling_info, WIRE_TEXTS, .help = "why it waits, as 'qstat -j' of Grid Engine says it"),
    REQUIRED(api_check, partitions, WIRE_TEXTS, .help = "which of its partitions let nothing start, and why"),
    REQUIRED(api_check, empty, WIRE_OBJECT, .help = "if nothing else ran (qalter -w v)", .shape = &check_answer_shape),
    REQUIRED(api_check, now, WIRE_OBJECT, .help = "as the cluster is, whatever its load (qalter -w p)",
             .shape = &check_answer_shape),
    {0}};
const struct wire_shape api_check_shape =
    REPLY("Check", api_check, check_fields, "Whether and why not a waiting job could run.");

/* --- listings ----------------------------------------------------------------------------------------------------- */

static const struct wire_field waited_fields[] = {
    REQUIRED(api_waited, ended, WIRE_BOOL, .help = "whether the job and all its tasks have ended"),
    REQUIRED(api_waited, jobs, WIRE_RECORDS, .help = "the job and its tasks", .table = &job_fields),
    {0}};
const struct wire_shape api_waited_shape =
    REPLY("Waited", api_waited, waited_fields, "The job has ended, or the timeout has passed.");

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

static const struct wire_field audit_list[] = RECORDS("audit", &audit_fields, "newest first");
const struct wire_shape api_audit_list_shape = LISTING("AuditList", audit_list, "Administrative changes.");

static const struct wire_field job_list[] = RECORDS("jobs", &job_fields, "oldest or newest first, as requested");
const struct wire_shape api_job_list_shape = LISTING("JobList", job_list, "Jobs, at one time.");

static const struct wire_field place_list[] =
    RECORDS("places", &place_fields, "hosts in their order, and partitions in theirs on each");
const struct wire_shape api_place_list_shape = LISTING("PlaceList", place_list, "Each partition on each of its hosts.");

static const struct wire_field priority_list[] =
    RECORDS("priorities", &priority_fields, "by job; running tasks after pending ones");
const struct wire_shape api_priority_list_shape =
    LISTING("PriorityList", priority_list, "Jobs by priority, at one time.");

static const struct wire_field share_list[] =
    RECORDS("shares", &share_fields, "depth first, an account's users before its sub-accounts");
const struct wire_shape api_share_list_shape =
    LISTING("ShareList", share_list, "The tree of associations, at one time.");

static const struct wire_field account_list[] = RECORDS("accounts", &account_fields, "depth first");
const struct wire_shape api_account_list_shape = LISTING("AccountList", account_list, "Accounts.");

static const struct wire_field user_list[] = RECORDS("users", &account_fields_user, "depth first");
const struct wire_shape api_user_list_shape = LISTING("UserList", user_list, "Users in accounts.");

static const struct wire_field use_list[] = RECORDS("use", &use_fields, "those that use most first");
const struct wire_shape api_use_list_shape = LISTING("UseList", use_list, "Who uses the machine now.");

static const struct wire_field gpu_list[] = RECORDS("gpus", &gpu_fields, "by number");
const struct wire_shape api_gpu_list_shape = LISTING("GpuList", gpu_list, "The GPUs of the machine.");

static const struct wire_field setting_list[] = RECORDS("settings", &setting_fields, "all settings");
const struct wire_shape api_setting_list_shape = LISTING("SettingList", setting_list, "The settings.");

const char *const api_object_paths[OBJECT_KIND_COUNT] = {
    [OBJECT_PARTITION] = API_PARTITIONS,
    [OBJECT_QOS] = API_QOS,
    [OBJECT_USER_POLICY] = API_USER_POLICIES,
    [OBJECT_PROJECT] = API_PROJECTS,
    [OBJECT_DEPARTMENT] = API_DEPARTMENTS,
    [OBJECT_RESOURCE] = API_RESOURCES,
    [OBJECT_HOST] = API_HOSTS,
    [OBJECT_GROUP] = API_GROUPS,
    [OBJECT_ENVIRONMENT] = API_ENVIRONMENTS,
    [OBJECT_CALENDAR] = API_CALENDARS,
    [OBJECT_QUOTA] = API_QUOTAS,
};

#define OBJECT_ROWS(kind, plural) [kind] = RECORDS(plural, &object_classes[kind].record, "all of them")

static const struct wire_field object_lists[OBJECT_KIND_COUNT][2] = {
    OBJECT_ROWS(OBJECT_PARTITION, "partitions"),
    OBJECT_ROWS(OBJECT_QOS, "qos"),
    OBJECT_ROWS(OBJECT_USER_POLICY, "user_policies"),
    OBJECT_ROWS(OBJECT_PROJECT, "projects"),
    OBJECT_ROWS(OBJECT_DEPARTMENT, "departments"),
    OBJECT_ROWS(OBJECT_RESOURCE, "resources"),
    OBJECT_ROWS(OBJECT_HOST, "hosts"),
    OBJECT_ROWS(OBJECT_GROUP, "groups"),
    OBJECT_ROWS(OBJECT_ENVIRONMENT, "pes"),
    OBJECT_ROWS(OBJECT_CALENDAR, "calendars"),
    OBJECT_ROWS(OBJECT_QUOTA, "quotas"),
};

#define OBJECT_LIST(kind, name_, words) [kind] = LISTING(name_, object_lists[kind], words)

const struct wire_shape api_object_lists[OBJECT_KIND_COUNT] = {
    OBJECT_LIST(OBJECT_PARTITION, "PartitionList", "Partitions; the first one is the default."),
    OBJECT_LIST(OBJECT_QOS, "QosList", "Qualities of service."),
    OBJECT_LIST(OBJECT_USER_POLICY, "UserPolicyList", "What the ticket policies give users."),
    OBJECT_LIST(OBJECT_PROJECT, "ProjectList", "Projects."),
    OBJECT_LIST(OBJECT_DEPARTMENT, "DepartmentList", "Departments."),
    OBJECT_LIST(OBJECT_RESOURCE, "ResourceList", "Resources that jobs can request."),
    OBJECT_LIST(OBJECT_HOST, "HostList", "Machines that run jobs."),
    OBJECT_LIST(OBJECT_GROUP, "GroupList", "Groups of hosts."),
    OBJECT_LIST(OBJECT_ENVIRONMENT, "ParallelEnvironmentList", "Parallel environments."),
    OBJECT_LIST(OBJECT_CALENDAR, "CalendarList", "Calendars of queues."),
    OBJECT_LIST(OBJECT_QUOTA, "QuotaList", "Resource quota sets."),
};
