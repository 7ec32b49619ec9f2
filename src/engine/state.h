/* The state: everything that a decision depends on, as tables of rows addressed by index. The rows are what the store
 * keeps; nothing here is ever newer than it for longer than one turn of the loop.
 *
 *     assocs   accounts, and users in accounts: the association tree's rows
 *     objects  partitions, QOS, users, projects, departments, resources: what an administrator names (fields/objects.h)
 *     owners   usage of users and projects, which the share tree of the tickets model counts
 *     jobs     what was submitted, one row each; an array is one row until its tasks start
 *     tasks    what was started: one row per start, so one for a plain job and one per started task of an array
 *     host     what is free
 *
 * Invariants
 *   1. Ids (job, launch, association) only grow and are never used again. Rows stand in ascending order of id.
 *   2. Associations form one tree under root. The derived tree numbers those that stand depth first, an account's users
 *      before its sub-accounts, each by id: the order of listings.
 *   3. A job's task numbers are each in exactly one place: pending, cancelled, or a row in tasks. A plain job has the
 *      one number 0.
 *   4. host is what the placements of tasks in STARTING, RUNNING and COMPLETING leave of the capacity.
 *   5. usage of an association is its own (not its children's), stored at decay.reference_us: the charges of its tasks from
 *      start_us to charged_us, and those of deleted users and accounts folded into it. A running task adds its charge from
 *      charged_us on when somebody reads; an ended one has charged_us >= end_us and adds nothing. Nothing from before
 *      its reset_us, or usage_reset_us, is in it; so with a QOS and with owners (reset.c).
 *   6. Ended rows (and the jobs with no live task and nothing pending) are only here until engine_forget: the store has them.
 *   7. There is always a partition and a QOS that stands. A live job points only at objects that stand. Rows of objects
 *      that were deleted stay in memory, not in the store; their ids may be given again.
 *   8. policy is what the settings say (policy_make), made anew whenever one changes.
 */
#ifndef FAIRLEAD_ENGINE_STATE_H
#define FAIRLEAD_ENGINE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/idset.h"
#include "base/map.h"
#include "fields/job_state.h"
#include "fields/limits.h"
#include "fields/objects.h"
#include "policy/policy.h"
#include "policy/share_nodes.h"
#include "policy/tree.h"
#include "policy/usage.h"
#include "sched/host.h"

/* What people have submitted, in tasks. */
struct work {
    uint64_t pending; /* waiting, whether they may start or not */
    uint32_t running, running_cpus;
};

struct assoc {
    uint32_t id;     /* 1 is the root account */
    uint32_t parent; /* index; root: NONE */
    const char *account;
    const char *user;      /* NULL: the account itself */
    const char *partition; /* of a user, in documents: only for jobs in that partition; NULL: for all */
    uint32_t shares;       /* or SHARES_PARENT */
    bool is_default;       /* of the user's associations, the one that submit takes without -A */
    double usage;          /* invariant 5 */
    double *usage_tres;    /* the same in TRES-seconds, by index of policy.tres, TRES_MAX entries; NULL: none yet */
    uint32_t priority;     /* of the multifactor sum; NONE: its parent's, at last 0 */
    int64_t reset_us;      /* usage counts from here on; 0: from the beginning */
    int64_t created_us;
    int64_t deleted_us; /* 0: it stands */
    uint32_t live_jobs; /* derived: jobs of it in the table that have not ended */
    struct work work;   /* derived: of it and of all below it */
};

/* A partition, QOS and so on; for a QOS also what its jobs used. */
struct object_row {
    uint32_t id; /* of its kind; the order of listings */
    struct object object;
    int64_t created_us;
    bool is_deleted;
    uint32_t live_jobs;    /* derived: jobs that point at it and have not ended */
    double usage;          /* of a QOS: billing-seconds as assoc.usage; with NoDecay as they stand */
    int64_t reset_us;      /* of a QOS, as assoc.reset_us */
    const uint32_t *hosts; /* of a partition: indices of state.hosts; NULL: it has all */
    uint32_t host_count;
    /* Derived from its fields. */
    double *billing_weights; /* of a partition: TRES_MAX entries; NULL: it has none */
    uint32_t qos_flags;
};

/* A host. An instance has one, the machine it runs on (state.host); a document has any number. */
struct host_row {
    const char *name;
    struct capacity has;
    const double *tres; /* what it has, by index of policy.tres, TRES_MAX entries; NULL: what the capacity comes to */
};

/* What a user used outside projects (project ""), in a project, and what a project used (user ""). */
struct usage_owner {
    const char *user, *project;
    struct ticket_usage usage; /* as it reads at at_us */
    int64_t at_us;
    int64_t reset_us; /* as assoc.reset_us; a project's usage has of each user what counts of that user's in it */
};

/* A hard request for a resource. */
struct job_request {
    uint32_t resource; /* index of objects[OBJECT_RESOURCE] */
    double amount;     /* of one slot; 1 of a text */
    char *text;        /* what was asked for: "2", "true", "lx-amd64" */
};

/* With INCR_ONLY, what a waiting job has at least in a partition (engine/min_priority.h). 0: none. */
struct min_priority {
    uint32_t min;    /* derived: what a pass gave it; not below stored */
    uint32_t stored; /* of those that bind */
};

/* What people say of a job and what its tasks run in: no pass looks at it. One piece of memory, the texts behind it. Every
 * member is a text. */
struct job_text {
    const char *name, *command, *directory, *out_pattern;
    const char *err_pattern;             /* NULL: where standard output goes */
    const char *comment, *admin_comment; /* NULL: none */
};

/* What a document may say of a job and an instance does not know yet. */
struct job_document {
    uint32_t nodes;
    uint32_t slots;        /* for the ticket policies, in place of its CPUs */
    struct tres_list tres; /* what each task asks for, in place of what its request comes to; empty: that */
    uint32_t rank;         /* its position in the scheduler's list, in place of its id */
    bool has_slots_rule;   /* its own rule for a range of slots, in place of the setting urgency_slots */
    enum urgency_slots_rule slots_rule;
    uint32_t slots_number;
};

/* Of the fields of a job (fields/job_fields.h) those with home JOB; engine/job_members.c says which is where. */
struct job {
    /* First what a pass asks every job, then what it asks those that could start, a line of the processor's cache each: it
     * walks all of them, and what it waits for is memory. */
    uint32_t id;
    uint32_t assoc; /* index */
    bool held;
    bool is_array;
    uint32_t live_tasks; /* derived */
    int64_t ended_us;    /* 0 while anything of it is pending or live */
    int64_t begin_us;    /* not before; 0: at once */
    struct capacity request;

    uint32_t *partitions; /* indices of objects[OBJECT_PARTITION], at least one, as asked for */
    uint32_t partition_count;
    uint32_t qos; /* index of objects[OBJECT_QOS] */
    int64_t time_limit_s;
    int64_t accrue_us;                   /* since when its age grows: its submission, begin or release; 0: held */
    struct min_priority *min_priorities; /* by place in partitions; NULL: none */
    uint32_t set_priority;               /* by hand; NONE: computed */
    int32_t nice, site;
    uint32_t slots_max; /* 0: as many as request.cpus; else up to this */
    uint32_t request_count;
    uint32_t project; /* index of objects[OBJECT_PROJECT], or NONE */

    struct job_request *requests;
    int64_t submit_us;
    int64_t deadline_us; /* 0: none */
    int32_t posix_priority;
    uint32_t job_share, override_tickets;
    uint32_t array_limit; /* maximum number of running tasks; 0: no limit */
    uint32_t uid, gid;    /* whom its tasks run as */
    struct job_text *text;
    struct job_document *document;   /* NULL: the job is of an instance */
    struct idset array;              /* all task numbers, as submitted; plain: {0} */
    struct idset pending, cancelled; /* invariant 3 */
    int64_t cancelled_us;            /* when the last of the cancelled ones was; 0: none */
    char unused[24];                 /* so that every row begins at the same place of a line */
};
_Static_assert(sizeof(struct job) == 256, "a row of jobs has four lines of the cache");

struct task {
    uint32_t job_id;
    uint32_t task_id;     /* 0 for a plain job */
    uint32_t assoc;       /* index; its job's */
    enum job_state state; /* never PENDING */
    bool cancelled;       /* somebody asked for its end */
    uint64_t launch_id;
    char boot_id[40];   /* of the boot it was launched in */
    int64_t launch_us;  /* decided */
    int64_t start_us;   /* the keeper's start record; 0: not yet, or never ran */
    int64_t charged_us; /* charged into its association up to here; 0 until it starts */
    int64_t end_us;     /* 0: not ended */
    struct placement placement;
    uint32_t partition;    /* index of objects[OBJECT_PARTITION] */
    double billing;        /* units a second, by its partition's weights when it started */
    double usage_factor;   /* of its QOS then; usage is billing x usage_factor x time */
    struct tres_list tres; /* what it has; its own memory */
    uint32_t cpu_weight;   /* derived: last told to the executor, at first the ordinary 100; 0: not known */
    int32_t exit_status, signal;
    int64_t cpu_us, max_rss_kib;
    char detail[200];
};

struct state {
    struct arena arena; /* names of associations; jobs own their text */
    struct settings settings;
    struct policy policy; /* invariant 8 */
    struct decay decay;
    struct capacity found; /* of this machine, before settings override it */
    ARRAY(struct assoc) assocs;
    ARRAY(struct job) jobs;
    ARRAY(struct task) tasks;
    ARRAY(struct object_row) objects[OBJECT_KIND_COUNT];
    ARRAY(struct usage_owner) owners;
    ARRAY(struct host_row) hosts;
    /* The rows come from a document (sim/scenario.h): it has hosts and a share tree of its own, or none, and siblings in the
     * tree stand in the order of their ids. */
    bool is_document;
    struct share_nodes *share_nodes; /* of a document; NULL: it has no share tree */
    uint32_t next_assoc_id, next_job_id;
    uint64_t next_launch_id;
    int64_t usage_reset_us;  /* when all usage was last reset; 0: never */
    int64_t reset_period_us; /* since when its period counts: as set, or the last boundary; 0: it was never set */

    /* Derived from the rows; rebuilt, never stored. */
    struct map assoc_by_name;                         /* "account" or "account<1f>user", alive */
    struct map assoc_in_partition;                    /* "account<1f>user<1f>partition" -> association */
    struct map default_of_user;                       /* user -> the association that is their default */
    struct map object_by_name[OBJECT_KIND_COUNT];     /* those that stand */
    struct map owner_by_name;                         /* "user<1f>project" */
    struct map job_by_id, task_by_launch, task_by_id; /* live; task_by_id: task_key() */
    struct host host;
    struct tree tree;         /* of associations alive */
    ARRAY(uint32_t) node_of;  /* association index -> node of tree, NONE: deleted */
    ARRAY(uint32_t) assoc_of; /* node -> association index */
    ARRAY(double) usage_of;   /* node -> usage of its association, as it is stored: to be read one after the other */
    bool tree_is_stale;
    uint32_t tree_builds;          /* how often the tree was made anew */
    struct share_tree *share_tree; /* of the tickets model (engine/share_tree.h); NULL: nobody asked yet */
    struct ticket_identities *ticket_identities; /* likewise (engine/ticket_identities.h) */
    /* Changes by operators: of settings, objects and associations, and resets; of objects alone. */
    uint32_t rules_edition, object_edition;
    bool dropped_plan; /* since the last pass, because the rules had changed (engine/ticket_plan.h) */
    bool pass_is_due;  /* something changed that may let a job start */
    /* When a pass is wanted again, as the last one saw it: the earliest begin_us still to come of a pending job, or a minute
     * on where one waits for its fair-share factor or what runs is weighed by its usage; 0: never. */
    int64_t next_due_us;
    struct rank_order *order;
    uint32_t ended_rows; /* jobs and tasks that wait for engine_forget */
    struct arena cycle;  /* of one apply or one reading; cleared at its beginning */
};

/* What a task is charged, units a second; weights may make billing negative, usage never is. */
static inline double task_rate(const struct task *k)
{
    return k->billing > 0.0 ? k->billing * k->usage_factor : 0.0;
}

static inline uint64_t task_key(uint32_t job_id, uint32_t task_id)
{
    return (uint64_t)job_id << 32 | task_id;
}

/* A state with root (association 1), partition "main", QOS "normal", standard settings, nothing else; no capacity. now_us:
 * the reference. */
void state_init(struct state *s, int64_t now_us);
void state_release(struct state *s);

/* Of names in documents; those of an instance have up to NAME_BYTES_MAX. */
enum { DOCUMENT_NAME_BYTES_MAX = 255, NAME_KEY_SIZE = 2 * DOCUMENT_NAME_BYTES_MAX + 2 };

/* The key of two names, "first<1f>second" or (second NULL) "first", in key; empty where one is too long for a name. */
struct str state_name_key(char key[NAME_KEY_SIZE], const char *first, const char *second);

/* Indices, or NONE. user NULL: the account's own row. Associations with a partition are found by the last one alone: the
 * one for the jobs of an association in a partition, else that association itself. */
uint32_t state_find_assoc(const struct state *s, const char *account, const char *user);
uint32_t state_assoc_in_partition(const struct state *s, uint32_t assoc, uint32_t partition);
uint32_t state_find_job(const struct state *s, uint32_t job_id);
uint32_t state_find_task(const struct state *s, uint32_t job_id, uint32_t task_id);

/* Index of an object that stands, or NONE. */
uint32_t state_find_object(const struct state *s, enum object_kind kind, const char *name);

/* When the pass wants to be run again although nothing happens: long ago (pass_is_due), or next_due_us; 0: never. */
int64_t state_next_due_us(const struct state *s);

/* The user's default association, or NONE. */
uint32_t state_default_assoc(const struct state *s, const char *user);

/* Rebuilding from rows: hosts and objects first, because others refer to them by index; each table ascending by id. Text,
 * partitions, requests, hosts and what a document says are copied; sets, a task's tres.items and usage_tres are taken over
 * (from mem_resize). Associations are referred to by id; jobs may be of a deleted one, which the tree does not have.
 * state_restore_done checks the invariants and derives the rest: ERR_INTERNAL when the rows contradict each other. */
void state_restore_begin(struct state *s); /* after state_init: no rows at all, not even root */
void state_restore_host(struct state *s, const struct host_row *row); /* of a document */
void state_restore_assoc(struct state *s, const struct assoc *row, uint32_t parent_id);
void state_restore_job(struct state *s, const struct job *row, uint32_t assoc_id);
void state_restore_task(struct state *s, const struct task *row);
void state_restore_object(struct state *s, enum object_kind kind, const struct object_row *row);
void state_restore_owner(struct state *s, const struct usage_owner *row);

/* A stored minimum priority, from 1 on, of a job restored so far in one of its partitions (by index). False: there is no such
 * job, or it is not in that partition. */
bool state_restore_min_priority(struct state *s, uint32_t job_id, uint32_t partition, uint32_t priority);

/* Makes the policy of the settings restored so far, so that rows can be read by policy.tres; state_restore_done does it
 * where nobody did. state_find_object finds what was restored so far. */
int state_restore_policy(struct state *s, struct err *e);
int state_restore_done(struct state *s, struct err *e);

/* A hash of every row that has not ended, by content and id, not by place in memory: two states that would decide alike
 * in all that follows hash alike. */
uint64_t state_hash(const struct state *s);

/* Derives now what is otherwise derived while the first one who asks waits: the tree, and in the tickets model who is who. */
void state_prepare(struct state *s);

/* The tree and every association's own current usage (running tasks charged up to now), by node of s->tree. own: in
 * memory of arena, s->tree.count entries. */
const struct tree *state_tree(struct state *s);
double *state_own_usage(struct state *s, int64_t now_us, struct arena *arena);

/* The same for one TRES, in its units x seconds; and a QOS' usage. */
double *state_own_tres_usage(struct state *s, uint32_t tres, int64_t now_us, struct arena *arena);
double state_qos_usage(const struct state *s, uint32_t qos, int64_t now_us);

/* When an association was last reset, by itself or with everything; 0: never. */
int64_t assoc_reset_us(const struct state *s, uint32_t assoc);

/* Fair-share factor by node by the algorithm in force, in memory of arena. */
double *state_factors(struct state *s, int64_t now_us, struct arena *arena);

/* The columns of a share listing by the algorithm in force, in memory of arena. */
void state_share_table(struct state *s, int64_t now_us, const bool *wanted, struct arena *arena,
                       struct share_table *out_table);

#endif
