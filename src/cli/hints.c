#include "cli/hints.h"

#include <string.h>

#include "base/text.h"

struct hint {
    enum err_code code;
    const char *subject; /* "": none; NULL: any */
    const char *field;   /* NULL: any */
    const char *text;    /* %s: the subject's name */
};

static const struct hint hints[] = {
    {.code = ERR_UNAVAILABLE, .subject = "instance", .text = "start one with 'fairlead start'"},
    {.code = ERR_NOT_FOUND, .subject = "setting", .text = "'fairlead set' lists them"},
    {.code = ERR_NOT_FOUND,
     .subject = "user",
     .text = "'fairlead user show' lists them, 'fairlead user add' adds one to an account"},
    {.code = ERR_NOT_FOUND,
     .subject = "policy user",
     .text = "'fairlead user show --policy' lists those that the ticket policies have"},
    {.code = ERR_EXISTS, .subject = "user", .text = "'fairlead user modify' changes it"},
    {.code = ERR_DENIED, .subject = "user", .text = "an operator names users with 'fairlead user add'"},
    {.code = ERR_DENIED,
     .subject = "",
     .field = "--deadline",
     .text = "an operator allows it with 'fairlead user modify NAME deadline=yes'"},
};

/* The kinds of things that have a family of commands called like them. */
static const char *const families[] = {"account", "partition", "qos", "project", "department", "resource"};

static bool fits(const struct hint *h, const struct err *e)
{
    return h->code == e->code && (h->subject == NULL || strcmp(h->subject, e->subject) == 0) &&
           (h->field == NULL || strcmp(h->field, e->field) == 0);
}

static bool write_of_family(const struct err *e, const char *family, char *out)
{
    if (strcmp(e->subject, family) != 0) return false;
    if (e->code == ERR_NOT_FOUND)
        text_format(out, HINT_SIZE, "'fairlead %s show' lists them, 'fairlead %s add' creates one", family, family);
    else if (e->code == ERR_EXISTS)
        text_format(out, HINT_SIZE, "'fairlead %s modify' changes it", family);
    else
        return false;
    return true;
}

bool hint_write(const struct err *e, char out[HINT_SIZE])
{
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        if (!fits(&hints[i], e)) continue;
        text_format(out, HINT_SIZE, "%s", hints[i].text);
        return true;
    }
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (write_of_family(e, families[i], out)) return true;
    }
    return false;
}
