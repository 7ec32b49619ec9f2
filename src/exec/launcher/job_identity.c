/* Order of the calls: look up, join an empty session keyring, groups, gid, uid, capabilities; then everything is read
 * back. A failure at any of them ends the process, so nothing runs with a part of an identity.
 *
 *  I1  The group list is the one of the user database, and the gid is one of it. What the launch says only selects.
 *  I2  After job_identity_take the process has no uid, gid, group, capability or key of the launcher. */
#include "exec/launcher/job_identity.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/keyctl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/text.h"
#include "exec/launcher/shortage.h"

enum {
    ENTRY_FIRST_TRY = 1024,
    ENTRY_MAX = 1024 * 1024,
    GROUP_ENTRY_MAX = 1 << 24,
    GROUPS_FIRST_TRY = 64,
    GROUPS_MAX = 65536 /* NGROUPS_MAX */
};

/* --- in the launcher ---------------------------------------------------------------------------------------------- */

static int check_own(uid_t uid, gid_t gid, struct err *e)
{
    if (uid == geteuid() && gid == getegid()) return 0;
    return err_set(e, ERR_DENIED, "cannot start a job as user %u, group %u: this launcher runs as user %u, group %u",
                   uid, gid, geteuid(), getegid());
}

int job_identity_check(const struct identity_rules *rules, uid_t uid, gid_t gid, struct err *e)
{
    if (!rules->is_system) return check_own(uid, gid, e);
    if (rules->allows_root) return 0;
    if (uid == 0) return err_set(e, ERR_DENIED, "cannot start a job as root: the launcher serves users only");
    if (uid == rules->daemon_uid)
        return err_set(e, ERR_DENIED, "cannot start a job as user %u: that is the daemon's own account", uid);
    if (uid == UID_NOBODY)
        return err_set(e, ERR_DENIED, "cannot start a job as user %u: that account stands for no user", uid);
    if (uid < rules->min_uid) {
        return err_set(e, ERR_DENIED, "cannot start a job as user %u: it is a system account; users begin at %u", uid,
                       rules->min_uid);
    }
    return 0;
}

bool job_identity_is_person(const struct identity_rules *rules, uid_t uid)
{
    return rules->is_system && uid != 0 && uid >= rules->min_uid && uid != UID_NOBODY && uid != rules->daemon_uid;
}

/* --- the user database -------------------------------------------------------------------------------------------- */

struct user_groups {
    gid_t *list; /* stays until the process executes its program or ends */
    int count;
};

/* glibc returns 0 where all services say that there is no such entry, and the errno of a service that cannot be asked:
 * nslcd that does not run is ENOENT, which getpwuid_r(3) calls "not found". */
static enum job_identity_fault explain_missing(int error_number)
{
    errno = error_number;
    return error_number == 0 ? JOB_IDENTITY_NO_USER : JOB_IDENTITY_LOOKUP;
}

static enum job_identity_fault find_user(uid_t uid, struct passwd *out)
{
    char *memory = NULL;
    for (size_t room = 0, size = ENTRY_FIRST_TRY; size <= ENTRY_MAX; size *= 2) {
        struct passwd *found = NULL;
        memory = mem_resize(memory, room, size);
        room = size;
        int error_number;
        do error_number = getpwuid_r(uid, out, memory, size, &found);
        while (error_number == EINTR);
        if (error_number == ERANGE) continue;
        if (found == NULL || out->pw_uid != uid) return explain_missing(found == NULL ? error_number : 0);
        return JOB_IDENTITY_OK;
    }
    errno = ERANGE;
    return JOB_IDENTITY_LOOKUP;
}

static enum job_identity_fault find_groups(const struct passwd *user, struct user_groups *out)
{
    for (int room = GROUPS_FIRST_TRY;; room = out->count) {
        out->list = mem_resize(NULL, 0, (size_t)room * sizeof *out->list);
        out->count = room;
        if (getgrouplist(user->pw_name, user->pw_gid, out->list, &out->count) >= 0) return JOB_IDENTITY_OK;
        mem_free(out->list);
        errno = out->count > GROUPS_MAX ? EINVAL : ENOMEM;
        if (out->count <= room || out->count > GROUPS_MAX) return JOB_IDENTITY_LOOKUP;
    }
}

/* getgrouplist leaves out the groups of a service that cannot be asked, and does not say so. */
static enum job_identity_fault explain_missing_group(gid_t gid)
{
    char *memory = NULL;
    int error_number = ERANGE;
    for (size_t room = 0, size = ENTRY_FIRST_TRY; error_number == ERANGE && size <= GROUP_ENTRY_MAX; size *= 2) {
        struct group group, *found = NULL;
        memory = mem_resize(memory, room, size);
        room = size;
        do error_number = getgrgid_r(gid, &group, memory, size, &found);
        while (error_number == EINTR);
    }
    mem_free(memory);
    errno = error_number != 0 ? error_number : EPERM;
    return error_number != 0 ? JOB_IDENTITY_LOOKUP : JOB_IDENTITY_NOT_MEMBER;
}

static enum job_identity_fault look_up(uid_t uid, gid_t gid, struct user_groups *out)
{
    struct passwd user;
    enum job_identity_fault fault = find_user(uid, &user);
    if (fault == JOB_IDENTITY_OK) fault = find_groups(&user, out);
    if (fault != JOB_IDENTITY_OK) return fault;
    for (int i = 0; i < out->count; i++) {
        if (out->list[i] == gid) return JOB_IDENTITY_OK; /* I1 */
    }
    return explain_missing_group(gid);
}

/* --- the change --------------------------------------------------------------------------------------------------- */

static int compare_gids(const void *a, const void *b)
{
    const gid_t x = *(const gid_t *)a, y = *(const gid_t *)b;
    return (x > y) - (x < y);
}

/* The kernel gives the list sorted. */
static bool has_groups(const struct user_groups *groups)
{
    size_t size = (size_t)groups->count * sizeof *groups->list;
    gid_t *got = mem_resize(NULL, 0, size);
    bool is_equal = getgroups(0, NULL) == groups->count && getgroups(groups->count, got) == groups->count;
    qsort(groups->list, (size_t)groups->count, sizeof *groups->list, compare_gids);
    qsort(got, (size_t)groups->count, sizeof *got, compare_gids);
    is_equal = is_equal && memcmp(got, groups->list, size) == 0;
    mem_free(got);
    return is_equal;
}

static bool has_ids(uid_t uid, gid_t gid)
{
    uid_t real, effective, saved;
    gid_t real_gid, effective_gid, saved_gid;
    if (getresuid(&real, &effective, &saved) < 0 || getresgid(&real_gid, &effective_gid, &saved_gid) < 0) return false;
    return real == uid && effective == uid && saved == uid && real_gid == gid && effective_gid == gid &&
           saved_gid == gid;
}

/* The change of the uid clears what is permitted, unless a bit of the launcher's forbids that, but never what is
 * inheritable. */
static bool drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0}, got[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capset, &header, none) < 0 || syscall(SYS_capget, &header, got) < 0) return false;
    errno = EPERM;
    return memcmp(none, got, sizeof got) == 0;
}

/* A session keyring of the process's own, so that the keys of the person who started the launcher are not the job's.
 * Without the system call there are no keys either. */
static bool leave_keyring(void)
{
    if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0) return true;
    return errno == ENOSYS || errno == EPERM || errno == EACCES;
}

static bool change(uid_t uid, gid_t gid, const struct user_groups *groups)
{
    if (!leave_keyring()) return false;
    if (setgroups((size_t)groups->count, groups->list) < 0) return false;
    if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0) return false;
    if (uid != 0 && !drop_capabilities()) return false;
    errno = EPERM; /* of a call that had no effect */
    if (!has_ids(uid, gid) || !has_groups(groups)) return false;
    if (uid != 0 && setuid(0) == 0) return false;
    if (uid != 0 && gid != 0 && setgid(0) == 0) return false;
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0; /* until exec, which sets it again: no tracing, no descriptors */
}

enum job_identity_fault job_identity_take(const struct identity_rules *rules, uid_t uid, gid_t gid)
{
    struct user_groups groups = {0};
    if (!rules->is_system) return JOB_IDENTITY_OK;
    enum job_identity_fault fault = look_up(uid, gid, &groups);
    if (fault != JOB_IDENTITY_OK) return fault;
    if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) < 0) return JOB_IDENTITY_CHANGE; /* those of a service, too */
    return change(uid, gid, &groups) ? JOB_IDENTITY_OK : JOB_IDENTITY_CHANGE;
}

/* --- in the keeper ------------------------------------------------------------------------------------------------ */

bool job_identity_failed_for_machine(enum job_identity_fault fault, int error_number)
{
    return fault == JOB_IDENTITY_LOOKUP || (fault == JOB_IDENTITY_CHANGE && shortage_of_kernel(error_number));
}

void job_identity_explain(enum job_identity_fault fault, int error_number, uid_t uid, gid_t gid, char *out, size_t size)
{
    const char *why = strerror(error_number);
    switch (fault) {
    case JOB_IDENTITY_LOOKUP:
        text_format(out, size, "the user database does not answer for user %u: %s", uid, why);
        break;
    case JOB_IDENTITY_NO_USER: text_format(out, size, "there is no user %u in the user database", uid); break;
    case JOB_IDENTITY_NOT_MEMBER:
        text_format(out, size, "user %u is not a member of group %u, as the user database has it", uid, gid);
        break;
    case JOB_IDENTITY_CHANGE: text_format(out, size, "cannot become user %u, group %u: %s", uid, gid, why); break;
    case JOB_IDENTITY_OK: text_format(out, size, "%s", ""); break;
    }
}
