/* One scheduling run over a state, as a plan: what runs where until when, what starts now, and what has a reservation.
 * It changes nothing. Documents are planned by it (`fairlead schedule -f`), and the expected starts of an instance.
 *
 *     now 85   job 295 running on all.q@n1, 2 of 4 slots, until 119
 *     296      4 slots for 20 s, asks for a reservation     reserved at 119
 *     297      1 slot for 200 s                             waits
 *     299      1 slot for 10 s                              starts: it ends before 119
 *
 * Source: docs/formulas.md 7; Grid Engine 8.1.9, cases a1 to i6. */
#ifndef FAIRLEAD_ENGINE_SCHEDULE_H
#define FAIRLEAD_ENGINE_SCHEDULE_H

#include "engine/job_demand.h"
#include "fields/schedule_fields.h"
#include "sched/run.h"

enum schedule_state { SCHEDULE_RUNNING, SCHEDULE_SUSPENDED, SCHEDULE_STARTING, SCHEDULE_RESERVED, SCHEDULE_WAITING };

/* A task; or all waiting tasks of an array. */
struct schedule_row {
    uint32_t job;       /* index */
    uint32_t task_id;   /* 0 unless the job is an array */
    const char *tasks;  /* of a waiting array: "3-9"; else NULL */
    const char *reason; /* of a waiting job that can never run, or of a document waits for other jobs: why; else NULL */
    enum schedule_state state;
    int64_t start_us, end_us; /* planned; end_us TIMELINE_END: none. Waiting: an estimate, or both 0 */
    const struct demand *demand;
    struct allocation allocation; /* unless it waits without an estimate */
};

struct schedule {
    struct cluster_model model; /* with all bookings */
    struct job_demands demands;
    ARRAY(struct schedule_row) rows; /* running ones by start, then suspended ones, then in the order of priorities */
    bool has_reservations;           /* whether the rules give any */
    int64_t known_until_us;          /* the first end of a job of unlimited time; TIMELINE_END: none has an end */
    struct arena arena;
};

/* Whether jobs without a reservation get an estimate: when they would start if the first SCHEDULE_ESTIMATES_MAX of them
 * had one, all in their order. Nothing keeps to it. */
enum schedule_estimates { SCHEDULE_WITHOUT_ESTIMATES, SCHEDULE_WITH_ESTIMATES };
enum { SCHEDULE_ESTIMATES_MAX = 1000 };

/* ERR_INPUT: the cluster's definition is not consistent (engine/cluster_model.h), or a million tasks would be listed.
 * The caller releases out also after an error. */
int schedule_make(struct state *s, int64_t now_us, enum schedule_estimates estimates, struct schedule *out,
                  struct err *e);
void schedule_release(struct schedule *p);

/* Only what runs: its rows, and its bookings. Errors and release as above. */
int schedule_make_running(struct state *s, int64_t now_us, struct schedule *out, struct err *e);

/* Whether a planned time means anything: a job of unlimited time is planned to end after ten years, and nothing is
 * known of what comes then. */
static inline bool schedule_is_known(const struct schedule *p, int64_t at_us)
{
    return at_us < p->known_until_us;
}

/* Row i as a record of the listing, with texts in memory of arena. A time that is not known is absent. */
void schedule_row_values(const struct schedule *p, const struct state *s, uint32_t i, struct arena *arena,
                         struct schedule_values *out);

/* The id of row i, in memory of arena: "12", "12_3", "12_[3-9]". */
const char *schedule_row_id(const struct schedule *p, const struct state *s, uint32_t i, struct arena *arena);

/* "main@localhost=4,main@n2=2": the slots of an allocation on each instance. */
void schedule_places(const struct schedule *p, const struct allocation *a, struct buf *out);

/* Appends what a row has booked, as lines of Grid Engine's schedule file:
 *     296:1:RESERVING:1795245119:20:Q:all.q@n1:slots:4.000000 */
void schedule_lines(const struct schedule *p, const struct state *s, const struct schedule_row *row, struct buf *out);
void schedule_row_lines(const struct cluster *c, const struct job *j, const struct schedule_row *row, struct buf *out);

/* Sorts rows of running tasks: by start and id, suspended ones last. */
void schedule_sort_rows(struct schedule_row *rows, uint32_t count);

#endif
