/* GET /v1/jobs/{id}/submission: what a job was submitted with, as the body of a further submission. Only the job's user
 * gets it, because an environment may have secrets. The row comes from the state or, if the job has ended, from the
 * store; a thread reads the script and renders the reply, because both may be long.
 *
 * Left out is what belongs to that one submission: holds, begin, deadline and dependencies, and what operators set. So
 * are values that follow from others, such as the memory of a job that asks for memory per CPU, because a submission
 * with both would be refused. */
#include <string.h>

#include "api/server/internal.h"
#include "base/ensure.h"
#include "engine/dependency_targets.h"
#include "engine/job_members.h"
#include "engine/visibility.h"
#include "fields/job_id.h"

/* In memory of the request. */
struct submission_reply {
    struct request *request;
    uint32_t job_id;
    struct api_submit body;
};

/* What the request found of the job. */
struct found_job {
    const struct job *row;
    const char *account;
};

static bool is_of_one_submission(enum job_field f)
{
    return f == JOB_FIELD_HELD || f == JOB_FIELD_BEGIN || f == JOB_FIELD_DEADLINE || f == JOB_FIELD_DEPENDENCY;
}

static bool follows_from_others(const struct state *s, const struct job *j, enum job_field f, struct arena *arena)
{
    switch (f) {
    case JOB_FIELD_MEM_MIB: return job_member(s, j, JOB_FIELD_MEM_PER_CPU, arena).number != 0;
    case JOB_FIELD_GPUS: return job_member(s, j, JOB_FIELD_GPUS_PER_SLOT, arena).number != 0;
    case JOB_FIELD_CPUS: return job_member(s, j, JOB_FIELD_SLOTS_PER_NODE, arena).number != 0;
    case JOB_FIELD_TIME_LIMIT: return j->lacks_time_limit || j->has_default_time;
    case JOB_FIELD_REQUEUE: return !j->may_requeue && !j->forbids_requeue;
    default: return false;
    }
}

/* An array has another default than a plain job. */
static bool is_default_pattern(const char *pattern)
{
    return strcmp(pattern, "fairlead-%j.out") == 0 || strcmp(pattern, "fairlead-%A_%a.out") == 0;
}

/* Whether a submission without the field has the same value. */
static bool is_default(enum job_field f, const struct field_value *value)
{
    const struct field *field = job_field_at(f);
    bool is_number_of_none = job_field_rows[f].empty_is_null || f == JOB_FIELD_NICE || f == JOB_FIELD_POSIX_PRIORITY ||
                             f == JOB_FIELD_JOB_SHARE || f == JOB_FIELD_GPUS;
    if (f == JOB_FIELD_REQUEUE) return false; /* no is a value */
    if (field_is_absent(field, value)) return true;
    if (f == JOB_FIELD_OUT_PATTERN) return is_default_pattern(value->text);
    if (field_is_text(field)) return value->text[0] == '\0';
    return is_number_of_none && value->number == 0;
}

static struct field_value array_value(const struct job *j, struct arena *arena)
{
    struct buf text = {0};
    idset_format(&j->array, &text);
    if (j->array_limit != 0) buf_format(&text, "%%%u", j->array_limit);
    const char *copy = arena_copy(arena, (struct str){text.text, text.length});
    buf_release(&text);
    return field_text(copy);
}

static struct field_value value_of(const struct state *s, const struct found_job *found, enum job_field f,
                                   struct arena *arena)
{
    if (f == JOB_FIELD_ACCOUNT) return field_text(arena_copy(arena, str(found->account)));
    if (f == JOB_FIELD_ARRAY && found->row->is_array) return array_value(found->row, arena);
    struct field_value value = job_member(s, found->row, f, arena);
    if (field_is_text(job_field_at(f)) && value.text != NULL) value.text = arena_copy(arena, str(value.text));
    return value;
}

/* The input, which will be in memory until the reply is sent, counts as that of a long request. */
static int fill_values(struct request *r, const struct found_job *found, struct job_values *out, struct err *e)
{
    const struct state *s = r->server->host.state;
    if (connection_take_bytes(r->server, r, found->row->input_bytes, e) != 0) return -1;
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        bool is_of_operators = job_field_rows[f].setter == JOB_SET_BY_OPERATOR;
        if (!job_field_is_settable(f, false) || is_of_operators || is_of_one_submission(f)) continue;
        if (follows_from_others(s, found->row, f, &r->arena)) continue;
        struct field_value value = value_of(s, found, f, &r->arena);
        out->is_given[f] = !is_default(f, &value);
        if (out->is_given[f]) out->value[f] = value;
    }
    return 0;
}

/* --- the job ------------------------------------------------------------------------------------------------------ */

static int refuse_others(struct request *r, uint32_t job_id, const char *user, struct err *e)
{
    char id[JOB_ID_TEXT_SIZE];
    if (r->actor.user != NULL && strcmp(r->actor.user, user) == 0) return 0;
    job_id_format(id, job_id, NONE);
    return visibility_refuse_job(r->server->host.state, &r->actor, str(id), user, e);
}

static int fill_from_ended(struct request *r, struct submission_reply *s, const struct event *event, struct err *e)
{
    const struct event_ended_job *job = event->ended_jobs;
    if (event->ended_job_count == 0) {
        server_explain_missing(r, s->job_id, e);
        return -1;
    }
    if (refuse_others(r, s->job_id, job->user, e) != 0) return -1;
    if (job->row == NULL) {
        *e = job->err;
        return -1;
    }
    return fill_values(r, &(struct found_job){job->row, job->account}, &s->body.job, e);
}

/* The facts of a requeue are those of the job that are needed here. */
static int read_ended(struct request *r, struct submission_reply *s, struct err *e)
{
    const struct server_host *host = &r->server->host;
    const struct job_ref ref = {s->job_id, NONE};
    struct event event = {.kind = EVENT_REQUEUE, .actor = r->actor, .jobs = {.refs = &ref, .count = 1}};
    if (host->read_ends == NULL) return err_set(e, ERR_UNAVAILABLE, "the jobs that have ended cannot be read");
    host->read_ends(host->context, &event, &r->arena);
    int status = fill_from_ended(r, s, &event, e);
    host->release_ends(&event);
    return status;
}

static int read_job(struct request *r, struct submission_reply *s, struct err *e)
{
    const struct state *state = r->server->host.state;
    uint32_t index = dependency_target_row(state, s->job_id);
    if (index == NONE) return read_ended(r, s, e);
    const struct job *j = &state->jobs.items[index];
    const struct assoc *a = &state->assocs.items[j->assoc];
    if (refuse_others(r, s->job_id, a->user, e) != 0) return -1;
    return fill_values(r, &(struct found_job){j, a->account}, &s->body.job, e);
}

/* --- the script --------------------------------------------------------------------------------------------------- */

static void reply_body(struct submission_reply *s, const struct request_script *script)
{
    struct request *r = s->request;
    struct buf body = {0};
    struct err e;
    s->body.script = script->script.length > 0 ? script->script : (struct str){0};
    s->body.script_name = script->script.length > 0 ? script->script_name : NULL;
    s->body.arguments = (struct wire_list){script->arguments, script->argument_count};
    s->body.environment = (struct wire_list){script->environment, script->environment_count};
    if (wire_request(&api_submit_shape, &s->body, &body, &e) != 0) {
        buf_release(&body);
        reply_error(r, &e);
        return;
    }
    buf_add_char(&body, '\n');
    reply_take(r, r->route->status, TYPE_JSON, &body);
}

static void reply_in_thread(void *submission)
{
    struct submission_reply *s = submission;
    const struct server_host *host = &s->request->server->host;
    struct request_script script;
    struct err e;
    if (host->read_script(host->context, s->job_id, &s->request->arena, &script, &e) == 0)
        reply_body(s, &script);
    else
        reply_error(s->request, &e);
}

static void replied(void *submission)
{
    struct submission_reply *s = submission;
    ensure(s->request->stage == STAGE_RENDERING);
    request_unpark(s->request);
}

int server_get_submission(struct request *r, struct err *e)
{
    const struct server_host *host = &r->server->host;
    struct job_ref ref;
    if (request_read_query(r, NULL, e) != 0) return -1;
    if (job_id_parse(str(r->segment), "id", &ref.job_id, &ref.task_id, e) != 0) return -1;
    if (ref.task_id != NONE) return err_value_reason(e, "id", str(r->segment), "is a task; a submission is of a job");
    if (host->read_script == NULL || host->run_in_thread == NULL)
        return err_set(e, ERR_UNAVAILABLE, "the scripts of jobs cannot be read");
    struct submission_reply *s = arena_alloc(&r->arena, sizeof *s);
    wire_clear(&api_submit_shape, &s->body);
    s->request = r;
    s->job_id = ref.job_id;
    if (read_job(r, s, e) != 0) return -1;
    request_park(r, STAGE_RENDERING);
    host->run_in_thread(host->context, reply_in_thread, replied, s);
    return 0;
}
