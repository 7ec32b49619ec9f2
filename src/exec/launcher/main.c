/* fairlead-launcher: starts keepers and finds them again. The daemon starts it when it needs it; people start it only
 * to see its messages. */
#include <fcntl.h>
#include <stdio.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/ensure.h"
#include "exec/launcher/launcher.h"
#include "exec/launcher/process_title.h"
#include "options/usage.h"

#ifndef FAIRLEAD_VERSION
#define FAIRLEAD_VERSION "unknown"
#endif

struct launcher_arguments {
    bool is_private, has_no_cgroup, wants_help, wants_version;
    const char *state;
};

static const struct option_row rows[] = {
    {.name = "private",
     .letter = 'p',
     .value = FLAG_IN(struct launcher_arguments, is_private),
     .help = "serve only the user who starts it (required; there is no other mode yet)"},
    {.name = "state",
     .letter = 's',
     .argument = "DIR",
     .value = TEXT_IN(struct launcher_arguments, state),
     .help = "the state directory: an absolute path, owned by this user, mode 0700"},
    {.name = "no-cgroup",
     .letter = 'n',
     .value = FLAG_IN(struct launcher_arguments, has_no_cgroup),
     .help = "do not create control groups"},
    {.name = "help", .letter = 'h', .value = FLAG_IN(struct launcher_arguments, wants_help), .help = "this text"},
    {.name = "version",
     .letter = 'V',
     .value = FLAG_IN(struct launcher_arguments, wants_version),
     .help = "its version"},
    {0},
};

static const struct program_usage usage = {
    .name = "fairlead-launcher",
    .line = "--private --state DIR [OPTION...]",
    .summary =
        "Starts the jobs of a Fairlead daemon and keeps them running without it. fairleadd starts this program when "
        "it needs it.",
    .rows = rows,
    .text =
        "It exits 10 s after the daemon has disconnected, if no job runs and the daemon has recorded the end of every job.",
};

static int fail(const struct err *e)
{
    fprintf(stderr, "fairlead-launcher: %s\n", ERR_SENTENCE(e));
    return err_exit_status(e->code);
}

static void write_usage(void)
{
    struct buf text = {0};
    usage_write_program(&text, &usage);
    fputs(text.text, stdout);
    buf_release(&text);
}

static int read_arguments(int argc, char **argv, struct launcher_arguments *out, struct err *e)
{
    const struct option_rules rules = {.name = usage.name, .sets = {{rows, out}}, .set_count = 1};
    struct parsed parsed;
    if (options_parse(&rules, argc, argv, &parsed, e) != 0) return -1;
    if (out->wants_help || out->wants_version) return 0;
    if (parsed.operand_count > 0)
        return err_set(e, ERR_USAGE, "unexpected argument '%s'; see 'fairlead-launcher --help'", parsed.operands[0]);
    if (!out->is_private)
        return err_set(e, ERR_USAGE, "--private is missing: this launcher serves only the user who starts it");
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

static int serve(int argc, char **argv, const struct launcher_arguments *arguments)
{
    struct arena memory = {0};
    struct err e = {0};
    struct launcher_options options = {
        .directory = arena_copy(&memory, str(arguments->state)), /* titles overwrite argv */
        .no_cgroup = arguments->has_no_cgroup,
    };
    open_standard();
    process_title_init(argc, argv);
    set_attributes(&options.inherited);
    int status = launcher_run(&options, &e) != 0 ? fail(&e) : 0;
    arena_release(&memory);
    return status;
}

int main(int argc, char **argv)
{
    struct launcher_arguments arguments = {0};
    struct err e;
    if (read_arguments(argc, argv, &arguments, &e) != 0) return fail(&e);
    if (arguments.wants_help) {
        write_usage();
        return 0;
    }
    if (arguments.wants_version) {
        puts("fairlead-launcher " FAIRLEAD_VERSION);
        return 0;
    }
    return serve(argc, argv, &arguments);
}
