/* Listings of the driver, which programs read. */
#include "limits_driver.h"

#include <stdio.h>

#include "base/text.h"
#include "engine/limit_size.h"
#include "engine/priorities.h"
#include "engine/wait_leaders.h"
#include "fields/pending_reason.h"

/* --- jobs --------------------------------------------------------------------------------------------------------- */

static const char *name_of(const struct state *s, enum object_kind kind, uint32_t index)
{
    return s->objects[kind].items[index].object.name;
}

static enum pending_reason reason_of(struct driver *d, const struct job *j, const double *factors)
{
    struct state *s = &d->s;
    if (j->is_held) return j->is_held_by_operator ? PENDING_HELD_BY_OPERATOR : PENDING_HELD_BY_USER;
    if (j->begin_us > d->now_us) return PENDING_BEGIN_TIME;
    enum pending_reason reason = job_pending_reason(s, j->id, factors[s->node_of.items[j->assoc]], d->now_us);
    if (reason != PENDING_NONE) return reason;
    return j->array_limit > 0 && j->live_tasks >= j->array_limit ? PENDING_ARRAY_TASK_LIMIT : PENDING_RESOURCES;
}

/* task: NONE of a plain job. */
static void begin_line(const struct job *j, uint32_t task, enum job_state state, const char *reason)
{
    printf("%u ", j->id);
    if (task == NONE)
        printf("-");
    else
        printf("%u", task);
    printf(" %s %s ", job_state_name(state), reason);
}

static void print_account(const struct state *s, const struct job *j)
{
    const struct assoc *a = &s->assocs.items[j->assoc];
    printf("%lld %s %s %s ", (long long)j->time_limit_s, a->account, a->user, name_of(s, OBJECT_QOS, j->qos));
}

static void print_waiting(struct driver *d, const struct job *j, uint32_t task, enum job_state state,
                          const char *reason)
{
    const struct limit_spread spread = limit_size_spread(&d->s, j, j->partitions[0]);
    begin_line(j, j->is_array ? task : NONE, state, reason);
    printf("%u %u ", j->request.cpus, limit_size_min(&spread, UINT32_MAX).hosts);
    print_account(&d->s, j);
    for (uint32_t i = 0; i < j->partition_count; i++)
        printf("%s%s", i > 0 ? "," : "", name_of(&d->s, OBJECT_PARTITION, j->partitions[i]));
    printf(" 0 0 -\n");
}

static void print_tasks(struct driver *d, const struct job *j, const struct idset *tasks, enum job_state state,
                        const char *reason)
{
    for (uint32_t task = idset_first(tasks); task != NONE; task = idset_next(tasks, task))
        print_waiting(d, j, task, state, reason);
}

static void print_task(struct driver *d, const struct job *j, const struct task *k)
{
    struct buf tres = {0};
    tres_list_format(&d->s.policy.tres, &k->tres, &tres);
    begin_line(j, j->is_array ? k->task_id : NONE, k->state, "-");
    printf("%u %u ", task_cpu_count(k), k->placement_count);
    print_account(&d->s, j);
    printf("%s %.17g %.17g %s\n", name_of(&d->s, OBJECT_PARTITION, k->partition), k->billing, k->usage_factor,
           tres.length > 0 ? tres.text : "-");
    buf_release(&tres);
}

void listing_jobs(struct driver *d)
{
    const double *factors = state_factors(&d->s, d->now_us, &d->arena);
    wait_leaders_update(&d->s, d->now_us, factors);
    for (uint32_t i = 0; i < d->s.jobs.count; i++) {
        const struct job *j = &d->s.jobs.items[i];
        if (idset_count(&j->pending) > 0)
            print_tasks(d, j, &j->pending, JOB_PENDING, pending_reason_name(reason_of(d, j, factors)));
        print_tasks(d, j, &j->cancelled, JOB_CANCELLED, "-");
        for (uint32_t k = 0; k < d->s.tasks.count; k++) {
            if (d->s.tasks.items[k].job_id == j->id) print_task(d, j, &d->s.tasks.items[k]);
        }
    }
}

void listing_starts(struct driver *d)
{
    for (uint32_t i = 0; i < d->starts.count; i++) {
        printf("%u ", d->starts.items[i].job_id);
        if (d->starts.items[i].task_id == NONE)
            printf("-\n");
        else
            printf("%u\n", d->starts.items[i].task_id);
    }
    array_clear(&d->starts);
}
