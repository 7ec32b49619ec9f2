/* fairleadd: decides, stores and answers. Arguments, the configuration file, and then the loop. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <malloc.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "daemon/log.h"

enum { CONFIG_BYTES_MAX = 1 << 20, LARGE_BYTES = 32 << 20, SPARE_BYTES = 128 << 20 };

struct arguments {
    bool is_private;
    const char *state, *socket, *config;
};

static const char usage[] =
    "Usage: fairleadd --private [--state DIR] [--socket PATH] [--config FILE] [--log-level LEVEL]\n"
    "\n"
    "The daemon of Fairlead: decides whose job runs next, keeps every job in a database and answers requests.\n"
    "People start it with 'fairlead start'; it stays in the foreground and logs to standard error.\n"
    "\n"
    "  --private          serve only the person who starts it (the only kind there is so far)\n"
    "  --state DIR        where state lives (default: ${XDG_STATE_HOME:-~/.local/state}/fairlead)\n"
    "  --socket PATH      where it listens (default: fairlead.sock in the state directory; at most 107 bytes)\n"
    "  --config FILE      settings, one 'setting = value' a line, applied at every start\n"
    "  --log-level LEVEL  debug, info (default), warning or error\n"
    "  --help, --version\n"
    "\n"
    "SIGTERM ends it after the turn; jobs go on running and are found again at the next start.\n"
    "Exit status: 0 stopped, 1 something failed, 2 usage or bad input.\n";

static int fail(const struct err *e)
{
    fprintf(stderr, "fairleadd: %s\n", ERR_SENTENCE(e));
    return err_exit_status(e->code);
}

/* 0: go on; else the exit status plus one. */
static int read_arguments(int argc, char **argv, struct arguments *out)
{
    static const struct option options[] = {
        {"private", no_argument, NULL, 'p'},         {"state", required_argument, NULL, 's'},
        {"socket", required_argument, NULL, 'k'},    {"config", required_argument, NULL, 'c'},
        {"log-level", required_argument, NULL, 'l'}, {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},         {NULL, 0, NULL, 0}};
    opterr = 0;
    for (int letter; (letter = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (letter) {
        case 'p': out->is_private = true; break;
        case 's': out->state = optarg; break;
        case 'k': out->socket = optarg; break;
        case 'c': out->config = optarg; break;
        case 'l':
            if (log_level_from_name(optarg) < 0) {
                fprintf(stderr, "fairleadd: --log-level: '%s' is not debug, info, warning or error\n", optarg);
                return 3;
            }
            log_set_level((enum log_level)log_level_from_name(optarg));
            break;
        case 'h': fputs(usage, stdout); return 1;
        case 'V': puts("fairleadd " FAIRLEAD_VERSION); return 1;
        default:
            fprintf(stderr, "fairleadd: '%s' is not an option, or its value is missing; see 'fairleadd --help'\n",
                    argv[optind - 1]);
            return 3;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "fairleadd: '%s': no arguments are taken; see 'fairleadd --help'\n", argv[optind]);
        return 3;
    }
    if (!out->is_private) {
        fprintf(stderr, "fairleadd: say --private: an instance for everybody on this machine does not exist yet\n");
        return 3;
    }
    return 0;
}

static int read_config(const char *path, struct arena *arena, struct config *out_config, struct err *e)
{
    if (path == NULL) return 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (file < 0 || fstat(file, &st) != 0) return err_set(e, ERR_INPUT, "%s: %s", path, strerror(errno));
    char *text = arena_alloc(arena, CONFIG_BYTES_MAX);
    size_t length = 0;
    ssize_t got = 0;
    while (length < CONFIG_BYTES_MAX && (got = read(file, text + length, CONFIG_BYTES_MAX - length)) > 0)
        length += (size_t)got;
    int failure = errno;
    close(file);
    if (got < 0) return err_set(e, ERR_INPUT, "%s: %s", path, strerror(failure));
    if (length == CONFIG_BYTES_MAX)
        return err_set(e, ERR_INPUT, "%s: a configuration file has less than %d bytes", path, CONFIG_BYTES_MAX);
    return config_parse(path, (struct str){text, length}, out_config, e);
}

/* The three programs lie side by side. */
static const char *sibling(struct arena *arena, const char *name)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return name;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    struct buf joined = {0};
    buf_format(&joined, "%.*s/%s", (int)(slash - path), path, name);
    const char *result = arena_copy(arena, str(joined.text));
    buf_release(&joined);
    return result;
}

static int find_person(struct arena *arena, struct actor *out_person, struct err *e)
{
    errno = 0;
    const struct passwd *entry = getpwuid(geteuid());
    if (entry == NULL) return err_set(e, ERR_NOT_FOUND, "uid %u has no name in the user database", geteuid());
    *out_person = (struct actor){geteuid(), getegid(), arena_copy(arena, str(entry->pw_name)), true};
    return 0;
}

/* What has to be known and had before the loop can be made. */
static int prepare(struct daemon *d, const struct arguments *arguments, struct config *out_config, struct err *e)
{
    if (read_config(arguments->config, &d->arena, out_config, e) != 0) return -1;
    if (find_person(&d->arena, &d->person, e) != 0) return -1;
    if (place_open(arguments->state, arguments->socket, &d->arena, &d->place, e) != 0) return -1;
    d->launcher_path = sibling(&d->arena, "fairlead-launcher");
    machine_probe(&d->machine);
    return 0;
}

/* A pass over very many jobs takes tens of MiB and gives them back at once: a third of its time would go into getting pages
 * from the system and returning them. So up to SPARE_BYTES are kept. */
static void keep_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    mallopt(M_TRIM_THRESHOLD, SPARE_BYTES);
}

int main(int argc, char **argv)
{
    struct arguments arguments = {0};
    struct daemon d = {0};
    struct config config = {0};
    struct err e;
    int early = read_arguments(argc, argv, &arguments);
    if (early != 0) return early - 1;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* ulimit -f makes a write fail, no more; jobs get the default back */
    keep_memory();
    int status = 0;
    if (prepare(&d, &arguments, &config, &e) != 0 || daemon_open(&d, &config, &e) != 0)
        status = fail(&e);
    else
        status = daemon_run(&d);
    array_release(&config.lines);
    daemon_close(&d);
    return status;
}
