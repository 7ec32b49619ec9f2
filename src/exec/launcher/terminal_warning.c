/* A terminal is a device that a user can exchange, stop with Ctrl-S, or hand to somebody else.
 *
 *  I1  The launcher opens no terminal. A child does, which has become the user for good, without groups, capabilities
 *      and descriptors of the launcher, so it can write only where the user can; an alarm ends it.
 *  I2  A terminal is written to if it is the controlling terminal of a process of the user outside jobs, is owned by
 *      the user, and its group may write, which is what mesg(1) changes. All that is compared on the open descriptor,
 *      and before it is opened, because opening a device can have effects.
 *  I3  No open and no write waits (O_NONBLOCK): what a stopped terminal does not take is lost.
 *  I4  The user can stop the child. The launcher kills one that is stopped (idle_keepers_on_child), and the kernel does
 *      if the launcher ends: an alarm does not end a process that is stopped. */
#include "exec/launcher/terminal_warning.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/quantity.h"
#include "exec/clock.h"
#include "exec/launcher/process_sampling.h"

enum { TERMINALS_MAX = 64, CHILD_S_MAX = 10, GID_NONE = 65534 };

/* The terminals of a user's processes outside jobs. */
struct terminal_set {
    dev_t devices[TERMINALS_MAX];
    int count;
};

/* --- the message -------------------------------------------------------------------------------------------------- */

static void add_gpus(uint64_t gpus, struct buf *out)
{
    const char *before = (gpus & (gpus - 1)) != 0 ? " and GPUs " : " and GPU ";
    for (int i = 0; i < 64; i++) {
        if ((gpus >> i & 1U) == 0) continue;
        buf_format(out, "%s%d", before, i);
        before = ",";
    }
}

void terminal_warning_format(const struct outside_warning *warning, int64_t now, struct buf *out)
{
    char duration[32], clock[16] = "?";
    struct tm local;
    time_t seconds = (time_t)now;
    if (localtime_r(&seconds, &local) != NULL) (void)strftime(clock, sizeof clock, "%H:%M", &local);
    duration_format_short(duration, warning->time_us / US_PER_S);
    buf_format(out, "\r\nMessage from Fairlead, the batch scheduler of this machine, at %s:\r\n", clock);
    buf_format(out, "Your processes outside jobs use %u.%02u CPUs", warning->cpus_centi / 100,
               warning->cpus_centi % 100);
    add_gpus(warning->gpus, out);
    buf_format(out, ", for %s or longer.\r\n", duration);
    buf_format(out, "The limit outside jobs is %u.%02u CPUs, and no GPU.", warning->limit_centi / 100,
               warning->limit_centi % 100);
    if (warning->is_low) buf_add_text(out, " They have a low weight now: jobs go first.");
    buf_add_text(out, "\r\nRun such work as jobs (man fairlead-submit).\r\n");
}

/* --- in the child ------------------------------------------------------------------------------------------------- */

static bool become(uid_t uid)
{
    if (close_range(0, ~0u, 0) < 0) return false;
    if (setgroups(0, NULL) < 0 || setresgid(GID_NONE, GID_NONE, GID_NONE) < 0) return false;
    if (setresuid(uid, uid, uid) < 0 || setuid(0) == 0) return false;
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0;
}

/* I2 */
static bool is_wanted(const struct terminal_set *terminals, uid_t uid, const struct stat *file)
{
    if (!S_ISCHR(file->st_mode) || file->st_uid != uid || (file->st_mode & S_IWGRP) == 0) return false;
    for (int i = 0; i < terminals->count; i++) {
        if (terminals->devices[i] == file->st_rdev) return true;
    }
    return false;
}

static void write_to(int directory_fd, const char *name, const struct terminal_set *terminals, uid_t uid,
                     struct str text)
{
    struct stat file;
    if (fstatat(directory_fd, name, &file, AT_SYMLINK_NOFOLLOW) < 0 || !is_wanted(terminals, uid, &file)) return;
    int fd = openat(directory_fd, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return;
    if (fstat(fd, &file) == 0 && is_wanted(terminals, uid, &file) && isatty(fd))
        (void)!write(fd, text.text, text.length); /* I3 */
    close(fd);
}

static void write_to_all(const char *path, const struct terminal_set *terminals, uid_t uid, struct str text)
{
    DIR *directory = opendir(path);
    if (directory == NULL) return;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        write_to(dirfd(directory), entry->d_name, terminals, uid, text);
    closedir(directory);
}

static _Noreturn void run_child(const struct outside_warning *warning, const struct terminal_set *terminals,
                                pid_t launcher)
{
    struct buf text = {0};
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL); /* the launcher blocks all */
    (void)alarm(CHILD_S_MAX);
    if (!become(warning->uid) || getppid() != launcher) _exit(1); /* I4 */
    terminal_warning_format(warning, (int64_t)time(NULL), &text);
    write_to_all("/dev/pts", terminals, warning->uid, (struct str){text.text, text.length});
    write_to_all("/dev", terminals, warning->uid, (struct str){text.text, text.length});
    _exit(0);
}

/* --- in the launcher ---------------------------------------------------------------------------------------------- */

/* proc(5): the minor number is bits 31 to 20 and 7 to 0, the major one bits 15 to 8. */
static dev_t device_of(uint32_t terminal)
{
    return terminal == 0 ? 0 : makedev(terminal >> 8 & 0xfff, (terminal & 0xff) | (terminal >> 12 & 0xfff00));
}

static void find_terminals(const struct process_sampling *s, uint32_t uid, struct terminal_set *out)
{
    *out = (struct terminal_set){0};
    for (uint32_t i = 0; i < s->all.list.count && out->count < TERMINALS_MAX; i++) {
        dev_t device = device_of(s->all.list.items[i].terminal);
        bool is_known = device == 0 || s->uids.items[i] != uid || s->launch_ids.items[i] != 0;
        for (int k = 0; k < out->count && !is_known; k++) is_known = out->devices[k] == device;
        if (!is_known) out->devices[out->count++] = device;
    }
}

void terminal_warning_send(const struct launches *l, const struct outside_warning *warnings, uint32_t count)
{
    struct process_sampling s;
    const pid_t launcher = getpid();
    if (!l->rules->is_system || !launches_are_read(l) || count == 0) return;
    process_sampling_read(l, &s);
    for (uint32_t i = 0; i < count; i++) {
        struct terminal_set terminals;
        if (!job_identity_is_person(l->rules, warnings[i].uid)) continue;
        find_terminals(&s, warnings[i].uid, &terminals);
        if (terminals.count == 0) continue;
        if (fork() == 0) run_child(&warnings[i], &terminals, launcher); /* I1; launches_on_child reaps it */
    }
    process_sampling_release(&s);
}
