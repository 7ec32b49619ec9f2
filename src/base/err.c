/* One row for each kind of error: its name in the API, its HTTP status and the exit status of a command that meets it. */
#include "base/err.h"

#include <stdarg.h>
#include <string.h>

#include "base/ensure.h"
#include "base/text.h"

static const struct {
    const char *name;
    int http_status;
    int exit_status;
} err_table[ERR_COUNT] = {
    [ERR_NONE] = {"none", 200, 0},
    [ERR_USAGE] = {"usage", 400, 2},
    [ERR_INPUT] = {"input", 400, 2},
    [ERR_NOT_FOUND] = {"not-found", 404, 2},
    [ERR_EXISTS] = {"exists", 409, 2},
    [ERR_CONFLICT] = {"conflict", 409, 2},
    [ERR_DENIED] = {"denied", 403, 1},
    [ERR_TOO_LARGE] = {"too-large", 422, 2},
    [ERR_UNAVAILABLE] = {"unavailable", 503, 1},
    [ERR_IO] = {"io", 500, 1},
    [ERR_INTERNAL] = {"internal", 500, 1},
};

void err_set_text(struct err *e, enum err_code code, const char *format, ...)
{
    ensure(code > ERR_NONE && code < ERR_COUNT);
    if (e) {
        va_list arguments;
        va_start(arguments, format);
        e->code = code;
        text_vformat(e->text, sizeof e->text, format, arguments);
        va_end(arguments);
    }
}

void err_prefix_text(struct err *e, const char *format, ...)
{
    if (e) {
        char rest[sizeof e->text];
        memcpy(rest, e->text, sizeof rest);
        va_list arguments;
        va_start(arguments, format);
        text_vformat(e->text, sizeof e->text, format, arguments);
        va_end(arguments);
        size_t used = strlen(e->text);
        text_format(e->text + used, sizeof e->text - used, ": %s", rest);
    }
}

const char *err_name(enum err_code code)
{
    ensure(code < ERR_COUNT);
    return err_table[code].name;
}

int err_http_status(enum err_code code)
{
    ensure(code < ERR_COUNT);
    return err_table[code].http_status;
}

int err_exit_status(enum err_code code)
{
    ensure(code < ERR_COUNT);
    return err_table[code].exit_status;
}

enum err_code err_from_name(const char *name)
{
    for (int code = ERR_USAGE; code < ERR_COUNT; code++) {
        if (strcmp(err_table[code].name, name) == 0) return (enum err_code)code;
    }
    return ERR_INTERNAL;
}
