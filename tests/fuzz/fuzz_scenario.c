/* Scenarios of arbitrary bytes. An accepted scenario refers only to things that it has, and every model and algorithm
 * gives finite numbers for it. The error of a refused one is one line that begins with the document's name. */
#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "sim/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TICKET_TASKS_MAX = 10000 }; /* with more, the tickets model is left out: it takes too long */

static void check_tree(struct scenario *s)
{
    const struct tree *t = state_tree(&s->state);
    ensure(t->count <= s->association_count + 1);
    for (uint32_t i = 0; i < s->association_count; i++) {
        const struct assoc *a = &s->state.assocs.items[s->associations[i]];
        uint32_t node = s->state.node_of.items[s->associations[i]];
        ensure(node < t->count && t->is_user[node] == (a->user != NULL) && a->usage >= 0.0);
    }
}

static void check_jobs(const struct scenario *s)
{
    const struct state *state = &s->state;
    for (uint32_t i = 0; i < s->job_count; i++) {
        const struct job *j = &state->jobs.items[s->jobs[i]];
        ensure(i == 0 || scenario_has_job(s, j->id));
        ensure(j->partition_count > 0 && j->document->slots > 0 && j->document->slots <= j->slots_max);
        ensure(j->document->rank < s->job_count && j->assoc < state->assocs.count);
        const struct tres_list *tres = &j->document->tres;
        for (uint32_t t = 0; t < tres->count; t++) {
            ensure(tres->items[t].tres < state->policy.tres.count && tres->items[t].amount > 0.0);
            ensure(t == 0 || tres->items[t - 1].tres < tres->items[t].tres);
        }
    }
}

static bool is_small(const struct scenario *s)
{
    uint64_t tasks = s->state.tasks.count;
    for (uint32_t i = 0; i < s->job_count; i++) tasks += idset_count(&s->state.jobs.items[i].pending);
    return tasks <= TICKET_TASKS_MAX;
}

static void check_row(const struct scenario_priorities *all, uint32_t i)
{
    struct priority_record record;
    const struct field_value *value = record.value;
    scenario_priority_row(all, i, &record);
    bool is_suspended = value[PRIORITY_FIELD_STATE].number == JOB_SUSPENDED && all->all.model == MODEL_TICKETS;
    if (is_suspended && value[PRIORITY_FIELD_PRIORITY].number == FIELD_ABSENT) { /* by hand: it has no values */
        ensure(value[PRIORITY_FIELD_TICKETS].number == FIELD_ABSENT && isfinite(value[PRIORITY_FIELD_BILLING].real));
        return;
    }
    ensure(isfinite(value[PRIORITY_FIELD_PRIORITY].real) && isfinite(value[PRIORITY_FIELD_BILLING].real));
    if (all->all.model == MODEL_MULTIFACTOR) {
        double factor = value[PRIORITY_FIELD_FAIR_SHARE_FACTOR].real;
        ensure(factor >= 0.0 && factor <= 1.0 && isfinite(value[PRIORITY_FIELD_TRES].real));
    }
    if (all->all.model == MODEL_TICKETS) {
        double norm = value[PRIORITY_FIELD_NORM_TICKETS].real;
        ensure(value[PRIORITY_FIELD_TICKETS].real >= 0.0 && isfinite(value[PRIORITY_FIELD_TICKETS].real));
        ensure(norm >= 0.0 && norm <= 1.0 && isfinite(value[PRIORITY_FIELD_URGENCY].real));
    }
}

static void check_priorities(struct scenario *s, struct arena *arena)
{
    for (int model = 0; model < MODEL_COUNT; model++) {
        struct scenario_priorities all;
        if (model == MODEL_TICKETS && !is_small(s)) continue;
        s->state.policy.model = (enum priority_model)model;
        scenario_priorities(s, arena, &all);
        for (uint32_t i = 0; i < all.count; i++) check_row(&all, i);
    }
}

static void check_shares(struct scenario *s, struct arena *arena)
{
    for (int a = 0; a < ALGORITHM_COUNT; a++) {
        struct share_options options = s->state.policy.share;
        struct share_table table;
        struct share_values row;
        options.algorithm = (enum share_algorithm)a;
        scenario_shares(s, &options, arena, &table);
        ensure(table.count == s->state.tree.count && isfinite(table.raw_usage[0]));
        for (uint32_t i = 0; i < s->association_count; i++) scenario_share_row(s, &table, i, &row);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct scenario s;
    struct err e = {0};
    if (scenario_read((struct str){(const char *)data, size}, "f", &s, &e) == 0) {
        check_tree(&s);
        check_jobs(&s);
        check_priorities(&s, &arena);
        check_shares(&s, &arena);
    } else {
        ensure(e.code == ERR_INPUT && strncmp(ERR_SENTENCE(&e), "f:", 2) == 0 && strlen(ERR_SENTENCE(&e)) > 4);
    }
    scenario_release(&s);
    arena_release(&arena);
    return 0;
}
