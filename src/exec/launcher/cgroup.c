/* Control groups through their files. A job does not depend on them: if a group cannot be created or used, the keeper
 * reaches its descendants as their subreaper (process_tree.c). With a group, one kill reaches all processes, also of a
 * job that forks all the time.
 *
 * Version 2 is preferred, because its groups can be delegated to users, as systemd does for user@UID.service. On a
 * machine with both versions, the mounted tree of version 2 may have no controllers. Killing works there all the same;
 * the CPU weight, and limits of memory and CPUs, are then set in hierarchies of version 1, where only root may create
 * groups. */
#include "exec/launcher/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/number.h"
#include "base/quantity.h"
#include "exec/clock.h"
#include "exec/launch.h"
#include "exec/launcher/durable.h"
#include "exec/launcher/jobs_group.h"
#include "exec/launcher/usage_text.h"

#define ROOT_GROUP "fairlead"
#define PROBE_PREFIX "fairlead-probe-"

enum { DEPTH_MAX = 32, REMOVE_TRIES = 100, REMOVE_RETRY_MS = 1 };

/* --- where groups are --------------------------------------------------------------------------------------------- */

static bool has_word(struct str comma_list, const char *word)
{
    while (comma_list.text != NULL) {
        if (str_equal(str_cut(comma_list, ',', &comma_list), str(word))) return true;
    }
    return false;
}

/* Finds the path in a line of /proc/self/cgroup: "0::/path" of version 2, "4:cpu,cpuacct:/path" of version 1
 * (cgroups(7)). */
static bool find_membership(struct str text, const char *controller, struct str *out_path)
{
    while (text.length > 0) {
        struct str path, line = str_cut(text, '\n', &text);
        struct str number = str_cut(line, ':', &line), controllers = str_cut(line, ':', &path);
        bool matches = controller == NULL ? str_equal(number, str("0")) && controllers.length == 0
                                          : has_word(controllers, controller);
        if (!matches || !str_starts(path, str("/"))) continue;
        *out_path = path;
        return true;
    }
    return false;
}

/* Finds a mount in /proc/self/mountinfo (proc(5)): "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2
 * rw". The root is the 4th field and the mount point the 5th; the type follows " - ". Two fields after the type,
 * version 1 lists the controllers: "cgroup cgroup rw,cpu". */
static bool find_mount(struct str text, const char *controller, struct str *out_root, struct str *out_mount_point)
{
    const char *type = controller == NULL ? "- cgroup2 " : "- cgroup ";
    while (text.length > 0) {
        struct str line = str_cut(text, '\n', &text), fields[5];
        for (int i = 0; i < 5; i++) fields[i] = str_cut(line, ' ', &line);
        const char *mark = line.text ? memmem(line.text, line.length, type, strlen(type)) : NULL;
        if (mark == NULL || mark == line.text || mark[-1] != ' ') continue;
        struct str options = str_range(mark + strlen(type), line.text + line.length);
        (void)str_cut(options, ' ', &options);
        if (controller != NULL && !has_word(options, controller)) continue;
        *out_root = fields[3];
        *out_mount_point = fields[4];
        return true;
    }
    return false;
}

static bool is_octal_byte(const char *text)
{
    return text[0] >= '0' && text[0] <= '3' && text[1] >= '0' && text[1] <= '7' && text[2] >= '0' && text[2] <= '7';
}

/* Copies a field of mountinfo, in which blanks, tabs and backslashes stand as \ooo. Returns the length of the copy. */
static size_t unescape(struct str field, char *out, size_t size)
{
    size_t length = 0;
    for (size_t i = 0; i < field.length && length + 1 < size; i++) {
        char c = field.text[i];
        if (c == '\\' && i + 3 < field.length && is_octal_byte(field.text + i + 1)) {
            c = (char)((field.text[i + 1] - '0') << 6 | (field.text[i + 2] - '0') << 3 | (field.text[i + 3] - '0'));
            i += 3;
        }
        out[length++] = c;
    }
    out[length] = '\0';
    return length;
}

bool cgroup_find(struct str membership, struct str mounts, const char *controller, char *out, size_t size)
{
    struct str path, root, mount_point;
    ensure(size > 0);
    if (!find_membership(membership, controller, &path)) return false;
    if (!find_mount(mounts, controller, &root, &mount_point)) return false;
    if (!str_equal(root, str("/"))) {
        if (!str_starts(path, root)) return false; /* the group is outside of what is mounted here */
        path = (struct str){path.text + root.length, path.length - root.length};
        if (path.length > 0 && path.text[0] != '/') return false; /* "/boxes" is not below "/box" */
    }
    while (path.length > 0 && path.text[path.length - 1] == '/') path.length--;
    size_t used = unescape(mount_point, out, size);
    if (used + path.length + 1 > size) return false;
    if (path.length > 0) memcpy(out + used, path.text, path.length);
    out[used + path.length] = '\0';
    return strstr(out, "/..") == NULL; /* how a group outside of the cgroup namespace is shown */
}

bool cgroup_find_jobs_unit(struct str membership, struct str mounts, char *out, size_t size)
{
    if (!cgroup_find(membership, mounts, NULL, out, size)) return false;
    char *slash = strrchr(out, '/');
    size_t parent_length = slash == NULL ? 0 : (size_t)(slash - out);
    if (slash == NULL || parent_length + sizeof "/" JOBS_GROUP_UNIT > size) return false;
    text_format(slash, size - parent_length, "/%s", JOBS_GROUP_UNIT);
    return true;
}

/* --- the files of a group ----------------------------------------------------------------------------------------- */

/* False if the path would be too long. */
static bool join_path(const char *group, const char *name, char out[PATH_MAX])
{
    return text_format(out, PATH_MAX, "%s/%s", group, name) < PATH_MAX;
}

/* Which all can read, whatever the umask: programs look up the limits of their group. */
static bool make_directory(const char *path)
{
    const mode_t others_umask = umask(022);
    bool is_created = mkdir(path, 0755) == 0;
    (void)umask(others_umask);
    return is_created;
}

static bool write_file(const char *group, const char *name, const char *text)
{
    char path[PATH_MAX];
    if (!join_path(group, name, path)) return false;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool is_written = durable_write_all(fd, str(text)) == 0;
    close(fd);
    return is_written;
}

/* Whether a group can be created in the directory and has this file, and whether it can be written. */
static bool can_create_groups(const char *directory, const char *file)
{
    char path[PATH_MAX], name[64];
    struct cgroup probe;
    text_format(name, sizeof name, PROBE_PREFIX "%d", (int)getpid());
    if (!join_path(directory, name, probe.path)) return false;
    cgroup_create(&probe);
    if (probe.path[0] == '\0') return false;
    bool has_file = join_path(probe.path, file, path) && access(path, W_OK) == 0;
    return cgroup_remove(&probe) && has_file;
}

/* Removes the probes of launchers that were killed meanwhile. */
static void remove_old_probes(const char *directory)
{
    DIR *groups = opendir(directory);
    if (groups == NULL) return;
    for (struct dirent *entry; (entry = readdir(groups)) != NULL;) {
        char path[PATH_MAX];
        uint64_t pid;
        if (strncmp(entry->d_name, PROBE_PREFIX, strlen(PROBE_PREFIX)) != 0) continue;
        bool is_pid = number_parse_u64(str(entry->d_name + strlen(PROBE_PREFIX)), &pid) && pid > 0 && pid <= INT_MAX;
        if (!is_pid || kill((pid_t)pid, 0) == 0 || errno != ESRCH) continue;
        if (join_path(directory, entry->d_name, path)) (void)rmdir(path);
    }
    closedir(groups);
}

/* Whether groups in the parent can be created, killed, and entered from this process's own group. Moving a process
 * needs write access to the cgroup.procs of the common ancestor of both groups, which is the parent. */
static bool is_usable(const struct cgroup_parent *parent)
{
    char path[PATH_MAX];
    if (parent->path[0] == '\0') return false;
    remove_old_probes(parent->path);
    return join_path(parent->path, "cgroup.procs", path) && access(path, W_OK) == 0 &&
           can_create_groups(parent->path, "cgroup.kill");
}

/* Gives the groups below a parent of version 2 a controller: "+cpu\n". The kernel refuses it for a group that has
 * processes of its own, unless it is the root. */
static bool enable_controller(const struct cgroup_parent *parent, const char *controller)
{
    return parent->path[0] != '\0' && write_file(parent->path, "cgroup.subtree_control", controller);
}

/* The process's own group of a hierarchy of version 1; "" if it cannot create groups with this file there. */
static void find_v1(struct str membership, struct str mounts, const char *controller, const char *file,
                    char out[PATH_MAX])
{
    bool is_found = cgroup_find(membership, mounts, controller, out, PATH_MAX);
    if (is_found) remove_old_probes(out);
    if (!is_found || !can_create_groups(out, file)) out[0] = '\0';
}

/* The hierarchies of version 1 for the controllers that version 2 does not have. */
static void probe_v1(struct str membership, struct str mounts, bool has_cpu, struct cgroup_parent *out)
{
    if (!has_cpu) find_v1(membership, mounts, "cpu", "cpu.shares", out->cpu_path);
    if (!out->has_memory) find_v1(membership, mounts, "memory", "memory.limit_in_bytes", out->memory_path);
    if (!out->has_cpuset) find_v1(membership, mounts, "cpuset", "cpuset.cpus", out->cpuset_path);
    if (out->path[0] == '\0') find_v1(membership, mounts, "freezer", "freezer.state", out->freezer_path);
}

/* The kernel refuses a group that exists (EEXIST), which is as good. */
static void take_directory(const char *directory, char out[PATH_MAX])
{
    if (text_format(out, PATH_MAX, "%s", directory) >= PATH_MAX) out[0] = '\0';
    (void)make_directory(out);
}

/* Returns whether the groups in the parent have the cpu controller. */
static bool take_controllers(struct cgroup_parent *out)
{
    (void)enable_controller(out, "+io\n"); /* needed for I/O in cgroup_read_usage */
    out->has_memory = enable_controller(out, "+memory\n") && can_create_groups(out->path, "memory.max");
    out->has_cpuset = enable_controller(out, "+cpuset\n") && can_create_groups(out->path, "cpuset.cpus");
    return enable_controller(out, "+cpu\n");
}

/* The group ROOT_GROUP at the top of the hierarchy, as container engines have one. False, and *out stays, unless it has
 * the memory controller: then the process's own group is as good. */
static bool take_root_group(struct str mounts, struct cgroup_parent *out, bool *out_has_cpu)
{
    static const char *const controllers[] = {"+cpu\n", "+io\n", "+memory\n", "+cpuset\n"};
    struct cgroup_parent top, found = {.path = ""};
    if (!cgroup_find(str("0::/\n"), mounts, NULL, top.path, sizeof top.path)) return false;
    if (!cgroup_find(str("0::/" ROOT_GROUP "\n"), mounts, NULL, found.path, sizeof found.path)) return false;
    for (size_t i = 0; i < sizeof controllers / sizeof *controllers; i++) (void)enable_controller(&top, controllers[i]);
    (void)make_directory(found.path);
    bool has_cpu = is_usable(&found) && take_controllers(&found);
    if (!found.has_memory) {
        (void)rmdir(found.path);
        return false;
    }
    *out = found;
    *out_has_cpu = has_cpu;
    return true;
}

/* The group of fairlead-jobs.service. False, and *out stays, unless it has the memory controller. */
static bool take_jobs_group(struct str membership, struct str mounts, struct cgroup_parent *out, bool *out_has_cpu)
{
    struct cgroup_parent found = {.path = ""};
    if (!cgroup_find_jobs_unit(membership, mounts, found.path, sizeof found.path)) return false;
    bool has_cpu = is_usable(&found) && take_controllers(&found);
    if (!found.has_memory) return false;
    bool has_keepers =
        join_path(found.path, JOBS_GROUP_KEEPERS, found.keepers_path) && access(found.keepers_path, W_OK) == 0;
    if (!has_keepers) found.keepers_path[0] = '\0';
    *out = found;
    *out_has_cpu = has_cpu;
    return true;
}

/* The directory, or without one the own group. Returns whether groups there have the cpu controller. */
static bool take_group(const char *directory, struct str membership, struct str mounts, struct cgroup_parent *out)
{
    if (directory != NULL)
        take_directory(directory, out->path);
    else if (!cgroup_find(membership, mounts, NULL, out->path, sizeof out->path))
        out->path[0] = '\0';
    if (!is_usable(out)) out->path[0] = '\0';
    return take_controllers(out);
}

void cgroup_probe(const char *directory, bool is_system, struct cgroup_parent *out)
{
    struct buf membership_text = {0}, mounts_text = {0};
    bool found, has_cpu, may_choose = directory == NULL && is_system;
    *out = (struct cgroup_parent){0};
    (void)durable_read(AT_FDCWD, "/proc/self/cgroup", &membership_text, &found, NULL);
    (void)durable_read(AT_FDCWD, "/proc/self/mountinfo", &mounts_text, &found, NULL);
    struct str membership = {membership_text.text, membership_text.length};
    struct str mounts = {mounts_text.text, mounts_text.length};
    if (!may_choose || !take_jobs_group(membership, mounts, out, &has_cpu)) {
        has_cpu = take_group(directory, membership, mounts, out);
        if (may_choose && !out->has_memory) (void)take_root_group(mounts, out, &has_cpu);
    }
    probe_v1(membership, mounts, has_cpu, out);
    buf_release(&membership_text);
    buf_release(&mounts_text);
}

bool cgroup_parent_is_gone(const struct cgroup_parent *parent)
{
    return parent->path[0] != '\0' && access(parent->path, F_OK) < 0;
}

struct enforcement cgroup_enforcement(const struct cgroup_parent *parent)
{
    return (struct enforcement){.memory = parent->has_memory               ? ENFORCEMENT_MEMORY_GROUP
                                          : parent->memory_path[0] != '\0' ? ENFORCEMENT_MEMORY_GROUP_1
                                                                           : ENFORCEMENT_MEMORY_SAMPLING,
                                .cpus = parent->has_cpuset || parent->cpuset_path[0] != '\0'
                                            ? ENFORCEMENT_CPUS_CPUSET
                                            : ENFORCEMENT_CPUS_AFFINITY,
                                .kill = parent->path[0] != '\0' ? ENFORCEMENT_KILL_GROUP : ENFORCEMENT_KILL_TREE,
                                .suspend = parent->path[0] != '\0'           ? ENFORCEMENT_SUSPEND_GROUP
                                           : parent->freezer_path[0] != '\0' ? ENFORCEMENT_SUSPEND_GROUP_1
                                                                             : ENFORCEMENT_SUSPEND_SIGNALS};
}

/* --- one group ---------------------------------------------------------------------------------------------------- */

enum { NAME_KEY_DIGITS = 8 };

bool cgroup_parse_name(const char *name, struct str instance_id, uint64_t *out_launch_id)
{
    struct str rest, prefix = str_cut(str(name), '-', &rest), id = str_cut(rest, '-', &rest);
    return instance_id.length >= NAME_KEY_DIGITS && str_equal(prefix, str("fairlead")) &&
           str_equal(rest, (struct str){instance_id.text, NAME_KEY_DIGITS}) && number_parse_u64(id, out_launch_id);
}

static void set_path(const char *parent, uint64_t launch_id, const char *key, struct cgroup *out)
{
    char name[96];
    text_format(name, sizeof name, "fairlead-%" PRIu64 "-%.*s", launch_id, NAME_KEY_DIGITS, key);
    if (parent[0] == '\0' || !join_path(parent, name, out->path)) out->path[0] = '\0';
}

void cgroup_set_path(const struct cgroup_parent *parent, uint64_t launch_id, const char *key, struct cgroup *out)
{
    set_path(parent->path, launch_id, key, out);
}

void cgroup_set_cpu_path(const struct cgroup_parent *parent, uint64_t launch_id, const char *key, struct cgroup *out)
{
    set_path(parent->cpu_path, launch_id, key, out);
}

void cgroup_set_freezer_path(const struct cgroup_parent *parent, uint64_t launch_id, const char *key,
                             struct cgroup *out)
{
    set_path(parent->freezer_path, launch_id, key, out);
}

void cgroup_set_memory_path(const struct cgroup_parent *parent, uint64_t launch_id, const char *key, struct cgroup *out)
{
    set_path(parent->memory_path, launch_id, key, out);
}

void cgroup_set_cpuset_path(const struct cgroup_parent *parent, uint64_t launch_id, const char *key, struct cgroup *out)
{
    set_path(parent->cpuset_path, launch_id, key, out);
}

void cgroup_create(struct cgroup *g)
{
    if (g->path[0] != '\0' && !make_directory(g->path)) g->path[0] = '\0';
}

bool cgroup_attach(const struct cgroup *g, pid_t pid)
{
    char text[16];
    text_format(text, sizeof text, "%d\n", (int)pid);
    return g->path[0] != '\0' && write_file(g->path, "cgroup.procs", text);
}

/* Version 1 has shares instead of weights: 1024 by default and 2 at least. */
bool cgroup_set_cpu_weight(const struct cgroup *g, uint32_t weight)
{
    enum { SHARES_DEFAULT = 1024, SHARES_MIN = 2 };
    char text[24];
    ensure(weight >= LAUNCH_CPU_WEIGHT_MIN && weight <= LAUNCH_CPU_WEIGHT_MAX);
    if (g->path[0] == '\0') return false;
    text_format(text, sizeof text, "%" PRIu32 "\n", weight);
    if (write_file(g->path, "cpu.weight", text)) return true;
    uint32_t shares = weight * SHARES_DEFAULT / LAUNCH_CPU_WEIGHT_DEFAULT;
    text_format(text, sizeof text, "%" PRIu32 "\n", shares > SHARES_MIN ? shares : SHARES_MIN);
    return write_file(g->path, "cpu.shares", text);
}

bool cgroup_set_memory_limit(const struct cgroup *g, int64_t limit_kib)
{
    char text[24];
    text_format(text, sizeof text, "%" PRId64 "\n", limit_kib * BYTES_PER_KIB);
    if (g->path[0] == '\0') return false;
    if (write_file(g->path, "memory.max", text)) {
        (void)write_file(g->path, "memory.oom.group", "1\n");
        (void)write_file(g->path, "memory.swap.max", "0\n");
        return true;
    }
    if (!write_file(g->path, "memory.limit_in_bytes", text)) return false;
    (void)write_file(g->path, "memory.memsw.limit_in_bytes", text);
    return true;
}

bool cgroup_has_memory_limit(const struct cgroup *g)
{
    char path[PATH_MAX];
    if (g->path[0] == '\0') return false;
    return (join_path(g->path, "memory.max", path) && access(path, F_OK) == 0) ||
           (join_path(g->path, "memory.limit_in_bytes", path) && access(path, F_OK) == 0);
}

static struct str read_file(const char *group, const char *name, struct buf *scratch)
{
    char path[PATH_MAX];
    return join_path(group, name, path) ? durable_read_text(path, scratch) : (struct str){0};
}

/* An empty io.stat means 0 bytes; a missing one means unknown. */
void cgroup_read_sums(const char *path, struct buf *scratch, struct cgroup_usage *out)
{
    *out = (struct cgroup_usage){-1, -1, -1};
    if (path[0] == '\0') return;
    (void)usage_text_parse_group_cpu(read_file(path, "cpu.stat", scratch), &out->cpu_us);
    struct str io = read_file(path, "io.stat", scratch);
    if (io.text != NULL) (void)usage_text_parse_group_io(io, &out->io_bytes);
}

void cgroup_read_usage(const char *path, struct buf *scratch, struct cgroup_usage *out)
{
    cgroup_read_sums(path, scratch, out);
    if (path[0] != '\0') (void)usage_text_parse_group_memory(read_file(path, "memory.stat", scratch), &out->mem_kib);
}

/* A group of version 1 has no memory nodes at first, and accepts no process without. */
static bool inherit_memory_nodes(const struct cgroup *g)
{
    char path[PATH_MAX];
    struct buf scratch = {0}, line = {0};
    const char *slash = strrchr(g->path, '/');
    text_format(path, sizeof path, "%.*s", (int)(slash - g->path), g->path);
    struct str nodes = str_trim(read_file(path, "cpuset.mems", &scratch));
    buf_add_str(&line, nodes);
    buf_add_char(&line, '\n');
    bool is_written = nodes.length > 0 && write_file(g->path, "cpuset.mems", line.text);
    buf_release(&scratch);
    buf_release(&line);
    return is_written;
}

bool cgroup_set_cpus(const struct cgroup *g, const struct idset *cpus)
{
    struct buf text = {0};
    char path[PATH_MAX];
    if (g->path[0] == '\0') return false;
    idset_format(cpus, &text);
    buf_add_char(&text, '\n');
    bool is_v2 = join_path(g->path, "cpuset.cpus.effective", path) && access(path, F_OK) == 0;
    bool is_set = (is_v2 || inherit_memory_nodes(g)) && write_file(g->path, "cpuset.cpus", text.text);
    buf_release(&text);
    return is_set;
}

static int64_t read_number(const struct cgroup *g, const char *name, struct buf *scratch)
{
    uint64_t number;
    struct str rest, line = str_cut(read_file(g->path, name, scratch), '\n', &rest);
    return number_parse_u64(line, &number) && number < INT64_MAX ? (int64_t)number : -1;
}

/* Version 1: a peak right below the limit, at which the next pages were refused. Its counters of failures do not always
 * count, as in Linux 6.18 those of memory and swap together. */
static bool has_met_limit(const struct cgroup *g, struct buf *scratch)
{
    enum { MAX_BYTES_AT_ONCE = 1 << 20 };
    int64_t count = 0;
    if (usage_text_parse_ooms(read_file(g->path, "memory.events", scratch), &count)) return count > 0;
    int64_t peak = read_number(g, "memory.max_usage_in_bytes", scratch);
    int64_t limit = read_number(g, "memory.limit_in_bytes", scratch);
    return peak >= 0 && limit >= 0 && peak >= limit - MAX_BYTES_AT_ONCE;
}

bool cgroup_has_met_limit(const struct cgroup *g)
{
    struct buf scratch = {0};
    bool has_met = g->path[0] != '\0' && has_met_limit(g, &scratch);
    buf_release(&scratch);
    return has_met;
}

int64_t cgroup_count_oom_kills(const struct cgroup *g)
{
    struct buf scratch = {0};
    int64_t count = 0;
    if (g->path[0] == '\0') return 0;
    if (!usage_text_parse_oom_kills(read_file(g->path, "memory.events", &scratch), &count))
        (void)usage_text_parse_oom_kills(read_file(g->path, "memory.oom_control", &scratch), &count);
    buf_release(&scratch);
    return count;
}

int cgroup_open_oom_event(const struct cgroup *g)
{
    char path[PATH_MAX], text[32];
    if (g->path[0] == '\0' || !join_path(g->path, "memory.oom_control", path)) return -1;
    int control_fd = open(path, O_RDONLY | O_CLOEXEC);
    int event_fd = control_fd < 0 ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    text_format(text, sizeof text, "%d %d\n", event_fd, control_fd);
    if (event_fd >= 0 && !write_file(g->path, "cgroup.event_control", text)) {
        close(event_fd);
        event_fd = -1;
    }
    if (control_fd >= 0) close(control_fd); /* the kernel has taken what it needs */
    return event_fd;
}

bool cgroup_freeze(const struct cgroup *g, bool is_frozen)
{
    if (g->path[0] == '\0') return false;
    return write_file(g->path, "cgroup.freeze", is_frozen ? "1\n" : "0\n") ||
           write_file(g->path, "freezer.state", is_frozen ? "FROZEN\n" : "THAWED\n");
}

void cgroup_kill(const struct cgroup *g)
{
    if (g->path[0] != '\0') (void)write_file(g->path, "cgroup.kill", "1\n");
}

static bool remove_tree(const char *path, int depth)
{
    if (rmdir(path) == 0 || errno == ENOENT) return true;
    DIR *directory = depth < DEPTH_MAX ? opendir(path) : NULL;
    if (directory == NULL) return false;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char child[PATH_MAX];
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.') continue;
        if (join_path(path, entry->d_name, child)) (void)remove_tree(child, depth + 1);
    }
    closedir(directory);
    return rmdir(path) == 0;
}

bool cgroup_remove(const struct cgroup *g)
{
    return g->path[0] == '\0' || remove_tree(g->path, 0);
}

bool cgroup_remove_wait(const struct cgroup *g)
{
    for (int tries = 0; tries < REMOVE_TRIES; tries++) {
        if (cgroup_remove(g)) return true;
        usleep(REMOVE_RETRY_MS * US_PER_MS);
    }
    return false;
}
