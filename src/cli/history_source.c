#include "cli/history_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/number.h"
#include "base/text.h"
#include "cli/spawn.h"

_Noreturn static void execute(const char *program, const char *directory, int output, int errors)
{
    char *const arguments[] = {(char *)program, "--export-history", (char *)directory, NULL};
    spawn_become(arguments, output, errors);
}

static int start(struct history_source *h, const char *program, struct err *e)
{
    int output[2], errors[2];
    if (pipe2(output, O_CLOEXEC) != 0 || pipe2(errors, O_CLOEXEC) != 0)
        return err_set(e, ERR_UNAVAILABLE, "cannot make a pipe: %s", strerrordesc_np(errno));
    h->pid = fork();
    if (h->pid == 0) execute(program, h->directory, output[1], errors[1]);
    close(output[1]);
    close(errors[1]);
    h->lines = fdopen(output[0], "r");
    h->errors = fdopen(errors[0], "r");
    if (h->pid > 0 && h->lines != NULL && h->errors != NULL) return 0;
    return err_set(e, ERR_UNAVAILABLE, "%s cannot be started: %s", program, strerrordesc_np(errno));
}

/* Why there is no further line: what the program says, without its name. */
static int fail(struct history_source *h, struct err *e)
{
    static const char prefix[] = "fairleadd: ";
    char text[2048] = "";
    int status = 0;
    size_t length = fread(text, 1, sizeof text - 1, h->errors);
    text[length] = '\0';
    text[strcspn(text, "\n")] = '\0';
    fclose(h->lines);
    h->lines = NULL;
    while (waitpid(h->pid, &status, 0) < 0 && errno == EINTR) continue;
    h->pid = 0;
    if (text[0] == '\0')
        return err_set(e, ERR_UNAVAILABLE, "fairleadd --export-history has ended early (status %d)", status);
    bool has_prefix = strncmp(text, prefix, sizeof prefix - 1) == 0;
    return err_set(e, ERR_INPUT, "%s", text + (has_prefix ? sizeof prefix - 1 : 0));
}

static int read_line(struct history_source *h, struct str *out, struct err *e)
{
    ssize_t length = getline(&h->line, &h->line_size, h->lines);
    if (length <= 0) return fail(h, e);
    if (h->line[length - 1] == '\n') length--;
    *out = (struct str){h->line, (size_t)length};
    return 0;
}

/* The value of "name=value", which is the next word of *rest. */
static struct str take_value(struct str *rest, const char *name)
{
    struct str value, word = str_cut(*rest, ' ', rest);
    return str_equal(str_cut(word, '=', &value), str(name)) ? value : (struct str){0};
}

static int refuse_line(struct err *e)
{
    return err_set(
        e, ERR_UNAVAILABLE,
        "fairleadd --export-history has answered what this program does not know; install the same version of both");
}

int history_source_open(struct history_source *h, const char *directory, struct arena *arena, struct err *e)
{
    struct str line;
    *h = (struct history_source){.directory = directory};
    const char *program = spawn_find_program("fairleadd", arena);
    if (program == NULL)
        return err_set(e, ERR_UNAVAILABLE, "fairleadd is neither in the directory of this program nor in PATH");
    if (start(h, program, e) != 0 || read_line(h, &line, e) != 0) return -1;
    struct str id = take_value(&line, "instance"), ended = take_value(&line, "ended"), live = take_value(&line, "live");
    if (id.text == NULL || !number_parse_u64(ended, &h->ended_jobs) || !number_parse_u64(live, &h->live_jobs))
        return refuse_line(e);
    h->instance = arena_copy(arena, id);
    return 0;
}

int history_source_next(struct history_source *h, struct history_part *out, struct err *e)
{
    struct str line, id, count;
    if (h->has_ended) return 0;
    if (read_line(h, &line, e) != 0) return -1;
    h->has_ended = str_equal(line, str("end"));
    if (h->has_ended) return 0;
    id = str_cut(line, ' ', &line);
    count = str_cut(line, ' ', &line);
    if (line.text == NULL || !number_parse_u64(id, &out->id) || !number_parse_u64(count, &out->task_count))
        return refuse_line(e);
    out->json = line;
    return 1;
}

void history_source_close(struct history_source *h)
{
    if (h->lines != NULL) fclose(h->lines);
    if (h->errors != NULL) fclose(h->errors);
    if (h->pid > 0) {
        kill(h->pid, SIGKILL); /* it only reads */
        while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
    free(h->line);
    *h = (struct history_source){0};
}
