#include "exec/launcher/keeper_process.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/ensure.h"
#include "exec/launcher/next_launch.h"
#include "exec/launcher/process_title.h"
#include "exec/protocol.h"

/* Ends this process if the machine is being shut down. Orders for the launch that has ended are dropped; those for the
 * next one may be read before its message is, and are kept. */
static void read_early_orders(struct keeper_process *p)
{
    struct signalfd_siginfo info;
    while (read(p->task->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        uint32_t order = info.ssi_signo - KEEPER_ORDER_SIGNAL;
        if (info.ssi_signo == SIGTERM) _exit(0);
        if (info.ssi_code != SI_QUEUE || order >= KEEPER_ORDER_COUNT) continue;
        if (info.ssi_errno == 0 || info.ssi_errno == p->order_tag || p->early_count == EARLY_ORDERS_MAX) continue;
        p->early[p->early_count++] =
            (struct early_order){(enum keeper_order)order, info.ssi_errno, (int64_t)info.ssi_ptr};
    }
}

/* Waits for the next launch. False: there is none. */
static bool receive_next(struct keeper_process *p, struct buf *bytes, struct next_launch *out)
{
    const struct keeper_task *t = p->task;
    struct pollfd fds[] = {{.fd = t->next_fd, .events = POLLIN}, {.fd = t->signal_fd, .events = POLLIN}};
    process_title_set(KEEPER_NAME);
    for (;;) {
        (void)poll(fds, sizeof fds / sizeof *fds, -1);
        enum next_launch_state state = next_launch_receive(t->next_fd, bytes, out);
        read_early_orders(p);
        if (state != NEXT_LAUNCH_NONE) return state == NEXT_LAUNCH_ARRIVED;
    }
}

/* Makes the next launch that of the task. False: there is none. */
static bool take_next(struct keeper_process *p)
{
    struct keeper_task *t = p->task;
    struct next_launch next;
    struct message m;
    size_t used;
    if (t->next_fd < 0 || !receive_next(p, &p->bytes, &next)) return false;
    bool is_read = protocol_decode(next.frame, &p->memory, &used, &m, NULL) == 0;
    ensure(is_read && used == next.frame.length && m.kind == MESSAGE_START);
    p->launch = m.launch;
    p->lock_fd = next.lock_fd;
    if (t->identity != &p->identity) p->identity = *t->identity;
    memcpy(p->identity.key, next.key, sizeof next.key);
    cgroup_set_path(t->cgroups, p->launch.id, p->identity.key, &p->identity.cgroup);
    t->launch = &p->launch;
    t->identity = &p->identity;
    t->log_fd = next.log_fd;
    t->memory = &p->memory;
    t->bytes = &p->bytes;
    return true;
}

_Noreturn void keeper_main(struct keeper_task *task)
{
    struct keeper_process p = {.task = task, .lock_fd = -1};
    do keeper_keep(&p);
    while (take_next(&p));
    _exit(0);
}
