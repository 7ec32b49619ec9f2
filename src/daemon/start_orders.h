/* Orders to start tasks. Most are given to the executor at once. One whose script is long is made by a thread, which
 * reads the script and writes the message; one at a time, and the next one when the message before it was sent.
 *
 * Invariants
 *   1. Orders about a launch that follow its start, such as to end it, reach the executor after it.
 *   2. What was not given to the executor before the connection was lost is dropped: EVENT_SYNCED starts the task
 *      again. */
#ifndef FAIRLEAD_DAEMON_START_ORDERS_H
#define FAIRLEAD_DAEMON_START_ORDERS_H

#include "daemon/task_environment.h"
#include "exec/launch.h"

struct start_order {
    struct daemon *d;
    uint32_t job_id;
    struct arena arena;            /* of the texts */
    struct job_script script;      /* as store_script gives it */
    struct launch launch;          /* without script, arguments and environment */
    struct task_environment own;   /* the variables that the daemon sets */
    struct executor_order message; /* made by a thread */
    ARRAY(struct decision) next;   /* invariant 1 */
    bool has_thread, is_dropped, has_failed;
    struct err err;
};

/* A new order, which the caller fills and gives, or frees. start_order_give takes it over. */
struct start_order *start_order_new(struct daemon *d, uint32_t job_id);
void start_order_free(struct start_order *order);
void start_order_give(struct start_order *order);

/* As if the launcher had said it: another launch of the task is tried later. */
void start_order_report_unavailable(struct daemon *d, uint64_t launch_id, const struct err *cause);

/* Gives an order about a launch that was started, or keeps it until the start is given. */
void start_orders_follow(struct daemon *d, const struct decision *decision);

/* Makes the next long order, if there is one and the last one was sent: at the end of a turn. */
void start_orders_schedule(struct daemon *d);

/* Invariant 2. */
void start_orders_drop(struct daemon *d);

#endif
