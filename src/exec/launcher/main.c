/* fairlead-launcher: starts keepers and finds them again. The daemon starts it when it needs it; people start it only
 * to see its messages. */
#include <argp.h>
#include <fcntl.h>
#include <stdio.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/ensure.h"
#include "exec/launcher/launcher.h"
#include "exec/launcher/process_title.h"

#ifndef FAIRLEAD_VERSION
#define FAIRLEAD_VERSION "unknown"
#endif

enum { USAGE_EXIT_STATUS = 2 };

const char *argp_program_version = "fairlead-launcher " FAIRLEAD_VERSION; /* the name is argp's */

struct launcher_arguments {
    struct launcher_options options;
    bool is_private;
};

static const struct argp_option option_table[] = {
    {"private", 'p', NULL, 0, "Serve only the user who starts it", 0},
    {"state", 's', "DIR", 0, "The state directory: an absolute path, owned by this user, mode 0700", 0},
    {"no-cgroup", 'n', NULL, 0, "Do not create control groups", 0},
    {0},
};

static error_t take_option(int key, char *value, struct argp_state *state)
{
    struct launcher_arguments *a = state->input;
    switch (key) {
    case 'p': a->is_private = true; return 0;
    case 's': a->options.directory = value; return 0;
    case 'n': a->options.no_cgroup = true; return 0;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", value); return EINVAL;
    case ARGP_KEY_END:
        if (!a->is_private)
            argp_error(state, "--private is required: this launcher serves only the user who starts it");
        if (a->options.directory == NULL || a->options.directory[0] != '/') {
            argp_error(state, "--state with an absolute path is required");
        }
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
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

int main(int argc, char **argv)
{
    static const struct argp parser = {
        .options = option_table,
        .parser = take_option,
        .doc = "Start the jobs of a Fairlead daemon, and keep them running without it.\v"
               "fairleadd starts this program when it needs it. It exits 10 s after the daemon has disconnected and no "
               "job is left.",
    };
    struct launcher_arguments arguments = {0};
    struct err e = {0};
    argp_err_exit_status = USAGE_EXIT_STATUS;
    argp_parse(&parser, argc, argv, 0, NULL, &arguments);
    struct arena memory = {0};
    arguments.options.directory = arena_copy(&memory, str(arguments.options.directory)); /* titles overwrite argv */
    open_standard();
    process_title_init(argc, argv);
    set_attributes(&arguments.options.inherited);
    int result = launcher_run(&arguments.options, &e);
    if (result) fprintf(stderr, "fairlead-launcher: %s\n", ERR_SENTENCE(&e));
    arena_release(&memory);
    return result ? err_exit_status(e.code) : 0;
}
