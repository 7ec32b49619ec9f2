#include "engine/job_places.h"

#include "base/ensure.h"
#include "engine/job_demand.h"
#include "engine/job_members.h"
#include "engine/never_runs.h"
#include "engine/queue_list.h"

static const char *list_of(const struct job *row, enum job_field f)
{
    const struct job_placing *p = row->placing;
    if (p == NULL) return NULL;
    return f == JOB_FIELD_QUEUES ? p->queues : f == JOB_FIELD_MASTER_QUEUES ? p->master_queues : p->soft_queues;
}

int job_places_check_names(struct apply_context *c, const struct job *row, enum job_field f)
{
    const char *list = list_of(row, f);
    return list == NULL ? 0 : queue_list_check(c->s, list, job_field_at(f)->name, c->e);
}

void job_places_set_partitions(struct apply_context *c, struct job *row)
{
    const struct state *s = c->s;
    const char *queues = list_of(row, JOB_FIELD_QUEUES);
    if (queues == NULL) return;
    row->partitions = arena_alloc(&c->s->cycle, s->objects[OBJECT_PARTITION].count * sizeof *row->partitions);
    row->partition_count = queue_list_partitions(s, queues, row->partitions);
    ensure(row->partition_count > 0); /* job_places_check_names */
}

/* --- whether it could run ----------------------------------------------------------------------------------------- */

/* Why the slots of the row find no place when nothing else runs; NULL: they find one. */
static const char *why_never(const struct never_runs *never, struct job_demands *demands, const struct job *row)
{
    struct job any_user = *row; /* lists of users do not count, because they change */
    any_user.assoc = 0;
    struct demand only_slots = *job_demand(demands, &any_user, NONE);
    only_slots.need_count = 0; /* what else it asks for may come with another host */
    return never_runs_why(never, &only_slots, demands->arena);
}

/* Without its master queues, the queues are at fault, or its parallel environment. */
static const char *why_at_fault(const struct never_runs *never, struct job_demands *demands, const struct job *row,
                                enum job_field *out_field)
{
    struct job any_master = *row;
    struct job_placing placing;
    if (row->placing != NULL) {
        placing = *row->placing;
        placing.master_queues = NULL;
        any_master.placing = &placing;
    }
    *out_field = row->environment != NONE ? JOB_FIELD_ENVIRONMENT : JOB_FIELD_QUEUES;
    const char *why = why_never(never, demands, &any_master);
    if (why != NULL) return why;
    *out_field = JOB_FIELD_MASTER_QUEUES;
    return why_never(never, demands, row);
}

int job_places_check(struct apply_context *c, const struct job *row)
{
    struct never_runs never;
    struct job_demands demands;
    enum job_field f;
    if (row->environment == NONE && row->placing == NULL) return 0;
    never_runs_begin(&never, c->s);
    job_demands_begin(&demands, c->s, &never.empty, &c->s->cycle);
    const char *why = why_at_fault(&never, &demands, row, &f);
    job_demands_end(&demands);
    never_runs_end(&never);
    if (why == NULL) return 0;
    const char *value = job_member(c->s, row, f, &c->s->cycle).text;
    return err_value_reason(c->e, job_field_at(f)->name, str(value), "%s", why);
}

/* --- the order of its partitions ---------------------------------------------------------------------------------- */

static uint32_t violations_in(const struct cluster_model *m, const struct demand *d, uint32_t partition)
{
    uint32_t instance = cluster_model_instance(m, partition, 0);
    return instance == NONE ? UINT32_MAX : place_violations(&m->cluster, d, instance);
}

void job_places_sort_partitions(struct apply_context *c, struct job *row)
{
    const struct job_placing *p = row->placing;
    struct cluster_model model;
    struct job_demands demands;
    struct arena *cycle = &c->s->cycle;
    if (row->partition_count < 2 || p == NULL || (p->soft_count == 0 && p->soft_queues == NULL)) return;
    uint32_t *sorted = arena_alloc(cycle, row->partition_count * sizeof *sorted);
    uint32_t *violations = arena_alloc(cycle, row->partition_count * sizeof *violations);
    ensure(cluster_model_make(c->s, &model, NULL) == 0); /* objects and settings are checked by it */
    job_demands_begin(&demands, c->s, &model, cycle);
    const struct demand *d = job_demand(&demands, row, NONE);
    for (uint32_t i = 0; i < row->partition_count; i++) {
        uint32_t own = violations_in(&model, d, row->partitions[i]), at = i;
        for (; at > 0 && violations[at - 1] > own; at--) {
            sorted[at] = sorted[at - 1];
            violations[at] = violations[at - 1];
        }
        sorted[at] = row->partitions[i];
        violations[at] = own;
    }
    row->partitions = sorted;
    job_demands_end(&demands);
    cluster_model_release(&model);
}
