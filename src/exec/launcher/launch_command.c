/* Builds argument vectors from a launch. A script is run by its interpreter, which gets the script's path, as the
 * kernel would run it. So the file needs no execute permission, and may be on a file system that forbids execution
 * (noexec). A program without a slash is searched for in the PATH of the launch, in the order of execvp(3). */
#include "exec/launcher/launch_command.h"

#include <inttypes.h>
#include <string.h>

#include "base/ensure.h"
#include "base/text.h"
#include "terminal/relay.h"

#define ID_VARIABLE "FAIRLEAD_LAUNCH_ID="
#define KEY_VARIABLE "FAIRLEAD_LAUNCH_KEY="

static const char default_path[] = "/bin:/usr/bin"; /* execvp's, where the environment has no PATH */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

bool launch_command_parse_shebang(struct str script, struct str *out_program, struct str *out_argument)
{
    if (!str_starts(script, str("#!"))) return false;
    struct str rest, line = str_cut(script, '\n', &rest);
    const char *at = line.text + 2, *end = line.text + line.length;
    while (at < end && is_blank(*at)) at++;
    while (end > at && is_blank(end[-1])) end--;
    const char *program = at;
    while (at < end && !is_blank(*at)) at++;
    if (at == program) return false;
    *out_program = str_range(program, at);
    while (at < end && is_blank(*at)) at++;
    *out_argument = str_range(at, end);
    return true;
}

static uint32_t count_strings(char *const *strings)
{
    uint32_t count = 0;
    while (strings[count] != NULL) count++;
    return count;
}

/* Zeroed memory for count strings and the closing NULL. */
static char **alloc_list(struct arena *a, uint32_t count)
{
    return arena_alloc(a, (count + (size_t)1) * sizeof(char *));
}

static void build_script_command(const struct launch *launch, const char *script_path, struct arena *a,
                                 struct launch_command *out)
{
    struct str program = str("/bin/sh"), argument = {0};
    (void)launch_command_parse_shebang(launch->script, &program, &argument);
    char **list = alloc_list(a, 3 + count_strings(launch->arguments));
    uint32_t n = 0;
    list[n++] = arena_copy(a, program);
    if (argument.length > 0) list[n++] = arena_copy(a, argument);
    list[n++] = arena_copy(a, str(script_path));
    for (char **more = launch->arguments; *more != NULL; more++) list[n++] = *more;
    out->arguments = list;
    out->programs = alloc_list(a, 1);
    out->programs[0] = list[0];
}

static const char *search_path(char *const *environment)
{
    for (; *environment != NULL; environment++) {
        if (strncmp(*environment, "PATH=", 5) == 0) return *environment + 5;
    }
    return default_path;
}

/* One path for each entry of PATH; an empty entry is the working directory. */
static char **list_candidates(const char *name, const char *path, struct arena *a)
{
    uint32_t count = 1;
    for (const char *c = path; *c != '\0'; c++) count += *c == ':';
    char **list = alloc_list(a, count);
    struct str rest = str(path);
    for (uint32_t i = 0; i < count; i++) {
        struct str entry = str_cut(rest, ':', &rest);
        if (entry.length == 0) entry = str(".");
        size_t size = entry.length + strlen(name) + 2;
        list[i] = arena_alloc(a, size);
        text_format(list[i], size, "%.*s/%s", (int)entry.length, entry.text, name);
    }
    return list;
}

static void build_program_command(const struct launch *launch, struct arena *a, struct launch_command *out)
{
    char *name = launch->arguments[0];
    ensure(name != NULL);
    out->arguments = launch->arguments;
    if (strchr(name, '/') == NULL) {
        out->programs = list_candidates(name, search_path(launch->environment), a);
    } else {
        out->programs = alloc_list(a, 1);
        out->programs[0] = name;
    }
}

/* The launch's environment with its id and key. They replace those that a job inherits if it is submitted by a job. */
static char **build_environment(const struct launch *launch, const char *key, struct arena *a)
{
    enum { VARIABLE_SIZE = 80 };
    char **list = alloc_list(a, count_strings(launch->environment) + 2);
    uint32_t n = 0;
    for (char **entry = launch->environment; *entry != NULL; entry++) {
        struct str variable = str(*entry);
        if (!str_starts(variable, str(ID_VARIABLE)) && !str_starts(variable, str(KEY_VARIABLE))) list[n++] = *entry;
    }
    list[n] = arena_alloc(a, VARIABLE_SIZE);
    text_format(list[n++], VARIABLE_SIZE, ID_VARIABLE "%" PRIu64, launch->id);
    list[n] = arena_alloc(a, VARIABLE_SIZE);
    text_format(list[n++], VARIABLE_SIZE, KEY_VARIABLE "%s", key);
    return list;
}

static char **build_shell_arguments(char *const *arguments, struct arena *a)
{
    uint32_t count = count_strings(arguments);
    char **list = alloc_list(a, count + 2);
    list[0] = arena_copy(a, str("/bin/sh"));
    for (uint32_t i = 1; i < count; i++) list[i + 1] = arguments[i];
    return list;
}

/* The relay is this program. It looks for the launch's program in PATH as build_program_command does. */
static void wrap_in_relay(const struct launch *launch, struct arena *a, struct launch_command *out)
{
    uint32_t count = count_strings(out->arguments);
    char **list = alloc_list(a, RELAY_ARGUMENT_PROGRAM + count);
    out->relay_socket = arena_alloc(a, LAUNCH_RELAY_SOCKET_SIZE);
    list[0] = arena_copy(a, str(RELAY_NAME));
    list[RELAY_ARGUMENT_SOCKET] = out->relay_socket;
    list[RELAY_ARGUMENT_MODE] = arena_copy(a, str(launch->terminal == LAUNCH_PTY ? "pty" : "pipes"));
    list[RELAY_ARGUMENT_HANGUP] = arena_copy(a, str(launch->ends_on_hangup ? "end" : "detach"));
    memcpy(list + RELAY_ARGUMENT_PROGRAM, out->arguments, count * sizeof *list);
    out->arguments = list;
    out->programs = alloc_list(a, 1);
    out->programs[0] = arena_copy(a, str("/proc/self/exe"));
}

void launch_command_build(const struct launch *launch, const char *script_path, const char *key, struct arena *a,
                          struct launch_command *out)
{
    *out = (struct launch_command){0};
    if (launch->script.length > 0)
        build_script_command(launch, script_path, a, out);
    else
        build_program_command(launch, a, out);
    if (launch->terminal != LAUNCH_NO_TERMINAL) wrap_in_relay(launch, a, out);
    out->shell_arguments = build_shell_arguments(out->arguments, a);
    out->environment = build_environment(launch, key, a);
}
