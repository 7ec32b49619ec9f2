/* Listings of jobs: rows from a snapshot of the store, one line each, with the association's fair-share factor of the
 * moment the listing was asked for.
 *
 * Factors cost O(associations), 10 ms at 10^5, and shells ask in loops: so they are computed at most once in FACTORS_US
 * and kept by association id; a long listing takes a copy. */
#include <math.h>
#include <string.h>

#include "api/server/internal.h"
#include "engine/priorities.h"
#include "policy/billing.h"

enum { FACTORS_US = 500000, ROWS_AT_ONCE = 16 };

struct listing {
    struct server *server;
    struct job_reader reader;
    void *cursor;
    const double *factors; /* by id of association: the server's, or a copy */
    uint32_t factors_count;
    bool is_lines;
    bool is_later; /* a row was written */
};

static void refresh_factors(struct server *s)
{
    struct state *state = s->host.state;
    struct arena arena = {0};
    int64_t now_us = monotonic_us();
    if (s->factors != NULL && state->next_assoc_id == s->factors_count && now_us - s->factors_us < FACTORS_US) return;

    const double *by_node = state_factors(state, s->host.now_us(s->host.context), &arena);
    s->factors =
        mem_resize(s->factors, s->factors_count * sizeof *s->factors, state->next_assoc_id * sizeof *s->factors);
    s->factors_count = state->next_assoc_id;
    s->factors_us = now_us;
    for (uint32_t id = 0; id < s->factors_count; id++) s->factors[id] = (double)NAN;
    for (uint32_t node = 0; node < state->tree.count; node++)
        s->factors[state->assocs.items[state->assoc_of.items[node]].id] = by_node[node];
    arena_release(&arena);
}

void job_id_write(const struct job_id_parts *id, struct buf *out)
{
    buf_add_u64(out, id->job_id);
    if (id->is_array && id->task_id != NONE) {
        buf_format(out, "_%u", id->task_id);
    } else if (id->is_array) {
        buf_format(out, "_[%s", id->tasks);
        if (id->limit > 0) buf_format(out, "%%%u", id->limit);
        buf_add_char(out, ']');
    }
}

static const char *id_text(const struct job_view *v, struct buf *out)
{
    uint32_t limit = v->state == JOB_PENDING ? v->array_limit : 0;
    job_id_write(&(struct job_id_parts){v->job_id, v->task_id, v->is_array, v->tasks, limit}, out);
    return out->text;
}

/* "cpu=4,mem=8192,node=1,billing=8,gres/gpu=1": what it has, and behind the nodes the bill as records have it. */
static const char *tres_text(const struct job_view *v, struct buf *out)
{
    const char *nodes = strstr(v->tres, "node=");
    if (nodes == NULL) return v->tres;
    const char *behind = nodes + strcspn(nodes, ",");
    buf_add(out, v->tres, (size_t)(behind - v->tres));
    buf_format(out, ",billing=%llu%s", (unsigned long long)billing_recorded(v->billing), behind);
    return out->text;
}

static double factor_of(const struct job_view *v, const struct listing *l)
{
    return v->assoc_id < l->factors_count ? l->factors[v->assoc_id] : (double)NAN;
}

/* The store does not know what policies keep a job from. */
static const char *reason_of(const struct job_view *v, const struct listing *l)
{
    if (strcmp(v->reason, "Resources") != 0) return v->reason;
    const char *obstacle = job_pending_reason(l->server->host.state, v->job_id, factor_of(v, l));
    return obstacle != NULL ? obstacle : v->reason;
}

static void write_row(const struct job_view *v, const struct listing *l, struct buf *out)
{
    bool ended = job_state_is_end(v->state);
    bool is_group = v->is_array && v->task_id == NONE;
    struct buf id = {0}, tres = {0};
    const struct wire_job_row row = {
        .id = id_text(v, &id),
        .job_id = v->job_id,
        .task_id = v->is_array ? v->task_id : NONE,
        .array_tasks = is_group ? v->tasks : NULL,
        .array_limit = v->array_limit,
        .task_count = v->task_count,
        .account = v->account,
        .user = v->user,
        .uid = v->uid,
        .name = v->name,
        .command = v->command,
        .directory = v->directory,
        .out_path = v->out_path,
        .err_path = v->err_path,
        .state = job_state_name(v->state),
        .held = v->held,
        .reason = reason_of(v, l),
        .cpus = v->request.cpus,
        .mem_mib = v->request.mem_mib,
        .gpus = v->request.gpus,
        .time_limit_s = v->time_limit_s,
        .submit_us = v->submit_us,
        .start_us = v->start_us,
        .end_us = v->end_us,
        .cpu_ids = v->cpus,
        .gpu_ids = v->gpus,
        .exit_status = ended ? v->exit_status : -1,
        .signal = ended ? v->signal : -1,
        .cpu_us = v->cpu_us,
        .max_rss_kib = v->max_rss_kib,
        .detail = v->detail,
        .fair_share = factor_of(v, l),
        .partition = v->partition,
        .qos = v->qos,
        .project = v->project,
        .requests = v->requests,
        .tres = tres_text(v, &tres),
        .billing = v->start_us > 0 ? v->billing : (double)NAN,
        .nice = v->nice,
        .site = v->site,
        .set_priority = v->set_priority,
        .posix_priority = v->posix_priority,
        .job_share = v->job_share,
        .override_tickets = v->override_tickets,
        .slots_max = v->slots_max,
        .begin_us = v->begin_us,
        .deadline_us = v->deadline_us,
    };
    if (l->is_lines) {
        wire_write_line(&wire_job_row_shape, &row, out);
    } else {
        wire_write(&wire_job_row_shape, &row, out);
    }
    buf_release(&id);
    buf_release(&tres);
}

static int fill(struct stream *s)
{
    struct listing *l = s->context;
    struct job_view row;
    for (int i = 0; i < ROWS_AT_ONCE; i++) {
        int more = l->reader.next(l->cursor, &row, &s->e);
        if (more < 0) return -1;
        if (more == 2) return 1;
        if (more == 0) {
            if (!l->is_lines) buf_add_text(&s->text, "\n]}\n");
            return 0;
        }
        if (!l->is_lines) buf_add_text(&s->text, l->is_later ? ",\n" : "\n");
        l->is_later = true;
        write_row(&row, l, &s->text);
    }
    return 1;
}

static void close_listing(struct stream *s)
{
    struct listing *l = s->context;
    if (l->cursor != NULL) l->reader.close(l->cursor);
}

int reply_jobs(struct request *r, const struct job_query *query, const char *head, bool is_one, struct err *e)
{
    struct server *s = r->server;
    struct stream *stream = stream_new(r);
    struct listing *l = arena_alloc(&stream->arena, sizeof *l);
    stream->context = l;
    stream->fill = fill;
    stream->close = close_listing;
    refresh_factors(s);
    *l = (struct listing){.server = s,
                          .reader = s->host.jobs,
                          .factors = s->factors,
                          .factors_count = s->factors_count,
                          .is_lines = head == NULL};
    struct job_query asked = *query;
    asked.now_us = s->host.now_us(s->host.context);
    l->cursor = l->reader.open(l->reader.context, &asked, &stream->e);
    if (head != NULL) {
        buf_add_text(&stream->text, head);
    } else {
        wire_write_heading(&wire_job_row_shape, &stream->text);
    }
    int more = l->cursor != NULL ? fill(stream) : -1;
    while (more == 1 && is_one && !l->is_later) more = fill(stream); /* whether there is one decides the status */
    stream->is_done = more == 0;
    stream->is_broken = more < 0;
    if (more == 0 && is_one && !l->is_later) {
        char id[24];
        wire_job_id_format(id, query->job_ids[0], query->task_id);
        stream->is_broken = true;
        err_set(&stream->e, ERR_NOT_FOUND, "no job %s", id);
    }
    int status = stream_reply(stream, r, head != NULL ? TYPE_JSON : TYPE_TEXT, e);
    if (status <= 0) return status;
    size_t size = l->factors_count * sizeof *l->factors; /* the server's may be others when the rest is rendered */
    l->factors = memcpy(arena_alloc(&stream->arena, size), l->factors, size);
    return 0;
}

struct job_query query_of(struct job_ref ref, const uint32_t *job_id)
{
    return (struct job_query){
        .which = JOBS_ALL, .job_ids = job_id, .job_id_count = 1, .task_id = ref.task_id, .state = JOB_STATE_COUNT};
}

/* The ids of a query. One of a task is possible where it is the only one. */
static int read_ids(const struct wire_list *ids, struct arena *arena, struct job_query *out_query, struct err *e)
{
    uint32_t *job_ids = arena_alloc(arena, (ids->count + (size_t)1) * sizeof *job_ids);
    for (uint32_t i = 0; i < ids->count; i++) {
        const char *id = ((const char **)ids->items)[i];
        if (wire_job_id_parse(str(id), "id", &job_ids[i], &out_query->task_id, e) != 0) return -1;
        if (out_query->task_id != NONE && ids->count > 1)
            return err_set(e, ERR_INPUT, "id: %s is a task; several ids are possible only of whole jobs", id);
    }
    out_query->job_ids = job_ids;
    out_query->job_id_count = ids->count;
    return 0;
}

int get_jobs(struct request *r, struct err *e)
{
    struct wire_jobs_query wanted;
    if (read_query(r, &wanted, e) != 0) return -1;
    struct job_query query = {
        .which = JOBS_LIVE,
        .task_id = NONE,
        .account = wanted.account,
        .user = wanted.user,
        .state = wanted.state ? job_state_from_name(wanted.state) : JOB_STATE_COUNT,
        .since_us = wanted.since_us,
        .until_us = wanted.until_us,
        .newest_first = wanted.order != NULL && strcmp(wanted.order, "newest") == 0,
        .limit = wanted.limit,
    };
    if (wanted.which && strcmp(wanted.which, "ended") == 0) query.which = JOBS_ENDED;
    if (wanted.which && strcmp(wanted.which, "all") == 0) query.which = JOBS_ALL;
    if (read_ids(&wanted.id, &r->arena, &query, e) != 0) return -1;
    bool is_lines = wanted.format != NULL && strcmp(wanted.format, "lines") == 0;
    return reply_jobs(r, &query, is_lines ? NULL : "{\"jobs\":[", false, e);
}

int get_job(struct request *r, struct err *e)
{
    struct job_ref ref;
    if (read_query(r, NULL, e) != 0) return -1;
    if (wire_job_id_parse(str(r->segment), "id", &ref.job_id, &ref.task_id, e) != 0) return -1;
    struct job_query query = query_of(ref, &ref.job_id);
    return reply_jobs(r, &query, "{\"jobs\":[", true, e);
}
