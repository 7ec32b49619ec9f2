/* fairlead-launcher: starts keepers and finds them again. The daemon starts it when it needs it; people start it only
 * to see its messages. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/ensure.h"
#include "exec/executor.h"
#include "exec/launcher/jobs_group.h"
#include "exec/launcher/launcher.h"
#include "exec/launcher/process_title.h"
#include "exec/launcher/system_accounts.h"
#include "exec/launcher/system_directory.h"
#include "exec/service_manager.h"
#include "options/manual_page.h"
#include "options/usage.h"
#include "terminal/relay.h"

#ifndef FAIRLEAD_VERSION
#define FAIRLEAD_VERSION "unknown"
#endif

#define DAEMON_USER "fairlead"

struct launcher_arguments {
    bool is_private, is_system, holds_jobs_group, allows_root, has_no_cgroup, wants_help, wants_manual, wants_version;
    const char *state, *daemon_user, *cgroup, *user_slice;
};

static const struct option_row rows[] = {
    {.name = "private",
     .letter = 'p',
     .value = FLAG_IN(struct launcher_arguments, is_private),
     .help = "serve only the user who starts it; needs --state"},
    {.name = "system",
     .letter = 'S',
     .value = FLAG_IN(struct launcher_arguments, is_system),
     .help = "serve all users of the machine; has to be started by root"},
    {.name = "state",
     .letter = 's',
     .argument = "DIR",
     .value = TEXT_IN(struct launcher_arguments, state),
     .help = "the state directory, an absolute path: owned by this user, mode 0700; with --system owned by root, mode "
             "0711, by default " EXECUTOR_SYSTEM_DIRECTORY},
    {.name = "daemon-user",
     .letter = 'u',
     .argument = "NAME",
     .value = TEXT_IN(struct launcher_arguments, daemon_user),
     .help = "with --system: the account of the daemon, the only one that is listened to (default " DAEMON_USER ")"},
    {.name = "allow-root",
     .letter = 'r',
     .value = FLAG_IN(struct launcher_arguments, allows_root),
     .help = "with --system: accept jobs of root and of system accounts, and a daemon of root's"},
    {.name = "no-cgroup",
     .letter = 'n',
     .value = FLAG_IN(struct launcher_arguments, has_no_cgroup),
     .help = "do not create control groups"},
    {.name = "cgroup",
     .letter = 'g',
     .argument = "DIR",
     .value = TEXT_IN(struct launcher_arguments, cgroup),
     .help =
         "create the control groups of jobs in this one of version 2, an absolute path such as "
         "/sys/fs/cgroup/fairlead, which is created if it is missing. Default: the launcher's own group; with --system, "
         "that of fairlead-jobs.service, or if neither gets a memory controller, /sys/fs/cgroup/fairlead"},
    {.name = "user-slice",
     .argument = "DIR",
     .value = TEXT_IN(struct launcher_arguments, user_slice),
     .help = "with --system: the control group of version 2 in which systemd has the slices of users, which get a low "
             "weight with the setting outside_jobs=low_weight (default: user.slice at the top of the hierarchy)"},
    {.name = "jobs-group",
     .value = FLAG_IN(struct launcher_arguments, holds_jobs_group),
     .help =
         "start no jobs, but be the process of the unit fairlead-jobs.service, which has the control groups of jobs"},
    {.name = "help", .letter = 'h', .value = FLAG_IN(struct launcher_arguments, wants_help), .help = "this text"},
    {.name = "manual",
     .value = FLAG_IN(struct launcher_arguments, wants_manual),
     .help = "print the source of the manual page"},
    {.name = "version",
     .letter = 'V',
     .value = FLAG_IN(struct launcher_arguments, wants_version),
     .help = "its version"},
    {0},
};

static const struct program_usage usage = {
    .name = "fairlead-launcher",
    .title = "starts the jobs of the batch scheduler Fairlead",
    .line = "--private --state DIR | --system [OPTION...] | --jobs-group",
    .summary =
        "Starts the jobs of a Fairlead daemon and keeps them running without it. fairleadd starts this program when "
        "it needs it.",
    .rows = rows,
    .text =
        "With --private it exits 10 s after the daemon has disconnected, if no job runs and the daemon has recorded the end "
        "of every job.\n\n"
        "With --system, the state directory must not be writable by the daemon: it has what the launcher trusts.",
};

static int fail(const struct err *e)
{
    fprintf(stderr, "%sfairlead-launcher: %s\n", service_manager_has_journal() ? "<3>" : "", ERR_SENTENCE(e));
    return err_exit_status(e->code);
}

static void write_usage(bool is_manual)
{
    struct buf text = {0};
    if (is_manual)
        manual_page_write_program(&text, &usage);
    else
        usage_write_program(&text, &usage);
    fputs(text.text, stdout);
    buf_release(&text);
}

static int read_arguments(int argc, char **argv, struct launcher_arguments *out, struct err *e)
{
    const struct option_rules rules = {.name = usage.name, .sets = {{rows, out}}, .set_count = 1};
    struct parsed parsed;
    if (options_parse(&rules, argc, argv, &parsed, e) != 0) return -1;
    if (out->wants_help || out->wants_manual || out->wants_version) return 0;
    if (parsed.operand_count > 0)
        return err_set(e, ERR_USAGE, "unexpected argument '%s'; see 'fairlead-launcher --help'", parsed.operands[0]);
    if (out->holds_jobs_group && argc > 2) return err_set(e, ERR_USAGE, "--jobs-group has no other options");
    if (out->holds_jobs_group) return 0;
    if (out->is_private == out->is_system)
        return err_set(e, ERR_USAGE, "give either --private, for the jobs of one user, or --system, for those of all");
    if (out->is_private && (out->allows_root || out->daemon_user != NULL))
        return err_set(e, ERR_USAGE, "--%s needs --system", out->allows_root ? "allow-root" : "daemon-user");
    if (out->cgroup != NULL && (out->cgroup[0] != '/' || out->has_no_cgroup))
        return err_set(e, ERR_USAGE, "--cgroup '%s' %s", out->cgroup,
                       out->has_no_cgroup ? "contradicts --no-cgroup" : "is not an absolute path");
    if (out->user_slice != NULL && (out->user_slice[0] != '/' || out->is_private || out->has_no_cgroup))
        return err_set(e, ERR_USAGE, "--user-slice '%s' %s", out->user_slice,
                       out->is_private      ? "needs --system"
                       : out->has_no_cgroup ? "contradicts --no-cgroup"
                                            : "is not an absolute path");
    if (out->is_system && out->state == NULL) out->state = EXECUTOR_SYSTEM_DIRECTORY;
    if (out->state == NULL || out->state[0] != '/')
        return err_set(e, ERR_USAGE, "--state with an absolute path is missing");
    return 0;
}

/* Makes sure that descriptors 0, 1 and 2 are open. Otherwise a file of the launcher would get such a number, and the
 * output of a job would go into it. */
static void open_standard(void)
{
    int fd;
    do fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= 2);
    if (fd > 2) close(fd);
}

/* Closes new files to other users, and raises the limit of open files, because each keeper takes a descriptor. *out:
 * the old values, which jobs get back. */
static void set_attributes(struct inherited_attributes *out)
{
    out->umask = umask(077);
    ensure(getrlimit(RLIMIT_NOFILE, &out->open_files) == 0);
    struct rlimit raised = {.rlim_cur = out->open_files.rlim_max, .rlim_max = out->open_files.rlim_max};
    (void)setrlimit(RLIMIT_NOFILE, &raised);
}

/* Before the arguments are overwritten. */
static int set_up_system(const struct launcher_arguments *arguments, struct arena *memory, struct launcher_options *out,
                         struct err *e)
{
    char path[PATH_MAX];
    const char *user = arguments->daemon_user != NULL ? arguments->daemon_user : DAEMON_USER;
    if (!arguments->is_system) return 0;
    if (geteuid() != 0) {
        return err_set(e, ERR_DENIED,
                       "--system has to be started by root: run 'systemctl start fairlead-launcher', or use sudo");
    }
    out->rules = (struct identity_rules){.is_system = true, .allows_root = arguments->allows_root};
    out->rules.min_uid = system_accounts_read_min_uid();
    if (system_accounts_find_daemon(user, arguments->allows_root, &out->rules.daemon_uid, e)) return -1;
    if (system_directory_prepare(out->directory, path, e)) return -1;
    out->directory = arena_copy(memory, str(path));
    return 0;
}

static int serve(int argc, char **argv, const struct launcher_arguments *arguments)
{
    struct arena memory = {0};
    struct err e = {0};
    struct launcher_options options = {
        .directory = arena_copy(&memory, str(arguments->state)), /* titles overwrite argv */
        .no_cgroup = arguments->has_no_cgroup,
        .cgroup = arguments->cgroup != NULL ? arena_copy(&memory, str(arguments->cgroup)) : NULL,
        .user_slice = arguments->user_slice != NULL ? arena_copy(&memory, str(arguments->user_slice)) : NULL,
    };
    open_standard();
    service_manager_init();
    int result = set_up_system(arguments, &memory, &options, &e);
    process_title_init(argc, argv);
    set_attributes(&options.inherited);
    if (result == 0) result = launcher_run(&options, &e);
    int status = result != 0 ? fail(&e) : 0;
    arena_release(&memory);
    return status;
}

static int hold_jobs_group(void)
{
    struct err e;
    service_manager_init();
    return jobs_group_hold(&e) != 0 ? fail(&e) : 0;
}

int main(int argc, char **argv)
{
    struct launcher_arguments arguments = {0};
    struct err e;
    if (argc > RELAY_ARGUMENT_PROGRAM && strcmp(argv[0], RELAY_NAME) == 0) relay_main(argc, argv);
    if (read_arguments(argc, argv, &arguments, &e) != 0) return fail(&e);
    if (arguments.wants_help || arguments.wants_manual) {
        write_usage(arguments.wants_manual);
        return 0;
    }
    if (arguments.wants_version) {
        puts("fairlead-launcher " FAIRLEAD_VERSION);
        return 0;
    }
    return arguments.holds_jobs_group ? hold_jobs_group() : serve(argc, argv, &arguments);
}
