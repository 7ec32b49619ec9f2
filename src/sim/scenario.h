/* A scenario: a cluster at one moment, as a document says it. Read once, every name found, every default filled in; then
 * questions are asked of it (sim/answer.h), and nothing in it changes.
 *
 *     text ── scenario_read ──> struct scenario ── answer_multifactor ──> terms and priority of every job
 *                                               ── answer_tickets ──────> tickets, urgency and priority
 *                                               ── answer_shares ───────> shares, usage and factors of the tree
 *
 * Things refer to each other by index into the lists here. Lists keep the document's order. Names belong to the document
 * and live as long as the scenario. The document's keys: docs/scenarios.md. */
#ifndef FAIRLEAD_SIM_SCENARIO_H
#define FAIRLEAD_SIM_SCENARIO_H

#include "base/array.h"
#include "base/map.h"
#include "policy/objects.h"
#include "policy/policy.h"

struct scenario_host {
    const char *name;
    uint32_t cpus;
    struct tres_list tres; /* what it has, generic GRES included */
};

struct scenario_partition {
    struct object object;
    const uint32_t *hosts; /* NULL: all */
    uint32_t host_count;
    const double *totals;  /* of its hosts, by index of TRES */
    const double *weights; /* TRESBillingWeights by index of TRES; NULL: none */
};

/* Usage in one project, of a user. */
struct project_usage {
    uint32_t project;
    struct ticket_usage usage;
};

/* A user, a project or a department: what the ticket policies give it, and what it used. */
struct scenario_member {
    struct object object;
    double fshare, oticket;
    struct ticket_usage usage; /* as it was at usage_us */
    int64_t usage_us;
    uint32_t department;                       /* of a user */
    ARRAY(struct project_usage) project_usage; /* of a user */
};

/* A row of `tree`: an account, or a user in one. */
struct scenario_association {
    const char *account, *user, *partition; /* user NULL: an account; partition NULL: of any */
    const char *parent_name;                /* of an account, as given; NULL: root */
    uint32_t parent;                        /* the row of the account above; NONE: root */
    uint32_t node, depth;                   /* in the tree */
    uint32_t shares;                        /* or SHARES_PARENT */
    int64_t priority;                       /* below 0: it has its account's */
    double usage;                           /* billing-seconds of its own */
};

enum job_state { JOB_PENDING, JOB_RUNNING, JOB_HELD, JOB_STATE_COUNT };
extern const char *const job_state_names[JOB_STATE_COUNT]; /* "PENDING" ... */

struct scenario_job {
    uint32_t id;
    enum job_state state;
    const char *user, *account; /* account: the user's first where none is given; NULL: he has none */
    uint32_t member;            /* among users; NONE: nobody the ticket policies know */
    uint32_t project, qos;      /* NONE: none */
    const uint32_t *partitions; /* at least one */
    uint32_t partition_count;
    int64_t submit_us, eligible_us, deadline_us; /* deadline 0: none */
    int64_t time_limit_s;                        /* 0: none of its own */
    uint32_t cpus, nodes;                        /* what its size is */
    struct tres_list tres;
    int32_t nice, site;
    uint32_t set_priority;
    bool is_set;

    uint32_t array_tasks; /* pending ones; 1 for what is no array */
    uint32_t slots_min, slots_max;
    bool has_slots_rule; /* its own, not the setting's */
    enum urgency_slots_rule slots_rule;
    uint32_t slots_number;
    const struct urgency_request *requests;
    uint32_t request_count;
    int32_t posix_priority;
    double job_share, override_tickets;
    uint64_t sequence; /* place in the scheduler's list */
};

struct scenario {
    int64_t now_us;
    struct settings settings;
    struct policy policy;

    ARRAY(struct scenario_host) hosts;
    ARRAY(struct scenario_partition)
    partitions; /* never empty: a document without any has one of all hosts, named "" */
    ARRAY(struct object) resources, qos;
    ARRAY(struct scenario_member) users, projects, departments; /* users that only jobs name, too (enforce_user) */
    double slots_urgency;

    ARRAY(struct scenario_association) associations; /* rows of `tree` */
    struct tree tree;
    uint32_t *row_of_node;      /* root: NONE */
    int64_t *priority_of_node;  /* inherited where none is given */
    struct share_nodes *shares; /* `share_tree`; NULL: none */

    ARRAY(struct scenario_job) jobs;

    /* Where a name is. */
    struct map host_names, partition_names, resource_names, qos_names, user_names, project_names, department_names;
    struct map account_names; /* -> row of an account */
    struct map association_keys, first_associations;
    struct map job_ids;

    void *document; /* whose the names are */
    struct arena arena;
};

/* Reads the document. name: what messages call it. ERR_INPUT: "NAME:LINE:COLUMN: ..." where it is no JSON, else
 * "NAME: path.of[0].field: ..." with the value and what is accepted. To be released either way. */
int scenario_read(struct str text, const char *name, struct scenario *out_scenario, struct err *e);
void scenario_release(struct scenario *s);

/* Node of the association that serves a job in a partition: of (account, user, partition), else of (account, user); NONE:
 * there is none. */
uint32_t scenario_node_of(const struct scenario *s, const struct scenario_job *job, uint32_t partition);

#endif
