/*  I1  needs_tick_count is the number of entries that are KEEPER_UNKNOWN or ORPHANED, unsynced_end_count that of those
 *      with an end that is not synced, and a segment's launch_count that of its entries.
 *  I2  index_by_id has exactly the ids of the list, and index_by_child the keepers that have no pidfd.
 *  I3  A process is signalled by its pid only if it is a child that has not been waited for, and otherwise by a pidfd
 *      that was opened while it had the lock of a keeper. */
#include "exec/launcher/launch_table.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/ensure.h"
#include "exec/clock.h"
#include "exec/launcher/job_script.h"
#include "exec/protocol.h"

static bool needs_tick(const struct launch_entry *entry)
{
    return entry->state == ENTRY_KEEPER_UNKNOWN || entry->state == ENTRY_ORPHANED;
}

void launches_set_state(struct launches *l, struct launch_entry *entry, enum launch_entry_state state)
{
    l->needs_tick_count -= needs_tick(entry);
    entry->state = state;
    l->needs_tick_count += needs_tick(entry); /* I1 */
}

void launches_set_ended(struct launches *l, struct launch_entry *entry)
{
    launches_set_state(l, entry, ENTRY_ENDED);
    mem_free(entry->identity);
    entry->identity = NULL;
}

struct launch_entry *launches_find(struct launches *l, uint64_t id)
{
    if (id > INT64_MAX) return NULL; /* from a daemon, or from another program that writes into the fifo of events */
    uint32_t index = map_get_u64(&l->index_by_id, id);
    return index == NONE ? NULL : &l->list.items[index];
}

uint32_t launches_add(struct launches *l, uint64_t id, struct log_segment *segment)
{
    uint32_t index = l->list.count;
    ensure(launches_find(l, id) == NULL);
    *array_add(&l->list) =
        (struct launch_entry){.id = id, .state = ENTRY_ENDED, .segment = segment, .keeper_pidfd = -1, .next_fd = -1};
    if (segment != NULL) segment->launch_count++;
    map_set_u64(&l->index_by_id, id, index);
    return index;
}

void launches_retry_later(struct launches *l)
{
    l->wants_retry = true;
}

/* --- keepers ------------------------------------------------------------------------------------------------------ */

bool launches_watch(struct launches *l, struct launch_entry *entry, pid_t pid)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = entry->id};
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0u); /* the kernel sets close-on-exec */
    if (pidfd < 0) return false;
    if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, pidfd, &event) < 0) {
        close(pidfd);
        return false;
    }
    entry->keeper_pidfd = pidfd;
    entry->keeper_pid = pid;
    return true;
}

void launches_watch_child(struct launches *l, struct launch_entry *entry, pid_t pid)
{
    entry->keeper_pid = pid;
    entry->keeper_since_us = clock_boot_us();
    map_set_u64(&l->index_by_child, (uint64_t)pid, (uint32_t)(entry - l->list.items));
}

static bool is_child(const struct launch_entry *entry)
{
    return entry->keeper_pid != 0 && entry->keeper_pidfd < 0;
}

void launches_unwatch(struct launches *l, struct launch_entry *entry)
{
    if (is_child(entry)) map_remove_u64(&l->index_by_child, (uint64_t)entry->keeper_pid);
    if (entry->keeper_pidfd >= 0) close(entry->keeper_pidfd);
    if (entry->next_fd >= 0) {
        close(entry->next_fd);
        l->next_fd_count--;
    }
    entry->keeper_pidfd = entry->next_fd = -1;
    entry->keeper_pid = 0;
}

void launch_entry_signal(const struct launch_entry *entry, int signal)
{
    if (is_child(entry)) /* I3 */
        (void)kill(entry->keeper_pid, signal);
    else if (entry->keeper_pid != 0)
        (void)syscall(SYS_pidfd_send_signal, entry->keeper_pidfd, signal, NULL, 0u);
}

bool launch_entry_order(const struct launch_entry *entry, enum keeper_order order, int64_t value)
{
    const int signal = KEEPER_ORDER_SIGNAL + (int)order;
    siginfo_t info = {.si_signo = signal, .si_code = SI_QUEUE, .si_errno = keeper_order_tag(entry->id)};
    if (entry->keeper_pid == 0) return false;
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = (void *)(intptr_t)value;
    if (is_child(entry)) return syscall(SYS_rt_sigqueueinfo, entry->keeper_pid, signal, &info) == 0;
    return syscall(SYS_pidfd_send_signal, entry->keeper_pidfd, signal, &info, 0u) == 0;
}

/* --- the end of an entry ------------------------------------------------------------------------------------------ */

static void remove_files(const struct launches *l, const struct launch_entry *entry)
{
    if (entry->segment == NULL) launch_dir_remove(l->spool, entry->id);
    if (entry->has_script) job_script_remove(l->spool, entry->id);
}

void launches_forget(struct launches *l, uint32_t index)
{
    struct launch_entry *entry = &l->list.items[index];
    ensure(entry->keeper_pid == 0);
    remove_files(l, entry);
    launches_set_ended(l, entry);
    launches_set_end_synced(l, entry);
    if (entry->segment != NULL) entry->segment->launch_count--; /* I1 */
    map_remove_u64(&l->index_by_id, entry->id);
    uint32_t last = --l->list.count;
    if (last == index) return;
    l->list.items[index] = l->list.items[last];
    map_set_u64(&l->index_by_id, l->list.items[index].id, index);
    if (is_child(&l->list.items[index]))
        map_set_u64(&l->index_by_child, (uint64_t)l->list.items[index].keeper_pid, index);
}

void launches_forget_if_done(struct launches *l, uint64_t id)
{
    const struct launch_entry *entry = launches_find(l, id);
    if (entry != NULL && entry->is_acknowledged && entry->state == ENTRY_ENDED && entry->keeper_pid == 0)
        launches_forget(l, map_get_u64(&l->index_by_id, id));
}

void launches_release(struct launches *l)
{
    for (uint32_t i = 0; i < l->list.count; i++) {
        launches_unwatch(l, &l->list.items[i]);
        mem_free(l->list.items[i].identity);
    }
    array_release(&l->list);
    array_release(&l->unremoved);
    array_release(&l->starting);
    array_release(&l->idle);
    array_release(&l->reports_due);
    map_release(&l->index_by_id);
    map_release(&l->index_by_child);
    buf_release(&l->instance_id);
    segments_release(&l->segments);
}

bool launches_are_read(const struct launches *l)
{
    if (l->is_log_unread || l->seeks_strays) return false;
    for (uint32_t i = 0; i < l->list.count && l->wants_retry; i++) {
        const struct launch_entry *entry = &l->list.items[i];
        if (entry->state == ENTRY_UNREADABLE || entry->is_unread || entry->is_record_due) return false;
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

void launches_report(struct launches *l, const struct launch_entry *entry)
{
    if (l->out != NULL && entry->has_record && !entry->is_acknowledged) protocol_record(l->out, &entry->record);
}

void launches_report_all(struct launches *l)
{
    for (uint32_t i = 0; i < l->list.count; i++) {
        launches_report(l, &l->list.items[i]);
        l->list.items[i].is_report_due = false;
    }
}

void launches_update(struct launches *l, struct launch_entry *entry, const struct launch_record *record)
{
    if (entry->has_record && entry->record.phase >= record->phase) return;
    entry->record = *record;
    entry->has_record = true;
    if (record->phase == LAUNCH_ENDED && entry->segment != NULL) {
        entry->is_end_unsynced = true;
        entry->end_seen_us = clock_boot_us();
        l->unsynced_end_count++; /* I1 */
    }
    if (!entry->is_report_due) *array_add(&l->reports_due) = entry->id;
    entry->is_report_due = true;
}

void launches_report_due(struct launches *l)
{
    for (uint32_t i = 0; i < l->reports_due.count; i++) {
        struct launch_entry *entry = launches_find(l, l->reports_due.items[i]);
        if (entry == NULL || !entry->is_report_due) continue;
        entry->is_report_due = false;
        launches_report(l, entry);
    }
    array_clear(&l->reports_due);
}

void launches_set_end_synced(struct launches *l, struct launch_entry *entry)
{
    l->unsynced_end_count -= entry->is_end_unsynced;
    entry->is_end_unsynced = false;
}

void launches_report_never_ran(struct launches *l, uint64_t id, enum launch_end end, const char *detail)
{
    struct launch_record record = launch_record_never_ran(id, end, detail);
    launch_record_set_time(&record, l->boot_id);
    if (l->out != NULL) protocol_record(l->out, &record);
}
