/* fairleadd, the daemon: reads its arguments and the configuration file, then runs the loop (loop.c). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "daemon/gpu_probe.h"
#include "daemon/log.h"
#include "daemon/system_start.h"
#include "exec/service_manager.h"
#include "options/manual_page.h"
#include "options/usage.h"

enum { CONFIG_BYTES_MAX = 1 << 20, DOCUMENT_BYTES_MAX = 64 << 20, LARGE_BYTES = 32 << 20, SPARE_BYTES = 128 << 20 };

struct daemon_arguments {
    bool is_private, is_system, allows_root, wants_help, wants_manual, wants_version;
    const char *state, *socket, *config, *pretend, *account, *launcher_state, *cgroup, *check_database, *export_history,
        *probe_gpus;
    uint64_t speed; /* 0: not given */
    int log_level;  /* enum log_level */
};

static const struct option_row rows[] = {
    {.name = "private",
     .value = FLAG_IN(struct daemon_arguments, is_private),
     .help = "serve only the user who starts it"},
    {.name = "system",
     .value = FLAG_IN(struct daemon_arguments, is_system),
     .help = "serve all users of the machine; started by root, or by the account that it runs as"},
    {.name = "state",
     .argument = "DIR",
     .value = TEXT_IN(struct daemon_arguments, state),
     .help = "the state directory; default: ${XDG_STATE_HOME:-~/.local/state}/fairlead; with --system " SYSTEM_STATE},
    {.name = "socket",
     .argument = "PATH",
     .value = TEXT_IN(struct daemon_arguments, socket),
     .help = "the socket it listens on, a path of at most 107 bytes; default: fairlead.sock in the state directory; "
             "with --system " SYSTEM_SOCKET},
    {.name = "account",
     .argument = "NAME",
     .value = TEXT_IN(struct daemon_arguments, account),
     .help = "with --system: the account that it runs as; default: " SYSTEM_ACCOUNT},
    {.name = "launcher-state",
     .argument = "DIR",
     .value = TEXT_IN(struct daemon_arguments, launcher_state),
     .help = "with --system: the launcher's directory, which is root's; default: " EXECUTOR_SYSTEM_DIRECTORY},
    {.name = "cgroup",
     .argument = "DIR",
     .value = TEXT_IN(struct daemon_arguments, cgroup),
     .help =
         "with --system: where the launcher that it starts creates the control groups of jobs, see fairlead-launcher(8)"},
    {.name = "allow-root",
     .value = FLAG_IN(struct daemon_arguments, allows_root),
     .help = "with --system: run jobs of root and of system accounts, too"},
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
    {.name = "check-database",
     .argument = "FILE",
     .value = TEXT_IN(struct daemon_arguments, check_database),
     .help = "start nothing: check a database that no daemon uses, such as a backup, and print what it is"},
    {.name = "export-history",
     .argument = "DIR",
     .value = TEXT_IN(struct daemon_arguments, export_history),
     .help =
         "start nothing: print the ended jobs of the instance with this state directory, so that they can be moved"},
    {.name = "probe-gpus",
     .argument = "VENDOR",
     .value = TEXT_IN(struct daemon_arguments, probe_gpus),
     .help = "start nothing: report the GPUs of nvidia or amd for each line of standard input; a daemon runs this"},
    {.name = "log-level",
     .argument = "LEVEL",
     .value = CHOICE_IN(struct daemon_arguments, log_level, LOG_LEVELS),
     .help = "the lowest level that it logs: debug, info, warning or error; default: info"},
    {.name = "help", .letter = 'h', .value = FLAG_IN(struct daemon_arguments, wants_help), .help = "print this help"},
    {.name = "manual",
     .value = FLAG_IN(struct daemon_arguments, wants_manual),
     .help = "print the source of the manual page"},
    {.name = "version",
     .letter = 'V',
     .value = FLAG_IN(struct daemon_arguments, wants_version),
     .help = "print the version"},
    {0},
};

static const struct program_usage usage = {
    .name = "fairleadd",
    .title = "daemon of the batch scheduler Fairlead",
    .line = "--private|--system [OPTION...], --check-database FILE, or --export-history DIR",
    .summary =
        "The daemon of Fairlead: decides whose job runs next, keeps all jobs in a database and answers requests. "
        "It stays in the foreground and logs to standard error.",
    .rows = rows,
    .text = "SIGTERM, SIGINT and SIGQUIT stop it. Running jobs go on, and the next start finds them again.\n\n"
            "Exit status: 0 stopped, 1 an operation failed, 2 bad usage or input.",
};

static int fail(const struct err *e)
{
    fprintf(stderr, "%sfairleadd: %s\n", service_manager_has_journal() ? "<3>" : "", ERR_SENTENCE(e));
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

static int read_arguments(int argc, char **argv, struct daemon_arguments *out, struct err *e)
{
    const struct option_rules rules = {.name = usage.name, .sets = {{rows, out}}, .set_count = 1};
    struct parsed parsed;
    if (options_parse(&rules, argc, argv, &parsed, e) != 0) return -1;
    if (out->wants_help || out->wants_manual || out->wants_version) return 0;
    if (out->check_database != NULL && out->check_database[0] == '\0')
        return err_set(e, ERR_INPUT, "--check-database: the path is empty; give a file");
    if (parsed.operand_count > 0)
        return err_set(e, ERR_USAGE, "unexpected argument '%s'; see 'fairleadd --help'", parsed.operands[0]);
    if (out->pretend != NULL && out->state == NULL)
        return err_set(e, ERR_USAGE, "--pretend requires --state, which real jobs do not have");
    if (out->speed != 0 && out->pretend == NULL) return err_set(e, ERR_USAGE, "--speed requires --pretend");
    bool starts_none = out->check_database != NULL || out->export_history != NULL || out->probe_gpus != NULL;
    if (starts_none && (out->is_private || out->is_system))
        return err_set(e, ERR_USAGE, "%s starts no daemon: leave out --private and --system",
                       out->check_database != NULL   ? "--check-database"
                       : out->export_history != NULL ? "--export-history"
                                                     : "--probe-gpus");
    if (!starts_none && out->is_private == out->is_system)
        return err_set(e, ERR_USAGE, "one of --private (for you) and --system (for all users) is needed");
    bool has_system_option =
        out->account != NULL || out->launcher_state != NULL || out->cgroup != NULL || out->allows_root;
    if (!out->is_system && has_system_option)
        return err_set(e, ERR_USAGE, "--account, --launcher-state, --cgroup and --allow-root require --system");
    if (out->is_system && out->pretend != NULL)
        return err_set(e, ERR_USAGE, "--pretend runs no job of other users: use --private");
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

/* As root, where it is root that starts it; afterwards this process is the account's. */
static int prepare_system(struct daemon *d, const struct daemon_arguments *arguments, struct err *e)
{
    const struct system_start start = {
        .account = arguments->account != NULL ? arguments->account : SYSTEM_ACCOUNT,
        .state = arguments->state != NULL ? arguments->state : SYSTEM_STATE,
        .socket = arguments->socket != NULL ? arguments->socket : SYSTEM_SOCKET,
        .launcher_directory = arguments->launcher_state != NULL ? arguments->launcher_state : EXECUTOR_SYSTEM_DIRECTORY,
        .launcher_path = sibling_path(&d->arena, "fairlead-launcher"),
        .cgroup = arguments->cgroup,
        .allow_root = arguments->allows_root,
    };
    if (system_start(&start, e) != 0) return -1;
    d->is_system = true;
    d->allows_root = arguments->allows_root;
    d->launcher_directory = start.launcher_directory;
    return state_dir_open(start.state, start.socket, STATE_DIR_SYSTEM_MODE, &d->arena, &d->state_dir, e);
}

static int prepare_private(struct daemon *d, const struct daemon_arguments *arguments, struct err *e)
{
    if (state_dir_open(arguments->state, arguments->socket, STATE_DIR_PRIVATE_MODE, &d->arena, &d->state_dir, e) != 0)
        return -1;
    d->launcher_directory = d->state_dir.path;
    d->launcher_path = sibling_path(&d->arena, "fairlead-launcher");
    return 0;
}

/* Where the launcher makes the sockets of jobs with a terminal. */
static void set_terminals(struct daemon *d)
{
    struct buf path = {0};
    if (d->pretend != NULL) return;
    buf_format(&path, "%s/launches", d->launcher_directory);
    d->terminals = arena_copy(&d->arena, (struct str){path.text, path.length});
    buf_release(&path);
}

/* Fills the members of the daemon that daemon_open requires. */
static int prepare(struct daemon *d, const struct daemon_arguments *arguments, struct config *out_config, struct err *e)
{
    struct str document = {0};
    if (read_config(arguments->config, &d->arena, out_config, e) != 0) return -1;
    if (read_pretend(d, arguments, &document, e) != 0) return -1;
    int result = arguments->is_system ? prepare_system(d, arguments, e) : prepare_private(d, arguments, e);
    if (result != 0 || daemon_find_user(&d->arena, &d->served_user, e) != 0) return -1;
    if (check_kind(d, document, e) != 0) return -1;
    set_terminals(d);
    daemon_remove_unfinished_backup(d);
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
    service_manager_init();
    log_set_level((enum log_level)arguments->log_level);
    daemon_ignore_signals();
    keep_freed_memory();
    int status = 0;
    bool has_run = prepare(&d, arguments, &config, &e) == 0 && daemon_open(&d, &config, &e) == 0;
    status = has_run ? daemon_run(&d) : fail(&e);
    const char *state = d.state_dir.path;
    array_release(&config.lines);
    if (has_run) log_line(LOG_INFO, "ended", " pid=%d exit_status=%d state=%s", (int)getpid(), status, state);
    if (has_run) state_dir_note_end(&d.state_dir);
    daemon_close(&d);
    return status;
}

/* For programs: a line for each fact. */
static int check_database(const char *path)
{
    struct store_file file;
    struct err e;
    if (store_check_file(path, &file, &e) != 0) return fail(&e);
    printf("schema_version=%u\ninstance_id=%s\npretend=%d\n", file.version, file.instance_id, file.is_pretend);
    return fflush(stdout) == 0 ? 0 : 1;
}

static int export_history(const char *directory)
{
    struct err e;
    return daemon_export_history(directory, &e) == 0 ? 0 : fail(&e);
}

/* The driver's library may hang: the kernel ends this process with the daemon, whatever it does. */
static int probe_gpus(const char *name)
{
    enum gpu_vendor vendor;
    struct err e;
    if (!gpu_probe_find_vendor(name, &vendor)) {
        (void)err_value(&e, "--probe-gpus", str(name), "nvidia or amd");
        return fail(&e);
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    return gpu_probe_run(vendor);
}

int main(int argc, char **argv)
{
    struct daemon_arguments arguments = {.log_level = LOG_INFO};
    struct err e;
    if (read_arguments(argc, argv, &arguments, &e) != 0) return fail(&e);
    if (arguments.wants_help || arguments.wants_manual) {
        write_usage(arguments.wants_manual);
        return 0;
    }
    if (arguments.wants_version) {
        puts("fairleadd " FAIRLEAD_VERSION);
        return 0;
    }
    if (arguments.export_history != NULL) return export_history(arguments.export_history);
    if (arguments.probe_gpus != NULL) return probe_gpus(arguments.probe_gpus);
    return arguments.check_database != NULL ? check_database(arguments.check_database) : serve(&arguments);
}
