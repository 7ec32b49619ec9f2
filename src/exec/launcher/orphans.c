/* Without its keeper, the processes of a job have no common parent. They are found by three marks:
 *
 *  1. their control group, if the launch has one: finds all of them;
 *  2. FAIRLEAD_LAUNCH_KEY in their environment: 128 random bits that no other process has;
 *  3. their session, for processes that emptied their environment: only as long as the session certainly belongs to
 *     this job, that is, while the job's first process or a process with the key is in it. (The kernel does not give
 *     the id of a session out again while a process is in it.)
 *
 * Keepers are often killed together, so the marks of all launches are looked up for each process: /proc is read once
 * however many launches there are.
 *
 * A process that left the session, emptied its environment and was in no control group is not found. That takes intent,
 * a machine without delegated control groups, and a keeper that was killed by force. */
#include "exec/launcher/orphans.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/quantity.h"
#include "exec/launcher/durable.h"
#include "exec/launcher/process.h"

#define KEY_VARIABLE "FAIRLEAD_LAUNCH_KEY="

struct orphan_search {
    struct orphan_launch *launches;
    struct map by_key, by_session; /* to the index of a launch; the session is that of its first process */
    bool *owns_session;            /* by launch: the session certainly belongs to it */
    struct buf scratch;
};

static struct str key_of(const struct orphan_launch *launch)
{
    return str(launch->identity->key);
}

static void index_launches(struct orphan_search *s, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        s->launches[i].alive_count = 0;
        cgroup_kill(&s->launches[i].identity->cgroup);
        if (key_of(&s->launches[i]).length > 0) map_set(&s->by_key, key_of(&s->launches[i]), i);
        if (s->launches[i].first_pid > 0) map_set_u64(&s->by_session, (uint64_t)s->launches[i].first_pid, i);
    }
}

/* The launch whose key is in the environment of a process; NONE: it has none of them, is gone, or is of another
 * user. */
static uint32_t find_by_key(struct orphan_search *s, pid_t pid)
{
    char path[64];
    text_format(path, sizeof path, "/proc/%d/environ", (int)pid);
    struct str rest = durable_read_text(path, &s->scratch);
    const struct str variable = str(KEY_VARIABLE);
    for (const char *at; rest.length > 0; rest = str_range(at, rest.text + rest.length)) {
        at = memmem(rest.text, rest.length, variable.text, variable.length);
        if (at == NULL) break;
        at += variable.length;
        if (rest.text + rest.length - at < LAUNCH_KEY_SIZE - 1) break;
        uint32_t found = map_get(&s->by_key, (struct str){at, LAUNCH_KEY_SIZE - 1});
        if (found != NONE) return found;
    }
    return NONE;
}

/* Whether a process with the pid of the main process is that one: a later process with this pid was started later than
 * the main process ran. */
static bool is_as_old(const struct process *p, const struct process_identity *identity)
{
    if (identity->start_ticks != 0) return p->start_ticks == identity->start_ticks;
    const int64_t us_per_tick = US_PER_S / sysconf(_SC_CLK_TCK);
    return p->start_ticks <= (uint64_t)(identity->running_boot_us / us_per_tick);
}

/* The launch to which a process certainly belongs; NONE: none. Notes whose session it shows to be. */
static uint32_t find_owner(struct orphan_search *s, const struct process *p)
{
    uint32_t owner = p->state == 'Z' ? NONE : find_by_key(s, p->pid);
    uint32_t of_session = map_get_u64(&s->by_session, (uint64_t)p->session);
    if (of_session == NONE) return owner;
    const struct orphan_launch *launch = &s->launches[of_session];
    bool is_first = p->pid == launch->first_pid && is_as_old(p, launch->identity);
    if (is_first || owner == of_session) s->owns_session[of_session] = true;
    return owner;
}

static void kill_all(struct orphan_search *s, const struct processes *all, const uint32_t *owners)
{
    for (uint32_t i = 0; i < all->list.count; i++) {
        const struct process *p = &all->list.items[i];
        uint32_t owner = owners[i], of_session = map_get_u64(&s->by_session, (uint64_t)p->session);
        if (owner == NONE && of_session != NONE && s->owns_session[of_session]) owner = of_session;
        if (owner == NONE || p->state == 'Z') continue;
        s->launches[owner].alive_count++;
        (void)process_signal(p, SIGKILL);
    }
}

void orphans_kill(struct orphan_launch *launches, uint32_t count)
{
    struct orphan_search s = {.launches = launches};
    struct processes all = {0};
    index_launches(&s, count);
    processes_read(&all);
    s.owns_session = mem_resize(NULL, 0, count + (size_t)1);
    uint32_t *owners = mem_resize(NULL, 0, (all.list.count + (size_t)1) * sizeof *owners);
    for (uint32_t i = 0; i < all.list.count; i++) owners[i] = find_owner(&s, &all.list.items[i]);
    kill_all(&s, &all, owners);
    mem_free(owners);
    mem_free(s.owns_session);
    map_release(&s.by_key);
    map_release(&s.by_session);
    buf_release(&s.scratch);
    array_release(&all.list);
}
