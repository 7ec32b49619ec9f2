#include "exec/launcher/launch_orders.h"

#include <inttypes.h>
#include <signal.h>

#include "base/ensure.h"
#include "exec/launcher/older_launches.h"

bool launch_orders_send(const struct launches *l, const struct launch_entry *entry, enum keeper_order order,
                        int64_t value)
{
    static const char *const words[] = {"end", "weight", "limit"};
    char line[40];
    ensure((unsigned)order < KEEPER_ORDER_COUNT);
    if (entry->state == ENTRY_ENDED || entry->state == ENTRY_ORPHANED) return false;
    if (entry->segment != NULL) return launch_entry_order(entry, order, value);
    if (order > KEEPER_ORDER_LIMIT) return true; /* its keeper knows no others */
    text_format(line, sizeof line, "%s %" PRId64 "\n", words[order], value);
    return older_launch_send(l, entry, line);
}

/* Sends the order to end unless that was done, and continues the keeper, in case it is stopped. */
void launch_orders_repeat_end(struct launches *l, struct launch_entry *entry)
{
    if (!entry->is_order_sent)
        entry->is_order_sent = launch_orders_send(l, entry, KEEPER_ORDER_END, entry->end_grace_us);
    launch_entry_signal(entry, SIGCONT);
    launches_retry_later(l);
}

/* Sends the newest time limit, later if it cannot be sent now. */
void launch_orders_repeat_limit(struct launches *l, struct launch_entry *entry)
{
    entry->is_limit_due = !launch_orders_send(l, entry, KEEPER_ORDER_LIMIT, entry->time_limit_us);
    if (entry->is_limit_due) launches_retry_later(l);
}

void launch_orders_end(struct launches *l, uint64_t id, int64_t grace_us)
{
    struct launch_entry *entry = launches_find(l, id);
    if (entry == NULL || entry->state == ENTRY_ENDED) return;
    if (grace_us < 0) grace_us = 0;
    if (grace_us > LAUNCH_GRACE_MAX_US) grace_us = LAUNCH_GRACE_MAX_US;
    if (entry->has_end_order && grace_us >= entry->end_grace_us) return;
    entry->end_grace_us = grace_us;
    entry->has_end_order = true;
    entry->is_order_sent = false;
    launch_orders_repeat_end(l, entry);
}

/* As the time limit. The daemon sends a weight only when it changes, so a lost one would never be written. */
void launch_orders_repeat_weight(struct launches *l, struct launch_entry *entry)
{
    entry->is_weight_due = !launch_orders_send(l, entry, KEEPER_ORDER_WEIGHT, entry->cpu_weight);
    if (entry->is_weight_due) launches_retry_later(l);
}

void launch_orders_set_cpu_weight(struct launches *l, uint64_t id, uint32_t cpu_weight)
{
    struct launch_entry *entry = launches_find(l, id);
    if (entry == NULL) return;
    entry->cpu_weight = cpu_weight;
    launch_orders_repeat_weight(l, entry);
}

void launch_orders_set_time_limit(struct launches *l, uint64_t id, int64_t time_limit_us)
{
    struct launch_entry *entry = launches_find(l, id);
    if (time_limit_us < 0 || time_limit_us > LAUNCH_TIME_LIMIT_MAX_US) return; /* a daemon sends none of these */
    if (entry == NULL) return;
    entry->time_limit_us = time_limit_us;
    launch_orders_repeat_limit(l, entry);
}

void launch_orders_repeat_suspension(struct launches *l, struct launch_entry *entry)
{
    entry->is_suspension_due = !launch_orders_send(l, entry, KEEPER_ORDER_SUSPENSION, entry->suspension_value);
    if (entry->is_suspension_due) launches_retry_later(l);
}

void launch_orders_suspend(struct launches *l, uint64_t id, bool is_suspended, int64_t suspended_us)
{
    struct launch_entry *entry = launches_find(l, id);
    if (suspended_us < 0 || suspended_us > LAUNCH_SUSPENDED_MAX_US) return; /* a daemon sends none of these */
    if (entry == NULL) return;
    entry->suspension_value = keeper_suspension_value(is_suspended, suspended_us);
    launch_orders_repeat_suspension(l, entry);
}

/* If several signals cannot be sent, the last one is kept. */
void launch_orders_repeat_signal(struct launches *l, struct launch_entry *entry)
{
    entry->is_signal_due = !launch_orders_send(l, entry, KEEPER_ORDER_SEND, entry->signal_value);
    if (entry->is_signal_due) launches_retry_later(l);
}

void launch_orders_signal(struct launches *l, uint64_t id, uint32_t number, bool is_to_first)
{
    struct launch_entry *entry = launches_find(l, id);
    if (number < 1 || number > LAUNCH_SIGNAL_MAX) return; /* likewise */
    if (entry == NULL) return;
    entry->signal_value = keeper_signal_value(number, is_to_first);
    launch_orders_repeat_signal(l, entry);
}
