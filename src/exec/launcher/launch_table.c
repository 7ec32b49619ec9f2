/*  I1  needs_tick_count is the number of entries that are KEEPER_UNKNOWN or ORPHANED.
 *  I2  index_by_id has exactly the ids of the list. */
#include "exec/launcher/launch_table.h"

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/ensure.h"
#include "exec/clock.h"
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
    mem_free(entry->orphan);
    entry->orphan = NULL;
}

struct launch_entry *launches_find(struct launches *l, uint64_t id)
{
    uint32_t index = map_get_u64(&l->index_by_id, id);
    return index == NONE ? NULL : &l->list.items[index];
}

uint32_t launches_add(struct launches *l, uint64_t id)
{
    uint32_t index = l->list.count;
    ensure(launches_find(l, id) == NULL);
    *array_add(&l->list) = (struct launch_entry){.id = id, .state = ENTRY_ENDED, .keeper_pidfd = -1};
    map_set_u64(&l->index_by_id, id, index);
    return index;
}

void launches_retry_later(struct launches *l)
{
    l->wants_retry = true;
}

void launch_entry_signal(const struct launch_entry *entry, int signal)
{
    (void)syscall(SYS_pidfd_send_signal, entry->keeper_pidfd, signal, NULL, 0u);
}

void launch_entry_unwatch(struct launch_entry *entry)
{
    if (entry->keeper_pidfd >= 0) close(entry->keeper_pidfd);
    mem_free(entry->keeper_group);
    entry->keeper_pidfd = -1;
    entry->keeper_pid = 0;
    entry->keeper_group = NULL;
}

void launches_forget(struct launches *l, uint32_t index)
{
    struct launch_entry *entry = &l->list.items[index];
    ensure(entry->keeper_pidfd < 0);
    launch_dir_remove(l->spool, entry->id);
    launches_set_ended(l, entry);
    map_remove_u64(&l->index_by_id, entry->id);
    uint32_t last = --l->list.count;
    if (last == index) return;
    l->list.items[index] = l->list.items[last];
    map_set_u64(&l->index_by_id, l->list.items[index].id, index);
}

void launches_forget_if_done(struct launches *l, uint64_t id)
{
    const struct launch_entry *entry = launches_find(l, id);
    if (entry != NULL && entry->is_acknowledged && entry->state == ENTRY_ENDED && entry->keeper_pidfd < 0)
        launches_forget(l, map_get_u64(&l->index_by_id, id));
}

void launches_release(struct launches *l)
{
    for (uint32_t i = 0; i < l->list.count; i++) {
        launch_entry_unwatch(&l->list.items[i]);
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

void launches_report(struct launches *l, const struct launch_entry *entry)
{
    if (l->out != NULL && entry->has_record && !entry->is_acknowledged) protocol_record(l->out, &entry->record);
}

void launches_report_all(struct launches *l)
{
    for (uint32_t i = 0; i < l->list.count; i++) launches_report(l, &l->list.items[i]);
}

void launches_update(struct launches *l, struct launch_entry *entry, const struct launch_record *record)
{
    if (entry->has_record && entry->record.phase >= record->phase) return;
    entry->record = *record;
    entry->has_record = true;
    launches_report(l, entry);
}

void launches_report_never_ran(struct launches *l, uint64_t id, enum launch_end end, const char *detail)
{
    struct launch_record record = launch_record_never_ran(id, end, detail);
    launch_record_set_time(&record, l->boot_id);
    if (l->out != NULL) protocol_record(l->out, &record);
}

bool launches_watch(struct launches *l, struct launch_entry *entry, pid_t pid)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = entry->id};
    entry->keeper_pidfd = (int)syscall(SYS_pidfd_open, pid, 0u); /* the kernel sets close-on-exec */
    if (entry->keeper_pidfd < 0) return false;
    if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, entry->keeper_pidfd, &event) == 0) return true;
    close(entry->keeper_pidfd);
    entry->keeper_pidfd = -1;
    return false;
}
