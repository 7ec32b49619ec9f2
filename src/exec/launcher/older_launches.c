/* The lock and the records of a directory decide (I1 to I3 of spool.c):
 *
 *     locked                      its keeper runs: watch it
 *     free, end record            ended
 *     free, start but no end      orphaned: kill what is left, write the end record in the keeper's place
 *     free, start in another directory     this one is a copy: the job belongs to the other one. It is lost here, and
 *                                          nothing is killed
 *     free, start of an earlier boot, end that cannot be read     power was lost before the end was on disk: orphaned
 *     free, no record             never ran: may be started with the same id
 *     removed                     lost: another program has removed it
 *     cannot be opened or read    nothing is known (shortage.h): looked at again after LAUNCHES_RETRY_MS
 *
 *  I1  No process is signalled by a pid that could be another's: a keeper is watched through a pidfd that was opened
 *      while the keeper had the lock. */
#include "exec/launcher/older_launches.h"

#include "exec/clock.h"
#include "exec/launcher/keeper_process.h"
#include "exec/launcher/launch_ends.h"
#include "exec/launcher/process_title.h"

/* The directory is locked by a keeper that may be unknown: finds it. The pid in the lock file is the keeper's if the
 * directory is still locked after the pidfd was opened (I1). */
static void find_keeper(struct launches *l, struct launch_entry *entry, struct launch_dir *d)
{
    if (entry->keeper_pid == 0) {
        struct cgroup group;
        pid_t pid = launch_dir_read_keeper(d, &group);
        if (pid > 0 && launches_watch(l, entry, pid) && launch_dir_lock(d)) launches_unwatch(l, entry);
    }
    launches_set_state(l, entry, entry->keeper_pid != 0 ? ENTRY_KEPT : ENTRY_KEEPER_UNKNOWN);
}

static void end_as_never_ran(struct launches *l, uint32_t index, struct launch_dir *d)
{
    struct launch_entry *entry = &l->list.items[index];
    struct cgroup group;
    (void)launch_dir_read_keeper(d, &group);
    (void)cgroup_remove_wait(&group);
    if (entry->is_of_scan) {
        launch_dir_close(d);
        launches_forget(l, index); /* the daemon will send it again */
        return;
    }
    launch_ends_write_never_ran(l, entry);
}

/* Whether its keeper runs is not known either, unless it is watched. */
static void set_unreadable(struct launches *l, struct launch_entry *entry)
{
    if (entry->keeper_pid != 0)
        entry->is_unread = true;
    else
        launches_set_state(l, entry, ENTRY_UNREADABLE);
    launches_retry_later(l);
}

/* Whether a launch of this boot was started in another directory than the one that has its record now. Records of older
 * keepers do not say where; then the keeper itself does, as long as it runs. */
static bool is_copied(const struct launches *l, const struct launch_dir *d, const struct process_identity *identity)
{
    struct cgroup unused;
    if (!launch_ends_is_of_this_boot(l, identity)) return false;
    if (identity->place.inode != 0) return !launch_dir_is(d, identity->place);
    return process_title_is(launch_dir_read_keeper(d, &unused), KEEPER_NAME);
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
    /* Records after the start are not synced: a loss of power may have torn them. */
    if (result != 0 && found && !launch_ends_is_of_this_boot(l, &identity)) result = 0;
    if (result == 0 && found) launches_update(l, entry, &record);
    /* Another program has written here, so the job's end is unknown. */
    if (result != 0 && is_free)
        launch_ends_write_lost(l, entry, (struct launch_record){.id = entry->id}, ERR_SENTENCE(&e));
    bool is_ended = entry->has_record && entry->record.phase == LAUNCH_ENDED;
    if (!is_free)
        find_keeper(l, entry, d);
    else if (is_ended)
        launches_set_ended(l, entry);
    else if (found && is_copied(l, d, &identity))
        launch_ends_write_copied(l, entry);
    else if (found)
        launch_ends_begin_orphaned(l, entry, &identity);
    else
        end_as_never_ran(l, index, d);
}

/* The directory of the launch was removed, and its keeper is gone. The daemon still waits for the end, so the launch is
 * reported as lost. */
static void reconcile_removed(struct launches *l, uint32_t index)
{
    struct launch_entry *entry = &l->list.items[index];
    if (entry->is_of_scan || entry->is_acknowledged) {
        launches_forget(l, index);
        return;
    }
    struct launch_record record = entry->record;
    record.id = entry->id;
    record.phase = LAUNCH_ENDED;
    record.end = LAUNCH_LOST;
    launch_record_set_time(&record, l->boot_id);
    launch_record_set_detail(&record, "the directory of its launch was removed: its end is unknown");
    launches_set_ended(l, entry);
    launches_update(l, entry, &record);
}

void older_launch_reconcile(struct launches *l, uint32_t index)
{
    struct launch_dir d;
    struct launch_entry *entry = &l->list.items[index];
    struct err e;
    if (launch_dir_open(l->spool, entry->id, &d, &e)) {
        if (e.code != ERR_NOT_FOUND)
            set_unreadable(l, entry);
        else if (entry->keeper_pid == 0)
            reconcile_removed(l, index);
        return;
    }
    uint64_t id = entry->id;
    entry->is_unread = false;
    reconcile_open(l, index, &d);
    if (d.fd >= 0) launch_dir_close(&d);
    entry = launches_find(l, id); /* it may have been forgotten, or the table may have moved */
    if (entry != NULL && entry->state != ENTRY_UNREADABLE) entry->is_of_scan = false;
    launches_forget_if_done(l, id);
}

/* A notice that cannot be followed now is followed later: it may be the last one. */
void older_launch_read(struct launches *l, struct launch_entry *entry)
{
    struct launch_dir d;
    struct err e;
    if (launch_dir_open(l->spool, entry->id, &d, &e)) {
        if (e.code != ERR_NOT_FOUND) set_unreadable(l, entry);
        return;
    }
    struct launch_record record;
    bool found = false;
    int result = launch_dir_read_newest(&d, &record, &found, &e);
    if (result == 0 && found) launches_update(l, entry, &record);
    if (result != 0 && e.code == ERR_UNAVAILABLE) set_unreadable(l, entry);
    launch_dir_close(&d);
}

bool older_launch_send(const struct launches *l, const struct launch_entry *entry, const char *line)
{
    struct launch_dir d;
    if (launch_dir_open(l->spool, entry->id, &d, NULL)) return false;
    bool is_sent = launch_dir_send(&d, line, NULL) == 0;
    launch_dir_close(&d);
    return is_sent;
}

int older_launches_scan(struct launches *l, struct err *e)
{
    struct launch_ids ids = {0};
    int result = spool_list_launches(l->spool, &ids, e);
    for (uint32_t i = 0; i < ids.list.count; i++) {
        /* Known already: a directory of another name that reads as the same number, as "05". */
        if (launches_find(l, ids.list.items[i]) != NULL) continue;
        uint32_t index = launches_add(l, ids.list.items[i], NULL);
        l->list.items[index].is_of_scan = true;
        older_launch_reconcile(l, index);
    }
    array_release(&ids.list);
    return result;
}
