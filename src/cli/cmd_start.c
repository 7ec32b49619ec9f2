/* start: starts a private instance, which serves one user only, or with --system the one of all users. Returns when the
 * instance answers. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/job_script.h"
#include "cli/pairs.h"
#include "cli/private_instance.h"
#include "cli/read_file.h"
#include "cli/setting_remarks.h"
#include "cli/spawn.h"
#include "cli/system_instance.h"
#include "pretend/pretend_cluster.h"

enum { START_TIMEOUT_S = 10, POLL_MS = 10 };

struct start_values {
    const char *state, *config, *pretend, *account, *launcher_state, *cgroup;
    uint64_t speed; /* 0: not given */
    bool is_system, allows_root;
    struct option_texts settings;
};

static const struct option_row start_options[] = {
    {.name = "state",
     .argument = "DIR",
     .value = TEXT_IN(struct start_values, state),
     .help = "state directory (${XDG_STATE_HOME:-~/.local/state}/fairlead)"},
    {.name = "config",
     .argument = "FILE",
     .value = TEXT_IN(struct start_values, config),
     .help = "file of settings to apply before any job starts: lines of NAME = VALUE, comments after #"},
    {.name = "pretend",
     .argument = "FILE",
     .value = TEXT_IN(struct start_values, pretend),
     .help = "start a cluster that is not there: the hosts of a document, on which no job really runs"},
    {.name = "speed",
     .argument = "COUNT",
     .value = U64_IN(struct start_values, speed, 1, PRETEND_SPEED_MAX),
     .help = "with --pretend: virtual seconds in a second (1)"},
    {.name = "set",
     .argument = "NAME=VALUE,...",
     .value = TEXTS_IN(struct start_values, settings),
     .help = "settings to change when the instance answers; may be repeated (see 'fairlead set')"},
    {.name = "system",
     .value = FLAG_IN(struct start_values, is_system),
     .help = "as root: start the instance that serves all users, where no systemd runs; state in /var/lib/fairlead"},
    {.name = "account",
     .argument = "NAME",
     .value = TEXT_IN(struct start_values, account),
     .help = "with --system: the account that the daemon runs as (fairlead)"},
    {.name = "launcher-state",
     .argument = "DIR",
     .value = TEXT_IN(struct start_values, launcher_state),
     .help = "with --system: root's directory, of the launcher and the log (/var/lib/fairlead-launcher)"},
    {.name = "cgroup",
     .argument = "DIR",
     .value = TEXT_IN(struct start_values, cgroup),
     .help =
         "with --system: where the launcher creates the control groups of jobs, unless it runs already (it finds out)"},
    {.name = "allow-root",
     .value = FLAG_IN(struct start_values, allows_root),
     .help = "with --system: run jobs of root and of system accounts, too"},
    {0},
};

/* Whether a text begins with a setting's NAME=. A comma separates two settings only before such a text, because values
 * may contain commas. */
static bool begins_setting(struct str text)
{
    struct err unused;
    enum setting setting;
    const struct field *field;
    struct str value, name = str_cut(text, '=', &value);
    return value.text != NULL && setting_find(name, &setting, &field, &unused) == 0;
}

/* The first NAME=VALUE of a list; *out_rest: the text after its comma, or no text. */
static struct str cut_setting(struct str list, struct str *out_rest)
{
    size_t end = 0;
    while (end < list.length) {
        struct str tail = {list.text + end + 1, list.length - end - 1};
        if (list.text[end] == ',' && begins_setting(tail)) {
            *out_rest = tail;
            return (struct str){list.text, end};
        }
        end++;
    }
    *out_rest = (struct str){0};
    return list;
}

/* Checks one NAME=VALUE before the daemon is started. */
static int check_setting(struct str pair, struct arena *arena, struct err *e)
{
    enum setting setting;
    struct field_value unused;
    struct str value, name = str_cut(pair, '=', &value);
    if (value.text == NULL)
        return err_set(e, ERR_INPUT, "--set: '%.*s' is not of the form NAME=VALUE", (int)name.length, name.text);
    return setting_read(name, value, arena, &setting, &unused, e);
}

static int read_settings(const struct option_texts *lists, struct pairs *out_pairs, struct arena *arena, struct err *e)
{
    for (uint32_t i = 0; i < lists->count; i++) {
        for (struct str rest = str(lists->items[i]); rest.text != NULL;) {
            struct str pair = cut_setting(rest, &rest);
            if (check_setting(pair, arena, e) != 0 || pairs_add(out_pairs, pair, e) != 0) return -1;
        }
    }
    return 0;
}

/* Files for the daemon, as absolute paths, which it does not start in the current directory; NULL: not given. */
struct start_files {
    const char *config, *pretend;
    uint32_t speed;
    const char *launcher_state; /* of an instance for all users; NULL: the instance is private */
};

/* The daemon's command line, ended by NULL, in the call's arena. */
static char **make_arguments(struct call *call, const char *program, const struct private_instance *instance,
                             const struct start_files *files)
{
    const struct start_values *values = call->values;
    char speed[16];
    text_format(speed, sizeof speed, "%u", files->speed);
    const char *const pairs[][2] = {{"--state", instance->state_directory},
                                    {"--socket", instance->socket},
                                    {"--config", files->config},
                                    {"--pretend", files->pretend},
                                    {"--speed", files->pretend ? speed : NULL},
                                    {"--launcher-state", files->launcher_state},
                                    {"--account", values->account},
                                    {"--cgroup", values->cgroup}};
    enum { PAIR_COUNT = sizeof pairs / sizeof *pairs };
    char **arguments = arena_alloc(call->arena, (2 * PAIR_COUNT + 4) * sizeof *arguments);
    uint32_t count = 0;
    arguments[count++] = arena_copy(call->arena, str(program));
    arguments[count++] = arena_copy(call->arena, str(values->is_system ? "--system" : "--private"));
    if (values->allows_root) arguments[count++] = arena_copy(call->arena, str("--allow-root"));
    for (int i = 0; i < PAIR_COUNT; i++) {
        if (pairs[i][1] == NULL) continue;
        arguments[count++] = arena_copy(call->arena, str(pairs[i][0]));
        arguments[count++] = arena_copy(call->arena, str(pairs[i][1]));
    }
    return arguments;
}

/* The error of a daemon that ended before it answered. A single log line with a reason becomes the error;
 * otherwise the last lines of the log are printed. */
static int fail_ended(struct call *call, const struct spawn *s, const char *end, int exit_status, struct err *e)
{
    static const char prefix[] = "fairleadd: ";
    const char *tail = spawn_log_tail(s, call->arena);
    struct str rest_of_tail, first = str_cut(str(tail), '\n', &rest_of_tail);
    bool is_one_line = rest_of_tail.text == NULL;
    if (exit_status >= 0 && is_one_line && str_starts(first, str(prefix))) {
        size_t length = sizeof prefix - 1;
        enum err_code code = exit_status == err_exit_status(ERR_INPUT) ? ERR_INPUT : ERR_UNAVAILABLE;
        return err_set(e, code, "%.*s", (int)(first.length - length), first.text + length);
    }
    for (struct str rest = str(tail); rest.length > 0;) {
        struct str line = str_cut(rest, '\n', &rest);
        output_note("%.*s", (int)line.length, line.text);
    }
    return err_set(e, ERR_UNAVAILABLE, "fairleadd ended with %s before it answered; see its log, %s", end, s->log_path);
}

/* Waits until the instance answers: 0, and c is connected; or -1. */
static int await(struct call *call, struct spawn *s, const struct private_instance *instance, struct client *c,
                 struct api_status *out_status, struct err *e)
{
    const struct timespec pause = {0, POLL_MS * 1000000};
    char end[80] = "";
    int exit_status = -1;
    for (int poll = 0; poll < START_TIMEOUT_S * 1000 / POLL_MS; poll++) {
        /* Before connecting: another daemon, which made this one end, may be the one that answers. */
        bool has_ended = spawn_has_ended(s, end, sizeof end, &exit_status) != 0;
        if (private_instance_connect(call, instance, c, out_status, e) == 0) return 0;
        if (has_ended) return fail_ended(call, s, end, exit_status, e);
        nanosleep(&pause, NULL);
    }
    return err_set(e, ERR_UNAVAILABLE, "fairleadd (process %d) has not answered within %d s; see its log, %s",
                   (int)s->pid, START_TIMEOUT_S, s->log_path);
}

static int launch(struct call *call, const struct private_instance *instance, const struct start_files *files,
                  struct client *c, struct api_status *out_status, struct err *e)
{
    const char *program = spawn_find_program("fairleadd", call->arena);
    if (program == NULL)
        return err_set(e, ERR_UNAVAILABLE, "fairleadd is neither in the directory of this program nor in PATH");
    struct buf log_path = {0};
    buf_format(&log_path, "%s/fairleadd.log",
               files->launcher_state != NULL ? files->launcher_state : instance->state_directory);
    struct spawn spawn = {
        .program = program,
        .log_path = instance_target(call, &log_path),
        .arguments = make_arguments(call, program, instance, files),
    };
    if (spawn_run(&spawn, e) != 0) return -1;
    return await(call, &spawn, instance, c, out_status, e);
}

/* The daemon makes the state directory of an instance for all users, for its account. */
static int prepare_directory(const struct private_instance *instance, const struct start_files *files, struct err *e)
{
    if (files->launcher_state != NULL) return system_instance_prepare(files->launcher_state, e);
    if (spawn_make_directory(instance->state_directory, e) != 0) return -1;
    return private_instance_check_directory(instance->state_directory, e);
}

/* Connects to the instance and starts it if none answers. A lock lets one command at a time start it; the others wait
 * and then connect to it. */
static int find_or_launch(struct call *call, const struct private_instance *instance, const struct start_files *files,
                          struct client *c, struct api_status *out_status, bool *out_is_new, struct err *e)
{
    *out_is_new = false;
    if (private_instance_connect(call, instance, c, out_status, e) == 0) return 0;
    if (e->code != ERR_UNAVAILABLE || prepare_directory(instance, files, e) != 0) return -1;

    const char *locked = files->launcher_state != NULL ? files->launcher_state : instance->state_directory;
    int lock = open(locked, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock >= 0) flock(lock, LOCK_EX);
    int status = private_instance_connect(call, instance, c, out_status, e);
    if (status != 0 && e->code == ERR_UNAVAILABLE) {
        *out_is_new = true;
        status = launch(call, instance, files, c, out_status, e);
        /* A launcher of another version has ended when the daemon connected: now one of this version is started. */
        bool has_no_launcher = status != 0 && files->launcher_state != NULL && strstr(e->reason, "no launcher answers");
        if (has_no_launcher) status = launch(call, instance, files, c, out_status, e);
    }
    if (lock >= 0) close(lock);
    return status;
}

static bool is_same_directory(const char *a, const char *b)
{
    struct stat of_a, of_b;
    if (stat(a, &of_a) < 0 || stat(b, &of_b) < 0) return strcmp(a, b) == 0;
    return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

static int absolute(struct call *call, const char *option, const char *path, const char **out, struct err *e)
{
    char real[PATH_MAX];
    if (path == NULL) return 0;
    if (realpath(path, real) == NULL) return err_set(e, ERR_INPUT, "%s: %s: %s", option, path, strerror(errno));
    *out = arena_copy(call->arena, str(real));
    return 0;
}

/* Reads the document before anything is created, as the daemon will. */
static int check_document(const char *path, struct err *e)
{
    struct buf text = {0};
    struct pretend_cluster cluster = {0};
    int status = read_file(path, &text, e);
    if (status == 0) status = pretend_cluster_read((struct str){text.text, text.length}, path, &cluster, e);
    pretend_cluster_release(&cluster);
    buf_release(&text);
    return status;
}

static int check_options(const struct start_values *values, struct err *e)
{
    bool has_system_option =
        values->account != NULL || values->launcher_state != NULL || values->cgroup != NULL || values->allows_root;
    if (!values->is_system && has_system_option)
        return err_set(e, ERR_USAGE, "--account, --launcher-state, --cgroup and --allow-root require --system");
    if (values->cgroup != NULL && values->cgroup[0] != '/')
        return err_value(e, "--cgroup", str(values->cgroup), "an absolute path, such as /sys/fs/cgroup/fairlead");
    if (values->is_system && values->pretend != NULL)
        return err_set(e, ERR_USAGE, "--pretend runs no job of other users: leave out --system");
    return 0;
}

static int find_files(struct call *call, struct start_files *out, struct err *e)
{
    const struct start_values *values = call->values;
    if (check_options(values, e) != 0) return -1;
    *out = (struct start_files){.speed = values->speed != 0 ? (uint32_t)values->speed : 1};
    if (values->speed != 0 && values->pretend == NULL) return err_set(e, ERR_USAGE, "--speed requires --pretend");
    if (absolute(call, "--config", values->config, &out->config, e) != 0) return -1;
    if (absolute(call, "--pretend", values->pretend, &out->pretend, e) != 0) return -1;
    return out->pretend != NULL ? check_document(out->pretend, e) : 0;
}

/* An instance that runs already has to be the one that was asked for. */
static int check_running(const struct start_values *values, const struct start_files *files,
                         const struct private_instance *instance, const struct api_status *status, struct err *e)
{
    const char *state = status->state_directory;
    if (status->serves_all != values->is_system)
        return err_set(e, ERR_CONFLICT, "the instance at %s %s", instance->socket,
                       status->serves_all ? "serves all users of this machine: use it, or give --state DIR for your own"
                                          : "is a private one");
    if (values->state != NULL && !is_same_directory(state, instance->state_directory))
        return err_set(e, ERR_CONFLICT, "the instance at %s has another state, %s, and not %s", instance->socket, state,
                       instance->state_directory);
    if (status->pretend != NULL && files->pretend == NULL)
        return err_set(e, ERR_INPUT,
                       "state directory %s is that of a pretend instance: give --pretend FILE, or another --state",
                       state);
    if (status->pretend == NULL && files->pretend != NULL)
        return err_set(e, ERR_INPUT, "state directory %s has real jobs: give another --state for a pretend instance",
                       state);
    bool is_same = files->pretend == NULL || strcmp(status->pretend, files->pretend) == 0;
    if (is_same && (values->speed == 0 || files->pretend == NULL || status->speed == files->speed)) return 0;
    return err_set(e, ERR_CONFLICT, "the instance at %s runs with %s at speed %u: run 'fairlead stop' first",
                   instance->socket, status->pretend, status->speed);
}

/* Which instance the options mean. */
static int find_instance(struct call *call, struct start_files *files, struct private_instance *out, struct err *e)
{
    const struct start_values *values = call->values;
    if (values->is_system) {
        struct system_places places = {.state = values->state, .launcher_state = values->launcher_state};
        int result = system_instance_find(call, "start", &places, out, e);
        files->launcher_state = places.launcher_state;
        return result;
    }
    return files->pretend != NULL ? private_instance_find_pretend(call, values->state, out, e)
                                  : private_instance_find(call, values->state, out, e);
}

static int start(struct call *call, const struct pairs *settings, struct err *e)
{
    const struct start_values *values = call->values;
    struct private_instance instance;
    struct client client;
    struct api_status status;
    struct start_files files;
    bool is_new;
    if (find_files(call, &files, e) != 0 || find_instance(call, &files, &instance, e) != 0 ||
        find_or_launch(call, &instance, &files, &client, &status, &is_new, e) != 0)
        return -1;

    if (!is_new && check_running(values, &files, &instance, &status, e) != 0) {
        client_close(&client);
        return -1;
    }
    int result = settings->body ? pairs_send(settings, &client, "PATCH", API_SETTINGS, e) : 0;
    if (result == 0 && !is_new && values->is_system)
        result = system_instance_start_launcher(call, &instance, &client, &status, files.launcher_state,
                                                values->allows_root, e);
    client_close(&client);
    if (result != 0 && is_new)
        output_note("process %lld was started, but its settings are unchanged", (long long)status.pid);
    if (result != 0) return -1;
    output_line(call->out, "%s: process %lld, state in %s", is_new ? "Started" : "Already running",
                (long long)status.pid, status.state_directory);
    if (strcmp(status.version, FAIRLEAD_VERSION) != 0)
        output_note("It is version %s, and this command version %s: run 'fairlead stop%s' and 'fairlead start%s' to "
                    "replace it; jobs run on",
                    status.version, FAIRLEAD_VERSION, values->is_system ? " --system" : "",
                    values->is_system ? " --system" : "");
    if (status.recovery != NULL) output_note("%s", status.recovery);
    if (status.quarantine != NULL)
        output_note("%u job%s held: %s. If they run nowhere else, run 'fairlead release --all' to let them start",
                    status.quarantined_jobs, status.quarantined_jobs == 1 ? " is" : "s are", status.quarantine);
    if (is_new && !values->is_system) system_instance_note_other(&instance);
    if (!instance.is_default) {
        char *socket = (char *)instance.socket;
        output_note("To use it: export FAIRLEAD_SOCKET=%s",
                    job_script_show_words(&socket, 1, 2 * PATH_MAX, call->arena));
    }
    return 0;
}

static void note_remarks(const struct option_texts *lists)
{
    for (uint32_t i = 0; i < lists->count; i++) {
        for (struct str rest = str(lists->items[i]); rest.text != NULL;)
            setting_remarks_of_pair(cut_setting(rest, &rest));
    }
}

static int start_run(struct call *call, struct err *e)
{
    const struct start_values *values = call->values;
    struct pairs settings = {.hint = "'fairlead set'"};
    int status = read_settings(&values->settings, &settings, call->arena, e);
    if (status == 0) status = start(call, &settings, e);
    if (status == 0) note_remarks(&values->settings);
    pairs_release(&settings);
    return status;
}

static const struct command_example start_examples[] = {
    {.line = "fairlead start", .meaning = "start your instance"},
    {.line = "fairlead start --state /tmp/try --set halflife_s=3600,grace_s=5",
     .meaning = "start a second one to try settings"},
    {.line = "fairlead start --pretend examples/pretend-small.json --speed 60",
     .meaning = "start a cluster that is not there, whose minutes are seconds"},
    {.line = "fairlead start --system", .meaning = "as root: start the instance of all users"},
    {.line = "fairlead start --set PriorityType=priority/tickets --set usage_weight_list=cpu=1,mem=0.5",
     .meaning = "start your instance with other policies"},
    {0},
};

const struct command cmd_start = {
    .name = "start",
    .group = GROUP_SERVICE,
    .summary = "start your instance, in the background",
    .usage = "[OPTIONS]",
    .description =
        "The instance runs under your user name, serves only you, and runs until 'fairlead stop'.\n\n"
        "Its log is fairleadd.log in the state directory. Its socket is --socket, else fairlead.sock in the directory of "
        "--state, else FAIRLEAD_SOCKET, else fairlead.sock in the default state directory. Its state directory is --state, else "
        "the directory of FAIRLEAD_SOCKET if that has a state, else the default.\n\n"
        "With --pretend, the hosts are those of a document and jobs run nowhere: they end after the run time that their comment, "
        "their command 'sleep N' or the document gives. Time passes --speed times as fast, and stands still while the instance is "
        "stopped. The default state directory is then the one that the default has with '-pretend' at its end; a directory of real "
        "jobs is refused, and so is that of a pretend instance without --pretend.\n\n"
        "A state directory that is a copy, or was moved to another file system or restored from a backup, is noticed: the jobs "
        "that wait in it are held until 'fairlead release', because the original may run them, and those that ran are "
        "NODE_FAIL. What runs for the original is not touched.\n\n"
        "If the instance is already running, start succeeds and changes only the settings of --set.\n\n"
        "With --system, root starts the instance that serves all users of the machine, on a machine without systemd; with "
        "systemd, run 'systemctl start fairlead'. Its log is fairleadd.log in the directory of --launcher-state. A user's "
        "private instance and the system's do not share anything but the machine: neither knows of the CPUs that the other has "
        "given.",
    .options = start_options,
    .values_size = sizeof(struct start_values),
    .examples = start_examples,
    .see_also = "stop status set",
    .run = start_run,
};
