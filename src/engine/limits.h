/* Whether the limits of associations and QOS let a task start, and which one does not. Each limit stands in at most
 * one of three places, and the first that has it decides, for TRES each by itself:
 *
 *     1. the QOS of the partition     (2. before 1. with OverPartQOS)
 *     2. the QOS of the job
 *     3. the associations: Grp limits at every level up to root; Max limits of the user
 *
 *     jobs, submitted     blocked at used >= limit
 *     TRES                blocked at used + request > limit, if the request has any of it
 *     minutes             cut off; GrpTRESMins blocks at usage >= limit, with `safe` also what cannot end within it
 *
 * Source: docs/formulas.md 9; Slurm 22.05.8. */
#ifndef FAIRLEAD_ENGINE_LIMITS_H
#define FAIRLEAD_ENGINE_LIMITS_H

#include "engine/limit_counts.h"
#include "engine/limit_reason.h"

/* What a task asks for. */
struct limit_request {
    uint32_t assoc;   /* the user's association; of a submission that will create it, that of the account */
    bool is_new_user; /* the latter */
    const char *user, *account;
    uint32_t qos, partition_qos; /* partition_qos NONE: none, or the same */
    struct tres_list tres;       /* whole numbers, with nodes (at least) and billing */
    uint32_t nodes;
    int64_t time_limit_s;
    bool is_time_exempt;   /* an operator has set its time limit */
    bool has_default_time; /* none was given: it is a default of its partitions */
    uint32_t partition;
    double usage_factor;
};

/* The limit that blocks. */
struct limit_hit {
    enum pending_reason reason; /* PENDING_NONE: none */
    bool is_qos;
    uint32_t subject;   /* index of the QOS, or of the association */
    const char *member; /* of a limit per user or account: whose; else NULL */
    const char *name;   /* "GrpTRES" */
    uint32_t tres;      /* NONE: not of TRES */
    double limit, used, requested;
    bool is_default_time; /* MaxWall: what is requested is a default, mostly of this partition */
    uint32_t partition;
    uint32_t counter,
        decrease_count;     /* the counter that has to become less, and how often it has; counter NONE: none can */
    bool falls;             /* time alone may lift it */
    bool has_more_counters; /* or when another counter becomes less */
};

/* Fills a request for a task of a job in a partition with so many slots on so many hosts. amounts: the caller's, with
 * room for TRES_MAX. */
void limits_request(struct state *s, const struct job *j, uint32_t partition, uint32_t slots, uint32_t hosts,
                    struct tres_amount *amounts, struct limit_request *out);

/* Whether a task may start, on hosts on which its group has tasks already; limits_list_hosts says how many others it
 * may have. False: out_hit says why not. counts: up to date. O(depth of the tree x limited TRES). */
bool limits_admit(struct state *s, const struct limit_counts *counts, const struct limit_request *r, int64_t now_us,
                  struct limit_hit *out_hit);

/* A limit of the hosts of a group (GrpTRES=node and the like). */
struct limit_of_hosts {
    struct limit_hit hit; /* if the task needs more; counter NONE: the group has no task yet */
    uint32_t others_max;  /* maximum number of hosts that are new to the group */
};

/* The node limits that leave a task, which limits_admit lets start, fewer than `hosts` new hosts, in the order of
 * reasons. out: room for LIMITS_OF_HOSTS_MAX. Returns their number. */
enum { LIMITS_OF_HOSTS_MAX = TREE_DEPTH_MAX + 8 };
uint32_t limits_list_hosts(struct state *s, const struct limit_counts *counts, const struct limit_request *r,
                           uint32_t hosts, struct limit_of_hosts *out);

/* Whether a task may have what it requests on one host (MaxTRESPerNode). */
bool limits_admit_host(struct state *s, const struct limit_counts *counts, const struct limit_request *r);

/* Whether a job's time limit exceeds MaxWall in one of its partitions, exempt or not. */
bool limits_time_exceeds(struct state *s, const struct job *j);

/* Whether the usage that a running task adds to has reached GrpTRESMins or GrpWall. */
bool limits_usage_is_up(struct state *s, const struct limit_counts *counts, const struct limit_request *r,
                        int64_t now_us, struct limit_hit *out_hit);

/* Whether limits are enforced, and there are any. */
bool limits_apply(struct state *s);

#endif
