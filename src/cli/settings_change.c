#include "cli/settings_change.h"

#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"

int settings_change_add(struct settings_change *s, struct str pair, struct err *e)
{
    struct str value, name = str_cut(pair, '=', &value);
    int shown = (int)(pair.length < 80 ? pair.length : 80);
    if (name.length == 0 || value.text == NULL)
        return err_set(e, ERR_INPUT, "'%.*s' is not of the form NAME=VALUE; 'fairlead set' lists the names", shown,
                       pair.text);
    if (!str_is_printable(pair)) return err_set(e, ERR_INPUT, "'%.*s' is not plain text", shown, pair.text);
    if (s->body == NULL) s->body = json_object();

    char key[100];
    if (text_format(key, sizeof key, "%.*s", (int)name.length, name.text) >= sizeof key)
        return err_set(e, ERR_NOT_FOUND, "no setting '%.*s'; 'fairlead set' lists the names", shown, pair.text);
    if (json_object_get(s->body, key)) return err_set(e, ERR_INPUT, "%s is set twice", key);
    ensure(json_object_set_new(s->body, key, json_stringn(value.text, value.length)) == 0);
    return 0;
}

int settings_change_add_list(struct settings_change *s, const char *list, struct err *e)
{
    for (struct str rest = str(list); rest.text != NULL;) {
        if (settings_change_add(s, str_cut(rest, ',', &rest), e) != 0) return -1;
    }
    return 0;
}

int settings_change_send(struct settings_change *s, struct client *c, struct err *e)
{
    json_t *reply;
    char *body = json_dumps(s->body, JSON_COMPACT);
    ensure(body != NULL);
    int status = client_ask(c, "PATCH", WIRE_SETTINGS, str(body), &reply, e);
    free(body);
    if (status == 0) json_decref(reply);
    return status;
}

void settings_change_release(struct settings_change *s)
{
    json_decref(s->body);
    s->body = NULL;
}
