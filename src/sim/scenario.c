/* Puts the rows that the engine computes into the order of the document. */
#include "sim/scenario.h"

#include "base/ensure.h"
#include "engine/partition_waits.h"
#include "fields/job_id.h"
#include "policy/share_values.h"

bool scenario_has_job(const struct scenario *s, uint32_t job_id)
{
    return state_find_job(&s->state, job_id) != NONE;
}

void scenario_release(struct scenario *s)
{
    if (s->state.share_nodes != NULL) share_nodes_release(s->state.share_nodes);
    state_release(&s->state);
    arena_release(&s->arena);
    *s = (struct scenario){0};
}

/* --- priorities --------------------------------------------------------------------------------------------------- */

/* Indices of rows, grouped by job: those of job j are rows[first[j]] to rows[first[j + 1] - 1], in the engine's
 * order. */
struct rows_by_job {
    uint32_t *first, *rows;
};

static struct rows_by_job group_rows(const struct priorities *all, uint32_t job_count, struct arena *arena)
{
    struct rows_by_job groups = {arena_alloc(arena, (job_count + (size_t)2) * sizeof *groups.first),
                                 arena_alloc(arena, (all->count + (size_t)1) * sizeof *groups.rows)};
    for (uint32_t i = 0; i < all->count; i++) groups.first[all->rows[i].job + 2]++;
    for (uint32_t j = 2; j <= job_count; j++) groups.first[j] += groups.first[j - 1];
    for (uint32_t i = 0; i < all->count; i++) groups.rows[groups.first[all->rows[i].job + 1]++] = i;
    return groups;
}

void scenario_priorities(struct scenario *s, struct arena *arena, struct scenario_priorities *out_priorities)
{
    *out_priorities = (struct scenario_priorities){0};
    state_priorities(&s->state, s->now_us, NONE, arena, &out_priorities->all);
    struct priority_text *texts = priority_text_make_all(&s->state, &out_priorities->all, arena);
    out_priorities->texts = texts;
    uint32_t *rows = arena_alloc(arena, (out_priorities->all.count + (size_t)1) * sizeof *rows);
    out_priorities->rows = rows;
    if (!s->state.is_document) { /* the rows of an instance, in its order */
        for (uint32_t i = 0; i < out_priorities->all.count; i++) rows[i] = i;
        out_priorities->count = out_priorities->all.count;
        return;
    }
    for (uint32_t i = 0; i < out_priorities->all.count; i++)
        texts[i].id = NULL; /* the row of an array is that of its first task, with the id of the array */
    struct rows_by_job groups = group_rows(&out_priorities->all, s->state.jobs.count, arena);
    bool wants_partitions = out_priorities->all.model == MODEL_MULTIFACTOR;
    for (uint32_t i = 0; i < s->job_count; i++) {
        uint32_t first = groups.first[s->jobs[i]], end = groups.first[s->jobs[i] + 1];
        if (!wants_partitions && end > first) end = first + 1;
        for (uint32_t k = first; k < end; k++) rows[out_priorities->count++] = groups.rows[k];
    }
}

void scenario_priority_row(const struct scenario_priorities *p, uint32_t i, struct priority_record *out_record)
{
    ensure(i < p->count);
    priority_values_make(&p->all, p->texts, p->rows[i], out_record);
}

/* --- schedule ----------------------------------------------------------------------------------------------------- */

int scenario_schedule(struct scenario *s, const char *name, struct schedule *out_schedule, struct err *e)
{
    return schedule_make(&s->state, s->now_us, SCHEDULE_WITHOUT_ESTIMATES, out_schedule, e) == 0
               ? 0
               : err_prefix(e, "%s", name);
}

int scenario_why(struct scenario *s, const char *name, uint32_t job_id, enum wait_question question,
                 struct arena *arena, struct wait_sentences *out_sentences, struct err *e)
{
    char id[JOB_ID_TEXT_SIZE];
    uint32_t job = state_find_job(&s->state, job_id);
    job_id_format(id, job_id, NONE);
    int status = -1;
    if (job == NONE)
        (void)err_not_found(e, "job", str(id));
    else if (idset_first(&s->state.jobs.items[job].pending) == NONE)
        (void)err_subject(e, ERR_CONFLICT, "job", str(id), "does not wait");
    else
        status = wait_answer_make(&s->state, job, question, 0, s->now_us, arena, out_sentences, e);
    return status == 0 ? 0 : err_prefix(e, "%s", name);
}

uint32_t scenario_partition_waits(const struct scenario *s, uint32_t job_id, struct arena *arena,
                                  const char ***out_sentences)
{
    uint32_t job = state_find_job(&s->state, job_id);
    ensure(job != NONE);
    return partition_waits_list(&s->state, &s->state.jobs.items[job], s->now_us, arena, out_sentences);
}

/* --- shares ------------------------------------------------------------------------------------------------------- */

void scenario_quota_usage(const struct schedule *schedule, const char *user, struct arena *arena,
                          struct quota_usage *out)
{
    quota_usage_list(schedule, user, arena, out);
}

void scenario_shares(struct scenario *s, const struct share_options *options, struct arena *arena,
                     struct share_table *out_table)
{
    state_share_table(&s->state, s->now_us, options, arena, out_table);
}

/* The account above an account, or above the account of a user. */
static const char *parent_account(const struct state *s, const struct assoc *a)
{
    if (a->user != NULL) a = &s->assocs.items[a->parent];
    return a->parent != NONE ? s->assocs.items[a->parent].account : NULL;
}

void scenario_share_row(const struct scenario *s, const struct share_table *table, uint32_t i,
                        struct share_values *out_row)
{
    ensure(i < s->association_count);
    const struct state *state = &s->state;
    uint32_t index = s->associations[i], node = state->node_of.items[index];
    const struct assoc *a = &state->assocs.items[index];
    struct field_value *value = out_row->value;
    for (uint32_t f = 0; f < SHARE_FIELD_COUNT; f++) value[f] = field_absent();
    value[SHARE_FIELD_ACCOUNT] = field_text(a->account);
    value[SHARE_FIELD_USER] = field_text(a->user);
    value[SHARE_FIELD_PARTITION] = field_text(a->partition);
    value[SHARE_FIELD_PARENT_ACCOUNT] = field_text(parent_account(state, a));
    value[SHARE_FIELD_DEPTH] = field_number(state->tree.depth[node]);
    if (index != 0) value[SHARE_FIELD_RAW_SHARES] = share_values_shares(a->shares);
    share_values_set_numbers(out_row, table, node);
}
