/* POST /v1/history/move-in: ended jobs of another instance, which become history of the client. What the body says is a
 * claim: it is checked here, it names no user, and the daemon takes one request after the other, with time for other
 * clients between (daemon/move_in.c). */
#include "api/server/internal.h"
#include "api/server/moved_jobs.h"
#include "base/ensure.h"

int server_post_move_in(struct request *r, struct err *e)
{
    const struct server_host *host = &r->server->host;
    struct api_move_in body;
    struct moved_jobs *jobs = arena_alloc(&r->arena, sizeof *jobs);
    if (request_read_query(r, NULL, e) != 0 || request_read_body(r, &body, e) != 0) return -1;
    if (!host->serves_all || host->move_in == NULL)
        return err_set(e, ERR_CONFLICT,
                       "this instance serves one user: a history is moved into the instance of the system");
    if (r->actor.user == NULL)
        return err_set(e, ERR_DENIED, "user id %u has no name, and history is kept by names", r->actor.uid);
    moved_jobs_of(&body, &r->arena, jobs);
    if (moved_jobs_check(jobs, host->now_us(host->context), e) != 0) return -1;
    request_park(r, STAGE_VERIFYING);
    host->move_in(host->context, r, jobs, body.dry_run);
    return 0;
}

void server_moved_in(struct request *r, const struct server_moved *moved, const struct err *e)
{
    ensure(r->stage == STAGE_VERIFYING);
    if (e != NULL) {
        reply_error(r, e);
    } else {
        const struct api_moved_in reply = {moved->jobs, moved->tasks, moved->known, moved->removed};
        reply_write(r, r->route->status, &api_moved_in_shape, &reply);
    }
    request_unpark(r);
}
