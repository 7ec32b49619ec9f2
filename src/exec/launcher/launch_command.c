/* From a launch to argument vectors. A script is run by its interpreter with the script's path, as the kernel would run
 * it; the file itself needs no execute bit and may lie where execution is forbidden (noexec). A program without a slash
 * is looked for in the launch's own PATH, in the order execvp(3) has. */
#include "exec/launcher/launch_command.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

static const char default_path[] = "/bin:/usr/bin"; /* execvp's where there is no PATH */

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

bool launch_command_parse_shebang(struct str script, struct str *out_program, struct str *out_argument)
{
    if (!str_starts(script, str("#!"))) return false;
    struct str rest, line = str_cut(script, '\n', &rest);
    const char *at = line.text + 2, *end = line.text + line.length;
    while (at < end && blank(*at)) at++;
    while (end > at && blank(end[-1])) end--;
    const char *program = at;
    while (at < end && !blank(*at)) at++;
    if (at == program) return false;
    *out_program = str_range(program, at);
    while (at < end && blank(*at)) at++;
    *out_argument = str_range(at, end);
    return true;
}

static uint32_t count_strings(char *const *strings)
{
    uint32_t count = 0;
    while (strings[count] != NULL) count++;
    return count;
}

static char **make_list(struct arena *a, uint32_t count)
{
    return arena_alloc(a, (count + 1u) * sizeof(char *));
}

static void script_command(const struct launch *launch, const char *script_path, struct arena *a,
                           struct launch_command *out)
{
    struct str program = str("/bin/sh"), argument = {0};
    (void)launch_command_parse_shebang(launch->script, &program, &argument);
    char **list = make_list(a, 3 + count_strings(launch->arguments));
    uint32_t n = 0;
    list[n++] = arena_copy(a, program);
    if (argument.length > 0) list[n++] = arena_copy(a, argument);
    list[n++] = arena_copy(a, str(script_path));
    for (char **more = launch->arguments; *more != NULL; more++) list[n++] = *more;
    out->arguments = list;
    out->programs = make_list(a, 1);
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
static char **candidates(const char *name, const char *path, struct arena *a)
{
    uint32_t count = 1;
    for (const char *c = path; *c != '\0'; c++) count += *c == ':';
    char **list = make_list(a, count);
    struct str rest = str(path);
    for (uint32_t i = 0; i < count; i++) {
        struct str entry = str_cut(rest, ':', &rest);
        size_t size = entry.length + strlen(name) + 3;
        list[i] = arena_alloc(a, size);
        if (entry.length == 0) entry = str(".");
        text_format(list[i], size, "%.*s/%s", (int)entry.length, entry.text, name);
    }
    return list;
}

static void program_command(const struct launch *launch, struct arena *a, struct launch_command *out)
{
    char *name = launch->arguments[0];
    out->arguments = launch->arguments;
    if (strchr(name, '/') == NULL) {
        out->programs = candidates(name, search_path(launch->environment), a);
    } else {
        out->programs = make_list(a, 1);
        out->programs[0] = name;
    }
}

/* The launch's, without what we set ourselves: a job submitted from within a job brings those of its parent. */
static char **environment(const struct launch *launch, const char *key, struct arena *a)
{
    char **list = make_list(a, count_strings(launch->environment) + 2);
    uint32_t n = 0;
    for (char **at = launch->environment; *at != NULL; at++) {
        if (strncmp(*at, "FAIRLEAD_LAUNCH_ID=", 19) != 0 && strncmp(*at, "FAIRLEAD_LAUNCH_KEY=", 20) != 0)
            list[n++] = *at;
    }
    enum { SIZE = 80 };
    list[n] = arena_alloc(a, SIZE);
    text_format(list[n++], SIZE, "FAIRLEAD_LAUNCH_ID=%" PRIu64, launch->id);
    list[n] = arena_alloc(a, SIZE);
    text_format(list[n++], SIZE, "FAIRLEAD_LAUNCH_KEY=%s", key);
    return list;
}

static char **shell_arguments(char *const *arguments, struct arena *a)
{
    uint32_t count = count_strings(arguments);
    char **list = make_list(a, count + 2);
    list[0] = arena_copy(a, str("/bin/sh"));
    for (uint32_t i = 1; i < count; i++) list[i + 1] = arguments[i];
    return list;
}

void launch_command_build(const struct launch *launch, const char *script_path, const char *key, struct arena *a,
                          struct launch_command *out)
{
    *out = (struct launch_command){0};
    if (launch->script.length > 0)
        script_command(launch, script_path, a, out);
    else
        program_command(launch, a, out);
    out->shell_arguments = shell_arguments(out->arguments, a);
    out->environment = environment(launch, key, a);
}
