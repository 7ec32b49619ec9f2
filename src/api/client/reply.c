/* What a reply's body says: lines, rows of a listing, one JSON document, or a refusal. */
#include <string.h>

#include "api/bodies.h"
#include "api/client/internal.h"
#include "base/ensure.h"

static struct str pending(const struct client *c)
{
    return (struct str){c->body.text + c->taken, c->body.length - c->taken};
}

int client_line(struct client *c, struct str *out_line, struct err *e)
{
    size_t seen = 0; /* bytes of the line that have no end in them */
    for (;;) {
        struct str rest = pending(c);
        const char *end = rest.length > seen ? memchr(rest.text + seen, '\n', rest.length - seen) : NULL;
        if (end) {
            *out_line = str_range(rest.text, end);
            c->taken += out_line->length + 1;
            return 1;
        }
        if (http_reply_is_done(&c->reply)) {
            *out_line = rest;
            c->taken += rest.length;
            return rest.length > 0;
        }
        seen = rest.length;
        if (connection_receive(c, e) != 0) return -1;
    }
}

/* The first line opens the listing, the last one closes it, and each row but the last has a comma behind it. */
int client_row(struct client *c, struct str *out_row, struct err *e)
{
    for (;;) {
        struct str line;
        int more = client_line(c, &line, e);
        if (more <= 0) return more;
        if (line.length >= 2 && line.text[0] == '{' && line.text[line.length - 1] == '[') continue;
        if (line.length == 0 || line.text[0] == ']') continue;
        if (line.text[line.length - 1] == ',') line.length--;
        if (line.length < 2 || line.text[0] != '{' || line.text[line.length - 1] != '}')
            return err_set(e, ERR_INTERNAL, "a row of the reply is not an object: '%.*s'",
                           (int)(line.length < 40 ? line.length : 40), line.text);
        *out_row = line;
        return 1;
    }
}

int client_rest(struct client *c, struct str *out_body, struct err *e)
{
    while (!http_reply_is_done(&c->reply)) {
        if (connection_receive(c, e) != 0) return -1;
    }
    *out_body = pending(c);
    c->taken = c->body.length;
    return 0;
}

int client_json(struct client *c, json_t **out_object, struct err *e)
{
    struct str body;
    if (client_rest(c, &body, e) != 0) return -1;
    json_error_t error;
    json_t *object = json_loadb(body.length > 0 ? body.text : "", body.length, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(object)) {
        json_decref(object);
        return err_set(e, ERR_INTERNAL, "the reply of %s is not a JSON object: %s", c->socket,
                       object ? "another type" : error.text);
    }
    *out_object = object;
    return 0;
}

static void copy_member(char *out, size_t size, const char *text)
{
    if (text != NULL) text_format(out, size, "%s", text);
}

/* The form in which the members make the message. */
static bool find_form(struct err *e, const char *message)
{
    for (int form = ERR_FORM_FIELD; form <= ERR_FORM_ALREADY_EXISTS; form++) {
        for (int is_number = 0; is_number < 2; is_number++) {
            e->form = (enum err_form)form;
            e->is_number = is_number != 0;
            if (strcmp(ERR_SENTENCE(e), message) == 0) return true;
        }
    }
    return false;
}

/* The members of the instance's error. Where they do not make its message, the message is the whole sentence. */
static void take_error(const struct api_error_text *from, struct err *e)
{
    if (e == NULL) return;
    *e = (struct err){.code = err_from_name(from->name)};
    copy_member(e->subject, sizeof e->subject, from->subject);
    copy_member(e->name, sizeof e->name, from->subject_name);
    copy_member(e->field, sizeof e->field, from->field);
    copy_member(e->value, sizeof e->value, from->value);
    copy_member(e->accepted, sizeof e->accepted, from->accepted);
    copy_member(e->reason, sizeof e->reason, from->reason);
    if (find_form(e, from->message)) return;
    e->form = ERR_FORM_WHOLE;
    e->is_number = false;
    copy_member(e->reason, sizeof e->reason, from->message);
}

int reply_refusal(struct client *c, struct err *e)
{
    int status = c->reply.status;
    struct arena arena = {0};
    struct api_error reply;
    struct str body;
    if (client_rest(c, &body, e) == 0 && wire_read_text(&api_error_shape, body, &arena, &reply, e) == 0)
        take_error(&reply.error, e);
    else
        err_set(e, ERR_INTERNAL, "the instance at %s answered with HTTP status %d", c->socket, status);
    arena_release(&arena);
    return -1;
}
