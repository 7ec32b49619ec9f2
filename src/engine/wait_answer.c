#include "engine/wait_answer.h"

#include "engine/assoc_limits.h"
#include "engine/limit_text.h"
#include "engine/live_cluster.h"
#include "engine/never_runs.h"
#include "engine/priorities.h"
#include "engine/ranking.h"
#include "engine/schedule.h"
#include "engine/user_limit.h"
#include "engine/visibility.h"

/* Appends that the fair-share factor is below the threshold of its QOS in each of its partitions; nothing if it is not.
 * Of an instance only. */
static void add_threshold(struct state *s, const struct job *j, int64_t now_us, struct arena *arena, struct buf *out)
{
    const struct object *qos = &s->objects[OBJECT_QOS].items[j->qos].object;
    double highest = 0;
    if (s->is_document || !ranking_qos_waits(s, j->qos, -1.0)) return;
    const double *factors = state_factors(s, now_us, arena);
    for (uint32_t i = 0; i < j->partition_count; i++) {
        if (!ranking_waits_in_partition(s, j->qos, j->assoc, j->partitions[i], factors)) return;
        double factor = factors[s->node_of.items[state_assoc_in_partition(s, j->assoc, j->partitions[i])]];
        if (factor > highest) highest = factor;
    }
    buf_format(out, "fair share %.2f is below usage_threshold=%g of QOS '%s'", highest,
               qos->value[QOS_USAGE_THRESHOLD].real, qos->name);
}

/* The limit or refused QOS that keeps it waiting, or that the machine can start nothing; in memory of arena. On the
 * empty cluster: only a cause that lasts. NULL: none. */
static const char *limit_of(struct state *s, const struct job *j, bool is_empty, uint32_t hidden, int64_t now_us,
                            struct arena *arena)
{
    struct limit_hit hit;
    struct buf text = {0};
    enum pending_reason reason = PENDING_INVALID_QOS;
    if (assoc_limits_refuse_job(s, j)) {
        buf_add_text(&text, "QOS ");
        assoc_limits_refusal(s, j->assoc, j->qos, &text);
    } else if (is_empty ? job_limit_find_lasting(s, j, now_us, &hit) : job_limit_find(s, j, now_us, &hit)) {
        limit_text(s, &hit, &text);
        reason = hit.reason;
    } else if (!is_empty && state_launch_failure(s) != NULL) {
        buf_format(&text, "the machine can start no job at present: %s", visibility_launch_failure(s, hidden));
        reason = PENDING_LAUNCH_FAILURE;
    } else if (!is_empty) {
        add_threshold(s, j, now_us, arena, &text);
        reason = PENDING_QOS_USAGE_THRESHOLD;
    }
    if (text.length == 0) return NULL;
    buf_format(&text, " (%s)", pending_reason_name(reason));
    const char *copy = arena_copy(arena, (struct str){text.text, text.length});
    buf_release(&text);
    return copy;
}

/* Load values change, so only what lasts is needed on the empty cluster. */
static void answer_on(struct state *s, struct never_runs *n, const struct job *j, int64_t now_us, struct arena *arena,
                      struct wait_sentences *out)
{
    const struct wait_view v = {.s = s,
                                .m = &n->empty,
                                .demands = &n->demands,
                                .load = &n->empty.load,
                                .now_us = now_us,
                                .limit = limit_of(s, j, true, 0, now_us, arena)};
    const struct demand lasting = never_runs_lasting(n, job_demand(&n->demands, j, NONE), arena);
    wait_sentences_make(&v, j, &lasting, WAIT_EMPTY, arena, out);
}

/* Resource quotas count, as qalter -w v counts them; those that are kept for other questions are without. */
static void answer_for_empty(struct state *s, const struct job *j, int64_t now_us, struct arena *arena,
                             struct wait_sentences *out)
{
    bool has_quotas = s->objects[OBJECT_QUOTA].count > 0;
    answer_on(s, has_quotas ? never_runs_kept_with_quotas(s) : never_runs_kept(s), j, now_us, arena, out);
}

/* Whether a limit of the user's or the array's tasks keeps it back. started: tasks of users that start before it in the
 * same plan. */
static bool is_limited(const struct state *s, const struct job *j, const struct user_limit *started)
{
    return user_limit_room(started, s, j) == 0 || (j->is_array && state_array_room(s, j, 1) == 0);
}

/* Which limit that is, in memory of arena; Grid Engine does not say it, so the answers for documents do not. */
static const char *tasks_text(const struct state *s, const struct job *j, struct arena *arena)
{
    char text[200];
    const char *user = s->assocs.items[j->assoc].user;
    if (state_user_room(s, j->assoc) == 0) {
        uint32_t max = (uint32_t)setting_number(&s->settings, SET_GE_MAX_USER_RUNNING);
        text_format(text, sizeof text, "maxujobs=%u; %llu in use by '%s'", max,
                    (unsigned long long)state_user_running(s, user), user);
    } else {
        const char *name =
            j->array_limit > 0 && j->array_limit == state_array_limit(s, j) ? "its own limit" : "max_aj_instances";
        text_format(text, sizeof text, "%s=%u; %u of its tasks run", name, state_array_limit(s, j), j->live_tasks);
    }
    return arena_copy(arena, str(text));
}

static void answer_for_instance(struct state *s, const struct job *j, enum wait_question question, uint32_t hidden,
                                int64_t now_us, struct arena *arena, struct wait_sentences *out)
{
    struct live_cluster *l = live_cluster_update(s, now_us);
    const struct user_limit none = {.started = {0}};
    const struct wait_view v = {.s = s,
                                .m = &l->model,
                                .demands = &l->demands,
                                .load = &l->rules.load,
                                .now_us = now_us,
                                .is_limited = is_limited(s, j, &none),
                                .tasks = is_limited(s, j, &none) ? tasks_text(s, j, arena) : NULL,
                                .limit = limit_of(s, j, false, hidden, now_us, arena)};
    wait_sentences_make(&v, j, job_demand(&l->demands, j, NONE), question, arena, out);
}

/* Counts the tasks of other jobs that the run starts. */
static void count_starts(const struct schedule *p, const struct state *s, uint32_t job, struct user_limit *out)
{
    for (uint32_t i = 0; i < p->rows.count; i++) {
        const struct schedule_row *row = &p->rows.items[i];
        if (row->job != job && row->state == SCHEDULE_STARTING) user_limit_start(out, s, &s->jobs.items[row->job], 1);
    }
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
        struct user_limit started = {.started = {0}};
        count_starts(&p, s, job, &started);
        const struct wait_view v = {.s = s,
                                    .m = &p.model,
                                    .demands = &p.demands,
                                    .load = &p.model.load,
                                    .now_us = now_us,
                                    .is_limited = is_limited(s, j, &started),
                                    .limit = limit_of(s, j, false, 0, now_us, arena)};
        unbook_own(&p, job);
        wait_sentences_make(&v, j, job_demand(&p.demands, j, NONE), question, arena, out);
        user_limit_release(&started);
    }
    schedule_release(&p);
    return status;
}

int wait_answer_make(struct state *s, uint32_t job, enum wait_question question, uint32_t hidden, int64_t now_us,
                     struct arena *arena, struct wait_sentences *out, struct err *e)
{
    const struct job *j = &s->jobs.items[job];
    if (s->is_document && question != WAIT_EMPTY) return answer_for_document(s, job, question, now_us, arena, out, e);
    if (question == WAIT_EMPTY) {
        if (s->is_document && cluster_model_check(s, e) != 0) return -1;
        answer_for_empty(s, j, now_us, arena, out);
    } else {
        answer_for_instance(s, j, question, hidden, now_us, arena, out);
    }
    return 0;
}
