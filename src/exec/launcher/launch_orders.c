#include "exec/launcher/launch_orders.h"

#include <inttypes.h>
#include <signal.h>

bool launch_orders_send(struct launches *l, const struct launch_entry *entry, const char *line)
{
    struct launch_dir d;
    if (entry->state == ENTRY_ENDED || entry->state == ENTRY_ORPHANED) return false;
    if (launch_dir_open(l->spool, entry->id, &d, NULL)) return false;
    bool is_sent = launch_dir_send(&d, line, NULL) == 0;
    launch_dir_close(&d);
    return is_sent;
}

/* Sends the order to end unless that was done, and continues the keeper, in case it is stopped. */
void launch_orders_repeat_end(struct launches *l, struct launch_entry *entry)
{
    char line[40];
    text_format(line, sizeof line, "end %" PRId64 "\n", entry->end_grace_us);
    if (!entry->is_order_sent) entry->is_order_sent = launch_orders_send(l, entry, line);
    if (entry->keeper_pidfd >= 0) launch_entry_signal(entry, SIGCONT);
    launches_retry_later(l);
}

/* Sends the newest time limit, later if it cannot be sent now. */
void launch_orders_repeat_limit(struct launches *l, struct launch_entry *entry)
{
    char line[40];
    text_format(line, sizeof line, "limit %" PRId64 "\n", entry->time_limit_us);
    entry->is_limit_due = !launch_orders_send(l, entry, line);
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

void launch_orders_set_cpu_weight(struct launches *l, uint64_t id, uint32_t cpu_weight)
{
    char line[40];
    const struct launch_entry *entry = launches_find(l, id);
    text_format(line, sizeof line, "weight %" PRIu32 "\n", cpu_weight);
    if (entry != NULL) (void)launch_orders_send(l, entry, line);
}

void launch_orders_set_time_limit(struct launches *l, uint64_t id, int64_t time_limit_us)
{
    struct launch_entry *entry = launches_find(l, id);
    if (time_limit_us < 0 || time_limit_us > LAUNCH_TIME_LIMIT_MAX_US) return; /* a daemon sends none of these */
    if (entry == NULL) return;
    entry->time_limit_us = time_limit_us;
    launch_orders_repeat_limit(l, entry);
}
