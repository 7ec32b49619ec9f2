/* fairlead-launcher: starts keepers and finds them again. Started by the daemon when it needs one; by hand only to look
 * at what it says. */
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

const char *argp_program_version = "fairlead-launcher " FAIRLEAD_VERSION;

struct arguments {
    struct launcher_options options;
    bool private;
};

static const struct argp_option option_table[] = {
    {"private", 'p', NULL, 0, "Serve the person who starts it, and nobody else", 0},
    {"state", 's', "DIR", 0, "The state directory: absolute, ours, mode 0700", 0},
    {"no-cgroup", 'n', NULL, 0, "Do not make control groups, even where it could", 0},
    {0},
};

static error_t take_option(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'p': a->private = true; return 0;
    case 's': a->options.directory = value; return 0;
    case 'n': a->options.no_cgroup = true; return 0;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument \"%s\"", value); return EINVAL;
    case ARGP_KEY_END:
        if (!a->private) argp_error(state, "--private is required: it says whom this launcher serves");
        if (a->options.directory == NULL || a->options.directory[0] != '/') {
            argp_error(state, "--state with an absolute path is required");
        }
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* 0, 1 and 2 must be open: else a file of ours would get such a number, and a job's output would go there. */
static void open_standard(void)
{
    int fd;
    do fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= 2);
    if (fd > 2) close(fd);
}

/* Everything we make is ours alone; there may be as many keepers as descriptors. Jobs get back what we were started with. */
static void take_over(struct inherited_attributes *out)
{
    out->umask = umask(077);
    ensure(getrlimit(RLIMIT_NOFILE, &out->files) == 0);
    struct rlimit most = {.rlim_cur = out->files.rlim_max, .rlim_max = out->files.rlim_max};
    (void)setrlimit(RLIMIT_NOFILE, &most);
}

int main(int argc, char **argv)
{
    static const struct argp parser = {
        .options = option_table,
        .parser = take_option,
        .doc = "Starts the jobs of a Fairlead daemon and keeps them alive without it.\v"
               "fairleadd starts this program by itself. It ends 10 s after nobody needs it any more.",
    };
    struct arguments arguments = {0};
    struct err e = {0};
    argp_err_exit_status = 2;
    argp_parse(&parser, argc, argv, 0, NULL, &arguments);
    struct arena memory = {0};
    arguments.options.directory = arena_copy(&memory, str(arguments.options.directory)); /* keepers write over argv */
    open_standard();
    process_title_init(argc, argv);
    take_over(&arguments.options.inherited);
    int result = launcher_run(&arguments.options, &e);
    if (result) fprintf(stderr, "fairlead-launcher: %s\n", ERR_SENTENCE(&e));
    arena_release(&memory);
    return result ? err_exit_status(e.code) : 0;
}
