/* Short replies, and errors. */
#include <string.h>

#include "api/server/internal.h"
#include "base/ensure.h"
#include "engine/visibility.h"

static void set_reply(struct request *r, unsigned status, struct MHD_Response *reply)
{
    ensure(reply != NULL && r->reply == NULL);
    MHD_add_response_header(reply, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    r->reply = reply;
    r->status = status;
}

void reply_take(struct request *r, unsigned status, const char *content_type, struct buf *body)
{
    struct MHD_Response *reply = MHD_create_response_from_buffer_with_free_callback(body->length, body->text, mem_free);
    ensure(reply != NULL);
    *body = (struct buf){0};
    MHD_add_response_header(reply, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
    set_reply(r, status, reply);
}

void reply_head(struct request *r, const char *content_type)
{
    struct buf none = {0};
    buf_add_text(&none, "");
    reply_take(r, r->route->status, content_type, &none);
}

void reply_write(struct request *r, unsigned status, const struct wire_shape *shape, const void *value)
{
    struct buf body = {0};
    wire_write(shape, value, &body);
    buf_add_char(&body, '\n');
    reply_take(r, status, TYPE_JSON, &body);
}

void reply_error_status(struct request *r, unsigned status, const struct err *e)
{
    const struct api_error body = api_error_of(e, &r->arena);
    reply_write(r, status, &api_error_shape, &body);
}

void reply_error(struct request *r, const struct err *e)
{
    reply_error_status(r, (unsigned)err_http_status(e->code), e);
}

void server_explain_missing(const struct request *r, uint32_t job_id, struct err *e)
{
    char id[JOB_ID_TEXT_SIZE];
    const struct state *s = r->server->host.state;
    bool is_hidden = (visibility_hidden_from(s, &r->actor) & PRIVATE_JOBS) != 0;
    job_id_format(id, job_id, NONE);
    if (job_id < s->next_job_id && is_hidden)
        (void)err_subject(e, ERR_NOT_FOUND, "job", str(id), "does not exist, or is not yours");
    else if (job_id < s->next_job_id)
        (void)err_subject(e, ERR_NOT_FOUND, "job", str(id), "is no longer in the history");
    else
        (void)err_not_found(e, "job", str(id));
}

bool server_hides_job(const struct request *r, uint32_t job_id)
{
    const struct state *s = r->server->host.state;
    uint32_t index = state_find_job(s, job_id);
    return index != NONE &&
           visibility_hides(s, &r->actor, PRIVATE_JOBS, s->assocs.items[s->jobs.items[index].assoc].user);
}

static bool is_in_list(const char *list, const char *name)
{
    bool found = false;
    for (struct str rest = str(list); rest.text != NULL && !found;)
        found = str_equal(str_cut(rest, ',', &rest), str(name));
    return found;
}

/* Which user or account hidden details belong to is hidden, too. */
void server_restrict_query(const struct request *r, struct job_query *query)
{
    static const char no_user[] = "";
    uint32_t hidden = visibility_hidden_from(r->server->host.state, &r->actor);
    bool has_names = query->user != NULL || query->account != NULL;
    bool is_own = (hidden & PRIVATE_JOBS) != 0 || ((hidden & PRIVATE_DETAILS) != 0 && has_names);
    if (!is_own) return;
    bool is_other = query->user != NULL && !is_in_list(query->user, r->actor.user);
    query->user = is_other ? no_user : r->actor.user;
}
