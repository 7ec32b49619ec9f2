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
 * SIGTERM is sent once, to each process in a snapshot of /proc. A process that is forked after it gets SIGKILL
 * later. */
#include "exec/launcher/process_tree.h"

#include <signal.h>
#include <unistd.h>

#include "base/number.h"
#include "exec/launcher/durable.h"
#include "exec/launcher/process.h"

void process_tree_terminate(void)
{
    struct processes all = {0};
    struct map index_by_pid = {0}, this_process = {0};
    processes_read(&all);
    processes_index(&all, &index_by_pid);
    map_set_u64(&this_process, (uint64_t)getpid(), 0);
    uint32_t *roots = mem_resize(NULL, 0, (all.list.count + 1u) * sizeof *roots);
    processes_find_roots(&all, &index_by_pid, &this_process, roots);
    for (uint32_t i = 0; i < all.list.count; i++) {
        if (roots[i] == NONE || all.list.items[i].state == 'Z') continue;
        (void)process_signal(&all.list.items[i], SIGTERM);
        (void)process_signal(&all.list.items[i], SIGCONT);
    }
    mem_free(roots);
    map_release(&this_process);
    map_release(&index_by_pid);
    array_release(&all.list);
}

/* --- children ----------------------------------------------------------------------------------------------------- */

static void kill_child(pid_t child)
{
    pid_t group = getpgid(child); /* known even of a zombie (I2) */
    (void)kill(child, SIGKILL);
    if (group > 1 && group != getpgrp()) (void)kill(-group, SIGKILL);
}

/* For a kernel without lists of children (CONFIG_PROC_CHILDREN): reads all of /proc. */
static void kill_children_in_proc(void)
{
    struct processes all = {0};
    processes_read(&all);
    for (uint32_t i = 0; i < all.list.count; i++) {
        if (all.list.items[i].parent == getpid()) kill_child(all.list.items[i].pid);
    }
    array_release(&all.list);
}

void process_tree_kill_children(void)
{
    char path[64];
    struct buf scratch = {0};
    text_format(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    struct str rest = durable_read_text(path, &scratch);
    if (rest.text == NULL) kill_children_in_proc();
    while (rest.length > 0) {
        uint64_t pid;
        if (number_parse_u64(str_cut(rest, ' ', &rest), &pid) && pid > 1) kill_child((pid_t)pid);
    }
    buf_release(&scratch);
}
