/* GET /v1/scenario: the instance at the time of the request, as a scenario document. Like all listings it has the jobs
 * of all users.
 *
 * The text is written at once, because the state changes while the client reads, and a copy of the rows would be larger
 * than their text. That takes 3 ms at 10^4 jobs, and 35 ms at 10^5, when it has 17 MB (bench/bench_dump.c); so of many
 * jobs it is written from a copy of the state. */
#include "api/server/internal.h"
#include "engine/dump.h"

enum { JOBS_AT_ONCE = 1000, FEW_JOBS = 10000 };

static int render(struct request *r, struct buf *out, struct err *e)
{
    struct dump d;
    (void)e;
    dump_begin(&d, r->server->host.state, r->now_us, out);
    while (dump_jobs(&d, JOBS_AT_ONCE)) continue;
    dump_release(&d);
    return 0;
}

int server_get_scenario(struct request *r, struct err *e)
{
    static const struct request_snapshot document = {.render = render, .content_type = TYPE_JSON};
    if (request_read_query(r, NULL, e) != 0) return -1;
    return request_reply_snapshot(r, &document, r->server->host.state->jobs.count > FEW_JOBS, e);
}
