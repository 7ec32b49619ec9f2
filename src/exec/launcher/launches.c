/* What becomes of each launch, from the launcher's side.
 *
 *     START --> directory, lock, fork --> KEPT --pidfd--> settle --> ENDED --ACK--> directory removed
 *                                                            \--> LOSING --> ENDED (lost)
 *     an end is told as soon as it is written; an ACK while the keeper lives is passed on to it, and it goes
 *     at the launcher's start: each directory found --> settle
 *
 * settle() looks at the lock and at the records, and everything follows from these two (see I1 to I3 of spool.c):
 *
 *     lock held                   its keeper lives: watch it
 *     free, end record            ended
 *     free, start but no end      lost: kill what is left, write the end record in the keeper's place
 *     free, start of an earlier boot, and an end that cannot be read: power was lost before it was on disk; lost likewise
 *     free, no record             never ran: may be started under the same id
 *
 *  I1  A START makes a directory or does nothing: mkdir is what happens once.
 *  I2  An entry has a directory, and a directory has an entry, but for refusals before the first step on disk.
 *  I3  Nobody is signalled here by a process id that could be another's: orders go through the launch's fifo, watching
 *      through a pidfd that was opened while the lock was held.
 *  I4  restless counts the entries that are UNSURE or LOSING. */
#include "exec/launcher/launches.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ensure.h"
#include "exec/clock.h"
#include "exec/launcher/keeper.h"
#include "exec/launcher/orphans.h"
#include "exec/launcher/record_log.h"
#include "exec/protocol.h"

enum {
    LOSING_ROUNDS_MAX = 60 * 1000 / LAUNCHES_TICK_MS, /* a minute; who cannot be killed until then is reported */
    LOSING_QUIET = 2
};

/* ---- the table ---- */

static bool restless(const struct entry *entry)
{
    return entry->state == ENTRY_UNSURE || entry->state == ENTRY_LOSING;
}

static void set_state(struct launches *l, struct entry *entry, enum entry_state state)
{
    l->restless -= restless(entry);
    entry->state = state;
    l->restless += restless(entry); /* I4 */
}

static struct entry *find(struct launches *l, uint64_t id)
{
    uint32_t index = map_get_u64(&l->by_id, id);
    return index == NONE ? NULL : &l->list.items[index];
}

static uint32_t add(struct launches *l, uint64_t id)
{
    uint32_t index = l->list.count;
    *array_add(&l->list) = (struct entry){.id = id, .state = ENTRY_ENDED, .pidfd = -1};
    map_set_u64(&l->by_id, id, index);
    return index;
}

/* Removes the directory and the entry; the last entry takes its place. */
static void forget(struct launches *l, uint32_t index)
{
    struct entry *entry = &l->list.items[index];
    ensure(entry->pidfd < 0);
    launch_dir_remove(l->spool, entry->id);
    set_state(l, entry, ENTRY_ENDED);
    map_remove_u64(&l->by_id, entry->id);
    uint32_t last = --l->list.count;
    if (last == index) return;
    l->list.items[index] = l->list.items[last];
    map_set_u64(&l->by_id, l->list.items[index].id, index);
}

void launches_release(struct launches *l)
{
    for (uint32_t i = 0; i < l->list.count; i++) {
        if (l->list.items[i].pidfd >= 0) close(l->list.items[i].pidfd);
    }
    array_release(&l->list);
    map_release(&l->by_id);
}

bool launches_have_keeper(const struct launches *l)
{
    uint32_t i = 0;
    while (i < l->list.count && l->list.items[i].state != ENTRY_KEPT) i++;
    return i < l->list.count;
}

/* ---- telling ---- */

static void tell(struct launches *l, const struct entry *entry)
{
    if (l->out != NULL && entry->has_record && !entry->acknowledged) protocol_record(l->out, &entry->record);
}

void launches_report_all(struct launches *l)
{
    for (uint32_t i = 0; i < l->list.count; i++) tell(l, &l->list.items[i]);
}

/* Takes a record over, and tells it unless it is what was last told. */
static void update(struct launches *l, struct entry *entry, const struct launch_record *record)
{
    if (entry->has_record && entry->record.phase >= record->phase) return;
    entry->record = *record;
    entry->has_record = true;
    tell(l, entry);
}

static void refuse(struct launches *l, uint64_t id, const char *detail)
{
    struct launch_record record = launch_record_refused(id, clock_wall_us(), detail);
    if (l->out != NULL) protocol_record(l->out, &record);
}

/* ---- keepers ---- */

static bool watch(struct launches *l, struct entry *entry, pid_t pid)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = entry->id};
    entry->pidfd = (int)syscall(SYS_pidfd_open, pid, 0u); /* closes on exec by itself */
    if (entry->pidfd < 0) return false;
    if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, entry->pidfd, &event) == 0) return true;
    close(entry->pidfd);
    entry->pidfd = -1;
    return false;
}

static void unwatch(struct entry *entry)
{
    if (entry->pidfd < 0) return;
    close(entry->pidfd);
    entry->pidfd = -1;
}

/* The lock is held by a keeper that we may not know: find it. The number in the lock file is its own if the lock is
 * still held after the pidfd was opened (I3). */
static void find_keeper(struct launches *l, struct entry *entry, struct launch_dir *d)
{
    if (entry->pidfd < 0) {
        struct cgroup group;
        pid_t pid = launch_dir_read_keeper(d, &group);
        if (pid > 0 && watch(l, entry, pid) && launch_dir_lock(d)) unwatch(entry);
    }
    set_state(l, entry, entry->pidfd >= 0 ? ENTRY_KEPT : ENTRY_UNSURE);
}

/* ---- lost ones ---- */

static void write_end(struct launches *l, struct entry *entry, struct launch_dir *d, struct launch_record record)
{
    struct record_log journal = {.dir = d, .spool_fd = l->spool->fd};
    record.at_us = clock_wall_us();
    (void)record_log_write(&journal, record, NULL); /* not on disk: the next launcher comes to the same conclusion */
    set_state(l, entry, ENTRY_ENDED);
    update(l, entry, &record);
}

static void end_as_lost(struct launches *l, struct entry *entry, struct launch_dir *d, const char *detail)
{
    struct launch_record record = entry->record;
    record.phase = LAUNCH_ENDED;
    record.end = LAUNCH_LOST;
    launch_record_set_detail(&record, detail);
    write_end(l, entry, d, record);
}

static bool of_this_boot(const struct launches *l, const struct process_identity *traces)
{
    return strcmp(traces->boot_id, l->boot_id) == 0;
}

static void lose(struct launches *l, struct entry *entry, struct launch_dir *d, struct str start_text)
{
    struct process_identity traces;
    process_identity_parse(start_text, &traces);
    if (!of_this_boot(l, &traces)) {
        end_as_lost(l, entry, d, "the machine was restarted while it ran");
        return;
    }
    uint32_t alive = orphans_kill(&entry->record, &traces);
    set_state(l, entry, ENTRY_LOSING);
    entry->rounds++;
    entry->quiet = alive == 0 ? entry->quiet + 1 : 0;
    struct cgroup cpu;
    cgroup_set_cpu_path(l->cgroups, entry->id, traces.key, &cpu);
    bool over = entry->quiet >= LOSING_QUIET && cgroup_remove(&traces.cgroup) && cgroup_remove(&cpu);
    if (over) {
        end_as_lost(l, entry, d, "its keeper was killed; what was left of it has been ended");
    } else if (entry->rounds >= LOSING_ROUNDS_MAX) {
        end_as_lost(l, entry, d, "its keeper was killed, and not all that was left of it could be ended");
    }
}

/* ---- settling ---- */

static void never_ran(struct launches *l, uint32_t index, struct launch_dir *d, bool at_start)
{
    struct entry *entry = &l->list.items[index];
    struct cgroup group;
    (void)launch_dir_read_keeper(d, &group);
    (void)cgroup_remove_wait(&group);
    if (at_start) {
        launch_dir_close(d);
        forget(l, index); /* the daemon will send it again */
        return;
    }
    write_end(l, entry, d,
              launch_record_refused(entry->id, clock_wall_us(),
                                    "its keeper ended before the job was started (killed, or the disk is full)"));
}

/* Something else has written here. What the job did is not known. */
static void unreadable(struct launches *l, struct entry *entry, struct launch_dir *d, const char *why)
{
    struct launch_record record = {.id = entry->id, .phase = LAUNCH_ENDED, .end = LAUNCH_LOST};
    launch_record_set_detail(&record, why);
    write_end(l, entry, d, record);
}

/* Whether what follows a start may have been cut off by a loss of power: it is not synced (journal.c). */
static bool may_be_torn(const struct launches *l, struct str start_text)
{
    struct process_identity traces;
    process_identity_parse(start_text, &traces);
    return !of_this_boot(l, &traces);
}

static void settle_open(struct launches *l, uint32_t index, struct launch_dir *d, bool at_start)
{
    struct entry *entry = &l->list.items[index];
    struct buf start_text = {0};
    struct launch_record record;
    struct err e;
    bool found = false, free = launch_dir_lock(d); /* before reading: what a keeper that is gone wrote is all there */
    int result = launch_dir_read_last(d, &record, &start_text, &found, &e);
    if (result != 0 && found && may_be_torn(l, (struct str){start_text.text, start_text.length})) result = 0;
    if (result == 0 && found) update(l, entry, &record);
    if (result != 0 && free) unreadable(l, entry, d, ERR_SENTENCE(&e));
    bool ended = entry->has_record && entry->record.phase == LAUNCH_ENDED;
    if (!free)
        find_keeper(l, entry, d);
    else if (ended)
        set_state(l, entry, ENTRY_ENDED);
    else if (found)
        lose(l, entry, d, (struct str){start_text.text, start_text.length});
    else
        never_ran(l, index, d, at_start);
    buf_release(&start_text);
}

/* Its directory cannot be opened any more, and its keeper is gone: somebody removed it. That it ended is known all the
 * same, and who waits for that has to hear it. */
static void settle_removed(struct launches *l, uint32_t index, bool at_start)
{
    struct entry *entry = &l->list.items[index];
    if (at_start || entry->acknowledged) {
        forget(l, index);
        return;
    }
    struct launch_record record = entry->record;
    record.id = entry->id;
    record.phase = LAUNCH_ENDED;
    record.end = LAUNCH_LOST;
    record.at_us = clock_wall_us();
    launch_record_set_detail(&record, "the directory of its launch was removed; how it ended is not known");
    set_state(l, entry, ENTRY_ENDED);
    update(l, entry, &record);
}

static void settle(struct launches *l, uint32_t index, bool at_start)
{
    struct launch_dir d;
    struct entry *entry = &l->list.items[index];
    if (launch_dir_open(l->spool, entry->id, &d, NULL)) {
        if (entry->pidfd < 0) settle_removed(l, index, at_start);
        return;
    }
    uint64_t id = entry->id;
    settle_open(l, index, &d, at_start);
    if (d.fd >= 0) launch_dir_close(&d);
    entry = find(l, id);
    if (entry != NULL && entry->acknowledged && entry->state == ENTRY_ENDED && entry->pidfd < 0)
        forget(l, map_get_u64(&l->by_id, id));
}

int launches_scan(struct launches *l, struct err *e)
{
    struct launch_ids ids = {0};
    int result = spool_list_launches(l->spool, &ids, e);
    process_identity_read_boot_id(l->boot_id);
    for (uint32_t i = 0; i < ids.list.count; i++) settle(l, add(l, ids.list.items[i]), true);
    array_release(&ids.list);
    return result;
}

/* Keepers that are our children leave a process table entry. (Their pidfds stay valid.) */
static void reap(void)
{
    while (waitpid(-1, NULL, WNOHANG) > 0) continue;
}

void launches_tick(struct launches *l)
{
    reap();
    for (uint32_t i = l->list.count; i-- > 0 && l->restless > 0;) {
        if (i < l->list.count && restless(&l->list.items[i])) settle(l, i, false);
    }
}

void launches_on_keeper_exit(struct launches *l, uint64_t id)
{
    uint32_t index = map_get_u64(&l->by_id, id);
    if (index == NONE) return;
    reap();
    unwatch(&l->list.items[index]);
    settle(l, index, false);
}

void launches_on_record(struct launches *l, uint64_t id)
{
    struct entry *entry = find(l, id);
    struct launch_dir d;
    if (entry == NULL || launch_dir_open(l->spool, id, &d, NULL)) return;
    struct buf start_text = {0};
    struct launch_record record;
    bool found = false;
    if (launch_dir_read_last(&d, &record, &start_text, &found, NULL) == 0 && found) update(l, entry, &record);
    buf_release(&start_text);
    launch_dir_close(&d);
}

/* ---- what the daemon asks for ---- */

static int check_identity(const struct launch *launch, struct err *e)
{
    if (launch->uid != geteuid() || launch->gid != getegid()) {
        return err_set(e, ERR_DENIED,
                       "this launcher serves user %u, group %u alone; it starts nothing as user %u, group %u",
                       geteuid(), getegid(), launch->uid, launch->gid);
    }
    return 0;
}

static void start_keeper(struct launches *l, uint32_t index, const struct launch *launch, struct launch_dir *d,
                         struct arena *memory, struct buf *bytes)
{
    struct entry *entry = &l->list.items[index];
    struct keeper_task task = {.launch = launch,
                               .dir = *d,
                               .spool = l->spool,
                               .cgroups = l->cgroups,
                               .inherited = l->inherited,
                               .memory = memory,
                               .bytes = bytes};
    pid_t pid = fork();
    if (pid == 0) keeper_main(&task);
    int why = errno;
    launch_dir_close(d); /* the keeper has the lock now */
    if (pid < 0) {
        char detail[LAUNCH_DETAIL_SIZE];
        text_format(detail, sizeof detail, "cannot start a keeper: %s", strerror(why));
        forget(l, index);
        refuse(l, launch->id, detail);
        return;
    }
    set_state(l, entry, watch(l, entry, pid) ? ENTRY_KEPT : ENTRY_UNSURE);
}

void launches_start(struct launches *l, const struct launch *launch, struct arena *memory, struct buf *bytes)
{
    struct launch_dir d;
    struct err e;
    struct entry *known = find(l, launch->id);
    if (known != NULL) {
        tell(l, known);
    } else if (launch_check(launch, &e) || check_identity(launch, &e) ||
               launch_dir_create(l->spool, launch->id, &d, &e)) {
        refuse(l, launch->id, ERR_SENTENCE(&e)); /* I1: nothing is on disk */
    } else {
        start_keeper(l, add(l, launch->id), launch, &d, memory, bytes);
    }
}

/* A line for the keeper of a launch; nothing where there is no keeper any more: its end is on its way. */
static void order(struct launches *l, uint64_t id, const char *line)
{
    struct entry *entry = find(l, id);
    struct launch_dir d;
    if (entry == NULL || entry->state == ENTRY_ENDED || entry->state == ENTRY_LOSING) return;
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
    order(l, id, line);
}

void launches_set_cpu_weight(struct launches *l, uint64_t id, uint32_t cpu_weight)
{
    char line[40];
    text_format(line, sizeof line, "weight %" PRIu32 "\n", cpu_weight);
    order(l, id, line);
}

void launches_acknowledge(struct launches *l, uint64_t id)
{
    uint32_t index = map_get_u64(&l->by_id, id);
    if (index == NONE) return;
    struct entry *entry = &l->list.items[index];
    if (!entry->has_record || entry->record.phase != LAUNCH_ENDED) return;
    entry->acknowledged = true;
    if (entry->pidfd < 0 && entry->state == ENTRY_ENDED)
        forget(l, index);
    else
        order(l, id, "committed\n");
}
