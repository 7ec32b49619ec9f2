/* The memory that counts is what the kernel cannot take back without swap: anonymous memory and shared memory that is
 * mapped (Pss_Anon, Pss_Shmem of /proc/PID/smaps_rollup). Files that are mapped do not count, because their pages are a
 * cache; files of a tmpfs that no process maps are not found.
 *
 * A process of its own reads this, because the kernel takes a lock of each process that it reads, and a process of the
 * job can hold its lock for as long as it likes, with a file system that does not answer. Then the check hangs, and the
 * keeper does not; what ends the job ends the check, too.
 *
 * A process that the keeper's user may not read counts with all that it has resident. */
#include "exec/launcher/memory_check.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/quantity.h"
#include "base/saturate.h"
#include "exec/launcher/durable.h"
#include "exec/launcher/process.h"
#include "exec/launcher/process_tree.h"
#include "exec/launcher/usage_text.h"

enum { STOPS_MAX = 3 };

struct memory_sum {
    pid_t self;
    int64_t kib;
    struct buf scratch;
};

static void add(const struct process *p, void *context)
{
    struct memory_sum *sum = context;
    char path[64];
    int64_t kib = 0;
    if (p->pid == sum->self) return;
    text_format(path, sizeof path, "/proc/%d/smaps_rollup", (int)p->pid);
    if (!usage_text_parse_proportional(durable_read_text(path, &sum->scratch), &kib)) {
        text_format(path, sizeof path, "/proc/%d/status", (int)p->pid);
        (void)usage_text_parse_resident(durable_read_text(path, &sum->scratch), &kib);
    }
    sum->kib = saturate_add(sum->kib, kib);
}

static _Noreturn void check_main(pid_t keeper, int result_fd)
{
    struct memory_sum sum = {.self = getpid()};
    process_tree_walk(keeper, add, &sum);
    (void)!write(result_fd, &sum.kib, sizeof sum.kib);
    _exit(0);
}

/* Kills a check that is stopped; its result_fd ends then. False: too many have been. */
static bool kill_stopped(struct memory_check *check)
{
    struct process p;
    if (!process_read(check->pid, &p) || (p.state != 'T' && p.state != 't')) return true;
    check->stop_count++;
    (void)kill(check->pid, SIGKILL); /* a child that has not been waited for, or is a zombie */
    return check->stop_count < STOPS_MAX;
}

bool memory_check_begin(struct memory_check *check)
{
    int ends[2];
    if (check->pid != 0) return kill_stopped(check);
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) return true;
    pid_t keeper = getpid(), pid = fork();
    if (pid == 0) check_main(keeper, ends[1]);
    close(ends[1]);
    if (pid < 0)
        close(ends[0]);
    else
        *check = (struct memory_check){pid, ends[0], check->stop_count};
    return true;
}

int64_t memory_check_end(struct memory_check *check)
{
    int64_t kib = -1;
    if (read(check->result_fd, &kib, sizeof kib) != (ssize_t)sizeof kib) kib = -1;
    close(check->result_fd);
    *check = (struct memory_check){.stop_count = kib < 0 ? check->stop_count : 0};
    return kib;
}
