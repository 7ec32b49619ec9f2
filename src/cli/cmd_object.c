/* partition, qos, project, department, resource, host, group, pe, calendar, quota: add, modify, delete, show; drain and
 * resume. The kinds differ in their fields, which are tables (fields/objects.c), and in the texts of their help, which
 * are here. */
#include <string.h>

#include "cli/object.h"
#include "cli/object_hosts.h"

/* The kind that is the first word of the command's name. */
static enum object_kind kind_of(const struct call *call)
{
    struct str rest, word = str_cut(str(call->command->name), ' ', &rest);
    int kind = 0;
    while (!str_equal(word, str(object_classes[kind].name))) kind++;
    return (enum object_kind)kind;
}

static int add_run(struct call *call, struct err *e)
{
    return object_run_add(call, kind_of(call), e);
}

static int modify_run(struct call *call, struct err *e)
{
    return object_run_modify(call, kind_of(call), false, e);
}

static int delete_run(struct call *call, struct err *e)
{
    return object_run_delete(call, kind_of(call), e);
}

static int show_run(struct call *call, struct err *e)
{
    const struct listing_only_values *values = call->values;
    return object_run_show(call, kind_of(call), &values->listing, e);
}

#define HAS_USAGE(kind) ((kind) == OBJECT_QOS || (kind) == OBJECT_PROJECT)

/* The four commands of a kind. name: "partition"; singular and plural: "a partition", "partitions". Texts: id_add_text,
 * id_delete_text, id_add_examples, id_modify_examples. */
#define OBJECT_COMMANDS(kind, id, name_, singular, plural_)                                  \
    const struct command cmd_##id##_add = {                                                  \
        .name = name_ " add",                                                                \
        .group = GROUP_POLICY,                                                               \
        .summary = "add " singular,                                                          \
        .usage = "NAME [FIELD=VALUE...]",                                                    \
        .description = id##_add_text,                                                        \
        .fields = &object_classes[kind],                                                     \
        .operands_min = 1,                                                                   \
        .operands_max = OPERANDS_ANY,                                                        \
        .examples = id##_add_examples,                                                       \
        .see_also = name_ "-show set",                                                       \
        .run = add_run,                                                                      \
    };                                                                                       \
    const struct command cmd_##id##_modify = {                                               \
        .name = name_ " modify",                                                             \
        .group = GROUP_POLICY,                                                               \
        .summary = "change " singular,                                                       \
        .usage = "NAME FIELD=VALUE...",                                                      \
        .description = modify_text,                                                          \
        .fields = &object_classes[kind],                                                     \
        .resets_usage = HAS_USAGE(kind),                                                     \
        .operands_min = 1,                                                                   \
        .operands_max = OPERANDS_ANY,                                                        \
        .examples = id##_modify_examples,                                                    \
        .see_also = name_ "-show set",                                                       \
        .run = modify_run,                                                                   \
    };                                                                                       \
    const struct command cmd_##id##_delete = {                                               \
        .name = name_ " delete",                                                             \
        .group = GROUP_POLICY,                                                               \
        .summary = "delete " singular,                                                       \
        .usage = "NAME",                                                                     \
        .description = id##_delete_text,                                                     \
        .operands_min = 1,                                                                   \
        .operands_max = 1,                                                                   \
        .see_also = name_ "-show",                                                           \
        .run = delete_run,                                                                   \
    };                                                                                       \
    static const struct column_table id##_fields = {.fields = &object_classes[kind].record}; \
    const struct command cmd_##id##_show = {                                                 \
        .name = name_ " show",                                                               \
        .group = GROUP_POLICY,                                                               \
        .summary = "list " plural_,                                                          \
        .usage = "[OPTIONS] [NAME]",                                                         \
        .options = listing_only_options,                                                     \
        .values_size = sizeof(struct listing_only_values),                                   \
        .listed = &id##_fields,                                                              \
        .operands_max = 1,                                                                   \
        .see_also = name_ "-modify",                                                         \
        .run = show_run,                                                                     \
    }

static const char modify_text[] =
    "A change takes effect at once, for pending jobs too. If one of several fields is not "
    "accepted, none is changed.";

static const char partition_add_text[] =
    "Jobs are submitted to partitions (submit --partition). A partition's tier and factor determine which jobs come first, "
    "its billing weights what they are charged. The first partition is the default. A partition is also a queue: its slots, "
    "user lists, resources and load thresholds limit what starts there. In the tickets model it may have shares and tickets, "
    "as a job class.";
static const char partition_delete_text[] =
    "A partition with pending or running jobs cannot be deleted, nor can the last partition. The oldest partition is the "
    "default of submissions; if it is deleted, the next oldest is the default, and one that is added again is not.";
static const struct command_example partition_add_examples[] = {
    {.line = "fairlead partition add fast PriorityTier=2 TRESBillingWeights=CPU=1.0,Mem=0.25G",
     .meaning = "its jobs come before all others and are charged for memory, too"},
    {0},
};
static const struct command_example partition_modify_examples[] = {
    {.line = "fairlead partition modify fast MaxTime=2:00:00", .meaning = "limit its jobs to two hours"},
    {0},
};
OBJECT_COMMANDS(OBJECT_PARTITION, partition, "partition", "a partition", "partitions");

static const char qos_add_text[] =
    "A quality of service (submit --qos) gives its jobs a priority, which PriorityWeightQOS weights, and a factor by which "
    "their usage is multiplied. The default is 'normal', which cannot be deleted.";
static const char qos_delete_text[] = "A quality of service with pending or running jobs cannot be deleted.";
static const struct command_example qos_add_examples[] = {
    {.line = "fairlead qos add urgent priority=100 usage_factor=2",
     .meaning = "its jobs start earlier and are charged twice as much"},
    {0},
};
static const struct command_example qos_modify_examples[] = {
    {.line = "fairlead qos modify urgent flags=NoDecay", .meaning = "the usage of its jobs does not decay"},
    {0},
};
OBJECT_COMMANDS(OBJECT_QOS, qos, "qos", "a quality of service", "qualities of service");

static const char project_add_text[] =
    "A job's project (submit --project) counts in the ticket policies: by its functional shares, by its override tickets, "
    "and as a node of the share tree.";
static const char project_delete_text[] =
    "A project with pending or running jobs cannot be deleted. Its usage is kept for a project that is added under the same "
    "name.";
static const struct command_example project_add_examples[] = {
    {.line = "fairlead project add P1 fshare=100", .meaning = "a project with 100 functional shares"},
    {0},
};
static const struct command_example project_modify_examples[] = {
    {.line = "fairlead project modify P1 oticket=5000", .meaning = "give its jobs 5000 override tickets"},
    {0},
};
OBJECT_COMMANDS(OBJECT_PROJECT, project, "project", "a project", "projects");

static const char department_add_text[] =
    "A department's functional shares and override tickets count for the jobs of its users in the ticket policies. 'fairlead "
    "user modify NAME department=DEPARTMENT' sets the department of a user.";
static const char department_delete_text[] = "A department with users cannot be deleted.";
static const struct command_example department_add_examples[] = {
    {.line = "fairlead department add chem fshare=200", .meaning = "a department with 200 functional shares"},
    {0},
};
static const struct command_example department_modify_examples[] = {
    {.line = "fairlead department modify chem oticket=100",
     .meaning = "give the jobs of its users 100 override tickets"},
    {0},
};
OBJECT_COMMANDS(OBJECT_DEPARTMENT, department, "department", "a department", "departments");

static const char resource_add_text[] =
    "Jobs request resources by name and for each of their slots (submit -l license=2). A resource with an amount is "
    "allocated: jobs wait until enough of it is free. In the tickets model a resource's urgency raises the priority of jobs "
    "that request it. Built-in resources, such as slots, mem_free and arch, are there from the start; 'fairlead resource modify "
    "slots urgency=N' changes one.";
static const char resource_delete_text[] =
    "A resource that pending or running jobs request cannot be deleted, nor can a built-in one.";
static const struct command_example resource_add_examples[] = {
    {.line = "fairlead resource add license type=INT amount=10 urgency=1000",
     .meaning = "ten licences for all jobs together"},
    {0},
};
static const struct command_example resource_modify_examples[] = {
    {.line = "fairlead resource modify license amount=12", .meaning = "two more licences"},
    {0},
};
OBJECT_COMMANDS(OBJECT_RESOURCE, resource, "resource", "a resource that jobs can request",
                "resources that jobs can request");

static const char host_add_text[] =
    "A host runs jobs. What it has of resources other than CPUs and memory is in complex_values; load_scaling multiplies the "
    "load values that it reports. This machine is the host localhost, which is there from the start. An instance starts jobs "
    "only there: other hosts can be described, and are in the documents of 'fairlead schedule -f', but offer nothing here. A pretend "
    "instance ('fairlead start --pretend') starts jobs on the hosts of its document.";
static const char host_delete_text[] =
    "A host that a partition or a group names cannot be deleted, nor can localhost, which is this machine.";
static const struct command_example host_add_examples[] = {
    {.line = "fairlead host add n1 cpus=16 mem=64G complex_values=gres/gpu=4", .meaning = "a host with four GPUs"},
    {0},
};
static const struct command_example host_modify_examples[] = {
    {.line = "fairlead host modify localhost complex_values=tape=2",
     .meaning = "two tapes for the jobs of this machine"},
    {0},
};
OBJECT_COMMANDS(OBJECT_HOST, host, "host", "a host", "hosts");

static int drain_run(struct call *call, struct err *e)
{
    if (kind_of(call) == OBJECT_HOST)
        return object_hosts_set(call, &(struct object_change){"state", "DRAIN", "Drained"}, e);
    return object_run_set(call, kind_of(call), &(struct object_change){"state", "DRAIN", "Drained"}, e);
}

static int resume_run(struct call *call, struct err *e)
{
    if (kind_of(call) == OBJECT_HOST)
        return object_hosts_set(call, &(struct object_change){"state", "UP", "Resumed"}, e);
    return object_run_set(call, kind_of(call), &(struct object_change){"state", "UP", "Resumed"}, e);
}

static const struct command_example drain_examples[] = {
    {.line = "fairlead host drain localhost", .meaning = "before this machine is shut down"},
    {.line = "fairlead host drain 'gpu[01-40]' login", .meaning = "41 hosts"},
    {0},
};

const struct command cmd_host_drain = {
    .name = "host drain",
    .group = GROUP_POLICY,
    .summary = "let nothing new start on hosts",
    .usage = "NAME...",
    .description =
        "Their running jobs go on. Pending jobs wait, and can still be submitted, until 'fairlead host resume'. NAME may be a list "
        "with ranges, as gpu[01-40],login. If a host is unknown, none is drained.",
    .operands_min = 1,
    .operands_max = OPERANDS_ANY,
    .examples = drain_examples,
    .see_also = "host-resume host-show",
    .run = drain_run,
};

static const struct command_example resume_examples[] = {
    {.line = "fairlead host resume localhost", .meaning = "jobs start here again"},
    {0},
};

const struct command cmd_host_resume = {
    .name = "host resume",
    .group = GROUP_POLICY,
    .summary = "let jobs start on hosts again",
    .usage = "NAME...",
    .description =
        "It undoes 'fairlead host drain', and 'fairlead host modify NAME state=DOWN'. NAME may be a list with ranges, as "
        "gpu[01-40],login. If a host is unknown, none is resumed.",
    .operands_min = 1,
    .operands_max = OPERANDS_ANY,
    .examples = resume_examples,
    .see_also = "host-drain host-show",
    .run = resume_run,
};

static const struct command_example partition_drain_examples[] = {
    {.line = "fairlead partition drain night", .meaning = "it takes no new jobs; those that it has start and go on"},
    {0},
};

const struct command cmd_partition_drain = {
    .name = "partition drain",
    .group = GROUP_POLICY,
    .summary = "accept no new jobs in a partition",
    .usage = "NAME",
    .description =
        "Its jobs start and go on; submissions are refused until 'fairlead partition resume'. With 'fairlead partition modify "
        "NAME state=DOWN' jobs are accepted and wait. On one of its hosts nothing new starts with state=UP,[HOST=DRAIN].",
    .operands_min = 1,
    .operands_max = 1,
    .examples = partition_drain_examples,
    .see_also = "partition-resume partition-show host-drain places",
    .run = drain_run,
};

static const struct command_example partition_resume_examples[] = {
    {.line = "fairlead partition resume night", .meaning = "jobs start there again"},
    {0},
};

const struct command cmd_partition_resume = {
    .name = "partition resume",
    .group = GROUP_POLICY,
    .summary = "let jobs start in a partition again",
    .usage = "NAME",
    .description = "It undoes 'fairlead partition drain', and any other state of the partition, on all its hosts.",
    .operands_min = 1,
    .operands_max = 1,
    .examples = partition_resume_examples,
    .see_also = "partition-drain partition-show places",
    .run = resume_run,
};

static const char group_add_text[] =
    "A group of hosts is named @NAME where hosts are named: in partitions and in other groups.";
static const char group_delete_text[] = "A group that a partition or another group names cannot be deleted.";
static const struct command_example group_add_examples[] = {
    {.line = "fairlead group add big hosts=n1,n2", .meaning = "@big is n1 and n2"},
    {0},
};
static const struct command_example group_modify_examples[] = {
    {.line = "fairlead group modify big hosts=n1,n2,n3", .meaning = "one more host"},
    {0},
};
OBJECT_COMMANDS(OBJECT_GROUP, group, "group", "a group of hosts", "groups of hosts");

static const char pe_add_text[] =
    "A parallel environment says how the slots of a parallel job are distributed over hosts. Partitions list their "
    "environments in pe_list.";
static const char pe_delete_text[] =
    "A parallel environment that a partition lists, or a pending or running job has, cannot be deleted.";
static const struct command_example pe_add_examples[] = {
    {.line = "fairlead pe add mpi allocation_rule='$fill_up' slots=64", .meaning = "host after host, 64 slots in all"},
    {0},
};
static const struct command_example pe_modify_examples[] = {
    {.line = "fairlead pe modify mpi allocation_rule=4", .meaning = "four slots on each host"},
    {0},
};
OBJECT_COMMANDS(OBJECT_ENVIRONMENT, pe, "pe", "a parallel environment", "parallel environments");

static const char calendar_add_text[] =
    "A calendar says when the partitions that name it are closed, in local time. An entry is DAYS=TIMES=STATE, such as "
    "mon-fri=6-20=off; days, times and state may be left out: every day, the whole day, off. Blanks separate entries, on "
    "takes precedence over off, and a day that the year names follows the year alone. Jobs that run when a queue closes go "
    "on; a job starts only if its time limit is over before its queue closes.";
static const char calendar_delete_text[] = "A calendar that a partition names cannot be deleted.";
static const struct command_example calendar_add_examples[] = {
    {.line = "fairlead calendar add night week='mon-fri=6-20'", .meaning = "closed on working days from 6 to 20 h"},
    {.line = "fairlead partition modify main calendar=night", .meaning = "main is closed then"},
    {0},
};
static const struct command_example calendar_modify_examples[] = {
    {.line = "fairlead calendar modify night year='24.12.-26.12.=on'", .meaning = "not over Christmas, in any year"},
    {0},
};
OBJECT_COMMANDS(OBJECT_CALENDAR, calendar, "calendar", "a calendar", "calendars");

static const char quota_add_text[] =
    "A resource quota set limits what jobs take together, by rules in the language of Grid Engine. Of each set the first rule "
    "that is for a job counts, and all sets have to allow it; running jobs keep what they have. A list in braces gives each "
    "of its members a pool of its own, one without braces all of them together: users {*} is for each user, users ann,bob for "
    "both together. Lists are users, projects, pes, queues and hosts; @NAME is a department among users and a group among "
    "hosts, * and ? stand for any text and any character, ! excludes. A rule for each host may limit to a sum such as "
    "$num_proc*2. Semicolons or line ends separate rules.";
static const char quota_delete_text[] = "Jobs that it has kept waiting may start at once.";
static const struct command_example quota_add_examples[] = {
    {.line = "fairlead quota add users rules='limit users {@chem} to slots=8; limit users {*} to slots=4'",
     .meaning = "8 slots for each user of the department chem, 4 for each other one"},
    {.line = "fairlead quota add night rules='limit projects p queues night to license=2' enabled=no",
     .meaning = "2 licenses for all jobs of the project p in the queue night, once it is enabled"},
    {0},
};
static const struct command_example quota_modify_examples[] = {
    {.line = "fairlead quota modify night enabled=yes", .meaning = "its rules count from now on"},
    {0},
};
OBJECT_COMMANDS(OBJECT_QUOTA, quota, "quota", "a resource quota set", "resource quota sets");
