#include "cli/job_script.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/text.h"

enum { BINARY_BYTES = 4096 };

static bool ends_with(const char *path, const char *end)
{
    size_t length = strlen(path), wanted = strlen(end);
    return length > wanted && strcmp(path + length - wanted, end) == 0;
}

/* Without a #! line /bin/sh would run any text, also a program of another language. */
static int check_interpreter(const char *path, const char *shown, struct str text, struct err *e)
{
    static const struct {
        const char *end, *line;
    } languages[] = {{".py", "#!/usr/bin/env python3"}, {".pl", "#!/usr/bin/env perl"},
                     {".R", "#!/usr/bin/env Rscript"},  {".r", "#!/usr/bin/env Rscript"},
                     {".jl", "#!/usr/bin/env julia"},   {".rb", "#!/usr/bin/env ruby"},
                     {".bash", "#!/bin/bash"}};
    const char *line = "#!/bin/sh";
    if (str_starts(text, str("#!")) || ends_with(path, ".sh")) return 0;
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        if (ends_with(path, languages[i].end)) line = languages[i].line;
    }
    return err_set(e, ERR_INPUT, "%s does not name its interpreter: write it as line 1, such as %s", shown, line);
}

/* shown: the script as messages name it. */
static int check_text(const char *path, const char *shown, struct str text, struct err *e)
{
    bool is_input = strcmp(path, "-") == 0;
    size_t checked = text.length < BINARY_BYTES ? text.length : BINARY_BYTES;
    struct str rest, first = str_cut(text, '\n', &rest);
    if (text.length == 0) return err_set(e, ERR_INPUT, "%s is empty", shown);
    if (memchr(text.text, '\0', checked) && is_input) return err_set(e, ERR_INPUT, "%s is binary, not a script", shown);
    if (memchr(text.text, '\0', checked))
        return err_set(e, ERR_INPUT, "'%s' is binary, not a script; to run a program: fairlead submit -- %s", path,
                       path);
    bool has_dos_ends = first.length > 0 && first.text[first.length - 1] == '\r';
    if (has_dos_ends && is_input) return err_set(e, ERR_INPUT, "%s has DOS line ends", shown);
    if (has_dos_ends)
        return err_set(e, ERR_INPUT, "script '%s' has DOS line ends; to remove them: sed -i 's/\\r$//' %s", path, path);
    return check_interpreter(path, shown, text, e);
}

static int read_all(int fd, const char *shown, struct buf *text, struct err *e)
{
    for (;;) {
        ssize_t count = read(fd, buf_room(text, 65536), 65536);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return err_set(e, ERR_INPUT, "%s: %s", shown, strerror(errno));
        if (count == 0) return 0;
        text->length += (size_t)count;
        if (text->length > SCRIPT_MAX)
            return err_set(e, ERR_INPUT, "%s is larger than %d MiB", shown, SCRIPT_MAX / 1048576);
    }
}

/* A script cannot be opened (errno): it may be the name of a program ("fairlead submit sleep 10"). */
static int refuse_script(const char *path, struct arena *a, struct err *e)
{
    const char *program, *why = strerror(errno);
    if (errno == ENOENT && strchr(path, '/') == NULL && job_script_find_program(path, a, &program, NULL) == 0)
        return err_set(e, ERR_INPUT, "script '%s': %s; to run a program: fairlead submit -- %s", path, why, path);
    return err_set(e, ERR_INPUT, "script '%s': %s", path, why);
}

int job_script_read(const char *path, struct arena *a, struct str *out_text, struct err *e)
{
    int fd = STDIN_FILENO;
    bool is_input = strcmp(path, "-") == 0;
    struct stat found;
    if (!is_input) fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return refuse_script(path, a, e);

    struct buf text = {0}, name = {0};
    int status = 0;
    if (is_input) {
        buf_add_text(&name, "the script on standard input");
    } else {
        buf_format(&name, "script '%s'", path);
    }
    if (fstat(fd, &found) == 0 && S_ISDIR(found.st_mode))
        status = err_set(e, ERR_INPUT, "%s is a directory", name.text);
    if (status == 0) status = read_all(fd, name.text, &text, e);
    if (status == 0) status = check_text(path, name.text, (struct str){text.text, text.length}, e);
    if (status == 0) *out_text = (struct str){arena_copy(a, (struct str){text.text, text.length}), text.length};
    buf_release(&text);
    buf_release(&name);
    if (!is_input) close(fd);
    return status;
}

/* Whether path is an executable file; if not, errno has the cause. */
static bool is_runnable(const char *path)
{
    struct stat found;
    if (stat(path, &found) != 0) return false;
    if (!S_ISREG(found.st_mode)) {
        errno = S_ISDIR(found.st_mode) ? EISDIR : EACCES;
        return false;
    }
    return access(path, X_OK) == 0;
}

int job_script_find_program(const char *name, struct arena *a, const char **out_path, struct err *e)
{
    char path[PATH_MAX], here[PATH_MAX];
    if (name[0] == '\0') return err_set(e, ERR_INPUT, "the name of the command is empty");
    if (strchr(name, '/')) {
        if (!is_runnable(name)) return err_set(e, ERR_INPUT, "command '%s': %s", name, strerror(errno));
        if (getcwd(here, sizeof here) == NULL) return err_set(e, ERR_IO, "the current directory: %s", strerror(errno));
        size_t length =
            text_format(path, sizeof path, name[0] == '/' ? "%s%s" : "%s/%s", name[0] == '/' ? "" : here, name);
        if (length >= sizeof path) return err_set(e, ERR_INPUT, "command '%s': the path is too long", name);
        *out_path = arena_copy(a, str(path));
        return 0;
    }
    struct str rest = str(getenv("PATH"));
    while (rest.text != NULL) {
        struct str directory = str_cut(rest, ':', &rest);
        if (directory.length == 0 || directory.text[0] != '/')
            continue; /* a program in the current directory needs a slash */
        if (text_format(path, sizeof path, "%.*s/%s", (int)directory.length, directory.text, name) >= sizeof path)
            continue;
        if (!is_runnable(path)) continue;
        *out_path = arena_copy(a, str(path));
        return 0;
    }
    return err_set(e, ERR_INPUT, "command '%s' is not in PATH", name);
}

int job_script_find_directory(const char *given, struct arena *a, const char **out_path, struct err *e)
{
    char path[PATH_MAX];
    struct stat found;
    if (realpath(given ? given : ".", path) == NULL)
        return err_set(e, ERR_INPUT, "directory '%s': %s", given ? given : ".", strerror(errno));
    if (stat(path, &found) != 0 || !S_ISDIR(found.st_mode))
        return err_set(e, ERR_INPUT, "'%s' is not a directory", given);
    if (access(path, X_OK) != 0)
        return err_set(e, ERR_INPUT, "directory '%s': %s", given ? given : path, strerror(errno));
    *out_path = arena_copy(a, str(path));
    return 0;
}

/* Quotes the word unless it has only characters without a meaning to shells. */
static void add_word(struct buf *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%^";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        buf_add_text(out, word);
        return;
    }
    buf_add_char(out, '\'');
    for (const char *p = word; *p; p++) {
        if (*p == '\'') {
            buf_add_text(out, "'\\''");
        } else {
            buf_add_char(out, *p);
        }
    }
    buf_add_char(out, '\'');
}

const char *job_script_show_words(char **words, uint32_t count, size_t max, struct arena *a)
{
    ensure(max >= 3); /* room for "..." */
    struct buf shown = {0};
    for (uint32_t i = 0; i < count && shown.length <= max; i++) {
        if (i > 0) buf_add_char(&shown, ' ');
        add_word(&shown, words[i]);
    }
    if (shown.length > max) {
        shown.length = max - 3;
        while (shown.length > 0 && ((unsigned char)shown.text[shown.length] & 0xc0) == 0x80)
            shown.length--; /* do not cut a character */
        buf_add_text(&shown, "...");
    }
    for (size_t i = 0; i < shown.length;) { /* bytes that are not printable UTF-8 become '?' */
        size_t step = str_utf8((struct str){shown.text + i, shown.length - i});
        if (step == 0 || !str_is_printable((struct str){shown.text + i, step})) shown.text[i] = '?';
        i += step > 0 ? step : 1;
    }
    const char *text = arena_copy(a, (struct str){shown.text, shown.length});
    buf_release(&shown);
    return text;
}
