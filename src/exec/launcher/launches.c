/* The life of a launch, as the launcher sees it.
 *
 *     START --> start line --fork--> KEPT --its keeper exits--> reconcile --> ENDED --ACK--> forgotten
 *                      \--> to a keeper that is idle --its end is read--> ENDED, and the keeper is idle again
 *                                                                    \--> ORPHANED --> ENDED (lost)
 *     When the launcher starts: each start line without an ACK --> reconcile
 *
 * A start line is synced LAUNCHES_START_MS later, together with all others since: what survives power loss is the
 * daemon's commit, which comes before its START (ARCHITECTURE.md). An end is reported as soon as it is read, and synced
 * if the daemon has not committed it LAUNCHES_COMMIT_MS later.
 *
 * launch_table.c has the entries, launch_reconcile.c reads what is on disk, launch_ends.c ends what has no keeper,
 * launch_orders.c sends orders to keepers, and older_launches.c serves what an older launcher has started.
 *
 * A job runs as the keeper's user in a private instance, so it can stop its keeper. The kernel tells the launcher,
 * which is its parent and continues it. A keeper that is stopped LAUNCH_STOPS_MAX times is killed: it could enforce no
 * limit.
 *
 *  I1  A START of an id that has an entry has no effect. One without an entry has no record that says that it may run.
 *  I2  No keeper is forked before the start line of its launch is written, into a segment that has been synced, and
 *      of which no sync has failed: a disk that cannot be synced starts nothing. */
#include "exec/launcher/launches.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/clock.h"
#include "exec/launcher/idle_keepers.h"
#include "exec/launcher/job_groups.h"
#include "exec/launcher/job_terminal.h"
#include "exec/launcher/keeper.h"
#include "exec/launcher/kept_launches.h"
#include "exec/launcher/launch_ends.h"
#include "exec/launcher/launch_orders.h"
#include "exec/launcher/launch_reconcile.h"
#include "exec/launcher/log_text.h"
#include "exec/launcher/measure.h"
#include "exec/launcher/memory_watch.h"
#include "exec/launcher/older_launches.h"
#include "exec/launcher/process_clone.h"
#include "exec/launcher/strays.h"
#include "exec/protocol.h"

enum {
    STRAY_KEEPER_ROUNDS = 1000 / LAUNCHES_TICK_MS,  /* then a stray keeper that has not ended by itself is killed */
    STRAY_ROUNDS_MAX = 60 * 1000 / LAUNCHES_TICK_MS /* a minute; then what cannot be killed is left alone */
};

/* Ends the keepers that no record leads to. They are known once those of all records are. */
static void end_strays(struct launches *l)
{
    if (!l->seeks_strays || l->is_log_unread) return;
    uint32_t count = strays_kill(l, l->stray_round_count > STRAY_KEEPER_ROUNDS);
    l->stray_round_count += count != UINT32_MAX;
    l->seeks_strays = count > 0 && l->stray_round_count < STRAY_ROUNDS_MAX;
}

int launches_scan(struct launches *l, struct err *e)
{
    process_identity_read_boot_id(l->boot_id);
    if (segments_init(&l->segments, l->spool, e)) return -1;
    launch_reconcile_scan(l);
    if (older_launches_scan(l, e)) return -1;
    l->seeks_strays = true;
    end_strays(l);
    launch_ends_find_groups(l);
    job_terminal_sweep(l->spool->launches_fd);
    return 0;
}

/* --- keepers that stop or end ------------------------------------------------------------------------------------- */

/* Continues a keeper that was stopped. */
static void on_stop(struct launch_entry *entry)
{
    launch_entry_signal(entry, ++entry->stop_count < LAUNCH_STOPS_MAX ? SIGCONT : SIGKILL);
}

/* No keeper is watched any more. */
static void on_exit_of(struct launches *l, uint64_t id)
{
    uint32_t index = map_get_u64(&l->index_by_id, id);
    if (index == NONE) return;
    struct launch_entry *entry = &l->list.items[index];
    if (entry->has_record && entry->record.phase == LAUNCH_ENDED) {
        if (entry->identity != NULL) launch_ends_remove_groups(l, entry); /* of a keeper that was killed */
        launches_set_ended(l, entry); /* the last record is known, so nothing on disk is newer */
        launches_forget_if_done(l, id);
    } else {
        launch_reconcile(l, index);
    }
}

/* Reaps keepers that are children of this launcher, and continues those that were stopped. The segments of all are read
 * once. */
void launches_on_child(struct launches *l)
{
    ARRAY(uint64_t) ended = {0};
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
        uint32_t index = map_get_u64(&l->index_by_child, (uint64_t)pid);
        struct launch_entry *entry = index == NONE ? NULL : &l->list.items[index];
        if (entry != NULL && WIFSTOPPED(status)) on_stop(entry);
        if (entry == NULL) idle_keepers_on_child(l, pid, status);
        if (entry == NULL || WIFSTOPPED(status)) continue;
        launches_unwatch(l, entry);
        if (WIFSIGNALED(status)) idle_keepers_remove_left(l, &entry->left), job_terminal_sweep(l->spool->launches_fd);
        entry->segment->wants_read = true;
        *array_add(&ended) = entry->id;
    }
    launch_reconcile_read(l);
    for (uint32_t i = 0; i < ended.count; i++) on_exit_of(l, ended.items[i]);
    array_release(&ended);
}

void launches_on_keeper_exit(struct launches *l, uint64_t id)
{
    struct launch_entry *entry = launches_find(l, id);
    if (entry == NULL) return;
    launches_unwatch(l, entry);
    on_exit_of(l, id);
}

void launches_on_notices(struct launches *l, const uint64_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct launch_entry *entry = launches_find(l, ids[i]);
        if (entry != NULL && entry->segment != NULL) entry->segment->wants_read = true;
        if (entry != NULL && entry->segment == NULL) older_launch_read(l, entry);
    }
    launch_reconcile_read(l);
}

/* --- what has to be done again ------------------------------------------------------------------------------------ */

/* What could not be read, and orders that are not carried out yet. */
static void retry(struct launches *l)
{
    l->wants_retry = false;
    if (l->group_sweep_count > 0) launch_ends_sweep_groups(l);
    if (l->is_log_unread) launch_reconcile_scan(l);
    launch_reconcile_read(l);
    for (uint32_t i = l->list.count; i-- > 0;) {
        struct launch_entry *entry = &l->list.items[i];
        bool may_be_kept = entry->state == ENTRY_KEPT || entry->state == ENTRY_KEEPER_UNKNOWN;
        if (entry->is_limit_due && may_be_kept) launch_orders_repeat_limit(l, entry);
        if (entry->has_end_order && may_be_kept) launch_orders_repeat_end(l, entry);
        if (entry->is_weight_due && may_be_kept) launch_orders_repeat_weight(l, entry);
        if (entry->is_suspension_due && may_be_kept) launch_orders_repeat_suspension(l, entry);
        if (entry->is_signal_due && may_be_kept) launch_orders_repeat_signal(l, entry);
        if (entry->is_record_due) kept_launches_note_start(l, entry);
        if (entry->state == ENTRY_UNREADABLE || entry->is_unread) launch_reconcile(l, i);
    }
    l->retry_us = clock_boot_us() + (int64_t)LAUNCHES_RETRY_MS * US_PER_MS;
}

/* Syncs the segments of ends that the daemon has not committed in time. One that cannot be synced is tried again. */
static void sync_ends(struct launches *l, int64_t now_us)
{
    const int64_t due_us = now_us - (int64_t)LAUNCHES_COMMIT_MS * US_PER_MS;
    for (uint32_t i = 0; i < l->list.count; i++) {
        const struct launch_entry *entry = &l->list.items[i];
        if (entry->is_end_unsynced && entry->end_seen_us <= due_us) entry->segment->wants_sync = true;
    }
    for (uint32_t i = 0; i < l->segments.list.count; i++) {
        struct log_segment *g = l->segments.list.items[i];
        g->wants_sync = g->wants_sync && segment_sync(g, NULL) == 0;
    }
    for (uint32_t i = 0; i < l->list.count; i++) {
        struct launch_entry *entry = &l->list.items[i];
        if (entry->is_end_unsynced && entry->segment->wants_sync) launches_set_end_synced(l, entry);
    }
    for (uint32_t i = 0; i < l->segments.list.count; i++) l->segments.list.items[i]->wants_sync = false;
    l->sync_us = now_us + (int64_t)LAUNCHES_COMMIT_MS * US_PER_MS / 2;
}

static void sync_starts(struct launches *l)
{
    for (uint32_t i = 0; i < l->segments.list.count; i++) {
        struct log_segment *g = l->segments.list.items[i];
        if (g->has_unsynced) (void)segment_sync(g, NULL);
    }
    l->start_sync_us = 0;
}

/* Tables are walked backward, because forgetting an entry moves the last one to its index. */
static void look_again(struct launches *l)
{
    int64_t now_us = clock_boot_us();
    if (l->wants_retry && now_us >= l->retry_us) retry(l);
    if (l->start_sync_us != 0 && now_us >= l->start_sync_us) sync_starts(l);
    if (l->unsynced_end_count > 0 && now_us >= l->sync_us) sync_ends(l, now_us);
    if ((l->needs_tick_count == 0 && !l->seeks_strays) || now_us < l->tick_us) return;
    launches_on_child(l);
    for (uint32_t i = l->list.count; i-- > 0;) {
        if (i < l->list.count && l->list.items[i].state == ENTRY_KEEPER_UNKNOWN) launch_reconcile(l, i);
    }
    launch_ends_kill_orphans(l);
    end_strays(l);
    l->tick_us = clock_boot_us() + (int64_t)LAUNCHES_TICK_MS * US_PER_MS;
}

void launches_tick(struct launches *l)
{
    if (l->wants_retry || l->start_sync_us != 0 || l->unsynced_end_count > 0 || l->needs_tick_count > 0 ||
        l->seeks_strays)
        look_again(l);
    memory_watch_tick(l);
    idle_keepers_tick(l);
    launches_report_due(l);
    segments_flush(&l->segments);
}

/* Without memory. */
static int wait_ms(const struct launches *l)
{
    if (l->needs_tick_count > 0 || l->seeks_strays) return LAUNCHES_TICK_MS;
    if (l->start_sync_us != 0) return LAUNCHES_START_MS;
    if (l->unsynced_end_count > 0) return LAUNCHES_COMMIT_MS / 2;
    return l->wants_retry ? LAUNCHES_RETRY_MS : -1;
}

/* -1 is no limit. */
static int shorter_ms(int a, int b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

int launches_wait_ms(const struct launches *l)
{
    return shorter_ms(wait_ms(l), shorter_ms(memory_watch_wait_ms(l), idle_keepers_wait_ms(l)));
}

/* --- the daemon's orders ------------------------------------------------------------------------------------------ */

static int make_identity(struct launches *l, uint64_t id, struct process_identity **out, struct err *e)
{
    if (l->instance_id.length == 0) spool_read_instance_id(l->spool, &l->instance_id);
    struct str instance_id = {l->instance_id.text, l->instance_id.length};
    char key[LAUNCH_KEY_SIZE];
    if (process_identity_make_key(instance_id, key, e)) return -1;
    struct process_identity *identity = mem_resize(NULL, 0, sizeof *identity);
    memcpy(identity->key, key, sizeof key);
    memcpy(identity->boot_id, l->boot_id, sizeof l->boot_id);
    identity->start_ticks = 0;
    identity->running_boot_us = 0;
    identity->place = l->segments.place;
    cgroup_set_path(l->cgroups, id, key, &identity->cgroup);
    *out = identity;
    return 0;
}

void launches_start(struct launches *l, const struct launch *launch, struct str frame)
{
    struct process_identity *identity;
    struct err e;
    const struct launch_entry *known = launches_find(l, launch->id);
    if (known != NULL) {
        launches_report(l, known); /* I1 */
    } else if (launch_check(launch, &e) || job_identity_check(l->rules, launch->uid, launch->gid, &e)) {
        launches_report_never_ran(l, launch->id, LAUNCH_REFUSED, ERR_SENTENCE(&e));
    } else if (make_identity(l, launch->id, &identity, &e)) {
        launches_report_never_ran(l, launch->id, LAUNCH_UNAVAILABLE, ERR_SENTENCE(&e));
    } else {
        uint32_t index = launches_add(l, launch->id, NULL);
        struct launch_entry *entry = &l->list.items[index];
        entry->identity = identity;
        entry->has_script = launch->script.length > 0;
        entry->mem_limit_kib = launch->mem_limit_kib;
        entry->mem_poll_us = launch->mem_poll_us;
        launches_set_state(l, entry, ENTRY_STARTING);
        *array_add(&l->starting) = (struct starting_launch){*launch, frame};
    }
}

static void add_start_line(const struct launch_entry *entry, struct buf *lines)
{
    struct buf fields = {0};
    buf_format(&fields, "start=%" PRIu64 "\n", entry->id);
    if (entry->has_script) buf_add_text(&fields, "script=1\n");
    if (entry->mem_limit_kib > 0)
        buf_format(&fields, "mem_limit_kib=%" PRId64 "\nmem_poll_us=%" PRId64 "\n", entry->mem_limit_kib,
                   entry->mem_poll_us);
    process_identity_format(entry->identity, &fields);
    log_text_add(lines, (struct str){fields.text, fields.length});
    buf_release(&fields);
}

/* Start lines were written. Those of a new segment are synced now (I2). */
static int sync_start_lines(struct launches *l, struct log_segment *g, struct err *e)
{
    if (!g->has_synced) return segment_sync(g, e);
    g->has_unsynced = true;
    if (l->start_sync_us == 0) l->start_sync_us = clock_boot_us() + (int64_t)LAUNCHES_START_MS * US_PER_MS;
    return 0;
}

/* Writes the start lines of all launches that are starting. */
static int write_starts(struct launches *l, struct err *e)
{
    struct buf lines = {0};
    for (uint32_t i = 0; i < l->starting.count; i++)
        add_start_line(launches_find(l, l->starting.items[i].launch.id), &lines);
    int result = segments_make_room(&l->segments, l->starting.count, lines.length, e);
    if (result == 0) result = segment_append(l->segments.current, (struct str){lines.text, lines.length}, e);
    if (result == 0) result = sync_start_lines(l, l->segments.current, e);
    if (result != 0) l->segments.current = NULL; /* nothing more is written behind what may be torn */
    buf_release(&lines);
    return result;
}

/* Nothing more is going to be known of a launch. */
static void acknowledge_in_log(struct log_segment *g, uint64_t id)
{
    char fields[40];
    size_t length = text_format(fields, sizeof fields, "acknowledged=%" PRIu64 "\n", id);
    log_text_add(&g->unwritten, (struct str){fields, length});
}

static void fail_start(struct launches *l, uint64_t id, const char *detail)
{
    struct log_segment *g = launches_find(l, id)->segment;
    if (g != NULL) acknowledge_in_log(g, id);
    launches_forget(l, map_get_u64(&l->index_by_id, id));
    launches_report_never_ran(l, id, LAUNCH_UNAVAILABLE, detail);
}

/* In the group of the keepers, if there is one. */
static pid_t fork_keeper(const struct cgroup_parent *groups)
{
    const char *path = groups->keepers_path;
    int fd = path[0] == '\0' ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pid_t pid = fd < 0 ? -1 : process_clone_fork(fd);
    if (fd >= 0) close(fd);
    return pid < 0 ? fork() : pid;
}

/* A new one. -1 with errno: there is none. */
static pid_t fork_keeper_of(struct launches *l, const struct launch *launch, struct launch_entry *entry,
                            struct arena *memory, struct buf *bytes)
{
    int next_fd = idle_keepers_open(l, entry);
    struct keeper_task task = {.launch = launch,
                               .identity = entry->identity,
                               .spool = l->spool,
                               .log_fd = entry->segment->fd,
                               .keepers_fd = l->segments.keepers_fd,
                               .events_fd = l->events_fd,
                               .signal_fd = l->signal_fd,
                               .next_fd = next_fd,
                               .cgroups = l->cgroups,
                               .inherited = l->inherited,
                               .rules = l->rules,
                               .launcher_pid = getpid(),
                               .memory = memory,
                               .bytes = bytes};
    pid_t pid = fork_keeper(l->cgroups);
    if (pid == 0) keeper_main(&task);
    if (next_fd >= 0) close(next_fd);
    return pid;
}

static void start_keeper(struct launches *l, const struct starting_launch *starting, struct arena *memory,
                         struct buf *bytes)
{
    struct launch_entry *entry = launches_find(l, starting->launch.id);
    pid_t pid = idle_keepers_give(l, entry, starting->frame);
    if (pid == 0) pid = fork_keeper_of(l, &starting->launch, entry, memory, bytes);
    if (pid < 0) {
        char detail[LAUNCH_DETAIL_SIZE];
        text_format(detail, sizeof detail, "cannot start a keeper: %s", strerror(errno));
        launches_unwatch(l, entry);
        fail_start(l, starting->launch.id, detail);
        return;
    }
    launches_watch_child(l, entry, pid);
    launches_set_state(l, entry, ENTRY_KEPT);
    memory_watch_add(l, entry);
}

void launches_start_all(struct launches *l, struct arena *memory, struct buf *bytes)
{
    struct err e;
    if (l->starting.count == 0) return;
    int result = write_starts(l, &e);
    for (uint32_t i = 0; i < l->starting.count; i++) {
        const struct starting_launch *starting = &l->starting.items[i];
        struct launch_entry *entry = launches_find(l, starting->launch.id);
        if (result != 0) {
            fail_start(l, starting->launch.id, ERR_SENTENCE(&e));
            continue;
        }
        entry->segment = l->segments.current;
        entry->segment->launch_count++;
        start_keeper(l, starting, memory, bytes);
    }
    array_clear(&l->starting);
}

/* The keeper of an older launch has written its pid and its group before its first record. False if that cannot be
 * read. */
static bool read_group(const struct launches *l, const struct launch_entry *entry, struct cgroup *out)
{
    struct launch_dir d;
    if (entry->segment != NULL) {
        *out = entry->identity->cgroup;
        return true;
    }
    if (launch_dir_open(l->spool, entry->id, &d, NULL)) return false;
    bool is_read = launch_dir_read_keeper(&d, out) != 0;
    launch_dir_close(&d);
    return is_read;
}

/* The status of a child stays, to be read by launches_on_child. */
static bool has_exited(const struct launch_entry *entry)
{
    siginfo_t info = {0};
    struct pollfd p = {.fd = entry->keeper_pidfd, .events = POLLIN};
    if (entry->keeper_pidfd >= 0) return poll(&p, 1, 0) > 0;
    return waitid(P_PID, (id_t)entry->keeper_pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

/* A keeper that still runs afterwards has had its pid all the time. Those that an earlier launcher has forked are not
 * children of this one, so nothing else says that one of them is stopped. */
void launches_measure(struct launches *l)
{
    ARRAY(struct measured_launch) running = {0};
    struct arena paths = {0};
    for (uint32_t i = 0; i < l->list.count; i++) {
        const struct launch_entry *entry = &l->list.items[i];
        struct cgroup group;
        bool has_started = entry->has_record && entry->record.phase != LAUNCH_ENDED;
        if (entry->state != ENTRY_KEPT || !has_started || !read_group(l, entry, &group)) continue;
        *array_add(&running) = (struct measured_launch){.keeper = entry->keeper_pid,
                                                        .group_path = arena_copy(&paths, str(group.path)),
                                                        .before_cpu_us = entry->record.before_cpu_us,
                                                        .before_io_bytes = entry->record.before_io_bytes,
                                                        .usage.id = entry->id};
    }
    measure_launches(running.items, running.count);
    for (uint32_t i = 0; i < running.count; i++) {
        struct launch_entry *entry = launches_find(l, running.items[i].usage.id);
        if (running.items[i].is_stopped) on_stop(entry);
        if (l->out != NULL && !has_exited(entry)) protocol_usage(l->out, &running.items[i].usage);
    }
    array_release(&running);
    arena_release(&paths);
}

void launches_acknowledge(struct launches *l, uint64_t id)
{
    struct launch_entry *entry = launches_find(l, id);
    if (entry == NULL || !entry->has_record || entry->record.phase != LAUNCH_ENDED || entry->is_acknowledged) return;
    entry->is_acknowledged = true;
    launches_set_end_synced(l, entry); /* the daemon's database has it */
    if (entry->segment != NULL) acknowledge_in_log(entry->segment, id);
    if (entry->segment == NULL && entry->keeper_pid != 0) (void)older_launch_send(l, entry, "committed\n");
    launches_forget_if_done(l, id);
}
