/* Scenarios of arbitrary bytes. What is accepted refers only to what is there, and every model answers it with numbers; what
 * is refused says so in one line that begins with the document's name. */
#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "sim/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TASKS_ASKED = 10000 };

static void check_tree(const struct scenario *s)
{
    ensure(s->tree.count <= s->associations.count + 1);
    for (uint32_t i = 0; i < s->associations.count; i++) {
        const struct scenario_association *row = &s->associations.items[i];
        ensure(row->node < s->tree.count && s->row_of_node[row->node] == i);
        ensure(row->depth == s->tree.depth[row->node] && s->tree.is_user[row->node] == (row->user != NULL));
        ensure(row->usage >= 0.0 && s->priority_of_node[row->node] >= 0);
    }
}

static void check_jobs(const struct scenario *s)
{
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct scenario_job *job = &s->jobs.items[i];
        ensure(map_get_u64(&s->job_ids, job->id) == i);
        ensure(job->partition_count > 0 && job->slots_min > 0 && job->slots_min <= job->slots_max);
        for (uint32_t p = 0; p < job->partition_count; p++) ensure(job->partitions[p] < s->partitions.count);
        ensure(job->member == NONE || job->member < s->users.count);
        ensure(job->project == NONE || job->project < s->projects.count);
        ensure(job->qos == NONE || job->qos < s->qos.count);
        for (uint32_t t = 0; t < job->tres.count; t++) {
            ensure(job->tres.items[t].tres < s->policy.tres.count && job->tres.items[t].amount > 0.0);
            ensure(t == 0 || job->tres.items[t - 1].tres < job->tres.items[t].tres);
        }
    }
}

static void ask_multifactor(const struct scenario *s, struct arena *arena)
{
    struct multifactor_answer answer;
    uint32_t *priorities;
    answer_multifactor(s, arena, &answer);
    for (uint32_t i = 0; i < answer.rows.count; i++) {
        const struct multifactor_row *row = &answer.rows.items[i];
        ensure(isfinite(row->terms.sum) && isfinite(row->billing));
        ensure(row->factors.fair_share >= 0.0 && row->factors.fair_share <= 1.0);
    }
    array_release(&answer.rows);
    answer_basic(s, arena, &priorities);
}

static void ask_tickets(const struct scenario *s, struct arena *arena)
{
    struct ticket_row *rows;
    struct err e = {0};
    uint64_t tasks = 0;
    for (uint32_t i = 0; i < s->jobs.count; i++) tasks += s->jobs.items[i].array_tasks;
    if (tasks > TASKS_ASKED) return;
    ensure(answer_tickets(s, arena, &rows, &e) == 0);
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        ensure(isfinite(rows[i].tickets.total) && rows[i].tickets.total >= 0.0);
        ensure(isfinite(rows[i].urgency.sum) && isfinite(rows[i].prior));
        ensure(rows[i].norm_tickets >= 0.0 && rows[i].norm_tickets <= 1.0);
    }
}

static void ask_shares(const struct scenario *s, struct arena *arena)
{
    for (int a = 0; a < ALGORITHM_COUNT; a++) {
        struct share_options options = s->policy.share;
        struct share_table table;
        options.algorithm = (enum share_algorithm)a;
        answer_shares(s, &options, arena, &table);
        ensure(table.count == s->tree.count && isfinite(table.raw_usage[0]));
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
        ask_multifactor(&s, &arena);
        ask_tickets(&s, &arena);
        ask_shares(&s, &arena);
    } else {
        ensure(e.code == ERR_INPUT && strncmp(ERR_SENTENCE(&e), "f:", 2) == 0 && strlen(ERR_SENTENCE(&e)) > 4);
    }
    scenario_release(&s);
    arena_release(&arena);
    return 0;
}
