/* Without its keeper, a job's processes have no parent in common any more. They are found by three traces:
 *
 *  1. its control group, where it has one: complete;
 *  2. FAIRLEAD_LAUNCH_KEY in their environment, 128 random bits that no other process has;
 *  3. its session, for those who emptied their environment: only as long as it is certainly still this job's, that is,
 *     as long as its first process or a process with the key is in it. (A session's number is not given out again
 *     while anyone is in it.)
 *
 * Someone who left the session, emptied the environment and was in no control group is not found. That takes intent, a
 * machine without delegated control groups, and a keeper killed by force. */
#include "exec/launcher/orphans.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "exec/launcher/durable.h"
#include "exec/launcher/process_tree.h"

static bool has_key(pid_t pid, const char *key)
{
    char path[64], wanted[64];
    struct buf text = {0};
    bool found = false;
    text_format(path, sizeof path, "/proc/%d/environ", (int)pid);
    text_format(wanted, sizeof wanted, "FAIRLEAD_LAUNCH_KEY=%s", key);
    (void)durable_read(AT_FDCWD, path, &text, &found, NULL); /* gone, or not for us to read: no key */
    bool result = text.length > 0 && memmem(text.text, text.length, wanted, strlen(wanted)) != NULL;
    buf_release(&text);
    return result;
}

uint32_t orphans_kill(const struct launch_record *started, const struct process_identity *traces)
{
    struct processes all = {0};
    bool session_ours = false;
    uint32_t count = 0;
    cgroup_kill(&traces->cgroup);
    processes_read(&all);
    bool *keyed = mem_resize(NULL, 0, all.list.count + 1u);
    for (uint32_t i = 0; i < all.list.count; i++) {
        const struct process *p = &all.list.items[i];
        keyed[i] = p->state != 'Z' && traces->key[0] != '\0' && has_key(p->pid, traces->key);
        bool first = p->pid == started->pid && p->born == traces->born;
        session_ours |= p->session == started->pid && (keyed[i] || first);
    }
    for (uint32_t i = 0; i < all.list.count; i++) {
        const struct process *p = &all.list.items[i];
        bool ours = keyed[i] || (session_ours && p->session == started->pid);
        if (!ours || p->state == 'Z') continue;
        count++;
        (void)process_signal(p, SIGKILL);
    }
    mem_free(keyed);
    array_release(&all.list);
    return count;
}
