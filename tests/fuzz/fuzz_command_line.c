/* Command lines from arbitrary bytes, for every command with its own table of options: fairlead's main() is called with
 * them, in a world without files, directories and instances. It ends, and what it refuses it refuses with one line that
 * can be printed.
 *
 *     input     the index of a command in its table, or of none beyond its end | words, with zeros between them
 *     word      as it is; or, if it begins with a byte from 0x80 on, the long option of the row with that index, and
 *               the rest: "\x82=5" is "--array=5" if the third row is that of --array */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/client/client.h"
#include "base/ensure.h"
#include "cli/command.h"
#include "cli/output_file.h"
#include "cli/spawn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int fairlead_main(int argc, char **argv); /* main() of cli/main.c */

enum { WORDS_MAX = 48, OPTION_BYTE = 0x80, LINE_BYTES = 4000 };

static bool is_running; /* in fairlead_main */
static uint32_t note_count;

/* --- the world (the linker puts these functions in the place of the others) --------------------------------------- */

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_client_open(struct client *c, const char *socket_given, struct arena *arena, struct err *e);
int __wrap_client_connect(struct client *c, const char *socket, struct err *e);
int __wrap_output_file_open(struct output_file *f, const char *path, struct err *e);
int __wrap_output_flush(struct output *o, struct err *e);
void __wrap_output_pace(struct output *o);
void __wrap_output_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
int __wrap_spawn_make_directory(const char *path, struct err *e);
int __wrap_spawn_run(struct spawn *s, struct err *e);

int __wrap_open64(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (!is_running) return __real_open64(path, flags, mode);
    errno = ENOENT;
    return -1;
}

static int refuse(struct err *e, const char *what)
{
    return err_set(e, ERR_IO, "no %s here", what);
}

int __wrap_client_open(struct client *c, const char *socket_given, struct arena *arena, struct err *e)
{
    (void)socket_given, (void)arena;
    *c = (struct client){.fd = -1};
    return refuse(e, "instance");
}

int __wrap_client_connect(struct client *c, const char *socket, struct err *e)
{
    return __wrap_client_open(c, socket, NULL, e);
}

int __wrap_output_file_open(struct output_file *f, const char *path, struct err *e)
{
    (void)f, (void)path;
    return refuse(e, "file");
}

int __wrap_spawn_make_directory(const char *path, struct err *e)
{
    (void)path;
    return refuse(e, "directory");
}

int __wrap_spawn_run(struct spawn *s, struct err *e)
{
    (void)s;
    return refuse(e, "program");
}

int __wrap_output_flush(struct output *o, struct err *e)
{
    (void)e;
    buf_clear(&o->text);
    return 0;
}

void __wrap_output_pace(struct output *o)
{
    buf_clear(&o->text);
}

/* Control characters of a note are replaced when it is printed; the sentences that are made here have none of their
 * own. */
void __wrap_output_note(const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    size_t length = text_vformat(line, sizeof line, format, arguments);
    va_end(arguments);
    ensure(length > 0 && length < sizeof line && strchr(format, '\n') == NULL);
    note_count++;
}

/* --- command lines ------------------------------------------------------------------------------------------------ */

static uint32_t count_commands(void)
{
    uint32_t count = 0;
    while (commands[count] != NULL) count++;
    return count;
}

/* The name of the index-th option of a command; NULL: it has none. */
static const char *option_name(const struct command *command, uint32_t index)
{
    struct option_tables tables;
    uint32_t count = 0;
    command_option_tables(command, &tables);
    for (uint32_t i = 0; i < tables.count; i++) count += options_count(tables.rows[i]);
    if (count > 0) index %= count;
    for (uint32_t i = 0; i < tables.count; i++) {
        uint32_t rows = options_count(tables.rows[i]);
        if (index < rows) return tables.rows[i][index].name;
        index -= rows;
    }
    return NULL;
}

struct command_line {
    struct arena arena;
    char *words[WORDS_MAX + 1];
    int count;
};

static void add_word(struct command_line *line, const struct command *command, struct str word)
{
    struct buf text = {0};
    uint8_t first = word.length > 0 ? (uint8_t)word.text[0] : 0;
    const char *option = first >= OPTION_BYTE && command != NULL ? option_name(command, first - OPTION_BYTE) : NULL;
    if (line->count == WORDS_MAX) return;
    if (option != NULL) buf_format(&text, "--%s", option);
    buf_add(&text, word.text + (option != NULL), word.length - (option != NULL));
    buf_add_char(&text, '\0');
    line->words[line->count++] = arena_copy(&line->arena, (struct str){text.text, text.length - 1});
    buf_release(&text);
}

static void add_name(struct command_line *line, const char *name)
{
    struct str rest, first = str_cut(str(name), ' ', &rest);
    add_word(line, NULL, first);
    if (rest.length > 0) add_word(line, NULL, rest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct command_line line = {0};
    const uint32_t command_count = count_commands();
    if (size == 0) return 0;
    if (freopen("/dev/null", "r", stdin) == NULL) abort(); /* a script is read from "-" */
    const struct command *command = data[0] < command_count ? commands[data[0]] : NULL;
    struct str word, rest = {(const char *)data + 1, size - 1};
    add_word(&line, NULL, str("fairlead"));
    if (command != NULL) add_name(&line, command->name);
    while (rest.text != NULL && rest.length > 0) {
        word = str_cut(rest, '\0', &rest);
        add_word(&line, command, word);
    }
    note_count = 0;
    is_running = true;
    int status = fairlead_main(line.count, line.words);
    is_running = false;
    ensure(status >= 0 && status <= 2);
    ensure(status == 0 || note_count == 1);
    arena_release(&line.arena);
    return 0;
}
