#include "cli/instance.h"

#include <string.h>

int instance_open(struct call *call, struct client *out_client, struct err *e)
{
    return client_open(out_client, call->common.socket, call->arena, e);
}

int64_t instance_now_us(void *context)
{
    struct call *call = context;
    struct client client;
    struct err unused;
    if (instance_open(call, &client, &unused) == 0) {
        (void)client_request(&client, "OPTIONS", API_STATUS, str(""), &unused);
        client_close(&client);
    }
    return client_now_us();
}

int instance_version_read(struct call *call, struct client *c, struct instance_version *out)
{
    json_t *status;
    struct err ignored;
    if (client_ask(c, "GET", API_STATUS, str(""), &status, &ignored) != 0) return -1;
    const char *version = json_string_value(json_object_get(status, "version"));
    bool is_known = version != NULL && str_is_printable(str(version));
    if (is_known)
        *out = (struct instance_version){arena_copy(call->arena, str(version)),
                                         (pid_t)json_integer_value(json_object_get(status, "pid"))};
    json_decref(status);
    return is_known ? 0 : -1;
}

/* Says which versions they are, if the reply cannot be read because they differ. */
static int explain_version(struct call *call, struct client *c, struct err *e)
{
    struct instance_version other;
    struct err cause = *e;
    if (instance_version_read(call, c, &other) != 0 || strcmp(other.version, FAIRLEAD_VERSION) == 0) return -1;
    return err_set(e, cause.code,
                   "the instance is version %s (process %d), this command version %s: %s; run 'fairlead stop' and "
                   "'fairlead start'",
                   other.version, (int)other.pid, FAIRLEAD_VERSION, ERR_SENTENCE(&cause));
}

int instance_request(struct call *call, struct client *c, const char *method, const char *target,
                     const struct wire_shape *body_shape, const void *body, const struct wire_shape *reply_shape,
                     void *out_reply, struct err *e)
{
    struct buf text = {0};
    struct str reply;
    int status = body_shape ? wire_request(body_shape, body, &text, e) : 0;
    if (status == 0) status = client_request(c, method, target, (struct str){text.text, text.length}, e);
    if (status == 0) status = client_rest(c, &reply, e);
    if (status == 0 && wire_read_text(reply_shape, reply, call->arena, out_reply, e) != 0)
        status = explain_version(call, c, e);
    buf_release(&text);
    return status;
}

int instance_request_once(struct call *call, const char *method, const char *target,
                          const struct wire_shape *body_shape, const void *body, const struct wire_shape *reply_shape,
                          void *out_reply, struct err *e)
{
    struct client client;
    if (instance_open(call, &client, e) != 0) return -1;
    client.asks_once = true;
    int status = instance_request(call, &client, method, target, body_shape, body, reply_shape, out_reply, e);
    client_close(&client);
    return status;
}

int instance_copy(struct call *call, const char *target, struct err *e)
{
    struct client client;
    if (instance_open(call, &client, e) != 0) return -1;
    struct str line = {0};
    int more = client_request(&client, "GET", target, line, e) == 0 ? 1 : -1;
    while (more > 0 && (more = client_line(&client, &line, e)) > 0) {
        buf_add_str(&call->out->text, line);
        buf_add_char(&call->out->text, '\n');
        output_pace(call->out);
    }
    client_close(&client);
    return more;
}

const char *instance_target(struct call *call, struct buf *target)
{
    const char *text = arena_copy(call->arena, (struct str){target->text, target->length});
    buf_release(target);
    return text;
}
