/* The life of a launch, as the launcher sees it.
 *
 *     START --> directory, lock, fork --> KEPT --pidfd--> reconcile --> ENDED --ACK--> directory removed
 *                                                            \--> ORPHANED --> ENDED (lost)
 *     An end is reported as soon as it is written. An ACK that arrives while the keeper runs is passed on to it, and
 *     the directory is removed once the keeper has exited.
 *     When the launcher starts: each directory that it finds --> reconcile
 *
 * launch_table.c has the entries, launch_reconcile.c reads what is on disk, launch_ends.c ends what has no keeper, and
 * launch_orders.c sends orders to keepers.
 *
 * A job runs as the keeper's user in a private instance, so it can stop its keeper. The kernel tells the launcher,
 * which is its parent and continues it. A keeper that is stopped LAUNCH_STOPS_MAX times is killed: it could enforce no
 * limit.
 *
 *  I1  A START creates a directory or has no effect: mkdir succeeds only once.
 *  I2  Every entry has a directory and every directory an entry, but for launches that were refused before they had a
 *      directory.
 *  I3  The launcher signals no process by a pid that could be another's: orders go through the launch's fifo, and a
 *      keeper is watched through a pidfd that was opened while the keeper had the lock. */
#include "exec/launcher/launches.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/clock.h"
#include "exec/launcher/keeper.h"
#include "exec/launcher/launch_ends.h"
#include "exec/launcher/launch_orders.h"
#include "exec/launcher/launch_reconcile.h"
#include "exec/launcher/measure.h"
#include "exec/protocol.h"

int launches_scan(struct launches *l, struct err *e)
{
    struct launch_ids ids = {0};
    int result = spool_list_launches(l->spool, &ids, e);
    process_identity_read_boot_id(l->boot_id);
    for (uint32_t i = 0; i < ids.list.count; i++) {
        /* Known already: a directory of another name that reads as the same number, as "05". */
        if (launches_find(l, ids.list.items[i]) != NULL) continue;
        uint32_t index = launches_add(l, ids.list.items[i]);
        l->list.items[index].is_of_scan = true;
        launch_reconcile(l, index);
    }
    array_release(&ids.list);
    return result;
}

/* Continues a keeper that was stopped. */
static void on_stop(struct launch_entry *entry)
{
    launch_entry_signal(entry, ++entry->stop_count < LAUNCH_STOPS_MAX ? SIGCONT : SIGKILL);
}

static struct launch_entry *find_by_keeper(struct launches *l, pid_t pid)
{
    for (uint32_t i = 0; i < l->list.count; i++) {
        if (l->list.items[i].keeper_pidfd >= 0 && l->list.items[i].child_pid == pid) return &l->list.items[i];
    }
    return NULL;
}

/* Reaps keepers that are children of this launcher, whose pidfds stay valid, and continues those that were stopped. */
static void reap_keepers(struct launches *l)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
        struct launch_entry *entry = WIFSTOPPED(status) ? find_by_keeper(l, pid) : NULL;
        if (entry != NULL) on_stop(entry);
    }
}

void launches_on_child(struct launches *l)
{
    reap_keepers(l);
}

/* What could not be read, and orders that are not carried out yet. */
static void retry(struct launches *l)
{
    l->wants_retry = false;
    for (uint32_t i = l->list.count; i-- > 0;) {
        struct launch_entry *entry = &l->list.items[i];
        bool may_be_kept = entry->state == ENTRY_KEPT || entry->state == ENTRY_KEEPER_UNKNOWN;
        if (entry->is_limit_due && may_be_kept) launch_orders_repeat_limit(l, entry);
        if (entry->has_end_order && may_be_kept) launch_orders_repeat_end(l, entry);
        if (entry->state == ENTRY_UNREADABLE || entry->is_unread) launch_reconcile(l, i);
    }
    l->retry_us = clock_boot_us() + (int64_t)LAUNCHES_RETRY_MS * US_PER_MS;
}

/* Tables are walked backward, because forgetting an entry moves the last one to its index. */
void launches_tick(struct launches *l)
{
    int64_t now_us = clock_boot_us();
    if (l->wants_retry && now_us >= l->retry_us) retry(l);
    if (l->needs_tick_count == 0 || now_us < l->tick_us) return;
    reap_keepers(l);
    for (uint32_t i = l->list.count; i-- > 0;) {
        if (l->list.items[i].state == ENTRY_KEEPER_UNKNOWN) launch_reconcile(l, i);
    }
    launch_ends_kill_orphans(l);
    l->tick_us = clock_boot_us() + (int64_t)LAUNCHES_TICK_MS * US_PER_MS;
}

int launches_wait_ms(const struct launches *l)
{
    if (l->needs_tick_count > 0) return LAUNCHES_TICK_MS;
    return l->wants_retry ? LAUNCHES_RETRY_MS : -1;
}

void launches_on_keeper_exit(struct launches *l, uint64_t id)
{
    uint32_t index = map_get_u64(&l->index_by_id, id);
    if (index == NONE) return;
    struct launch_entry *entry = &l->list.items[index];
    reap_keepers(l);
    launch_entry_unwatch(entry);
    if (entry->has_record && entry->record.phase == LAUNCH_ENDED) {
        launches_set_ended(l, entry); /* the last record is known, so nothing on disk is newer */
        launches_forget_if_done(l, id);
    } else {
        launch_reconcile(l, index);
    }
}

/* --- the daemon's orders ------------------------------------------------------------------------------------------ */

static int check_identity(const struct launch *launch, struct err *e)
{
    if (launch->uid != geteuid() || launch->gid != getegid()) {
        return err_set(e, ERR_DENIED,
                       "cannot start a job as user %u, group %u: this launcher runs as user %u, group %u", launch->uid,
                       launch->gid, geteuid(), getegid());
    }
    return 0;
}

static void start_keeper(struct launches *l, uint32_t index, const struct launch *launch, struct launch_dir *d,
                         struct arena *memory, struct buf *bytes)
{
    struct launch_entry *entry = &l->list.items[index];
    struct keeper_task task = {.launch = launch,
                               .dir = *d,
                               .spool = l->spool,
                               .cgroups = l->cgroups,
                               .inherited = l->inherited,
                               .boot_id = l->boot_id,
                               .memory = memory,
                               .bytes = bytes};
    pid_t pid = fork();
    if (pid == 0) keeper_main(&task);
    int error_number = errno;
    launch_dir_close(d); /* the keeper has inherited the lock */
    if (pid < 0) {
        char detail[LAUNCH_DETAIL_SIZE];
        text_format(detail, sizeof detail, "cannot start a keeper: %s", strerror(error_number));
        launches_forget(l, index);
        launches_report_never_ran(l, launch->id, LAUNCH_UNAVAILABLE, detail);
        return;
    }
    entry->child_pid = pid;
    launches_set_state(l, entry, launches_watch(l, entry, pid) ? ENTRY_KEPT : ENTRY_KEEPER_UNKNOWN);
}

void launches_start(struct launches *l, const struct launch *launch, struct arena *memory, struct buf *bytes)
{
    struct launch_dir d;
    struct err e;
    struct launch_entry *known = launches_find(l, launch->id);
    if (known != NULL) {
        launches_report(l, known);
    } else if (launch_check(launch, &e) || check_identity(launch, &e)) {
        launches_report_never_ran(l, launch->id, LAUNCH_REFUSED, ERR_SENTENCE(&e));
    } else if (launch_dir_create(l->spool, launch->id, &d, &e)) { /* I1: nothing is on disk, or it is another's */
        launches_report_never_ran(l, launch->id, e.code == ERR_EXISTS ? LAUNCH_REFUSED : LAUNCH_UNAVAILABLE,
                                  ERR_SENTENCE(&e));
    } else {
        start_keeper(l, launches_add(l, launch->id), launch, &d, memory, bytes);
    }
}

/* The keeper has written its pid and its group before its first record. False if that cannot be read. */
static bool read_keeper(struct launches *l, struct launch_entry *entry)
{
    struct launch_dir d;
    struct cgroup group;
    if (entry->keeper_pid != 0) return true;
    if (launch_dir_open(l->spool, entry->id, &d, NULL)) return false;
    entry->keeper_pid = launch_dir_read_keeper(&d, &group);
    launch_dir_close(&d);
    if (entry->keeper_pid == 0) return false;
    size_t size = strlen(group.path) + 1;
    entry->keeper_group = mem_resize(NULL, 0, size);
    memcpy(entry->keeper_group, group.path, size);
    return true;
}

static bool has_exited(int pidfd)
{
    struct pollfd p = {.fd = pidfd, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

/* A keeper that still runs afterwards has had its pid all the time (I3). Those that an earlier launcher has forked are
 * not children of this one, so nothing else says that one of them is stopped. */
void launches_measure(struct launches *l)
{
    ARRAY(struct measured_launch) running = {0};
    for (uint32_t i = 0; i < l->list.count; i++) {
        struct launch_entry *entry = &l->list.items[i];
        bool has_started = entry->has_record && entry->record.phase != LAUNCH_ENDED;
        if (entry->state != ENTRY_KEPT || !has_started || !read_keeper(l, entry)) continue;
        *array_add(&running) = (struct measured_launch){
            .keeper = entry->keeper_pid, .group_path = entry->keeper_group, .usage.id = entry->id};
    }
    measure_launches(running.items, running.count);
    for (uint32_t i = 0; i < running.count; i++) {
        const struct launch_usage *usage = &running.items[i].usage;
        if (running.items[i].is_stopped) on_stop(launches_find(l, usage->id));
        if (l->out != NULL && !has_exited(launches_find(l, usage->id)->keeper_pidfd)) protocol_usage(l->out, usage);
    }
    array_release(&running);
}

void launches_acknowledge(struct launches *l, uint64_t id)
{
    uint32_t index = map_get_u64(&l->index_by_id, id);
    if (index == NONE) return;
    struct launch_entry *entry = &l->list.items[index];
    if (!entry->has_record || entry->record.phase != LAUNCH_ENDED) return;
    entry->is_acknowledged = true;
    if (entry->keeper_pidfd < 0 && entry->state == ENTRY_ENDED)
        launches_forget(l, index);
    else
        (void)launch_orders_send(l, entry, "committed\n"); /* without it, the keeper syncs the end and exits */
}
