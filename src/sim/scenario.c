/* What is asked of a scenario: the engine answers, and its rows are put into the order of the document. */
#include "sim/scenario.h"

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

/* Rows by job: rows of job j are of[first[j]] up to of[first[j + 1]], in the engine's order. */
struct rows_of_jobs {
    uint32_t *first, *of;
};

static struct rows_of_jobs group_rows(const struct priorities *all, uint32_t job_count, struct arena *arena)
{
    struct rows_of_jobs g = {arena_alloc(arena, (job_count + (size_t)2) * sizeof *g.first),
                             arena_alloc(arena, (all->count + (size_t)1) * sizeof *g.of)};
    for (uint32_t i = 0; i < all->count; i++) g.first[all->rows[i].job + 2]++;
    for (uint32_t j = 2; j <= job_count; j++) g.first[j] += g.first[j - 1];
    for (uint32_t i = 0; i < all->count; i++) g.of[g.first[all->rows[i].job + 1]++] = i;
    return g;
}

void scenario_priorities(struct scenario *s, struct arena *arena, struct scenario_priorities *out)
{
    *out = (struct scenario_priorities){0};
    state_priorities(&s->state, s->now_us, NONE, arena, &out->all);
    struct priority_text *texts = priority_text_make_all(&s->state, &out->all, arena);
    for (uint32_t i = 0; i < out->all.count; i++)
        texts[i].id = NULL; /* an array has its first task's row, under its number */
    out->texts = texts;
    uint32_t *rows = arena_alloc(arena, (out->all.count + (size_t)1) * sizeof *rows);
    struct rows_of_jobs g = group_rows(&out->all, s->state.jobs.count, arena);
    bool wants_partitions = out->all.model == MODEL_MULTIFACTOR;
    for (uint32_t i = 0; i < s->job_count; i++) {
        uint32_t first = g.first[s->jobs[i]], end = g.first[s->jobs[i] + 1];
        if (!wants_partitions && end > first) end = first + 1;
        for (uint32_t k = first; k < end; k++) rows[out->count++] = g.of[k];
    }
    out->rows = rows;
}

void scenario_priority_row(const struct scenario_priorities *p, uint32_t row, struct priority_record *out_record)
{
    priority_values_make(&p->all, p->texts, p->rows[row], out_record);
}

/* --- shares ------------------------------------------------------------------------------------------------------- */

void scenario_shares(struct scenario *s, const struct share_options *options, struct arena *arena,
                     struct share_table *out_table)
{
    s->state.policy.share = *options;
    state_share_table(&s->state, s->now_us, NULL, arena, out_table);
}

/* The account above an account; a user has that of the user's account. */
static const char *parent_account(const struct state *s, const struct assoc *a)
{
    if (a->user != NULL) a = &s->assocs.items[a->parent];
    return a->parent != NONE ? s->assocs.items[a->parent].account : NULL;
}

void scenario_share_row(const struct scenario *s, const struct share_table *table, uint32_t i,
                        struct share_values *out_row)
{
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
