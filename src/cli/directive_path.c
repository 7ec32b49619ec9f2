#include "cli/directive_path.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What a variable becomes in the pattern, and from which variable of the environment its value is known now. */
struct path_variable {
    const char *name, *conversion, *environment;
};

static const struct path_variable variables[] = {
    {"$HOME", NULL, "HOME"},   {"$USER", "%u", "USER"},  {"$JOB_ID", "%A", NULL},
    {"$JOB_NAME", "%x", NULL}, {"$TASK_ID", "%a", NULL}, {"$HOSTNAME", NULL, NULL},
};

static const struct path_variable *find_variable(struct str text)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (str_starts(text, str(variables[i].name))) return &variables[i];
    }
    return NULL;
}

static void add_escaped(struct buf *out, const char *text)
{
    for (; *text != '\0'; text++) buf_add_text(out, *text == '%' ? "%%" : (char[]){*text, '\0'});
}

/* Appends the pattern, and to *known the path itself. *out_is_known: all of the path is known before the job starts. */
static int add_parts(struct str path, struct buf *out, struct buf *known, bool *out_is_known, struct err *e)
{
    *out_is_known = true;
    for (size_t i = 0; i < path.length;) {
        const struct path_variable *v = find_variable((struct str){path.text + i, path.length - i});
        const char *value = v != NULL && v->environment != NULL ? getenv(v->environment) : NULL;
        const char letter[] = {path.text[i], '\0'};
        if (v == NULL) {
            add_escaped(out, letter);
            buf_add_text(known, letter);
        } else if (v->conversion == NULL && value == NULL) {
            return err_set(e, ERR_INPUT, "%s has no %s here; %s", v->name, v->environment ? "value" : "counterpart",
                           "$HOME, $USER, $JOB_ID, $JOB_NAME and $TASK_ID are accepted");
        } else {
            if (v->conversion != NULL) buf_add_text(out, v->conversion);
            if (v->conversion == NULL) add_escaped(out, value);
            if (value != NULL) buf_add_text(known, value);
            *out_is_known = *out_is_known && value != NULL;
        }
        i += v != NULL ? strlen(v->name) : 1;
    }
    return 0;
}

static bool is_directory(const char *directory, const char *path)
{
    struct buf full = {0};
    struct stat found;
    if (path[0] != '/' && directory != NULL) buf_format(&full, "%s/", directory);
    buf_add_text(&full, path);
    bool is_found = stat(full.text, &found) == 0 && S_ISDIR(found.st_mode);
    buf_release(&full);
    return is_found;
}

int directive_path_add_pattern(const struct directive_path *path, struct buf *out, struct err *e)
{
    struct str file, host = str_cut(str(path->text), ':', &file);
    struct buf known = {0};
    bool is_known;
    if (file.text == NULL) file = host;
    int status = add_parts(file, out, &known, &is_known, e);
    if (status == 0 && file.length > 0) {
        bool has_slash = file.text[file.length - 1] == '/';
        if (has_slash || (is_known && is_directory(path->directory, known.text)))
            buf_format(out, "%s%%x.%c%%A%s", has_slash ? "" : "/", path->is_error ? 'e' : 'o',
                       path->is_array ? ".%a" : "");
    }
    buf_release(&known);
    return status;
}
