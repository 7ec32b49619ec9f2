/* Reaching a whole tree of processes without a control group.
 *
 *  I1  Orphans come to us: we are their subreaper, so every descendant's chain of parents ends at us, always.
 *  I2  A child that has not been waited for keeps its process id and its group's. So our own children, and their groups
 *      (which are the job's alone: it began with setsid), can be signalled by number; nobody else can take it.
 *  I3  Anybody else is signalled through a pidfd, compared by birth time after it was opened.
 *
 * Killing goes from the top. Children are killed, with their groups at one blow (the kernel lets no process of a group
 * fork past a signal to the group), and reaped; their children thereby become ours, and the next round takes those. A
 * tree of depth d is gone after d rounds. A process that forks on and on in new groups can survive a round only by its
 * newest member, which is then our child and has no elder left. Rounds are short: one file of /proc is read, not all.
 *
 * SIGTERM is sent once, to everyone, from a picture of /proc; what is born meanwhile will meet SIGKILL. */
#include "exec/launcher/process_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/map.h"
#include "base/number.h"
#include "base/text.h"
#include "exec/launcher/durable.h"

/* ---- processes ---- */

static bool next_number(struct str *rest, int64_t *out)
{
    return number_parse_i64(str_cut(*rest, ' ', rest), out);
}

bool process_parse(struct str text, struct process *out)
{
    int64_t pid, parent, group, session, skipped, born;
    const char *close = text.length > 0 ? memrchr(text.text, ')', text.length) : NULL;
    if (close == NULL || text.text + text.length - close < 4) return false;
    struct str rest;
    if (!number_parse_i64(str_cut(text, ' ', &rest), &pid)) return false;
    rest = str_range(close + 4, text.text + text.length); /* behind ") S " */
    if (!next_number(&rest, &parent) || !next_number(&rest, &group) || !next_number(&rest, &session)) return false;
    for (int field = 7; field < 22; field++) {
        if (!next_number(&rest, &skipped)) return false;
    }
    if (!next_number(&rest, &born)) return false;
    *out = (struct process){.pid = (pid_t)pid,
                            .parent = (pid_t)parent,
                            .group = (pid_t)group,
                            .session = (pid_t)session,
                            .state = close[2],
                            .born = (uint64_t)born};
    return true;
}

bool process_read(pid_t pid, struct process *out)
{
    char path[64];
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
    int fd = (int)syscall(SYS_pidfd_open, p->pid, 0u);
    if (fd < 0) return errno != EPERM;
    struct process now;
    bool refused = false;
    if (process_read(p->pid, &now) && now.born == p->born) { /* I3 */
        refused = syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0u) < 0 && errno == EPERM;
    }
    close(fd);
    return !refused;
}

/* ---- all descendants ---- */

enum { UNKNOWN, OURS, OTHERS };

/* Follows parents up from list[index] to a child of ours, to one that is marked, or to the top; what was passed on the
 * way gets the same mark. */
static void mark_line(const struct processes *all, const struct map *by_pid, uint32_t index, unsigned char *marks)
{
    unsigned char verdict = OTHERS;
    uint32_t end = index;
    for (uint32_t steps = 0; end != NONE && steps <= all->list.count; steps++) {
        if (marks[end] != UNKNOWN)
            verdict = marks[end];
        else if (all->list.items[end].parent == getpid())
            verdict = marks[end] = OURS;
        if (marks[end] != UNKNOWN) break;
        end = map_get_u64(by_pid, (uint64_t)all->list.items[end].parent);
    }
    for (uint32_t at = index; at != NONE && at != end && marks[at] == UNKNOWN;) {
        marks[at] = verdict;
        at = map_get_u64(by_pid, (uint64_t)all->list.items[at].parent);
    }
}

void process_tree_terminate(void)
{
    struct processes all = {0};
    struct map by_pid = {0};
    processes_read(&all);
    for (uint32_t i = 0; i < all.list.count; i++) map_set_u64(&by_pid, (uint64_t)all.list.items[i].pid, i);
    unsigned char *marks = mem_resize(NULL, 0, all.list.count + 1u);
    for (uint32_t i = 0; i < all.list.count; i++) {
        mark_line(&all, &by_pid, i, marks);
        if (marks[i] != OURS || all.list.items[i].state == 'Z') continue;
        (void)process_signal(&all.list.items[i], SIGTERM);
        (void)process_signal(&all.list.items[i], SIGCONT);
    }
    mem_free(marks);
    map_release(&by_pid);
    array_release(&all.list);
}

/* ---- children ---- */

static void kill_child(pid_t child)
{
    pid_t group = getpgid(child); /* works on a zombie too (I2) */
    (void)kill(child, SIGKILL);
    if (group > 1 && group != getpgrp()) (void)kill(-group, SIGKILL);
}

/* Where the kernel has no list of children (CONFIG_PROC_CHILDREN), all of /proc is asked. */
static void kill_children_slowly(void)
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
    struct buf text = {0};
    bool found = false;
    text_format(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    if (durable_read(AT_FDCWD, path, &text, &found, NULL) || !found) {
        kill_children_slowly();
        return;
    }
    struct str rest = {text.text, text.length};
    while (rest.length > 0) {
        uint64_t pid;
        if (number_parse_u64(str_cut(rest, ' ', &rest), &pid) && pid > 1) kill_child((pid_t)pid);
    }
    buf_release(&text);
}
