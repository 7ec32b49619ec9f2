#include "exec/launcher/idle_keepers.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/clock.h"
#include "exec/launcher/job_groups.h"
#include "exec/launcher/next_launch.h"

enum {
    WAIT_MS = 100,    /* for the next launch: many times what a commit of the daemon takes */
    LONG_MS = 1000,   /* the keeper of a launch that runs for longer can be spared, if sockets are needed */
    SOCKETS_MAX = 256 /* so that keepers of long jobs do not use up the launcher's descriptors */
};

static void close_socket(struct launches *l, int *next_fd)
{
    if (*next_fd < 0) return;
    close(*next_fd);
    *next_fd = -1;
    l->next_fd_count--;
}

/* Of launches that run for long: their keepers exit at their ends. Now and then, because it looks at all launches. */
static void close_old(struct launches *l)
{
    const int64_t now_us = clock_boot_us();
    if (now_us < l->next_close_us) return;
    l->next_close_us = now_us + (int64_t)LONG_MS * US_PER_MS;
    for (uint32_t i = 0; i < l->list.count; i++) {
        struct launch_entry *entry = &l->list.items[i];
        if (entry->keeper_since_us < now_us - (int64_t)LONG_MS * US_PER_MS) close_socket(l, &entry->next_fd);
    }
}

int idle_keepers_open(struct launches *l, struct launch_entry *entry)
{
    int keeper_fd;
    if (l->next_fd_count >= SOCKETS_MAX) close_old(l);
    if (l->next_fd_count >= SOCKETS_MAX || !next_launch_open(&entry->next_fd, &keeper_fd)) return -1;
    l->next_fd_count++;
    return keeper_fd;
}

static void remove_at(struct launches *l, uint32_t index)
{
    close_socket(l, &l->idle.items[index].next_fd); /* so it exits */
    l->idle.count--;
    for (uint32_t i = index; i < l->idle.count; i++) l->idle.items[i] = l->idle.items[i + 1];
}

void idle_keepers_add(struct launches *l, struct launch_entry *entry)
{
    struct idle_keeper keeper = {entry->keeper_pid, entry->next_fd, clock_boot_us(), {.launch_id = entry->id}};
    memcpy(keeper.left.key, entry->identity->key, sizeof keeper.left.key);
    entry->next_fd = -1; /* it stays open */
    launches_unwatch(l, entry);
    *array_add(&l->idle) = keeper;
}

/* The last one that became idle, because its memory is in the caches of the processor. */
pid_t idle_keepers_give(struct launches *l, struct launch_entry *entry, struct str frame)
{
    struct next_launch next = {.frame = frame, .lock_fd = l->spool->lock_fd, .log_fd = entry->segment->fd};
    memcpy(next.key, entry->identity->key, sizeof next.key);
    if (frame.length > NEXT_LAUNCH_SIZE_MAX) return 0;
    while (l->idle.count > 0) {
        struct idle_keeper keeper = l->idle.items[--l->idle.count];
        if (next_launch_send(keeper.next_fd, &next)) {
            entry->next_fd = keeper.next_fd;
            entry->left = keeper.left;
            return keeper.pid;
        }
        close_socket(l, &keeper.next_fd);
    }
    return 0;
}

static uint32_t index_of(const struct launches *l, pid_t pid)
{
    for (uint32_t i = 0; i < l->idle.count; i++) {
        if (l->idle.items[i].pid == pid) return i;
    }
    return NONE;
}

bool idle_keepers_has(const struct launches *l, pid_t pid)
{
    return index_of(l, pid) != NONE;
}

void idle_keepers_remove_left(const struct launches *l, const struct left_groups *left)
{
    if (left->launch_id != 0) (void)job_groups_remove_left(l->cgroups, str(left->key), left->launch_id);
}

void idle_keepers_on_child(struct launches *l, pid_t pid, int status)
{
    uint32_t index = index_of(l, pid);
    if (WIFSTOPPED(status)) (void)kill(pid, SIGKILL); /* a child that has not been waited for */
    if (index == NONE) return;
    if (WIFSIGNALED(status)) idle_keepers_remove_left(l, &l->idle.items[index].left);
    remove_at(l, index);
}

void idle_keepers_tick(struct launches *l)
{
    if (l->idle.count == 0) return;
    int64_t due_us = clock_boot_us() - (int64_t)WAIT_MS * US_PER_MS;
    while (l->idle.count > 0 && l->idle.items[0].since_us <= due_us) remove_at(l, 0);
}

int idle_keepers_wait_ms(const struct launches *l)
{
    return l->idle.count > 0 ? WAIT_MS : -1;
}

void idle_keepers_retire(struct launches *l)
{
    while (l->idle.count > 0) remove_at(l, l->idle.count - 1);
    for (uint32_t i = 0; i < l->list.count; i++) close_socket(l, &l->list.items[i].next_fd);
}
