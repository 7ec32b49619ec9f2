#include "cli/database_check.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/number.h"
#include "cli/spawn.h"

enum { TEXT_SIZE = 4096 };

/* The message of a program about a file, with the name that the user gave it. */
static int refuse(const char *text, const char *path, const char *name, struct err *e)
{
    static const char prefix[] = "fairleadd: ";
    if (strncmp(text, prefix, sizeof prefix - 1) == 0) text += sizeof prefix - 1;
    size_t length = strlen(path);
    bool is_about_file = strncmp(text, path, length) == 0;
    return err_set(e, ERR_INPUT, "%s%s", is_about_file ? name : "", is_about_file ? text + length : text);
}

_Noreturn static void execute(const char *program, const char *path, int output)
{
    char *const arguments[] = {(char *)program, "--check-database", (char *)path, NULL};
    spawn_become(arguments, output, output);
}

/* Reads to the end; what does not fit is dropped. */
static void read_all(int fd, char out[TEXT_SIZE])
{
    size_t length = 0;
    char rest[TEXT_SIZE];
    for (;;) {
        size_t room = TEXT_SIZE - 1 - length;
        ssize_t n = room > 0 ? read(fd, out + length, room) : read(fd, rest, sizeof rest);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        if (room > 0) length += (size_t)n;
    }
    out[length] = '\0';
}

/* The program's output and its exit status, 128 and more for a signal; -1: it could not be started. */
static int run(const char *program, const char *path, char out[TEXT_SIZE])
{
    int ends[2], status = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    pid_t pid = fork();
    if (pid == 0) execute(program, path, ends[1]);
    close(ends[1]);
    if (pid > 0) read_all(ends[0], out);
    close(ends[0]);
    if (pid < 0) return -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct str database_check_value(struct str text, const char *name)
{
    while (text.length > 0) {
        struct str value, line = str_cut(text, '\n', &text);
        if (str_equal(str_cut(line, '=', &value), str(name)) && value.text != NULL) return value;
    }
    return (struct str){0};
}

static int parse(struct str text, struct arena *arena, struct database_check *out, struct err *e)
{
    uint64_t version;
    struct str id = database_check_value(text, "instance_id"), pretend = database_check_value(text, "pretend");
    if (!number_parse_u64(database_check_value(text, "schema_version"), &version) || version > UINT32_MAX ||
        id.text == NULL)
        return err_set(e, ERR_UNAVAILABLE,
                       "fairleadd --check-database has answered what this program does not know; "
                       "install the same version of both");
    *out = (struct database_check){
        .version = (uint32_t)version, .id = arena_copy(arena, id), .is_pretend = str_equal(pretend, str("1"))};
    return 0;
}

int database_check_run(const char *path, const char *name, struct arena *arena, struct database_check *out,
                       struct err *e)
{
    char text[TEXT_SIZE] = "";
    const char *program = spawn_find_program("fairleadd", arena);
    if (program == NULL)
        return err_set(e, ERR_UNAVAILABLE, "fairleadd is neither in the directory of this program nor in PATH");
    int status = run(program, path, text);
    if (status == 0) return parse(str(text), arena, out, e);
    if (status < 0 || status == SPAWN_NOT_RUN)
        return err_set(e, ERR_UNAVAILABLE, "%s cannot be started: %s", program, strerrordesc_np(errno));
    if (status > 128 || text[0] == '\0')
        return err_set(e, ERR_UNAVAILABLE, "%s --check-database ended with status %d", program, status);
    text[strcspn(text, "\n")] = '\0';
    return refuse(text, path, name, e);
}
