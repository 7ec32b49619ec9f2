#include "engine/output_path.h"

#include <string.h>

#include "base/ensure.h"

static void add_name(struct buf *out, const char *name)
{
    for (; *name != '\0'; name++) buf_add_char(out, *name == '/' ? '_' : *name);
}

/* The width of a number: "%5j" has 5. Returns the conversion's letter, or the end of the pattern. */
static const char *read_width(const char *digits, uint32_t *out_width)
{
    const char *p = digits;
    for (*out_width = 0; *p >= '0' && *p <= '9'; p++) {
        *out_width = *out_width * 10 + (uint32_t)(*p - '0');
        if (*out_width > OUTPUT_PATH_WIDTH_MAX) *out_width = OUTPUT_PATH_WIDTH_MAX + 1;
    }
    return p;
}

/* What '%' stands before; *out_width is 0 without a width. */
static bool is_conversion(const char *letter, uint32_t width, bool has_digits)
{
    if (*letter == '\0' || strchr("jAaxu%", *letter) == NULL) return false;
    return !has_digits || (width >= 1 && width <= OUTPUT_PATH_WIDTH_MAX && strchr("jAa", *letter) != NULL);
}

static void add_field(const struct job *j, const char *user, uint32_t task_id, char letter, uint32_t width,
                      struct buf *out)
{
    switch (letter) {
    case 'j':
        buf_format(out, "%0*u", (int)width, j->id);
        if (j->is_array) buf_format(out, "_%u", task_id);
        break;
    case 'A': buf_format(out, "%0*u", (int)width, j->id); break;
    case 'a': buf_format(out, "%0*u", (int)width, task_id); break;
    case 'x': add_name(out, j->text->name); break;
    case 'u': add_name(out, user); break;
    case '%': buf_add_char(out, '%'); break;
    default: ensure(false);
    }
}

void output_path_expand(const struct job *j, const char *user, uint32_t task_id, const char *pattern, struct buf *out)
{
    ensure(pattern != NULL);
    if (pattern[0] != '/') {
        buf_add_text(out, j->text->directory);
        if (out->length > 0 && out->text[out->length - 1] != '/') buf_add_char(out, '/');
    }
    for (const char *p = pattern; *p != '\0'; p++) {
        uint32_t width;
        const char *letter = read_width(p + 1, &width);
        if (p[0] == '%' && is_conversion(letter, width, letter > p + 1)) {
            add_field(j, user, task_id, *letter, width, out);
            p = letter;
        } else {
            buf_add_char(out, *p);
        }
    }
}

int output_path_check(const char *pattern, const char *field, struct err *e)
{
    for (const char *p = pattern; *p != '\0'; p++) {
        uint32_t width;
        if (*p != '%') continue;
        const char *letter = read_width(p + 1, &width);
        if (!is_conversion(letter, width, letter > p + 1)) {
            size_t length = (size_t)(letter - p) + (*letter != '\0');
            return err_value_reason(e, field, str(pattern),
                                    "has '%.*s'; %%j, %%A and %%a, also with a width from 1 to %d (%%5j), %%x, %%u and "
                                    "%%%% are accepted",
                                    (int)length, p, OUTPUT_PATH_WIDTH_MAX);
        }
        p = letter;
    }
    return 0;
}
