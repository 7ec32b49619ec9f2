#include "exec/launcher/launch_ends.h"

#include <string.h>

#include "base/ensure.h"
#include "exec/clock.h"
#include "exec/launcher/job_groups.h"
#include "exec/launcher/log_text.h"
#include "exec/launcher/orphans.h"

enum {
    ORPHAN_ROUNDS_MAX = 60 * 1000 / LAUNCHES_TICK_MS, /* a minute; then the orphans that are left are reported */
    EMPTY_ROUNDS_MIN = 2,                             /* in a row, before the launch counts as ended */
    SWEEPS_MAX = 60                                   /* of groups that are not empty yet */
};

void launch_ends_write(struct launches *l, struct launch_entry *entry, struct launch_record record)
{
    ensure(record.phase == LAUNCH_ENDED);
    launch_record_set_time(&record, l->boot_id);
    if (entry->segment != NULL) {
        struct buf line = {0};
        log_text_add_record(&line, &record);
        (void)segment_append(entry->segment, (struct str){line.text, line.length}, NULL);
        buf_release(&line);
    }
    launches_set_ended(l, entry);
    launches_update(l, entry, &record);
}

void launch_ends_write_lost(struct launches *l, struct launch_entry *entry, struct launch_record record,
                            const char *detail)
{
    record.phase = LAUNCH_ENDED;
    record.end = LAUNCH_LOST;
    launch_record_set_detail(&record, detail);
    launch_ends_write(l, entry, record);
}

void launch_ends_write_never_ran(struct launches *l, struct launch_entry *entry)
{
    static const char detail[] = "its keeper ended before it started the job: it was killed, or the disk is full";
    launch_ends_write(l, entry, launch_record_never_ran(entry->id, LAUNCH_UNAVAILABLE, detail));
}

void launch_ends_write_copied(struct launches *l, struct launch_entry *entry)
{
    launch_ends_write_lost(l, entry, entry->record,
                           "its directory was copied while it ran; it may still run where it was started");
}

bool launch_ends_is_of_this_boot(const struct launches *l, const struct process_identity *identity)
{
    return strcmp(identity->boot_id, l->boot_id) == 0;
}

/* In version 1 a process that is stopped by a control group does not end when it is killed. */
static void thaw(const struct launches *l, const struct launch_entry *entry)
{
    struct job_groups groups;
    job_groups_find(l->cgroups, entry->id, entry->identity, &groups);
    (void)cgroup_freeze(&groups.freezer, false);
}

/* Its orphans are killed by launches_tick. */
void launch_ends_begin_orphaned(struct launches *l, struct launch_entry *entry, const struct process_identity *identity)
{
    if (!launch_ends_is_of_this_boot(l, identity)) {
        launch_ends_write_lost(l, entry, entry->record, "the machine was restarted while it ran");
        return;
    }
    if (entry->identity == NULL) entry->identity = mem_resize(NULL, 0, sizeof *entry->identity);
    if (entry->identity != identity) *entry->identity = *identity;
    thaw(l, entry);
    launches_set_state(l, entry, ENTRY_ORPHANED);
}

/* What is known of the end of a launch whose keeper was killed: the keeper had written down that it ends the launch for
 * its memory, or the kernel has killed a process of it for that. */
static bool was_out_of_memory(const struct launch_entry *entry)
{
    return entry->record.end == LAUNCH_OUT_OF_MEMORY || entry->has_kernel_kill;
}

/* what: became of the launch's processes. If it was to be ended, and this launcher had to kill its keeper for that, its
 * end is not lost. */
static void end_orphaned(struct launches *l, struct launch_entry *entry, const char *what)
{
    bool was_stopped = entry->stop_count >= LAUNCH_STOPS_MAX;
    struct launch_record record = entry->record;
    char detail[LAUNCH_DETAIL_SIZE];
    text_format(detail, sizeof detail, "its keeper was %s; %s",
                was_stopped ? "stopped again and again, and was killed" : "killed", what);
    record.phase = LAUNCH_ENDED;
    record.end = was_stopped && entry->has_end_order ? LAUNCH_CANCELLED : LAUNCH_LOST;
    if (was_out_of_memory(entry)) record.end = LAUNCH_OUT_OF_MEMORY;
    if (entry->record.end != LAUNCH_OUT_OF_MEMORY) launch_record_set_detail(&record, detail);
    launch_ends_write(l, entry, record);
}

/* One round of killing the orphans of a launch has found alive_count. The launch ends when EMPTY_ROUNDS_MIN rounds in a
 * row found none and its control groups could be removed, or after ORPHAN_ROUNDS_MAX rounds. */
static void note_round(struct launches *l, struct launch_entry *entry, uint32_t alive_count)
{
    struct job_groups groups;
    job_groups_find(l->cgroups, entry->id, entry->identity, &groups);
    if (job_groups_kernel_kill(&groups, entry->identity) == KERNEL_KILL_OWN_LIMIT) entry->has_kernel_kill = true;
    entry->round_count++;
    entry->empty_round_count = alive_count == 0 ? entry->empty_round_count + 1 : 0;
    bool is_done = entry->empty_round_count >= EMPTY_ROUNDS_MIN && job_groups_remove(&groups, entry->identity);
    if (is_done)
        end_orphaned(l, entry, "then its other processes were killed");
    else if (entry->round_count >= ORPHAN_ROUNDS_MAX)
        end_orphaned(l, entry, "some of its processes cannot be killed");
}

/* The kernel removes processes from a group some time after they have ended, so a group may have to be tried again. */
static void begin_sweeps(struct launches *l)
{
    l->group_sweep_count = SWEEPS_MAX;
    launches_retry_later(l);
}

/* Whether all of them are removed. */
static bool remove_unremoved(struct launches *l)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->unremoved.count; i++) {
        const struct unremoved_groups left = l->unremoved.items[i];
        struct job_groups groups;
        job_groups_find(l->cgroups, left.launch_id, &left.identity, &groups);
        if (!job_groups_remove(&groups, &left.identity)) l->unremoved.items[kept++] = left;
    }
    l->unremoved.count = kept;
    return kept == 0;
}

void launch_ends_sweep_groups(struct launches *l)
{
    struct job_group_ids found = {0};
    struct buf text = {0};
    bool is_complete = remove_unremoved(l);
    spool_read_instance_id(l->spool, &text);
    const struct str instance_id = {text.text, text.length};
    job_groups_list(l->cgroups, instance_id, &found);
    for (uint32_t i = 0; i < found.list.count; i++) {
        const struct launch_entry *entry = launches_find(l, found.list.items[i]);
        if (entry != NULL && entry->state != ENTRY_ENDED) continue;
        is_complete &= job_groups_remove_left(l->cgroups, instance_id, found.list.items[i]);
    }
    l->group_sweep_count = is_complete || l->group_sweep_count == 0 ? 0 : l->group_sweep_count - 1;
    if (l->group_sweep_count > 0)
        launches_retry_later(l);
    else
        array_release(&l->unremoved);
    array_release(&found.list);
    buf_release(&text);
}

void launch_ends_remove_groups(struct launches *l, const struct launch_entry *entry)
{
    struct job_groups groups;
    job_groups_find(l->cgroups, entry->id, entry->identity, &groups);
    if (job_groups_remove(&groups, entry->identity)) return;
    *array_add(&l->unremoved) = (struct unremoved_groups){entry->id, *entry->identity};
    begin_sweeps(l);
}

void launch_ends_find_groups(struct launches *l)
{
    begin_sweeps(l);
    launch_ends_sweep_groups(l);
}

void launch_ends_kill_orphans(struct launches *l)
{
    ARRAY(struct orphan_launch) orphans = {0};
    ARRAY(uint64_t) ids = {0};
    for (uint32_t i = 0; i < l->list.count; i++) {
        const struct launch_entry *entry = &l->list.items[i];
        if (entry->state != ENTRY_ORPHANED) continue;
        *array_add(&orphans) = (struct orphan_launch){.first_pid = entry->record.pid, .identity = entry->identity};
        *array_add(&ids) = entry->id;
    }
    if (ids.count > 0) orphans_kill(orphans.items, orphans.count);
    for (uint32_t i = 0; i < ids.count; i++) {
        note_round(l, launches_find(l, ids.items[i]), orphans.items[i].alive_count);
        launches_forget_if_done(l, ids.items[i]);
    }
    array_release(&orphans);
    array_release(&ids);
}
