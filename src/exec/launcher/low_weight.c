/* A round looks at all processes, adds those that are new, writes the file if the list has changed, and only then
 * changes anything; all of it again for those that lose the low weight, whose records go last.
 *
 *  I1  Only processes of a person are touched, and none that belongs to a launch: the launcher finds out both by
 *      itself.
 *  I2  A process is opened before its start time is compared, and its files are used through that: its pid can have
 *      been given to another one since it was listed. The threads are set to a low weight with the effective uid of
 *      the user, so the kernel refuses processes of others. */
#include "exec/launcher/low_weight.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/number.h"
#include "exec/launcher/durable.h"
#include "exec/launcher/process_sampling.h"
#include "exec/launcher/usage_text.h"

static const char file_name[] = "low-weight", new_name[] = "low-weight.new";

/* --- the list ----------------------------------------------------------------------------------------------------- */

static struct low_process *find(const struct low_weights *w, const struct process *p)
{
    uint32_t index = map_get_u64(&w->index_by_pid, (uint64_t)p->pid);
    bool is_same = index != NONE && w->list.items[index].start_ticks == p->start_ticks;
    return is_same ? &w->list.items[index] : NULL;
}

bool low_weights_has(const struct low_weights *w, const struct process *p)
{
    return find(w, p) != NULL;
}

static void add(struct low_weights *w, const struct low_process *p)
{
    uint32_t index = map_get_u64(&w->index_by_pid, (uint64_t)p->pid);
    if (index != NONE) {
        w->list.items[index] = *p; /* the former one is gone */
        return;
    }
    map_set_u64(&w->index_by_pid, (uint64_t)p->pid, w->list.count);
    *array_add(&w->list) = *p;
}

void low_weights_release(struct low_weights *w)
{
    array_release(&w->list);
    map_release(&w->index_by_pid);
    slice_weights_release(&w->slices);
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

static bool is_nice(int64_t value)
{
    return value >= -20 && value <= LOW_WEIGHT_NICE;
}

bool low_weight_parse(struct str line, struct low_process *out)
{
    enum { PID, START, UID, SESSION, NICE, GROUP_NICE, FIELDS };
    int64_t field[FIELDS];
    for (int i = 0; i < FIELDS; i++) {
        if (!number_parse_i64(str_cut(line, ' ', &line), &field[i])) return false;
    }
    if (line.text != NULL || field[PID] <= 1 || field[PID] > INT32_MAX || field[START] < 0) return false;
    if (field[UID] < 0 || field[UID] > UINT32_MAX || field[SESSION] < 0 || field[SESSION] > INT32_MAX) return false;
    if (!is_nice(field[NICE]) || !is_nice(field[GROUP_NICE])) return false;
    *out = (struct low_process){.pid = (pid_t)field[PID],
                                .start_ticks = (uint64_t)field[START],
                                .uid = (uint32_t)field[UID],
                                .session = (pid_t)field[SESSION],
                                .nice = (int32_t)field[NICE],
                                .group_nice = (int32_t)field[GROUP_NICE]};
    return true;
}

static void read_line(struct low_weights *w, struct str line)
{
    struct low_process p;
    struct slice_weight slice;
    if (low_weight_parse(line, &p))
        add(w, &p);
    else if (slice_weight_parse(line, &slice))
        *array_add(&w->slices.list) = slice;
}

void low_weights_open(struct low_weights *w, const struct launches *l, const char *user_slice)
{
    struct buf text = {0};
    bool found;
    if (!l->rules->is_system) return;
    slice_weights_find(&w->slices, user_slice);
    (void)durable_read(l->spool->fd, file_name, &text, &found, NULL);
    struct str rest = {text.text, text.length}, boot;
    (void)str_cut(str_cut(rest, '\n', &rest), '=', &boot);
    if (text.length > 0 && str_equal(boot, str(l->boot_id))) {
        while (rest.length > 0) read_line(w, str_cut(rest, '\n', &rest));
    }
    buf_release(&text);
}

/* Not synced: after a crash of the machine no process is left. */
static bool write_file(const struct low_weights *w, const struct launches *l)
{
    struct buf text = {0};
    buf_format(&text, "boot=%s\n", l->boot_id);
    for (uint32_t i = 0; i < w->list.count; i++) {
        const struct low_process *p = &w->list.items[i];
        buf_format(&text, "%d %llu %u %d %d %d\n", (int)p->pid, (unsigned long long)p->start_ticks, p->uid,
                   (int)p->session, p->nice, p->group_nice);
    }
    for (uint32_t i = 0; i < w->slices.list.count; i++) slice_weight_format(&w->slices.list.items[i], &text);
    int fd = openat(l->spool->fd, new_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool is_written = fd >= 0 && durable_write_all(fd, (struct str){text.text, text.length}) == 0;
    if (fd >= 0) close(fd);
    buf_release(&text);
    return is_written && renameat(l->spool->fd, new_name, l->spool->fd, file_name) == 0;
}

/* --- one process -------------------------------------------------------------------------------------------------- */

/* Its directory in /proc; -1: it is gone (I2). */
static int open_process(pid_t pid, uint64_t start_ticks)
{
    char path[64];
    struct buf text = {0};
    struct process now;
    bool found;
    text_format(path, sizeof path, "/proc/%d", (int)pid);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -1;
    (void)durable_read(fd, "stat", &text, &found, NULL);
    if (!process_parse((struct str){text.text, text.length}, &now) || now.start_ticks != start_ticks) {
        close(fd);
        fd = -1;
    }
    buf_release(&text);
    return fd;
}

static int32_t read_group_nice(pid_t pid)
{
    char path[64];
    struct buf text = {0};
    int32_t nice = 0;
    text_format(path, sizeof path, "/proc/%d/autogroup", (int)pid);
    (void)usage_text_parse_autogroup(durable_read_text(path, &text), &nice);
    buf_release(&text);
    return nice;
}

/* A kernel without autogroups has no such file. */
static void set_group_nice(int process_fd, int32_t nice)
{
    char text[16];
    int fd = openat(process_fd, "autogroup", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    text_format(text, sizeof text, "%d\n", (int)nice);
    (void)durable_write_all(fd, str(text));
    close(fd);
}

/* Sets the threads that have more, or with is_back those that have exactly the low weight. */
static void set_nice(int process_fd, int32_t nice, bool is_back)
{
    int task_fd = openat(process_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *threads = task_fd >= 0 ? fdopendir(task_fd) : NULL;
    if (threads == NULL && task_fd >= 0) close(task_fd);
    for (struct dirent *entry; threads != NULL && (entry = readdir(threads)) != NULL;) {
        uint64_t thread;
        if (!number_parse_u64(str(entry->d_name), &thread)) continue;
        int present = getpriority(PRIO_PROCESS, (id_t)thread);
        if (is_back ? present == LOW_WEIGHT_NICE : present < nice) (void)setpriority(PRIO_PROCESS, (id_t)thread, nice);
    }
    if (threads != NULL) closedir(threads);
}

static void make_low(const struct low_process *p)
{
    int fd = open_process(p->pid, p->start_ticks);
    if (fd < 0) return;
    set_group_nice(fd, LOW_WEIGHT_NICE);
    if (seteuid(p->uid) == 0) { /* I2 */
        set_nice(fd, LOW_WEIGHT_NICE, false);
        if (seteuid(0) != 0) _exit(1); /* the next launcher goes on */
    }
    close(fd);
}

static void give_back(const struct low_process *p)
{
    int fd = open_process(p->pid, p->start_ticks);
    if (fd < 0) return;
    set_group_nice(fd, p->group_nice);
    if (p->nice < LOW_WEIGHT_NICE) set_nice(fd, p->nice, true);
    close(fd);
}

/* --- a round ------------------------------------------------------------------------------------------------------ */

static bool has_uid(const uint32_t *uids, uint32_t count, uint32_t uid)
{
    for (uint32_t i = 0; i < count; i++) {
        if (uids[i] == uid) return true;
    }
    return false;
}

/* The parent of a process, or another one of its session, that has a record; NULL: none. */
static const struct low_process *find_relative(const struct low_weights *w, const struct process *p, uint32_t uid)
{
    uint32_t parent = p->parent > 0 ? map_get_u64(&w->index_by_pid, (uint64_t)p->parent) : NONE;
    if (parent != NONE && w->list.items[parent].uid == uid) return &w->list.items[parent];
    for (uint32_t i = 0; i < w->list.count; i++) {
        if (w->list.items[i].uid == uid && w->list.items[i].session == p->session) return &w->list.items[i];
    }
    return NULL;
}

/* Adds a process with what it had before. One that began after its relatives were changed has inherited that. */
static void add_process(struct low_weights *w, const struct process *p, uint32_t uid)
{
    struct low_process low = {.pid = p->pid,
                              .session = p->session,
                              .start_ticks = p->start_ticks,
                              .uid = uid,
                              .nice = p->nice,
                              .group_nice = read_group_nice(p->pid)};
    const struct low_process *relative = find_relative(w, p, uid);
    if (relative != NULL && low.nice == LOW_WEIGHT_NICE) low.nice = relative->nice;
    if (relative != NULL && low.group_nice == LOW_WEIGHT_NICE) low.group_nice = relative->group_nice;
    add(w, &low);
}

/* Adds the processes that are new, of wanted users and of those that have records. Returns whether there were any. */
static bool add_new(struct low_weights *w, const struct launches *l, const struct process_sampling *s,
                    const uint32_t *uids, uint32_t count)
{
    const uint32_t old_count = w->list.count;
    bool has_new = false;
    for (uint32_t i = 0; i < s->all.list.count; i++) {
        const struct process *p = &s->all.list.items[i];
        uint32_t uid = s->uids.items[i];
        if (s->launch_ids.items[i] != 0 || !job_identity_is_person(l->rules, uid) || low_weights_has(w, p))
            continue; /* I1 */
        bool may_inherit = p->nice == LOW_WEIGHT_NICE && old_count > 0 && find_relative(w, p, uid) != NULL;
        if (!has_uid(uids, count, uid) && !may_inherit) continue;
        add_process(w, p, uid);
        has_new = true;
    }
    return has_new;
}

/* Keeps the records of wanted users whose processes exist. Returns whether any is gone. */
static bool remove_others(struct low_weights *w, const struct process_sampling *s, const uint32_t *uids, uint32_t count)
{
    struct low_weights kept = {.slices = w->slices};
    for (uint32_t i = 0; i < s->all.list.count; i++) {
        const struct low_process *p = find(w, &s->all.list.items[i]);
        if (p != NULL && has_uid(uids, count, p->uid)) add(&kept, p);
    }
    bool has_less = kept.list.count < w->list.count;
    array_release(&w->list);
    map_release(&w->index_by_pid);
    *w = kept;
    return has_less;
}

/* The users among them that are persons, in memory of the caller's. */
static uint32_t keep_persons(const struct launches *l, const uint32_t *uids, uint32_t count, uint32_t *out)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (job_identity_is_person(l->rules, uids[i])) out[kept++] = uids[i];
    }
    return kept;
}

static void change(struct low_weights *w, const uint32_t *uids, uint32_t count)
{
    for (uint32_t i = 0; i < w->list.count; i++) {
        const struct low_process *p = &w->list.items[i];
        if (has_uid(uids, count, p->uid))
            make_low(p);
        else
            give_back(p);
    }
    slice_weights_apply(&w->slices, uids, count);
}

void low_weights_set(struct low_weights *w, const struct launches *l, const uint32_t *uids, uint32_t count)
{
    struct process_sampling s;
    bool has_records = w->list.count > 0 || w->slices.list.count > 0;
    if (!l->rules->is_system || !launches_are_read(l) || (count == 0 && !has_records)) return;
    uint32_t *persons = mem_resize(NULL, 0, (count + (size_t)1) * sizeof *persons);
    uint32_t person_count = keep_persons(l, uids, count, persons);
    process_sampling_read(l, &s);
    w->is_unwritten |= add_new(w, l, &s, persons, person_count);
    w->is_unwritten |= slice_weights_add(&w->slices, persons, person_count);
    if (w->is_unwritten) w->is_unwritten = !write_file(w, l);
    if (!w->is_unwritten) {
        change(w, persons, person_count);
        w->is_unwritten = remove_others(w, &s, persons, person_count);
        w->is_unwritten |= slice_weights_remove_others(&w->slices, persons, person_count);
        if (w->is_unwritten) w->is_unwritten = !write_file(w, l);
    }
    process_sampling_release(&s);
    mem_free(persons);
}

enum enforcement_outside low_weights_enforcement(const struct low_weights *w, const struct launches *l)
{
    if (!l->rules->is_system) return ENFORCEMENT_OUTSIDE_NONE;
    return slice_weights_are_used(&w->slices) ? ENFORCEMENT_OUTSIDE_SLICES : ENFORCEMENT_OUTSIDE_NICE;
}
