/* The reasons why a job or task waits, spelled once. docs/glossary.md says what each means. */
#ifndef FAIRLEAD_FIELDS_PENDING_REASON_H
#define FAIRLEAD_FIELDS_PENDING_REASON_H

/* Why a job is pending, in the order of the words, which is the order of a sorted listing. NONE: it is not pending. */
/* clang-format off */
#define PENDING_REASONS(X, between)                          \
    X(NONE, "None") between                                  \
    X(BAD_CONSTRAINTS, "BadConstraints") between             \
    X(BEGIN_TIME, "BeginTime") between                       \
    X(DEPENDENCY, "Dependency") between                      \
    X(DEPENDENCY_NEVER, "DependencyNeverSatisfied") between  \
    X(ARRAY_TASK_LIMIT, "JobArrayTaskLimit") between         \
    X(HELD_BY_OPERATOR, "JobHeldAdmin") between              \
    X(HELD_BY_USER, "JobHeldUser") between                   \
    X(PARTITION_CLOSED, "PartitionClosed") between           \
    X(PARTITION_TIME_LIMIT, "PartitionTimeLimit") between    \
    X(QOS_USAGE_THRESHOLD, "QOSUsageThreshold") between      \
    X(RESOURCES, "Resources")
/* clang-format on */

#define PENDING_REASON_CONSTANT(name, word) PENDING_##name,
enum pending_reason { PENDING_REASONS(PENDING_REASON_CONSTANT, ) PENDING_REASON_COUNT };
#undef PENDING_REASON_CONSTANT

/* "None,BeginTime,...,Resources" by enum pending_reason: the choices of a field that holds a reason. */
extern const char pending_reason_names[];

const char *pending_reason_name(enum pending_reason r); /* "BeginTime" */

#endif
