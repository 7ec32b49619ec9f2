#include "daemon/system_start.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "daemon/instance_mark.h"
#include "exec/executor.h"

static int fail(const char *action, const char *path, struct err *e)
{
    return err_set(e, ERR_IO, "cannot %s %s: %s", action, path, strerror(errno));
}

/* --- directories -------------------------------------------------------------------------------------------------- */

/* The directories above, as mkdir -p. */
static int make_parents(const char *path, struct err *e)
{
    char parent[PATH_MAX];
    text_format(parent, sizeof parent, "%s", path);
    for (char *slash = strchr(parent + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(parent, 0755) != 0 && errno != EEXIST) return fail("create directory", parent, e);
        *slash = '/';
    }
    return 0;
}

static int check_owner(const char *path, const struct stat *st, const struct passwd *account, struct err *e)
{
    if (st->st_uid == account->pw_uid) return 0;
    return err_set(e, ERR_INPUT, "directory %s belongs to user %u; it must belong to '%s': run 'chown %s: %s'", path,
                   st->st_uid, account->pw_name, account->pw_name, path);
}

/* Opens the directory before it gives it away: what has the name later does not matter. */
static int give_to(const char *path, mode_t mode, bool is_new, const struct passwd *account, struct err *e)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        if (fd >= 0) close(fd);
        return fail("open directory", path, e);
    }
    int result = 0;
    if (!is_new || st.st_uid != 0)
        result = check_owner(path, &st, account, e);
    else if (fchmod(fd, mode) != 0 || fchown(fd, account->pw_uid, account->pw_gid) != 0)
        result = fail("give away directory", path, e);
    close(fd);
    return result;
}

static int make_directory(const char *path, mode_t mode, const struct passwd *account, struct err *e)
{
    if (make_parents(path, e) != 0) return -1;
    bool is_new = mkdir(path, 0700) == 0;
    if (!is_new && errno != EEXIST) return fail("create directory", path, e);
    return give_to(path, mode, is_new, account, e);
}

/* That of the socket, which all users may enter. */
static int make_socket_directory(const char *socket, const struct passwd *account, struct err *e)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(socket, '/');
    text_format(directory, sizeof directory, "%.*s", (int)(slash - socket), socket);
    return make_directory(directory, 0755, account, e);
}

/* --- the identity ------------------------------------------------------------------------------------------------- */

/* Groups, then gid, then uid; then all are read back, and a return to root has to fail. */
static int become(const struct passwd *account, struct err *e)
{
    uid_t uids[3];
    gid_t gids[3];
    if (initgroups(account->pw_name, account->pw_gid) != 0 ||
        setresgid(account->pw_gid, account->pw_gid, account->pw_gid) != 0 ||
        setresuid(account->pw_uid, account->pw_uid, account->pw_uid) != 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return err_set(e, ERR_DENIED, "cannot become user '%s': %s", account->pw_name, strerror(errno));
    bool is_read = getresuid(&uids[0], &uids[1], &uids[2]) == 0 && getresgid(&gids[0], &gids[1], &gids[2]) == 0;
    bool is_changed = is_read;
    for (int i = 0; is_read && i < 3; i++) is_changed &= uids[i] == account->pw_uid && gids[i] == account->pw_gid;
    if (is_changed && setuid(0) != 0) return 0;
    return err_set(e, ERR_DENIED, "cannot become user '%s': the kernel did not change all ids", account->pw_name);
}

static int find_account(const char *name, struct passwd *out, struct err *e)
{
    errno = 0;
    const struct passwd *account = getpwnam(name);
    if (account == NULL && errno != 0)
        return err_set(e, ERR_UNAVAILABLE, "account '%s' cannot be looked up: %s", name, strerror(errno));
    if (account == NULL)
        return err_set(e, ERR_INPUT,
                       "there is no account '%s' for the daemon: run 'adduser --system --group --no-create-home "
                       "--home %s %s', or name another one with --account",
                       name, SYSTEM_STATE, name);
    if (account->pw_uid == 0) return err_set(e, ERR_INPUT, "account '%s' is root's; the daemon needs its own", name);
    *out = *account;
    return 0;
}

/* Clients trust a daemon of another user only there (api/client/connection.c), because only root makes directories in
 * /run. */
static int check_socket(const char *path, struct err *e)
{
    struct stat run;
    const char *name = strncmp(path, "/run/", strlen("/run/")) == 0 ? path + strlen("/run/") : NULL;
    const char *slash = name != NULL ? strchr(name, '/') : NULL;
    bool is_below_run = slash != NULL && slash > name && slash[1] != '\0' && strchr(slash + 1, '/') == NULL &&
                        strstr(path, "..") == NULL;
    if (!is_below_run)
        return err_value(e, "--socket", str(path),
                         "a path /run/NAME/FILE, where users trust a daemon that is not theirs");
    if (lstat("/run", &run) != 0) return fail("examine", "/run", e);
    if (run.st_uid == 0 && (run.st_mode & (S_IWGRP | S_IWOTH)) == 0) return 0;
    return err_set(e, ERR_DENIED,
                   "/run can be written by others than root, so users would not trust the socket %s: run 'chown root "
                   "/run' and 'chmod 755 /run'",
                   path);
}

/* Before anything is created. Whether the launcher has jobs of an owner that is gone, only the launcher knows; it is
 * asked later. */
static int check_launcher_owner(const struct system_start *s, struct err *e)
{
    struct arena arena = {0};
    struct instance_mark mark = {0};
    const struct launcher_owner owner = launcher_owner_read(s->launcher_directory, &arena);
    if (instance_mark_read(s->state, &mark, NULL) != 0) mark.id[0] = '\0';
    const struct launcher_owner instance = {.id = mark.id, .state = s->state};
    int result = launcher_owner_admit(s->launcher_directory, &owner, &instance, false, e);
    arena_release(&arena);
    return result;
}

int system_start(const struct system_start *s, struct err *e)
{
    struct passwd account;
    if (s->state[0] != '/') return err_value(e, "--state", str(s->state), "an absolute path");
    if (s->socket[0] != '/') return err_value(e, "--socket", str(s->socket), "an absolute path");
    if (s->cgroup != NULL && s->cgroup[0] != '/')
        return err_value(e, "--cgroup", str(s->cgroup), "an absolute path, such as /sys/fs/cgroup/fairlead");
    if (check_socket(s->socket, e) != 0) return -1;
    if (find_account(s->account, &account, e) != 0) return -1;
    const bool is_account = geteuid() == account.pw_uid;
    if (!is_account && geteuid() != 0)
        return err_set(e, ERR_DENIED, "a system instance is started by root, or by the account '%s'; you are user %u",
                       s->account, geteuid());
    if (check_launcher_owner(s, e) != 0) return -1;
    if (is_account) return 0;
    if (make_directory(s->state, 0711, &account, e) != 0) return -1;
    if (make_socket_directory(s->socket, &account, e) != 0) return -1;
    const struct system_launcher launcher = {.path = s->launcher_path,
                                             .directory = s->launcher_directory,
                                             .daemon_user = s->account,
                                             .cgroup = s->cgroup,
                                             .allow_root = s->allow_root};
    if (executor_start_system_launcher(&launcher, e) != 0) return -1;
    return become(&account, e);
}
