/* Without its keeper, the processes of a job have no common parent. They are found by three marks:
 *
 *  1. their control group, if the launch has one: finds all of them;
 *  2. FAIRLEAD_LAUNCH_KEY in their environment: 128 random bits that no other process has;
 *  3. their session, for processes that emptied their environment: only as long as the session certainly belongs to
 *     this job, that is, while the job's first process or a process with the key is in it. (The kernel does not give
 *     the id of a session out again while a process is in it.)
 *
 * A process that left the session, emptied its environment and was in no control group is not found. That takes intent,
 * a machine without delegated control groups, and a keeper that was killed by force. */
#include "exec/launcher/orphans.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "exec/launcher/durable.h"
#include "exec/launcher/process.h"

static bool has_key(pid_t pid, const char *key)
{
    char path[64], wanted[64];
    struct buf text = {0};
    bool found = false;
    text_format(path, sizeof path, "/proc/%d/environ", (int)pid);
    text_format(wanted, sizeof wanted, "FAIRLEAD_LAUNCH_KEY=%s", key);
    (void)durable_read(AT_FDCWD, path, &text, &found, NULL); /* it is gone, or of another user: no key */
    bool result = text.length > 0 && memmem(text.text, text.length, wanted, strlen(wanted)) != NULL;
    buf_release(&text);
    return result;
}

uint32_t orphans_kill(const struct launch_record *started, const struct process_identity *identity)
{
    struct processes all = {0};
    bool is_session_ours = false;
    uint32_t alive_count = 0;
    cgroup_kill(&identity->cgroup);
    processes_read(&all);
    bool *have_key = mem_resize(NULL, 0, all.list.count + 1u);
    for (uint32_t i = 0; i < all.list.count; i++) {
        const struct process *p = &all.list.items[i];
        have_key[i] = p->state != 'Z' && identity->key[0] != '\0' && has_key(p->pid, identity->key);
        bool is_first = p->pid == started->pid && p->start_ticks == identity->start_ticks;
        is_session_ours |= p->session == started->pid && (have_key[i] || is_first);
    }
    for (uint32_t i = 0; i < all.list.count; i++) {
        const struct process *p = &all.list.items[i];
        bool is_orphan = have_key[i] || (is_session_ours && p->session == started->pid);
        if (!is_orphan || p->state == 'Z') continue;
        alive_count++;
        (void)process_signal(p, SIGKILL);
    }
    mem_free(have_key);
    array_release(&all.list);
    return alive_count;
}
