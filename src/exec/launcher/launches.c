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
 *     free, start but no end      orphaned: kill what is left, write the end record in the keeper's place; all launches
 *                                 that are orphaned share one scan of /proc (launches_tick)
 *     free, start of an earlier boot, end that cannot be read     power was lost before the end was on disk: orphaned
 *     free, no record             never ran: may be started with the same id
 *     removed                     lost: another program has removed it
 *     cannot be opened or read    nothing is known (shortage.h): looked at again after LAUNCHES_RETRY_MS
 *
 * A job runs as the keeper's user in a private instance, so it can stop its keeper. The kernel tells the launcher,
 * which is its parent and continues it. A keeper that is stopped STOPS_MAX times is killed: it could enforce no limit.
 *
 *  I1  A START creates a directory or has no effect: mkdir succeeds only once.
 *  I2  Every entry has a directory and every directory an entry, but for launches that were refused before they had a
 *      directory.
 *  I3  The launcher signals no process by a pid that could be another's: orders go through the launch's fifo, and a
 *      keeper is watched through a pidfd that was opened while the keeper had the lock.
 *  I4  needs_tick_count is the number of entries that are KEEPER_UNKNOWN or ORPHANED.
 *  I5  An order to end is kept in its entry until the launch has ended, and a time limit until it was sent, because
 *      they may not reach the keeper at first. */
#include "exec/launcher/launches.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
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
    EMPTY_ROUNDS_MIN = 2,                             /* in a row, before the launch counts as ended */
    STOPS_MAX = 100                                   /* of one keeper; then it is killed */
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

static void set_ended(struct launches *l, struct launch_entry *entry)
{
    set_state(l, entry, ENTRY_ENDED);
    mem_free(entry->orphan);
    entry->orphan = NULL;
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

/* To be called after a failure that may pass: launches_tick looks at the entry again. */
static void retry_later(struct launches *l)
{
    l->wants_retry = true;
}

static void signal_keeper(const struct launch_entry *entry, int signal)
{
    (void)syscall(SYS_pidfd_send_signal, entry->keeper_pidfd, signal, NULL, 0u);
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
    set_ended(l, entry);
    map_remove_u64(&l->index_by_id, entry->id);
    uint32_t last = --l->list.count;
    if (last == index) return;
    l->list.items[index] = l->list.items[last];
    map_set_u64(&l->index_by_id, l->list.items[index].id, index);
}

/* Forgets a launch, if it is still known, whose end is acknowledged and whose keeper is gone. */
static void forget_if_done(struct launches *l, uint64_t id)
{
    const struct launch_entry *entry = find(l, id);
    if (entry != NULL && entry->is_acknowledged && entry->state == ENTRY_ENDED && entry->keeper_pidfd < 0)
        forget(l, map_get_u64(&l->index_by_id, id));
}

void launches_release(struct launches *l)
{
    for (uint32_t i = 0; i < l->list.count; i++) {
        unwatch(&l->list.items[i]);
        mem_free(l->list.items[i].orphan);
    }
    array_release(&l->list);
    map_release(&l->index_by_id);
}

bool launches_are_read(const struct launches *l)
{
    for (uint32_t i = 0; i < l->list.count && l->wants_retry; i++) {
        if (l->list.items[i].state == ENTRY_UNREADABLE || l->list.items[i].is_unread) return false;
    }
    return true;
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

static void report_never_ran(struct launches *l, uint64_t id, enum launch_end end, const char *detail)
{
    struct launch_record record = launch_record_never_ran(id, end, detail);
    launch_record_set_time(&record, l->boot_id);
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
static void write_end(struct launches *l, struct launch_entry *entry, const struct launch_dir *d,
                      struct launch_record record)
{
    struct record_log log = {.dir = d, .spool_fd = l->spool->fd};
    ensure(record.phase == LAUNCH_ENDED);
    launch_record_set_time(&record, l->boot_id);
    (void)record_log_write(&log, record, NULL);
    set_ended(l, entry);
    update(l, entry, &record);
}

static void end_as_lost(struct launches *l, struct launch_entry *entry, const struct launch_dir *d,
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

/* Its orphans are killed by launches_tick. */
static void set_orphaned(struct launches *l, struct launch_entry *entry, struct launch_dir *d,
                         const struct process_identity *identity)
{
    if (!is_of_this_boot(l, identity)) {
        end_as_lost(l, entry, d, entry->record, "the machine was restarted while it ran");
        return;
    }
    if (entry->orphan == NULL) entry->orphan = mem_resize(NULL, 0, sizeof *entry->orphan);
    *entry->orphan = *identity;
    set_state(l, entry, ENTRY_ORPHANED);
}

/* what: became of the launch's processes. If it was to be ended, and this launcher had to kill its keeper for that, its
 * end is not lost. */
static void end_orphaned(struct launches *l, struct launch_entry *entry, const char *what)
{
    bool was_stopped = entry->stop_count >= STOPS_MAX;
    struct launch_dir d = {.id = entry->id, .fd = -1, .lock_fd = -1, .control_fd = -1};
    struct launch_record record = entry->record;
    char detail[LAUNCH_DETAIL_SIZE];
    text_format(detail, sizeof detail, "its keeper was %s; %s",
                was_stopped ? "stopped again and again, and was killed" : "killed", what);
    (void)launch_dir_open(l->spool, entry->id, &d, NULL); /* if it was removed, the end is only reported */
    record.phase = LAUNCH_ENDED;
    record.end = was_stopped && entry->has_end_order ? LAUNCH_CANCELLED : LAUNCH_LOST;
    launch_record_set_detail(&record, detail);
    write_end(l, entry, &d, record);
    if (d.fd >= 0) launch_dir_close(&d);
}

/* One round of killing the orphans of a launch has found alive_count. The launch ends when EMPTY_ROUNDS_MIN rounds in a
 * row found none and its control groups could be removed, or after ORPHAN_ROUNDS_MAX rounds. */
static void note_round(struct launches *l, struct launch_entry *entry, uint32_t alive_count)
{
    struct cgroup cpu_group;
    cgroup_set_cpu_path(l->cgroups, entry->id, entry->orphan->key, &cpu_group);
    entry->round_count++;
    entry->empty_round_count = alive_count == 0 ? entry->empty_round_count + 1 : 0;
    bool is_done = entry->empty_round_count >= EMPTY_ROUNDS_MIN && cgroup_remove(&entry->orphan->cgroup) &&
                   cgroup_remove(&cpu_group);
    if (is_done)
        end_orphaned(l, entry, "then its other processes were killed");
    else if (entry->round_count >= ORPHAN_ROUNDS_MAX)
        end_orphaned(l, entry, "some of its processes cannot be killed");
}

static void kill_orphans(struct launches *l)
{
    ARRAY(struct orphan_launch) orphans = {0};
    ARRAY(uint64_t) ids = {0};
    for (uint32_t i = 0; i < l->list.count; i++) {
        const struct launch_entry *entry = &l->list.items[i];
        if (entry->state != ENTRY_ORPHANED) continue;
        *array_add(&orphans) = (struct orphan_launch){.first_pid = entry->record.pid, .identity = entry->orphan};
        *array_add(&ids) = entry->id;
    }
    if (ids.count > 0) orphans_kill(orphans.items, orphans.count);
    for (uint32_t i = 0; i < ids.count; i++) {
        note_round(l, find(l, ids.items[i]), orphans.items[i].alive_count);
        forget_if_done(l, ids.items[i]);
    }
    array_release(&orphans);
    array_release(&ids);
}

/* --- orders to keepers -------------------------------------------------------------------------------------------- */

/* Sends a line to the keeper of a launch. False: it cannot be sent now, or its keeper is gone, and its end is reported
 * anyway. */
static bool send_order(struct launches *l, const struct launch_entry *entry, const char *line)
{
    struct launch_dir d;
    if (entry->state == ENTRY_ENDED || entry->state == ENTRY_ORPHANED) return false;
    if (launch_dir_open(l->spool, entry->id, &d, NULL)) return false;
    bool is_sent = launch_dir_send(&d, line, NULL) == 0;
    launch_dir_close(&d);
    return is_sent;
}

/* Sends the order to end unless that was done, and continues the keeper, in case it is stopped (I5). */
static void order_end(struct launches *l, struct launch_entry *entry)
{
    char line[40];
    text_format(line, sizeof line, "end %" PRId64 "\n", entry->end_grace_us);
    if (!entry->is_order_sent) entry->is_order_sent = send_order(l, entry, line);
    if (entry->keeper_pidfd >= 0) signal_keeper(entry, SIGCONT);
    retry_later(l);
}

/* Sends the newest time limit, later if it cannot be sent now (I5). */
static void order_limit(struct launches *l, struct launch_entry *entry)
{
    char line[40];
    text_format(line, sizeof line, "limit %" PRId64 "\n", entry->time_limit_us);
    entry->is_limit_due = !send_order(l, entry, line);
    if (entry->is_limit_due) retry_later(l);
}

/* --- reconciling -------------------------------------------------------------------------------------------------- */

static void end_as_never_ran(struct launches *l, uint32_t index, struct launch_dir *d)
{
    struct launch_entry *entry = &l->list.items[index];
    struct cgroup group;
    (void)launch_dir_read_keeper(d, &group);
    (void)cgroup_remove_wait(&group);
    if (entry->is_of_scan) {
        launch_dir_close(d);
        forget(l, index); /* the daemon will send it again */
        return;
    }
    write_end(
        l, entry, d,
        launch_record_never_ran(entry->id, LAUNCH_UNAVAILABLE,
                                "its keeper ended before it started the job: it was killed, or the disk is full"));
}

/* Whether its keeper runs is not known either, unless it is watched. */
static void set_unreadable(struct launches *l, struct launch_entry *entry)
{
    if (entry->keeper_pidfd >= 0)
        entry->is_unread = true;
    else
        set_state(l, entry, ENTRY_UNREADABLE);
    retry_later(l);
}

static void reconcile_open(struct launches *l, uint32_t index, struct launch_dir *d)
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
    if (result != 0 && e.code == ERR_UNAVAILABLE) {
        set_unreadable(l, entry);
        return;
    }
    /* Records after the start are not synced (record_log.c): a loss of power may have torn them. */
    if (result != 0 && found && !is_of_this_boot(l, &identity)) result = 0;
    if (result == 0 && found) update(l, entry, &record);
    /* Another program has written here, so the job's end is unknown. */
    if (result != 0 && is_free) end_as_lost(l, entry, d, (struct launch_record){.id = entry->id}, ERR_SENTENCE(&e));
    bool is_ended = entry->has_record && entry->record.phase == LAUNCH_ENDED;
    if (!is_free)
        find_keeper(l, entry, d);
    else if (is_ended)
        set_ended(l, entry);
    else if (found)
        set_orphaned(l, entry, d, &identity);
    else
        end_as_never_ran(l, index, d);
}

/* The directory of the launch was removed, and its keeper is gone. The daemon still waits
 * for the end, so the launch is reported as lost. */
static void reconcile_removed(struct launches *l, uint32_t index)
{
    struct launch_entry *entry = &l->list.items[index];
    if (entry->is_of_scan || entry->is_acknowledged) {
        forget(l, index);
        return;
    }
    struct launch_record record = entry->record;
    record.id = entry->id;
    record.phase = LAUNCH_ENDED;
    record.end = LAUNCH_LOST;
    launch_record_set_time(&record, l->boot_id);
    launch_record_set_detail(&record, "the directory of its launch was removed: its end is unknown");
    set_ended(l, entry);
    update(l, entry, &record);
}

static void reconcile(struct launches *l, uint32_t index)
{
    struct launch_dir d;
    struct launch_entry *entry = &l->list.items[index];
    struct err e;
    if (launch_dir_open(l->spool, entry->id, &d, &e)) {
        if (e.code != ERR_NOT_FOUND)
            set_unreadable(l, entry);
        else if (entry->keeper_pidfd < 0)
            reconcile_removed(l, index);
        return;
    }
    uint64_t id = entry->id;
    entry->is_unread = false;
    reconcile_open(l, index, &d);
    if (d.fd >= 0) launch_dir_close(&d);
    entry = find(l, id); /* it may have been forgotten, or the table may have moved */
    if (entry != NULL && entry->state != ENTRY_UNREADABLE) entry->is_of_scan = false;
    forget_if_done(l, id);
}

int launches_scan(struct launches *l, struct err *e)
{
    struct launch_ids ids = {0};
    int result = spool_list_launches(l->spool, &ids, e);
    process_identity_read_boot_id(l->boot_id);
    for (uint32_t i = 0; i < ids.list.count; i++) {
        /* Known already: a directory of another name that reads as the same number, as "05". */
        if (find(l, ids.list.items[i]) != NULL) continue;
        uint32_t index = add(l, ids.list.items[i]);
        l->list.items[index].is_of_scan = true;
        reconcile(l, index);
    }
    array_release(&ids.list);
    return result;
}

/* Continues a keeper that was stopped. */
static void on_stop(struct launch_entry *entry)
{
    signal_keeper(entry, ++entry->stop_count < STOPS_MAX ? SIGCONT : SIGKILL);
}

static struct launch_entry *find_by_keeper(struct launches *l, pid_t pid)
{
    for (uint32_t i = 0; i < l->list.count; i++) {
        if (l->list.items[i].keeper_pidfd >= 0 && l->list.items[i].child_pid == pid) return &l->list.items[i];
    }
    return NULL;
}

/* Reaps keepers that are children of this launcher. Their pidfds stay valid. */
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
        if (entry->is_limit_due && may_be_kept) order_limit(l, entry);
        if (entry->has_end_order && may_be_kept) order_end(l, entry);
        if (entry->state == ENTRY_UNREADABLE || entry->is_unread) reconcile(l, i);
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
        if (l->list.items[i].state == ENTRY_KEEPER_UNKNOWN) reconcile(l, i);
    }
    kill_orphans(l);
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
    unwatch(entry);
    if (entry->has_record && entry->record.phase == LAUNCH_ENDED) {
        set_ended(l, entry); /* the last record is known, so nothing on disk is newer */
        forget_if_done(l, id);
    } else {
        reconcile(l, index);
    }
}

/* A notice that cannot be followed now is followed later: it may be the last one. */
void launches_on_record(struct launches *l, uint64_t id)
{
    struct launch_entry *entry = find(l, id);
    struct launch_dir d;
    struct err e;
    if (entry == NULL) return;
    if (launch_dir_open(l->spool, id, &d, &e)) {
        if (e.code != ERR_NOT_FOUND) set_unreadable(l, entry);
        return;
    }
    struct launch_record record;
    bool found = false;
    int result = launch_dir_read_newest(&d, &record, &found, &e);
    if (result == 0 && found) update(l, entry, &record);
    if (result != 0 && e.code == ERR_UNAVAILABLE) set_unreadable(l, entry);
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
        forget(l, index);
        report_never_ran(l, launch->id, LAUNCH_UNAVAILABLE, detail);
        return;
    }
    entry->child_pid = pid;
    set_state(l, entry, watch(l, entry, pid) ? ENTRY_KEPT : ENTRY_KEEPER_UNKNOWN);
}

void launches_start(struct launches *l, const struct launch *launch, struct arena *memory, struct buf *bytes)
{
    struct launch_dir d;
    struct err e;
    struct launch_entry *known = find(l, launch->id);
    if (known != NULL) {
        report(l, known);
    } else if (launch_check(launch, &e) || check_identity(launch, &e)) {
        report_never_ran(l, launch->id, LAUNCH_REFUSED, ERR_SENTENCE(&e));
    } else if (launch_dir_create(l->spool, launch->id, &d, &e)) { /* I1: nothing is on disk, or it is another's */
        report_never_ran(l, launch->id, e.code == ERR_EXISTS ? LAUNCH_REFUSED : LAUNCH_UNAVAILABLE, ERR_SENTENCE(&e));
    } else {
        start_keeper(l, add(l, launch->id), launch, &d, memory, bytes);
    }
}

void launches_end(struct launches *l, uint64_t id, int64_t grace_us)
{
    struct launch_entry *entry = find(l, id);
    if (entry == NULL || entry->state == ENTRY_ENDED) return;
    if (grace_us < 0) grace_us = 0;
    if (grace_us > LAUNCH_GRACE_MAX_US) grace_us = LAUNCH_GRACE_MAX_US;
    if (entry->has_end_order && grace_us >= entry->end_grace_us) return;
    entry->end_grace_us = grace_us;
    entry->has_end_order = true;
    entry->is_order_sent = false;
    order_end(l, entry);
}

void launches_set_cpu_weight(struct launches *l, uint64_t id, uint32_t cpu_weight)
{
    char line[40];
    const struct launch_entry *entry = find(l, id);
    text_format(line, sizeof line, "weight %" PRIu32 "\n", cpu_weight);
    if (entry != NULL) (void)send_order(l, entry, line);
}

void launches_set_time_limit(struct launches *l, uint64_t id, int64_t time_limit_us)
{
    struct launch_entry *entry = find(l, id);
    if (time_limit_us < 0 || time_limit_us > LAUNCH_TIME_LIMIT_MAX_US) return; /* a daemon sends none of these */
    if (entry == NULL) return;
    entry->time_limit_us = time_limit_us;
    order_limit(l, entry);
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
        if (running.items[i].is_stopped) on_stop(find(l, usage->id));
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
        (void)send_order(l, entry, "committed\n"); /* without it, the keeper syncs the end and exits */
}
