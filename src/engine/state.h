/* The state: everything that a decision depends on, as tables of rows that are addressed by index. The store keeps the
 * same rows. Memory is ahead of the store only within one turn of the loop, until the commit.
 *
 *     assocs   accounts, and users in accounts: the rows of the association tree
 *     objects  partitions, QOS, users, projects, departments, resources, which an administrator defines
 *              (fields/objects.h)
 *     owners   usage of users and projects, which the share tree of the tickets model counts
 *     jobs     submissions, one row each; an array is one row until its tasks start
 *     tasks    starts, one row each: one for a plain job, one for each started task of an array
 *     hosts    machines that run jobs, with what is free on each
 *
 * Invariants
 *   1. Ids (of jobs, launches, associations) only grow and are never used again. Rows are in ascending order of id.
 *   2. Associations form one tree under root. The derived tree contains those that were not deleted, depth first: an
 *      account's users before its sub-accounts, each in the order of their ids. Listings have the same order.
 *   3. Each of a job's task numbers is in exactly one of these: pending, cancelled, the row in tasks of its last
 *      attempt, which is live or has ended. An earlier attempt has a row in tasks with the state REQUEUED, which does
 *      not count; one that had ended becomes REQUEUED when it is requeued. A plain job has one task number, 0.
 *   4. What is free on a host of an instance is its capacity without the placements of tasks in STARTING, RUNNING,
 *      SUSPENDED and COMPLETING.
 *   5. assoc.usage is the association's own usage (without that of the associations below), as of decay.reference_us:
 *      the charges of its tasks from start_us to charged_us, and the usage of deleted users and accounts that was added
 *      to it. Readers add the charge of a running task from charged_us on; an ended task has charged_us >= end_us, so
 *      nothing is added, nor is for a task that is suspended without charge. Usage from before reset_us or
 *      usage_reset_us is not included. The same holds for usage_tres, usage_wall, and the usages of QOS and of owners
 *      (charge.c, usage_reset.c).
 *   6. Ended rows (tasks that ended, jobs with nothing pending and no live task) stay in memory only until
 *      engine_forget: the store has them.
 *   7. At least one partition and one QOS exist. A live job refers only to objects that exist. The row of a deleted
 *      object stays in memory, but not in the store; its id may be given to a new object.
 *   8. policy is computed from the settings (policy_make), again after each change.
 *   9. In an instance a live job's association is state_assoc_in_partition of its account, its user and its first
 *      partition. A task keeps the association of its start, which is that of the partition that it started in.
 *  10. A task of an instance is SUSPENDED exactly as long as suspended_from_us is not 0. Then charged_us is not later
 *      than that, unless the suspension is charged; its end moves charged_us behind it (suspension.c).
 */
#ifndef FAIRLEAD_ENGINE_STATE_H
#define FAIRLEAD_ENGINE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/idset.h"
#include "base/map.h"
#include "engine/launch_backoff.h"
#include "engine/rhythm.h"
#include "engine/usage_conversion.h"
#include "fields/dependency_text.h"
#include "fields/job_state.h"
#include "fields/limits.h"
#include "fields/objects.h"
#include "policy/policy.h"
#include "policy/share_nodes.h"
#include "policy/tree.h"
#include "policy/usage.h"
#include "sched/host.h"

/* Counts of submitted tasks. */
struct work {
    uint64_t pending; /* not started, whether they may start or not */
    uint32_t running, running_cpus;
};

struct assoc {
    uint32_t id;     /* 1 is the root account */
    uint32_t parent; /* index; root: NONE */
    const char *account;
    const char *user;      /* NULL: the account itself */
    const char *partition; /* of a user: only for jobs in that partition; NULL: for those without one of their own */
    uint32_t shares;       /* or SHARES_PARENT */
    bool is_default;       /* its account is that of the user's jobs when the submission names none (-A) */
    bool has_partitions;   /* derived: the user may have associations of one partition in this account */
    double usage;          /* billing-seconds, invariant 5 */
    double *usage_tres;    /* likewise in TRES-seconds, by index of policy.tres, TRES_MAX entries; NULL: none yet */
    double usage_wall;     /* likewise of its tasks' time: seconds x usage factor */
    uint32_t priority;     /* for the multifactor sum; NONE: the parent's, 0 if no ancestor has one */
    int64_t reset_us;      /* usage counts from this time on; 0: from the beginning */
    int64_t created_us;
    int64_t deleted_us;         /* 0: not deleted */
    struct field_value *limits; /* by enum assoc_limit; NULL: none is set */
    uint32_t live_jobs;         /* derived: its jobs that have not ended */
    uint64_t live_input_bytes;  /* derived: of these */
    struct work work;           /* derived: of it and of all associations below it */
    uint32_t next_of_user;      /* derived: another association of the same user; NONE: the last one */
};

/* A time in which a queue is closed. until_us INT64_MAX: for ever. */
struct closed_time {
    int64_t from_us, until_us;
};

/* A partition, a QOS and so on; a QOS also has the usage of its jobs. */
struct object_row {
    uint32_t id; /* unique among the existing objects of its kind; the order of listings */
    struct object object;
    int64_t created_us;
    bool is_deleted;
    uint32_t live_jobs; /* derived: jobs, and of a QOS tasks, that refer to it and have not ended */
    double usage;       /* of a QOS: billing-seconds, stored like assoc.usage; with NoDecay they do not decay */
    double *usage_tres; /* of a QOS: like assoc.usage_tres; with NoDecay they do not decay, nor does usage_wall */
    double usage_wall;
    int64_t reset_us;      /* of a QOS, like assoc.reset_us */
    const uint32_t *hosts; /* of a partition: indices into state.hosts; NULL: all hosts */
    uint32_t host_count;
    /* Of a calendar as last reported (EVENT_CALENDARS), which is not stored; of a partition in a document. Ascending;
     * none overlaps another one (engine/closed_times.h). */
    const struct closed_time *closed;
    uint32_t closed_count;
    /* Derived from its fields. */
    double *billing_weights; /* of a partition: TRES_MAX entries; NULL: no weights */
    uint32_t qos_flags;
};

/* A value that a host reports, as it reports it: "0.45", "23242.8M", "lx-amd64". */
struct host_load {
    const char *name, *value;
};

enum { LOCAL_HOST_INDEX = 0 };

/* GPUs of a host, or of a job, as a resource of the cluster. */
struct gpu_amount {
    const char *resource; /* "gres/gpu", or of one type: "gres/gpu:tesla" */
    uint32_t tres;        /* index of policy.tres; NONE: not tracked */
    uint32_t count;
};

/* A host, by index of objects[OBJECT_HOST]. In an instance the first one is the machine that it runs on, and the others
 * take jobs only once an executor of theirs has reported what they have (EVENT_HOST), which is not stored. */
struct host_row {
    bool is_attached;           /* jobs can run there; every host of a document */
    bool is_down;               /* its executor reports that nothing can start there for now */
    struct capacity detected;   /* in an instance: as reported, without what settings and the object say instead */
    struct idset withheld_gpus; /* likewise: GPUs that no job gets for now */
    struct host host;           /* what it has; in an instance with what is free */
    const double *tres; /* its amounts by index of policy.tres, TRES_MAX entries; NULL: computed from the capacity */
    const struct gpu_amount *gpus; /* of a document: its GPUs of any type, and those of each type */
    uint32_t gpu_count;
    struct host_load *loads; /* of a document: as long as it; of an instance: until the next EVENT_LOAD of the host */
    uint32_t load_count;
    struct arena load_arena; /* of the loads of an instance, which are not stored */
};

/* The usage of a user outside projects (project ""), of a user in a project, or of a project (user ""). */
struct usage_owner {
    const char *user, *project;
    struct ticket_usage usage; /* as of at_us */
    int64_t at_us;
    int64_t reset_us; /* like assoc.reset_us. A project's usage is the sum of its users' usages in it. */
};

/* A request for a resource. */
struct job_request {
    uint32_t resource; /* index into objects[OBJECT_RESOURCE] */
    double amount;     /* for each slot; 1 for a text */
    char *text;        /* as requested: "2", "true", "lx-amd64" */
};

/* With INCR_ONLY: the minimum priority of a pending job in one partition (engine/min_priority.h). 0: none. */
struct min_priority {
    uint32_t min;    /* derived: the highest priority that a pass computed; at least stored */
    uint32_t stored; /* the value in the store; 0 if the minimum never bound */
};

/* The fields of a job that no pass reads. One allocation: the pointers, the job's partitions, the texts. Every member
 * is a text. */
struct job_text {
    const char *name, *command, *directory, *out_pattern;
    const char *err_pattern; /* NULL: the same file as standard output */
};

/* Those that few jobs have. One allocation; every member is a text. */
struct job_rare_text {
    const char *comment, *admin_comment; /* NULL: none */
    const char *cancel_reason;           /* why the instance cancelled it before it started; NULL: it did not */
    const char *origin;                  /* "INSTANCE/17": a job of another instance's history; NULL: of this one */
    const char *warn_signal;             /* "B:USR1@60": a signal before its time limit; NULL: none */
    const char *terminal;                /* "pty,detach": a job of the command run; NULL: a batch job */
    const char *requeue_exits;           /* exit statuses with which it is requeued, "99,75-78"; NULL: none */
    const char *retry;                   /* the rule after failures, "3:exit=1,137:backoff=5m"; NULL: none */
};

/* Whether a quarantine (quarantine.h) holds a job, and who held it before, or asked for it since. */
enum job_quarantine { QUARANTINE_NO, QUARANTINE_ALONE, QUARANTINE_AND_USER, QUARANTINE_AND_OPERATOR };

/* What becomes of a task that is being ended because it is to start again, or that starts again after a failure. */
enum task_requeue { REQUEUE_NO, REQUEUE_YES, REQUEUE_HELD, REQUEUE_HELD_BY_OPERATOR, REQUEUE_RETRY };

/* Why a running job of a document is suspended: Grid Engine's states s, S and T. */
enum job_suspension { SUSPENSION_NONE, SUSPENSION_BY_HAND, SUSPENSION_BY_QUEUE, SUSPENSION_BY_THRESHOLD };

/* Slots of a running job on an instance of a queue. */
struct job_place {
    uint32_t partition, host; /* indices of objects[OBJECT_PARTITION] and objects[OBJECT_HOST] */
    uint32_t slots;
};

/* What a job asks of its places, beside its request. One allocation. Lists are texts of names: "all.q@n1,b.q"; NULL:
 * not given. */
struct job_placing {
    const char *queues, *master_queues, *soft_queues;
    const char *constraint;   /* features of its hosts: "avx&ssd"; NULL: not given */
    struct job_request *soft; /* soft requests */
    uint32_t soft_count;
    uint32_t node_min, node_max; /* its slots are on so many hosts, without a parallel environment; 0: not given */
    uint32_t slots_per_node;     /* and so many on each; 0: not given */
    uint64_t mem_mib_per_cpu;    /* memory and GPUs of each slot, instead of those of the request; 0: not given */
    uint32_t gpus_per_slot;
    bool is_exclusive; /* it has all slots of each of its hosts */
};

/* The fields of a job that only documents have so far. One allocation. */
struct job_document {
    const char *environment;  /* of a parallel job: the name of a parallel environment, or a pattern; NULL: none */
    bool has_partition;       /* the document says its partitions */
    int64_t start_us;         /* of a running job; 0: not given */
    int64_t time_limit_s;     /* 0: not given */
    struct job_place *places; /* of a running job; none: not given */
    uint32_t place_count;
    uint32_t nodes;
    uint32_t slots;        /* for the ticket policies, instead of its CPUs */
    struct tres_list tres; /* requested for each task, instead of what its request amounts to; empty: not given */
    const struct gpu_amount *gpus; /* on each of its hosts, or for each slot; as long as the document */
    uint32_t gpu_count;
    bool has_gpus_per_slot;
    uint32_t rank;          /* its position in the order of seq, then ids; in basic in that of submission */
    uint32_t running_tasks; /* of an array: tasks that run, each as a job of its own in the document */
    enum job_suspension suspension;
    bool has_slots_rule; /* it has a rule of its own for a range of slots, instead of the setting urgency_slots */
    enum urgency_slots_rule slots_rule;
    uint32_t slots_number;
};

/* Pending tasks of an array that do not start before a time, or until they are released. */
struct task_delay {
    int64_t at_us; /* in whole seconds */
    struct idset tasks;
};

/* The fields of a job (fields/job_fields.h) with home JOB; engine/job_members.c maps fields to members. */
struct job {
    /* First what a look at all jobs reads. */
    uint32_t id;
    uint32_t assoc; /* index */
    bool is_held;
    bool is_held_by_operator; /* and only an operator may release it */
    bool is_array;
    bool is_reserving;       /* it asks for a reservation */
    bool is_time_exempt;     /* an operator has set its time limit, which MaxWall does not limit then */
    bool lacks_time_limit;   /* none was given: its time limit is a default of its partitions (partition_limits.h) */
    bool has_default_time;   /* and while it waits, each of its partitions has its own */
    bool waits_by_task;      /* derived: pending tasks wait for tasks of other jobs, or for a time */
    uint32_t live_tasks;     /* derived */
    uint32_t starting_tasks; /* derived: of them those that have not begun, as far as records say */
    int64_t ended_us;        /* 0 while a task of it is pending or live */
    int64_t begin_us;        /* it does not start earlier; 0: at once */
    struct dependency_list *dependency; /* what it waits for (dependencies.h); NULL: nothing */
    struct capacity request;

    uint32_t *partitions; /* indices into objects[OBJECT_PARTITION], at least one, in the order of the request */
    uint32_t partition_count;
    uint32_t qos; /* index into objects[OBJECT_QOS] */
    int64_t time_limit_s;
    int64_t accrue_us; /* the time from which its age grows: its submission, begin or release; 0: held */
    struct min_priority *min_priorities; /* in the order of partitions; NULL: none */
    uint32_t set_priority;               /* set by hand; NONE: computed */
    int32_t nice, site;
    uint32_t slots_max; /* the maximum number of CPUs; 0: request.cpus */
    uint32_t request_count;
    uint32_t project;     /* index into objects[OBJECT_PROJECT], or NONE */
    uint32_t environment; /* of a parallel job in an instance: index into objects[OBJECT_ENVIRONMENT]; or NONE */
    uint32_t time_min_s;  /* it may start with a shorter time limit, but this one at least; 0: it may not */

    struct job_request *requests;
    int64_t submit_us;
    int64_t deadline_us; /* 0: none */
    int32_t posix_priority;
    uint32_t job_share, override_tickets;
    uint32_t array_limit; /* maximum number of running tasks; 0: no limit */
    uint32_t uid, gid;    /* the user and group of its processes */
    struct job_text *text;
    struct job_rare_text *rare;      /* NULL: none of them; see job_rare */
    struct job_placing *placing;     /* NULL: it asks nothing of its places */
    struct job_document *document;   /* NULL in an instance */
    struct idset array;              /* all task numbers, as submitted; of a plain job {0} */
    struct idset pending, cancelled; /* invariant 3 */
    struct idset ready;              /* derived: with waits_by_task, the pending tasks that may start (job_waits.h) */
    struct idset failed;             /* derived: tasks that ended otherwise than COMPLETED, and were not requeued */
    ARRAY(struct task_delay) delays; /* tasks of an array that wait for a time or a release (task_delays.h) */
    ARRAY(struct idset) restarted;   /* tasks that were requeued at least once, at least twice ... (restarts.h) */
    bool may_requeue;                /* it starts again if its host or keeper fails */
    bool forbids_requeue;            /* requeue=no was given: also no requeue by request */
    bool is_cancelled_by_rule;       /* by kill_invalid_depend */
    bool is_immediate;               /* it starts in time, or is cancelled (immediate.h) */
    enum job_quarantine quarantine;  /* not QUARANTINE_NO: is_held and is_held_by_operator are true */
    uint32_t requeue_max;            /* how often a task is requeued by itself; 0: as max_batch_requeue says */
    uint32_t requeue_next;           /* a requeue of the ended array has come up to this task; 0: none is unfinished */
    uint32_t input_bytes;            /* of its script, arguments and environment */
    uint32_t immediate_s;            /* of an immediate job: it starts within so many seconds; 0: in the first pass */
    int64_t cancelled_us;            /* when a pending task was last cancelled; 0: never */
    uint64_t list_position;          /* in the scheduler's list; the smallest is first, equal ones by submission */
};

/* The texts of job.rare, all NULL if it is. */
const struct job_rare_text *job_rare(const struct job *j);

struct task {
    uint32_t job_id;
    uint32_t task_id;     /* 0 for a plain job */
    uint32_t assoc;       /* index; that of the partition where it started */
    enum job_state state; /* never PENDING */
    bool is_cancelled;    /* it is being ended because of a cancellation */
    enum task_requeue requeue;
    uint32_t restarts;  /* how often it was requeued before this attempt */
    bool is_over_limit; /* it is being ended because GrpTRESMins or GrpWall is reached */
    bool is_withdrawn;  /* it was never started, and its number is pending again: the row is removed */
    uint64_t launch_id;
    char boot_id[40];              /* of the boot in which it was launched */
    int64_t launch_us;             /* when the pass decided to start it */
    int64_t launch_limit_s;        /* its job's time limit then; 0: an earlier version launched it */
    int64_t granted_time_s;        /* its own limit, cut so that it could be backfilled; 0: its job's */
    int64_t start_us;              /* from the keeper's start record; 0: not started yet, or never ran */
    int64_t charged_us;            /* its usage is charged up to here; 0 until it starts */
    int64_t end_us;                /* 0: not ended */
    int64_t suspended_from_us;     /* of a task that is SUSPENDED: since when; otherwise 0 */
    int64_t suspended_us;          /* how long its suspensions that are over have lasted, all together */
    uint32_t suspension_count;     /* also the one that is not over */
    bool is_suspension_charged;    /* of its last suspension: its time is charged */
    bool is_suspended_by_operator; /* of a task that is SUSPENDED: only an operator may resume it */
    struct placement *placements;  /* in the order of the allocation: its first process is on the first host */
    uint32_t placement_count;      /* at least 1 */
    uint32_t partition;            /* index into objects[OBJECT_PARTITION] */
    double billing;                /* units a second, by its partition's weights at its start */
    uint32_t partition_qos; /* the QOS that its partition had at its start, or NONE; also NONE if it is its job's own */
    double usage_factor;    /* of its job's QOS at its start; usage is billing x usage_factor x time */
    struct tres_list tres;  /* allocated to it; items from mem_resize */
    uint32_t cpu_weight;    /* derived: the weight last sent to the executor, 100 at the start; 0: unknown */
    int32_t exit_status, signal;
    int64_t max_rss_kib;
    /* Measured so far (engine/measured_usage.c). */
    int64_t measured_us;      /* the time of the last measurement; 0: none yet */
    int64_t measured_from_us; /* owners are charged for what is measured from here on; 0: from its start */
    int64_t cpu_us, io_bytes, mem_kib;
    double mem_gib_s;
    struct ticket_usage
        charged;              /* the task's part of its owners' usage since their last reset, as of charged_as_of_us */
    int64_t charged_as_of_us; /* 0: not charged yet */
    char detail[200];
};

struct state {
    struct arena arena; /* names, and text of settings and objects; jobs own their text */
    struct settings settings;
    struct policy policy; /* invariant 8 */
    struct decay decay;
    ARRAY(struct assoc) assocs;
    ARRAY(struct job) jobs;
    ARRAY(struct task) tasks;
    ARRAY(struct object_row) objects[OBJECT_KIND_COUNT];
    ARRAY(struct usage_owner) owners;
    ARRAY(struct host_row) hosts;
    struct arena closed_arena; /* of the times of calendars */
    /* The rows come from a document (sim/scenario.h): its hosts and its share tree are its own (it may have none), and
     * siblings in the tree are in the order of their ids. */
    bool is_document;
    struct share_nodes *share_nodes; /* of a document; NULL: no share tree */
    uint32_t next_assoc_id, next_job_id;
    uint64_t next_launch_id;
    uint64_t next_list_position;          /* derived: above those of all live jobs */
    uint64_t live_input_bytes;            /* derived: of all jobs that have not ended */
    int64_t usage_reset_us;               /* when all usage was last reset; 0: never */
    struct usage_conversions conversions; /* that stored rows may lack */
    /* Begin of the current reset period: its last boundary, or the time when it was set; 0: never set. */
    int64_t reset_period_us;
    int64_t quarantined_us; /* the last quarantine (engine/quarantine.h); 0: never */
    char quarantine[200];   /* why; empty: never */

    /* Derived from the rows; rebuilt, never stored. */
    struct map assoc_by_name;                         /* "account" or "account<1f>user" -> association, not deleted */
    struct map assoc_in_partition;                    /* "account<1f>user<1f>partition" -> likewise */
    struct map default_of_user;                       /* user -> the user's default association */
    struct map first_of_user;                         /* user -> the first one by assoc.next_of_user */
    struct map object_by_name[OBJECT_KIND_COUNT];     /* name -> object, not deleted */
    struct map owner_by_name;                         /* "user<1f>project" -> usage owner */
    struct map job_by_id, task_by_launch, task_by_id; /* not ended; task_by_id: task_key() */
    struct {                                          /* of the hosts of an instance */
        uint32_t attached;
        uint64_t cpus;           /* of all of them */
        struct capacity largest; /* the most CPUs, memory and GPUs, each on any host */
    } host_sums;
    uint64_t free_cpu_count;  /* on all hosts of an instance */
    struct tree tree;         /* of the associations that were not deleted */
    ARRAY(uint32_t) node_of;  /* association -> node of tree; NONE: deleted */
    ARRAY(uint32_t) assoc_of; /* node -> association */
    ARRAY(double) usage_of;   /* node -> usage of its association as stored: a copy, so that it is read sequentially */
    ARRAY(uint32_t) priority_of; /* node -> its association's priority, or the nearest ancestor's, otherwise 0 */
    uint32_t assoc_priority_max; /* of them */
    bool tree_is_stale;
    uint32_t tree_builds;                        /* how often the tree was rebuilt */
    struct share_tree *share_tree;               /* of the tickets model (engine/share_tree.h); NULL: not needed yet */
    struct ticket_identities *ticket_identities; /* likewise (engine/ticket_identities.h) */
    struct dependents *dependents;               /* which jobs wait for which (engine/dependents.h); NULL: likewise */
    struct name_groups *name_groups;             /* live jobs by name (engine/name_groups.h); NULL: likewise */
    struct pending *pending;                     /* the jobs that may start (engine/pending.h); NULL: not needed yet */
    struct usage_sums *usage_sums;               /* for limits (engine/usage_sums.h); NULL: not needed yet */
    struct never_runs *never_runs; /* of an instance: its hosts with nothing on them; NULL: not needed yet */
    struct never_runs *never_runs_with_quotas; /* likewise, with resource quotas */
    struct wait_leaders *wait_leaders;         /* which jobs wait first (engine/wait_leaders.h); NULL: not known */
    struct live_cluster *live_cluster; /* with what running tasks have booked; NULL: not needed yet, or a document */
    struct limit_table *limit_table;   /* engine/limit_table.h; NULL: not needed yet */
    struct limit_counts *limit_counts; /* engine/limit_counts.h; NULL: not needed yet */
    uint32_t rules_edition;          /* counts changes of settings, objects and associations by operators, and resets */
    uint32_t move_edition;           /* counts moves of accounts in the tree */
    uint32_t object_edition;         /* counts changes of objects by operators */
    uint32_t host_edition;           /* counts changes of the hosts' capacity */
    bool dropped_plan;               /* since the last pass, because the rules had changed (engine/ticket_plan.h) */
    const struct job_ref *kept_back; /* of the event that is being applied: struct event.time */
    uint32_t kept_back_count;
    bool pass_is_due; /* a change may let a job start; the rhythm says when that makes a pass due */
    struct rhythm rhythm;
    struct launch_backoff launch_backoff;
    const char *no_launcher; /* why no launcher can be reached; NULL: one can, or is being looked for; not stored */
    /* The time of the next pass if nothing changes: the earliest begin_us in the future of a pending job, or in a
     * minute where a job waits for its fair-share factor or the CPU weights follow usage. 0: never. */
    int64_t next_due_us;
    ARRAY(uint32_t) immediate; /* derived: ids of all undecided immediate jobs, and of some others */
    int64_t next_delay_us;     /* when the next task_delay of a job may end; 0: none */
    int64_t limits_looked_us;  /* when running tasks were last compared with limits of usage (engine/limit_end.h) */
    uint32_t limits_next_live; /* where that goes on in the next turn; 0: it is done */
    struct rank_order *order;  /* of the fair-tree algorithm, kept from pass to pass */
    uint32_t ended_jobs, ended_tasks; /* rows in memory that have ended */
    struct arena cycle;               /* temporary; cleared when an event begins */
};

/* The rate at which a task is charged, units a second. Weights may make billing negative, but no usage is negative. */
static inline double task_rate(const struct task *k)
{
    return k->billing > 0.0 ? k->billing * k->usage_factor : 0.0;
}

/* Whether the time of a task is being charged: it has started, has not ended, and is not suspended without charge. */
static inline bool task_is_charged(const struct task *k)
{
    bool is_paused = k->suspended_from_us != 0 && !k->is_suspension_charged;
    return !job_state_is_end(k->state) && k->charged_us != 0 && !is_paused;
}

/* The start from which the time limit of a task counts: time in which it was suspended does not. */
static inline int64_t task_planned_start_us(const struct task *k)
{
    return k->launch_us + k->suspended_us;
}

/* How long a task has run until a time, at least 0: without its suspensions. */
static inline int64_t task_run_us(const struct task *k, int64_t until_us)
{
    if (k->suspended_from_us != 0 && k->suspended_from_us < until_us) until_us = k->suspended_from_us;
    int64_t run_us = until_us - k->start_us - k->suspended_us;
    return run_us > 0 ? run_us : 0;
}

/* The time limit of a task: its job's, unless it was cut. */
static inline int64_t task_time_limit_s(const struct job *j, const struct task *k)
{
    return k->granted_time_s > 0 && k->granted_time_s < j->time_limit_s ? k->granted_time_s : j->time_limit_s;
}

/* The CPUs and the memory of a task on all of its hosts. */
uint32_t task_cpu_count(const struct task *k);
uint64_t task_mem_mib(const struct task *k);

/* The key of task_by_id. */
static inline uint64_t task_key(uint32_t job_id, uint32_t task_id)
{
    return map_key_of_pair(job_id, task_id);
}

/* A state with root (association 1), partition "main", QOS "normal" and default settings, and no capacity. now_us
 * becomes the decay reference. */
void state_init(struct state *s, int64_t now_us);
void state_release(struct state *s);

/* The fields of a job that only documents have; NULL in an instance. */
static inline const struct job_document *state_job_document(const struct state *s, const struct job *j)
{
    return s->is_document ? j->document : NULL;
}

/* What a task of a job takes with so many slots. In a document on several hosts the memory is that of each, unless it
 * is for each slot. */
static inline struct capacity state_job_capacity(const struct job *j, uint32_t slots)
{
    struct capacity c = {.cpus = slots, .gpus = j->request.gpus, .mem_mib = j->request.mem_mib};
    if (j->placing != NULL && j->placing->mem_mib_per_cpu > 0) c.mem_mib = j->placing->mem_mib_per_cpu * slots;
    if (j->placing != NULL && j->placing->gpus_per_slot > 0) c.gpus = j->placing->gpus_per_slot * slots;
    return c;
}

/* What it takes on the i-th of its hosts in an instance: memory is for each host, and GPUs are the first one's, unless
 * they are for each slot. */
static inline struct capacity state_host_capacity(const struct job *j, uint32_t i, uint32_t slots)
{
    struct capacity c = state_job_capacity(j, slots);
    if (i > 0 && (j->placing == NULL || j->placing->gpus_per_slot == 0)) c.gpus = 0;
    return c;
}

static inline bool state_job_is_exclusive(const struct job *j)
{
    return j->placing != NULL && j->placing->is_exclusive;
}

/* Why the machine can start nothing at present; NULL: it can. */
static inline const char *state_launch_failure(const struct state *s)
{
    if (s->no_launcher != NULL) return s->no_launcher;
    return launch_backoff_is_waiting(&s->launch_backoff) ? s->launch_backoff.detail : NULL;
}

/* The maximum number of running tasks of an array, its own or that of max_aj_instances; 0: no limit. */
static inline uint32_t state_array_limit(const struct state *s, const struct job *j)
{
    uint32_t max = (uint32_t)setting_number(&s->settings, SET_GE_MAX_ARRAY_RUNNING);
    return j->array_limit == 0 || (max > 0 && max < j->array_limit) ? max : j->array_limit;
}

/* How many of the pending tasks of an array its limit of running tasks lets start. */
static inline uint32_t state_array_room(const struct state *s, const struct job *j, uint32_t pending)
{
    uint32_t limit = state_array_limit(s, j);
    if (limit == 0) return pending;
    const struct job_document *d = state_job_document(s, j);
    uint32_t running = d != NULL ? d->running_tasks : j->live_tasks;
    uint32_t room = limit > running ? limit - running : 0;
    return pending < room ? pending : room;
}

/* How many tasks of a user run. O(associations of the user). */
uint64_t state_user_running(const struct state *s, const char *user);

/* How many more tasks of an association's user may run (maxujobs); UINT32_MAX: no limit. O(associations of the user) if
 * there is one. */
uint32_t state_user_room(const struct state *s, uint32_t assoc);

/* The jobs of a user that have not ended. O(associations of the user). */
uint64_t state_user_jobs(const struct state *s, const char *user);

/* Bytes of the scripts, arguments and environments of these jobs. O(associations of the user). */
uint64_t state_user_input_bytes(const struct state *s, const char *user);

/* The maximum for names in documents; names in an instance have up to NAME_BYTES_MAX. */
enum { DOCUMENT_NAME_BYTES_MAX = 255, NAME_KEY_SIZE = 2 * DOCUMENT_NAME_BYTES_MAX + 2 };

/* The map key of two names, "first<1f>second", or "first" if second is NULL. The text is in key; it is empty if a name
 * is too long. */
struct str state_name_key(char key[NAME_KEY_SIZE], const char *first, const char *second);

/* These return an index, or NONE. O(1). */

/* The association of a user in an account that is not deleted; user NULL: the account itself. Associations of one
 * partition are not found by this. */
uint32_t state_find_assoc(const struct state *s, const char *account, const char *user);

/* The association of a user in an account that is only for a partition. */
uint32_t state_find_assoc_of_partition(const struct state *s, const char *account, const char *user,
                                       const char *partition);

/* Whether a user has an association in an account, for whatever partition. O(associations of the user) */
bool state_user_is_in_account(const struct state *s, const char *user, const char *account);

/* The association that counts for the user's jobs in a partition (an index): the one that is only for that partition if
 * there is one, otherwise that of state_find_assoc. */
uint32_t state_find_assoc_in(const struct state *s, const char *account, const char *user, uint32_t partition);

/* The same for the account and the user of an association; if there is none, assoc itself. It reads assoc alone unless
 * the user has associations of one partition there. */
uint32_t state_assoc_in_partition(const struct state *s, uint32_t assoc, uint32_t partition);

/* The association whose account is the user's default. */
uint32_t state_default_assoc(const struct state *s, const char *user);

/* A job or task that has not ended. */
uint32_t state_find_job(const struct state *s, uint32_t job_id);
uint32_t state_find_task(const struct state *s, uint32_t job_id, uint32_t task_id);

/* An object that is not deleted. */
uint32_t state_find_object(const struct state *s, enum object_kind kind, const char *name);

/* The QOS of a partition; NONE: it has none. */
uint32_t state_partition_qos(const struct state *s, uint32_t partition);

/* When the next pass has to run even if no event arrives (rhythm.h): 1: at once; 0: never. */
int64_t state_next_due_us(const struct state *s);

/* Immediate jobs (immediate.h). Whether one may still have to be cancelled: also a task that has started may be
 * withdrawn, and is pending again. A job that is decided never becomes undecided again. */
bool state_is_undecided(const struct job *j);

/* When its time is over. The pass that decides about a job that starts at once may be late. */
enum { IMMEDIATE_PASS_MAX_S = 10 };
static inline int64_t state_immediate_end_us(const struct job *j)
{
    return j->submit_us + (int64_t)(j->immediate_s > 0 ? j->immediate_s : IMMEDIATE_PASS_MAX_S) * US_PER_S;
}

/* The index of the i-th of state.immediate, if it is undecided and waits; NONE. */
uint32_t state_find_immediate(const struct state *s, uint32_t i);

/* Rebuilding a state from rows: hosts and objects first, because other rows refer to them by index; each table in
 * ascending order of id. Associations are referred to by id, also in row->assoc of a task (0: the one that counts in
 * its partition); a job may be of a deleted one, which is not in the tree.
 * Texts, partitions, requests, hosts and the fields of documents are copied. The state takes over sets, a task's
 * tres.items and usage_tres (from mem_resize). state_restore_done checks the invariants and derives everything else.
 * ERR_INTERNAL if the rows contradict each other. O(rows). */
void state_restore_begin(struct state *s);                            /* after state_init: removes all rows, root too */
void state_restore_host(struct state *s, const struct host_row *row); /* of a document; row->tres is given */
void state_restore_assoc(struct state *s, const struct assoc *row, uint32_t parent_id);
void state_restore_job(struct state *s, const struct job *row, uint32_t assoc_id);
void state_restore_task(struct state *s, const struct task *row);
void state_restore_object(struct state *s, enum object_kind kind, const struct object_row *row);
void state_restore_owner(struct state *s, const struct usage_owner *row);

/* Restores the stored minimum priority, at least 1, of a restored job in one of its partitions (by index). False: there
 * is no such job, or it is not in that partition. */
bool state_restore_min_priority(struct state *s, uint32_t job_id, uint32_t partition, uint32_t priority);

/* Restores a condition of a restored job that waits for others, in ascending order of position. is_any: one of the
 * job's conditions is enough. ERR_INTERNAL: the text is no condition, or there is no such job. */
int state_restore_condition(struct state *s, uint32_t job_id, uint32_t position, const char *text, bool is_any,
                            struct err *e);

/* A task of a restored array has ended otherwise than COMPLETED. */
void state_restore_failed_task(struct state *s, uint32_t job_id, uint32_t task_id);

/* Makes the policy from the settings restored so far, so that other rows can be read by policy.tres. state_restore_done
 * does the same. The errors are those of policy_make. */
int state_restore_policy(struct state *s, struct err *e);
int state_restore_done(struct state *s, struct err *e);

/* A hash of every row that has not ended, by content and id, not by address: two states with equal hashes decide the
 * same from then on. O(rows). */
uint64_t state_hash(const struct state *s);

/* Derives now what is otherwise derived during the first event that needs it: the tree, and in the tickets model the
 * share tree and the ticket identities. O(associations + owners). */
void state_prepare(struct state *s);

/* The tree. O(1), or O(associations) after accounts, users or shares changed. */
const struct tree *state_tree(struct state *s);

/* The current usage by node of s->tree, in memory of arena, s->tree.count entries: each association's own, with running
 * tasks charged up to now. In billing-seconds; usage_read.h has other kinds. O(associations + tasks). */
double *state_own_usage(struct state *s, int64_t now_us, struct arena *arena);

/* The current usage of a QOS, in billing-seconds. O(tasks). */
double state_qos_usage(const struct state *s, uint32_t qos, int64_t now_us);

/* When an association was last reset, alone or with everything; 0: never. */
int64_t assoc_reset_us(const struct state *s, uint32_t assoc);

/* The fair-share factors by node, by the configured algorithm, in memory of arena. O(associations + tasks), plus the
 * cost of the algorithm (policy/fair_share.h). */
double *state_factors(struct state *s, int64_t now_us, struct arena *arena);

/* The columns of a share listing, in memory of arena. options: policy.share, the configured ones, or others; their
 * order is not read. The cost is that of state_factors. */
void state_share_table(struct state *s, int64_t now_us, const struct share_options *options, struct arena *arena,
                       struct share_table *out_table);

#endif
