/* Why a job waits, and whether it could run at all, in Grid Engine's sentences (engine/wait_answer.h). */
#include "api/server/internal.h"
#include "engine/partition_waits.h"
#include "engine/visibility.h"
#include "engine/wait_answer.h"

static struct wire_list list_of(const struct wait_sentences *w)
{
    return (struct wire_list){(void *)(uintptr_t)w->items, w->count};
}

static int answer(struct request *r, uint32_t job, enum wait_question question, struct wait_sentences *out,
                  struct err *e)
{
    const struct server_host *host = &r->server->host;
    uint32_t hidden = visibility_hidden_from(host->state, &r->actor);
    return wait_answer_make(host->state, job, question, hidden, host->now_us(host->context), &r->arena, out, e);
}

static struct api_check_answer answer_of(const struct wait_sentences *w)
{
    return (struct api_check_answer){.possible = w->is_possible, .slots = w->slots, .sentences = list_of(w)};
}

/* The index of the job in the path, which has to wait. */
static int find_waiting(struct request *r, uint32_t *out_job, struct err *e)
{
    const struct state *s = r->server->host.state;
    struct job_ref ref;
    if (request_read_query(r, NULL, e) != 0) return -1;
    if (job_id_parse(str(r->segment), "id", &ref.job_id, &ref.task_id, e) != 0) return -1;
    uint32_t job = state_find_job(s, ref.job_id);
    if (job == NONE) {
        server_explain_job(r, ref, e);
        return -1;
    }
    const struct job *j = &s->jobs.items[job];
    const char *user = s->assocs.items[j->assoc].user;
    if (visibility_hides(s, &r->actor, PRIVATE_JOBS | PRIVATE_DETAILS, user)) {
        char job_id[JOB_ID_TEXT_SIZE];
        job_id_format(job_id, ref.job_id, NONE);
        (void)visibility_refuse_job(s, &r->actor, str(job_id), user, e);
        if (e->code == ERR_NOT_FOUND) server_explain_missing(r, ref.job_id, e);
        return -1;
    }
    if (ref.task_id != NONE && !idset_has(&j->array, ref.task_id)) {
        char id[JOB_ID_TEXT_SIZE];
        job_id_format(id, ref.job_id, NONE);
        return err_subject(e, ERR_NOT_FOUND, "job", str(id), "has no task %u", ref.task_id);
    }
    bool waits = ref.task_id != NONE ? idset_has(&j->pending, ref.task_id) : idset_first(&j->pending) != NONE;
    if (!waits)
        return err_subject(e, ERR_CONFLICT, ref.task_id != NONE ? "task" : "job", str(r->segment), "does not wait");
    *out_job = job;
    return 0;
}

int server_get_check(struct request *r, struct err *e)
{
    struct wait_sentences in_pass, now, empty;
    uint32_t job;
    if (find_waiting(r, &job, e) != 0 || answer(r, job, WAIT_IN_PASS, &in_pass, e) != 0 ||
        answer(r, job, WAIT_NOW, &now, e) != 0 || answer(r, job, WAIT_EMPTY, &empty, e) != 0)
        return -1;
    const struct server_host *host = &r->server->host;
    const struct job *j = &host->state->jobs.items[job];
    const char **partitions;
    uint32_t count = partition_waits_list(host->state, j, host->now_us(host->context), &r->arena, &partitions);
    const struct api_check check = {.job_id = j->id,
                                    .held = in_pass.is_held,
                                    .waits_for_jobs = in_pass.is_dependent,
                                    .waits_for_begin = in_pass.is_early,
                                    .scheduling_info = list_of(&in_pass),
                                    .partitions = {partitions, count},
                                    .empty = answer_of(&empty),
                                    .now = answer_of(&now)};
    reply_write(r, MHD_HTTP_OK, &api_check_shape, &check);
    return 0;
}
