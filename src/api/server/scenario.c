/* GET /v1/scenario: the instance at the time of the request, as a scenario document. Like all listings it has the jobs
 * of all users.
 *
 * The text is the snapshot: it is written at once, because the state changes while the client reads, and a copy of the
 * rows would be larger than their text. That takes 3 ms at 10^4 jobs, and 35 ms at 10^5, when it has 17 MB
 * (bench/bench_dump.c). */
#include "api/server/internal.h"
#include "engine/dump.h"

enum { JOBS_AT_ONCE = 1000 };

int server_get_scenario(struct request *r, struct err *e)
{
    struct server *server = r->server;
    struct buf text = {0};
    struct dump d;
    if (request_read_query(r, NULL, e) != 0) return -1;
    dump_begin(&d, server->host.state, server->host.now_us(server->host.context), &text);
    while (dump_jobs(&d, JOBS_AT_ONCE)) continue;
    dump_release(&d);
    reply_take(r, MHD_HTTP_OK, TYPE_JSON, &text);
    return 0;
}
