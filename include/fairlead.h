/* fairlead.h: who comes next? Fair-share ranking, usage, billing and priorities for schedulers and queues of any kind.
 *
 *     struct fl_tree *tree;                                   a tree of accounts and users with shares
 *     uint32_t lab, ann;
 *     fl_tree_new(&tree);
 *     fl_tree_add(tree, FL_ROOT, FL_ACCOUNT, 60, &lab);
 *     fl_tree_add(tree, lab, FL_USER, 1, &ann);
 *     fl_tree_charge(tree, ann, 3600, now_us);                what ann used; it decays with the half-life
 *     fl_tree_rank(tree, now_us, NULL);                       who comes next
 *     fl_tree_order(tree, &users, &count);                    users[0]
 *
 * Functions that can fail return FL_OK (0) or a negative fl_result; fl_result_text has the sentence. A call that fails
 * changes nothing but the outputs that its comment names. The library checks every argument, so a mistake of the
 * caller, NaN and infinity included, is a result, and so is lack of memory. Only a pointer that is not what its type
 * says, and a tree that was freed, cannot be noticed.
 *
 * Nothing is printed, no text is read or written in the user's locale, no clock is read and there are no globals. A
 * tree belongs to one thread at a time; different trees do not know of each other, and the functions without a tree may
 * run at any time.
 *
 * Nodes are numbers: the root is FL_ROOT, and every fl_tree_add returns the next one, so a caller keeps what it knows
 * of a node, such as a name, in arrays with the same indices. Times are microseconds of any clock that does not go
 * back, from -FL_TIME_MAX to FL_TIME_MAX; usage is in units of the caller's, such as CPU seconds or what fl_job_bill
 * makes of them.
 *
 * A struct that the caller fills has a member `reserved`, which is zero. So fill it with an initialiser, or clear it
 * first. */
#ifndef FAIRLEAD_H
#define FAIRLEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

#define FL_VERSION_MAJOR 0
#define FL_VERSION_MINOR 1
#define FL_VERSION_PATCH 0

/* "0.1.0": the version of the library that is loaded, which may be newer than this header. */
const char *fl_version(void);

/* --- results ------------------------------------------------------------------------------------------------------ */

enum fl_result {
    FL_OK = 0,
    FL_ENOMEM = -1,      /* no memory */
    FL_ENULL = -2,       /* a pointer that is required is NULL */
    FL_ENODE = -3,       /* no such node */
    FL_EPARENT = -4,     /* the parent is a user */
    FL_EKIND = -5,       /* not FL_ACCOUNT or FL_USER; or a user is required */
    FL_EDEPTH = -6,      /* deeper than FL_DEPTH_MAX */
    FL_EFULL = -7,       /* more nodes, jobs or amounts than there can be */
    FL_ESHARES = -8,     /* shares are 0 to FL_SHARES_MAX, or FL_PARENT */
    FL_EAMOUNT = -9,     /* an amount, a rate or a weight is not finite, negative or too large */
    FL_ETIME = -10,      /* a time out of range, or before the usage that it is to read */
    FL_EHALFLIFE = -11,  /* a half-life is 0 (no decay) to FL_TIME_MAX */
    FL_EOPTION = -12,    /* no such algorithm, rule or flag */
    FL_ETIES = -13,      /* FL_TIES_SLURM needs the 80-bit floating point of x86 */
    FL_ENOTRANKED = -14, /* fl_tree_rank has not computed it, or the tree has changed since */
    FL_ERESERVED = -15,  /* a member `reserved` is not zero: a newer program, or memory that was not cleared */
    FL_EINDEX = -16      /* an index is not below its count, or names something else than is required */
};

/* One line of English without a full stop. For a number that is none of the above: "unknown result". */
const char *fl_result_text(int result);

/* Where an array or a struct of the caller's is wrong. */
struct fl_fault {
    const char *member; /* "jobs.slots"; never freed. NULL: none */
    uint32_t index;     /* in that array; 0 outside arrays */
};

/* --- the tree of shares ------------------------------------------------------------------------------------------- */

struct fl_tree;

#define FL_ROOT UINT32_C(0)
#define FL_NONE UINT32_MAX             /* no node, no index */
#define FL_PARENT UINT32_C(0x7fffffff) /* shares: those of the account above (Slurm's Fairshare=parent) */
#define FL_SHARES_MAX UINT32_C(0x7ffffffe)
#define FL_DEPTH_MAX 64 /* of a node; the root's is 0 */
#define FL_NODES_MAX UINT32_C(0x40000000)
#define FL_AMOUNT_MAX 1e60                       /* usage, rates, weights */
#define FL_TIME_MAX INT64_C(4000000000000000000) /* microseconds: 126,000 years */

enum fl_kind { FL_ACCOUNT, FL_USER };

struct fl_node {
    uint32_t parent;         /* FL_NONE: the root */
    uint32_t competes_under; /* the nearest account above whose shares are not FL_PARENT; FL_NONE: the root */
    uint32_t shares;
    uint32_t depth;
    uint32_t kind; /* enum fl_kind */
};

/* Makes a tree that has a root, no usage and no decay. FL_ENOMEM: *out_tree is NULL. */
int fl_tree_new(struct fl_tree **out_tree);

/* NULL is allowed. */
void fl_tree_free(struct fl_tree *tree);

/* Adds a node below an account. shares compete with those of its siblings; FL_PARENT lets a user, or the children of
 * an account, compete one level higher. *out_node (NULL: not wanted) is the number of nodes before; FL_NONE after an
 * error. There is no removal: give the node 0 shares, or build a new tree. O(1) amortised. */
int fl_tree_add(struct fl_tree *tree, uint32_t parent, int kind, uint32_t shares, uint32_t *out_node);

/* Not for the root. */
int fl_tree_set_shares(struct fl_tree *tree, uint32_t node, uint32_t shares);

/* The number of nodes; 0 for NULL. */
uint32_t fl_tree_count(const struct fl_tree *tree);

/* O(1), or O(depth) under accounts with FL_PARENT. */
int fl_tree_node(const struct fl_tree *tree, uint32_t node, struct fl_node *out_node);

/* --- usage -------------------------------------------------------------------------------------------------------- */

/* Usage halves every halflife_us, exactly and at every time: there is no period. 0: no decay. What was used so far
 * has decayed by the old half-life until now_us. FL_ETIME: now_us is before the last charges, or before the last change
 * of a half-life. O(nodes). */
int fl_tree_set_halflife(struct fl_tree *tree, int64_t halflife_us, int64_t now_us);

/* Adds an amount of usage at a time. O(1). */
int fl_tree_charge(struct fl_tree *tree, uint32_t node, double amount, int64_t at_us);

/* Adds a rate, in units a second, from from_us to to_us (later or equal), decayed within that time. So it makes no
 * difference in how many parts a long job is charged. O(1). */
int fl_tree_charge_rate(struct fl_tree *tree, uint32_t node, double rate, int64_t from_us, int64_t to_us);

/* The node's own usage, without that of the nodes below, as it reads at a time. */
int fl_tree_usage(const struct fl_tree *tree, uint32_t node, int64_t at_us, double *out_usage);

/* Replaces it: for usage that the caller has kept itself. */
int fl_tree_set_usage(struct fl_tree *tree, uint32_t node, double usage, int64_t at_us);

/* Forgets the usage of a node and of all below it; FL_ROOT: all usage. O(nodes). */
int fl_tree_reset(struct fl_tree *tree, uint32_t node);

/* --- ranking ------------------------------------------------------------------------------------------------------ */

enum fl_algorithm {
    FL_FAIR_TREE,      /* level by level, the sibling that has had the smallest part of its promise comes first */
    FL_CLASSIC,        /* 2^-((effective usage / normalised shares) / dampening) */
    FL_DEPTH_OBLIVIOUS /* likewise, with an effective usage that does not depend on the depth of an account */
};

/* Fair Tree, where levels are equal. */
enum fl_ties {
    FL_TIES_MERGE, /* as published: tied users share a rank, the children of tied accounts are ranked together */
    FL_TIES_SLURM /* as Slurm 22.05 ranks: 80-bit levels, tied accounts one after the other in the order of their nodes */
};

/* All zero, or NULL instead of a pointer: Fair Tree by the tree's usage. */
struct fl_rank_options {
    uint32_t algorithm; /* enum fl_algorithm */
    uint32_t ties;      /* enum fl_ties */
    double dampening;   /* classic and depth-oblivious: at least 1; 0 means 1 */
    /* Usage by node instead of the tree's, with an entry for each: each node's own, or totals that include all
     * below. At most one. */
    const double *own_usage, *total_usage;
    uint32_t factors_only; /* not 0: only fl_tree_factors, which is faster */
    uint32_t reserved_flags;
    uint64_t reserved[4];
};

/* A row of a listing, as sshare -l has it. NaN where there is no value. */
struct fl_share {
    double norm_shares; /* Fair Tree: fraction of the siblings' shares; the others: of the whole tree */
    double usage;       /* its own and all below */
    double norm_usage;  /* fraction of all usage; root: NaN */
    double
        effective_usage; /* Fair Tree: fraction of the account's usage; the others: what the algorithm counts; root: 1 */
    double factor;       /* users: 0 to 1, the larger comes first. Accounts: NaN in Fair Tree */
    double level;        /* Fair Tree: norm_shares / effective_usage, by which siblings are ranked; else NaN */
    uint32_t rank;       /* users: 1 comes first, equal factors have equal ranks; accounts: 0 */
    uint32_t reserved;
};

/* Computes factors, columns and order of all users at a time. They can be read until the next fl_tree_rank, as long
 * as nodes and shares do not change; charges change nothing of them. The results are those of `fairlead share`, to
 * the last bit. options may be NULL. FL_ETIME: now_us is so long before the charges that their usage is too large.
 * FL_ENOMEM: nothing is ranked then. O(nodes); a ranking of a tree that has changed little is cheaper than the first
 * one. */
int fl_tree_rank(struct fl_tree *tree, int64_t now_us, const struct fl_rank_options *options);

/* The factor of every node, an array of fl_tree_count entries that the tree owns until the next fl_tree_rank; accounts
 * have 0. */
int fl_tree_factors(const struct fl_tree *tree, const double **out_factors);

/* The users, the first comes first; those with equal factors in the order of their nodes. The tree owns the array. */
int fl_tree_order(const struct fl_tree *tree, const uint32_t **out_users, uint32_t *out_count);

/* All columns of a node. O(1). */
int fl_tree_share(const struct fl_tree *tree, uint32_t node, struct fl_share *out_share);

/* --- why ---------------------------------------------------------------------------------------------------------- */

/* A node among those it competes with. */
struct fl_step {
    uint32_t node;
    uint32_t competes_under; /* the account whose children compete here */
    uint32_t shares;
    uint32_t sibling_count; /* that compete, with the node */
    uint32_t before_count;  /* siblings with a higher level; 0 unless Fair Tree */
    uint32_t tied_count;    /* other siblings with the same level; 0 unless Fair Tree */
    uint64_t level_shares;  /* the sum of the siblings' shares */
    double usage;           /* its own and all below */
    double level_usage;     /* of the account */
    struct fl_share share;
};

/* The steps from below the root to a node: what its factor is made of. At most capacity (FL_DEPTH_MAX is always
 * enough) are written; *out_count is their number, also where it is larger. O(siblings of all steps). */
int fl_tree_path(const struct fl_tree *tree, uint32_t node, struct fl_step *out_steps, uint32_t capacity,
                 uint32_t *out_count);

enum fl_reason {
    FL_BY_LEVEL, /* Fair Tree: the levels of a_node and b_node, at the first step where they differ */
    FL_BY_TIE,   /* nothing: they have one rank */
    FL_BY_KIND, /* Fair Tree: a user is tied with an account, and comes before all but the best users of that account */
    FL_BY_ORDER, /* FL_TIES_SLURM: tied accounts are ranked in the order of their nodes */
    FL_BY_FACTOR /* classic, depth-oblivious: the factors of the two users */
};

struct fl_comparison {
    int32_t order;           /* -1: a comes first; 0: neither; 1: b does */
    uint32_t reason;         /* enum fl_reason */
    uint32_t step;           /* of fl_tree_path, from 0 */
    uint32_t a_node, b_node; /* what is compared at that step: the users themselves, or accounts above them */
    uint32_t tied_steps;     /* steps before it in which different nodes had the same level */
    double a_value, b_value; /* their levels, or with FL_BY_FACTOR their factors */
};

/* Which of two users comes first, and what decides it. O(depth). */
int fl_tree_compare(const struct fl_tree *tree, uint32_t a, uint32_t b, struct fl_comparison *out_comparison);

/* --- billing ------------------------------------------------------------------------------------------------------ */

/* Kinds of trackable resources (TRES), of which the rules know some. */
enum fl_tres_kind { FL_TRES_CPU, FL_TRES_MEM, FL_TRES_NODE, FL_TRES_GRES, FL_TRES_OTHER };

#define FL_TRES_MAX 48 /* in one list */

struct fl_tres {
    uint32_t kind; /* enum fl_tres_kind */
    uint32_t reserved;
    double amount; /* 0 or more */
    double weight; /* billing units a second for each; may be negative */
};

enum fl_billing_rule {
    FL_BILLING_SUM,          /* the sum of amount x weight */
    FL_BILLING_MAX_TRES,     /* the largest of CPU, memory, nodes and every GRES, plus the sum of the others */
    FL_BILLING_MAX_TRES_GRES /* the largest of CPU, memory and nodes, plus the sum of the others */
};

struct fl_bill {
    double rate;       /* units a second: a rate for fl_tree_charge_rate, if it is not negative */
    double max_part;   /* from the largest one, 0 without one */
    double sum_part;   /* rate = max_part + sum_part */
    uint64_t recorded; /* the whole part, at least 0: what records have */
    uint32_t max_tres; /* the one that is the largest; FL_NONE: none */
    uint32_t reserved;
};

/* What a job costs. out_terms: amount x weight by TRES; NULL: not wanted. fault (NULL: not wanted) says which one is
 * wrong. */
int fl_job_bill(const struct fl_tres *tres, uint32_t count, int rule, struct fl_bill *out_bill, double *out_terms,
                struct fl_fault *fault);

/* --- multifactor priority ----------------------------------------------------------------------------------------- */

enum fl_priority_flag {
    FL_NO_NORMAL_ASSOC = 1, /* raw numbers instead of fractions of the maximum */
    FL_NO_NORMAL_PARTITION = 2,
    FL_NO_NORMAL_QOS = 4,
    FL_NO_NORMAL_TRES = 8,
    FL_SMALL_RELATIVE_TO_TIME = 16,
    FL_FAVOR_SMALL = 32
};

/* Slurm's PriorityWeight... settings. */
struct fl_priority_rules {
    double weight_age, weight_assoc, weight_fair_share, weight_job_size, weight_partition, weight_qos; /* 0 or more */
    int64_t max_age_s; /* an age of this counts in full. 0: every age does; below 0: none */
    uint32_t flags;    /* fl_priority_flag */
    /* Of the cluster, and over all that there are. */
    uint32_t nodes, cpus;
    uint32_t assoc_priority_max, qos_priority_max, job_factor_max;
    uint64_t reserved[4];
};

struct fl_priority_tres {
    double amount; /* that the job requests, 0 or more */
    double total;  /* that the partition has: 0, or at least 1e-60 */
    double weight; /* PriorityWeightTRES; may be negative */
};

struct fl_priority_job {
    int64_t accrue_us;    /* its age counts from here; 0: it has none */
    int64_t time_limit_s; /* for FL_SMALL_RELATIVE_TO_TIME; 0 or less: none */
    double fair_share;    /* the factor, 0 to 1 */
    uint32_t cpus, nodes;
    uint32_t assoc_priority, qos_priority, job_factor; /* job_factor: the partition's PriorityJobFactor */
    int32_t nice, site;
    uint32_t tres_count; /* at most FL_TRES_MAX */
    const struct fl_priority_tres *tres;
    uint64_t reserved[4];
};

/* Each term is a factor times its weight; the priority is their sum, minus nice, as a whole number from 1 to 2^32 -
 * 1. */
struct fl_priority {
    double age_factor, assoc_factor, fair_share_factor, job_size_factor, partition_factor, qos_factor;
    double age, assoc, fair_share, job_size, partition, qos, tres, site, nice;
    double sum;
    uint32_t priority;
    uint32_t reserved;
};

/* out_tres: the term of each TRES of the job; NULL: not wanted. */
int fl_job_priority(const struct fl_priority_rules *rules, const struct fl_priority_job *job, int64_t now_us,
                    struct fl_priority *out_priority, double *out_tres, struct fl_fault *fault);

/* --- tickets and urgency ------------------------------------------------------------------------------------------ */

/* Names are those of Grid Engine's scheduler configuration. fl_ticket_rules_init has its defaults. */
struct fl_ticket_rules {
    double weight_tickets_share, weight_tickets_functional;                              /* the pools */
    double weight_user, weight_project, weight_department, weight_job, weight_job_class; /* in the functional pool */
    double compensation_factor;                                                          /* 0: unlimited */
    double weight_ticket, weight_urgency, weight_priority;
    double weight_waiting_time, weight_deadline;
    double slots_urgency; /* of each slot */
    uint32_t max_functional_jobs;
    uint32_t share_functional_shares, share_override_tickets; /* not 0: the jobs of a user divide them */
    uint32_t compensation_by_manual; /* not 0: the manual's rule, a cap, and not the program's */
    uint32_t
        posix_over_present; /* not 0: POSIX priorities are normalised over those of the jobs, not over -1024 to 1024 */
    uint32_t deadline_by_waiting; /* not 0: weight_waiting_time instead of weight_deadline */
    char policy_hierarchy[4];     /* some of O, F and S, each once, and a zero byte: "OFS"; "" is NONE */
    uint32_t reserved_flags;
    uint64_t reserved[4];
};

/* Grid Engine's defaults, with the policy hierarchy OFS. Call it before you change members: later versions have
 * more. */
void fl_ticket_rules_init(struct fl_ticket_rules *out_rules);

/* Of a user, a department, a project or a job class. */
struct fl_ticket_member {
    double functional_shares, override_tickets;
};

/* A hard request for a resource with an urgency. */
struct fl_ticket_request {
    double value, urgency; /* urgency may be negative */
    uint32_t is_text;      /* not 0: the urgency counts once, whatever the value and the slots */
    uint32_t reserved;
};

struct fl_ticket_job {
    uint32_t id, task; /* where all else is equal, the smaller comes first */
    int64_t submit_us;
    int64_t deadline_us;                           /* 0: none */
    uint32_t user, department, project, job_class; /* indices of members, or FL_NONE */
    uint32_t node;                                 /* a user of the tree, or FL_NONE */
    uint32_t slots;                                /* at least 1: the minimum of its range */
    uint32_t urgency_slots;                        /* with which its urgency counts; 0: slots */
    int32_t posix_priority;                        /* -1023 to 1024 */
    uint32_t is_running;                           /* not 0: it runs */
    uint32_t request_count;
    const struct fl_ticket_request *requests;
    double job_share, override_tickets; /* -js, -ot */
    uint64_t reserved[2];
};

struct fl_ticket_input {
    const struct fl_ticket_rules *rules;
    const struct fl_tree *tree; /* the share tree, with its usage at now_us; FL_PARENT counts as 1 share. NULL: none */
    const struct fl_ticket_member *users, *departments, *projects, *job_classes;
    uint32_t user_count, department_count, project_count, job_class_count;
    const struct fl_ticket_job *jobs;
    uint32_t job_count;
    uint32_t reserved_flags;
    int64_t now_us;
    uint64_t reserved[4];
};

/* tickets = override + functional + share;  urgency = resources + waiting_time + deadline;
 * priority = weight_ticket norm_tickets + weight_urgency norm_urgency + weight_priority norm_posix */
struct fl_ticket_result {
    double override_tickets, functional_tickets, share_tickets, tickets;
    double resources, waiting_time, deadline, urgency;
    double norm_tickets, norm_urgency, norm_posix;
    double ticket_term, urgency_term, posix_term;
    double priority;
};

/* The tickets, the urgency and the priority of all jobs together, as Grid Engine's three policies give them: jobs of
 * one user share, in the order that the policies decide. out_results: an entry for each job. O(n log n) for n jobs. */
int fl_job_tickets(const struct fl_ticket_input *input, struct fl_ticket_result *out_results, struct fl_fault *fault);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
