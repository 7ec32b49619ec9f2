#include "cli/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"

enum { NAME_BYTES = 100, SHOWN_BYTES = 80 };

/* Which fields may have several lines, the instance knows. */
static bool has_printable_lines(struct str text)
{
    for (struct str rest = text; rest.text != NULL;) {
        if (!str_is_printable(str_cut(rest, '\n', &rest))) return false;
    }
    return true;
}

int pairs_add(struct pairs *p, struct str pair, struct err *e)
{
    ensure(p->hint != NULL);
    struct str value, name = str_cut(pair, '=', &value);
    int shown = (int)(pair.length < SHOWN_BYTES ? pair.length : SHOWN_BYTES);
    if (name.length == 0 || value.text == NULL)
        return err_set(e, ERR_INPUT, "'%.*s' is not of the form NAME=VALUE; run %s to list the names", shown, pair.text,
                       p->hint);
    if (!has_printable_lines(pair))
        return err_set(e, ERR_INPUT, "'%.*s' contains control characters or invalid UTF-8", shown, pair.text);
    if (p->body == NULL) p->body = json_object();

    char key[NAME_BYTES];
    if (text_format(key, sizeof key, "%.*s", (int)name.length, name.text) >= sizeof key)
        return err_set(e, ERR_NOT_FOUND, "no setting '%.*s'; run %s to list the names", shown, pair.text, p->hint);
    if (json_object_get(p->body, key)) return err_set(e, ERR_INPUT, "%s is given twice", key);
    ensure(json_object_set_new(p->body, key, json_stringn(value.text, value.length)) == 0);
    return 0;
}

void pairs_set(struct pairs *p, const char *name, const char *value)
{
    if (p->body == NULL) p->body = json_object();
    ensure(json_object_set_new(p->body, name, json_string(value)) == 0);
}

int pairs_send(const struct pairs *p, struct client *c, const char *method, const char *target, struct err *e)
{
    json_t *reply;
    char *body = json_dumps(p->body, JSON_COMPACT);
    ensure(body != NULL);
    int status = client_ask(c, method, target, str(body), &reply, e);
    free(body);
    if (status == 0) json_decref(reply);
    return status;
}

void pairs_release(struct pairs *p)
{
    json_decref(p->body);
    p->body = NULL;
}
