/* Listings of jobs: rows from a snapshot of the store, one line each, completed with what only the server can compute:
 * the fair-share factor of the association at the time of the request, the pending reason, and the billing.
 *
 * Computing the factors takes O(associations), 10 ms at 10^5, and shell scripts poll in loops. So they are computed at
 * most once in FACTORS_US and kept by association id. A listing that is longer than one piece takes a copy. Expected
 * starts are those of expected_plan.c. */
#include <math.h>
#include <string.h>

#include "api/server/expected_starts.h"
#include "api/server/internal.h"
#include "base/ensure.h"
#include "base/json.h"
#include "engine/priorities.h"
#include "engine/visibility.h"
#include "engine/wait_answer.h"
#include "engine/wait_leaders.h"
#include "engine/wait_missing.h"
#include "policy/billing.h"

enum { FACTORS_US = 500000, LEADERS_TIMES = 10, ROWS_AT_ONCE = 16 };

/* Where a reader, or a table, needs some text. */
static const enum job_field shown_as_hidden[] = {JOB_FIELD_USER, JOB_FIELD_ACCOUNT, JOB_FIELD_NAME, JOB_FIELD_COMMAND};

struct job_stream {
    struct server *server;
    struct job_reader reader;
    void *cursor;
    const double *factors; /* by id of association: the server's, or a copy */
    uint32_t factor_count;
    struct expected_starts *expected; /* NULL: not wanted */
    struct wait_missing missing;
    bool is_lines, is_one;
    bool has_rows;      /* a row was written */
    uint32_t hidden;    /* of the rows of other users than viewer (engine/visibility.h) */
    const char *viewer; /* in memory of the stream */
};

static void refresh_factors(struct server *s)
{
    struct state *state = s->host.state;
    struct arena arena = {0};
    int64_t now_us = server_monotonic_us();
    if (s->factors != NULL && state->next_assoc_id == s->factor_count && now_us - s->factors_us < FACTORS_US) return;

    const double *by_node = state_factors(state, s->host.now_us(s->host.context), &arena);
    s->factors =
        mem_resize(s->factors, s->factor_count * sizeof *s->factors, state->next_assoc_id * sizeof *s->factors);
    s->factor_count = state->next_assoc_id;
    s->factors_us = now_us;
    for (uint32_t id = 0; id < s->factor_count; id++) s->factors[id] = (double)NAN;
    for (uint32_t node = 0; node < state->tree.count; node++)
        s->factors[state->assocs.items[state->assoc_of.items[node]].id] = by_node[node];
    arena_release(&arena);
}

/* The jobs that wait first serve for LEADERS_TIMES as long as it took to find them. */
static void refresh_leaders(struct server *s)
{
    struct state *state = s->host.state;
    int64_t begin_us = server_monotonic_us();
    struct arena arena = {0};
    if (begin_us < s->leaders_until_us) return;
    double *factors = arena_alloc_raw(&arena, (state_tree(state)->count + (size_t)1) * sizeof *factors);
    for (uint32_t node = 0; node < state->tree.count; node++)
        factors[node] = s->factors[state->assocs.items[state->assoc_of.items[node]].id];
    wait_leaders_update(state, s->host.now_us(s->host.context), factors);
    arena_release(&arena);
    int64_t end_us = server_monotonic_us();
    s->leaders_until_us = end_us + LEADERS_TIMES * (end_us - begin_us);
}

void server_times_changed(struct server *s)
{
    server_forget_expected(s);
    s->leaders_until_us = 0;
    s->factors_us = -FACTORS_US;
}

/* Inserts the billing after the nodes, as Slurm's records have it: "cpu=4,mem=8192,node=1,billing=8,gres/gpu=1". */
static void add_billing(struct job_row *row, struct buf *out)
{
    const char *tres = job_row_text(row, JOB_FIELD_TRES), *nodes = strstr(tres, "node=");
    if (nodes == NULL) return;
    const char *rest = nodes + strcspn(nodes, ",");
    buf_add(out, tres, (size_t)(rest - tres));
    buf_format(out, ",billing=%llu%s", (unsigned long long)billing_recorded(row->value[JOB_FIELD_BILLING].real), rest);
    row->value[JOB_FIELD_TRES].text = out->text;
}

static double factor_of(const struct job_row *row, const struct job_stream *l)
{
    int64_t assoc_id = job_row_number(row, JOB_FIELD_ASSOCIATION_ID);
    return assoc_id < l->factor_count ? l->factors[assoc_id] : (double)NAN;
}

/* The highest factor of the associations that a waiting job has in its partitions. */
static double best_factor_of(const struct job_row *row, const struct job_stream *l)
{
    const struct state *s = l->server->host.state;
    uint32_t job = state_find_job(s, (uint32_t)job_row_number(row, JOB_FIELD_JOB_ID));
    double best = factor_of(row, l);
    for (uint32_t i = 0; job != NONE && i < s->jobs.items[job].partition_count; i++) {
        const struct job *j = &s->jobs.items[job];
        uint32_t id = s->assocs.items[state_assoc_in_partition(s, j->assoc, j->partitions[i])].id;
        if (id < l->factor_count) best = fmax(best, l->factors[id]);
    }
    return best;
}

/* The store cannot tell whether a policy keeps a job from starting; then its reason is Resources. */
static enum pending_reason reason_of(const struct job_row *row, const struct job_stream *l)
{
    enum pending_reason reason = (enum pending_reason)job_row_number(row, JOB_FIELD_REASON);
    if (reason != PENDING_RESOURCES && reason != PENDING_ARRAY_TASK_LIMIT) return reason;
    uint32_t job_id = (uint32_t)job_row_number(row, JOB_FIELD_JOB_ID);
    const struct server_host *host = &l->server->host;
    enum pending_reason policy_reason =
        job_pending_reason(host->state, job_id, best_factor_of(row, l), host->now_us(host->context));
    return policy_reason != PENDING_NONE ? policy_reason : reason;
}

static void set_expected(struct job_row *row, const struct job_stream *l)
{
    uint32_t job_id = (uint32_t)job_row_number(row, JOB_FIELD_JOB_ID);
    bool is_pending = job_row_number(row, JOB_FIELD_STATE) == JOB_PENDING;
    const struct expected_start *x =
        is_pending && l->expected != NULL ? expected_starts_find(l->expected, job_id) : NULL;
    row->value[JOB_FIELD_EXPECTED_START] = x != NULL && x->start_us > 0 ? field_number(x->start_us) : field_absent();
    row->value[JOB_FIELD_EXPECTED_PLACES] = field_text(x != NULL ? x->places : NULL);
    row->value[JOB_FIELD_WAITS_FOR] = field_text(x != NULL ? x->waits_for : NULL);
    row->value[JOB_FIELD_NEVER_RUNS] = field_text(x != NULL ? x->never_runs : NULL);
}

/* Of the reason Resources. The text lasts until the next row. */
static void set_missing(struct job_row *row, struct job_stream *l)
{
    const struct server_host *host = &l->server->host;
    uint32_t job = state_find_job(host->state, (uint32_t)job_row_number(row, JOB_FIELD_JOB_ID));
    bool waits = job_row_number(row, JOB_FIELD_REASON) == PENDING_RESOURCES && job != NONE;
    const struct job *j = waits ? &host->state->jobs.items[job] : NULL;
    const char *names = waits && idset_first(&j->pending) != NONE
                            ? wait_missing_names(&l->missing, host->state, j, host->now_us(host->context))
                            : NULL;
    row->value[JOB_FIELD_MISSING] = field_text(names);
}

/* Adds "scheduling_info" to the record of one waiting job: a list of sentences (engine/wait_sentences.h). */
static void add_scheduling_info(const struct job_row *row, const struct job_stream *l, struct buf *out)
{
    const struct server_host *host = &l->server->host;
    uint32_t job = state_find_job(host->state, (uint32_t)job_row_number(row, JOB_FIELD_JOB_ID));
    bool is_pending = job_row_number(row, JOB_FIELD_STATE) == JOB_PENDING;
    struct arena arena = {0};
    struct wait_sentences why;
    if (!l->is_one || !is_pending || job == NONE || idset_first(&host->state->jobs.items[job].pending) == NONE) return;
    int64_t now_us = host->now_us(host->context);
    if (wait_answer_make(host->state, job, WAIT_IN_PASS, l->hidden, now_us, &arena, &why, NULL) == 0) {
        struct json j = {.out = out};
        out->length--; /* the closing brace */
        buf_add_text(out, ",\"scheduling_info\":");
        json_begin_array(&j);
        for (uint32_t i = 0; i < why.count; i++) json_text(&j, why.items[i]);
        json_end(&j);
        buf_add_char(out, '}');
    }
    arena_release(&arena);
}

static bool is_of_viewer(const struct job_row *row, const struct job_stream *l)
{
    const char *user = row->value[JOB_FIELD_USER].text;
    return l->viewer != NULL && user != NULL && strcmp(user, l->viewer) == 0;
}

/* Hides what of a row of another user is not public. An id that is hidden is that of the kernel for ids that cannot be
 * shown. */
static void hide(struct job_row *row, const struct job_stream *l)
{
    enum { OVERFLOW_UID = 65534 };
    if (l->hidden == 0 || is_of_viewer(row, l)) return;
    row->value[JOB_FIELD_FAIR_SHARE].real = (double)NAN;
    if ((l->hidden & PRIVATE_DETAILS) == 0) return;
    for (int f = 0; f < JOB_FIELD_COUNT; f++) {
        const struct field *field = job_field_at((enum job_field)f);
        bool is_text = field->type == FIELD_TEXT || field->type == FIELD_BYTES;
        if (job_field_rows[f].is_public || field->is_hidden) continue;
        if (is_text)
            row->value[f] = field->is_nullable ? field_absent() : field_text("");
        else
            row->value[f] = field_absent();
    }
    row->value[JOB_FIELD_UID] = field_number(OVERFLOW_UID);
    for (size_t i = 0; i < sizeof shown_as_hidden / sizeof *shown_as_hidden; i++)
        row->value[shown_as_hidden[i]] = field_text(VISIBILITY_HIDDEN_NAME);
}

/* Writes a row with the members that the store does not have. */
static void write_row(struct job_row *row, struct job_stream *l, struct buf *out)
{
    struct buf tres = {0};
    set_expected(row, l);
    row->value[JOB_FIELD_FAIR_SHARE].real = factor_of(row, l);
    row->value[JOB_FIELD_REASON].number = reason_of(row, l);
    set_missing(row, l);
    if (row->value[JOB_FIELD_START].number != FIELD_ABSENT) add_billing(row, &tres);
    bool has_info = !l->is_lines && ((l->hidden & PRIVATE_DETAILS) == 0 || is_of_viewer(row, l));
    hide(row, l);
    if (l->is_lines)
        wire_write_line(&job_fields, row->value, out);
    else
        wire_write_record(&job_fields, row->value, out);
    if (has_info) add_scheduling_info(row, l, out);
    buf_release(&tres);
}

static int fill(struct stream *s)
{
    struct job_stream *l = s->context;
    struct job_row row;
    for (int i = 0; i < ROWS_AT_ONCE; i++) {
        int result = l->reader.next(l->cursor, &row, &s->e);
        if (result < 0) return -1;
        if (result == 2) return 1;
        if (result == 0) {
            if (!l->is_lines) buf_add_text(&s->text, "\n]}\n");
            return 0;
        }
        if (!l->is_lines) buf_add_text(&s->text, l->has_rows ? ",\n" : "\n");
        l->has_rows = true;
        write_row(&row, l, &s->text);
    }
    return 1;
}

static void close_listing(struct stream *s)
{
    struct job_stream *l = s->context;
    if (l->cursor != NULL) l->reader.close(l->cursor);
    expected_starts_release(l->expected);
    wait_missing_release(&l->missing);
}

int server_reply_jobs(struct request *r, const struct job_query *query, const char *head, unsigned wanted,
                      struct err *e)
{
    bool is_one = (wanted & JOBS_WANT_ONE) != 0;
    ensure(!is_one || query->job_id_count == 1);
    struct server *s = r->server;
    struct expected_starts *expected = NULL;
    uint32_t last_id = is_one ? query->job_ids[0] : s->host.state->next_job_id - 1;
    if ((wanted & JOBS_WANT_EXPECTED) != 0 && server_share_expected(r, last_id, is_one, &expected) > 0) return 0;
    struct stream *stream = stream_new(r);
    struct job_stream *l = arena_alloc(&stream->arena, sizeof *l);
    stream->context = l;
    stream->fill = fill;
    stream->close = close_listing;
    refresh_factors(s);
    refresh_leaders(s);
    *l = (struct job_stream){.server = s,
                             .reader = s->host.jobs,
                             .factors = s->factors,
                             .factor_count = s->factor_count,
                             .expected = expected,
                             .is_lines = head == NULL,
                             .hidden =
                                 visibility_hidden_from(s->host.state, &r->actor) & (PRIVATE_DETAILS | PRIVATE_USAGE),
                             .viewer = r->actor.user != NULL ? arena_copy(&stream->arena, str(r->actor.user)) : NULL,
                             .is_one = is_one};
    struct job_query query_now = *query;
    query_now.now_us = s->host.now_us(s->host.context);
    server_restrict_query(r, &query_now);
    l->cursor = l->reader.open(l->reader.context, &query_now, &stream->e);
    if (head != NULL) {
        buf_add_text(&stream->text, head);
    } else {
        wire_write_heading(&job_fields, &stream->text);
    }
    int result = l->cursor != NULL ? fill(stream) : -1;
    while (result == 1 && is_one && !l->has_rows)
        result = fill(stream); /* the HTTP status depends on whether there is one */
    stream->is_done = result == 0;
    stream->is_broken = result < 0;
    if (result == 0 && is_one && !l->has_rows) {
        char id[JOB_ID_TEXT_SIZE];
        job_id_format(id, query->job_ids[0], query->task_id);
        stream->is_broken = true;
        (void)err_not_found(&stream->e, "job", str(id));
        uint32_t job_id = query->job_ids[0];
        bool hides_jobs = (visibility_hidden_from(s->host.state, &r->actor) & PRIVATE_JOBS) != 0;
        bool is_own = state_find_job(s->host.state, job_id) != NONE && !server_hides_job(r, job_id);
        /* A job that has ended is answered as one that is hidden. */
        if (query->task_id == NONE || (hides_jobs && !is_own)) server_explain_missing(r, job_id, &stream->e);
    }
    int status = stream_reply(stream, r, head != NULL ? TYPE_JSON : TYPE_TEXT, e);
    if (status <= 0) return status;
    /* A later listing may recompute the server's factors before the rest of this one is rendered. */
    size_t size = l->factor_count * sizeof *l->factors;
    l->factors = memcpy(arena_alloc(&stream->arena, size), l->factors, size);
    return 0;
}

struct job_query job_query_of(struct job_ref ref, const uint32_t *job_id)
{
    return (struct job_query){
        .which = JOBS_ALL, .job_ids = job_id, .job_id_count = 1, .task_id = ref.task_id, .state = JOB_STATE_COUNT};
}

/* Reads the ids of a query. The id of a task has to be the only one. */
static int read_ids(const struct wire_list *ids, struct arena *arena, struct job_query *out_query, struct err *e)
{
    uint32_t *job_ids = arena_alloc(arena, (ids->count + (size_t)1) * sizeof *job_ids);
    for (uint32_t i = 0; i < ids->count; i++) {
        const char *id = ((const char **)ids->items)[i];
        if (job_id_parse(str(id), "id", &job_ids[i], &out_query->task_id, e) != 0) return -1;
        if (out_query->task_id != NONE && ids->count > 1)
            return err_value_reason(e, "id", str(id), "is a task; in a list of ids, each must be a whole job");
    }
    out_query->job_ids = job_ids;
    out_query->job_id_count = ids->count;
    return 0;
}

int server_get_jobs(struct request *r, struct err *e)
{
    struct api_jobs_query parameters;
    if (request_read_query(r, &parameters, e) != 0) return -1;
    struct job_query query = {
        .which = JOBS_LIVE,
        .task_id = NONE,
        .account = parameters.account,
        .user = parameters.user,
        .state = parameters.state ? job_state_from_name(parameters.state) : JOB_STATE_COUNT,
        .since_us = parameters.since_us,
        .until_us = parameters.until_us,
        .newest_first = parameters.order != NULL && strcmp(parameters.order, "newest") == 0,
        .limit = parameters.limit,
    };
    if (parameters.which && strcmp(parameters.which, "ended") == 0) query.which = JOBS_ENDED;
    if (parameters.which && strcmp(parameters.which, "all") == 0) query.which = JOBS_ALL;
    if (read_ids(&parameters.id, &r->arena, &query, e) != 0) return -1;
    bool is_lines = parameters.format != NULL && strcmp(parameters.format, "lines") == 0;
    return server_reply_jobs(r, &query, is_lines ? NULL : "{\"jobs\":[", parameters.start ? JOBS_WANT_EXPECTED : 0, e);
}

int server_get_job(struct request *r, struct err *e)
{
    struct job_ref ref;
    if (request_read_query(r, NULL, e) != 0) return -1;
    if (job_id_parse(str(r->segment), "id", &ref.job_id, &ref.task_id, e) != 0) return -1;
    struct job_query query = job_query_of(ref, &ref.job_id);
    const struct state *s = r->server->host.state;
    uint32_t job = state_find_job(s, ref.job_id);
    bool waits = job != NONE && idset_first(&s->jobs.items[job].pending) != NONE;
    return server_reply_jobs(r, &query, "{\"jobs\":[", JOBS_WANT_ONE | (waits ? JOBS_WANT_EXPECTED : 0u), e);
}
