/* The life of a launch, as the launcher sees it.
 *
 *     START --> directory, lock, fork --> KEPT --pidfd--> reconcile --> ENDED --ACK--> directory removed
 *                                                            \--> ORPHANED --> ENDED (lost)
 *     An end is reported as soon as it is written. An ACK that arrives while the keeper runs is passed on to it, and
 *     the directory is removed once the keeper has exited.
 *     When the launcher starts: each directory that it finds --> reconcile
 *
 * reconcile() brings an entry into line with what is on disk: the lock and the records decide (see I1 to I3 of
 * spool.c):
 *
 *     locked                      its keeper runs: watch it
 *     free, end record            ended
 *     free, start but no end      orphaned: kill what is left, write the end record in the keeper's place
 *     free, start of an earlier boot, end that cannot be read     power was lost before the end was on disk: orphaned
 *     free, no record             never ran: may be started with the same id
 *
 *  I1  A START creates a directory or has no effect: mkdir succeeds only once.
 *  I2  Every entry has a directory and every directory an entry, but for launches that were refused before they had a
 *      directory.
 *  I3  The launcher signals no process by a pid that could be another's: orders go through the launch's fifo, and a
 *      keeper is watched through a pidfd that was opened while the keeper had the lock.
 *  I4  needs_tick_count is the number of entries that are KEEPER_UNKNOWN or ORPHANED. */
#include "exec/launcher/launches.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ensure.h"
#include "exec/clock.h"
#include "exec/launcher/keeper.h"
#include "exec/launcher/measure.h"
#include "exec/launcher/orphans.h"
#include "exec/launcher/record_log.h"
#include "exec/protocol.h"

enum {
    ORPHAN_ROUNDS_MAX = 60 * 1000 / LAUNCHES_TICK_MS, /* a minute; then the orphans that are left are reported */
    EMPTY_ROUNDS_MIN = 2                              /* in a row, before the launch counts as ended */
};

/* --- the table ---------------------------------------------------------------------------------------------------- */

static bool needs_tick(const struct launch_entry *entry)
{
    return entry->state == ENTRY_KEEPER_UNKNOWN || entry->state == ENTRY_ORPHANED;
}

static void set_state(struct launches *l, struct launch_entry *entry, enum launch_entry_state state)
{
    l->needs_tick_count -= needs_tick(entry);
    entry->state = state;
    l->needs_tick_count += needs_tick(entry); /* I4 */
}

static struct launch_entry *find(struct launches *l, uint64_t id)
{
    uint32_t index = map_get_u64(&l->index_by_id, id);
    return index == NONE ? NULL : &l->list.items[index];
}

static uint32_t add(struct launches *l, uint64_t id)
{
    uint32_t index = l->list.count;
    ensure(find(l, id) == NULL);
    *array_add(&l->list) = (struct launch_entry){.id = id, .state = ENTRY_ENDED, .keeper_pidfd = -1};
    map_set_u64(&l->index_by_id, id, index);
    return index;
}

/* Closes the keeper's pidfd, and forgets its pid and group. */
static void unwatch(struct launch_entry *entry)
{
    if (entry->keeper_pidfd >= 0) close(entry->keeper_pidfd);
    mem_free(entry->keeper_group);
    entry->keeper_pidfd = -1;
    entry->keeper_pid = 0;
    entry->keeper_group = NULL;
}

/* Removes the directory and the entry. The last entry moves to its index. */
static void forget(struct launches *l, uint32_t index)
{
    struct launch_entry *entry = &l->list.items[index];
    ensure(entry->keeper_pidfd < 0);
    launch_dir_remove(l->spool, entry->id);
    set_state(l, entry, ENTRY_ENDED);
    map_remove_u64(&l->index_by_id, entry->id);
    uint32_t last = --l->list.count;
    if (last == index) return;
    l->list.items[index] = l->list.items[last];
    map_set_u64(&l->index_by_id, l->list.items[index].id, index);
}

void launches_release(struct launches *l)
{
    for (uint32_t i = 0; i < l->list.count; i++) unwatch(&l->list.items[i]);
    array_release(&l->list);
    map_release(&l->index_by_id);
}

bool launches_have_keeper(const struct launches *l)
{
    for (uint32_t i = 0; i < l->list.count; i++) {
        if (l->list.items[i].state == ENTRY_KEPT) return true;
    }
    return false;
}

/* --- reports to the daemon ---------------------------------------------------------------------------------------- */

static void report(struct launches *l, const struct launch_entry *entry)
{
    if (l->out != NULL && entry->has_record && !entry->is_acknowledged) protocol_record(l->out, &entry->record);
}

void launches_report_all(struct launches *l)
{
    for (uint32_t i = 0; i < l->list.count; i++) report(l, &l->list.items[i]);
}

/* Stores a record and reports it, unless it is no newer than the stored one. */
static void update(struct launches *l, struct launch_entry *entry, const struct launch_record *record)
{
    if (entry->has_record && entry->record.phase >= record->phase) return;
    entry->record = *record;
    entry->has_record = true;
    report(l, entry);
}

static void report_refused(struct launches *l, uint64_t id, const char *detail)
{
    struct launch_record record = launch_record_refused(id, clock_wall_us(), detail);
    if (l->out != NULL) protocol_record(l->out, &record);
}

/* --- keepers ------------------------------------------------------------------------------------------------------ */

static bool watch(struct launches *l, struct launch_entry *entry, pid_t pid)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = entry->id};
    entry->keeper_pidfd = (int)syscall(SYS_pidfd_open, pid, 0u); /* the kernel sets close-on-exec */
    if (entry->keeper_pidfd < 0) return false;
    if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, entry->keeper_pidfd, &event) == 0) return true;
    close(entry->keeper_pidfd);
    entry->keeper_pidfd = -1;
    return false;
}

/* The directory is locked by a keeper that may be unknown: finds it. The pid in the lock file is the keeper's if the
 * directory is still locked after the pidfd was opened (I3). */
static void find_keeper(struct launches *l, struct launch_entry *entry, struct launch_dir *d)
{
    if (entry->keeper_pidfd < 0) {
        struct cgroup group;
        pid_t pid = launch_dir_read_keeper(d, &group);
        if (pid > 0 && watch(l, entry, pid) && launch_dir_lock(d)) unwatch(entry);
    }
    set_state(l, entry, entry->keeper_pidfd >= 0 ? ENTRY_KEPT : ENTRY_KEEPER_UNKNOWN);
}

/* --- ends that the launcher writes in the keeper's place ---------------------------------------------------------- */

/* If the record cannot be written, the next launcher comes to the same conclusion. */
static void write_end(struct launches *l, struct launch_entry *entry, struct launch_dir *d, struct launch_record record)
{
    struct record_log log = {.dir = d, .spool_fd = l->spool->fd};
    ensure(record.phase == LAUNCH_ENDED);
    record.at_us = clock_wall_us();
    (void)record_log_write(&log, record, NULL);
    set_state(l, entry, ENTRY_ENDED);
    update(l, entry, &record);
}

static void end_as_lost(struct launches *l, struct launch_entry *entry, struct launch_dir *d,
                        struct launch_record record, const char *detail)
{
    record.phase = LAUNCH_ENDED;
    record.end = LAUNCH_LOST;
    launch_record_set_detail(&record, detail);
    write_end(l, entry, d, record);
}

static bool is_of_this_boot(const struct launches *l, const struct process_identity *identity)
{
    return strcmp(identity->boot_id, l->boot_id) == 0;
}

/* One round of killing the orphans of a launch. The launch ends when EMPTY_ROUNDS_MIN rounds in a row found none and
 * its control groups could be removed, or after ORPHAN_ROUNDS_MAX rounds. */
static void reap_orphan(struct launches *l, struct launch_entry *entry, struct launch_dir *d,
                        const struct process_identity *identity)
{
    if (!is_of_this_boot(l, identity)) {
        end_as_lost(l, entry, d, entry->record, "the machine was restarted while it ran");
        return;
    }
    uint32_t alive_count = orphans_kill(&entry->record, identity);
    set_state(l, entry, ENTRY_ORPHANED);
    entry->round_count++;
    entry->empty_round_count = alive_count == 0 ? entry->empty_round_count + 1 : 0;
    struct cgroup cpu_group;
    cgroup_set_cpu_path(l->cgroups, entry->id, identity->key, &cpu_group);
    bool is_done =
        entry->empty_round_count >= EMPTY_ROUNDS_MIN && cgroup_remove(&identity->cgroup) && cgroup_remove(&cpu_group);
    if (is_done) {
        end_as_lost(l, entry, d, entry->record, "its keeper was killed; then its other processes were killed");
    } else if (entry->round_count >= ORPHAN_ROUNDS_MAX) {
        end_as_lost(l, entry, d, entry->record, "its keeper was killed; some of its processes cannot be killed");
    }
}

/* --- reconciling -------------------------------------------------------------------------------------------------- */

static void end_as_never_ran(struct launches *l, uint32_t index, struct launch_dir *d, bool is_scan)
{
    struct launch_entry *entry = &l->list.items[index];
    struct cgroup group;
    (void)launch_dir_read_keeper(d, &group);
    (void)cgroup_remove_wait(&group);
    if (is_scan) {
        launch_dir_close(d);
        forget(l, index); /* the daemon will send it again */
        return;
    }
    write_end(l, entry, d,
              launch_record_refused(entry->id, clock_wall_us(),
                                    "its keeper ended before it started the job: it was killed, or the disk is full"));
}

static void reconcile_open(struct launches *l, uint32_t index, struct launch_dir *d, bool is_scan)
{
    struct launch_entry *entry = &l->list.items[index];
    struct buf start_text = {0};
    struct process_identity identity;
    struct launch_record record;
    struct err e;
    /* Locking comes before reading: if the keeper is gone, all that it wrote is there. */
    bool found = false, is_free = launch_dir_lock(d);
    int result = launch_dir_read_last(d, &record, &start_text, &found, &e);
    process_identity_parse((struct str){start_text.text, start_text.length}, &identity);
    buf_release(&start_text);
    /* Records after the start are not synced (record_log.c): a loss of power may have torn them. */
    if (result != 0 && found && !is_of_this_boot(l, &identity)) result = 0;
    if (result == 0 && found) update(l, entry, &record);
    /* Another program has written here, so the job's end is unknown. */
    if (result != 0 && is_free) end_as_lost(l, entry, d, (struct launch_record){.id = entry->id}, ERR_SENTENCE(&e));
    bool is_ended = entry->has_record && entry->record.phase == LAUNCH_ENDED;
    if (!is_free)
        find_keeper(l, entry, d);
    else if (is_ended)
        set_state(l, entry, ENTRY_ENDED);
    else if (found)
        reap_orphan(l, entry, d, &identity);
    else
        end_as_never_ran(l, index, d, is_scan);
}

/* The directory of the launch cannot be opened, because it was removed, and its keeper is gone. The daemon still waits
 * for the end, so the launch is reported as lost. */
static void reconcile_removed(struct launches *l, uint32_t index, bool is_scan)
{
    struct launch_entry *entry = &l->list.items[index];
    if (is_scan || entry->is_acknowledged) {
        forget(l, index);
        return;
    }
    struct launch_record record = entry->record;
    record.id = entry->id;
    record.phase = LAUNCH_ENDED;
    record.end = LAUNCH_LOST;
    record.at_us = clock_wall_us();
    launch_record_set_detail(&record, "the directory of its launch was removed: its end is unknown");
    set_state(l, entry, ENTRY_ENDED);
    update(l, entry, &record);
}

/* is_scan: the launcher starts, and has not forked a keeper for this launch. */
static void reconcile(struct launches *l, uint32_t index, bool is_scan)
{
    struct launch_dir d;
    struct launch_entry *entry = &l->list.items[index];
    if (launch_dir_open(l->spool, entry->id, &d, NULL)) {
        if (entry->keeper_pidfd < 0) reconcile_removed(l, index, is_scan);
        return;
    }
    uint64_t id = entry->id;
    reconcile_open(l, index, &d, is_scan);
    if (d.fd >= 0) launch_dir_close(&d);
    entry = find(l, id); /* it may have been forgotten, or the table may have moved */
    if (entry != NULL && entry->is_acknowledged && entry->state == ENTRY_ENDED && entry->keeper_pidfd < 0)
        forget(l, map_get_u64(&l->index_by_id, id));
}

int launches_scan(struct launches *l, struct err *e)
{
    struct launch_ids ids = {0};
    int result = spool_list_launches(l->spool, &ids, e);
    process_identity_read_boot_id(l->boot_id);
    for (uint32_t i = 0; i < ids.list.count; i++) {
        /* Known already: a directory of another name that reads as the same number, as "05". */
        if (find(l, ids.list.items[i]) == NULL) reconcile(l, add(l, ids.list.items[i]), true);
    }
    array_release(&ids.list);
    return result;
}

/* Reaps keepers that are children of this launcher. Their pidfds stay valid. */
static void reap_keepers(void)
{
    while (waitpid(-1, NULL, WNOHANG) > 0) continue;
}

void launches_tick(struct launches *l)
{
    reap_keepers();
    /* Backward, because forgetting an entry moves the last one to its index. */
    for (uint32_t i = l->list.count; i-- > 0 && l->needs_tick_count > 0;) {
        if (i < l->list.count && needs_tick(&l->list.items[i])) reconcile(l, i, false);
    }
}

void launches_on_keeper_exit(struct launches *l, uint64_t id)
{
    uint32_t index = map_get_u64(&l->index_by_id, id);
    if (index == NONE) return;
    reap_keepers();
    unwatch(&l->list.items[index]);
    reconcile(l, index, false);
}

void launches_on_record(struct launches *l, uint64_t id)
{
    struct launch_entry *entry = find(l, id);
    struct launch_dir d;
    if (entry == NULL || launch_dir_open(l->spool, id, &d, NULL)) return;
    struct buf start_text = {0};
    struct launch_record record;
    bool found = false;
    if (launch_dir_read_last(&d, &record, &start_text, &found, NULL) == 0 && found) update(l, entry, &record);
    buf_release(&start_text);
    launch_dir_close(&d);
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
                               .memory = memory,
                               .bytes = bytes};
    pid_t pid = fork();
    if (pid == 0) keeper_main(&task);
    int error_number = errno;
    launch_dir_close(d); /* the keeper has inherited the lock */
    if (pid < 0) {
        char detail[LAUNCH_DETAIL_SIZE];
        text_format(detail, sizeof detail, "cannot start a keeper: %s", strerror(error_number));
        forget(l, index);
        report_refused(l, launch->id, detail);
        return;
    }
    set_state(l, entry, watch(l, entry, pid) ? ENTRY_KEPT : ENTRY_KEEPER_UNKNOWN);
}

void launches_start(struct launches *l, const struct launch *launch, struct arena *memory, struct buf *bytes)
{
    struct launch_dir d;
    struct err e;
    struct launch_entry *known = find(l, launch->id);
    if (known != NULL) {
        report(l, known);
    } else if (launch_check(launch, &e) || check_identity(launch, &e) ||
               launch_dir_create(l->spool, launch->id, &d, &e)) {
        report_refused(l, launch->id, ERR_SENTENCE(&e)); /* I1: nothing is on disk */
    } else {
        start_keeper(l, add(l, launch->id), launch, &d, memory, bytes);
    }
}

/* Sends a line to the keeper of a launch. Does nothing if its keeper is gone, because then its end is reported
 * anyway. */
static void send_order(struct launches *l, uint64_t id, const char *line)
{
    struct launch_entry *entry = find(l, id);
    struct launch_dir d;
    if (entry == NULL || entry->state == ENTRY_ENDED || entry->state == ENTRY_ORPHANED) return;
    if (launch_dir_open(l->spool, id, &d, NULL)) return;
    (void)launch_dir_send(&d, line, NULL);
    launch_dir_close(&d);
}

void launches_end(struct launches *l, uint64_t id, int64_t grace_us)
{
    char line[40];
    if (grace_us < 0) grace_us = 0;
    if (grace_us > LAUNCH_GRACE_MAX_US) grace_us = LAUNCH_GRACE_MAX_US;
    text_format(line, sizeof line, "end %" PRId64 "\n", grace_us);
    send_order(l, id, line);
}

void launches_set_cpu_weight(struct launches *l, uint64_t id, uint32_t cpu_weight)
{
    char line[40];
    text_format(line, sizeof line, "weight %" PRIu32 "\n", cpu_weight);
    send_order(l, id, line);
}

void launches_set_time_limit(struct launches *l, uint64_t id, int64_t time_limit_us)
{
    char line[40];
    if (time_limit_us < 0 || time_limit_us > LAUNCH_TIME_LIMIT_MAX_US) return; /* a daemon sends none of these */
    text_format(line, sizeof line, "limit %" PRId64 "\n", time_limit_us);
    send_order(l, id, line);
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

/* A keeper that still runs afterwards has had its pid all the time (I3). */
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
        if (l->out != NULL && !has_exited(find(l, usage->id)->keeper_pidfd)) protocol_usage(l->out, usage);
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
        forget(l, index);
    else
        send_order(l, id, "committed\n");
}
