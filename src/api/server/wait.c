/* GET /v1/jobs/{id}/wait. The request is parked until the job ends, its timeout passes, or the client disconnects, for
 * which its connection is in server->poll_fd. After each commit, all waiting requests are checked with a few look-ups
 * each in the state; the store is read only for jobs that have ended. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "api/server/internal.h"
#include "base/ensure.h"
#include "base/quantity.h"

bool server_job_is_live(const struct state *s, struct job_ref ref)
{
    uint32_t index = state_find_job(s, ref.job_id);
    if (index == NONE || s->jobs.items[index].ended_us != 0) return false;
    if (ref.task_id == NONE) return true;
    if (!s->jobs.items[index].is_array) return false;
    if (idset_has(&s->jobs.items[index].pending, ref.task_id)) return true;
    uint32_t task = state_find_task(s, ref.job_id, ref.task_id);
    return task != NONE && !job_state_is_end(s->tasks.items[task].state);
}

static struct connection_user *user_of(const struct request *r)
{
    return connection_user(r->server, connection_of(r->connection)->uid);
}

void wait_forget(struct request *r)
{
    ensure(r->stage == STAGE_WAITING);
    user_of(r)->waiting_count--;
    r->server->waiting_count--;
}

/* Replies {"ended":...,"jobs":[rows]}; -1 with *e if there is no such job. */
static int reply_rows(struct request *r, bool ended, struct err *e)
{
    struct job_query query = job_query_of(r->wait_for, &r->wait_for.job_id);
    return server_reply_jobs(r, &query, ended ? "{\"ended\":true,\"jobs\":[" : "{\"ended\":false,\"jobs\":[",
                             JOBS_WANT_ONE, e);
}

static void answer(struct request *r, bool ended)
{
    struct err e;
    wait_forget(r);
    if (reply_rows(r, ended, &e) != 0) reply_error(r, &e);
    request_unpark(r);
}

int server_get_wait(struct request *r, struct err *e)
{
    struct server *s = r->server;
    struct api_wait_query query;
    struct job_ref *ref = &r->wait_for;
    if (request_read_query(r, &query, e) != 0) return -1;
    if (job_id_parse(str(r->segment), "id", &ref->job_id, &ref->task_id, e) != 0) return -1;
    uint32_t job = state_find_job(s->host.state, ref->job_id);
    if (server_hides_job(r, ref->job_id)) {
        server_explain_missing(r, ref->job_id, e);
        return -1;
    }
    if (job != NONE && ref->task_id != NONE && !s->host.state->jobs.items[job].is_array)
        return err_subject(e, ERR_NOT_FOUND, "job", str_cut(str(r->segment), '_', &(struct str){0}),
                           "is not an array; it has no task %u", ref->task_id);
    int64_t timeout_s = query.timeout_s >= 0 ? query.timeout_s : WAIT_DEFAULT_S;
    bool is_live = server_job_is_live(s->host.state, *ref);
    if (!is_live || timeout_s == 0) return reply_rows(r, !is_live, e);
    struct connection *c = connection_of(r->connection);
    struct connection_user *user = user_of(r);
    if (user->waiting_count >= s->user_waiting_max)
        return err_set(e, ERR_UNAVAILABLE,
                       "%u requests of user %u already wait for jobs, which is the maximum; try again later",
                       user->waiting_count, user->uid);

    /* Reports again that the client has disconnected, if it has. */
    struct epoll_event closed = {.events = EPOLLRDHUP | EPOLLET, .data.ptr = c};
    if (!c->is_watched || epoll_ctl(s->poll_fd, EPOLL_CTL_MOD, c->fd, &closed) != 0)
        return err_set(e, ERR_UNAVAILABLE, "cannot wait: %s", strerror(errno));
    user->waiting_count++;
    r->deadline_us = server_monotonic_us() + timeout_s * US_PER_S;
    s->waiting_count++;
    request_park(r, STAGE_WAITING);
    return 0;
}

/* Answers the requests with a job that has ended, or, if by_deadline, those with a deadline that has passed. Stops when
 * the budget is spent; the rest is answered in the next turn, which comes at once. */
static void answer_due(struct server *s, bool by_deadline)
{
    int64_t start_us = server_monotonic_us();
    struct request *next;
    for (struct request *r = s->parked; r && s->waiting_count > 0; r = next) {
        next = r->next; /* answer takes r off the list */
        if (r->stage != STAGE_WAITING) continue;
        if (by_deadline ? start_us < r->deadline_us : server_job_is_live(s->host.state, r->wait_for)) continue;
        answer(r, !by_deadline);
        if (server_monotonic_us() - start_us >= BUDGET_US) break;
    }
}

void server_committed(struct server *s)
{
    answer_due(s, false);
}

void wait_expire(struct server *s)
{
    answer_due(s, true);
}

int64_t wait_timeout_ms(const struct server *s)
{
    int64_t first_us = INT64_MAX, now_us;
    for (const struct request *r = s->parked; r && s->waiting_count > 0; r = r->next) {
        if (r->stage == STAGE_WAITING && r->deadline_us < first_us) first_us = r->deadline_us;
    }
    if (first_us == INT64_MAX) return -1;
    now_us = server_monotonic_us();
    return first_us <= now_us ? 0 : (first_us - now_us + 999) / 1000;
}
