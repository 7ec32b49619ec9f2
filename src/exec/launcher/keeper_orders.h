/* The orders of the launcher to a keeper: real-time signals that carry a value. They need no file, and reach a keeper
 * that another launcher has forked. The kernel keeps them until the keeper reads them.
 *
 * A keeper keeps one launch after another, so an order says which one it is for: si_errno has keeper_order_tag(). One
 * for an earlier launch is ignored, and one that arrives before its launch is kept for it. 0 is an order of an older
 * launcher, which sends no second launch. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_KEEPER_ORDERS_H
#define FAIRLEAD_EXEC_LAUNCHER_KEEPER_ORDERS_H

#include <stdbool.h>
#include <stdint.h>

/* What value is. The numbers never change, because a launcher sends them to keepers of other versions. */
enum keeper_order {
    KEEPER_ORDER_END = 0,        /* end the job: the grace in microseconds */
    KEEPER_ORDER_WEIGHT = 1,     /* the CPU weight */
    KEEPER_ORDER_LIMIT = 2,      /* the time limit in microseconds */
    KEEPER_ORDER_MEMORY = 3,     /* check its memory: what it seems to use, in KiB */
    KEEPER_ORDER_SUSPENSION = 4, /* stop the job, or let it run: keeper_suspension_value() */
    KEEPER_ORDER_SEND = 5,       /* signal it: keeper_signal_value() */
    KEEPER_ORDER_COUNT
};

/* One order for both, because the kernel gives a keeper the orders of one kind as they were sent, and those of a
 * smaller number first. suspended_us: how long the job was suspended before. */
static inline int64_t keeper_suspension_value(bool is_suspended, int64_t suspended_us)
{
    return suspended_us * 2 + is_suspended;
}

/* is_to_first: only the job's first process. */
static inline int64_t keeper_signal_value(uint32_t number, bool is_to_first)
{
    return (int64_t)number * 2 + is_to_first;
}

/* Never 0. Two launches of one keeper have the same tag if 2^31 launches lie between them. */
static inline int keeper_order_tag(uint64_t launch_id)
{
    return (int)(launch_id % INT32_MAX) + 1;
}

/* The signal of order 0. glibc keeps the first two real-time signals for itself. */
enum { KEEPER_ORDER_SIGNAL = 34 };

#endif
