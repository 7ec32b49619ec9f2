/* Local and shared file systems: every row of the tables, and mounts in the format of /proc/self/mountinfo. */
#include "../dies.h"

#include <string.h>

#include "store/filesystem.h"

enum { EXT4 = 0xef53, FUSE = 0x65735546, OVERLAY = 0x794c7630, TMPFS = 0x01021994 };

static const char mountinfo[] = "22 28 0:21 / /proc rw,nosuid shared:14 - proc proc rw\n"
                                "28 1 253:0 / / rw,relatime shared:1 - ext4 /dev/mapper/root rw\n"
                                "40 28 0:40 / /home/ann/mnt rw,nosuid - fuse.sshfs ann@host:/data rw,user_id=1000\n"
                                "41 28 0:41 / /mnt/gluster rw shared:3 master:4 - fuse.glusterfs server:/volume rw\n"
                                "42 28 0:42 / /mnt/dav rw - fuse https://dav.example/files rw\n"
                                "43 28 0:43 / /mnt/cipher rw - fuse.gocryptfs /home/ann/.cipher rw\n"
                                "44 28 0:44 / /mnt/windows rw - fuseblk /dev/sdb1 rw\n"
                                "45 28 0:45 /dir /mnt/a\\040b rw - fuse.rclone remote: rw\n"
                                "46 28 0:46 / /scratch rw - wekafs backend/default rw\n"
                                "47 28 0:47 / /nfs rw - nfs4 server:/export rw\n"
                                "48 28 0:48 / /containers rw - fuse.fuse-overlayfs fuse-overlayfs rw\n"
                                "49 28 0:49 / /odd rw -\n"
                                "50 28 0:50 / /unknown rw - fuse.somethingnew user@host:/dir rw\n"
                                "garbage\n"
                                "4 4\n";

static void mounts_are_classified(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t type;
        uint32_t major, minor;
        const char *name; /* NULL: local */
    } rows[] = {
        {EXT4, 253, 0, NULL},
        {TMPFS, 0, 99, NULL},
        {OVERLAY, 0, 77, NULL},
        {FUSE, 0, 40, "fuse.sshfs"},
        {FUSE, 0, 41, "fuse.glusterfs"},
        {FUSE, 0, 42, "fuse"},
        {FUSE, 0, 43, NULL},
        {FUSE, 0, 44, NULL},
        {FUSE, 0, 45, "fuse.rclone"},
        {0x1234, 0, 46, "wekafs"},
        {0x6969, 0, 47, "NFS"},
        {0x1234, 0, 47, "nfs4"},
        {FUSE, 0, 48, NULL},
        {FUSE, 0, 49, NULL},
        {FUSE, 0, 50, "fuse.somethingnew"},
        {FUSE, 0, 51, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char name[FILESYSTEM_NAME_SIZE] = "";
        bool shared = filesystem_is_shared(rows[i].type, rows[i].major, rows[i].minor, str(mountinfo), name);
        assert_int_equal(shared, rows[i].name != NULL);
        assert_string_equal(name, rows[i].name ? rows[i].name : "");
    }
}

static void types_are_recognised_by_number(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t type;
        const char *name;
    } rows[] = {
        {0x6969, "NFS"},          {0x517b, "SMB"},        {0xff534d42, "CIFS"},     {0xfe534d42, "SMB2"},
        {0x01021997, "9P"},       {0x5346414f, "AFS"},    {0x6b414653, "AFS"},      {0x73757245, "Coda"},
        {0x564c, "NCP"},          {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"},     {0x19830326, "BeeGFS"},
        {0x00c36400, "Ceph"},     {0x01161970, "GFS2"},   {0x7461636f, "OCFS2"},    {0xaad7aaea, "PanFS"},
        {0x20030528, "OrangeFS"}, {0x61636673, "ACFS"},   {0xbeefdead, "StorNext"}, {0xbacbacbc, "vmhgfs"},
        {0x786f4256, "vboxsf"},   {0x7c7c6673, "prl_fs"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char name[FILESYSTEM_NAME_SIZE];
        assert_true(filesystem_is_shared(rows[i].type, 1, 1, str(""), name));
        assert_string_equal(name, rows[i].name);
    }
    static const uint64_t local[] = {
        EXT4, TMPFS, OVERLAY, FUSE, 0x58465342 /* XFS */, 0x9123683e /* Btrfs */, 0x2fc12fc1 /* ZFS */, 0};
    for (size_t i = 0; i < COUNT(local); i++) {
        char name[FILESYSTEM_NAME_SIZE];
        assert_false(filesystem_is_shared(local[i], 1, 1, str(""), name));
    }
}

static void long_names_are_truncated(void **unused)
{
    (void)unused;
    char name[FILESYSTEM_NAME_SIZE];
    const char *line =
        "1 1 0:1 / / rw - fuse.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa h:/ rw\n";
    assert_true(filesystem_is_shared(FUSE, 0, 1, str(line), name));
    assert_int_equal(strlen(name), FILESYSTEM_NAME_SIZE - 1);
}

static void the_file_system_of_this_machine_is_read(void **unused)
{
    (void)unused;
    struct err e = {0};
    if (filesystem_check_local("/", &e) != 0) assert_int_equal(e.code, ERR_INPUT);
    assert_int_equal(filesystem_check_local("/nowhere", &e), -1);
    assert_int_equal(e.code, ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mounts_are_classified),
        cmocka_unit_test(types_are_recognised_by_number),
        cmocka_unit_test(long_names_are_truncated),
        cmocka_unit_test(the_file_system_of_this_machine_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
