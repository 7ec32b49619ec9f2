/* Sums over ended jobs, for each value of a key: a user, an account, a day.
 *
 * A row of the history, one attempt of one task, counts once, at its end and whole: what ran before the span and ended
 * in it counts, what still runs does not. Memory is O(rows): a number for each wait, from which medians come, and the
 * last end of each task that was requeued. */
#ifndef FAIRLEAD_CLI_HISTORY_REPORT_H
#define FAIRLEAD_CLI_HISTORY_REPORT_H

#include "base/array.h"
#include "base/map.h"
#include "fields/column.h"

enum report_key {
    REPORT_BY_USER,
    REPORT_BY_ACCOUNT,
    REPORT_BY_DAY,
    REPORT_BY_WEEK,
    REPORT_BY_MONTH,
    REPORT_BY_PARTITION,
    REPORT_BY_QOS,
    REPORT_BY_STATE,
    REPORT_BY_NAME,
    REPORT_BY_PROJECT,
};
#define REPORT_KEYS "user|account|day|week|month|partition|qos|state|name|project"

enum report_field {
    REPORT_KEY,
    REPORT_JOBS,
    REPORT_COMPLETED,
    REPORT_WAIT_MEDIAN,
    REPORT_WAIT_MEAN,
    REPORT_WAIT_MAX,
    REPORT_CPU_HOURS,
    REPORT_GPU_HOURS,
    REPORT_MEM_HOURS,
    REPORT_BILLING_HOURS,
    REPORT_CPU_PERCENT,
    REPORT_MEM_PERCENT,
    REPORT_PROMISED,
    REPORT_RECEIVED,
    REPORT_FIELD_COUNT,
};

extern const struct column_table history_report_columns;

struct report_group {
    const char *key;
    uint64_t job_count, completed_count;
    double wait_s, wait_max_s;
    double cpu_h, cpu_used_h, gpu_h, mem_gib_h, peak_gib_h, billing_h;
    ARRAY(float) waits_s;
};

/* The last attempt of a task that was requeued. */
struct report_end {
    int64_t us, restarts;
};

struct history_report {
    enum report_key key;
    ARRAY(struct report_group) groups;
    struct map index;       /* of the groups, by key */
    struct map end_of_task; /* of ends, by job and task */
    ARRAY(struct report_end) ends;
    double billing_h; /* of all */
    struct arena *arena;
};

/* row: a record of job_fields; of those of a task the earliest first. One that has not started counts as a job without
 * use. */
void history_report_add(struct history_report *r, const struct field_value *row);

/* The groups by billing, the largest first; days, weeks and months in their order. */
void history_report_sort(struct history_report *r);

/* A group as a record of history_report_columns. promised: its share, 0 to 1; NAN: none. */
void history_report_row(const struct history_report *r, const struct report_group *group, double promised,
                        struct field_value out[REPORT_FIELD_COUNT]);

void history_report_release(struct history_report *r);

#endif
