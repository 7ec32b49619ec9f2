/* Usage as the records say it: recomputed from the records of the tasks that ran, the sums of those that were pruned,
 * and the usage journal. For verification (verify.c) and for pruning (prune_plan.c). */
#ifndef FAIRLEAD_STORE_USAGE_RECORDS_H
#define FAIRLEAD_STORE_USAGE_RECORDS_H

#include "policy/tres.h"
#include "store/internal.h"
#include "store/verify_decay.h"
#include "store/verify_usage_owners.h"

/* Sums by TRES and of wall time: a linked list. */
struct kind_sums {
    uint32_t first, last; /* indices in kind_sums; NONE: none */
};

struct assoc_sum {
    uint32_t id;
    uint32_t sink;         /* index of the association that has its usage: itself unless deleted */
    uint32_t target;       /* index of the association to which its tasks are summed up: sink, or itself */
    uint32_t fold_id;      /* id of the association that its usage was added to; 0: none */
    int64_t fold_reset_us; /* last reset of that one before the fold */
    int64_t reset_us;
    int64_t from_us; /* its usage counts in its sink from here on */
    const char *user;
    bool is_deleted;
    struct sum billing;
    struct kind_sums kinds;
    bool is_touched;
};

/* The usage of a row in a TRES, or its wall time. */
struct kind_sum {
    uint32_t name, next; /* name: index in kind_names */
    struct sum sum;
};

struct qos_sum {
    uint32_t id;
    const char *name;
    int64_t created_us, reset_us;
    struct segments segments;
    struct sum billing;
    struct kind_sums kinds;
    bool is_touched;
};

/* The rules in force when a start became known late: the index of the last epoch, and the journal entry. */
struct late_start {
    uint32_t epoch;
    int64_t seq;
};

/* The amounts of one task. Most tasks have the same as the previous one, so the parsed text is kept. */
struct amounts {
    struct buf text;
    ARRAY(struct tres_amount) list; /* tres: index in kind_names */
};

struct usage_records {
    sqlite3 *db;
    const char *path;
    struct arena arena;
    int64_t reference_us, usage_reset_us;
    struct usage_conversions conversions; /* that stored usages may lack */
    struct epochs epochs;
    struct usage_owners owners;
    ARRAY(struct assoc_sum) assocs; /* by id, ascending */
    ARRAY(struct kind_sum) kind_sums;
    ARRAY(struct qos_sum) qos;      /* by id, ascending */
    ARRAY(const char *) kind_names; /* the first one is WALL_NAME, the others are of TRES */
    ARRAY(struct late_start) late_starts;
    struct map assoc_by_id, kind_by_name, qos_by_id, qos_by_name;
    struct map late_start_by_task; /* "job task attempt" -> index in late_starts */
    struct amounts amounts;
    ARRAY(struct charged_span) spans; /* of the task that is being charged */
    /* Of a prune: usage up to as_of_us is summed up by the association of each task, not by its sink, and of a project
     * by user. These rows were charged since usage_records_clear_touched. */
    bool is_prune;
    int64_t as_of_us;
    ARRAY(uint32_t) touched_assocs, touched_qos;
};

/* The first kind; the others are of TRES. */
enum { USAGE_RECORDS_WALL };

/* The resource of billing in pruned_usage; the others have the names of their kinds. */
#define USAGE_RECORDS_BILLING "billing"

/* Reads the rules, the stored usages and the sums of what was pruned, in the caller's transaction. is_prune: sums for
 * what is removed, otherwise for what is stored. path: of the database, for messages. The caller releases v also after
 * -1. */
int usage_records_begin(struct usage_records *v, sqlite3 *db, const char *path, bool is_prune, int64_t as_of_us,
                        struct err *e);

/* Adds the charges of a task that has started. row: of usage_records_tasks, with a condition behind it. */
int usage_records_charge(struct usage_records *v, sqlite3_stmt *row, struct err *e);
extern const char usage_records_tasks[];
enum { USAGE_RECORDS_TASK_ID = 1, USAGE_RECORDS_TASK_START_US = 4 }; /* columns */

/* Calls read_row for every row of a query, until it fails. */
int usage_records_for_each(struct usage_records *v, const char *query,
                           int (*read_row)(struct usage_records *, sqlite3_stmt *, struct err *), struct err *e);

void usage_records_clear_touched(struct usage_records *v);
void usage_records_release(struct usage_records *v);

#endif
