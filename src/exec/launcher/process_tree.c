/* Ends a whole tree of processes without a control group.
 *
 *  I1  Orphans become children of the keeper, because it is their subreaper: the chain of parents of every descendant
 *      ends at the keeper.
 *  I2  A child that has not been waited for keeps its pid and the pid of its group. So the keeper's own children, and
 *      their groups (which are the job's alone, because the job began with setsid), can be signalled by number: no
 *      other process can get it. Every other process is signalled by process_signal.
 *
 * Killing works from the top down. Each round kills the children together with their groups (the kernel lets no process
 * of a group fork past a signal to the group), and reaps them. Their children then become the keeper's, and the next
 * round kills those. A tree of depth d is gone after d rounds. If a process forks on and on into new groups, only the
 * newest of the chain can survive a round, and it is then the keeper's child. A round is short: it reads one file of
 * /proc, not all.
 *
 * SIGTERM is sent once, to each process that a walk down from the keeper finds. A process that is forked after it gets
 * SIGKILL later. The walk reads the lists of children, so its cost is that of the job, however many processes the
 * machine has, and however many jobs end at once. */
#include "exec/launcher/process_tree.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include "base/number.h"
#include "exec/launcher/durable.h"
#include "exec/launcher/process.h"

/* --- descendants -------------------------------------------------------------------------------------------------- */

struct descendants {
    struct processes all;
    struct map index_by_pid; /* in all */
    struct buf scratch;
};

static void release(struct descendants *d)
{
    array_release(&d->all.list);
    map_release(&d->index_by_pid);
    buf_release(&d->scratch);
}

/* For a kernel without lists of children (CONFIG_PROC_CHILDREN). */
static void scan(struct descendants *d, pid_t root)
{
    struct processes all = {0};
    struct map index_by_pid = {0}, root_by_pid = {0};
    processes_read(&all);
    processes_index(&all, &index_by_pid);
    map_set_u64(&root_by_pid, (uint64_t)root, 0);
    uint32_t *roots = mem_resize(NULL, 0, (all.list.count + 1u) * sizeof *roots);
    processes_find_roots(&all, &index_by_pid, &root_by_pid, roots);
    for (uint32_t i = 0; i < all.list.count; i++) {
        if (roots[i] != NONE) *array_add(&d->all.list) = all.list.items[i];
    }
    mem_free(roots);
    map_release(&root_by_pid);
    map_release(&index_by_pid);
    array_release(&all.list);
}

/* Adds the children of one thread. False: there is no list of them. */
static bool add_children_of(struct descendants *d, pid_t pid, pid_t thread)
{
    char path[80];
    struct process p;
    text_format(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)thread);
    struct str rest = durable_read_text(path, &d->scratch);
    bool has_list = rest.text != NULL;
    while (rest.length > 0) {
        uint64_t child;
        if (!number_parse_u64(str_cut(rest, ' ', &rest), &child) || child <= 1) continue;
        if (map_get_u64(&d->index_by_pid, child) != NONE || !process_read((pid_t)child, &p)) continue;
        map_set_u64(&d->index_by_pid, child, d->all.list.count);
        *array_add(&d->all.list) = p;
    }
    return has_list;
}

/* A child belongs to the thread that forked it. */
static void add_children(struct descendants *d, pid_t pid)
{
    char path[64];
    text_format(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    for (struct dirent *entry; threads != NULL && (entry = readdir(threads)) != NULL;) {
        uint64_t thread;
        if (number_parse_u64(str(entry->d_name), &thread)) (void)add_children_of(d, pid, (pid_t)thread);
    }
    if (threads != NULL) closedir(threads);
}

/* Walks down from the root. What a process leaves that ends meanwhile becomes a child of the keeper (I1), so the
 * root's children are read until none of them is new. */
static void find(struct descendants *d, pid_t root)
{
    if (!add_children_of(d, root, root)) {
        scan(d, root);
        return;
    }
    for (uint32_t walked = 0; walked < d->all.list.count; (void)add_children_of(d, root, root)) {
        for (; walked < d->all.list.count; walked++) add_children(d, d->all.list.items[walked].pid);
    }
}

void process_tree_walk(pid_t root, void (*act)(const struct process *p, void *context), void *context)
{
    struct descendants d = {0};
    find(&d, root);
    for (uint32_t i = 0; i < d.all.list.count; i++) {
        if (d.all.list.items[i].state != 'Z') act(&d.all.list.items[i], context);
    }
    release(&d);
}

static void terminate(const struct process *p, void *context)
{
    (void)context;
    (void)process_signal(p, SIGTERM);
    (void)process_signal(p, SIGCONT);
}

void process_tree_terminate(void)
{
    process_tree_walk(getpid(), terminate, NULL);
}

static void attach(const struct process *p, void *context)
{
    (void)cgroup_attach(context, p->pid);
}

/* What a process forks once it is in the group is there, too. So a second round finds all that the first one missed,
 * unless a process outside forks in each. */
void process_tree_attach(const struct cgroup *group)
{
    struct cgroup copy = *group;
    for (int round = 0; round < 2; round++) process_tree_walk(getpid(), attach, &copy);
}

/* --- children ----------------------------------------------------------------------------------------------------- */

static void kill_child(pid_t child, void *context)
{
    (void)context;
    pid_t group = getpgid(child); /* known even of a zombie (I2) */
    (void)kill(child, SIGKILL);
    if (group > 1 && group != getpgrp()) (void)kill(-group, SIGKILL);
}

/* For a kernel without lists of children (CONFIG_PROC_CHILDREN): reads all of /proc. */
static void walk_children_in_proc(void (*act)(pid_t child, void *context), void *context)
{
    struct processes all = {0};
    processes_read(&all);
    for (uint32_t i = 0; i < all.list.count; i++) {
        if (all.list.items[i].parent == getpid()) act(all.list.items[i].pid, context);
    }
    array_release(&all.list);
}

static void walk_children(void (*act)(pid_t child, void *context), void *context)
{
    char path[64];
    struct buf scratch = {0};
    text_format(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    struct str rest = durable_read_text(path, &scratch);
    if (rest.text == NULL) walk_children_in_proc(act, context);
    while (rest.length > 0) {
        uint64_t pid;
        if (number_parse_u64(str_cut(rest, ' ', &rest), &pid) && pid > 1) act((pid_t)pid, context);
    }
    buf_release(&scratch);
}

void process_tree_kill_children(void)
{
    walk_children(kill_child, NULL);
}

static void note_living(pid_t child, void *is_any_alive)
{
    struct process p;
    if (process_read(child, &p) && (p.state != 'Z' || p.thread_count > 1)) *(bool *)is_any_alive = true;
}

bool process_tree_is_dead(void)
{
    bool is_any_alive = false;
    walk_children(note_living, &is_any_alive);
    return !is_any_alive;
}
