#include "fields/job_fields.h"

#include "base/array.h"
#include "base/ensure.h"
#include "base/idset.h"
#include "fields/dependency_text.h"
#include "fields/limits.h"
#include "fields/request_text.h"
#include "fields/retry_text.h"
#include "fields/signal_text.h"
#include "fields/terminal_text.h"

enum { JOB_NAME_BYTES_MAX = 128, PATH_BYTES_MAX = 4095, ARRAY_BYTES_MAX = 1 << 26 };

static int check_path(struct str path, const char *field, struct err *e)
{
    for (size_t i = 0; i < path.length; i++) {
        if ((unsigned char)path.text[i] < 0x20 || path.text[i] == 0x7f)
            return err_value_reason(e, field, path, "has a control character at byte %zu", i + 1);
    }
    return 0;
}

static int check_absolute_path(struct str path, const char *field, struct err *e)
{
    if (check_path(path, field, e) != 0) return -1;
    return path.text[0] == '/' ? 0 : err_value(e, field, path, "an absolute path");
}

/* Pieces of a row. First what kind of value it is. */
#define NUMBER(name_, low, high) \
    .field.name = (name_), .field.type = FIELD_NUMBER, .field.min = (low), .field.max = (high)
#define ID(name_) NUMBER(name_, 0, UINT32_MAX)
#define REAL(name_, low, high) .field.name = (name_), .field.type = FIELD_REAL, .field.min = (low), .field.max = (high)
#define BOOL(name_) .field.name = (name_), .field.type = FIELD_BOOL, .field.max = 1
#define CHOICE(name_, words) .field.name = (name_), .field.type = FIELD_CHOICE, .field.choices = (words)
#define TEXT(name_) .field.name = (name_), .field.type = FIELD_TEXT
#define BYTES(name_) .field.name = (name_), .field.type = FIELD_BYTES
#define BYTES_FROM_TO(low, high) .field.min = (low), .field.max = (high)
#define SECONDS(name_, low, high) \
    .field.name = (name_), .field.type = FIELD_SECONDS, .field.min = (low), .field.max = (high)
#define MEMORY(name_) .field.name = (name_), .field.type = FIELD_MEMORY, .field.max = MEM_MIB_MAX
#define TIME(name_) .field.name = (name_), .field.type = FIELD_TIME, .field.min = 1, .field.max = TIME_US_MAX
#define HELP(words) .field.help = (words)
#define NULLABLE .field.is_nullable = true
#define HIDDEN .field.is_hidden = true
#define PRIVATE .field.is_private = true /* neither PUBLIC nor a text, and not NULLABLE */
#define TASK_SET .field.is_task_set = true
#define PUBLIC .is_public = true

/* Then where it is kept, and whether decisions depend on it. */
#define OF_JOB(column_) .home = JOB_HOME_JOB, .column = (column_)
#define OF_TASK(column_) .home = JOB_HOME_TASK, .column = (column_)
#define DECIDES .is_decisive = true
#define CONSTANT .is_constant = true
#define INDEXED .is_indexed = true
#define EMPTY_IS_NULL .empty_is_null = true

/* Then who sets it, and until when. */
#define SET(who, until_) .setter = (who), .until = (until_)
#define REQUIRED .is_required = true
#define SINCE(since_) .since = (since_)
#define OPTION(name_, letter_, argument_) .option = (name_), .letter = (letter_), .argument = (argument_)
#define DOCUMENT_KEY_READ(key) .document_key = (key), .has_document_reader = true

const struct job_field_row job_field_rows[JOB_FIELD_COUNT] = {
    [JOB_FIELD_ID] = {PUBLIC, TEXT("id"), TASK_SET, HELP("5, 5_3 or, for several tasks, 5_[3-9%2]")},
    [JOB_FIELD_JOB_ID] = {PUBLIC, ID("job_id"), HELP("the job"), OF_JOB("id"), CONSTANT, DECIDES},
    [JOB_FIELD_TASK_ID] = {PUBLIC, ID("task_id"), HELP("the task of an array; null: not one task of an array"),
                           NULLABLE, OF_TASK("task_id"), CONSTANT, DECIDES},
    [JOB_FIELD_ARRAY_TASKS] = {PUBLIC, TEXT("array_tasks"), NULLABLE, TASK_SET,
                               HELP("the tasks that the row stands for; null: it stands for one")},
    [JOB_FIELD_ARRAY_LIMIT] = {PUBLIC, NUMBER("array_limit", 0, ARRAY_TASK_MAX),
                               HELP("maximum number of running tasks; 0: no limit"), OF_JOB("array_limit"),
                               EMPTY_IS_NULL, DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_ENDED), .is_update_only = true,
                               OPTION("array-limit", 0, "COUNT")},
    [JOB_FIELD_TASK_COUNT] = {PUBLIC, ID("task_count"), HELP("number of tasks that the row stands for")},
    [JOB_FIELD_ASSOCIATION_ID] = {ID("association_id"), HELP("the association charged"), HIDDEN,
                                  OF_JOB("association_id"), INDEXED, DECIDES},
    [JOB_FIELD_ACCOUNT] = {TEXT("account"), HELP("the account to charge"), SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED),
                           OPTION("account", 'A', "NAME")},
    [JOB_FIELD_USER] = {TEXT("user"), HELP("the user in the account")},
    [JOB_FIELD_UID] = {ID("uid"), HELP("user id that it runs as"), OF_JOB("uid"), CONSTANT, DECIDES},
    [JOB_FIELD_GID] = {ID("gid"), HELP("group id that it runs as"), HIDDEN, OF_JOB("gid"), CONSTANT, DECIDES},

    [JOB_FIELD_NAME] = {TEXT("name"), BYTES_FROM_TO(1, JOB_NAME_BYTES_MAX), HELP("the job's name"), REQUIRED,
                        OF_JOB("name"), DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_ENDED),
                        OPTION("job-name", 'J', "NAME")},
    [JOB_FIELD_COMMAND] = {TEXT("command"), HELP("what it runs, as a person sees it"), REQUIRED, OF_JOB("command"),
                           CONSTANT, SET(JOB_SET_BY_USER, JOB_UNTIL_SUBMITTED)},
    [JOB_FIELD_DIRECTORY] = {BYTES("directory"), BYTES_FROM_TO(1, PATH_BYTES_MAX), .field.check = check_absolute_path,
                             HELP("absolute path of the directory it runs in"), REQUIRED, OF_JOB("directory"), CONSTANT,
                             DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_SUBMITTED)},
    [JOB_FIELD_OUT_PATTERN] = {BYTES("out"), BYTES_FROM_TO(1, PATH_BYTES_MAX), .field.check = check_path,
                               HELP("file of standard output: a path with %j, %A, %a, %x, %u, %%"), HIDDEN,
                               OF_JOB("out_pattern"), CONSTANT, DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_SUBMITTED),
                               OPTION("output", 'o', "PATTERN"),
                               .option_help = "file of standard output (fairlead-%j.out; arrays fairlead-%A_%a.out)"},
    [JOB_FIELD_ERR_PATTERN] = {BYTES("err"), BYTES_FROM_TO(1, PATH_BYTES_MAX), .field.check = check_path,
                               HELP("file of standard error; by default that of standard output"), HIDDEN, NULLABLE,
                               OF_JOB("err_pattern"), CONSTANT, DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_SUBMITTED),
                               OPTION("error", 'e', "PATTERN")},
    [JOB_FIELD_COMMENT] = {TEXT("comment"), HELP("a note of the job's user"), NULLABLE, OF_JOB("comment"),
                           SET(JOB_SET_BY_USER, JOB_UNTIL_ENDED), OPTION("comment", 0, "TEXT"),
                           .document_key = "comment"},
    [JOB_FIELD_ADMIN_COMMENT] = {TEXT("admin_comment"), HELP("a note of an operator"), NULLABLE,
                                 OF_JOB("admin_comment"), SET(JOB_SET_BY_OPERATOR, JOB_UNTIL_ENDED),
                                 OPTION("admin-comment", 0, "TEXT"), .document_key = "admin_comment"},
    [JOB_FIELD_ORIGIN] =
        {TEXT("origin"), NULLABLE, OF_JOB("origin"), CONSTANT,
         HELP("the instance and the job id that it was moved in from, as ID/17; null: it is of this one")},
    [JOB_FIELD_OUT_PATH] = {BYTES("out_path"), HELP("file of standard output")},
    [JOB_FIELD_ERR_PATH] = {BYTES("err_path"), HELP("file of standard error")},

    [JOB_FIELD_STATE] = {PUBLIC, CHOICE("state", job_state_choices), HELP("the state"), OF_TASK("state"), DECIDES},
    [JOB_FIELD_HELD] = {PUBLIC, BOOL("held"), HELP("whether it waits for its release"), OF_JOB("is_held"), DECIDES,
                        SET(JOB_SET_BY_USER, JOB_UNTIL_SUBMITTED), OPTION("hold", 'H', NULL),
                        .option_help = "wait until it is released"},
    [JOB_FIELD_HELD_BY_OPERATOR] = {BOOL("held_by_operator"), HELP("whether only an operator may release it"), HIDDEN,
                                    OF_JOB("held_by_operator"), EMPTY_IS_NULL, DECIDES},
    [JOB_FIELD_QUARANTINE] = {NUMBER("quarantine", 0, 3), HELP("whether a quarantine holds it, and who did before"),
                              HIDDEN, OF_JOB("quarantine"), EMPTY_IS_NULL, DECIDES},
    [JOB_FIELD_REASON] = {PUBLIC, CHOICE("reason", pending_reason_names), HELP("why it waits, or None")},
    [JOB_FIELD_DEPENDENCY] = {TEXT("dependency"), BYTES_FROM_TO(0, DEPENDENCY_BYTES_MAX),
                              .field.check = dependency_text_check,
                              HELP("what it still waits for, as afterok:5(unfulfilled); empty: nothing"),
                              .home = JOB_HOME_JOB, DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED),
                              OPTION("dependency", 'd', "LIST"),
                              .option_help =
                                  "wait for other jobs, by their ids, tasks or names: afterok:5:6 (have ended well), "
                                  "afternotok, afterany, after:5+10 (10 minutes after its start), aftercorr:5 (task "
                                  "by task), singleton; , is and, ? is or; none removes it",
                              .document_key = "dependency"},
    [JOB_FIELD_DEPENDENCY_JOIN] = {TEXT("dependency_join"), HIDDEN, HELP("how its conditions are joined: , or ?"),
                                   OF_JOB("dependency_join"), EMPTY_IS_NULL},

    [JOB_FIELD_REQUEUE] = {PRIVATE, BOOL("requeue"), HELP("whether it starts again if its host or keeper fails"),
                           OF_JOB("requeue"), EMPTY_IS_NULL, DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_ENDED),
                           OPTION("requeue", 0, "yes|no"), .argument_default = "yes",
                           .option_help = "start again if the host or the job's keeper fails; no: nor by request",
                           .document_key = "requeue"},
    [JOB_FIELD_FORBIDS_REQUEUE] = {BOOL("forbids_requeue"), HIDDEN,
                                   HELP("whether it cannot be requeued by request, either"), OF_JOB("forbids_requeue"),
                                   EMPTY_IS_NULL, DECIDES},
    [JOB_FIELD_REQUEUE_EXIT] = {TEXT("requeue_exit"), .field.check = retry_text_statuses_check, NULLABLE,
                                HELP("exit statuses with which it starts again, as 99,75-78; null: none"),
                                OF_JOB("requeue_exit"), DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_ENDED),
                                OPTION("requeue-exit", 0, "STATUS,..."),
                                .option_help = "start again after these exit statuses, as 99,75-78; '' is none",
                                .document_key = "requeue_exit"},
    [JOB_FIELD_WARN_SIGNAL] = {TEXT("warn_signal"), .field.check = signal_warning_check, NULLABLE,
                               HELP("the signal that it gets before its time limit, as USR1@60 or B:TERM; null: none"),
                               OF_JOB("warn_signal"), DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED),
                               OPTION("signal", 0, "[B:]SIGNAL[@SECONDS]"),
                               .option_help =
                                   "a signal so long before the time limit (60 s) to all its processes, or with "
                                   "B: only to the first one; '' is none",
                               .document_key = "warn_signal"},
    [JOB_FIELD_TERMINAL] = {TEXT("terminal"), .field.check = terminal_text_check, NULLABLE,
                            HELP("pty or pipes for a job at whose terminal its user is, with ',detach' if it goes on "
                                 "without; null: a batch job"),
                            OF_JOB("terminal"), CONSTANT, DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_SUBMITTED)},
    [JOB_FIELD_MAX_REQUEUE] = {PRIVATE, NUMBER("max_requeue", 0, 1000000),
                               HELP("how often it is requeued by itself; 0: as max_batch_requeue says, which only "
                                    "operators exceed"),
                               OF_JOB("max_requeue"), EMPTY_IS_NULL, DECIDES, SET(JOB_LOWERED_BY_USER, JOB_UNTIL_ENDED),
                               OPTION("max-requeue", 0, "COUNT"), .document_key = "max_requeue"},
    [JOB_FIELD_RETRY] = {TEXT("retry"), .field.check = retry_text_check, NULLABLE,
                         HELP("how often it starts again after a failure, as 3:exit=1,137:backoff=5m; null: it does "
                              "not"),
                         OF_JOB("retry"), DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_ENDED),
                         OPTION("retry", 0, "COUNT[:exit=STATUS,...][:backoff=DURATION]"),
                         .option_help = "start again after a failure, so often at most: an exit status but 0, or only "
                                        "these, or a signal (128 + its number); after this delay, which doubles each "
                                        "time (otherwise requeue_delay_s); '' is none",
                         .document_key = "retry"},
    [JOB_FIELD_RESTARTS] = {PUBLIC, ID("restarts"), HELP("how often it was requeued before this attempt"),
                            OF_TASK("restarts"), CONSTANT, DECIDES},

    [JOB_FIELD_CPUS] = {PUBLIC, NUMBER("cpus", 1, CPUS_MAX), HELP("CPUs of each task"), OF_JOB("cpus"), DECIDES,
                        SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED), OPTION("cpus", 'n', "COUNT")},
    [JOB_FIELD_MEM_MIB] = {PUBLIC, MEMORY("mem_mib"), .field.min = 1, HELP("memory of each task"), OF_JOB("mem_mib"),
                           DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED), OPTION("mem", 0, "SIZE"),
                           .option_help = "memory of each task: MiB, or with a suffix K, M, G or T"},
    [JOB_FIELD_GPUS] = {PUBLIC, NUMBER("gpus", 0, GPUS_MAX), HELP("GPUs of each task"), OF_JOB("gpus"), DECIDES,
                        SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED), OPTION("gpus", 'G', "COUNT")},
    [JOB_FIELD_MEM_PER_CPU] = {PUBLIC, MEMORY("mem_per_cpu_mib"),
                               HELP("memory for each of its CPUs; 0: mem_mib is that of the task"),
                               OF_JOB("mem_per_cpu_mib"), EMPTY_IS_NULL, DECIDES,
                               SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED), OPTION("mem-per-cpu", 0, "SIZE"),
                               .option_help = "memory for each CPU, instead of --mem",
                               DOCUMENT_KEY_READ("mem_per_cpu")},
    [JOB_FIELD_GPUS_PER_SLOT] = {PUBLIC, NUMBER("gpus_per_slot", 0, GPUS_MAX),
                                 HELP("GPUs for each of its slots; 0: gpus are those of the task"),
                                 OF_JOB("gpus_per_slot"), EMPTY_IS_NULL, DECIDES,
                                 SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED), OPTION("gpus-per-slot", 0, "COUNT"),
                                 .option_help = "GPUs for each slot, instead of --gpus",
                                 DOCUMENT_KEY_READ("gpus_per_slot")},
    [JOB_FIELD_TIME_LIMIT] = {PUBLIC, SECONDS("time_limit_s", 1, TIME_LIMIT_S_MAX), HELP("time limit of each task"),
                              OF_JOB("time_limit_s"), DECIDES, SET(JOB_LOWERED_ONCE_STARTED, JOB_UNTIL_ENDED),
                              OPTION("time", 't', "DURATION"),
                              .option_help = "time limit: minutes, M:S, H:M:S, D-H[:M[:S]]; or UNLIMITED",
                              .document_key = "time_limit_s"},
    [JOB_FIELD_TIME_MIN] = {PUBLIC, SECONDS("time_min_s", 0, TIME_LIMIT_S_MAX),
                            HELP("the shortest time limit with which it may start; 0: time_limit_s"),
                            OF_JOB("time_min_s"), EMPTY_IS_NULL, DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_ALL_STARTED),
                            OPTION("time-min", 0, "DURATION"),
                            .option_help = "start with a shorter time limit than -t, at least this, if that lets it "
                                           "start before a reservation; 0 is none",
                            .document_key = "time_min_s"},
    [JOB_FIELD_GRANTED_TIME] = {PUBLIC, SECONDS("granted_time_s", 0, TIME_LIMIT_S_MAX),
                                HELP(
                                    "the time limit that it got, if that is shorter than time_limit_s (time_min_s); 0: "
                                    "time_limit_s"),
                                OF_TASK("granted_time_s"), EMPTY_IS_NULL, DECIDES},
    [JOB_FIELD_SLOTS_MAX] = {PUBLIC, NUMBER("slots_max", 0, CPUS_MAX),
                             HELP("maximum of a range of slots whose minimum is cpus; 0: no range"),
                             OF_JOB("slots_max"), EMPTY_IS_NULL, DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED),
                             OPTION("slots", 0, "N[-M]"),
                             .option_help = "number of slots, which are CPUs; or a range of it"},
    [JOB_FIELD_NODES] = {PUBLIC, TEXT("nodes"), .field.check = request_text_nodes_check,
                         HELP("number of hosts that its slots are on, or a range of it, as 2-4; empty: one"),
                         OF_JOB("nodes"), EMPTY_IS_NULL, DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED),
                         OPTION("nodes", 'N', "N[-M]"),
                         .option_help = "number of hosts, or a range of it: its slots are on so many, at least one on "
                                        "each; '' is none"},
    [JOB_FIELD_SLOTS_PER_NODE] = {PUBLIC, NUMBER("slots_per_node", 0, CPUS_MAX),
                                  HELP("slots on each of its hosts; 0: any number"), OF_JOB("slots_per_node"),
                                  EMPTY_IS_NULL, DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED),
                                  OPTION("slots-per-node", 0, "COUNT"), DOCUMENT_KEY_READ("slots_per_node")},
    [JOB_FIELD_EXCLUSIVE] = {PUBLIC, BOOL("exclusive"),
                             HELP("whether it gets whole hosts: all of their CPUs, and no other job beside it"),
                             OF_JOB("exclusive"), EMPTY_IS_NULL, DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED),
                             OPTION("exclusive", 0, "yes|no"), .argument_default = "yes",
                             .option_help = "whole hosts: all CPUs of each are the job's, and no other job runs there",
                             .document_key = "exclusive"},

    [JOB_FIELD_SUBMIT] = {PUBLIC, TIME("submit_us"), HELP("time of submission"), OF_JOB("submit_us"), CONSTANT,
                          DECIDES},
    [JOB_FIELD_BEGIN] = {PUBLIC, TIME("begin_us"),
                         HELP("earliest start, also of a requeued task that is delayed; null: at once"), NULLABLE,
                         OF_JOB("begin_us"), DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_ALL_STARTED),
                         .field.special = "none", OPTION("begin", 0, "TIME"),
                         .option_help = "earliest start: now+1hour, 16:00, a date, ...; or none"},
    [JOB_FIELD_DEADLINE] = {TIME("deadline_us"), HELP("time by which it has to have started; null: none"), NULLABLE,
                            OF_JOB("deadline_us"), DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_ENDED),
                            .field.special = "none", OPTION("deadline", 0, "TIME"),
                            .option_help =
                                "time by which it has to have started, in the tickets model; or none. Only for "
                                "users who are allowed to"},
    [JOB_FIELD_IMMEDIATE] =
        {PUBLIC, NUMBER("immediate_s", 0, TIME_LIMIT_S_MAX),
         HELP("it starts within so many seconds, or is cancelled; 0: in the first pass; null: it waits"), NULLABLE,
         OF_JOB("immediate_s"), DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_SUBMITTED), OPTION("immediate", 0, "SECONDS"),
         .argument_default = "0",
         .option_help = "start at once, or within SECONDS, or not at all: the job is cancelled then, "
                        "and the command fails with the reason"},
    [JOB_FIELD_CANCEL_REASON] = {TEXT("cancel_reason"), HELP("why the instance cancelled it before it started"),
                                 NULLABLE, OF_JOB("cancel_reason")},
    [JOB_FIELD_ACCRUE] = {TIME("accrue_us"), HELP("since when its age grows"), HIDDEN, NULLABLE, OF_JOB("accrue_us"),
                          DECIDES},
    [JOB_FIELD_START] = {PUBLIC, TIME("start_us"), HELP("time of its start; null: it has not started"), NULLABLE,
                         OF_TASK("start_us"), DECIDES},
    [JOB_FIELD_END] = {PUBLIC, TIME("end_us"), HELP("time of its end; null: it has not ended"), NULLABLE,
                       OF_TASK("end_us")},
    [JOB_FIELD_SUSPENDED_FROM] = {PUBLIC, TIME("suspended_from_us"),
                                  HELP("since when it is suspended; null: it is not"), NULLABLE,
                                  OF_TASK("suspended_from_us"), DECIDES},
    [JOB_FIELD_SUSPENDED] = {PUBLIC, NUMBER("suspended_us", 0, WHOLE_REAL_MAX),
                             HELP("how long suspensions that are over have lasted, in microseconds"),
                             OF_TASK("suspended_us"), EMPTY_IS_NULL, DECIDES},
    [JOB_FIELD_EXPECTED_START] =
        {PUBLIC, TIME("expected_start_us"), NULLABLE,
         HELP("when a waiting job is expected to start; null: not known (after a job of unlimited "
              "time, for example), or not asked for")},
    [JOB_FIELD_EXPECTED_PLACES] = {PUBLIC, TEXT("expected_places"), NULLABLE,
                                   HELP("where: main@localhost=4 is 4 slots of the partition main on localhost")},
    [JOB_FIELD_WAITS_FOR] = {TEXT("waits_for"), NULLABLE,
                             HELP("the jobs that end when it is expected to start: jobs 12, 15 and 3 more; or the "
                                  "partition that opens then; or that its hosts are drained or overloaded")},
    [JOB_FIELD_NEVER_RUNS] = {TEXT("never_runs"), NULLABLE,
                              HELP("why it can never run, even if nothing else ran; null: it can, or not asked for")},
    [JOB_FIELD_MISSING] = {PUBLIC, TEXT("missing"), NULLABLE,
                           HELP("of which resources no host has enough free for it now, as cpu,mem; null: its reason "
                                "is another one than Resources, or only several resources together are missing")},

    [JOB_FIELD_HOSTS] = {PUBLIC, TEXT("hosts"), HELP("where it runs or ran; empty: it has not started"),
                         OF_TASK("hosts"), DECIDES, .field.is_host_set = true},
    [JOB_FIELD_CPU_IDS] = {PUBLIC, TEXT("cpu_ids"), HELP("CPUs that it has or had, for each of its hosts: 0-3;0-1"),
                           OF_TASK("cpus"), DECIDES},
    [JOB_FIELD_GPU_IDS] = {PUBLIC, TEXT("gpu_ids"), HELP("GPUs that it has or had, for each of its hosts"),
                           OF_TASK("gpus"), DECIDES},
    [JOB_FIELD_TASK_MEM_MIB] = {PUBLIC, NUMBER("task_mem_mib", 0, MEM_MIB_MAX), HELP("memory that it has or had"),
                                HIDDEN, OF_TASK("mem_mib"), DECIDES},
    [JOB_FIELD_HOST_MEM_MIB] = {TEXT("host_mem_mib"), NULLABLE, HIDDEN, OF_TASK("host_mem_mib"), DECIDES,
                                HELP("memory on each of several hosts: 4096;2048; null: it has one host")},
    [JOB_FIELD_EXIT_STATUS] = {NUMBER("exit_status", 0, INT32_MAX),
                               HELP("exit status; null: it has not ended, or ended without one"), NULLABLE,
                               OF_TASK("exit_status"), SINCE(JOB_SINCE_END)},
    [JOB_FIELD_SIGNAL] = {NUMBER("signal", 0, INT32_MAX),
                          HELP(
                              "the signal that ended it, or 0; null: as for exit_status, but not if a signal ended it"),
                          NULLABLE, OF_TASK("signal"), SINCE(JOB_SINCE_END)},
    [JOB_FIELD_CPU_TIME] = {PRIVATE, NUMBER("cpu_us", 0, WHOLE_REAL_MAX), HELP("CPU time used so far, in microseconds"),
                            OF_TASK("cpu_us"), DECIDES},
    [JOB_FIELD_MAX_RSS] =
        {PRIVATE, NUMBER("max_rss_kib", 0, WHOLE_REAL_MAX),
         HELP("peak memory in KiB: of its largest process, or of all together when they were measured"),
         OF_TASK("max_rss_kib")},
    [JOB_FIELD_MEM_TIME] = {PRIVATE, REAL("mem_gib_s", 0, TASK_USAGE_MAX),
                            HELP("memory in use x time so far, in GiB-seconds"), OF_TASK("mem_gib_s")},
    [JOB_FIELD_IO] = {PRIVATE, NUMBER("io_bytes", 0, WHOLE_REAL_MAX),
                      HELP("bytes read from and written to storage so far"), OF_TASK("io_bytes"), DECIDES},
    [JOB_FIELD_DETAIL] = {TEXT("detail"), HELP("more about its end"), OF_TASK("detail")},

    [JOB_FIELD_PARTITIONS] = {PUBLIC, TEXT("partitions"),
                              HELP("where it may run: one partition or several, as fast,batch"), HIDDEN,
                              OF_JOB("partitions"), DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED),
                              OPTION("partition", 'p', "NAME,...")},
    [JOB_FIELD_PARTITION] = {PUBLIC, TEXT("partition"), HELP("where it runs, or the partitions it may run in"),
                             OF_TASK("partition"), DECIDES},
    [JOB_FIELD_QOS] = {PUBLIC, TEXT("qos"), HELP("quality of service"), OF_JOB("qos"), DECIDES,
                       SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED), OPTION("qos", 'q', "NAME")},
    [JOB_FIELD_PROJECT] = {TEXT("project"), HELP("the project it counts for; empty: none"), OF_JOB("project"),
                           EMPTY_IS_NULL, DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED),
                           OPTION("project", 'P', "NAME")},
    [JOB_FIELD_REQUESTS] = {TEXT("requests"), HELP("requested resources, as license=2,bigio=true; empty: none"),
                            OF_JOB("requests"), DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED),
                            OPTION("request", 'l', "NAME=VALUE,..."),
                            .option_help = "requested resources per slot; '' is none"},
    [JOB_FIELD_SOFT] = {TEXT("soft"), HELP("requests that a place need not satisfy; empty: none"), OF_JOB("soft"),
                        EMPTY_IS_NULL, DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED),
                        OPTION("soft", 0, "NAME=VALUE,..."),
                        .option_help = "requests that a place need not satisfy: of its partitions, those that satisfy "
                                       "more come first; '' is none"},
    [JOB_FIELD_QUEUES] = {TEXT("queues"), HELP("queues on hosts where it may run; empty: in any of its partitions"),
                          OF_JOB("queues"), EMPTY_IS_NULL, DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED),
                          OPTION("queues", 0, "NAME,..."),
                          .option_help = "queues on hosts where it may run: all.q, all.q@n1, *@n2, all.q@@group; '' is "
                                         "none. Without --partition in all partitions that match",
                          DOCUMENT_KEY_READ("queues")},
    [JOB_FIELD_MASTER_QUEUES] = {TEXT("master_queues"), HELP("queues where its first slot may be; empty: any"),
                                 OF_JOB("master_queues"), EMPTY_IS_NULL, DECIDES,
                                 SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED), OPTION("master-queues", 0, "NAME,..."),
                                 DOCUMENT_KEY_READ("master_queues")},
    [JOB_FIELD_SOFT_QUEUES] = {TEXT("soft_queues"), HELP("queues where it would rather run; empty: none"),
                               OF_JOB("soft_queues"), EMPTY_IS_NULL, DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED),
                               OPTION("soft-queues", 0, "NAME,..."), DOCUMENT_KEY_READ("soft_queues")},
    [JOB_FIELD_CONSTRAINT] = {TEXT("constraint"), .field.check = request_text_constraint_check,
                              HELP("features that its hosts have, as avx&ssd; empty: any"), OF_JOB("constraint_text"),
                              EMPTY_IS_NULL, DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED),
                              OPTION("constraint", 'C', "FEATURES"),
                              .option_help =
                                  "features that its hosts have: avx&ssd (both), avx|amx (one of them); '' is "
                                  "none",
                              .document_key = "constraint"},
    [JOB_FIELD_ENVIRONMENT] = {PUBLIC, TEXT("pe"), HELP("its parallel environment; empty: none"), OF_JOB("pe"),
                               EMPTY_IS_NULL, DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_STARTED),
                               OPTION("pe", 0, "NAME")},
    [JOB_FIELD_RESERVE] = {PRIVATE, BOOL("reserve"), HELP("whether it asks for a reservation"), OF_JOB("is_reserving"),
                           EMPTY_IS_NULL, DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_ALL_STARTED),
                           OPTION("reserve", 0, "yes|no"), .argument_default = "yes",
                           .option_help = "ask for a reservation, where the setting reservations gives them to jobs "
                                          "that ask",
                           .document_key = "reserve"},
    [JOB_FIELD_TRES] = {PUBLIC, TEXT("tres"), OF_TASK("tres"), DECIDES,
                        HELP("what it has or had, as cpu=4,mem=8192,node=1,billing=4; empty: it has not started")},
    [JOB_FIELD_BILLING] = {PUBLIC, REAL("billing", -RATE_MAX, RATE_MAX),
                           HELP("billing units per second; null: it has not started"), NULLABLE, OF_TASK("billing"),
                           DECIDES, SINCE(JOB_SINCE_START)},
    [JOB_FIELD_PARTITION_QOS] = {TEXT("partition_qos"), HIDDEN, OF_TASK("partition_qos"), EMPTY_IS_NULL, DECIDES,
                                 HELP("QOS of its partition when it started, if that is not its own; empty: none")},
    [JOB_FIELD_USAGE_FACTOR] = {REAL("usage_factor", 0, RATE_MAX), HELP("factor of its QOS when it started"), HIDDEN,
                                OF_TASK("usage_factor"), DECIDES},
    [JOB_FIELD_FAIR_SHARE] = {REAL("fair_share", -1e300, 1e300), NULLABLE,
                              HELP("its association's fair-share factor; null: the association is deleted")},

    [JOB_FIELD_NICE] = {PRIVATE, NUMBER("nice", -NICE_MAX, NICE_MAX), HELP("subtracted from its priority"),
                        OF_JOB("nice"), DECIDES, SET(JOB_RAISED_BY_USER, JOB_UNTIL_ENDED), OPTION("nice", 0, "N"),
                        .argument_default = "100",
                        .option_help = "subtracted from its priority; 100 without N; only operators lower it",
                        .document_key = "nice"},
    [JOB_FIELD_SITE] = {PRIVATE, NUMBER("site", -NICE_MAX, NICE_MAX), HELP("the site's term of its priority"),
                        OF_JOB("site"), DECIDES, SET(JOB_SET_BY_OPERATOR, JOB_UNTIL_ENDED),
                        OPTION("site-factor", 0, "N"), .document_key = "site"},
    [JOB_FIELD_SET_PRIORITY] = {NUMBER("set_priority", 1, UINT32_MAX - 1.0),
                                HELP("a priority set by hand; null: it is computed"), NULLABLE, OF_JOB("set_priority"),
                                DECIDES, SET(JOB_SET_BY_OPERATOR, JOB_UNTIL_ENDED), .field.special = "auto",
                                OPTION("set-priority", 0, "N|auto"),
                                .option_help = "a priority set by hand instead of the computed one (auto)",
                                .document_key = "set_priority"},
    [JOB_FIELD_POSIX_PRIORITY] = {PRIVATE, NUMBER("posix_priority", POSIX_PRIORITY_MIN, POSIX_PRIORITY_MAX),
                                  HELP("POSIX priority, of the tickets model"), OF_JOB("posix_priority"), DECIDES,
                                  SET(JOB_LOWERED_BY_USER, JOB_UNTIL_ENDED), OPTION("priority", 0, "N"),
                                  .option_help = "POSIX priority, -1023 to 1024, of the tickets model; only operators "
                                                 "raise it",
                                  .document_key = "posix_priority"},
    [JOB_FIELD_JOB_SHARE] = {PRIVATE, ID("job_share"), HELP("its own shares in the functional policy"),
                             OF_JOB("job_share"), DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_ENDED),
                             OPTION("job-share", 0, "N"), .document_key = "job_share"},
    [JOB_FIELD_OVERRIDE_TICKETS] = {PRIVATE, ID("override_tickets"), HELP("override tickets of its own"),
                                    OF_JOB("override_tickets"), DECIDES, SET(JOB_SET_BY_OPERATOR, JOB_UNTIL_ENDED),
                                    OPTION("override-tickets", 0, "N"), .document_key = "override_tickets"},

    [JOB_FIELD_LIST_POSITION] = {NUMBER("list_position", 0, WHOLE_REAL_MAX), HIDDEN, OF_JOB("list_position"),
                                 EMPTY_IS_NULL,
                                 HELP("position in the scheduler's list; a change by hand moves the job to the end"),
                                 DECIDES},

    [JOB_FIELD_ARRAY] = {TEXT("array"), BYTES_FROM_TO(0, ARRAY_BYTES_MAX),
                         HELP("task numbers and how many run at once, as 0-999%50"), HIDDEN, NULLABLE,
                         OF_JOB("array_tasks"), CONSTANT, DECIDES, SET(JOB_SET_BY_USER, JOB_UNTIL_SUBMITTED),
                         OPTION("array", 'a', "TASKS"),
                         .option_help = "one task for each number: 0-999%50 (at most 50 at once), 1,3,7, 0-20:5"},
    [JOB_FIELD_PENDING_TASKS] = {TEXT("pending_tasks"), HELP("tasks that have not started"), HIDDEN,
                                 OF_JOB("pending_tasks"), DECIDES},
    [JOB_FIELD_CANCELLED_TASKS] = {TEXT("cancelled_tasks"), HELP("tasks cancelled before they started"), HIDDEN,
                                   OF_JOB("cancelled_tasks"), DECIDES},
    [JOB_FIELD_RESTARTED_TASKS] = {TEXT("restarted_tasks"), BYTES_FROM_TO(0, ARRAY_BYTES_MAX), HIDDEN,
                                   HELP("tasks that were requeued at least once; at least twice; ..."),
                                   OF_JOB("restarted_tasks"), EMPTY_IS_NULL, DECIDES},
    [JOB_FIELD_DELAYED_TASKS] = {TEXT("delayed_tasks"), BYTES_FROM_TO(0, ARRAY_BYTES_MAX), HIDDEN,
                                 HELP("requeued tasks of an array and when they may start"), OF_JOB("delayed_tasks"),
                                 EMPTY_IS_NULL, DECIDES, .document_key = "delayed_tasks"},
    [JOB_FIELD_REQUEUE_NEXT] = {ID("requeue_next"), HELP("the task with which an unfinished requeue goes on"), HIDDEN,
                                OF_JOB("requeue_next"), EMPTY_IS_NULL, DECIDES, INDEXED},
    [JOB_FIELD_INPUT_BYTES] = {PRIVATE, NUMBER("input_bytes", 0, UINT32_MAX),
                               HELP("bytes of its script, arguments and environment"), OF_JOB("input_bytes"),
                               EMPTY_IS_NULL, CONSTANT, DECIDES},
    [JOB_FIELD_CANCELLED_BY_RULE] = {BOOL("cancelled_by_rule"), HIDDEN,
                                     HELP("whether tasks were cancelled because what they waited for can never happen"),
                                     OF_JOB("cancelled_by_rule"), EMPTY_IS_NULL},
    [JOB_FIELD_CANCELLED] = {TIME("cancelled_us"), HELP("time of the last cancellation of a pending task"), HIDDEN,
                             NULLABLE, OF_JOB("cancelled_us"), INDEXED},
    [JOB_FIELD_ENDED] = {TIME("ended_us"), HELP("time at which all of it had ended"), HIDDEN, NULLABLE,
                         OF_JOB("ended_us"), INDEXED},

    [JOB_FIELD_IS_CANCELLED] = {BOOL("is_cancelled"), HELP("whether its end was requested"), HIDDEN,
                                OF_TASK("is_cancelled"), DECIDES},
    [JOB_FIELD_TASK_REQUEUE] = {NUMBER("task_requeue", 0, 4), HIDDEN, OF_TASK("requeue"), EMPTY_IS_NULL, DECIDES,
                                HELP("whether its end was requested so that it starts again, and is held then")},
    [JOB_FIELD_SUSPENSIONS] = {ID("suspensions"), HELP("how often it was suspended"), HIDDEN, OF_TASK("suspensions"),
                               EMPTY_IS_NULL, DECIDES},
    [JOB_FIELD_SUSPENSION_CHARGED] = {BOOL("suspension_charged"),
                                      HELP("whether the time of its last suspension is charged"), HIDDEN,
                                      OF_TASK("suspension_charged"), EMPTY_IS_NULL, DECIDES},
    [JOB_FIELD_SUSPENDED_BY_OPERATOR] = {BOOL("suspended_by_operator"), HELP("whether only an operator may resume it"),
                                         HIDDEN, OF_TASK("suspended_by_operator"), EMPTY_IS_NULL, DECIDES},
    [JOB_FIELD_IS_OVER_LIMIT] = {BOOL("is_over_limit"), HELP("whether it ends because a limit of usage is reached"),
                                 HIDDEN, OF_TASK("is_over_limit"), EMPTY_IS_NULL, DECIDES},
    [JOB_FIELD_IS_TIME_EXEMPT] = {PRIVATE, BOOL("is_time_exempt"),
                                  HELP("an operator has set its time limit, so MaxWall does not count"),
                                  OF_JOB("is_time_exempt"), EMPTY_IS_NULL, DECIDES, .document_key = "time_exempt"},
    [JOB_FIELD_LACKS_TIME_LIMIT] = {BOOL("lacks_time_limit"),
                                    HELP("whether no time limit was given, so that it has a default"), HIDDEN,
                                    OF_JOB("lacks_time_limit"), EMPTY_IS_NULL, DECIDES, .document_key = "lacks_time"},
    [JOB_FIELD_HAS_DEFAULT_TIME] = {BOOL("has_default_time"),
                                    HELP("whether each of its partitions gives it a time limit of its own"), HIDDEN,
                                    OF_JOB("has_default_time"), EMPTY_IS_NULL, DECIDES, .document_key = "default_time"},
    [JOB_FIELD_LAUNCH_ID] = {NUMBER("launch_id", 1, 9e18), HELP("the launcher's name of it"), HIDDEN,
                             OF_TASK("launch_id"), DECIDES},
    [JOB_FIELD_BOOT_ID] = {TEXT("boot_id"), HELP("the boot it was launched in"), HIDDEN, OF_TASK("boot_id"), DECIDES},
    [JOB_FIELD_LAUNCH] = {TIME("launch_us"), HELP("time of the decision to start it"), HIDDEN, OF_TASK("launch_us"),
                          DECIDES},
    [JOB_FIELD_LAUNCH_LIMIT] = {SECONDS("launch_limit_s", 0, TIME_LIMIT_S_MAX),
                                HELP("time limit that it was launched with; 0: not known"), HIDDEN,
                                OF_TASK("launch_limit_s"), CONSTANT, EMPTY_IS_NULL},
    [JOB_FIELD_CHARGED] = {TIME("charged_us"), HELP("its usage is charged up to here"), HIDDEN, NULLABLE,
                           OF_TASK("charged_us"), DECIDES},
    [JOB_FIELD_MEASURED] = {TIME("measured_us"), HELP("time of its last measurement"), HIDDEN, NULLABLE,
                            OF_TASK("measured_us"), DECIDES},
    [JOB_FIELD_MEASURED_MEM] = {NUMBER("mem_kib", 0, WHOLE_REAL_MAX), HELP("memory in use at that time, in KiB"),
                                HIDDEN, OF_TASK("mem_kib"), DECIDES},
    [JOB_FIELD_MEASURED_FROM] = {TIME("measured_from_us"), HELP("its measured usage counts from here on"), HIDDEN,
                                 NULLABLE, OF_TASK("measured_from_us"), DECIDES},
    [JOB_FIELD_CHARGED_CPU] = {REAL("charged_cpu_s", 0, TASK_USAGE_MAX), HELP("its part of its owners' CPU usage"),
                               HIDDEN, OF_TASK("charged_cpu_s"), DECIDES},
    [JOB_FIELD_CHARGED_MEM] = {REAL("charged_mem_gib_s", 0, TASK_USAGE_MAX),
                               HELP("its part of its owners' memory usage"), HIDDEN, OF_TASK("charged_mem_gib_s"),
                               DECIDES},
    [JOB_FIELD_CHARGED_IO] = {REAL("charged_io_gib", 0, TASK_USAGE_MAX), HELP("its part of its owners' I/O"), HIDDEN,
                              OF_TASK("charged_io_gib"), DECIDES},
    [JOB_FIELD_CHARGED_AS_OF] = {TIME("charged_as_of_us"), HELP("the time to which these parts have decayed"), HIDDEN,
                                 NULLABLE, OF_TASK("charged_as_of_us"), DECIDES},
};

const struct field_table job_fields = {
    .name = "Job",
    .help = "A task that has started; or what of a job has not started; or what of it was cancelled before it started.",
    .rows = job_field_rows,
    .row_size = sizeof job_field_rows[0],
    .count = JOB_FIELD_COUNT,
};

bool job_field_is_settable(enum job_field f, bool is_update)
{
    ensure(f < JOB_FIELD_COUNT);
    const struct job_field_row *row = &job_field_rows[f];
    if (row->setter == JOB_SET_BY_INSTANCE) return false;
    return is_update ? row->until != JOB_UNTIL_SUBMITTED : !row->is_update_only;
}

int job_field_count_ids(struct str text, const char *name, uint32_t *out_count, struct err *e)
{
    int result = 0;
    *out_count = 0;
    while (text.text != NULL && result == 0) {
        struct idset ids = {0};
        struct str item = str_cut(text, ';', &text);
        if (item.length > 0) result = idset_parse(item, NONE - 1, name, &ids, e);
        *out_count += idset_count(&ids);
        idset_release(&ids);
    }
    return result;
}
