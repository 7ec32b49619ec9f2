/* POST /v1/history/prune: removes ended jobs from the history. The daemon does it in pieces, and then answers. */
#include "api/server/internal.h"
#include "base/ensure.h"
#include "base/quantity.h"

/* The time before which jobs have to have ended. */
static int read_limit(const struct request *r, const struct api_prune *body, int64_t *out_before_us, struct err *e)
{
    const struct server_host *host = &r->server->host;
    int64_t now_us = host->now_us(host->context), keep_s = body->older_than_s;
    bool has_age = body->older_than_s >= 0, has_time = body->before_us != 0;
    if (has_age && has_time)
        return err_set(e, ERR_USAGE, "older_than_s and before_us exclude each other; give one of them");
    if (!has_age && !has_time) keep_s = setting_number(&host->state->settings, SET_HISTORY_KEEP_S);
    if (!has_age && !has_time && keep_s == 0)
        return err_set(
            e, ERR_INPUT,
            "no age is given and history_keep_s is 0: give older_than_s or before_us (the command: --older-than or "
            "--before)");
    *out_before_us = has_time ? body->before_us : now_us - keep_s * US_PER_S;
    if (*out_before_us > now_us) return err_number(e, "before_us", *out_before_us, "a time in the past");
    return 0;
}

int server_post_prune(struct request *r, struct err *e)
{
    const struct server_host *host = &r->server->host;
    struct api_prune body;
    int64_t before_us;
    if (request_read_query(r, NULL, e) != 0) return -1;
    if (request_read_body(r, &body, e) != 0) return -1;
    if (read_limit(r, &body, &before_us, e) != 0) return -1;
    request_park(r, STAGE_VERIFYING);
    struct err refusal;
    if (host->prune(host->context, r, before_us, body.dry_run, &refusal) != 0)
        server_pruned(r, before_us, 0, 0, &refusal);
    return 0;
}

void server_pruned(struct request *r, int64_t before_us, uint64_t jobs, uint64_t tasks, const struct err *e)
{
    const struct api_pruned pruned = {.jobs = jobs, .tasks = tasks, .before_us = before_us > 0 ? before_us : 0};
    ensure(r->stage == STAGE_VERIFYING);
    if (e != NULL)
        reply_error(r, e);
    else
        reply_write(r, r->route->status, &api_pruned_shape, &pruned);
    request_unpark(r);
}
