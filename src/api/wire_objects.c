/* The rows of what an administrator names, kind by kind. The fields are those of the tables in policy/objects.c, in their
 * order; they are said again here, because clients of the API need not know the policies. tests/unit/test_routes.c holds
 * one against the other.
 *
 *     type there                    here
 *     number                        integer; null where the special word stands
 *     real                          number
 *     yes or no                     boolean
 *     choice                        one of its words
 *     span, memory, text            text, as it is given */
#include <stddef.h>

#include "api/wire.h"

enum { JOB_FACTOR_MAX = 65533 };

#define AT(place, member)                                                                   \
    offsetof(struct wire_object_row, values) + (place) * sizeof(struct wire_object_value) + \
        offsetof(struct wire_object_value, member)

#define NUMBER_AT(place, json_name, greatest, words)                                                              \
    {                                                                                                             \
        .name = (json_name), .help = (words), .type = WIRE_I64, .is_required = true, .offset = AT(place, number), \
        .min = 0, .max = (greatest), .absent = -1                                                                 \
    }
#define LIMIT_AT(place, json_name, greatest, words)                                                    \
    {                                                                                                  \
        .name = (json_name), .help = (words), .type = WIRE_I64, .offset = AT(place, number), .min = 0, \
        .max = (greatest), .absent = -1                                                                \
    }
#define REAL_AT(place, json_name, words)                                                                          \
    {                                                                                                             \
        .name = (json_name), .help = (words), .type = WIRE_DOUBLE, .is_required = true, .offset = AT(place, real) \
    }
#define TEXT_AT(place, json_name, words)                                                                        \
    {                                                                                                           \
        .name = (json_name), .help = (words), .type = WIRE_TEXT, .is_required = true, .offset = AT(place, text) \
    }
#define CHOICE_AT(place, json_name, list, words)                                                                   \
    {                                                                                                              \
        .name = (json_name), .help = (words), .type = WIRE_CHOICE, .is_required = true, .offset = AT(place, text), \
        .choices = (list)                                                                                          \
    }
#define BOOL_AT(place, json_name, words)                                                                           \
    {                                                                                                              \
        .name = (json_name), .help = (words), .type = WIRE_BOOL, .is_required = true, .offset = AT(place, is_true) \
    }

#define NAME                                                                        \
    {                                                                               \
        .name = "name", .help = "its name", .type = WIRE_TEXT, .is_required = true, \
        .offset = offsetof(struct wire_object_row, name)                            \
    }
#define CREATED                                                                                                  \
    {                                                                                                            \
        .name = "created_us", .help = "when it was named", .type = WIRE_I64, .is_required = true,                \
        .offset = offsetof(struct wire_object_row, created_us), .min = 0, .max = INT64_MAX, .is_read_only = true \
    }
#define FSHARE(place) NUMBER_AT(place, "fshare", UINT32_MAX, "functional shares")
#define OTICKET(place) NUMBER_AT(place, "oticket", UINT32_MAX, "override tickets")

static const struct wire_field partition_fields[] = {
    NAME,
    NUMBER_AT(0, "PriorityJobFactor", JOB_FACTOR_MAX, "partition term of a job's priority"),
    NUMBER_AT(1, "PriorityTier", JOB_FACTOR_MAX, "jobs of a higher tier come first, whatever their priority"),
    TEXT_AT(2, "MaxTime", "longest time limit, in minutes or as D-H:M:S; or UNLIMITED"),
    TEXT_AT(3, "TRESBillingWeights", "what a job costs: CPU=1.0,Mem=0.25G; empty: its CPUs"),
    FSHARE(4),
    OTICKET(5),
    CREATED,
    {0}};
const struct wire_shape wire_partition_row = {"Partition", "Where jobs are submitted to, and what they cost there.",
                                              partition_fields, sizeof(struct wire_object_row), true};

static const struct wire_field qos_fields[] = {
    NAME,
    NUMBER_AT(0, "priority", UINT32_MAX, "QOS term of a job's priority"),
    REAL_AT(1, "usage_factor", "what usage of its jobs is multiplied with"),
    REAL_AT(2, "usage_threshold", "least fair-share factor to run with, where flags say so"),
    TEXT_AT(3, "flags", "NoDecay, EnforceUsageThreshold, by commas"),
    {.name = "usage",
     .help = "what its jobs used, in decayed billing-seconds",
     .type = WIRE_DOUBLE,
     .is_required = true,
     .offset = offsetof(struct wire_object_row, usage),
     .is_read_only = true},
    CREATED,
    {0}};
const struct wire_shape wire_qos_row = {"Qos", "A quality of service.", qos_fields, sizeof(struct wire_object_row),
                                        true};

static const struct wire_field policy_user_fields[] = {
    NAME,
    FSHARE(0),
    OTICKET(1),
    TEXT_AT(2, "department", "whose functional shares and override tickets count too"),
    BOOL_AT(3, "deadline", "whether jobs may have a deadline"),
    CREATED,
    {0}};
const struct wire_shape wire_policy_user_row = {"PolicyUser", "What the ticket policies give a user.",
                                                policy_user_fields, sizeof(struct wire_object_row), true};

static const struct wire_field share_fields[] = {NAME, FSHARE(0), OTICKET(1), CREATED, {0}};
const struct wire_shape wire_project_row = {"Project", "What the ticket policies give the jobs of a project.",
                                            share_fields, sizeof(struct wire_object_row), true};
const struct wire_shape wire_department_row = {"Department",
                                               "What the ticket policies give the jobs of a department's users.",
                                               share_fields, sizeof(struct wire_object_row), true};

static const struct wire_field resource_fields[] = {
    NAME,
    CHOICE_AT(0, "type", "INT,DOUBLE,BOOL,TIME,MEMORY,STRING,CSTRING,RESTRING,HOST", "how amounts are written"),
    REAL_AT(1, "urgency", "urgency for each unit a job asks for"),
    LIMIT_AT(2, "amount", INT64_C(1) << 53, "how much there is for all jobs together; null: UNLIMITED"),
    CREATED,
    {0}};
const struct wire_shape wire_resource_row = {"Resource", "What jobs request by name.", resource_fields,
                                             sizeof(struct wire_object_row), true};

#define LIST(kind, plural, shape_name, words)                                                                  \
    static const struct wire_field kind##_list_fields[] = {{.name = (plural),                                  \
                                                            .help = "one row a line",                          \
                                                            .type = WIRE_ROWS,                                 \
                                                            .is_required = true,                               \
                                                            .offset = offsetof(struct wire_object_list, rows), \
                                                            .shape = &wire_##kind##_row},                      \
                                                           {0}};                                               \
    const struct wire_shape wire_##kind##_list = {(shape_name), (words), kind##_list_fields,                   \
                                                  sizeof(struct wire_object_list), true}

LIST(partition, "partitions", "PartitionList", "Partitions; the first is where jobs go that do not say.");
LIST(qos, "qos", "QosList", "Qualities of service.");
LIST(policy_user, "users", "PolicyUserList", "Users by what the ticket policies give them.");
LIST(project, "projects", "ProjectList", "Projects.");
LIST(department, "departments", "DepartmentList", "Departments.");
LIST(resource, "resources", "ResourceList", "What jobs can request.");

const struct wire_object_kind wire_object_kinds[WIRE_OBJECT_KINDS] = {
    {WIRE_PARTITIONS, &wire_partition_row, &wire_partition_list},
    {WIRE_QOS, &wire_qos_row, &wire_qos_list},
    {WIRE_POLICY_USERS, &wire_policy_user_row, &wire_policy_user_list},
    {WIRE_PROJECTS, &wire_project_row, &wire_project_list},
    {WIRE_DEPARTMENTS, &wire_department_row, &wire_department_list},
    {WIRE_RESOURCES, &wire_resource_row, &wire_resource_list},
};
