/* start: a private instance, whose state and socket are one person's. Returns when it answers. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "cli/pairs.h"
#include "cli/private_instance.h"
#include "cli/spawn.h"
#include "fields/settings.h"

enum { START_S = 10, LOOK_MS = 10 };

struct start_values {
    const char *state, *config;
    struct option_texts settings;
};

static const struct option_row start_options[] = {
    {.name = "state",
     .argument = "DIR",
     .value = TEXT_IN(struct start_values, state),
     .help = "where its state is kept"},
    {.name = "config",
     .argument = "FILE",
     .value = TEXT_IN(struct start_values, config),
     .help = "settings to apply before anything starts, one NAME = VALUE a line, # before a comment"},
    {.name = "set",
     .argument = "NAME=VALUE,...",
     .value = TEXTS_IN(struct start_values, settings),
     .help = "settings to change once it answers, by commas or in several --set; see 'fairlead set'"},
    {0},
};

/* Whether a text begins with NAME= of a setting: only there a comma separates two; values may have commas in them. */
static bool begins_setting(struct str text)
{
    struct err unused;
    enum setting setting;
    const struct field *field;
    struct str value, name = str_cut(text, '=', &value);
    return value.text != NULL && setting_find(name, &setting, &field, &unused) == 0;
}

/* The first NAME=VALUE of a list, and what is behind it. */
static struct str cut_setting(struct str list, struct str *rest)
{
    size_t end = 0;
    while (end < list.length) {
        struct str behind = {list.text + end + 1, list.length - end - 1};
        if (list.text[end] == ',' && begins_setting(behind)) {
            *rest = behind;
            return (struct str){list.text, end};
        }
        end++;
    }
    *rest = (struct str){0};
    return list;
}

/* Whether every NAME=VALUE would be accepted: before anything is started. */
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

/* The daemon's command line. */
static char **make_arguments(struct call *call, const char *program, const struct private_instance *instance,
                             const char *config)
{
    const char *const words[] = {program,
                                 "--private",
                                 "--state",
                                 instance->state_directory,
                                 "--socket",
                                 instance->socket,
                                 config ? "--config" : NULL,
                                 config,
                                 NULL};
    char **arguments = arena_alloc(call->arena, sizeof words);
    for (size_t i = 0; words[i]; i++) arguments[i] = arena_copy(call->arena, str(words[i]));
    return arguments;
}

/* Why it ended: its last words, and where there are more. What it was given and cannot accept it says in one line. */
static int ended(struct call *call, const struct spawn *s, const char *how, int exit_status, struct err *e)
{
    static const char prefix[] = "fairleadd: ";
    const char *tail = spawn_log_tail(s, call->arena);
    struct str more, first = str_cut(str(tail), '\n', &more);
    if (exit_status == err_exit_status(ERR_INPUT) && more.text == NULL && str_starts(first, str(prefix))) {
        size_t length = sizeof prefix - 1;
        return err_set(e, ERR_INPUT, "%.*s", (int)(first.length - length), first.text + length);
    }
    for (struct str rest = str(tail); rest.length > 0;) {
        struct str line = str_cut(rest, '\n', &rest);
        output_note("%.*s", (int)line.length, line.text);
    }
    return err_set(e, ERR_UNAVAILABLE, "fairleadd ended with %s before it answered; its log is %s", how, s->log_path);
}

/* Until the instance answers: 0, and c is connected; or what went wrong. */
static int await(struct call *call, struct spawn *s, const struct private_instance *instance, struct client *c,
                 struct api_status *out_status, struct err *e)
{
    const struct timespec pause = {0, LOOK_MS * 1000000};
    char how[80] = "";
    int exit_status = -1;
    for (int look = 0; look < START_S * 1000 / LOOK_MS; look++) {
        bool has_ended = spawn_has_ended(s, how, sizeof how, &exit_status) !=
                         0; /* before asking: somebody else's may answer instead */
        if (private_instance_ask(call, instance, c, out_status, e) == 0) return 0;
        if (has_ended) return ended(call, s, how, exit_status, e);
        nanosleep(&pause, NULL);
    }
    return err_set(e, ERR_UNAVAILABLE, "fairleadd (process %d) has not answered within %d s; its log is %s",
                   (int)s->pid, START_S, s->log_path);
}

static int launch(struct call *call, const struct private_instance *instance, const char *config, struct client *c,
                  struct api_status *out_status, struct err *e)
{
    const char *program = spawn_find_program("fairleadd", call->arena);
    if (program == NULL)
        return err_set(e, ERR_UNAVAILABLE, "there is no fairleadd beside this program, and none in PATH");
    struct buf log_path = {0};
    buf_format(&log_path, "%s/fairleadd.log", instance->state_directory);
    struct spawn spawn = {
        .program = program,
        .log_path = instance_target(call, &log_path),
        .arguments = make_arguments(call, program, instance, config),
    };
    if (spawn_run(&spawn, e) != 0) return -1;
    return await(call, &spawn, instance, c, out_status, e);
}

/* Connects to the instance, started if need be. One start at a time: the second one waits for what becomes of the first. */
static int find_or_launch(struct call *call, const struct private_instance *instance, const char *config,
                          struct client *c, struct api_status *out_status, bool *out_is_new, struct err *e)
{
    *out_is_new = false;
    if (private_instance_ask(call, instance, c, out_status, e) == 0) return 0;
    if (e->code != ERR_UNAVAILABLE || spawn_make_directory(instance->state_directory, e) != 0) return -1;

    int lock = open(instance->state_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock >= 0) flock(lock, LOCK_EX);
    int status = private_instance_ask(call, instance, c, out_status, e);
    if (status != 0 && e->code == ERR_UNAVAILABLE) {
        *out_is_new = true;
        status = launch(call, instance, config, c, out_status, e);
    }
    if (lock >= 0) close(lock);
    return status;
}

static int start(struct call *call, const struct pairs *settings, struct err *e)
{
    const struct start_values *values = call->values;
    struct private_instance instance;
    struct client client;
    struct api_status status;
    char config[PATH_MAX];
    if (values->config && realpath(values->config, config) == NULL)
        return err_set(e, ERR_INPUT, "--config: %s: %s", values->config, strerror(errno));
    if (private_instance_find(call, values->state, &instance, e) != 0) return -1;

    bool is_new;
    if (find_or_launch(call, &instance, values->config ? config : NULL, &client, &status, &is_new, e) != 0) return -1;

    int result = settings->body ? pairs_send(settings, &client, "PATCH", API_SETTINGS, e) : 0;
    client_close(&client);
    if (result != 0 && is_new)
        output_note("process %lld was started, with its settings as they were", (long long)status.pid);
    if (result != 0) return -1;
    buf_format(&call->out->text, "%s: process %lld, state in %s\n", is_new ? "Started" : "Running already",
               (long long)status.pid, status.state_directory);
    if (!instance.is_standard) output_note("to speak to it: export FAIRLEAD_SOCKET=%s", instance.socket);
    return 0;
}

static int start_run(struct call *call, struct err *e)
{
    const struct start_values *values = call->values;
    struct pairs settings = {.hint = "'fairlead set'"};
    int status = read_settings(&values->settings, &settings, call->arena, e);
    if (status == 0) status = start(call, &settings, e);
    pairs_release(&settings);
    return status;
}

static const struct command_example start_examples[] = {
    {"fairlead start", "an instance for yourself"},
    {"fairlead start --state /tmp/try --set halflife_s=3600,grace_s=5", "another one, to try something"},
    {"fairlead start --set PriorityType=priority/tickets --set usage_weight_list=cpu=1,mem=0.5", "with other policies"},
    {0},
};

const struct command cmd_start = {
    .name = "start",
    .group = GROUP_SERVICE,
    .summary = "start an instance of your own, in the background",
    .usage = "[OPTIONS]",
    .text =
        "The instance runs as you, for you alone, until 'fairlead stop'. Its state is in DIR: by default "
        "${XDG_STATE_HOME:-~/.local/state}/fairlead; its socket is DIR/fairlead.sock unless --socket says otherwise, its log "
        "DIR/fairleadd.log. Without --state, FAIRLEAD_SOCKET in the environment says where the socket is, as for every "
        "command.\n\n"
        "When it runs already, start says so, and that is success.",
    .options = start_options,
    .values_size = sizeof(struct start_values),
    .examples = start_examples,
    .see_also = "stop status set",
    .run = start_run,
};
