/* A scheduling run: pending jobs in the order of their priorities, each of which starts, gets a reservation, or waits.
 *
 *     running: A on 2 of 4 slots until 60; now 6
 *     R1  4 slots for 20 s, reserves     reserved [60, 80)
 *     R3  2 slots for 30 s               starts: it ends before 60 (backfill)
 *     R4  2 slots for 100 s              waits, or is reserved [80, 180)
 *
 * A job with a minimum duration that cannot start for its whole duration starts for the longest that fits, in whole
 * seconds from the minimum on. It never gets a reservation for less than the whole.
 *
 * A job starts only if what it needs stays free for its whole duration, so it delays no reservation that was made
 * before it in the run. The caller chooses the next job, with what it knows of priorities. Source: docs/formulas.md 7;
 * Grid Engine 8.1.9, cases a1 to b12. */
#ifndef FAIRLEAD_SCHED_RUN_H
#define FAIRLEAD_SCHED_RUN_H

#include "base/map.h"
#include "sched/load.h"
#include "sched/reserve.h"
#include "sched/sweep.h"

/* Which jobs that cannot start get a reservation, at most reservation_max of them in the order of the run. */
enum run_reservations { RUN_RESERVE_NONE, RUN_RESERVE_REQUESTED, RUN_RESERVE_ALL };

struct run_rules {
    enum run_reservations reservations;
    uint32_t reservation_max;
    enum reserve_search search;
    bool reserves_ranges;   /* also for jobs with a range of slots, with its smallest number */
    bool ends_when_full;    /* after a job, the first one too, when no open instance has a free slot (Grid Engine) */
    int64_t window_us;      /* no reservation begins later than this from now; 0: no limit */
    int64_t resolution_us;  /* reservations begin at its multiples; 0: at any time */
    uint32_t test_max;      /* jobs that are tried after the first one that could not start; 0: all */
    uint32_t user_test_max; /* of them, jobs of one user; 0: all */
    struct load_rules load;
};

/* What a run knows of the demands of a kind: what is free only shrinks during a run, so what did not fit does not fit
 * later, and neither does what takes longer. */
struct run_kind {
    int64_t seen_us; /* the longest duration that fitted when it was looked at; -1: none */
    int64_t max_us;  /* a longer one does not fit */
    uint32_t first;  /* of kinds without quotas: the instances before it in the order do not fit */
};

/* The cluster has the bookings of the running jobs. */
struct run {
    ARRAY(struct run_kind) kinds;
    ARRAY(int64_t) not_before_us; /* by shape: the earliest start of a reservation, which only moves away */
    struct cluster *cluster;
    const struct run_rules *rules;
    struct arena *arena; /* of the results */
    int64_t now_us;
    uint32_t job_count, reservation_count;
    bool is_blocked; /* a job could not start */
    uint32_t test_count;
    struct map user_tests; /* user -> jobs tried since, if user_test_max is set */
    double tickets;        /* of the next job: its hosts have them when it has started (ORDER_BY_SHARE) */
    uint32_t open_count;   /* open instances with a free slot */
    uint32_t *free_slots;  /* by instance: those free now; 0: closed */
    struct sweep sweep;    /* for reservations in gaps; made for the first one */
    bool is_sweeping;
    struct arena scratch, own; /* of one decision, of the run */
};

enum run_outcome { RUN_STARTS, RUN_RESERVED, RUN_WAITS };

struct run_decision {
    enum run_outcome outcome;
    struct allocation allocation; /* unless it waits */
    int64_t start_us;             /* likewise */
    int64_t duration_us;          /* that of the demand; if it starts with a shorter one, that */
};

/* Computes loads and the order of the instances. Release it with run_end. */
void run_begin(struct run *r, struct cluster *cluster, const struct run_rules *rules, int64_t now_us,
               struct arena *arena);
void run_end(struct run *r);

/* Whether no further job can start or get a reservation under the rules. */
bool run_is_over(const struct run *r);

/* Whether the next job, of a user, may be tried. Counts it. */
bool run_may_try(struct run *r, const char *user);

/* Whether no further job may be tried, whoever it is of. */
static inline bool run_has_tried_all(const struct run *r)
{
    return r->is_blocked && r->rules->test_max > 0 && r->test_count >= r->rules->test_max;
}

/* Whether the rules count the jobs that are tried, so that none may be left out. */
static inline bool run_counts_tests(const struct run_rules *rules)
{
    return rules->test_max > 0 || rules->user_test_max > 0;
}

/* Whether a job may fit now; the answer is kept until one of its kind that is not longer has not fitted. Nothing is
 * booked. */
bool run_may_start(struct run *r, const struct demand *d);

/* The same if the pools of its quotas had room. Demands that differ only in duration and quotas share the answer, so it
 * costs a search for the first of them only. */
bool run_may_start_bare(struct run *r, const struct demand *d);

/* What is known of that without a look. */
enum run_may_fit { RUN_MAY_FIT, RUN_CANNOT_FIT, RUN_NOT_SEEN };

static inline enum run_may_fit run_may_fit(const struct run *r, uint32_t kind, int64_t duration_us)
{
    if (kind >= r->kinds.count) return RUN_NOT_SEEN;
    const struct run_kind *k = &r->kinds.items[kind];
    if (duration_us > k->max_us) return RUN_CANNOT_FIT;
    return duration_us <= k->seen_us ? RUN_MAY_FIT : RUN_NOT_SEEN;
}

/* Decides about a job (a task of an array) and books what it gets. wants_reservation: it asked for one. */
struct run_decision run_job(struct run *r, const struct demand *d, bool wants_reservation);

/* The same for a job that a limit of its own keeps from some places: it starts or waits, and blocks no other job. */
struct run_decision run_job_now(struct run *r, const struct demand *d);

/* Decides about a job with a reservation, for another of its demands: it starts, or gets an earlier start than
 * before_us, or what it has stays. The reservation that it has stays booked, and a job counts once. */
struct run_decision run_job_again(struct run *r, const struct demand *d, int64_t before_us);

#endif
