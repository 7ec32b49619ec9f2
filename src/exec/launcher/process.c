/* Processes through /proc, one file of text for each (proc(5)).
 *
 * Finding the root of every process: a process has the root of its parent, unless its parent is a root itself. So each
 * is followed upwards until a process whose root is known, and all on the way get the same root; together that is
 * O(processes). A parent that is not in the snapshot, because it ended while /proc was read, ends the way: without a
 * root.
 *
 *  I1  A process is signalled through a pidfd that was opened before its start time was compared: its pid can have been
 *      given to another one since it was read. */
#include "exec/launcher/process.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/number.h"
#include "exec/launcher/durable.h"
#include "exec/launcher/usage_text.h"

enum { PROC_PATH_SIZE = 64, FLAG_KERNEL_THREAD = 0x200000 /* PF_KTHREAD of the kernel's sched.h */ };

/* A count of the kernel, in a range in which a few of them can be added. */
static int64_t limited(int64_t value)
{
    const int64_t max = INT64_C(1) << 48;
    return value < 0 ? 0 : value > max ? max : value;
}

/* A process that is being released has the group and session -1. It is gone. */
static bool is_pid(int64_t value)
{
    return value >= 0 && value <= INT32_MAX;
}

static int32_t nice_value(int64_t value)
{
    return value < -20 ? -20 : value > 19 ? 19 : (int32_t)value;
}

static void copy_name(struct str name, char out[PROCESS_NAME_SIZE])
{
    size_t length = name.length < PROCESS_NAME_SIZE - 1 ? name.length : PROCESS_NAME_SIZE - 1;
    for (size_t i = 0; i < length && name.text[i] != '\0'; i++) out[i] = name.text[i];
}

bool process_parse(struct str text, struct process *out)
{
    enum { /* numbers of fields in proc(5) */
           PARENT = 4,
           GROUP,
           SESSION,
           TERMINAL,
           FLAGS = 9,
           USER_TIME = 14,
           SYSTEM_TIME,
           CHILDREN_USER_TIME,
           CHILDREN_SYSTEM_TIME,
           NICE = 19,
           THREADS,
           START_TIME = 22,
           RESIDENT = 24
    };
    int64_t pid, fields[RESIDENT + 1];
    const char *close = text.length > 0 ? memrchr(text.text, ')', text.length) : NULL;
    const char *open = text.length > 0 ? memchr(text.text, '(', text.length) : NULL;
    if (close == NULL || text.text + text.length - close < 4 || open == NULL || open > close) return false;
    struct str rest;
    if (!number_parse_i64(str_cut(text, ' ', &rest), &pid)) return false;
    rest = str_range(close + 4, text.text + text.length); /* after ") S " */
    for (int field = PARENT; field <= RESIDENT; field++) {
        if (!number_parse_i64(str_cut(rest, ' ', &rest), &fields[field])) return false;
    }
    if (!is_pid(pid) || !is_pid(fields[PARENT]) || !is_pid(fields[GROUP]) || !is_pid(fields[SESSION])) return false;
    *out = (struct process){.pid = (pid_t)pid,
                            .parent = (pid_t)fields[PARENT],
                            .group = (pid_t)fields[GROUP],
                            .session = (pid_t)fields[SESSION],
                            .state = close[2],
                            .terminal = (uint32_t)fields[TERMINAL],
                            .start_ticks = (uint64_t)fields[START_TIME],
                            .cpu_ticks = limited(fields[USER_TIME]) + limited(fields[SYSTEM_TIME]),
                            .children_cpu_ticks =
                                limited(fields[CHILDREN_USER_TIME]) + limited(fields[CHILDREN_SYSTEM_TIME]),
                            .thread_count = limited(fields[THREADS]),
                            .is_kernel = (fields[FLAGS] & FLAG_KERNEL_THREAD) != 0,
                            .nice = nice_value(fields[NICE]),
                            .resident_pages = limited(fields[RESIDENT])};
    copy_name(str_range(open + 1, close), out->name);
    return true;
}

static bool read_process(pid_t pid, struct buf *scratch, struct process *out)
{
    char path[PROC_PATH_SIZE];
    text_format(path, sizeof path, "/proc/%d/stat", (int)pid);
    return process_parse(durable_read_text(path, scratch), out);
}

bool process_read(pid_t pid, struct process *out)
{
    struct buf scratch = {0};
    bool result = read_process(pid, &scratch, out);
    buf_release(&scratch);
    return result;
}

void processes_read(struct processes *out)
{
    struct buf scratch = {0};
    DIR *directory = opendir("/proc");
    if (directory == NULL) return;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        uint64_t pid;
        struct process p;
        if (number_parse_u64(str(entry->d_name), &pid) && read_process((pid_t)pid, &scratch, &p))
            *array_add(&out->list) = p;
    }
    closedir(directory);
    buf_release(&scratch);
}

int64_t process_read_io(pid_t pid, struct buf *scratch)
{
    char path[PROC_PATH_SIZE];
    int64_t bytes = 0;
    text_format(path, sizeof path, "/proc/%d/io", (int)pid);
    (void)usage_text_parse_io(durable_read_text(path, scratch), &bytes);
    return bytes;
}

bool process_read_uid(pid_t pid, struct buf *scratch, uint32_t *out_uid)
{
    char path[PROC_PATH_SIZE];
    text_format(path, sizeof path, "/proc/%d/status", (int)pid);
    return usage_text_parse_uid(durable_read_text(path, scratch), out_uid);
}

int64_t process_read_resident(const struct process *p, struct buf *scratch)
{
    char path[PROC_PATH_SIZE];
    int64_t pages = p->resident_pages;
    if (p->state != 'Z' || p->thread_count <= 1) return pages;
    text_format(path, sizeof path, "/proc/%d/task", (int)p->pid);
    DIR *directory = opendir(path);
    if (directory == NULL) return pages;
    for (struct dirent *entry; pages == 0 && (entry = readdir(directory)) != NULL;) {
        uint64_t thread;
        struct process read;
        if (!number_parse_u64(str(entry->d_name), &thread)) continue;
        text_format(path, sizeof path, "/proc/%d/task/%d/stat", (int)p->pid, (int)thread);
        if (process_parse(durable_read_text(path, scratch), &read)) pages = read.resident_pages;
    }
    closedir(directory);
    return pages;
}

/* The kernel adds the I/O of a child to that of the process that waits for it, but not to that of its thread. */
int64_t process_read_children_io(pid_t pid, struct buf *scratch)
{
    char path[PROC_PATH_SIZE];
    int64_t bytes = process_read_io(pid, scratch), own_bytes = 0;
    text_format(path, sizeof path, "/proc/%d/task/%d/io", (int)pid, (int)pid);
    (void)usage_text_parse_io(durable_read_text(path, scratch), &own_bytes);
    return bytes > own_bytes ? bytes - own_bytes : 0;
}

bool process_signal(const struct process *p, int signal)
{
    ensure(p->pid > 0);
    int fd = (int)syscall(SYS_pidfd_open, p->pid, 0u);
    if (fd < 0) return errno != EPERM;
    struct process now;
    bool is_refused = false;
    if (process_read(p->pid, &now) && now.start_ticks == p->start_ticks) { /* I1 */
        is_refused = syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0u) < 0 && errno == EPERM;
    }
    close(fd);
    return !is_refused;
}

/* --- roots -------------------------------------------------------------------------------------------------------- */

enum { ROOT_UNKNOWN = NONE - 1u };

void processes_index(const struct processes *all, struct map *out_index_by_pid)
{
    for (uint32_t i = 0; i < all->list.count; i++) map_set_u64(out_index_by_pid, (uint64_t)all->list.items[i].pid, i);
}

static uint32_t parent_index(const struct processes *all, const struct map *index_by_pid, uint32_t index)
{
    return map_get_u64(index_by_pid, (uint64_t)all->list.items[index].parent);
}

/* Follows the parents of a process up to a child of a root, to a process whose root is known, or to the top, and gives
 * the same root to every process on the way. */
static void find_root(const struct processes *all, const struct map *index_by_pid, const struct map *root_by_pid,
                      uint32_t index, uint32_t *roots)
{
    uint32_t root = ROOT_UNKNOWN, at = index;
    for (uint32_t steps = 0; at != NONE && steps <= all->list.count; steps++) {
        uint32_t root_of_parent = map_get_u64(root_by_pid, (uint64_t)all->list.items[at].parent);
        if (roots[at] == ROOT_UNKNOWN && root_of_parent != NONE) roots[at] = root_of_parent;
        root = roots[at];
        if (root != ROOT_UNKNOWN) break;
        at = parent_index(all, index_by_pid, at);
    }
    if (root == ROOT_UNKNOWN) root = NONE;
    for (at = index; at != NONE && roots[at] == ROOT_UNKNOWN; at = parent_index(all, index_by_pid, at))
        roots[at] = root;
}

void processes_find_roots(const struct processes *all, const struct map *index_by_pid, const struct map *root_by_pid,
                          uint32_t *out_roots)
{
    for (uint32_t i = 0; i < all->list.count; i++) out_roots[i] = ROOT_UNKNOWN;
    for (uint32_t i = 0; i < all->list.count; i++) find_root(all, index_by_pid, root_by_pid, i, out_roots);
}

void process_close_all_but(const int *kept, int count)
{
    int next = 3;
    for (;;) {
        int lowest = -1;
        for (int i = 0; i < count; i++) {
            if (kept[i] >= next && (lowest < 0 || kept[i] < lowest)) lowest = kept[i];
        }
        if (lowest < 0) break;
        if (lowest > next) (void)close_range((unsigned)next, (unsigned)lowest - 1, 0);
        next = lowest + 1;
    }
    (void)close_range((unsigned)next, ~0u, 0);
}
