#include "engine/wait_answer.h"

#include "engine/live_cluster.h"
#include "engine/never_runs.h"
#include "engine/priorities.h"
#include "engine/schedule.h"

/* Load values change, so only what lasts is needed on the empty cluster. */
static void answer_for_empty(struct state *s, const struct job *j, int64_t now_us, struct arena *arena,
                             struct wait_sentences *out)
{
    struct never_runs *n = never_runs_kept(s);
    const struct wait_view v = {
        .s = s, .m = &n->empty, .demands = &n->demands, .load = &n->empty.load, .now_us = now_us};
    const struct demand lasting = never_runs_lasting(n, job_demand(&n->demands, j, NONE), arena);
    wait_sentences_make(&v, j, &lasting, WAIT_EMPTY, arena, out);
}

static void answer_for_instance(struct state *s, const struct job *j, enum wait_question question, int64_t now_us,
                                struct arena *arena, struct wait_sentences *out)
{
    struct live_cluster *l = live_cluster_update(s, now_us);
    const struct wait_view v = {.s = s,
                                .m = &l->model,
                                .demands = &l->demands,
                                .load = &l->rules.load,
                                .now_us = now_us,
                                .is_limited = job_limit_reason(s, j, now_us) != PENDING_NONE};
    wait_sentences_make(&v, j, job_demand(&l->demands, j, NONE), question, arena, out);
}

/* What the run has given the job is not in its way. */
static void unbook_own(struct schedule *p, uint32_t job)
{
    for (uint32_t i = 0; i < p->rows.count; i++) {
        const struct schedule_row *row = &p->rows.items[i];
        if (row->job != job || (row->state != SCHEDULE_STARTING && row->state != SCHEDULE_RESERVED)) continue;
        cluster_unbook(&p->model.cluster, row->demand, &row->allocation, row->start_us, row->end_us);
    }
}

static int answer_for_document(struct state *s, uint32_t job, enum wait_question question, int64_t now_us,
                               struct arena *arena, struct wait_sentences *out, struct err *e)
{
    struct schedule p;
    int status = question == WAIT_NOW ? schedule_make_running(s, now_us, &p, e)
                                      : schedule_make(s, now_us, SCHEDULE_WITHOUT_ESTIMATES, &p, e);
    if (status == 0) {
        const struct job *j = &s->jobs.items[job];
        const struct wait_view v = {
            .s = s, .m = &p.model, .demands = &p.demands, .load = &p.model.load, .now_us = now_us};
        unbook_own(&p, job);
        wait_sentences_make(&v, j, job_demand(&p.demands, j, NONE), question, arena, out);
    }
    schedule_release(&p);
    return status;
}

int wait_answer_make(struct state *s, uint32_t job, enum wait_question question, int64_t now_us, struct arena *arena,
                     struct wait_sentences *out, struct err *e)
{
    const struct job *j = &s->jobs.items[job];
    if (s->is_document && question != WAIT_EMPTY) return answer_for_document(s, job, question, now_us, arena, out, e);
    if (question == WAIT_EMPTY) {
        if (s->is_document && cluster_model_check(s, e) != 0) return -1;
        answer_for_empty(s, j, now_us, arena, out);
    } else {
        answer_for_instance(s, j, question, now_us, arena, out);
    }
    return 0;
}
