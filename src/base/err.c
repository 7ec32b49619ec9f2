/* Errors: filling, the sentence, and one row for each kind with its name in the API, its HTTP status and the exit
 * status of a command. */
#include "base/err.h"

#include <stdarg.h>
#include <string.h>

#include "base/ensure.h"
#include "base/near_names.h"
#include "base/text.h"

enum { SHOWN_BYTES = 60 }; /* of a value or name in a sentence */

static const struct {
    const char *name;
    int http_status;
    int exit_status;
} err_table[ERR_COUNT] = {
    [ERR_NONE] = {.name = "none", .http_status = 200, .exit_status = 0},
    [ERR_USAGE] = {.name = "usage", .http_status = 400, .exit_status = 2},
    [ERR_INPUT] = {.name = "input", .http_status = 400, .exit_status = 2},
    [ERR_NOT_FOUND] = {.name = "not-found", .http_status = 404, .exit_status = 2},
    [ERR_EXISTS] = {.name = "exists", .http_status = 409, .exit_status = 2},
    [ERR_CONFLICT] = {.name = "conflict", .http_status = 409, .exit_status = 2},
    [ERR_DENIED] = {.name = "denied", .http_status = 403, .exit_status = 1},
    [ERR_TOO_LARGE] = {.name = "too-large", .http_status = 422, .exit_status = 2},
    [ERR_UNAVAILABLE] = {.name = "unavailable", .http_status = 503, .exit_status = 1},
    [ERR_IO] = {.name = "io", .http_status = 500, .exit_status = 1},
    [ERR_INTERNAL] = {.name = "internal", .http_status = 500, .exit_status = 1},
};

/* --- filling ------------------------------------------------------------------------------------------------------ */

/* Copies a text for display: '?' for characters that are not printable, and after limit bytes of whole characters
 * "...". size exceeds limit by the three points and the zero byte. */
static void copy_shown(char *out, struct str text, size_t limit)
{
    size_t length = 0;
    while (text.length > 0) {
        size_t step = str_utf8(text), width = step > 0 ? step : 1;
        if (length + width > limit) break;
        if (step > 0 && str_is_printable((struct str){text.text, step}))
            memcpy(out + length, text.text, step);
        else
            memset(out + length, '?', width);
        length += width;
        text.text += width;
        text.length -= width;
    }
    text_format(out + length, 4, "%s", text.length > 0 ? "..." : "");
}

static void copy_text(char *out, size_t size, const char *text)
{
    text_format(out, size, "%s", text != NULL ? text : "");
}

/* The member that gets the formatted text of a form. */
static bool says_accepted(enum err_form form)
{
    return form == ERR_FORM_NOT_ACCEPTED || form == ERR_FORM_EXCEEDS || form == ERR_FORM_UNKNOWN_FIELD;
}

static void fill(struct err *e, enum err_code code, enum err_form form, const char *format, va_list arguments)
{
    ensure(code > ERR_NONE && code < ERR_COUNT);
    e->code = code;
    e->form = form;
    e->is_number = false;
    e->where[0] = e->subject[0] = e->name[0] = e->field[0] = e->value[0] = e->accepted[0] = e->reason[0] = '\0';
    if (says_accepted(form))
        text_vformat(e->accepted, sizeof e->accepted, format, arguments);
    else
        text_vformat(e->reason, sizeof e->reason, format, arguments);
}

void err_fill(struct err *e, enum err_code code, enum err_form form, const char *field, struct str value,
              const char *format, ...)
{
    va_list arguments;
    if (e == NULL) return;
    va_start(arguments, format);
    fill(e, code, form, format, arguments);
    va_end(arguments);
    copy_text(e->field, sizeof e->field, field);
    copy_shown(e->value, value, SHOWN_BYTES);
}

void err_fill_number(struct err *e, enum err_code code, enum err_form form, const char *field, int64_t number,
                     const char *format, ...)
{
    va_list arguments;
    if (e == NULL) return;
    va_start(arguments, format);
    fill(e, code, form, format, arguments);
    va_end(arguments);
    copy_text(e->field, sizeof e->field, field);
    text_format(e->value, sizeof e->value, "%lld", (long long)number);
    e->is_number = true;
}

void err_fill_subject(struct err *e, enum err_code code, enum err_form form, const char *subject, struct str name,
                      const char *format, ...)
{
    va_list arguments;
    if (e == NULL) return;
    va_start(arguments, format);
    fill(e, code, form, format, arguments);
    va_end(arguments);
    copy_text(e->subject, sizeof e->subject, subject);
    copy_shown(e->name, name, SHOWN_BYTES);
}

/* --- adding ------------------------------------------------------------------------------------------------------- */

void err_add_subject(struct err *e, const char *subject, struct str name)
{
    if (e == NULL || e->subject[0] != '\0') return;
    if (e->form == ERR_FORM_WHOLE) e->form = ERR_FORM_FIELD;
    copy_text(e->subject, sizeof e->subject, subject);
    copy_shown(e->name, name, SHOWN_BYTES);
}

void err_set_subject(struct err *e, const char *subject)
{
    if (e != NULL && e->form == ERR_FORM_WHOLE) copy_text(e->subject, sizeof e->subject, subject);
}

/* Puts text before the text of a member, with joint between them unless one is empty. */
static void put_before(char *member, size_t size, const char *text, const char *joint)
{
    char rest[512];
    copy_text(rest, sizeof rest, member);
    text_format(member, size, "%s%s%s", text, rest[0] != '\0' ? joint : "", rest);
}

void err_add_path(struct err *e, const char *format, ...)
{
    char path[sizeof e->field];
    va_list arguments;
    if (e == NULL) return;
    va_start(arguments, format);
    text_vformat(path, sizeof path, format, arguments);
    va_end(arguments);
    if (e->form == ERR_FORM_WHOLE) e->form = ERR_FORM_FIELD;
    put_before(e->field, sizeof e->field, path, e->field[0] == '[' ? "" : ".");
}

void err_add_where(struct err *e, const char *format, ...)
{
    char where[sizeof e->where];
    va_list arguments;
    if (e == NULL) return;
    va_start(arguments, format);
    text_vformat(where, sizeof where, format, arguments);
    va_end(arguments);
    put_before(e->where, sizeof e->where, where, ": ");
}

/* --- the sentence ------------------------------------------------------------------------------------------------- */

/* A sentence as it grows. */
struct sentence {
    char *out;
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct sentence *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    s->length += text_vformat(s->out + s->length, ERR_SENTENCE_SIZE - s->length, format, arguments);
    va_end(arguments);
    if (s->length >= ERR_SENTENCE_SIZE) s->length = ERR_SENTENCE_SIZE - 1;
}

/* "6_[3-9%2]" */
static bool has_task_list(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    return digits > 0 && strncmp(name + digits, "_[", 2) == 0;
}

/* "partition 'fast'", "job 5", "the document". */
static void add_subject(struct sentence *s, const struct err *e)
{
    bool is_id = e->name[0] != '\0' && (strspn(e->name, "0123456789_") == strlen(e->name) || has_task_list(e->name));
    bool has_name = e->name[0] != '\0' || e->form == ERR_FORM_NOT_FOUND;
    add(s, "%s", e->subject);
    if (has_name) add(s, is_id ? " %s" : " '%s'", e->name);
}

/* "'MaxJob' is not a field; did you mean 'MaxJobs'?", or all fields if none is near. */
static void add_unknown_field(struct sentence *s, const struct err *e, const char *quote)
{
    struct str near[NEAR_NAMES_MAX];
    uint32_t count = near_names_find(str(e->accepted), str(e->value), near);
    add(s, "%s%s%s is not a field; ", quote, e->value, quote);
    if (count == 0) {
        add(s, "the fields are: %s", e->accepted);
        return;
    }
    add(s, "did you mean ");
    for (uint32_t i = 0; i < count; i++)
        add(s, "%s'%.*s'", i == 0 ? "" : i + 1 < count ? ", " : " or ", (int)near[i].length, near[i].text);
    add(s, "?");
}

bool err_has_near_fields(const struct err *e)
{
    struct str near[NEAR_NAMES_MAX];
    return e->form == ERR_FORM_UNKNOWN_FIELD && near_names_find(str(e->accepted), str(e->value), near) > 0;
}

static void add_body(struct sentence *s, const struct err *e)
{
    const char *quote = e->is_number ? "" : "'";
    switch (e->form) {
    case ERR_FORM_VALUE: add(s, "%s%s%s %s", quote, e->value, quote, e->reason); return;
    case ERR_FORM_NOT_ACCEPTED: add(s, "%s%s%s is not %s", quote, e->value, quote, e->accepted); return;
    case ERR_FORM_EXCEEDS: add(s, "%s%s%s exceeds %s", quote, e->value, quote, e->accepted); return;
    case ERR_FORM_UNKNOWN_FIELD: add_unknown_field(s, e, quote); return;
    default: add(s, "%s", e->reason);
    }
}

static void add_all(struct sentence *s, const struct err *e)
{
    if (e->where[0] != '\0') add(s, "%s: ", e->where);
    switch (e->form) {
    case ERR_FORM_SUBJECT:
        add_subject(s, e);
        add(s, " %s", e->reason);
        return;
    case ERR_FORM_NOT_FOUND:
        add(s, "no ");
        add_subject(s, e);
        return;
    case ERR_FORM_ALREADY_EXISTS:
        add_subject(s, e);
        add(s, " already exists");
        return;
    default: break;
    }
    bool is_whole = e->form == ERR_FORM_WHOLE;
    if (e->subject[0] != '\0' && !is_whole) {
        add_subject(s, e);
        add(s, ": ");
    }
    if (e->field[0] != '\0' && !is_whole) add(s, "%s: ", e->field);
    add_body(s, e);
}

const char *err_sentence(const struct err *e, char out[ERR_SENTENCE_SIZE])
{
    struct sentence s = {.out = out};
    out[0] = '\0';
    add_all(&s, e);
    text_make_plain(out, s.length);
    return out;
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

bool err_is_not_found(const struct err *e, const char *subject)
{
    return e->code == ERR_NOT_FOUND && strcmp(e->subject, subject) == 0;
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
