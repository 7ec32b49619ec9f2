/* partition, qos, project, department, resource: add, modify, delete, show. The kinds differ in their fields, which are
 * tables (policy/objects.c), and in a few words, which are here. */
#include <string.h>

#include "cli/object.h"

/* The kind that the command's first word names. */
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

/* The four commands of a kind. word and many: "partition", "partitions"; one: "a partition". */
#define OBJECT_COMMANDS(kind, id, word, one, many, text_of_add, text_of_delete, add_line, add_meaning, modify_line,   \
                        modify_meaning)                                                                               \
    static const struct command_example id##_add_examples[] = {{add_line, add_meaning}, {0}};                         \
    static const struct command_example id##_modify_examples[] = {{modify_line, modify_meaning}, {0}};                \
    const struct command cmd_##id##_add = {.name = word " add",                                                       \
                                           .group = GROUP_POLICY,                                                     \
                                           .summary = "add " one,                                                     \
                                           .usage = "NAME [FIELD=VALUE...]",                                          \
                                           .text = text_of_add,                                                       \
                                           .fields = &object_classes[kind],                                           \
                                           .operands_min = 1,                                                         \
                                           .operands_max = OPERANDS_ANY,                                              \
                                           .examples = id##_add_examples,                                             \
                                           .see_also = word "-show set",                                              \
                                           .run = add_run};                                                           \
    const struct command cmd_##id##_modify = {.name = word " modify",                                                 \
                                              .group = GROUP_POLICY,                                                  \
                                              .summary = "change " one,                                               \
                                              .usage = "NAME FIELD=VALUE...",                                         \
                                              .text = "It acts at once, for jobs that wait too. When one of several " \
                                                      "fields is not acceptable, none is changed.",                   \
                                              .fields = &object_classes[kind],                                        \
                                              .resets_usage = HAS_USAGE(kind),                                        \
                                              .operands_min = 1,                                                      \
                                              .operands_max = OPERANDS_ANY,                                           \
                                              .examples = id##_modify_examples,                                       \
                                              .see_also = word "-show set",                                           \
                                              .run = modify_run};                                                     \
    const struct command cmd_##id##_delete = {.name = word " delete",                                                 \
                                              .group = GROUP_POLICY,                                                  \
                                              .summary = "remove " one,                                               \
                                              .usage = "NAME",                                                        \
                                              .text = text_of_delete,                                                 \
                                              .operands_min = 1,                                                      \
                                              .operands_max = 1,                                                      \
                                              .see_also = word "-show",                                               \
                                              .run = delete_run};                                                     \
    static const struct column_table id##_fields = {.fields = &object_classes[kind].record};                          \
    const struct command cmd_##id##_show = {.name = word " show",                                                     \
                                            .group = GROUP_POLICY,                                                    \
                                            .summary = "list " many,                                                  \
                                            .usage = "[OPTIONS] [NAME]",                                              \
                                            .options = listing_only_options,                                          \
                                            .values_size = sizeof(struct listing_only_values),                        \
                                            .listed = &id##_fields,                                                   \
                                            .operands_max = 1,                                                        \
                                            .see_also = word "-modify",                                               \
                                            .run = show_run}

#define STAYS_WHILE_USED(what) "It stays while jobs that wait or run are " what "."

OBJECT_COMMANDS(OBJECT_PARTITION, partition, "partition", "a partition", "partitions",
                "A partition is where jobs are submitted to (submit --partition): its tier and factor say who comes "
                "first, its weights what they cost there. The first one is where jobs go that do not say. All stand on "
                "the one host. In the tickets model a partition is a queue, and as a job class it may have shares and "
                "tickets.",
                STAYS_WHILE_USED("in it") " The last partition stays.",
                "fairlead partition add fast PriorityTier=2 TRESBillingWeights=CPU=1.0,Mem=0.25G",
                "jobs of it come before all others; memory costs, too",
                "fairlead partition modify fast MaxTime=2:00:00", "for jobs of two hours and less");

OBJECT_COMMANDS(
    OBJECT_QOS, qos, "qos", "a quality of service", "qualities of service",
    "A QOS gives its jobs (submit --qos) a priority, weighed by PriorityWeightQOS, and multiplies what their "
    "usage counts. Jobs that do not say have 'normal', which stays.",
    STAYS_WHILE_USED("of it"), "fairlead qos add urgent priority=100 usage_factor=2", "earlier, at twice the price",
    "fairlead qos modify urgent flags=NoDecay", "what its jobs use is never forgotten");

OBJECT_COMMANDS(OBJECT_PROJECT, project, "project", "a project", "projects",
                "Jobs count for a project (submit --project) in the ticket policies: with functional shares, with "
                "override tickets, and as a node of the share tree.",
                STAYS_WHILE_USED("for it") " Its usage is kept, and counts again when it comes back.",
                "fairlead project add P1 fshare=100", "a hundred functional shares",
                "fairlead project modify P1 oticket=5000", "tickets given outright to its jobs");

OBJECT_COMMANDS(
    OBJECT_DEPARTMENT, department, "department", "a department", "departments",
    "A department's shares and tickets count for the jobs of its users in the ticket policies. Whose user is "
    "where says 'fairlead user modify NAME department=DEPARTMENT'.",
    "It stays while users are of it.", "fairlead department add chem fshare=200", "two hundred functional shares",
    "fairlead department modify chem oticket=100", "tickets given outright to its users' jobs");

OBJECT_COMMANDS(
    OBJECT_RESOURCE, resource, "resource", "a resource that jobs can request", "resources",
    "Jobs request resources by name (submit -l license=2), for each of their slots. What there is an amount "
    "of is given out and makes jobs wait; in the tickets model an urgency makes those that request it come "
    "earlier. The resource slots, with an urgency of 1000, is every job's own; 'fairlead resource add slots urgency=N' "
    "gives it another.",
    STAYS_WHILE_USED("requesting it"), "fairlead resource add license type=INT amount=10 urgency=1000",
    "ten licences for all jobs together", "fairlead resource modify license amount=12", "two more");
