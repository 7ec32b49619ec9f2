/* Control groups by their files. Nothing of a job depends on them: where one cannot be made or used, the keeper reaches
 * its descendants as their subreaper (family.c). What a group adds is that its kill cannot be outrun by forking.
 *
 * Version 2 is preferred: its groups can be delegated to people, as systemd does for user@UID.service. On a machine with
 * both versions the v2 tree, if mounted, may have no controllers: killing works there all the same, and the CPU weight is
 * set in version 1's cpu hierarchy, where only root may. */
#include "exec/launcher/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "exec/launcher/durable.h"

enum { DEPTH_MAX = 32 };

/* Whether a comma list has the word. */
static bool list_has(struct str list, const char *word)
{
    while (list.text != NULL) {
        if (str_equal(str_cut(list, ',', &list), str(word))) return true;
    }
    return false;
}

/* The path of a line of /proc/self/cgroup: "0::/path" of v2, "4:cpu,cpuacct:/path" of v1 (cgroups(7)). */
static bool find_membership(struct str text, const char *controller, struct str *out_path)
{
    while (text.length > 0) {
        struct str path, line = str_cut(text, '\n', &text);
        struct str number = str_cut(line, ':', &line), controllers = str_cut(line, ':', &path);
        bool fits = controller == NULL ? str_equal(number, str("0")) && controllers.length == 0
                                       : list_has(controllers, controller);
        if (!fits || !str_starts(path, str("/"))) continue;
        *out_path = path;
        return true;
    }
    return false;
}

/* A field of mountinfo has its blanks, tabs and backslashes as \ooo. */
static bool octal(const char *text)
{
    return text[0] >= '0' && text[0] <= '3' && text[1] >= '0' && text[1] <= '7' && text[2] >= '0' && text[2] <= '7';
}

static size_t unescape(struct str field, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < field.length && used + 1 < size; i++) {
        char c = field.text[i];
        if (c == '\\' && i + 3 < field.length && octal(field.text + i + 1)) {
            c = (char)((field.text[i + 1] - '0') << 6 | (field.text[i + 2] - '0') << 3 | (field.text[i + 3] - '0'));
            i += 3;
        }
        out[used++] = c;
    }
    out[used] = '\0';
    return used;
}

/* "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw": root is the 4th field, place the 5th, the
 * type the first behind " - ", and the third one of v1 has the controllers: "cgroup cgroup rw,cpu" (proc(5)). */
static bool find_mount(struct str text, const char *controller, struct str *out_root, struct str *out_place)
{
    const char *type = controller == NULL ? "- cgroup2 " : "- cgroup ";

    while (text.length > 0) {
        struct str line = str_cut(text, '\n', &text), field[5];
        for (int i = 0; i < 5; i++) field[i] = str_cut(line, ' ', &line);
        const char *mark = line.text ? memmem(line.text, line.length, type, strlen(type)) : NULL;
        if (mark == NULL || mark == line.text || mark[-1] != ' ') continue;
        struct str options = str_range(mark + strlen(type), line.text + line.length);
        (void)str_cut(options, ' ', &options);
        if (controller != NULL && !list_has(options, controller)) continue;
        *out_root = field[3];
        *out_place = field[4];
        return true;
    }
    return false;
}

bool cgroup_find(struct str membership, struct str mounts, const char *controller, char *out, size_t size)
{
    struct str path, root, place;
    if (!find_membership(membership, controller, &path) || !find_mount(mounts, controller, &root, &place)) return false;
    if (!str_equal(root, str("/"))) {
        if (!str_starts(path, root)) return false; /* our group is outside of what is mounted here */
        path = (struct str){path.text + root.length, path.length - root.length};
        if (path.length > 0 && path.text[0] != '/') return false; /* "/boxes" is not in "/box" */
    }
    while (path.length > 0 && path.text[path.length - 1] == '/') path.length--;
    size_t used = unescape(place, out, size);
    if (used + path.length + 1 > size) return false;
    if (path.length > 0) memcpy(out + used, path.text, path.length);
    out[used + path.length] = '\0';
    return strstr(out, "/..") == NULL; /* a group above the root of our namespace is shown so */
}

static void read_file(const char *path, struct buf *out)
{
    bool found;
    (void)durable_read(AT_FDCWD, path, out, &found, NULL);
}

/* A path below a group; false where it would be too long. */
static bool below(const char *group, const char *name, char out[PATH_MAX])
{
    return text_format(out, PATH_MAX, "%s/%s", group, name) < PATH_MAX;
}

static bool write_file(const char *group, const char *name, const char *text)
{
    char path[PATH_MAX];
    if (!below(group, name, path)) return false;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool written = durable_write_all(fd, str(text)) == 0;
    close(fd);
    return written;
}

/* Whether groups can be made below the directory, with a file that we may write. */
static bool makes_groups(const char *directory, const char *file)
{
    char path[PATH_MAX], name[64];
    struct cgroup probe;
    text_format(name, sizeof name, "fairlead-probe-%d", (int)getpid());
    if (!below(directory, name, probe.path)) return false;
    cgroup_create(&probe);
    if (probe.path[0] == '\0') return false;
    bool result = below(probe.path, file, path) && access(path, W_OK) == 0;
    return cgroup_remove(&probe) && result;
}

/* Whether groups made here can be used: made, killed, and entered from our own group, which takes the right to write to
 * the cgroup.procs of the group that both are in. */
static bool usable(const struct cgroup_parent *parent)
{
    char path[PATH_MAX];
    return below(parent->path, "cgroup.procs", path) && access(path, W_OK) == 0 &&
           makes_groups(parent->path, "cgroup.kill");
}

/* Groups of v2 have weights once the cpu controller is on for them, which a group with processes of its own may not do
 * unless it is the root. */
static bool has_weights(const struct cgroup_parent *parent)
{
    return parent->path[0] != '\0' && write_file(parent->path, "cgroup.subtree_control", "+cpu\n");
}

void cgroup_probe(struct cgroup_parent *out)
{
    struct buf membership = {0}, mounts = {0};
    read_file("/proc/self/cgroup", &membership);
    read_file("/proc/self/mountinfo", &mounts);
    struct str m = {membership.text, membership.length}, t = {mounts.text, mounts.length};
    if (!cgroup_find(m, t, NULL, out->path, sizeof out->path) || !usable(out)) out->path[0] = '\0';
    bool wants_v1 = !has_weights(out) && cgroup_find(m, t, "cpu", out->cpu_path, sizeof out->cpu_path);
    if (!wants_v1 || !makes_groups(out->cpu_path, "cpu.shares")) out->cpu_path[0] = '\0';
    buf_release(&membership);
    buf_release(&mounts);
}

static void place(const char *directory, uint64_t launch_id, const char *key, struct cgroup *out)
{
    char name[96];
    text_format(name, sizeof name, "fairlead-%" PRIu64 "-%.8s", launch_id, key);
    if (directory[0] == '\0' || !below(directory, name, out->path)) out->path[0] = '\0';
}

void cgroup_set_path(const struct cgroup_parent *parent, uint64_t launch_id, const char *key, struct cgroup *out)
{
    place(parent->path, launch_id, key, out);
}

void cgroup_set_cpu_path(const struct cgroup_parent *parent, uint64_t launch_id, const char *key, struct cgroup *out)
{
    place(parent->cpu_path, launch_id, key, out);
}

void cgroup_create(struct cgroup *g)
{
    if (g->path[0] != '\0' && mkdir(g->path, 0755) < 0) g->path[0] = '\0';
}

bool cgroup_attach(const struct cgroup *g, pid_t pid)
{
    char text[16];
    text_format(text, sizeof text, "%d\n", (int)pid);
    return g->path[0] != '\0' && write_file(g->path, "cgroup.procs", text);
}

bool cgroup_set_cpu_weight(const struct cgroup *g, uint32_t weight)
{
    enum { V1_ORDINARY = 1024, V1_LEAST = 2, V2_ORDINARY = 100 };
    char text[24];
    uint32_t shares = weight * V1_ORDINARY / V2_ORDINARY;
    if (g->path[0] == '\0') return false;
    text_format(text, sizeof text, "%" PRIu32 "\n", weight);
    if (write_file(g->path, "cpu.weight", text)) return true;
    text_format(text, sizeof text, "%" PRIu32 "\n", shares > V1_LEAST ? shares : V1_LEAST);
    return write_file(g->path, "cpu.shares", text);
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
        if (below(path, entry->d_name, child)) (void)remove_tree(child, depth + 1);
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
    for (int tries = 0; tries < 100; tries++) {
        if (cgroup_remove(g)) return true;
        usleep(1000);
    }
    return false;
}
