#include "exec/launcher/kept_launches.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "exec/clock.h"
#include "exec/launcher/durable.h"
#include "exec/launcher/log_text.h"
#include "exec/launcher/process.h"
#include "exec/launcher/strays.h"

#define KEY_VARIABLE "FAIRLEAD_LAUNCH_KEY="
#define UNSTARTED_US (10 * US_PER_S) /* a job that has executed nothing for so long counts as started */

/* --- the segment of a keeper -------------------------------------------------------------------------------------- */

/* The number in ".../launches/12.log", or in ".../launches/12.log (deleted)"; 0: it is another file. */
static uint32_t number_of(const char *path)
{
    struct str rest, name = str(path);
    for (struct str part = name; part.text != NULL; part = rest) name = str_cut(part, '/', &rest);
    uint64_t number;
    struct str suffix, digits = str_cut(name, '.', &suffix);
    bool is_segment = str_equal(suffix, str("log")) || str_equal(suffix, str("log (deleted)"));
    return is_segment && number_parse_u64(digits, &number) && number < UINT32_MAX ? (uint32_t)number : 0;
}

static struct log_segment *find_open(const struct log_segments *s, const struct stat *file)
{
    for (uint32_t i = 0; i < s->list.count; i++) {
        struct stat open_file;
        if (fstat(s->list.items[i]->fd, &open_file) == 0 && open_file.st_dev == file->st_dev &&
            open_file.st_ino == file->st_ino)
            return s->list.items[i];
    }
    return NULL;
}

/* The segment behind a descriptor of a keeper; NULL: it is another file. */
static struct log_segment *segment_at(struct launches *l, int directory_fd, const char *name, bool *out_is_new)
{
    char target[PATH_MAX];
    struct stat file;
    ssize_t length = readlinkat(directory_fd, name, target, sizeof target - 1);
    if (length <= 0 || fstatat(directory_fd, name, &file, 0) != 0 || !S_ISREG(file.st_mode)) return NULL;
    target[length] = '\0';
    uint32_t number = number_of(target);
    if (number == 0) return NULL;
    struct log_segment *g = find_open(&l->segments, &file);
    *out_is_new = g == NULL;
    if (g != NULL) return g;
    int fd = openat(directory_fd, name, O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK);
    return fd >= 0 ? segments_add_removed(&l->segments, number, fd) : NULL;
}

static struct log_segment *segment_of(struct launches *l, pid_t keeper, bool *out_is_new)
{
    char path[64];
    struct log_segment *g = NULL;
    text_format(path, sizeof path, "/proc/%d/fd", (int)keeper);
    DIR *descriptors = opendir(path);
    for (struct dirent *entry; g == NULL && descriptors != NULL && (entry = readdir(descriptors)) != NULL;) {
        if (entry->d_name[0] != '.') g = segment_at(l, dirfd(descriptors), entry->d_name, out_is_new);
    }
    if (descriptors != NULL) closedir(descriptors);
    return g;
}

/* --- whether it has started --------------------------------------------------------------------------------------- */

static bool has_executed(pid_t pid, struct buf *scratch)
{
    char path[64];
    text_format(path, sizeof path, "/proc/%d/comm", (int)pid);
    struct str name = durable_read_text(path, scratch);
    return name.text != NULL && !str_equal(name, str(strays_keeper_name));
}

/* The first child of the keeper that leads a session: the job's main process, as long as it runs. */
static bool find_main(pid_t keeper, struct process *out, bool *out_has_executed)
{
    struct processes all = {0};
    struct buf scratch = {0};
    const struct process *found = NULL;
    processes_read(&all);
    for (uint32_t i = 0; i < all.list.count; i++) {
        const struct process *p = &all.list.items[i];
        if (p->parent != keeper) continue;
        bool is_better =
            found == NULL || (p->session == p->pid) > (found->session == found->pid) ||
            ((p->session == p->pid) == (found->session == found->pid) && p->start_ticks < found->start_ticks);
        if (is_better) found = p;
    }
    bool is_found = found != NULL;
    *out_has_executed = is_found && has_executed(found->pid, &scratch);
    if (is_found) *out = *found;
    array_release(&all.list);
    buf_release(&scratch);
    return is_found;
}

static void read_key(pid_t pid, char out[LAUNCH_KEY_SIZE])
{
    char path[64];
    struct buf scratch = {0};
    text_format(path, sizeof path, "/proc/%d/environ", (int)pid);
    struct str rest = durable_read_text(path, &scratch);
    while (rest.length > 0) {
        struct str variable = str_cut(rest, '\0', &rest), name = str(KEY_VARIABLE);
        if (variable.length != name.length + LAUNCH_KEY_SIZE - 1 || !str_starts(variable, name)) continue;
        text_format(out, LAUNCH_KEY_SIZE, "%.*s", LAUNCH_KEY_SIZE - 1, variable.text + name.length);
    }
    buf_release(&scratch);
}

static void append_started(struct launches *l, struct launch_entry *entry, const struct process *p)
{
    const int64_t us_per_tick = US_PER_S / sysconf(_SC_CLK_TCK);
    struct launch_record record = {.id = entry->id, .phase = LAUNCH_STARTED, .pid = p->pid};
    struct buf line = {0};
    launch_record_set_time(&record, l->boot_id);
    record.started_boot_us = (int64_t)p->start_ticks * us_per_tick;
    record.started_us = record.at_us - (record.at_boot_us - record.started_boot_us);
    launch_record_set_detail(&record, "");
    log_text_add_record(&line, &record);
    (void)segment_append(entry->segment, (struct str){line.text, line.length}, NULL);
    buf_release(&line);
    entry->identity->running_boot_us = record.at_boot_us;
    launches_update(l, entry, &record);
}

void kept_launches_note_start(struct launches *l, struct launch_entry *entry)
{
    struct process p;
    bool has_executed_it;
    entry->is_record_due = !entry->has_record && entry->keeper_pid != 0;
    if (!entry->is_record_due) return;
    bool is_late = clock_boot_us() >= entry->found_us + UNSTARTED_US;
    if (find_main(entry->keeper_pid, &p, &has_executed_it) && (has_executed_it || is_late)) {
        read_key(p.pid, entry->identity->key);
        cgroup_set_path(l->cgroups, entry->id, entry->identity->key, &entry->identity->cgroup);
        append_started(l, entry, &p);
        entry->is_record_due = false;
    }
    if (entry->is_record_due) launches_retry_later(l);
}

/* --- all keepers -------------------------------------------------------------------------------------------------- */

static void append_start_line(struct launches *l, const struct launch_entry *entry)
{
    struct buf fields = {0}, line = {0};
    buf_format(&fields, "start=%" PRIu64 "\n", entry->id);
    if (entry->has_script) buf_add_text(&fields, "script=1\n");
    process_identity_format(entry->identity, &fields);
    log_text_add(&line, (struct str){fields.text, fields.length});
    (void)segment_append(entry->segment, (struct str){line.text, line.length}, NULL);
    buf_release(&fields);
    buf_release(&line);
    (void)l;
}

/* Its start line was cut away. */
static void add_unknown(struct launches *l, uint64_t id, struct log_segment *g)
{
    char name[40];
    struct stat file;
    uint32_t index = launches_add(l, id, g);
    struct launch_entry *entry = &l->list.items[index];
    text_format(name, sizeof name, "%" PRIu64 ".script", id);
    entry->is_of_scan = entry->is_record_due = true;
    entry->has_script = fstatat(l->spool->launches_fd, name, &file, AT_SYMLINK_NOFOLLOW) == 0;
    entry->found_us = clock_boot_us();
    entry->identity = mem_resize(NULL, 0, sizeof *entry->identity);
    text_format(entry->identity->boot_id, sizeof entry->identity->boot_id, "%s", l->boot_id);
    entry->identity->place = l->segments.place;
    g->is_cut = true; /* so it may have run, whatever is found of it */
    g->used = g->size;
    append_start_line(l, entry);
    launches_retry_later(l);
}

void kept_launches_find(struct launches *l, void (*take_lines)(struct launches *l, struct log_segment *g))
{
    struct segments_keepers keepers = {0};
    struct buf scratch = {0};
    segments_list_keepers(&l->segments, &keepers);
    for (uint32_t i = 0; i < keepers.list.count; i++) {
        const struct segments_keeper *k = &keepers.list.items[i];
        bool is_new = false;
        if (launches_find(l, k->launch_id) != NULL || !strays_is_keeper(k->pid, &scratch)) continue;
        struct log_segment *g = segment_of(l, k->pid, &is_new);
        if (g != NULL && is_new && segment_read(g)) take_lines(l, g);
        bool still_has_it = segments_find_keeper(&l->segments, k->launch_id) == k->pid;
        if (g == NULL || !still_has_it || launches_find(l, k->launch_id) != NULL) continue;
        if (!segment_has_start(g, k->launch_id)) add_unknown(l, k->launch_id, g); /* else it is acknowledged */
    }
    array_release(&keepers.list);
    buf_release(&scratch);
}
