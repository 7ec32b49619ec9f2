/* What an administrator names: partitions, qualities of service, users, projects, departments, resources, hosts, groups
 * of hosts, parallel environments, calendars and resource quota sets. Each kind is a row with a table of fields, so
 * that adding, changing, listing, storing and the documents of sim/ are one piece of code each, whatever the kind.
 *
 *     fairlead partition add fast PriorityTier=2 TRESBillingWeights=CPU=1.0,Mem=0.25G
 *
 * The first partition is the default one. Associations (accounts, users in accounts) are not here: they form a tree. */
#ifndef FAIRLEAD_FIELDS_OBJECTS_H
#define FAIRLEAD_FIELDS_OBJECTS_H

#include "fields/field.h"
#include "fields/settings.h"

enum object_kind {
    OBJECT_PARTITION, /* a queue; in the tickets model also a job class */
    OBJECT_QOS,
    OBJECT_USER_POLICY,
    OBJECT_PROJECT,
    OBJECT_DEPARTMENT,
    OBJECT_RESOURCE, /* a complex: what jobs request with -l */
    OBJECT_HOST,
    OBJECT_GROUP,       /* of hosts: "@name" where hosts are named */
    OBJECT_ENVIRONMENT, /* a parallel environment: how the slots of a parallel job are distributed over hosts */
    OBJECT_CALENDAR,    /* when queues are closed */
    OBJECT_QUOTA,       /* a resource quota set: how much jobs may take together */
    OBJECT_KIND_COUNT
};

/* Of a new instance. */
#define DEFAULT_PARTITION "main"
#define DEFAULT_QOS "normal"
#define LOCAL_HOST "localhost"                 /* this machine, in an instance */
#define DEFAULT_DEPARTMENT "defaultdepartment" /* of users without another; it needs no row */

enum partition_field {
    PARTITION_JOB_FACTOR,
    PARTITION_TIER,
    PARTITION_MAX_TIME, /* seconds, or FIELD_SPECIAL */
    PARTITION_BILLING_WEIGHTS,
    PARTITION_FSHARE,
    PARTITION_OTICKET,
    PARTITION_HOSTS,
    PARTITION_SLOTS,
    PARTITION_SEQ_NO,
    PARTITION_LOAD_THRESHOLDS,
    PARTITION_PE_LIST,
    PARTITION_COMPLEX_VALUES,
    PARTITION_USER_LISTS,
    PARTITION_XUSER_LISTS,
    PARTITION_STATE,
    PARTITION_CALENDAR,
    PARTITION_QOS,          /* the name of a QOS whose limits its jobs have, too; "": none */
    PARTITION_DEFAULT_TIME, /* seconds, or FIELD_SPECIAL */
    PARTITION_MIN_NODES,    /* from here on limits of its jobs (engine/partition_limits.h) */
    PARTITION_MAX_NODES,
    PARTITION_MAX_CPUS_PER_NODE,
    PARTITION_MAX_MEM_PER_NODE, /* MiB, or FIELD_SPECIAL; so is the next one */
    PARTITION_DEF_MEM_PER_CPU,
    PARTITION_ALLOW_ACCOUNTS, /* names; "ALL" or "": all */
    PARTITION_DENY_ACCOUNTS,  /* names; "NONE" or "": none */
    PARTITION_ALLOW_QOS,
    PARTITION_DENY_QOS,
    PARTITION_FIELD_COUNT
};
enum { /* of the record of a partition, behind its fields: what the instance reports of it */
       PARTITION_CLOSED_UNTIL = PARTITION_FIELD_COUNT,
       PARTITION_IS_DEFAULT,
       PARTITION_RECORD_COUNT
};
enum qos_field {
    QOS_PRIORITY,
    QOS_USAGE_FACTOR,
    QOS_USAGE_THRESHOLD,
    QOS_FLAGS,
    QOS_GRP_JOBS, /* from here on limits (fields/limit_fields.h) */
    QOS_GRP_SUBMIT,
    QOS_GRP_WALL,
    QOS_GRP_TRES,
    QOS_GRP_TRES_MINS,
    QOS_GRP_TRES_RUN_MINS,
    QOS_MAX_JOBS_PER_USER,
    QOS_MAX_JOBS_PER_ACCOUNT,
    QOS_MAX_SUBMIT_PER_USER,
    QOS_MAX_SUBMIT_PER_ACCOUNT,
    QOS_MAX_WALL,
    QOS_MAX_TRES,
    QOS_MAX_TRES_PER_NODE,
    QOS_MAX_TRES_PER_USER,
    QOS_MAX_TRES_PER_ACCOUNT,
    QOS_MAX_TRES_MINS,
    QOS_MIN_TRES,
    QOS_FIELD_COUNT
};
enum { /* of the record of a QOS, behind its fields: its current usage */
       QOS_USAGE = QOS_FIELD_COUNT,
       QOS_USAGE_WALL,
       QOS_USAGE_TRES,
       QOS_RECORD_COUNT
};
enum user_field { USER_FSHARE, USER_OTICKET, USER_DEPARTMENT, USER_MAY_USE_DEADLINE, USER_FIELD_COUNT };
enum project_field { PROJECT_FSHARE, PROJECT_OTICKET, PROJECT_FIELD_COUNT }; /* departments have the same two */
enum resource_field {
    RESOURCE_TYPE,
    RESOURCE_URGENCY,
    RESOURCE_AMOUNT, /* at the level of the whole cluster */
    RESOURCE_RELOP,
    RESOURCE_CONSUMABLE,
    RESOURCE_DEFAULT_AMOUNT,
    RESOURCE_FIELD_COUNT
};
enum { /* of the record of a resource, behind its fields */
       RESOURCE_BUILT_IN = RESOURCE_FIELD_COUNT,
       RESOURCE_RECORD_COUNT
};
enum host_field {
    HOST_CPUS,
    HOST_MEM,
    HOST_COMPLEX_VALUES,
    HOST_LOAD_SCALING,
    HOST_STATE,
    HOST_FEATURES,
    HOST_FIELD_COUNT
};
enum { /* of the record of a host, behind its fields: what the instance reports of it */
       HOST_IS_ATTACHED = HOST_FIELD_COUNT,
       HOST_IS_DOWN,
       HOST_TOTAL_CPUS,
       HOST_TOTAL_MEM,
       HOST_TOTAL_GPUS,
       HOST_LOAD,
       HOST_RECORD_COUNT
};
enum group_field { GROUP_HOSTS, GROUP_FIELD_COUNT };
enum environment_field { ENVIRONMENT_SLOTS, ENVIRONMENT_ALLOCATION_RULE, ENVIRONMENT_FIELD_COUNT };
enum calendar_field { CALENDAR_YEAR, CALENDAR_WEEK, CALENDAR_FIELD_COUNT };
enum quota_field { QUOTA_DESCRIPTION, QUOTA_ENABLED, QUOTA_RULES, QUOTA_FIELD_COUNT };

/* Values of RESOURCE_TYPE. */
enum resource_type {
    RESOURCE_INT,
    RESOURCE_DOUBLE,
    RESOURCE_BOOL,
    RESOURCE_TIME,
    RESOURCE_MEMORY,
    RESOURCE_STRING,
    RESOURCE_CSTRING,
    RESOURCE_RESTRING,
    RESOURCE_HOST
};
static inline bool resource_type_is_text(enum resource_type type)
{
    return type >= RESOURCE_STRING;
}

/* Of texts. */
static inline bool resource_type_ignores_case(enum resource_type type)
{
    return type == RESOURCE_CSTRING || type == RESOURCE_HOST;
}

/* Values of RESOURCE_RELOP: how the value that a host or a queue has stands to the requested one. Texts are only
 * compared for equality, so all but RELOP_NOT_EQUAL mean that. EXCLUSIVE: no other job may use the object. */
enum resource_relop {
    RELOP_LESS_EQUAL, /* the request is at most what is there */
    RELOP_EQUAL,
    RELOP_NOT_EQUAL,
    RELOP_GREATER_EQUAL,
    RELOP_LESS,
    RELOP_GREATER,
    RELOP_EXCLUSIVE
};

/* Values of RESOURCE_CONSUMABLE. What is consumed is booked: for each slot, or once for a job. Texts and booleans
 * (unless exclusive) are never consumed. */
enum resource_consumable { CONSUMABLE_YES, CONSUMABLE_NO, CONSUMABLE_JOB };

/* Values of HOST_STATE, and of a queue on a host. */
enum host_state { HOST_UP, HOST_DRAINED, HOST_DOWN };

enum { OBJECT_FIELDS_MAX = 32 };

/* Where a record of an object has what: the name, then its fields, then what the instance adds. */
enum { OBJECT_RECORD_NAME, OBJECT_RECORD_FIELDS, OBJECT_RECORD_MAX = OBJECT_FIELDS_MAX + 3 };

struct object_class {
    const char *name, *plural; /* "partition", "partitions" */
    const char *help;
    const struct field *fields;
    uint32_t field_count;
    struct field_table record; /* name, fields, what the instance adds, created_us */
    bool has_usage;            /* RawUsage=0 discards the usage so far: not a field, because it is done and not kept */
};

/* "RawUsage", which takes only 0. */
extern const struct field object_usage_reset_field;

extern const struct object_class object_classes[OBJECT_KIND_COUNT];

/* One object of a kind. Its text belongs to the struct that contains it. */
struct object {
    const char *name;
    struct field_value value[OBJECT_FIELDS_MAX];
};

/* The resource slots is every job's own, without a row; its default differs from that of all others. */
#define SLOTS_RESOURCE "slots"
#define SLOTS_URGENCY 1000.0

/* Every field at its default. */
struct object object_defaults(enum object_kind kind, const char *name);

/* The user policy that enforce_user=auto makes for a user without one: defaults, with the shares and tickets of the
 * settings auto_user_fshare and auto_user_oticket. */
struct object object_automatic_user(const struct settings *settings, const char *name);

/* The index of the field of that name (any case; of a QOS also Slurm's other spellings of limits), or NONE. */
uint32_t object_field_find(enum object_kind kind, struct str name);

/* Reads KEY's value into the object: ERR_INPUT names kind, field, value and what is accepted; text goes into arena. */
int object_set(struct object *o, enum object_kind kind, struct str key, struct str value, struct arena *arena,
               struct err *e);

/* What the amount of a request for a resource is worth: a number by the resource's type ("2", "1.5", "true", "0:30:0",
 * "2G" in bytes), 1 for text. ERR_INPUT names the resource, the value and what is accepted. */
int object_resource_amount_parse(enum resource_type type, const char *name, struct str value, double *out_amount,
                                 struct err *e);

/* The same for memory that is counted in MiB: "512" and "0.5G" are 512. */
int object_resource_mib_parse(const char *name, struct str value, double *out_mib, struct err *e);

/* Checks the expression that a job requests of a text (base/expression.h); other amounts pass. The errors are those of
 * object_resource_amount_parse. */
int object_resource_expression_check(enum resource_type type, const char *name, struct str value, struct err *e);

#endif
