/* fairleadd, the daemon: reads its arguments and the configuration file, then runs the loop (loop.c). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "daemon/log.h"
#include "options/usage.h"

enum { CONFIG_BYTES_MAX = 1 << 20, DOCUMENT_BYTES_MAX = 64 << 20, LARGE_BYTES = 32 << 20, SPARE_BYTES = 128 << 20 };

struct daemon_arguments {
    bool is_private, wants_help, wants_version;
    const char *state, *socket, *config, *pretend;
    uint64_t speed; /* 0: not given */
    int log_level;  /* enum log_level */
};

static const struct option_row rows[] = {
    {.name = "private",
     .value = FLAG_IN(struct daemon_arguments, is_private),
     .help = "serve only the user who starts it (required: other instances do not exist yet)"},
    {.name = "state",
     .argument = "DIR",
     .value = TEXT_IN(struct daemon_arguments, state),
     .help = "the state directory; default: ${XDG_STATE_HOME:-~/.local/state}/fairlead"},
    {.name = "socket",
     .argument = "PATH",
     .value = TEXT_IN(struct daemon_arguments, socket),
     .help = "the socket it listens on, a path of at most 107 bytes; default: fairlead.sock in the state directory"},
    {.name = "config",
     .argument = "FILE",
     .value = TEXT_IN(struct daemon_arguments, config),
     .help = "settings to apply at every start, as lines 'setting = value'"},
    {.name = "pretend",
     .argument = "FILE",
     .value = TEXT_IN(struct daemon_arguments, pretend),
     .help = "run the cluster that a document describes, and no real job; requires --state"},
    {.name = "speed",
     .argument = "COUNT",
     .value = U64_IN(struct daemon_arguments, speed, 1, PRETEND_SPEED_MAX),
     .help = "with --pretend: virtual seconds in a second; default: 1"},
    {.name = "log-level",
     .argument = "LEVEL",
     .value = CHOICE_IN(struct daemon_arguments, log_level, LOG_LEVELS),
     .help = "the lowest level that it logs: debug, info, warning or error; default: info"},
    {.name = "help", .letter = 'h', .value = FLAG_IN(struct daemon_arguments, wants_help), .help = "print this help"},
    {.name = "version",
     .letter = 'V',
     .value = FLAG_IN(struct daemon_arguments, wants_version),
     .help = "print the version"},
    {0},
};

static const struct program_usage usage = {
    .name = "fairleadd",
    .line = "--private [OPTION...]",
    .summary =
        "The daemon of Fairlead: decides whose job runs next, keeps all jobs in a database and answers requests. "
        "It stays in the foreground and logs to standard error.",
    .rows = rows,
    .text = "SIGTERM stops it. Running jobs go on, and the next start finds them again.\n\n"
            "Exit status: 0 stopped, 1 an operation failed, 2 bad usage or input.",
};

static int fail(const struct err *e)
{
    fprintf(stderr, "fairleadd: %s\n", ERR_SENTENCE(e));
    return err_exit_status(e->code);
}

static void write_usage(void)
{
    struct buf text = {0};
    usage_write_program(&text, &usage);
    fputs(text.text, stdout);
    buf_release(&text);
}

static int read_arguments(int argc, char **argv, struct daemon_arguments *out, struct err *e)
{
    const struct option_rules rules = {.name = usage.name, .sets = {{rows, out}}, .set_count = 1};
    struct parsed parsed;
    if (options_parse(&rules, argc, argv, &parsed, e) != 0) return -1;
    if (out->wants_help || out->wants_version) return 0;
    if (parsed.operand_count > 0)
        return err_set(e, ERR_USAGE, "unexpected argument '%s'; see 'fairleadd --help'", parsed.operands[0]);
    if (out->pretend != NULL && out->state == NULL)
        return err_set(e, ERR_USAGE, "--pretend requires --state, which real jobs do not have");
    if (out->speed != 0 && out->pretend == NULL) return err_set(e, ERR_USAGE, "--speed requires --pretend");
    if (!out->is_private)
        return err_set(e, ERR_USAGE, "--private is missing: instances for all users of a machine do not exist yet");
    return 0;
}

/* Reads a file of less than max bytes into the arena. */
static int read_text(const char *path, size_t max, struct arena *arena, struct str *out_text, struct err *e)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (file < 0 || fstat(file, &st) != 0) return err_set(e, ERR_INPUT, "%s: %s", path, strerror(errno));
    char *text = arena_alloc_raw(arena, max);
    size_t length = 0;
    ssize_t got = 0;
    while (length < max && (got = read(file, text + length, max - length)) > 0) length += (size_t)got;
    int failure = errno;
    close(file);
    if (got < 0) return err_set(e, ERR_INPUT, "%s: %s", path, strerror(failure));
    if (length == max) return err_set(e, ERR_INPUT, "%s: the file is too long; it may have %zu bytes", path, max - 1);
    *out_text = (struct str){text, length};
    return 0;
}

static int read_config(const char *path, struct arena *arena, struct config *out_config, struct err *e)
{
    struct str text;
    if (path == NULL) return 0;
    if (read_text(path, CONFIG_BYTES_MAX, arena, &text, e) != 0) return -1;
    return config_parse(path, text, out_config, e);
}

/* Reads the document before anything is created. */
static int read_pretend(struct daemon *d, const struct daemon_arguments *arguments, struct str *out_text, struct err *e)
{
    char path[PATH_MAX];
    if (arguments->pretend == NULL) return 0;
    if (realpath(arguments->pretend, path) == NULL)
        return err_set(e, ERR_INPUT, "%s: %s", arguments->pretend, strerror(errno));
    uint32_t speed = arguments->speed != 0 ? (uint32_t)arguments->speed : 1;
    if (read_text(path, DOCUMENT_BYTES_MAX, &d->arena, out_text, e) != 0) return -1;
    struct pretend *pretend = arena_alloc(&d->arena, sizeof *pretend);
    if (pretend_open(pretend, arena_copy(&d->arena, str(path)), *out_text, speed, e) != 0) return -1;
    d->pretend = pretend;
    return 0;
}

/* A directory is either that of a pretend instance or that of a real one, from its first start on. */
static int check_kind(const struct daemon *d, struct str document, struct err *e)
{
    return d->pretend != NULL ? pretend_mark_directory(d->state_dir.path, document, e)
                              : pretend_check_unmarked(d->state_dir.path, e);
}

/* A pretend cluster has nothing of this machine, and no boot of it ends a launch. */
static void probe_machine(struct daemon *d)
{
    machine_probe(&d->machine);
    if (d->pretend == NULL) return;
    d->machine.has = (struct capacity){0};
    text_format(d->machine.boot_id, sizeof d->machine.boot_id, "pretend");
}

/* The path of a program in the directory of this one. */
static const char *sibling_path(struct arena *arena, const char *name)
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

static int find_user(struct arena *arena, struct actor *out_user, struct err *e)
{
    errno = 0;
    const struct passwd *entry = getpwuid(geteuid());
    if (entry == NULL) return err_set(e, ERR_NOT_FOUND, "uid %u has no name in the user database", geteuid());
    *out_user = (struct actor){geteuid(), getegid(), arena_copy(arena, str(entry->pw_name)), true};
    return 0;
}

/* Fills the members of the daemon that daemon_open requires. */
static int prepare(struct daemon *d, const struct daemon_arguments *arguments, struct config *out_config, struct err *e)
{
    struct str document = {0};
    if (read_config(arguments->config, &d->arena, out_config, e) != 0) return -1;
    if (read_pretend(d, arguments, &document, e) != 0) return -1;
    if (find_user(&d->arena, &d->served_user, e) != 0) return -1;
    if (state_dir_open(arguments->state, arguments->socket, &d->arena, &d->state_dir, e) != 0) return -1;
    if (check_kind(d, document, e) != 0) return -1;
    d->launcher_path = sibling_path(&d->arena, "fairlead-launcher");
    probe_machine(d);
    return 0;
}

/* A pass over 10^5 jobs allocates tens of MiB and frees them at once. By default, glibc would spend a third of the pass
 * on getting pages from the system and returning them, so it is told to keep up to SPARE_BYTES. */
static void keep_freed_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    mallopt(M_TRIM_THRESHOLD, SPARE_BYTES);
}

static int serve(const struct daemon_arguments *arguments)
{
    struct daemon d = {0};
    struct config config = {0};
    struct err e;
    log_set_level((enum log_level)arguments->log_level);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* under ulimit -f a write fails instead; jobs get the default action */
    keep_freed_memory();
    int status = 0;
    if (prepare(&d, arguments, &config, &e) != 0 || daemon_open(&d, &config, &e) != 0)
        status = fail(&e);
    else
        status = daemon_run(&d);
    array_release(&config.lines);
    daemon_close(&d);
    return status;
}

int main(int argc, char **argv)
{
    struct daemon_arguments arguments = {.log_level = LOG_INFO};
    struct err e;
    if (read_arguments(argc, argv, &arguments, &e) != 0) return fail(&e);
    if (arguments.wants_help) {
        write_usage();
        return 0;
    }
    if (arguments.wants_version) {
        puts("fairleadd " FAIRLEAD_VERSION);
        return 0;
    }
    return serve(&arguments);
}
