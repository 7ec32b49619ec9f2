#include "fields/settings.h"

#include "base/array.h"
#include "base/ensure.h"
#include "fields/host_text.h"
#include "fields/limits.h"
#include "fields/setting_remark.h"
#include "fields/setting_text.h"

enum { DAY_S = 86400, YEAR_S = 366 * DAY_S };

#define LONG_S (100.0 * YEAR_S)
#define WEIGHT_MAX 1e18
#define SHARE_OF_FOUR 0.25

/* Pieces of a row, by group and by type; ranges and defaults are in the value's own unit. */
#define FAIRLEAD .group = "Fairlead"
#define SLURM .group = "Slurm"
#define GRID_ENGINE .group = "Grid Engine"
#define VALUE(kind, low, high, value) \
    .type = (kind), .min = (low), .max = (high), .default_value = {.number = (value), .text = ""}
#define NUMBER(low, high, value) VALUE(FIELD_NUMBER, low, high, value)
#define SECONDS(low, high, value) VALUE(FIELD_SECONDS, low, high, value)
#define MINUTES(low, high, value) VALUE(FIELD_MINUTES, low, high, value)
#define HOURS(low, high, value) VALUE(FIELD_HOURS, low, high, value)
#define MEMORY(low, high, value) VALUE(FIELD_MEMORY, low, high, value)
#define BOOLEAN(value) VALUE(FIELD_BOOL, 0, 1, value)
#define REAL(low, high, value) \
    .type = FIELD_REAL, .min = (low), .max = (high), .default_value = {.real = (value), .text = ""}
#define CHOICE(words) .type = FIELD_CHOICE, .choices = (words), .default_value = {.text = ""}
#define TEXT(value) .type = FIELD_TEXT, .default_value = {.text = (value)}
#define INSTANCE_REMARK(what) .remark = setting_remark_##what, .remark_is_of_instance = true

/* --- the table ---------------------------------------------------------------------------------------------------- */

const struct field settings_table[SETTING_COUNT] = {
    [SET_HALFLIFE_S] = {FAIRLEAD, SECONDS(0, LONG_S, 7 * DAY_S), .name = "halflife_s", INSTANCE_REMARK(halflife),
                        .help = "half-life of usage; 0: usage does not decay"},
    [SET_TIES] = {FAIRLEAD, CHOICE("merge,slurm"), .name = "ties",
                  .help = "equal levels: merge (as Fair Tree is published) or slurm (as Slurm 22.05 ranks)"},
    [SET_DEFAULT_CPUS] = {FAIRLEAD, NUMBER(1, CPUS_MAX, 1), .name = "default_cpus", .help = "default CPUs per job"},
    [SET_DEFAULT_MEM_MIB] = {FAIRLEAD, MEMORY(1, MEM_MIB_MAX, 256), .name = "default_mem_mib", INSTANCE_REMARK(memory),
                             .help = "default memory per job"},
    [SET_DEFAULT_TIME_S] = {FAIRLEAD, SECONDS(1, TIME_LIMIT_S_MAX, DAY_S), .name = "default_time_s",
                            INSTANCE_REMARK(default_time), .help = "default time limit per job"},
    [SET_GRACE_S] = {FAIRLEAD, SECONDS(0, DAY_S, 30), .name = "grace_s", INSTANCE_REMARK(grace),
                     .help = "time from SIGTERM to SIGKILL when a job is ended"},
    [SET_HOST_CPUS] = {FAIRLEAD, NUMBER(1, CPUS_MAX, SETTING_AUTO), .name = "host_cpus", .special = "auto",
                       .help =
                           "CPUs to allocate, unless the host localhost has cpus; auto: those this process may use"},
    [SET_HOST_MEM_MIB] = {FAIRLEAD, MEMORY(1, MEM_MIB_MAX, SETTING_AUTO), .name = "host_mem_mib", .special = "auto",
                          .help =
                              "memory to allocate, unless the host localhost has mem; auto: all that this machine has"},
    [SET_HOST_GPUS] = {FAIRLEAD, NUMBER(0, GPUS_MAX, SETTING_AUTO), .name = "host_gpus", .special = "auto",
                       .help = "GPUs to allocate; auto: those found at start"},
    [SET_MAX_ARRAY_TASKS] = {FAIRLEAD, NUMBER(1, 1000000, 100000), .name = "max_array_tasks",
                             .help = "maximum number of tasks of an array"},
    [SET_MAX_JOBS] = {GRID_ENGINE, NUMBER(0, 10000000, 1000000), .name = "max_jobs",
                      .help = "maximum number of jobs waiting and running; an array counts as one; 0: no limit"},
    [SET_MAX_INPUT_MIB] = {FAIRLEAD, NUMBER(0, 1 << 30, 16384), .name = "max_input_mib",
                           .help = "maximum of MiB that scripts, arguments and environments of all jobs waiting and "
                                   "running have; 0: no limit"},
    [SET_MAX_USER_INPUT_MIB] = {FAIRLEAD, NUMBER(0, 1 << 30, 8192), .name = "max_u_input_mib",
                                .help = "the same of the jobs of each user; 0: no limit"},
    [SET_RESERVATIONS] = {FAIRLEAD, CHOICE("auto,none,requested,all"), .name = "reservations",
                          .help = "which jobs that cannot start now get a reservation; auto: requested (submit "
                                  "--reserve) with priority/tickets, else all"},
    [SET_RESERVATION_DEPTH] = {FAIRLEAD, NUMBER(0, 10000000, 100), .name = "reservation_depth",
                               .help =
                                   "with reservations = all: how many jobs, in the order of their priorities, get a "
                                   "reservation; 1 is EASY backfill"},
    [SET_BF_WINDOW] = {SLURM, NUMBER(1, 60000000, FIELD_SPECIAL), .name = "bf_window", .special = "UNLIMITED",
                       .help = "minutes: jobs that could start only later get no reservation"},
    [SET_BF_RESOLUTION] = {SLURM, SECONDS(0, DAY_S, 0), .name = "bf_resolution",
                           .help = "reservations begin at multiples of this time; 0: exactly"},
    [SET_BF_MAX_JOB_TEST] = {SLURM, NUMBER(0, 1000000, 0), .name = "bf_max_job_test",
                             .help = "how many jobs are tried in a pass after the first one that cannot start; 0: all"},
    [SET_BF_MAX_JOB_USER] = {SLURM, NUMBER(0, 1000000, 0), .name = "bf_max_job_user",
                             .help = "how many of them may be of one user; 0: all"},
    [SET_PASS_RHYTHM] = {FAIRLEAD, CHOICE("events,defer,interval"), .name = "pass_rhythm",
                         .help = "when jobs are looked at: events: at each event; defer: submissions wait for the next "
                                 "pass, at most schedule_interval (Slurm); interval: every schedule_interval, and as "
                                 "flush_submit_sec and flush_finish_sec say (Grid Engine)"},
    [SET_REQUEUE_DELAY_S] = {FAIRLEAD, SECONDS(0, DAY_S, 120), .name = "requeue_delay_s",
                             .help = "how long a requeued job waits before it may start again"},
    [SET_CHARGE_SUSPENDED] = {FAIRLEAD, BOOLEAN(0), .name = "charge_suspended",
                              .help =
                                  "whether the time in which a job is suspended is charged as usage; for suspensions "
                                  "that begin later (Slurm charges it)"},
    [SET_HISTORY_KEEP_S] = {FAIRLEAD, SECONDS(0, LONG_S, 0), .name = "history_keep_s", INSTANCE_REMARK(keep),
                            .help = "how long ended jobs are kept in the history; 0: for ever"},
    [SET_MAX_MOVED_IN] = {FAIRLEAD, NUMBER(0, 100000000, 200000), .name = "max_moved_in",
                          .help = "how many jobs and starts each user may move in from private instances; 0: none"},
    [SET_AUDIT_KEEP_S] = {FAIRLEAD, SECONDS(0, LONG_S, 0), .name = "audit_keep_s", INSTANCE_REMARK(keep),
                          .help = "how long entries of the audit log are kept; 0: for ever"},
    [SET_ENFORCE_MEMORY] = {FAIRLEAD, CHOICE("auto,on,off"), .name = "enforce_memory",
                            .help = "whether jobs that use more memory than they asked for are ended; auto: in a "
                                    "system instance. Of jobs that start later"},
    [SET_ENFORCE_CPUS] = {FAIRLEAD, CHOICE("on,off"), .name = "enforce_cpus",
                          .help = "whether jobs run on their own CPUs only. Of jobs that start later"},
    [SET_MEMORY_SLACK] = {FAIRLEAD, MEMORY(0, MEM_MIB_MAX, 16), .name = "memory_slack", INSTANCE_REMARK(memory),
                          .help = "memory that a job may use beyond what it asked for before it is ended"},
    [SET_MEMORY_POLL_S] = {FAIRLEAD, SECONDS(1, 3600, 1), .name = "memory_poll_s",
                           .help = "how often the memory of jobs is looked at where no control group limits it"},
    [SET_OPERATOR_GROUP] = {FAIRLEAD, TEXT(""), .name = "operator_group", .check = setting_text_group_check,
                            .help = "in a system instance: the group of the machine whose members are operators, who "
                                    "may change any job; empty: none"},
    [SET_ADMINISTRATOR_GROUP] = {FAIRLEAD, TEXT(""), .name = "administrator_group", .check = setting_text_group_check,
                                 .help = "in a system instance: the group whose members are administrators, who may "
                                         "change everything, as root may; empty: none"},
    [SET_PRIVATE_DATA] = {FAIRLEAD, TEXT(""), .name = "private_data", .check = setting_text_private_check,
                          .help = "what is hidden from users who are not operators: jobs (of other users), details "
                                  "(their names, owners, commands, directories and comments), usage, users, separated "
                                  "by commas; empty: nothing"},
    [SET_OUTSIDE_JOBS] = {FAIRLEAD, CHOICE("ignore,show,warn,low_weight"), .name = "outside_jobs",
                          .help =
                              "what is done about users who use more than outside_jobs_cpus, or a GPU, outside jobs: "
                              "ignore; show: in status and in the log; "
                              "warn: also tell them on their terminals; "
                              "low_weight: also give their processes outside jobs a low weight"},
    [SET_OUTSIDE_JOBS_CPUS] = {FAIRLEAD, REAL(0, CPUS_MAX, 1), .name = "outside_jobs_cpus",
                               .help = "CPUs that a user may use outside jobs"},
    [SET_OUTSIDE_JOBS_S] = {FAIRLEAD, SECONDS(1, DAY_S, 300), .name = "outside_jobs_s",
                            .help = "how long a user has to use more than that, or less again, until something is "
                                    "done about it, or undone"},
    [SET_OUTSIDE_JOBS_WARN_S] = {FAIRLEAD, SECONDS(1, 30 * DAY_S, 12 * 3600), .name = "outside_jobs_warn_s",
                                 .help = "how long a user who was told so is not told again; then once more if it "
                                         "is still so, or again"},
    [SET_OUTSIDE_JOBS_EXEMPT] = {FAIRLEAD, TEXT(""), .name = "outside_jobs_exempt", .check = setting_text_exempt_check,
                                 .help = "users, and @groups whose members, may use what they like outside jobs, "
                                         "separated by commas; root and system accounts may always"},
    [SET_GPU_OUTSIDE] = {FAIRLEAD, CHOICE("report,keep_back"), .name = "gpu_outside",
                         .help = "what is done about a GPU that a process without a job uses: report: it is in status; "
                                 "keep_back: no job gets it meanwhile, too"},
    [SET_GPU_POLL_S] = {FAIRLEAD, SECONDS(1, 3600, 10), .name = "gpu_poll_s", .help = "how often GPUs are looked at"},
    [SET_GPU_TIMEOUT_S] = {FAIRLEAD, SECONDS(1, 3600, 20), .name = "gpu_timeout_s",
                           .help = "how long a look at GPUs may take; then the process that looks is ended"},
    [SET_SUBMIT_HOOK] = {FAIRLEAD, TEXT(""), .name = "submit_hook", .check = setting_text_program_check,
                         .help = "the program that is asked about each submission, by its absolute path; empty: none"},
    [SET_HOOK_TIMEOUT_S] = {FAIRLEAD, SECONDS(1, 60, 10), .name = "hook_timeout_s",
                            .help = "how long the program may take; then it is killed, and the job refused"},

    [SET_PRIORITY_TYPE] = {SLURM, CHOICE("priority/multifactor,priority/tickets,priority/basic"),
                           .name = "PriorityType",
                           .help = "how jobs are ordered: priority/multifactor, priority/tickets or priority/basic"},
    [SET_PRIORITY_FLAGS] = {SLURM, TEXT(""), .name = "PriorityFlags", .check = setting_text_priority_flags_check,
                            .help = "Slurm's flags, separated by commas: NO_FAIR_TREE, MAX_TRES ..."},
    [SET_WEIGHT_AGE] = {SLURM, NUMBER(0, UINT32_MAX, 0), .name = "PriorityWeightAge",
                        .help = "weight of the time a job has waited"},
    [SET_WEIGHT_ASSOC] = {SLURM, NUMBER(0, UINT32_MAX, 0), .name = "PriorityWeightAssoc",
                          .help = "weight of the association's priority"},
    [SET_WEIGHT_FAIRSHARE] = {SLURM, NUMBER(0, UINT32_MAX, 1000000), .name = "PriorityWeightFairshare",
                              .help = "weight of the fair-share factor"},
    [SET_WEIGHT_JOB_SIZE] = {SLURM, NUMBER(0, UINT32_MAX, 0), .name = "PriorityWeightJobSize",
                             .help = "weight of the job's size"},
    [SET_WEIGHT_PARTITION] = {SLURM, NUMBER(0, UINT32_MAX, 0), .name = "PriorityWeightPartition",
                              .help = "weight of the partition's factor"},
    [SET_WEIGHT_QOS] = {SLURM, NUMBER(0, UINT32_MAX, 0), .name = "PriorityWeightQOS",
                        .help = "weight of the QOS priority"},
    [SET_WEIGHT_TRES] = {SLURM, TEXT(""), .name = "PriorityWeightTRES",
                         .help = "weights of the requested part of the partition's TRES: cpu=1000,gres/gpu=3000"},
    [SET_MAX_AGE] = {SLURM, MINUTES(0, LONG_S, 7 * DAY_S), .name = "PriorityMaxAge", .special = "UNLIMITED",
                     .help = "waiting time at which the age factor reaches 1"},
    [SET_FAVOR_SMALL] = {SLURM, BOOLEAN(0), .name = "PriorityFavorSmall",
                         .help = "small jobs get the larger size factor"},
    [SET_DAMPENING] = {SLURM, NUMBER(1, 65535, 1), .name = "FairShareDampeningFactor",
                       .help = "classic and depth-oblivious: how much overuse is forgiven"},
    [SET_USAGE_RESET] = {SLURM, CHOICE("NONE,NOW,DAILY,WEEKLY,MONTHLY,QUARTERLY,YEARLY"),
                         .name = "PriorityUsageResetPeriod",
                         .help = "when all usage is set to 0, at local midnight; NOW: once, at once"},
    [SET_TRACKED_TRES] = {SLURM, TEXT("gres/gpu"), .name = "AccountingStorageTRES",
                          .help = "TRES beyond the standard ones; entries are only ever added"},
    [SET_BATCH_SCHED_DELAY] = {SLURM, SECONDS(0, DAY_S, 0), .name = "batch_sched_delay",
                               .help = "with pass_rhythm = events: a submission makes a pass this long after the last "
                                       "one, so that many submissions share a pass; 0: at once"},

    [SET_ENFORCE] = {SLURM, TEXT("associations,limits,qos,safe"), .name = "AccountingStorageEnforce",
                     INSTANCE_REMARK(enforce), .check = setting_text_enforce_check,
                     .help = "what of associations is enforced: associations, limits, qos, safe (a job starts only if "
                             "it can end within what GrpTRESMins leaves beside running jobs, and within GrpWall "
                             "without them), all or none, separated by commas; of Slurm's other words nojobs and "
                             "nosteps have no effect, and wckeys is associations"},
    [SET_ENFORCE_PART_LIMITS] = {SLURM, CHOICE("ANY,ALL,NO"), .name = "EnforcePartLimits",
                                 .help = "when a submission beyond a partition's limits is refused: if none of its "
                                         "partitions accepts it (ANY), if one does not (ALL), or never (NO)"},
    [SET_KILL_INVALID_DEPEND] = {SLURM, BOOLEAN(0), .name = "kill_invalid_depend",
                                 .help = "jobs that wait for what can never happen are cancelled (true) or stay "
                                         "pending (false)"},
    [SET_JOB_REQUEUE] = {SLURM, BOOLEAN(0), .name = "JobRequeue",
                         .help = "whether jobs that do not say it start again after their host or keeper failed"},
    [SET_MAX_BATCH_REQUEUE] = {SLURM, NUMBER(1, 1000000, 5), .name = "max_batch_requeue",
                               .help = "how often a job, or a task of an array, is requeued by itself before it is "
                                       "held"},

    [SET_GE_WEIGHT_TICKET] = {GRID_ENGINE, REAL(-WEIGHT_MAX, WEIGHT_MAX, 0.5), .name = "weight_ticket",
                              INSTANCE_REMARK(weight), .help = "weight of the normalised tickets"},
    [SET_GE_WEIGHT_URGENCY] = {GRID_ENGINE, REAL(-WEIGHT_MAX, WEIGHT_MAX, 0.5), .name = "weight_urgency",
                               INSTANCE_REMARK(weight), .help = "weight of the normalised urgency"},
    [SET_GE_WEIGHT_PRIORITY] = {GRID_ENGINE, REAL(-WEIGHT_MAX, WEIGHT_MAX, 0), .name = "weight_priority",
                                INSTANCE_REMARK(weight), .help = "weight of the normalised POSIX priority"},
    [SET_GE_WEIGHT_WAITING_TIME] = {GRID_ENGINE, REAL(-WEIGHT_MAX, WEIGHT_MAX, 0.278), .name = "weight_waiting_time",
                                    INSTANCE_REMARK(weight), .help = "urgency per second of waiting"},
    [SET_GE_WEIGHT_DEADLINE] = {GRID_ENGINE, REAL(-WEIGHT_MAX, WEIGHT_MAX, 3600000), .name = "weight_deadline",
                                INSTANCE_REMARK(weight), .help = "urgency at the deadline"},
    [SET_GE_TICKETS_SHARE] = {GRID_ENGINE, NUMBER(0, UINT32_MAX, 0), .name = "weight_tickets_share",
                              .help = "tickets of the share tree policy"},
    [SET_GE_TICKETS_FUNCTIONAL] = {GRID_ENGINE, NUMBER(0, UINT32_MAX, 0), .name = "weight_tickets_functional",
                                   .help = "tickets of the functional policy"},
    [SET_GE_WEIGHT_USER] = {GRID_ENGINE, REAL(0, WEIGHT_MAX, SHARE_OF_FOUR), .name = "weight_user",
                            .help = "functional policy: weight of users"},
    [SET_GE_WEIGHT_PROJECT] = {GRID_ENGINE, REAL(0, WEIGHT_MAX, SHARE_OF_FOUR), .name = "weight_project",
                               .help = "functional policy: weight of projects"},
    [SET_GE_WEIGHT_DEPARTMENT] = {GRID_ENGINE, REAL(0, WEIGHT_MAX, SHARE_OF_FOUR), .name = "weight_department",
                                  .help = "functional policy: weight of departments"},
    [SET_GE_WEIGHT_JOB] = {GRID_ENGINE, REAL(0, WEIGHT_MAX, SHARE_OF_FOUR), .name = "weight_job",
                           .help = "functional policy: weight of the job's own shares"},
    [SET_GE_WEIGHT_JOB_CLASS] =
        {GRID_ENGINE, REAL(0, WEIGHT_MAX, 0), .name = "weight_job_class",
         .help = "functional policy: weight of job classes (partitions), as in the N1GE 6.1 manual"},
    [SET_GE_SHARE_OVERRIDE_TICKETS] = {GRID_ENGINE, BOOLEAN(1), .name = "share_override_tickets",
                                       .help = "a member's override tickets are divided among its jobs"},
    [SET_GE_SHARE_FUNCTIONAL_SHARES] = {GRID_ENGINE, BOOLEAN(1), .name = "share_functional_shares",
                                        .help = "a member's functional shares are divided among its jobs"},
    [SET_GE_MAX_FUNCTIONAL_JOBS] = {GRID_ENGINE, NUMBER(0, UINT32_MAX, 200), .name = "max_functional_jobs_to_schedule",
                                    .help = "number of pending jobs that the functional policy ranks exactly"},
    [SET_GE_MAX_PENDING_TASKS] = {GRID_ENGINE, NUMBER(1, UINT32_MAX, 50), .name = "max_pending_tasks_per_job",
                                  .help = "number of pending tasks of an array that get tickets"},
    [SET_GE_POLICY_HIERARCHY] = {GRID_ENGINE, TEXT("OFS"), .name = "policy_hierarchy",
                                 .check = setting_text_hierarchy_check,
                                 .help = "order of the policies Override, Functional, Share tree; or NONE"},
    [SET_GE_COMPENSATION_FACTOR] = {GRID_ENGINE, REAL(-WEIGHT_MAX, WEIGHT_MAX, 5), .name = "compensation_factor",
                                    .remark = setting_remark_compensation_factor,
                                    .help = "limit on the surplus of those below their target, in targets; 0: no "
                                            "limit; below 0: counts as a tiny positive one"},
    [SET_GE_HALFTIME] = {GRID_ENGINE, HOURS(0, LONG_S, 168 * 3600), .name = "halftime",
                         .help = "half-life of the share tree's usage in hours; 0: it does not decay"},
    [SET_GE_HALFLIFE_DECAY_LIST] = {GRID_ENGINE, TEXT("none"), .name = "halflife_decay_list",
                                    .check = setting_text_halflife_list_check,
                                    .help = "half-lives by resource in minutes: cpu=1440:mem=-1:io=0; or none"},
    [SET_GE_USAGE_WEIGHT_LIST] = {GRID_ENGINE, TEXT("cpu=1,mem=0,io=0"), .name = "usage_weight_list",
                                  .check = setting_text_usage_weights_check, .remark = setting_remark_usage_weight_list,
                                  .help = "weights of the resources in usage: cpu=1,mem=0,io=0; an unknown resource "
                                          "has no usage, but its weight counts in their sum"},
    [SET_GE_SHARETREE_RESERVED_USAGE] = {GRID_ENGINE, BOOLEAN(0), .name = "SHARETREE_RESERVED_USAGE",
                                         .help = "the share tree counts the CPUs and memory that running jobs have "
                                                 "reserved (true), or their measured usage (false)"},
    [SET_GE_ACCT_RESERVED_USAGE] = {GRID_ENGINE, BOOLEAN(0), .name = "ACCT_RESERVED_USAGE",
                                    .help = "ended jobs are recorded with the CPU time and memory that they had "
                                            "reserved (true) or that was measured (false)"},
    [SET_GE_LOAD_REPORT_TIME] = {GRID_ENGINE, SECONDS(1, DAY_S, 40), .name = "load_report_time",
                                 .help = "how often the usage of running jobs and the load of the host are measured"},
    [SET_GE_LOAD_SENSOR] = {GRID_ENGINE, TEXT("none"), .name = "load_sensor", .check = setting_text_load_sensor_check,
                            .help = "programs that report load values, by their absolute paths, separated by commas; "
                                    "or none"},
    [SET_GE_REPORT_PENDING_TICKETS] = {GRID_ENGINE, BOOLEAN(1), .name = "report_pjob_tickets",
                                       .help = "listings show the tickets of pending jobs"},
    [SET_GE_ENFORCE_USER] = {GRID_ENGINE, CHOICE("auto,none,true"), .name = "enforce_user",
                             .help =
                                 "an unknown user is added on submitting (auto), gets no tickets (none), is refused "
                                 "(true)"},
    [SET_GE_AUTO_USER_FSHARE] = {GRID_ENGINE, NUMBER(0, UINT32_MAX, 0), .name = "auto_user_fshare",
                                 .help = "functional shares of a user added by enforce_user = auto"},
    [SET_GE_AUTO_USER_OTICKET] = {GRID_ENGINE, NUMBER(0, UINT32_MAX, 0), .name = "auto_user_oticket",
                                  .help = "override tickets of a user added by enforce_user = auto"},
    [SET_GE_URGENCY_SLOTS] = {GRID_ENGINE, TEXT("min"), .name = "urgency_slots",
                              .check = setting_text_urgency_slots_check,
                              .help = "number of slots that a job with a range counts for: min, max, avg or a number"},

    [SET_GE_LOAD_FORMULA] = {GRID_ENGINE, TEXT("np_load_avg"), .name = "load_formula",
                             .check = host_text_load_formula_check,
                             .help =
                                 "the load of a host: load values with weights, np_load_avg*2-slots; the smallest is "
                                 "first"},
    [SET_GE_LOAD_ADJUSTMENTS] = {GRID_ENGINE, TEXT("np_load_avg=0.50"), .name = "job_load_adjustments",
                                 .check = host_text_named_values_check,
                                 .help = "load values that a job raises when it starts, for each slot; NONE"},
    [SET_GE_ADJUSTMENT_DECAY] = {GRID_ENGINE, SECONDS(0, YEAR_S, 450), .name = "load_adjustment_decay_time",
                                 .help = "time over which the adjustment of a job's start fades; 0: none"},
    [SET_GE_QUEUE_SORT] = {GRID_ENGINE, CHOICE("load,seqno,share"), .name = "queue_sort_method",
                           .help = "which queue is tried first: that of the host with the smallest load, that with the "
                                   "smallest seq_no, or that of the host whose share of the tickets is furthest below "
                                   "that of its processors"},
    [SET_GE_MAX_RESERVATION] = {GRID_ENGINE, NUMBER(0, UINT32_MAX, 0), .name = "max_reservation",
                                .help = "number of jobs that get a reservation"},
    [SET_GE_DEFAULT_DURATION] = {GRID_ENGINE, SECONDS(1, UINT32_MAX, FIELD_SPECIAL), .name = "default_duration",
                                 .special = "INFINITY",
                                 .help = "how long a job without a time limit is planned to run"},
    [SET_GE_PARAMS] = {GRID_ENGINE, TEXT("none"), .name = "params", .check = setting_text_params_check,
                       .help =
                           "MONITOR=1 (write the schedule file), DURATION_OFFSET=60 (seconds that planned run times "
                           "get longer)"},
    [SET_GE_SCHEDULE_INTERVAL] = {GRID_ENGINE, SECONDS(1, DAY_S, 15), .name = "schedule_interval",
                                  .help = "with pass_rhythm = interval or defer: time between passes (Slurm's "
                                          "sched_interval); with any: a job that runs longer than planned is expected "
                                          "to end so much later than now"},
    [SET_GE_FLUSH_SUBMIT] = {GRID_ENGINE, SECONDS(0, DAY_S, 0), .name = "flush_submit_sec",
                             .help = "with pass_rhythm = interval: n makes a pass n - 1 seconds after a submission; 0: "
                                     "submissions wait for the interval"},
    [SET_GE_FLUSH_FINISH] = {GRID_ENGINE, SECONDS(0, DAY_S, 0), .name = "flush_finish_sec",
                             .help = "with pass_rhythm = interval: n makes a pass n - 1 seconds after the end of a "
                                     "task; 0: what waits for it waits for the interval"},

    [SET_GE_MAX_USER_RUNNING] = {GRID_ENGINE, NUMBER(0, UINT32_MAX, 0), .name = "maxujobs",
                                 .help =
                                     "maximum number of running jobs of a user, each task of an array counts; 0: no "
                                     "limit"},
    [SET_GE_MAX_USER_JOBS] = {GRID_ENGINE, NUMBER(0, UINT32_MAX, 0), .name = "max_u_jobs",
                              .help = "maximum number of jobs of a user waiting and running, beyond which submissions "
                                      "are refused; an array counts as one; 0: no limit"},
    [SET_GE_MAX_ARRAY_RUNNING] = {GRID_ENGINE, NUMBER(0, UINT32_MAX, 0), .name = "max_aj_instances",
                                  .help = "maximum number of running tasks of an array; 0: no limit"},

    [SET_GE_POSIX_RANGE] = {GRID_ENGINE, CHOICE("fixed,present"), .name = "posix_priority_range",
                            .help = "POSIX priority is normalised over fixed -1023..1024 (8.1.9) or the jobs present "
                                    "(6.1 manual)"},
    [SET_GE_DEADLINE_RULE] = {GRID_ENGINE, CHOICE("own,waiting"), .name = "deadline_weight",
                              .help = "the deadline's urgency has its own weight (8.1.9) or that of waiting (6.1 "
                                      "manual)"},
    [SET_GE_COMPENSATION_RULE] = {GRID_ENGINE, CHOICE("program,manual"), .name = "compensation_rule",
                                  .help = "compensation_factor as 8.1.9 computes it (program) or as a cap (manual)"},
    [SET_GE_DECAY_RULE] = {GRID_ENGINE, CHOICE("program,exact"), .name = "halftime_rule",
                           .help = "usage decays as in 8.1.9 (program) or exactly to a half (exact)"},
};

const struct field_table settings_fields = {.name = "Settings",
                                            .help = "What an administrator sets.",
                                            .rows = settings_table,
                                            .row_size = sizeof settings_table[0],
                                            .count = SETTING_COUNT,
                                            .is_written = true};

/* Keywords of other programs for settings with another name, with the values those programs write. */
static const struct {
    enum setting setting;
    struct field field;
} aliases[] = {
    {.setting = SET_HALFLIFE_S, .field = {MINUTES(0, LONG_S, 0), .name = "PriorityDecayHalfLife", .help = ""}},
    {.setting = SET_TIES, .field = {CHOICE("merge,slurm"), .name = "FairTreeTies", .help = ""}},
    {.setting = SET_MAX_ARRAY_TASKS, .field = {NUMBER(1, 1000000, 0), .name = "max_aj_tasks", .help = ""}},
    {.setting = SET_GE_SCHEDULE_INTERVAL, .field = {SECONDS(1, DAY_S, 0), .name = "sched_interval", .help = ""}},
};

struct settings settings_defaults(void)
{
    struct settings s;
    for (int i = 0; i < SETTING_COUNT; i++) s.value[i] = settings_table[i].default_value;
    return s;
}

struct settings settings_upstream_defaults(void)
{
    struct settings s = settings_defaults();
    s.value[SET_WEIGHT_FAIRSHARE].number = 0;
    s.value[SET_TRACKED_TRES].text = "";
    return s;
}

int setting_find(struct str name, enum setting *out_setting, const struct field **out_field, struct err *e)
{
    uint32_t index = field_find(&settings_fields, name);
    if (index != NONE) {
        *out_setting = (enum setting)index;
        *out_field = &settings_table[index];
        return 0;
    }
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (!str_equal_nocase(str(aliases[i].field.name), name)) continue;
        *out_setting = aliases[i].setting;
        *out_field = &aliases[i].field;
        return 0;
    }
    return err_not_found(e, "setting", name);
}

int setting_read(struct str name, struct str value, struct arena *arena, enum setting *out_setting,
                 struct field_value *out_value, struct err *e)
{
    const struct field *field;
    if (setting_find(name, out_setting, &field, e) != 0) return -1;
    return field_parse(field, value, arena, out_value, e);
}

void setting_remark(enum setting s, const struct field_value *value, struct buf *out)
{
    ensure(s < SETTING_COUNT);
    const struct field *f = &settings_table[s];
    struct buf remark = {0};
    if (f->remark != NULL) f->remark(value, &remark);
    if (remark.length > 0) buf_format(out, "%s: %s", f->name, remark.text);
    buf_release(&remark);
}

void setting_format(enum setting s, const struct field_value *value, struct buf *out)
{
    ensure(s < SETTING_COUNT);
    field_format(&settings_table[s], value, out);
}

/* --- the listing -------------------------------------------------------------------------------------------------- */

static const struct field listing_rows[SETTING_FIELD_COUNT] = {
    [SETTING_FIELD_NAME] = {.name = "name", .help = "the setting", .type = FIELD_TEXT},
    [SETTING_FIELD_VALUE] = {.name = "value", .help = "its value", .type = FIELD_TEXT},
    [SETTING_FIELD_DEFAULT] = {.name = "default", .help = "its default value", .type = FIELD_TEXT},
    [SETTING_FIELD_HELP] = {.name = "help", .help = "what it does", .type = FIELD_TEXT},
    [SETTING_FIELD_GROUP] = {.name = "group",
                             .help = "where it comes from: Fairlead, Slurm, Grid Engine",
                             .type = FIELD_TEXT},
    [SETTING_FIELD_ACCEPTED] = {.name = "accepted",
                                .help = "accepted values, with their unit; empty where help says it",
                                .type = FIELD_TEXT},
};

const struct field_table setting_fields = {
    .name = "Setting",
    .help = "A setting.",
    .rows = listing_rows,
    .row_size = sizeof listing_rows[0],
    .count = SETTING_FIELD_COUNT,
};
