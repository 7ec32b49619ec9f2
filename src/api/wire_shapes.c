/* The shapes: every body of the API, field by field. To add a field is a member in wire.h and a row here; writing,
 * reading and the API's description follow. The help of a required field completes the sentence "NAME: missing; ...". */
#include <stddef.h>

#include "api/wire.h"

#define ROW(owner, member, json_name, kind, ...)                                                   \
    {                                                                                              \
        .name = (json_name), .type = (kind), .offset = offsetof(struct owner, member), __VA_ARGS__ \
    }
#define MAYBE(owner, member, kind, ...) ROW(owner, member, #member, kind, __VA_ARGS__)
#define MUST(owner, member, kind, ...) ROW(owner, member, #member, kind, .is_required = true, __VA_ARGS__)

#define COUNT32 .min = 0, .max = UINT32_MAX
#define MOMENT .min = 0, .max = INT64_MAX

#define NICE_MAX 2147483645
#define MEM_MIB_MAX (INT64_C(1) << 40)
#define TIME_LIMIT_S_MAX INT64_C(316224000) /* ten years */
#define SHARES_MAX (WIRE_SHARES_PARENT - 1)
#define PRIORITY_MAX (WIRE_PRIORITY_UNSET - 1)

#define STATES "PENDING,STARTING,RUNNING,COMPLETING,COMPLETED,FAILED,CANCELLED,TIMEOUT,NODE_FAIL"

/* --- requests ----------------------------------------------------------------------------------------------------- */

/* Of a member struct wire_terms. */
#define TERM(owner, member, kind, ...) ROW(owner, terms.member, #member, kind, __VA_ARGS__)
#define TERM_NUMBER(owner, member, smallest, greatest, words) \
    TERM(owner, member, WIRE_I32, .help = (words), .min = (smallest), .max = (greatest), .absent = WIRE_TERM_UNSET)
#define TERM_COUNT(owner, member, words) \
    TERM(owner, member, WIRE_I64, .help = (words), .min = 0, .max = UINT32_MAX, .absent = -1)
#define TERM_MOMENT(owner, member, words) \
    TERM(owner, member, WIRE_I64, .help = (words), MOMENT, .absent = WIRE_MOMENT_UNSET)
#define TERMS(owner)                                                                                               \
    TERM(owner, partitions, WIRE_TEXT, .help = "where it may run, as fast,batch; absent: the first partition"),    \
        TERM(owner, qos, WIRE_TEXT, .help = "its quality of service; absent: normal"),                             \
        TERM(owner, project, WIRE_TEXT, .help = "the project it counts for; empty: none"),                         \
        TERM(owner, requests, WIRE_TEXT, .help = "resources it needs, as license=2,bigio=true; empty: none"),      \
        TERM_NUMBER(owner, nice, -NICE_MAX, NICE_MAX, "taken from its priority; below 0: operators only"),         \
        TERM_NUMBER(owner, site, -NICE_MAX, NICE_MAX, "the site's term of its priority: operators only"),          \
        TERM_NUMBER(owner, posix_priority, -1023, 1024, "POSIX priority; above 0: operators only"),                \
        TERM_COUNT(owner, job_share, "its own shares in the functional policy"),                                   \
        TERM_COUNT(owner, override_tickets, "tickets given outright: operators only"),                             \
        TERM_COUNT(owner, set_priority, "a priority by hand: operators only; 0: it is computed"),                  \
        TERM_MOMENT(owner, begin_us, "not to start before; 0: at once"),                                           \
        TERM_MOMENT(owner, deadline_us, "when it has to have started; 0: none"),                                   \
        TERM(owner, slots_max, WIRE_U32, .help = "cpus is the least of a range of slots, this the most", .min = 1, \
             .max = WIRE_CPUS_MAX)

static const struct wire_field submit_fields[] = {
    MAYBE(wire_submit, account, WIRE_TEXT, .help = "the account to charge; absent: the user's default"),
    MAYBE(wire_submit, name, WIRE_TEXT, .help = "the job's name; absent: that of the script or program"),
    MUST(wire_submit, directory, WIRE_BYTES, .help = "the absolute path of the directory to run in"),
    MAYBE(wire_submit, out, WIRE_BYTES, .help = "where standard output goes: a path with %j, %A, %a, %x, %u, %%"),
    MAYBE(wire_submit, err, WIRE_BYTES, .help = "where standard error goes; absent: where standard output goes"),
    MUST(wire_submit, command, WIRE_TEXT, .help = "what to show of what the job runs"),
    MAYBE(wire_submit, cpus, WIRE_U32, .help = "CPUs of each task; absent: setting default_cpus", .min = 1,
          .max = WIRE_CPUS_MAX),
    MAYBE(wire_submit, mem_mib, WIRE_U64, .help = "memory of each task; absent: setting default_mem_mib", .min = 1,
          .max = MEM_MIB_MAX),
    MAYBE(wire_submit, gpus, WIRE_U32, .help = "GPUs of each task", .min = 0, .max = WIRE_GPUS_MAX),
    MAYBE(wire_submit, time_limit_s, WIRE_I64, .help = "time limit of each task; absent: setting default_time_s",
          .min = 1, .max = TIME_LIMIT_S_MAX),
    MAYBE(wire_submit, array, WIRE_TEXT, .help = "task numbers and how many run at once, as 0-999%50"),
    MAYBE(wire_submit, held, WIRE_BOOL, .help = "wait until released"),
    MAYBE(wire_submit, script, WIRE_BLOB, .help = "the script's text; absent: the first argument is the program"),
    MAYBE(wire_submit, script_name, WIRE_BYTES, .help = "what the user calls the script"),
    MAYBE(wire_submit, arguments, WIRE_BYTES_LIST, .help = "of the script; or the program and its arguments"),
    MAYBE(wire_submit, environment, WIRE_BYTES_LIST, .help = "entries NAME=value"),
    MAYBE(wire_submit, department, WIRE_TEXT, .help = "has to be the submitter's own"),
    TERMS(wire_submit),
    {0}};
const struct wire_shape wire_submit_shape = {"Submit", "A job to be run.", submit_fields, sizeof(struct wire_submit),
                                             false};

static const struct wire_field update_fields[] = {
    MAYBE(wire_update, name, WIRE_TEXT, .help = "the job's name"),
    MAYBE(wire_update, cpus, WIRE_U32, .help = "CPUs of each task", .min = 1, .max = WIRE_CPUS_MAX),
    MAYBE(wire_update, mem_mib, WIRE_U64, .help = "memory of each task", .min = 1, .max = MEM_MIB_MAX),
    MAYBE(wire_update, gpus, WIRE_U32, .help = "GPUs of each task", .min = 0, .max = WIRE_GPUS_MAX, .absent = NONE),
    MAYBE(wire_update, time_limit_s, WIRE_I64, .help = "time limit of each task", .min = 1, .max = TIME_LIMIT_S_MAX),
    MAYBE(wire_update, array_limit, WIRE_U32, .help = "tasks of an array at once; 0: no limit", .min = 0,
          .max = NONE - 1, .absent = NONE),
    TERMS(wire_update),
    {0}};
const struct wire_shape wire_update_shape = {"Update", "What to change of a job; absent fields stay.", update_fields,
                                             sizeof(struct wire_update), false};

static const struct wire_field jobs_fields[] = {
    MAYBE(wire_jobs, ids, WIRE_TEXTS, .help = "jobs, and tasks of arrays: 5, 6_1"),
    MAYBE(wire_jobs, all, WIRE_BOOL, .help = "instead of ids: every job that the caller may touch"),
    {0}};
const struct wire_shape wire_jobs_shape = {"Jobs", "Which jobs: ids, or all.", jobs_fields, sizeof(struct wire_jobs),
                                           false};

#define SHARES_ROW(owner) \
    MAYBE(owner, shares, WIRE_SHARE, .help = "its part among its siblings, or 'parent'", .min = 0, .max = SHARES_MAX)

#define PRIORITY_ROW(owner)                                                                               \
    MAYBE(owner, priority, WIRE_PRIORITY, .help = "of its jobs, or 'parent'; absent: 'parent'", .min = 0, \
          .max = PRIORITY_MAX)

#define RAW_USAGE_ROW(owner, words) MAYBE(owner, raw_usage, WIRE_I64, .help = (words), .min = 0, .max = 0, .absent = -1)

static const struct wire_field account_fields[] = {
    MUST(wire_account, name, WIRE_TEXT, .help = "the account's name"),
    MAYBE(wire_account, parent, WIRE_TEXT, .help = "the account it is part of; absent: root"),
    SHARES_ROW(wire_account),
    PRIORITY_ROW(wire_account),
    {0}};
const struct wire_shape wire_account_shape = {"Account", "An account to be made.", account_fields,
                                              sizeof(struct wire_account), false};

static const struct wire_field account_modify_fields[] = {
    MAYBE(wire_account, parent, WIRE_TEXT, .help = "the account it is to be part of"),
    SHARES_ROW(wire_account),
    PRIORITY_ROW(wire_account),
    RAW_USAGE_ROW(wire_account, "0: what it and all below it used so far is forgotten"),
    {0}};
const struct wire_shape wire_account_modify_shape = {"AccountChange",
                                                     "What to change of an account; absent fields stay.",
                                                     account_modify_fields, sizeof(struct wire_account), false};

static const struct wire_field user_fields[] = {
    MUST(wire_user, name, WIRE_TEXT, .help = "the user's name"),
    MAYBE(wire_user, account, WIRE_TEXT, .help = "the account to be in; absent: default"),
    SHARES_ROW(wire_user),
    PRIORITY_ROW(wire_user),
    ROW(wire_user, is_default, "default", WIRE_BOOL,
        .help = "make it the account the user's jobs are charged to unless they say"),
    {0}};
const struct wire_shape wire_user_shape = {"User", "A user to be put into an account.", user_fields,
                                           sizeof(struct wire_user), false};

static const struct wire_field user_modify_fields[] = {
    SHARES_ROW(wire_user),
    PRIORITY_ROW(wire_user),
    RAW_USAGE_ROW(wire_user, "0: what the user used so far is forgotten"),
    ROW(wire_user, is_default, "default", WIRE_BOOL,
        .help = "make it the account the user's jobs are charged to unless they say"),
    {0}};
const struct wire_shape wire_user_modify_shape = {"UserChange",
                                                  "What to change of a user in an account; absent fields stay.",
                                                  user_modify_fields, sizeof(struct wire_user), false};

#define FORMAT_ROW(owner) \
    MAYBE(owner, format, WIRE_CHOICE, .help = "JSON, or lines between |; absent: json", .choices = "json,lines")

static const struct wire_field jobs_query_fields[] = {
    MAYBE(wire_jobs_query, which, WIRE_CHOICE, .help = "waiting and running jobs, ended ones, or all; absent: live",
          .choices = "live,ended,all"),
    MAYBE(wire_jobs_query, id, WIRE_TEXTS, .help = "only these jobs, separated by commas"),
    MAYBE(wire_jobs_query, account, WIRE_TEXT, .help = "only of this account"),
    MAYBE(wire_jobs_query, user, WIRE_TEXT, .help = "only of this user"),
    MAYBE(wire_jobs_query, state, WIRE_CHOICE, .help = "only in this state", .choices = STATES),
    MAYBE(wire_jobs_query, since_us, WIRE_I64, .help = "only what ended at this moment or later", .min = 1,
          .max = INT64_MAX),
    MAYBE(wire_jobs_query, until_us, WIRE_I64, .help = "only what ended before this moment", .min = 1,
          .max = INT64_MAX),
    MAYBE(wire_jobs_query, order, WIRE_CHOICE, .help = "absent: oldest first", .choices = "oldest,newest"),
    MAYBE(wire_jobs_query, limit, WIRE_U32, .help = "at most this many rows", .min = 1, .max = UINT32_MAX),
    FORMAT_ROW(wire_jobs_query),
    {0}};
const struct wire_shape wire_jobs_query_shape = {"JobsQuery", "Which rows of jobs.", jobs_query_fields,
                                                 sizeof(struct wire_jobs_query), false};

static const struct wire_field shares_query_fields[] = {
    MAYBE(wire_shares_query, format, WIRE_CHOICE, .help = "JSON, or the lines of 'fairlead share -P'; absent: json",
          .choices = "json,psv"),
    MAYBE(wire_shares_query, account, WIRE_TEXT, .help = "only of this account and what is below it"),
    MAYBE(wire_shares_query, user, WIRE_TEXT, .help = "only of this user"),
    MAYBE(wire_shares_query, tres, WIRE_BOOL, .help = "with tres_raw; as columns: GrpTRESRaw behind the others"),
    {0}};
const struct wire_shape wire_shares_query_shape = {"SharesQuery", "Which associations.", shares_query_fields,
                                                   sizeof(struct wire_shares_query), false};

static const struct wire_field priorities_query_fields[] = {
    FORMAT_ROW(wire_priorities_query),
    MAYBE(wire_priorities_query, job, WIRE_U32, .help = "only of this job", .min = 1, .max = NONE - 1, .absent = NONE),
    {0}};
const struct wire_shape wire_priorities_query_shape = {"PrioritiesQuery", "Which jobs.", priorities_query_fields,
                                                       sizeof(struct wire_priorities_query), false};

static const struct wire_field wait_query_fields[] = {
    MAYBE(wire_wait_query, timeout_s, WIRE_I64, .help = "answer after this long even if it has not ended; absent: 30",
          .min = 0, .max = WIRE_WAIT_MAX_S, .absent = -1),
    {0}};
const struct wire_shape wire_wait_query_shape = {"WaitQuery", "How long to wait.", wait_query_fields,
                                                 sizeof(struct wire_wait_query), false};

static const struct wire_field account_query_fields[] = {
    MAYBE(wire_account_query, account, WIRE_TEXT, .help = "only in this account; absent: in all the user is in"), {0}};
const struct wire_shape wire_account_query_shape = {"AccountQuery", "In which account.", account_query_fields,
                                                    sizeof(struct wire_account_query), false};

/* --- replies ------------------------------------------------------------------------------------------------------ */

static const struct wire_field error_text_fields[] = {
    MUST(wire_error_text, name, WIRE_TEXT, .help = "the kind of error"),
    MUST(wire_error_text, message, WIRE_TEXT, .help = "one line for people"),
    MAYBE(wire_error_text, subject, WIRE_TEXT, .help = "the kind of thing it is about, as partition; null: none"),
    MAYBE(wire_error_text, subject_name, WIRE_TEXT, .help = "which one; null: none"),
    MAYBE(wire_error_text, field, WIRE_TEXT, .help = "the field it is about; null: none"),
    MAYBE(wire_error_text, value, WIRE_TEXT, .help = "the value that was given; null: none"),
    MAYBE(wire_error_text, accepted, WIRE_TEXT, .help = "what is accepted; null: the message says it"),
    {0}};
static const struct wire_shape error_text_shape = {"ErrorText", "Why not.", error_text_fields,
                                                   sizeof(struct wire_error_text), true};

static const struct wire_field error_fields[] = {
    MUST(wire_error, error, WIRE_OBJECT, .help = "why not", .shape = &error_text_shape), {0}};
const struct wire_shape wire_error_shape = {"Error", "A refusal.", error_fields, sizeof(struct wire_error), true};

static const struct wire_field submitted_fields[] = {
    MUST(wire_submitted, job_id, WIRE_U32, .help = "the new job's id", COUNT32), {0}};
const struct wire_shape wire_submitted_shape = {"Submitted", "The job is accepted, and survives a power cut.",
                                                submitted_fields, sizeof(struct wire_submitted), true};

static const struct wire_field count_fields[] = {
    MUST(wire_count, count, WIRE_U32, .help = "how many jobs and tasks it was done to", COUNT32), {0}};
const struct wire_shape wire_count_shape = {"Count", "It is done.", count_fields, sizeof(struct wire_count), true};

static const struct wire_field done_fields[] = {MUST(wire_done, ok, WIRE_BOOL, .help = "true"), {0}};
const struct wire_shape wire_done_shape = {"Done", "It is done.", done_fields, sizeof(struct wire_done), true};

static const struct wire_field job_row_fields[] = {
    MUST(wire_job_row, id, WIRE_TEXT, .help = "5, 5_3 or, for several tasks, 5_[3-9%2]"),
    MUST(wire_job_row, job_id, WIRE_U32, .help = "the job", COUNT32),
    MAYBE(wire_job_row, task_id, WIRE_U32, .help = "the task of an array; null: not one task of an array", .min = 0,
          .max = NONE - 1, .absent = NONE),
    MAYBE(wire_job_row, array_tasks, WIRE_TEXT, .help = "the tasks that the row stands for; null: it stands for one"),
    MUST(wire_job_row, array_limit, WIRE_U32, .help = "tasks at once; 0: no limit", COUNT32),
    MUST(wire_job_row, task_count, WIRE_U32, .help = "how many tasks the row stands for", COUNT32),
    MUST(wire_job_row, account, WIRE_TEXT, .help = "the account charged"),
    MUST(wire_job_row, user, WIRE_TEXT, .help = "the user in the account"),
    MUST(wire_job_row, uid, WIRE_U32, .help = "whom it runs as", COUNT32),
    MUST(wire_job_row, name, WIRE_TEXT, .help = "the job's name"),
    MUST(wire_job_row, command, WIRE_TEXT, .help = "what it runs"),
    MUST(wire_job_row, directory, WIRE_BYTES, .help = "where it runs"),
    MUST(wire_job_row, out_path, WIRE_BYTES, .help = "standard output"),
    MUST(wire_job_row, err_path, WIRE_BYTES, .help = "standard error"),
    MUST(wire_job_row, state, WIRE_CHOICE, .help = "the state", .choices = STATES),
    MUST(wire_job_row, held, WIRE_BOOL, .help = "whether somebody holds it back"),
    MUST(wire_job_row, reason, WIRE_TEXT, .help = "why it waits, or None"),
    MUST(wire_job_row, cpus, WIRE_U32, .help = "CPUs of each task", COUNT32),
    MUST(wire_job_row, mem_mib, WIRE_U64, .help = "memory of each task", MOMENT),
    MUST(wire_job_row, gpus, WIRE_U32, .help = "GPUs of each task", COUNT32),
    MUST(wire_job_row, time_limit_s, WIRE_I64, .help = "time limit of each task", MOMENT),
    MUST(wire_job_row, submit_us, WIRE_I64, .help = "when it was submitted", MOMENT),
    MAYBE(wire_job_row, start_us, WIRE_I64, .help = "when it started; null: it did not", MOMENT),
    MAYBE(wire_job_row, end_us, WIRE_I64, .help = "when it ended; null: it did not", MOMENT),
    MUST(wire_job_row, cpu_ids, WIRE_TEXT, .help = "which CPUs it has or had"),
    MUST(wire_job_row, gpu_ids, WIRE_TEXT, .help = "which GPUs it has or had"),
    MAYBE(wire_job_row, exit_status, WIRE_I32, .help = "null: it has not ended", .min = 0, .max = INT32_MAX,
          .absent = -1),
    MAYBE(wire_job_row, signal, WIRE_I32, .help = "the signal that ended it, or 0; null: it has not ended", .min = 0,
          .max = INT32_MAX, .absent = -1),
    MUST(wire_job_row, cpu_us, WIRE_I64, .help = "processor time used", MOMENT),
    MUST(wire_job_row, max_rss_kib, WIRE_I64, .help = "the most memory a process of it had", MOMENT),
    MUST(wire_job_row, detail, WIRE_TEXT, .help = "more about its end"),
    MAYBE(wire_job_row, fair_share, WIRE_DOUBLE, .help = "its association's factor; null: the association is deleted"),
    MUST(wire_job_row, partition, WIRE_TEXT, .help = "where it runs, or the partitions it asks for"),
    MUST(wire_job_row, qos, WIRE_TEXT, .help = "its quality of service"),
    MUST(wire_job_row, project, WIRE_TEXT, .help = "the project it counts for, or nothing"),
    MUST(wire_job_row, requests, WIRE_TEXT, .help = "resources it asks for, as license=2, or nothing"),
    MUST(wire_job_row, tres, WIRE_TEXT,
         .help = "what it has or had, as cpu=4,mem=8192,node=1,billing=4; nothing: it did not start"),
    MAYBE(wire_job_row, billing, WIRE_DOUBLE, .help = "what it costs, units a second; null: it did not start"),
    MUST(wire_job_row, nice, WIRE_I32, .help = "taken from its priority", .min = -NICE_MAX, .max = NICE_MAX),
    MUST(wire_job_row, site, WIRE_I32, .help = "the site's term of its priority", .min = -NICE_MAX, .max = NICE_MAX),
    MAYBE(wire_job_row, set_priority, WIRE_U32, .help = "its priority, set by hand; null: it is computed", .min = 0,
          .max = NONE - 1, .absent = NONE),
    MUST(wire_job_row, posix_priority, WIRE_I32, .help = "POSIX priority", .min = -1023, .max = 1024),
    MUST(wire_job_row, job_share, WIRE_U32, .help = "its own shares in the functional policy", COUNT32),
    MUST(wire_job_row, override_tickets, WIRE_U32, .help = "tickets given outright", COUNT32),
    MUST(wire_job_row, slots_max, WIRE_U32, .help = "the most of a range of slots; 0: as many as cpus", COUNT32),
    MAYBE(wire_job_row, begin_us, WIRE_I64, .help = "not to start before; null: at once", MOMENT),
    MAYBE(wire_job_row, deadline_us, WIRE_I64, .help = "when it has to have started; null: none", MOMENT),
    {0}};
const struct wire_shape wire_job_row_shape = {
    "Job", "A task that started; or what of a job has not started; or what of it was cancelled before it did.",
    job_row_fields, sizeof(struct wire_job_row), true};

#define JOB_ROWS(owner) MUST(owner, jobs, WIRE_ROWS, .help = "one row a line", .shape = &wire_job_row_shape)

static const struct wire_field waited_fields[] = {
    MUST(wire_waited, ended, WIRE_BOOL, .help = "whether all of it has ended"), JOB_ROWS(wire_waited), {0}};
const struct wire_shape wire_waited_shape = {"Waited", "The job ended, or the time is over.", waited_fields,
                                             sizeof(struct wire_waited), true};

static const struct wire_field job_list_fields[] = {JOB_ROWS(wire_job_list), {0}};
const struct wire_shape wire_job_list_shape = {"JobList", "Jobs, of one moment.", job_list_fields,
                                               sizeof(struct wire_job_list), true};

#define TERM_ROW(member, words) MAYBE(wire_priority_row, member, WIRE_DOUBLE, .help = (words))

static const struct wire_field priority_row_fields[] = {
    MUST(wire_priority_row, model, WIRE_TEXT, .help = "the model in force, as PriorityType has it"),
    MUST(wire_priority_row, id, WIRE_TEXT, .help = "5, 5_3 or, for several tasks, 5_[3-9%2]"),
    MUST(wire_priority_row, job_id, WIRE_U32, .help = "the job", COUNT32),
    MAYBE(wire_priority_row, task_id, WIRE_U32, .help = "the task of an array that runs; null: not one", .min = 0,
          .max = NONE - 1, .absent = NONE),
    MUST(wire_priority_row, user, WIRE_TEXT, .help = "whose it is"),
    MUST(wire_priority_row, account, WIRE_TEXT, .help = "the account charged"),
    MUST(wire_priority_row, project, WIRE_TEXT, .help = "the project it counts for, or nothing"),
    MUST(wire_priority_row, partition, WIRE_TEXT, .help = "in which partition"),
    MUST(wire_priority_row, qos, WIRE_TEXT, .help = "its quality of service"),
    MUST(wire_priority_row, state, WIRE_CHOICE, .help = "the state; HELD: waits for its release",
         .choices = STATES ",HELD"),
    MUST(wire_priority_row, priority, WIRE_DOUBLE, .help = "what is sorted by, the highest first; 0: held"),
    MUST(wire_priority_row, billing, WIRE_DOUBLE, .help = "what it costs or would cost there, units a second"),
    TERM_ROW(site, "multifactor: the site's term"),
    TERM_ROW(age, "multifactor: of its age, weighted"),
    TERM_ROW(assoc, "multifactor: of its association's priority, weighted"),
    TERM_ROW(fair_share, "multifactor: of its fair share, weighted"),
    TERM_ROW(job_size, "multifactor: of its size, weighted"),
    TERM_ROW(partition_term, "multifactor: of the partition, weighted"),
    TERM_ROW(qos_term, "multifactor: of its QOS, weighted"),
    TERM_ROW(nice, "multifactor: what is taken away"),
    TERM_ROW(tres, "multifactor: of what it asks for, weighted, together"),
    TERM_ROW(age_factor, "multifactor: before weighing"),
    TERM_ROW(assoc_factor, "multifactor: before weighing"),
    TERM_ROW(fair_share_factor, "multifactor: before weighing"),
    TERM_ROW(job_size_factor, "multifactor: before weighing"),
    TERM_ROW(partition_factor, "multifactor: before weighing"),
    TERM_ROW(qos_factor, "multifactor: before weighing"),
    MAYBE(wire_priority_row, tres_terms, WIRE_TEXT, .help = "multifactor: each TRES, weighted, as cpu=250,mem=25"),
    MAYBE(wire_priority_row, tres_factors, WIRE_TEXT, .help = "multifactor: each TRES before weighing"),
    TERM_ROW(norm_tickets, "tickets: of the largest ticket count, 0 to 1"),
    TERM_ROW(norm_urgency, "tickets: between the smallest and the largest urgency, 0 to 1"),
    TERM_ROW(norm_posix, "tickets: the POSIX priority, 0 to 1"),
    TERM_ROW(urgency_resources, "tickets: urgency of what it asks for"),
    TERM_ROW(urgency_waiting, "tickets: urgency of its waiting"),
    TERM_ROW(urgency_deadline, "tickets: urgency of its deadline"),
    TERM_ROW(urgency, "tickets: the three together"),
    TERM_ROW(tickets, "tickets: the next three together"),
    TERM_ROW(override_tickets, "tickets: of the override policy"),
    TERM_ROW(functional_tickets, "tickets: of the functional policy"),
    TERM_ROW(share_tickets, "tickets: of the share tree policy"),
    {0}};
const struct wire_shape wire_priority_row_shape = {
    "Priority", "A waiting job in a partition it asks for, or a running task, and the terms of its priority.",
    priority_row_fields, sizeof(struct wire_priority_row), true};

static const struct wire_field priority_list_fields[] = {MUST(wire_priority_list, priorities, WIRE_ROWS,
                                                              .help = "by job; running tasks behind waiting ones",
                                                              .shape = &wire_priority_row_shape),
                                                         {0}};
const struct wire_shape wire_priority_list_shape = {"PriorityList", "Who comes first and why, of one moment.",
                                                    priority_list_fields, sizeof(struct wire_priority_list), true};

static const struct wire_field share_row_fields[] = {
    MUST(wire_share_row, account, WIRE_TEXT, .help = "the account"),
    MAYBE(wire_share_row, user, WIRE_TEXT, .help = "the user; null: the account's own row"),
    MAYBE(wire_share_row, parent_account, WIRE_TEXT, .help = "of an account; null: root"),
    MAYBE(wire_share_row, raw_shares, WIRE_SHARE, .help = "as given; null: the root", .min = 0, .max = SHARES_MAX),
    MAYBE(wire_share_row, norm_shares, WIRE_DOUBLE, .help = "of its siblings' shares"),
    MAYBE(wire_share_row, raw_usage, WIRE_DOUBLE, .help = "decayed billing-seconds"),
    MAYBE(wire_share_row, norm_usage, WIRE_DOUBLE, .help = "of the root's usage; null: the root"),
    MAYBE(wire_share_row, effective_usage, WIRE_DOUBLE, .help = "of its parent's usage"),
    MAYBE(wire_share_row, fair_share, WIRE_DOUBLE, .help = "the factor, 0 to 1; null: an account"),
    MAYBE(wire_share_row, level_fs, WIRE_DOUBLE,
          .help = "norm_shares / effective_usage, or 'inf'; null: it has no level"),
    MUST(wire_share_row, pending, WIRE_U64, .help = "tasks that wait", MOMENT),
    MUST(wire_share_row, running, WIRE_U32, .help = "tasks that have started and not ended", COUNT32),
    MUST(wire_share_row, running_cpus, WIRE_U32, .help = "their CPUs", COUNT32),
    MAYBE(wire_share_row, tres_raw, WIRE_TEXT, .help = "usage by TRES: decayed TRES-seconds; null: not asked for"),
    {0}};
const struct wire_shape wire_share_row_shape = {"Share", "An association and what it is due.", share_row_fields,
                                                sizeof(struct wire_share_row), true};

static const struct wire_field share_list_fields[] = {
    MUST(wire_share_list, shares, WIRE_ROWS, .help = "depth first, an account's users before its sub-accounts",
         .shape = &wire_share_row_shape),
    {0}};
const struct wire_shape wire_share_list_shape = {"ShareList", "The tree, of one moment.", share_list_fields,
                                                 sizeof(struct wire_share_list), true};

static const struct wire_field account_row_fields[] = {
    MUST(wire_account_row, name, WIRE_TEXT, .help = "the account's name"),
    MAYBE(wire_account_row, parent, WIRE_TEXT, .help = "the account it is part of; null: root"),
    MUST(wire_account_row, shares, WIRE_SHARE, .help = "its part among its siblings", .min = 0, .max = SHARES_MAX),
    MUST(wire_account_row, priority, WIRE_PRIORITY, .help = "of its jobs, or 'parent'", .min = 0, .max = PRIORITY_MAX),
    MUST(wire_account_row, created_us, WIRE_I64, .help = "when it was made", MOMENT),
    {0}};
const struct wire_shape wire_account_row_shape = {"AccountRow", "An account.", account_row_fields,
                                                  sizeof(struct wire_account_row), true};

static const struct wire_field account_list_fields[] = {
    MUST(wire_account_list, accounts, WIRE_ROWS, .help = "depth first", .shape = &wire_account_row_shape), {0}};
const struct wire_shape wire_account_list_shape = {"AccountList", "Accounts.", account_list_fields,
                                                   sizeof(struct wire_account_list), true};

static const struct wire_field user_row_fields[] = {
    MUST(wire_user_row, name, WIRE_TEXT, .help = "the user's name"),
    MUST(wire_user_row, account, WIRE_TEXT, .help = "the account"),
    MUST(wire_user_row, shares, WIRE_SHARE, .help = "its part among its siblings", .min = 0, .max = SHARES_MAX),
    ROW(wire_user_row, is_default, "default", WIRE_BOOL, .is_required = true,
        .help = "whether jobs that do not say are charged here"),
    MUST(wire_user_row, priority, WIRE_PRIORITY, .help = "of its jobs, or 'parent'", .min = 0, .max = PRIORITY_MAX),
    MUST(wire_user_row, created_us, WIRE_I64, .help = "when it was made", MOMENT),
    {0}};
const struct wire_shape wire_user_row_shape = {"UserRow", "A user in an account.", user_row_fields,
                                               sizeof(struct wire_user_row), true};

static const struct wire_field user_list_fields[] = {
    MUST(wire_user_list, users, WIRE_ROWS, .help = "depth first", .shape = &wire_user_row_shape), {0}};
const struct wire_shape wire_user_list_shape = {"UserList", "Users in accounts.", user_list_fields,
                                                sizeof(struct wire_user_list), true};

static const struct wire_field setting_fields[] = {
    MUST(wire_setting, name, WIRE_TEXT, .help = "the setting"),
    MUST(wire_setting, value, WIRE_TEXT, .help = "what it is"),
    ROW(wire_setting, default_value, "default", WIRE_TEXT, .is_required = true, .help = "what it is when nobody says"),
    MUST(wire_setting, help, WIRE_TEXT, .help = "what it does"),
    MUST(wire_setting, group, WIRE_TEXT, .help = "whose it is: Fairlead's own, Slurm's, Grid Engine's"),
    MAYBE(wire_setting, accepted, WIRE_TEXT, .help = "what it takes, and in which unit; empty where help says it"),
    {0}};
const struct wire_shape wire_setting_shape = {"Setting", "A setting.", setting_fields, sizeof(struct wire_setting),
                                              true};

#define SETTING_ROWS(owner) MUST(owner, settings, WIRE_ROWS, .help = "every setting", .shape = &wire_setting_shape)

static const struct wire_field setting_list_fields[] = {SETTING_ROWS(wire_setting_list), {0}};
const struct wire_shape wire_setting_list_shape = {"SettingList", "The settings.", setting_list_fields,
                                                   sizeof(struct wire_setting_list), true};

static const struct wire_field host_fields[] = {
    MUST(wire_host, name, WIRE_TEXT, .help = "the machine's name"),
    MUST(wire_host, cpus, WIRE_U32, .help = "to give out", COUNT32),
    MUST(wire_host, mem_mib, WIRE_U64, .help = "to give out", MOMENT),
    MUST(wire_host, gpus, WIRE_U32, .help = "to give out", COUNT32),
    MUST(wire_host, free_cpus, WIRE_U32, .help = "not given out now", COUNT32),
    MUST(wire_host, free_mem_mib, WIRE_I64, .help = "not given out now; below 0: the host became smaller",
         .min = INT64_MIN, .max = INT64_MAX),
    MUST(wire_host, free_gpus, WIRE_U32, .help = "not given out now", COUNT32),
    {0}};
const struct wire_shape wire_host_shape = {"Host", "The machine.", host_fields, sizeof(struct wire_host), true};

static const struct wire_field tasks_fields[] = {
    MUST(wire_tasks, pending, WIRE_U64, .help = "that wait", MOMENT),
    MUST(wire_tasks, starting, WIRE_U32, .help = "decided, not yet begun", COUNT32),
    MUST(wire_tasks, running, WIRE_U32, .help = "that run", COUNT32),
    MUST(wire_tasks, completing, WIRE_U32, .help = "that are being ended", COUNT32),
    {0}};
const struct wire_shape wire_tasks_shape = {"Tasks", "How many tasks.", tasks_fields, sizeof(struct wire_tasks), true};

static const struct wire_field status_fields[] = {
    MUST(wire_status, version, WIRE_TEXT, .help = "of the daemon"),
    MUST(wire_status, pid, WIRE_I64, .help = "of the daemon", MOMENT),
    MUST(wire_status, uid, WIRE_U32, .help = "whom the daemon runs as", COUNT32),
    MAYBE(wire_status, user, WIRE_TEXT, .help = "the name of that uid; null: it has none"),
    MUST(wire_status, state_directory, WIRE_BYTES, .help = "where the state is kept"),
    MUST(wire_status, socket, WIRE_BYTES, .help = "where the daemon listens"),
    MUST(wire_status, started_us, WIRE_I64, .help = "when the daemon started", MOMENT),
    MUST(wire_status, now_us, WIRE_I64, .help = "the moment of the answer", MOMENT),
    MUST(wire_status, host, WIRE_OBJECT, .help = "the machine", .shape = &wire_host_shape),
    MUST(wire_status, tasks, WIRE_OBJECT, .help = "how many tasks", .shape = &wire_tasks_shape),
    MUST(wire_status, associations, WIRE_U32, .help = "how many accounts, and users in accounts", COUNT32),
    MUST(wire_status, policy, WIRE_TEXT, .help = "the policy in force, in a line"),
    MUST(wire_status, model, WIRE_TEXT, .help = "the model of priorities in force, as PriorityType has it"),
    MUST(wire_status, algorithm, WIRE_TEXT, .help = "the fair-share algorithm in force"),
    SETTING_ROWS(wire_status),
    {0}};
const struct wire_shape wire_status_shape = {"Status", "The instance at a glance.", status_fields,
                                             sizeof(struct wire_status), true};

static const struct wire_field difference_fields[] = {
    MAYBE(wire_difference, account, WIRE_TEXT, .help = "the account; null: a QOS', or what the share tree counts"),
    MAYBE(wire_difference, user, WIRE_TEXT, .help = "the user; null: the account's own, or the project's"),
    MAYBE(wire_difference, qos, WIRE_TEXT, .help = "the QOS; null: an association's, or what the share tree counts"),
    MAYBE(wire_difference, project, WIRE_TEXT, .help = "of what the share tree counts; null: outside of projects"),
    MAYBE(wire_difference, tres, WIRE_TEXT, .help = "the resource, in its units times seconds; null: billing-seconds"),
    MUST(wire_difference, stored, WIRE_DOUBLE, .help = "usage as kept"),
    MUST(wire_difference, recomputed, WIRE_DOUBLE, .help = "usage from the job records"),
    {0}};
const struct wire_shape wire_difference_shape = {
    "Difference", "An association, QOS, user or project whose usage is not what its jobs used.", difference_fields,
    sizeof(struct wire_difference), true};

static const struct wire_field verified_fields[] = {
    MUST(wire_verified, associations, WIRE_U32, .help = "how many were checked", COUNT32),
    MUST(wire_verified, owners, WIRE_U32,
         .help = "how many users and projects were checked by what the share tree counts", COUNT32),
    MUST(wire_verified, tasks, WIRE_U64, .help = "from how many records", MOMENT),
    MUST(wire_verified, differences, WIRE_ROWS, .help = "beyond 1e-9 relative", .shape = &wire_difference_shape),
    {0}};
const struct wire_shape wire_verified_shape = {"Verified", "Usage, computed again.", verified_fields,
                                               sizeof(struct wire_verified), true};
