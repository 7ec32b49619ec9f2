/* The cluster of an instance (engine/cluster_model.h) with what its running tasks have booked, kept from pass to pass:
 *
 *     task starts     booked from its launch to the end of its time limit
 *     task ends       the booking is taken back
 *     it runs longer, or has another time limit     the booking has another end
 *     load values change              they are replaced in the hosts' offers
 *     queues open, and the next closed time counts   likewise
 *     objects, settings, calendars or the machine change   all is made anew from the rows
 *
 * Derived from the rows, never stored. */
#ifndef FAIRLEAD_ENGINE_LIVE_CLUSTER_H
#define FAIRLEAD_ENGINE_LIVE_CLUSTER_H

#include "base/time_heap.h"
#include "engine/job_demand.h"
#include "sched/run.h"

/* What a running task has booked. */
struct live_booking {
    uint64_t launch_id;
    const struct demand *demand;
    struct allocation allocation;
    int64_t launch_us;
    int64_t planned_start_us;  /* from which its time limit counts */
    int64_t from_us, until_us; /* booked from before now on, also if it was launched now */
};

struct live_cluster {
    struct cluster_model model; /* with the bookings of running tasks */
    struct job_demands demands;
    struct run_rules rules;
    struct arena arena; /* of the demands, which live until all is made anew */
    ARRAY(struct live_booking) bookings;
    struct map by_launch;  /* launch id -> index in bookings */
    struct time_heap ends; /* of launches; out of date if a booking has another end now, or is gone */
    uint64_t edition;      /* of the rules and the hosts; 0: to be made */
    uint32_t made;         /* counts how often all was made anew: demands from before are gone */
    struct {
        uint32_t made, demand_count;
        bool is_used;
    } load_check; /* whether load values count, for that many demands */
    struct {
        uint64_t changes;
        int64_t now_us;
        struct map by_shape; /* of a demand -> whether quotas keep it back */
    } quota_answers;         /* of that time and those bookings: live_cluster_quotas_block */
    uint64_t changes;        /* counts changes of bookings and amounts */
    int64_t remake_us;       /* when the next closed times of queues have to be booked; 0: all are */
    bool has_fractions;      /* bookings were taken back that are no whole numbers, so differences of rounding remain */
};

/* What a running task has, in memory of arena. No parts: its partition or its hosts are gone. */
struct allocation live_cluster_allocation(const struct cluster_model *m, const struct task *k, const struct demand *d,
                                          struct arena *arena);

/* When a running task is expected to end: after its time limit; if that is over, at the next of the times 1, 2, 4 ...
 * seconds after it, and then at those that are a schedule interval apart. */
int64_t live_cluster_end(const struct state *s, const struct task *k, const struct demand *d, int64_t now_us);

/* Brings it up to date for a pass at now_us. O(running tasks); O(tasks + cluster) when it is made anew. */
struct live_cluster *live_cluster_update(struct state *s, int64_t now_us);

/* Whether resource quotas keep a demand of its demands back now (engine/quota_usage.h), as it is after an update. O(1)
 * but for the first time for its shape since bookings changed, so that a listing may ask for each of its rows. */
bool live_cluster_quotas_block(struct live_cluster *l, const struct demand *d, int64_t now_us);

/* When the next running task is expected to end; 0: none is. */
int64_t live_cluster_next_end_us(struct live_cluster *l);

/* Keeps what a started task has booked in the pass. */
void live_cluster_add(struct live_cluster *l, const struct task *k, const struct demand *d, const struct allocation *a,
                      int64_t now_us);

/* Takes a reservation of a pass back. */
void live_cluster_unbook(struct live_cluster *l, const struct demand *d, const struct allocation *a, int64_t start_us);

/* Takes the booking of a task that ends back, if the cluster is there. */
void live_cluster_remove(struct state *s, const struct task *k);

/* Books a running task anew, whose time limit has changed, if the cluster is there. */
void live_cluster_rebook(struct state *s, const struct task *k, int64_t now_us);

/* Takes in the changed load values of a host (by index). Returns whether a pending job may depend on them: on a value
 * that it requests, or on a load threshold. O(its load values + hosts + demands). */
bool live_cluster_refresh_loads(struct state *s, uint32_t host);

/* Whether a load threshold that a job's start has passed keeps jobs waiting, so that the time alone lets them start. */
bool live_cluster_is_adjusted(const struct live_cluster *l);

/* Makes all anew before the next pass. */
void live_cluster_invalidate(struct state *s);
void live_cluster_free(struct live_cluster *l); /* NULL is allowed */

#endif
