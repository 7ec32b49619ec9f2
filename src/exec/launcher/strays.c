#include "exec/launcher/strays.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec/launcher/durable.h"
#include "exec/launcher/process.h"

const char strays_keeper_name[] = "fairlead-keeper\n";

bool strays_is_keeper(pid_t pid, struct buf *scratch)
{
    char path[64];
    uint32_t uid;
    text_format(path, sizeof path, "/proc/%d/comm", (int)pid);
    return str_equal(durable_read_text(path, scratch), str(strays_keeper_name)) &&
           process_read_uid(pid, scratch, &uid) && uid == geteuid();
}

/* From the pids of the keepers of all known launches. False: one of them is not known yet. */
static bool index_known(const struct launches *l, struct map *out)
{
    for (uint32_t i = 0; i < l->list.count; i++) {
        const struct launch_entry *entry = &l->list.items[i];
        bool is_unknown = entry->state == ENTRY_KEEPER_UNKNOWN && !entry->is_hidden;
        if (is_unknown || entry->state == ENTRY_UNREADABLE) return false;
        if (entry->keeper_pid > 0) map_set_u64(out, (uint64_t)entry->keeper_pid, i);
    }
    return true;
}

/* Whether the process is called like a keeper and has the directory open. */
static bool is_keeper_of(pid_t pid, const struct stat *directory, struct buf *scratch)
{
    char path[64];
    bool has_it_open = false;
    if (!strays_is_keeper(pid, scratch)) return false;
    text_format(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *descriptors = opendir(path);
    if (descriptors == NULL) return false;
    for (struct dirent *entry; !has_it_open && (entry = readdir(descriptors)) != NULL;) {
        struct stat file;
        has_it_open = entry->d_name[0] != '.' && fstatat(dirfd(descriptors), entry->d_name, &file, 0) == 0 &&
                      file.st_dev == directory->st_dev && file.st_ino == directory->st_ino;
    }
    closedir(descriptors);
    return has_it_open;
}

/* roots: by process, the known keeper above it. The job of a known keeper is called like it until it executes its
 * program. */
static uint32_t index_strays(const struct launches *l, const struct processes *all, const struct map *known,
                             const uint32_t *roots, struct map *out)
{
    struct buf scratch = {0};
    struct stat directory;
    uint32_t count = 0;
    if (fstat(l->spool->fd, &directory) != 0) return 0;
    for (uint32_t i = 0; i < all->list.count; i++) {
        const struct process *p = &all->list.items[i];
        bool is_known = roots[i] != NONE || map_get_u64(known, (uint64_t)p->pid) != NONE;
        if (is_known || p->state == 'Z' || !is_keeper_of(p->pid, &directory, &scratch)) continue;
        map_set_u64(out, (uint64_t)p->pid, i);
        count++;
    }
    buf_release(&scratch);
    return count;
}

/* What is below the keepers first: until it is gone, they are the parents of what it leaves. */
static void kill_all(const struct processes *all, const struct map *strays, const uint32_t *roots, bool with_keepers)
{
    for (uint32_t i = 0; i < all->list.count; i++) {
        if (roots[i] != NONE && all->list.items[i].state != 'Z') (void)process_signal(&all->list.items[i], SIGKILL);
    }
    for (uint32_t i = 0; i < all->list.count; i++) {
        const struct process *p = &all->list.items[i];
        bool is_stray = map_get_u64(strays, (uint64_t)p->pid) != NONE;
        if (is_stray && roots[i] == NONE) (void)process_signal(p, with_keepers ? SIGKILL : SIGCONT);
    }
}

uint32_t strays_kill(const struct launches *l, bool with_keepers)
{
    struct processes all = {0};
    struct map known = {0}, strays = {0}, index_by_pid = {0};
    uint32_t count = UINT32_MAX;
    processes_read(&all); /* before the keepers are told apart, so that none is newer than that */
    uint32_t *roots = mem_resize(NULL, 0, (all.list.count + (size_t)1) * sizeof *roots);
    if (index_known(l, &known)) {
        processes_index(&all, &index_by_pid);
        processes_find_roots(&all, &index_by_pid, &known, roots);
        count = index_strays(l, &all, &known, roots, &strays);
    }
    if (count > 0 && count != UINT32_MAX) {
        processes_find_roots(&all, &index_by_pid, &strays, roots);
        kill_all(&all, &strays, roots, with_keepers);
    }
    mem_free(roots);
    map_release(&known);
    map_release(&strays);
    map_release(&index_by_pid);
    array_release(&all.list);
    return count;
}
