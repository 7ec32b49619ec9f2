/* Two tables recognise network file systems: the magic numbers of statfs, and the names in /proc/self/mountinfo (all
 * FUSE file systems have one magic number; their names are "fuse.sshfs" and the like).
 *
 *     36 35 98:0 /sub /mnt rw,noatime shared:1 - fuse.sshfs ann@host:/data rw,user_id=1000
 *           ^device                             ^name      ^source
 *
 * A FUSE file system that is not in the table counts as shared, too, if its source looks remote: "host:/path" or
 * "https://...". Cluster file systems on shared disks (GFS2, OCFS2) are in the tables, because another machine could
 * open the database at the same time. Sources: statfs(2), linux/magic.h, proc(5); sqlite.org/wal.html ("does not work
 * over a network filesystem"). */
#include "store/filesystem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/number.h"
#include "base/text.h"

static const struct {
    uint64_t type;
    const char *name;
} shared_types[] = {
    {0x6969, "NFS"},          {0x517b, "SMB"},        {0xff534d42, "CIFS"},     {0xfe534d42, "SMB2"},
    {0x01021997, "9P"},       {0x5346414f, "AFS"},    {0x6b414653, "AFS"},      {0x73757245, "Coda"},
    {0x564c, "NCP"},          {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"},     {0x19830326, "BeeGFS"},
    {0x00c36400, "Ceph"},     {0x01161970, "GFS2"},   {0x7461636f, "OCFS2"},    {0xaad7aaea, "PanFS"},
    {0x20030528, "OrangeFS"}, {0x61636673, "ACFS"},   {0xbeefdead, "StorNext"}, {0xbacbacbc, "vmhgfs"},
    {0x786f4256, "vboxsf"},   {0x7c7c6673, "prl_fs"},
};

static const char *const shared_names[] = {
    "nfs",       "nfs4",          "cifs",        "smb3",        "smbfs",     "9p",      "afs",        "coda",
    "ncp",       "ncpfs",         "lustre",      "gpfs",        "mmfs",      "beegfs",  "ceph",       "gfs",
    "gfs2",      "ocfs2",         "panfs",       "pvfs2",       "orangefs",  "acfs",    "cvfs",       "wekafs",
    "pxfs",      "vboxsf",        "prl_fs",      "vmhgfs",      "davfs",     "afpfs",   "sshfs",      "glusterfs",
    "s3fs",      "rclone",        "goofys",      "gcsfuse",     "juicefs",   "JuiceFS", "davfs2",     "curlftpfs",
    "mfs",       "moosefs",       "lizardfs",    "saunafs",     "seaweedfs", "cvmfs2",  "gvfsd-fuse", "blobfuse",
    "blobfuse2", "mountpoint-s3", "smbnetfs",    "quobyte",     "s3ql",      "hdfs",    "fuse_dfs",   "dfuse",
    "ceph-fuse", "unionfs-nfs",   "vmhgfs-fuse", "objectivefs",
};

static bool is_shared_name(struct str name)
{
    struct str prefix = str("fuse.");
    if (str_starts(name, prefix)) name = (struct str){name.text + prefix.length, name.length - prefix.length};
    for (size_t i = 0; i < sizeof shared_names / sizeof shared_names[0]; i++) {
        if (str_equal(name, str(shared_names[i]))) return true;
    }
    return false;
}

static bool is_remote_source(struct str source)
{
    for (size_t i = 0; i + 1 < source.length; i++) {
        if (source.text[i] == ':' && source.text[i + 1] == '/') return true;
    }
    return false;
}

static void copy_name(struct str name, char out_name[FILESYSTEM_NAME_SIZE])
{
    size_t length = name.length < FILESYSTEM_NAME_SIZE - 1 ? name.length : FILESYSTEM_NAME_SIZE - 1;
    memcpy(out_name, name.text, length);
    out_name[length] = '\0';
}

/* Reads the name and the source after " - " from a line of mountinfo; false for another device. */
static bool read_mount(struct str line, uint32_t major, uint32_t minor, struct str *out_name, struct str *out_source)
{
    struct str rest = line, device = {0};
    uint64_t number;
    for (int field = 0; field < 3; field++) device = str_cut(rest, ' ', &rest);
    struct str first = str_cut(device, ':', &device);
    if (!number_parse_u64(first, &number) || number != major || !number_parse_u64(device, &number) || number != minor)
        return false;
    while (rest.text != NULL) {
        if (!str_equal(str_cut(rest, ' ', &rest), str("-"))) continue;
        *out_name = str_cut(rest, ' ', &rest);
        *out_source = str_cut(rest, ' ', &rest);
        return true;
    }
    return false;
}

static bool is_shared_mount(uint32_t major, uint32_t minor, struct str mountinfo, char out_name[FILESYSTEM_NAME_SIZE])
{
    struct str name, source;
    while (mountinfo.text != NULL) {
        if (!read_mount(str_cut(mountinfo, '\n', &mountinfo), major, minor, &name, &source)) continue;
        bool is_fuse = str_equal(name, str("fuse")) || str_starts(name, str("fuse."));
        if (!is_shared_name(name) && !(is_fuse && is_remote_source(source))) return false;
        copy_name(name, out_name);
        return true;
    }
    return false;
}

bool filesystem_is_shared(uint64_t type, uint32_t major, uint32_t minor, struct str mountinfo,
                          char out_name[FILESYSTEM_NAME_SIZE])
{
    for (size_t i = 0; i < sizeof shared_types / sizeof shared_types[0]; i++) {
        if (shared_types[i].type != type) continue;
        copy_name(str(shared_types[i].name), out_name);
        return true;
    }
    return is_shared_mount(major, minor, mountinfo, out_name);
}

/* Appends the file as far as it can be read; nothing when it is missing. */
static void read_file(const char *path, struct buf *out)
{
    enum { CHUNK = 16384 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    for (;;) {
        ssize_t length = read(fd, buf_room(out, CHUNK), CHUNK);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) break;
        out->length += (size_t)length;
    }
    close(fd);
}

int filesystem_check_local(const char *path, struct err *e)
{
    struct statfs fs;
    struct stat st;
    char name[FILESYSTEM_NAME_SIZE];
    if (statfs(path, &fs) != 0 || stat(path, &st) != 0)
        return err_set(e, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    struct buf mountinfo = {0};
    read_file("/proc/self/mountinfo", &mountinfo);
    bool is_shared = filesystem_is_shared((uint64_t)fs.f_type & UINT32_MAX, major(st.st_dev), minor(st.st_dev),
                                          (struct str){mountinfo.text, mountinfo.length}, name);
    buf_release(&mountinfo);
    if (!is_shared) return 0;
    return err_set(e, ERR_INPUT,
                   "%s is on a network file system (%s), where SQLite may lose data; give a directory on a local disk, "
                   "for example --state /var/tmp/fairlead-$USER",
                   path, name);
}
