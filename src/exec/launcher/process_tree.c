/* Ends a whole tree of processes without a control group.
 *
 *  I1  Orphans become children of the keeper, because it is their subreaper: the chain of parents of every descendant
 *      ends at the keeper.
 *  I2  A child that has not been waited for keeps its pid and the pid of its group. So the keeper's own children, and
 *      their groups (which are the job's alone, because the job began with setsid), can be signalled by number: no
 *      other process can get it.
 *  I3  Every other process is signalled through a pidfd that was opened before its start time was compared.
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

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/map.h"
#include "base/number.h"
#include "base/text.h"
#include "exec/launcher/durable.h"

enum { PROC_PATH_SIZE = 64 };

/* --- processes ---------------------------------------------------------------------------------------------------- */

static bool next_number(struct str *rest, int64_t *out)
{
    return number_parse_i64(str_cut(*rest, ' ', rest), out);
}

bool process_parse(struct str text, struct process *out)
{
    enum { FIRST_SKIPPED = 7, START_TIME = 22 }; /* numbers of fields in proc(5) */
    int64_t pid, parent, group, session, skipped, start_ticks;
    const char *close = text.length > 0 ? memrchr(text.text, ')', text.length) : NULL;
    if (close == NULL || text.text + text.length - close < 4) return false;
    struct str rest;
    if (!number_parse_i64(str_cut(text, ' ', &rest), &pid)) return false;
    rest = str_range(close + 4, text.text + text.length); /* after ") S " */
    if (!next_number(&rest, &parent) || !next_number(&rest, &group) || !next_number(&rest, &session)) return false;
    for (int field = FIRST_SKIPPED; field < START_TIME; field++) {
        if (!next_number(&rest, &skipped)) return false;
    }
    if (!next_number(&rest, &start_ticks)) return false;
    *out = (struct process){.pid = (pid_t)pid,
                            .parent = (pid_t)parent,
                            .group = (pid_t)group,
                            .session = (pid_t)session,
                            .state = close[2],
                            .start_ticks = (uint64_t)start_ticks};
    return true;
}

bool process_read(pid_t pid, struct process *out)
{
    char path[PROC_PATH_SIZE];
    struct buf text = {0};
    bool found = false;
    text_format(path, sizeof path, "/proc/%d/stat", (int)pid);
    bool result = durable_read(AT_FDCWD, path, &text, &found, NULL) == 0 && found &&
                  process_parse((struct str){text.text, text.length}, out);
    buf_release(&text);
    return result;
}

void processes_read(struct processes *out)
{
    DIR *directory = opendir("/proc");
    if (directory == NULL) return;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        uint64_t pid;
        struct process p;
        if (number_parse_u64(str(entry->d_name), &pid) && process_read((pid_t)pid, &p)) *array_add(&out->list) = p;
    }
    closedir(directory);
}

bool process_signal(const struct process *p, int signal)
{
    ensure(p->pid > 0);
    int fd = (int)syscall(SYS_pidfd_open, p->pid, 0u);
    if (fd < 0) return errno != EPERM;
    struct process now;
    bool is_refused = false;
    if (process_read(p->pid, &now) && now.start_ticks == p->start_ticks) { /* I3 */
        is_refused = syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0u) < 0 && errno == EPERM;
    }
    close(fd);
    return !is_refused;
}

/* --- all descendants ---------------------------------------------------------------------------------------------- */

enum { MARK_UNKNOWN, MARK_DESCENDANT, MARK_OTHER };

/* Marks a process as descendant or not. Follows its parents up to a child of this process, to a process that is marked,
 * or to the top, and gives the same mark to every process on the way. So marking all processes is O(processes). */
static void mark_ancestors(const struct processes *all, const struct map *index_by_pid, uint32_t index,
                           unsigned char *marks)
{
    unsigned char mark = MARK_OTHER;
    uint32_t end = index;
    for (uint32_t steps = 0; end != NONE && steps <= all->list.count; steps++) {
        if (marks[end] != MARK_UNKNOWN)
            mark = marks[end];
        else if (all->list.items[end].parent == getpid())
            mark = marks[end] = MARK_DESCENDANT;
        if (marks[end] != MARK_UNKNOWN) break;
        end = map_get_u64(index_by_pid, (uint64_t)all->list.items[end].parent);
    }
    for (uint32_t i = index; i != NONE && i != end && marks[i] == MARK_UNKNOWN;) {
        marks[i] = mark;
        i = map_get_u64(index_by_pid, (uint64_t)all->list.items[i].parent);
    }
}

void process_tree_terminate(void)
{
    struct processes all = {0};
    struct map index_by_pid = {0};
    processes_read(&all);
    for (uint32_t i = 0; i < all.list.count; i++) map_set_u64(&index_by_pid, (uint64_t)all.list.items[i].pid, i);
    unsigned char *marks = mem_resize(NULL, 0, all.list.count + 1u);
    for (uint32_t i = 0; i < all.list.count; i++) {
        mark_ancestors(&all, &index_by_pid, i, marks);
        if (marks[i] != MARK_DESCENDANT || all.list.items[i].state == 'Z') continue;
        (void)process_signal(&all.list.items[i], SIGTERM);
        (void)process_signal(&all.list.items[i], SIGCONT);
    }
    mem_free(marks);
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
    char path[PROC_PATH_SIZE];
    struct buf text = {0};
    bool found = false;
    text_format(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    if (durable_read(AT_FDCWD, path, &text, &found, NULL) || !found) {
        kill_children_in_proc();
        return;
    }
    struct str rest = {text.text, text.length};
    while (rest.length > 0) {
        uint64_t pid;
        if (number_parse_u64(str_cut(rest, ' ', &rest), &pid) && pid > 1) kill_child((pid_t)pid);
    }
    buf_release(&text);
}
