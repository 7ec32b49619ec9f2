/* Control groups by their files. Nothing of a job depends on them: where one cannot be made or used, the keeper reaches
 * its descendants as their subreaper (family.c). What a group adds is that its kill cannot be outrun by forking.
 *
 * Only version 2 is used: its groups can be delegated to people, as systemd does for user@UID.service. On a machine
 * with both versions the v2 tree, if mounted, has no controllers; killing works there all the same. */
#include "exec/launcher/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "exec/launcher/durable.h"

enum { DEPTH_MAX = 32 };

/* The path behind "0::" in /proc/self/cgroup. */
static bool find_membership(struct str text, struct str *out_path)
{
    while (text.length > 0) {
        struct str line = str_cut(text, '\n', &text);
        if (!str_starts(line, str("0::/"))) continue;
        *out_path = (struct str){line.text + 3, line.length - 3};
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
 * type the first behind " - " (proc(5)). */
static bool find_mount(struct str text, struct str *out_root, struct str *out_place)
{
    while (text.length > 0) {
        struct str line = str_cut(text, '\n', &text), field[5];
        for (int i = 0; i < 5; i++) field[i] = str_cut(line, ' ', &line);
        const char *mark = line.text ? memmem(line.text, line.length, "- cgroup2 ", 10) : NULL;
        if (mark == NULL || mark == line.text || mark[-1] != ' ') continue;
        *out_root = field[3];
        *out_place = field[4];
        return true;
    }
    return false;
}

bool cgroup_find(struct str membership, struct str mounts, char *out, size_t size)
{
    struct str path, root, place;
    if (!find_membership(membership, &path) || !find_mount(mounts, &root, &place)) return false;
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
    bool written = write_all(fd, str(text)) == 0;
    close(fd);
    return written;
}

/* Whether groups made here can be used: made, killed, and entered from our own group, which takes the right to write to
 * the cgroup.procs of the group that both are in. */
static bool usable(const struct cgroup_parent *parent)
{
    char path[PATH_MAX], name[64];
    struct cgroup probe;
    if (!below(parent->path, "cgroup.procs", path) || access(path, W_OK) < 0) return false;
    text_format(name, sizeof name, "fairlead-probe-%d", (int)getpid());
    cgroup_place(parent, name, &probe);
    cgroup_make(&probe);
    if (probe.path[0] == '\0') return false;
    bool result = below(probe.path, "cgroup.kill", path) && access(path, W_OK) == 0;
    return cgroup_remove(&probe) && result;
}

void cgroup_probe(struct cgroup_parent *out)
{
    struct buf membership = {0}, mounts = {0};
    read_file("/proc/self/cgroup", &membership);
    read_file("/proc/self/mountinfo", &mounts);
    struct str m = {membership.text, membership.length}, t = {mounts.text, mounts.length};
    if (!cgroup_find(m, t, out->path, sizeof out->path) || !usable(out)) out->path[0] = '\0';
    buf_release(&membership);
    buf_release(&mounts);
}

void cgroup_place(const struct cgroup_parent *parent, const char *name, struct cgroup *out)
{
    if (parent->path[0] == '\0' || !below(parent->path, name, out->path)) out->path[0] = '\0';
}

void cgroup_make(struct cgroup *g)
{
    if (g->path[0] != '\0' && mkdir(g->path, 0755) < 0) g->path[0] = '\0';
}

bool cgroup_add(const struct cgroup *g, pid_t pid)
{
    char text[16];
    text_format(text, sizeof text, "%d\n", (int)pid);
    return g->path[0] != '\0' && write_file(g->path, "cgroup.procs", text);
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

bool cgroup_remove_soon(const struct cgroup *g)
{
    for (int tries = 0; tries < 100; tries++) {
        if (cgroup_remove(g)) return true;
        usleep(1000);
    }
    return false;
}
