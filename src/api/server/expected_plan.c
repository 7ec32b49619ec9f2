/* The plan of all jobs that listings show expected starts of. It serves for EXPECTED_TIMES as long as it took to make,
 * for all requests; they wait while it is made, from a copy of the state unless that is a matter of LONG_US.
 *
 * The record of one job, for which programs ask again and again, has its expected start only if there is a plan that
 * serves, or one can be made in CHEAP_US. */
#include "api/server/internal.h"
#include "base/ensure.h"

enum { EXPECTED_TIMES = 10, LONG_US = 8000, CHEAP_US = 20000, COST_PER_JOB_US = 15 };

struct expected_plan {
    struct server *server;
    int64_t begin_us, now_us; /* monotonic, and the instance's */
    uint32_t job_count;
    struct expected_starts *starts;
    bool is_stale; /* all times have changed since */
};

/* By the last plan, and before the first one by a guess. */
static bool plan_takes(const struct server *s, int64_t us)
{
    int64_t job_count = s->host.state->job_by_id.count;
    if (s->expected_job_count == 0) return job_count * COST_PER_JOB_US > us;
    return s->expected_cost_us * job_count > us * s->expected_job_count;
}

bool server_plan_is_long(const struct server *s, uint32_t times)
{
    return plan_takes(s, LONG_US / times);
}

static void keep(struct server *s, struct expected_starts *starts, int64_t begin_us, uint32_t job_count)
{
    int64_t end_us = server_monotonic_us();
    expected_starts_release(s->expected);
    s->expected = starts;
    s->expected_until_us = end_us + EXPECTED_TIMES * (end_us - begin_us);
    s->expected_cost_us = end_us - begin_us;
    s->expected_job_count = job_count;
}

void server_forget_expected(struct server *s)
{
    expected_starts_release(s->expected);
    s->expected = NULL;
    if (s->planning != NULL) s->planning->is_stale = true;
}

/* --- from a copy of the state ------------------------------------------------------------------------------------- */

static void prepare(void *plan)
{
    struct expected_plan *p = plan;
    const struct server_host *host = &p->server->host;
    p->begin_us = server_monotonic_us();
    p->now_us = host->now_us(host->context);
    p->job_count = host->state->job_by_id.count;
    p->is_stale = false;
}

static void compute(void *plan, struct buf *out)
{
    struct expected_plan *p = plan;
    struct expected_starts *starts = expected_starts_new(p->server->host.state, p->now_us);
    expected_starts_write(starts, out);
    expected_starts_release(starts);
}

static void read_starts(void *plan, struct buf *text)
{
    struct expected_plan *p = plan;
    p->starts = expected_starts_read((struct str){text->text, text->length});
}

static void done(void *plan, const struct err *e)
{
    struct expected_plan *p = plan;
    struct server *s = p->server;
    ensure(s->planning == p);
    s->planning = NULL;
    if (e == NULL && !p->is_stale)
        keep(s, p->starts, p->begin_us, p->job_count);
    else
        expected_starts_release(p->starts);
    for (struct request *r = s->parked, *next; r != NULL; r = next) {
        next = r->next;
        if (r->stage != STAGE_PLANNING) continue;
        if (e != NULL) reply_error(r, e);
        request_unpark(r);
    }
    mem_free(p);
}

static void begin(struct server *s)
{
    static const struct snapshot_work work = {prepare, compute, read_starts, done};
    struct expected_plan *p = mem_resize(NULL, 0, sizeof *p);
    *p = (struct expected_plan){.server = s};
    s->planning = p;
    s->host.run_in_snapshot(s->host.context, &work, p);
}

int server_share_expected(struct request *r, uint32_t job_id, bool is_one, struct expected_starts **out)
{
    struct server *s = r->server;
    const struct server_host *host = &s->host;
    int64_t begin_us = server_monotonic_us();
    bool serves = s->expected != NULL && job_id < s->expected->next_job_id && begin_us < s->expected_until_us;
    *out = NULL;
    if (!serves && is_one && plan_takes(s, CHEAP_US)) return 0;
    if (!serves && host->run_in_snapshot != NULL && !is_one && server_plan_is_long(s, 1)) {
        request_park(r, STAGE_PLANNING);
        if (s->planning == NULL) begin(s);
        return 1;
    }
    if (!serves)
        keep(s, expected_starts_new(host->state, host->now_us(host->context)), begin_us, host->state->job_by_id.count);
    *out = expected_starts_share(s->expected);
    return 0;
}
