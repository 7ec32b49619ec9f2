/* The daemon's orders to launches that run: each is a signal to the keeper (keeper_orders.h). An order to end is kept
 * in its entry until the launch has ended, and a time limit until it was sent, because they may not reach the keeper
 * at first. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_LAUNCH_ORDERS_H
#define FAIRLEAD_EXEC_LAUNCHER_LAUNCH_ORDERS_H

#include "exec/launcher/launch_table.h"

/* Does nothing to a launch that is not known or has ended. A value out of range is cut, or the order is void. */
void launch_orders_end(struct launches *l, uint64_t id, int64_t grace_us);
void launch_orders_set_cpu_weight(struct launches *l, uint64_t id, uint32_t cpu_weight);
void launch_orders_set_time_limit(struct launches *l, uint64_t id, int64_t time_limit_us);
void launch_orders_suspend(struct launches *l, uint64_t id, bool is_suspended, int64_t suspended_us);
void launch_orders_signal(struct launches *l, uint64_t id, uint32_t number, bool is_to_first);

/* Send what is kept, for an entry whose keeper runs or may run. */
void launch_orders_repeat_end(struct launches *l, struct launch_entry *entry);
void launch_orders_repeat_limit(struct launches *l, struct launch_entry *entry);
void launch_orders_repeat_weight(struct launches *l, struct launch_entry *entry);
void launch_orders_repeat_suspension(struct launches *l, struct launch_entry *entry);
void launch_orders_repeat_signal(struct launches *l, struct launch_entry *entry);

/* Sends an order to the keeper of a launch. False: it cannot be sent now, or its keeper is gone, and its end is
 * reported anyway. */
bool launch_orders_send(const struct launches *l, const struct launch_entry *entry, enum keeper_order order,
                        int64_t value);

#endif
