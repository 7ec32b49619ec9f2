/* The orders of the launcher to a keeper: real-time signals that carry a value. They need no file, and reach a keeper
 * that another launcher has forked. The kernel keeps them until the keeper reads them. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_KEEPER_ORDERS_H
#define FAIRLEAD_EXEC_LAUNCHER_KEEPER_ORDERS_H

/* What value is. The numbers never change, because a launcher sends them to keepers of other versions. */
enum keeper_order {
    KEEPER_ORDER_END = 0,    /* end the job: the grace in microseconds */
    KEEPER_ORDER_WEIGHT = 1, /* the CPU weight */
    KEEPER_ORDER_LIMIT = 2,  /* the time limit in microseconds */
    KEEPER_ORDER_MEMORY = 3, /* check its memory: what it seems to use, in KiB */
    KEEPER_ORDER_COUNT
};

/* The signal of order 0. glibc keeps the first two real-time signals for itself. */
enum { KEEPER_ORDER_SIGNAL = 34 };

#endif
