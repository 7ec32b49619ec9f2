/* The lock of the keeper and the lines in the segment decide:
 *
 *     locked                      its keeper runs: watch it
 *     free, ended                 ended
 *     free, started, no end       orphaned: kill what is left, append the end in the keeper's place
 *     free, started in another directory     this one is a copy: the job belongs to the other one. It is lost here, and
 *                                            nothing is killed
 *     free, not started, but the segment was truncated     lost: it may have run
 *     free, not started           never ran: may be started with the same id
 *     of an earlier boot, not started     lost: only the start line was synced, so it may have run
 *
 *  I1  A lock is looked at before the segment is read: if the keeper is gone, all that it wrote is there. */
#include "exec/launcher/launch_reconcile.h"

#include "base/number.h"
#include "exec/clock.h"
#include "exec/launcher/idle_keepers.h"
#include "exec/launcher/job_groups.h"
#include "exec/launcher/kept_launches.h"
#include "exec/launcher/launch_ends.h"
#include "exec/launcher/memory_watch.h"
#include "exec/launcher/older_launches.h"
#include "exec/record.h"

/* --- lines -------------------------------------------------------------------------------------------------------- */

/* The same id a second time: the launch never ran the first time; or a segment was copied. Then the first one stays if
 * it has a record or a keeper, and the records of all count. */
static void replace_start(struct launches *l, struct launch_entry *known)
{
    known->has_copy = true;
    if (known->has_record || segments_find_keeper(&l->segments, known->id) != 0) return;
    if (known->is_of_scan && known->keeper_pid == 0) launches_forget(l, map_get_u64(&l->index_by_id, known->id));
}

/* False, and *out stays, unless the line exists and its number is from 1 to max. */
static bool read_number(struct str fields, const char *name, int64_t max, int64_t *out)
{
    int64_t value;
    if (!number_parse_i64(record_value(fields, name), &value) || value < 1 || value > max) return false;
    *out = value;
    return true;
}

static void take_start(struct launches *l, struct log_segment *g, uint64_t id, struct str fields)
{
    struct launch_entry *known = launches_find(l, id);
    bool is_second = known != NULL;
    if (g->is_own) return;
    if (is_second) replace_start(l, known);
    if (launches_find(l, id) != NULL) return;
    uint32_t index = launches_add(l, id, g);
    struct launch_entry *entry = &l->list.items[index];
    entry->is_of_scan = true;
    entry->has_copy = is_second;
    entry->has_script = str_equal(record_value(fields, "script"), str("1"));
    entry->identity = mem_resize(NULL, 0, sizeof *entry->identity);
    process_identity_parse(fields, entry->identity);
    if (read_number(fields, "mem_poll_us", LAUNCH_MEM_POLL_MAX_US, &entry->mem_poll_us) &&
        read_number(fields, "mem_limit_kib", LAUNCH_MEM_LIMIT_MAX_KIB, &entry->mem_limit_kib))
        memory_watch_add(l, entry);
}

static void take_record(struct launches *l, const struct log_segment *g, struct str fields)
{
    struct launch_record record;
    if (record_parse(fields, &record, NULL)) return;
    struct launch_entry *entry = launches_find(l, record.id);
    if (entry == NULL || (entry->segment != g && !entry->has_copy)) return;
    if (record.phase == LAUNCH_STARTED && entry->identity != NULL) entry->identity->running_boot_us = record.at_boot_us;
    launches_update(l, entry, &record);
    if (record.phase != LAUNCH_ENDED || entry->next_fd < 0) return;
    idle_keepers_add(l, entry);
    launches_set_ended(l, entry);
    launches_forget_if_done(l, record.id);
}

/* Other lines are those of a newer launcher. */
static void take_line(struct launches *l, struct log_segment *g, struct str fields)
{
    uint64_t id;
    struct str rest, value, name = str_cut(str_cut(fields, '\n', &rest), '=', &value);
    if (!number_parse_u64(value, &id) || id < 1 || id > INT64_MAX) return;
    if (str_equal(name, str("id"))) {
        take_record(l, g, fields);
    } else if (str_equal(name, str("start"))) {
        take_start(l, g, id, rest);
    } else if (str_equal(name, str("acknowledged"))) {
        const struct launch_entry *entry = launches_find(l, id);
        if (entry != NULL && entry->is_of_scan && entry->segment == g)
            launches_forget(l, map_get_u64(&l->index_by_id, id));
    }
}

static void take_lines(struct launches *l, struct log_segment *g)
{
    for (struct str fields; (fields = segment_next(g)).text != NULL;) take_line(l, g, fields);
}

void launch_reconcile_read(struct launches *l)
{
    for (uint32_t i = 0; i < l->segments.list.count; i++) {
        struct log_segment *g = l->segments.list.items[i];
        if (!g->wants_read) continue;
        g->wants_read = !segment_read(g);
        if (g->wants_read) launches_retry_later(l);
        take_lines(l, g);
    }
}

/* --- what became of a launch -------------------------------------------------------------------------------------- */

static bool is_copied(const struct launches *l, const struct launch_entry *entry)
{
    const struct process_identity_place at = entry->identity->place, own = l->segments.place;
    return at.inode != 0 && own.inode != 0 && (at.device != own.device || at.inode != own.inode);
}

/* Watches the keeper that has the lock, if there is one. The pid is the keeper's if it still has the lock after the
 * pidfd was opened. False: there is none. */
static bool find_keeper(struct launches *l, struct launch_entry *entry)
{
    pid_t pid = segments_find_keeper(&l->segments, entry->id);
    entry->is_hidden = pid == SEGMENTS_KEEPER_HIDDEN;
    if (pid == 0) return false;
    if (pid > 0 && launches_watch(l, entry, pid) && segments_find_keeper(&l->segments, entry->id) != pid)
        launches_unwatch(l, entry);
    launches_set_state(l, entry, entry->keeper_pid != 0 ? ENTRY_KEPT : ENTRY_KEEPER_UNKNOWN);
    return true;
}

static void end_as_never_ran(struct launches *l, uint32_t index)
{
    struct launch_entry *entry = &l->list.items[index];
    if (launch_ends_is_of_this_boot(l, entry->identity) && !is_copied(l, entry)) launch_ends_remove_groups(l, entry);
    if (entry->is_of_scan) {
        launches_forget(l, index); /* the daemon will send it again */
        return;
    }
    launch_ends_write_never_ran(l, entry);
}

static void reconcile_in_log(struct launches *l, uint32_t index)
{
    struct launch_entry *entry = &l->list.items[index];
    uint64_t id = entry->id;
    bool may_run = entry->identity != NULL && launch_ends_is_of_this_boot(l, entry->identity) && !is_copied(l, entry);
    if (may_run && find_keeper(l, entry)) {
        entry->is_of_scan = false;
        if (entry->is_record_due) kept_launches_note_start(l, entry);
        return;
    }
    entry->is_record_due = false;
    entry->segment->wants_read = true; /* I1 */
    for (uint32_t i = 0; entry->has_copy && i < l->segments.list.count; i++)
        l->segments.list.items[i]->wants_read = true;
    launch_reconcile_read(l);
    entry = launches_find(l, id);
    if (entry == NULL) return;
    if (entry->segment->wants_read) { /* it cannot be read now, so it may say that the launch has started or ended */
        launches_set_state(l, entry, ENTRY_KEEPER_UNKNOWN);
        return;
    }
    if (entry->has_record && entry->record.phase == LAUNCH_ENDED)
        launches_set_ended(l, entry);
    else if (!entry->has_record && !launch_ends_is_of_this_boot(l, entry->identity))
        launch_ends_write_lost(l, entry, (struct launch_record){.id = id},
                               "the machine was restarted while it started");
    else if (!entry->has_record && (entry->segment->is_cut || !segment_has_start(entry->segment, id)))
        launch_ends_write_lost(l, entry, (struct launch_record){.id = id},
                               "the record log was cut while it ran: its end is unknown");
    else if (!entry->has_record)
        end_as_never_ran(l, map_get_u64(&l->index_by_id, id));
    else if (launch_ends_is_of_this_boot(l, entry->identity) && is_copied(l, entry))
        launch_ends_write_copied(l, entry);
    else
        launch_ends_begin_orphaned(l, entry, entry->identity);
    entry = launches_find(l, id);
    if (entry != NULL) entry->is_of_scan = false;
    launches_forget_if_done(l, id);
}

void launch_reconcile(struct launches *l, uint32_t index)
{
    if (l->list.items[index].segment == NULL)
        older_launch_reconcile(l, index);
    else
        reconcile_in_log(l, index);
}

/* Walks backward, because forgetting an entry moves the last one to its index. */
static void reconcile_found(struct launches *l)
{
    for (uint32_t i = l->list.count; i-- > 0;) {
        if (i < l->list.count && l->list.items[i].is_of_scan && l->list.items[i].segment != NULL)
            launch_reconcile(l, i);
    }
}

void launch_reconcile_scan(struct launches *l)
{
    l->is_log_unread = segments_scan(&l->segments, NULL) != 0;
    for (uint32_t i = 0; i < l->segments.list.count; i++) take_lines(l, l->segments.list.items[i]);
    kept_launches_find(l, take_lines);
    reconcile_found(l);
    if (l->is_log_unread) launches_retry_later(l);
}
