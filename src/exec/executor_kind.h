/* The functions that a kind of executor provides; executor.c calls through them. Private to exec/. */
#ifndef FAIRLEAD_EXEC_EXECUTOR_KIND_H
#define FAIRLEAD_EXEC_EXECUTOR_KIND_H

#include "exec/executor.h"

struct executor_kind {
    void (*close)(struct executor *x);
    void (*start)(struct executor *x, const struct launch *launch);
    void (*end)(struct executor *x, uint64_t launch_id, int64_t grace_us);
    void (*acknowledge)(struct executor *x, uint64_t launch_id);
    void (*set_cpu_weight)(struct executor *x, uint64_t launch_id, uint32_t cpu_weight);
    void (*set_time_limit)(struct executor *x, uint64_t launch_id, int64_t time_limit_us);
    void (*suspend)(struct executor *x, uint64_t launch_id, bool is_suspended, int64_t suspended_us);
    void (*signal)(struct executor *x, uint64_t launch_id, uint32_t number, bool is_to_first); /* NULL: no processes */
    void (*measure)(struct executor *x);
    void (*sample)(struct executor *x);                                               /* NULL: it has no processes */
    void (*set_low_weight)(struct executor *x, const uint32_t *uids, uint32_t count); /* NULL: likewise */
    void (*warn)(struct executor *x, const struct outside_warning *warning);          /* NULL: likewise */
    void (*flush)(struct executor *x); /* NULL: orders are carried out at once */
    int (*descriptor)(const struct executor *x);
    bool (*wants_write)(const struct executor *x);
    void (*ready)(struct executor *x, struct executor_reports *out_reports);
};

/* The first member of each kind's own structure. */
struct executor {
    const struct executor_kind *kind;
};

#endif
