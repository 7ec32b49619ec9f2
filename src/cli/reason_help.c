/* Most reasons are one for each TRES that a limit may be of. A row is of all reasons whose constants begin with its
 * prefix, unless an earlier row has them. */
#include "cli/reason_help.h"

#include <string.h>

#include "base/ensure.h"
#include "fields/pending_reason.h"
#include "options/usage.h"

enum { NAMES_INDENT = 2, TEXT_INDENT = 6 };

struct reason_row {
    const char *prefix;  /* of the constant without PENDING_; with a final '_' of several, otherwise the whole one */
    const char *heading; /* above the row; NULL: that of the row before it */
    const char *meaning;
    const char *advice;
};

#define OF_ACCOUNT " of the user, the account or one above it: "
#define WAIT_FOR_ENDS "Wait until some of the jobs have ended."
#define ASK_LIMIT \
    " An administrator can raise the limit: 'fairlead account modify NAME LIMIT=VALUE', of a user 'fairlead user modify'."
#define ASK_QOS \
    " Another QOS may do ('fairlead update ID -q NAME'), or an administrator raises the limit: 'fairlead qos modify'."
#define SMALLER                                                                                                            \
    "Ask for less: 'fairlead update ID' changes CPUs (-n), memory (--mem) and the time limit (-t), of an array until its " \
    "first task has started."

static const struct reason_row reason_rows[] = {
    {"RESOURCES", "Resources", "What it asks for is not free; it is the first that waits for it.",
     "Wait; 'fairlead queue --start' says when and where it is expected to start."},
    {"PRIORITY", NULL, "A job of higher priority waits for resources, and this one would delay it.",
     "Wait; 'fairlead prio' shows the terms of the priorities. A shorter time limit lets it fit before the others."},
    {"REQ_NODE_NOT_AVAIL", NULL,
     "Only hosts that are drained or down, by themselves or in its partitions, could take it.",
     "See 'fairlead host show' and 'fairlead partition show'; an administrator resumes them with 'fairlead host resume'."},
    {"LAUNCH_FAILURE", NULL,
     "The machine can start nothing: it has no space, descriptors, processes or memory, or no launcher.",
     "Wait, one job is tried again by itself; 'fairlead status' says what is missing."},
    {"PARTITION_CLOSED", NULL, "Its partitions are closed by a calendar, or close before its time limit is over.",
     "Wait, or set a shorter time limit: 'fairlead update ID -t DURATION'."},
    {"PARTITION_TIME_LIMIT", NULL, "Its time limit exceeds the MaxTime of its partitions.",
     "Set a shorter one: 'fairlead update ID -t DURATION', or another partition: -p NAME."},
    {"PARTITION_NODE_LIMIT", NULL, "Its nodes are more than MaxNodes of its partitions, or fewer than MinNodes.",
     "Ask for others: 'fairlead update ID -N COUNT', or another partition: -p NAME."},
    {"PARTITION_DOWN", NULL, "The state of its partitions is DOWN.",
     "An administrator lets jobs start again: 'fairlead partition modify NAME state=UP'."},
    {"PARTITION_INACTIVE", NULL, "The state of its partitions is INACTIVE.",
     "An administrator lets jobs start again: 'fairlead partition modify NAME state=UP'."},
    {"MAX_MEM_PER_NODE", NULL, "Its memory on a node is above MaxMemPerNode of its partitions.",
     "Ask for less: 'fairlead update ID --mem SIZE', or another partition: -p NAME."},
    {"QOS_NOT_ALLOWED", NULL, "Its partitions do not admit its QOS (AllowQos, DenyQos).",
     "Take another partition or QOS: 'fairlead update ID -p NAME' or -q NAME."},
    {"ACCOUNT_NOT_ALLOWED", NULL, "Its partitions do not admit its account (AllowAccounts, DenyAccounts).",
     "Take another partition or account: 'fairlead update ID -p NAME' or -A NAME."},
    {"BAD_CONSTRAINTS", NULL, "It can never run as the cluster is.",
     "'fairlead show job ID' says why; change it with 'fairlead update ID', or cancel it."},
    {"USER_JOBS_LIMIT", NULL, "As many tasks of its user run as may run at once (maxujobs).",
     "Wait until some have ended. An administrator can raise the limit: 'fairlead set maxujobs=COUNT', 0 is no limit."},
    {"QUOTA_LIMIT", NULL, "A resource quota has no room for it.",
     "Wait; 'fairlead show job ID' says which one, 'fairlead quota usage' lists what is used of quotas."},

    {"BEGIN_TIME", "The job itself", "Its begin, or the delay after a requeue, is in the future.",
     "Wait; 'fairlead update ID --begin none' removes a begin."},
    {"HELD_BY_USER", NULL, "It is held.", "'fairlead release ID' lets it start."},
    {"HELD_BY_OPERATOR", NULL,
     "It is held by an operator, or it was requeued too often (max_batch_requeue; of an array only such tasks are held).",
     "Only an operator can release it: 'fairlead release ID'."},
    {"DEPENDENCY_NEVER", NULL, "It waits for a condition that can never be met.",
     "'fairlead update ID --dependency LIST' changes what it waits for, 'none' removes it, of an array until its first "
     "task has started; or cancel the job."},
    {"DEPENDENCY", NULL, "It waits for other jobs.", "Wait; 'fairlead show job ID' names them."},
    {"INVALID_QOS", NULL, "Its QOS was taken away from its user or account (QosLevel).",
     "Give it another one: 'fairlead update ID -q NAME', or an administrator allows the QOS again: 'fairlead user modify'."},
    {"ARRAY_TASK_LIMIT", NULL,
     "As many tasks of the array run as may run at once, by its own limit or max_aj_instances.",
     "Wait, or 'fairlead update ID --array-limit COUNT'; 'fairlead show job ID' says which limit it is."},

    {"ASSOC_GRP_JOBS", "Limits of accounts and users", "GrpJobs" OF_ACCOUNT "as many of its jobs run as may run.",
     WAIT_FOR_ENDS ASK_LIMIT},
    {"ASSOC_GRP_SUBMIT", NULL, "GrpSubmitJobs" OF_ACCOUNT "as many of its jobs wait and run as may.",
     WAIT_FOR_ENDS ASK_LIMIT},
    {"ASSOC_GRP_WALL", NULL, "GrpWall" OF_ACCOUNT "its jobs have run for as long as they may.",
     "Wait until usage has decayed." ASK_LIMIT},
    {"ASSOC_GRP_RUN_MINS_", NULL,
     "GrpTRESRunMins" OF_ACCOUNT "running jobs may still use as many TRES-minutes as the limit has.",
     "Wait, or set a shorter time limit." ASK_LIMIT},
    {"ASSOC_GRP_MINS_", NULL, "GrpTRESMins" OF_ACCOUNT "its usage in TRES-minutes has reached the limit.",
     "Wait until usage has decayed." ASK_LIMIT},
    {"ASSOC_GRP_", NULL, "GrpTRES" OF_ACCOUNT "running jobs have as much of the TRES as the limit has.",
     WAIT_FOR_ENDS ASK_LIMIT},
    {"ASSOC_MAX_JOBS", NULL, "MaxJobs: as many jobs of the user run as may run.", WAIT_FOR_ENDS ASK_LIMIT},
    {"ASSOC_MAX_SUBMIT", NULL, "MaxSubmitJobs: as many jobs of the user wait and run as may.", WAIT_FOR_ENDS ASK_LIMIT},
    {"ASSOC_MAX_WALL", NULL, "MaxWall: its time limit exceeds the limit of a job.", SMALLER ASK_LIMIT},
    {"ASSOC_MAX_MINS_", NULL, "MaxTRESMins: its TRES times its time limit exceed the limit of a job.",
     SMALLER ASK_LIMIT},
    {"ASSOC_PER_NODE_", NULL, "MaxTRESPerNode: it asks for more on a node than a job may have.", SMALLER ASK_LIMIT},
    {"ASSOC_MAX_", NULL, "MaxTRES: it asks for more than a job may have.", SMALLER ASK_LIMIT},

    {"QOS_USAGE_THRESHOLD", "Limits of the QOS, or of the QOS of the partition",
     "usage_threshold: the fair-share factor of the user is below the threshold.",
     "Wait until usage has decayed." ASK_QOS},
    {"QOS_GRP_JOBS", NULL, "GrpJobs: as many jobs of the QOS run as may run.", WAIT_FOR_ENDS ASK_QOS},
    {"QOS_GRP_SUBMIT", NULL, "GrpSubmitJobs: as many jobs of the QOS wait and run as may.", WAIT_FOR_ENDS ASK_QOS},
    {"QOS_GRP_WALL", NULL, "GrpWall: the jobs of the QOS have run for as long as they may.",
     "Wait until usage has decayed." ASK_QOS},
    {"QOS_GRP_RUN_MINS_", NULL, "GrpTRESRunMins: running jobs may still use as many TRES-minutes as the limit has.",
     "Wait, or set a shorter time limit." ASK_QOS},
    {"QOS_GRP_MINS_", NULL, "GrpTRESMins: the usage of the QOS in TRES-minutes has reached the limit.",
     "Wait until usage has decayed." ASK_QOS},
    {"QOS_GRP_", NULL, "GrpTRES: running jobs of the QOS have as much of the TRES as the limit has.",
     WAIT_FOR_ENDS ASK_QOS},
    {"QOS_MAX_JOBS_PER_ACCOUNT", NULL, "MaxJobsPerAccount: as many jobs of the account run in the QOS as may run.",
     WAIT_FOR_ENDS ASK_QOS},
    {"QOS_MAX_SUBMIT_PER_ACCOUNT", NULL,
     "MaxSubmitJobsPerAccount: as many jobs of the account wait and run in the QOS as may.", WAIT_FOR_ENDS ASK_QOS},
    {"QOS_MAX_JOBS", NULL, "MaxJobsPerUser: as many jobs of the user run in the QOS as may run.",
     WAIT_FOR_ENDS ASK_QOS},
    {"QOS_MAX_SUBMIT", NULL, "MaxSubmitJobsPerUser: as many jobs of the user wait and run in the QOS as may.",
     WAIT_FOR_ENDS ASK_QOS},
    {"QOS_MAX_WALL", NULL, "MaxWall: its time limit exceeds the limit of a job.", SMALLER ASK_QOS},
    {"QOS_MAX_MINS_", NULL, "MaxTRESMins: its TRES times its time limit exceed the limit of a job.", SMALLER ASK_QOS},
    {"QOS_PER_NODE_", NULL, "MaxTRESPerNode: it asks for more on a node than a job may have.", SMALLER ASK_QOS},
    {"QOS_PER_USER_", NULL, "MaxTRESPerUser: running jobs of the user have as much of the TRES as the limit has.",
     WAIT_FOR_ENDS ASK_QOS},
    {"QOS_PER_ACCOUNT_", NULL,
     "MaxTRESPerAccount: running jobs of the account have as much of the TRES as the limit has.",
     WAIT_FOR_ENDS ASK_QOS},
    {"QOS_MAX_", NULL, "MaxTRES: it asks for more than a job may have.", SMALLER ASK_QOS},
    {"QOS_MIN_", NULL, "MinTRES: it asks for less than a job has to.",
     "Ask for more: 'fairlead update ID' changes CPUs (-n) and memory (--mem)." ASK_QOS},
};

enum { ROW_COUNT = sizeof reason_rows / sizeof *reason_rows };

static bool fits(const struct reason_row *row, const char *constant)
{
    size_t length = strlen(row->prefix);
    return row->prefix[length - 1] == '_' ? strncmp(constant, row->prefix, length) == 0
                                          : strcmp(constant, row->prefix) == 0;
}

/* The row of each reason. */
static uint32_t row_of(enum pending_reason reason)
{
#define CONSTANT(name, word) #name,
    static const char *const constants[PENDING_REASON_COUNT] = {PENDING_REASONS(CONSTANT, )};
#undef CONSTANT
    uint32_t row = 0;
    while (row < ROW_COUNT && !fits(&reason_rows[row], constants[reason])) row++;
    ensure(row < ROW_COUNT);
    return row;
}

static void write_row(uint32_t row, struct buf *out)
{
    struct buf text = {0};
    for (int reason = PENDING_NONE + 1; reason < PENDING_REASON_COUNT; reason++) {
        if (row_of((enum pending_reason)reason) != row) continue;
        buf_format(&text, "%s%s", text.length > 0 ? ", " : "", pending_reason_name((enum pending_reason)reason));
    }
    ensure(text.length > 0);
    usage_wrap(out, (struct str){text.text, text.length}, NAMES_INDENT, USAGE_WIDTH);
    buf_clear(&text);
    buf_format(&text, "%s %s", reason_rows[row].meaning, reason_rows[row].advice);
    usage_wrap(out, (struct str){text.text, text.length}, TEXT_INDENT, USAGE_WIDTH);
    buf_release(&text);
}

void reason_help_write(struct buf *out)
{
    for (uint32_t row = 0; row < ROW_COUNT; row++) {
        if (reason_rows[row].heading != NULL) buf_format(out, "\n%s\n", reason_rows[row].heading);
        write_row(row, out);
    }
}
