#include "exec/launcher/jobs_group.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec/launcher/cgroup.h"
#include "exec/launcher/durable.h"
#include "exec/service_manager.h"

/* The own group. False: there is no hierarchy of version 2. */
static bool find_own(char *out, size_t size)
{
    struct buf membership = {0}, mounts = {0};
    bool found;
    (void)durable_read(AT_FDCWD, "/proc/self/cgroup", &membership, &found, NULL);
    (void)durable_read(AT_FDCWD, "/proc/self/mountinfo", &mounts, &found, NULL);
    bool is_found = cgroup_find((struct str){membership.text, membership.length},
                                (struct str){mounts.text, mounts.length}, NULL, out, size);
    buf_release(&membership);
    buf_release(&mounts);
    return is_found;
}

static bool is_unit(const char *group)
{
    const char *slash = strrchr(group, '/');
    return slash != NULL && strcmp(slash + 1, JOBS_GROUP_UNIT) == 0;
}

static int enter_keepers(struct err *e)
{
    struct cgroup keepers;
    char own[PATH_MAX];
    if (!find_own(own, sizeof own)) return 0;
    if (!is_unit(own))
        return err_set(e, ERR_DENIED,
                       "--jobs-group is for the unit " JOBS_GROUP_UNIT ", and this process is in %s: run "
                       "'systemctl start " JOBS_GROUP_UNIT "'",
                       own);
    if (text_format(keepers.path, sizeof keepers.path, "%s/" JOBS_GROUP_KEEPERS, own) >= sizeof keepers.path)
        return err_set(e, ERR_IO, "the path of the control group %s is too long", own);
    bool is_created = mkdir(keepers.path, 0755) == 0 || errno == EEXIST;
    if (is_created && cgroup_attach(&keepers, getpid())) return 0;
    return err_set(e, ERR_IO, "cannot enter control group %s: %s", keepers.path, strerror(errno));
}

int jobs_group_hold(struct err *e)
{
    sigset_t wanted;
    int signal;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &wanted, NULL);
    if (enter_keepers(e)) return -1;
    service_manager_ready("Holds the control groups of jobs");
    while (sigwait(&wanted, &signal) != 0) continue;
    service_manager_stopping();
    return 0;
}
