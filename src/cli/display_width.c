/* wcwidth gives the width of a character in a UTF-8 locale. C.UTF-8 always exists; it is loaded for the first text that
 * is not ASCII. */
#include "cli/display_width.h"

#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static bool is_ascii(struct str text)
{
    for (size_t i = 0; i < text.length; i++) {
        if ((unsigned char)text.text[i] >= 0x80) return false;
    }
    return true;
}

static locale_t utf8_locale(void)
{
    static locale_t loaded;
    if (loaded == (locale_t)0) loaded = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    return loaded;
}

/* The length of the first character in bytes; *out_width: in columns. */
static size_t next_character(struct str text, uint32_t *out_width)
{
    wchar_t c;
    mbstate_t state = {0};
    size_t length = mbrtowc(&c, text.text, text.length, &state);
    *out_width = 1;
    if (length == 0 || length > text.length) return 1;
    int width = wcwidth(c);
    if (width >= 0) *out_width = (uint32_t)width;
    return length;
}

/* The length in bytes of the longest prefix that is at most max columns wide; *out_width: its width. */
static size_t measure(struct str text, uint32_t max, uint32_t *out_width)
{
    locale_t old_locale = utf8_locale() != (locale_t)0 ? uselocale(utf8_locale()) : (locale_t)0;
    size_t length = 0;
    uint32_t width = 0, step_width;
    while (length < text.length) {
        size_t step = next_character((struct str){text.text + length, text.length - length}, &step_width);
        if (step_width > max - width) break;
        length += step;
        width += step_width;
    }
    if (old_locale != (locale_t)0) uselocale(old_locale);
    *out_width = width;
    return length;
}

uint32_t display_width(struct str text)
{
    uint32_t width;
    if (is_ascii(text)) return (uint32_t)text.length;
    measure(text, UINT32_MAX, &width);
    return width;
}

struct str display_width_cut(struct str text, uint32_t width)
{
    uint32_t unused;
    if (is_ascii(text)) return (struct str){text.text, text.length < width ? text.length : width};
    return (struct str){text.text, measure(text, width, &unused)};
}

const char *display_width_mark(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value == NULL || value[0] == '\0') continue;
        return strcasestr(value, "utf-8") != NULL || strcasestr(value, "utf8") != NULL ? "\xe2\x80\xa6" : "+";
    }
    return "+";
}
