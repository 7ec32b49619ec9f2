/* The process of a keeper: what stays from one launch to the next. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_KEEPER_PROCESS_H
#define FAIRLEAD_EXEC_LAUNCHER_KEEPER_PROCESS_H

#include "base/arena.h"
#include "exec/launcher/keeper.h"
#include "exec/launcher/keeper_attributes.h"
#include "exec/launcher/keeper_orders.h"

#define KEEPER_NAME "fairlead-keeper" /* 15 bytes, so the kernel keeps all of it */

/* An order that arrived before its launch. */
struct early_order {
    enum keeper_order order;
    int tag;
    int64_t value;
};
enum { EARLY_ORDERS_MAX = 16 };

struct keeper_process {
    struct keeper_task *task;            /* of the present launch */
    struct keeper_attributes attributes; /* as it began */
    bool is_set_up, has_attributes;
    struct early_order early[EARLY_ORDERS_MAX];
    uint32_t early_count;
    int order_tag;                    /* of the present launch, or of the one that has ended */
    int lock_fd;                      /* the launcher's lock, which came with the launch; -1: none */
    struct launch launch;             /* if it came from the socket; in memory and bytes */
    struct process_identity identity; /* likewise */
    struct arena memory;
    struct buf bytes;
};

/* Keeps one launch, from its start until it has released all that it had for it (keeper.c). */
void keeper_keep(struct keeper_process *p);

#endif
