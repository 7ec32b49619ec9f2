#include "engine/job_admission.h"

#include "base/quantity.h"
#include "engine/job_demand.h"
#include "engine/never_runs.h"

/* A job in a parallel environment may have several hosts. */
static int check_cpus(struct apply_context *c, const struct job *row, const char *name, uint32_t cpus)
{
    const struct state *s = c->s;
    bool is_spread = row->environment != NONE;
    uint64_t max = is_spread ? s->host_sums.cpus : s->host_sums.largest.cpus;
    const char *whose = s->host_sums.attached == 1 ? "the host's" : is_spread ? "all hosts'" : "the largest host's";
    return cpus <= max ? 0 : err_exceeds(c->e, name, cpus, "%s %llu CPUs", whose, (unsigned long long)max);
}

int job_admission_check_capacity(struct apply_context *c, const struct job *row)
{
    const struct capacity *has = &c->s->host_sums.largest, *r = &row->request;
    if (check_cpus(c, row, "cpus", r->cpus) != 0) return -1;
    if (r->mem_mib > has->mem_mib)
        return err_exceeds(c->e, "mem_mib", (int64_t)r->mem_mib, "the host's %llu MiB of memory",
                           (unsigned long long)has->mem_mib);
    return r->gpus <= has->gpus ? 0 : err_exceeds(c->e, "gpus", r->gpus, "the host's %u GPUs", has->gpus);
}

int job_admission_check_slots(struct apply_context *c, struct job *row)
{
    const char *name = job_field_at(JOB_FIELD_SLOTS_MAX)->name;
    if (row->slots_max == row->request.cpus) row->slots_max = 0;
    if (row->slots_max == 0) return 0;
    if (row->slots_max < row->request.cpus)
        return err_number(c->e, name, row->slots_max, "at least the minimum of the range, %u", row->request.cpus);
    return check_cpus(c, row, name, row->slots_max);
}

int job_admission_check_amounts(struct apply_context *c, const struct job *row)
{
    const struct state *s = c->s;
    for (uint32_t i = 0; i < row->request_count; i++) {
        const struct job_request *r = &row->requests[i];
        const struct object *o = &s->objects[OBJECT_RESOURCE].items[r->resource].object;
        int64_t has = o->value[RESOURCE_AMOUNT].number;
        if (has == FIELD_SPECIAL || resource_type_is_text((enum resource_type)o->value[RESOURCE_TYPE].number)) continue;
        if (r->amount * row->request.cpus <= (double)has * (1 + 1e-9)) continue;
        return err_subject(c->e, ERR_TOO_LARGE, "resource", str(o->name),
                           "has an amount of %lld; a job with %s per CPU and %u CPUs exceeds it", (long long)has,
                           r->text, row->request.cpus);
    }
    return 0;
}

int job_admission_check_environment(struct apply_context *c, const struct job *row)
{
    struct never_runs never;
    struct job_demands demands;
    struct arena *cycle = &c->s->cycle;
    if (row->environment == NONE) return 0;
    never_runs_begin(&never, c->s);
    job_demands_begin(&demands, c->s, &never.empty, cycle);
    struct demand only_slots = *job_demand(&demands, row, NONE);
    only_slots.need_count = 0; /* what else it asks for may come with another host */
    const char *why = never_runs_why(&never, &only_slots, cycle);
    job_demands_end(&demands);
    never_runs_end(&never);
    if (why == NULL) return 0;
    return err_value_reason(c->e, job_field_at(JOB_FIELD_ENVIRONMENT)->name,
                            str(c->s->objects[OBJECT_ENVIRONMENT].items[row->environment].object.name), "%s", why);
}

int64_t job_admission_max_time_s(const struct state *s, const struct job *row, uint32_t *out_partition)
{
    int64_t largest_s = 0;
    *out_partition = row->partitions[0];
    for (uint32_t i = 0; i < row->partition_count; i++) {
        const struct object_row *p = &s->objects[OBJECT_PARTITION].items[row->partitions[i]];
        int64_t max_s = p->object.value[PARTITION_MAX_TIME].number;
        if (max_s == FIELD_SPECIAL) max_s = INT64_MAX;
        if (max_s <= largest_s) continue;
        largest_s = max_s;
        *out_partition = row->partitions[i];
    }
    return largest_s;
}

int job_admission_check_time_limit(struct apply_context *c, const struct job *row)
{
    uint32_t partition;
    char limit[32], max[32];
    int64_t max_s = job_admission_max_time_s(c->s, row, &partition);
    if (row->time_limit_s <= max_s) return 0;
    duration_format(limit, row->time_limit_s);
    duration_format(max, max_s);
    const char *name = c->s->objects[OBJECT_PARTITION].items[partition].object.name;
    (void)err_value_reason(c->e, job_field_at(JOB_FIELD_TIME_LIMIT)->name, str(limit),
                           "exceeds MaxTime of partition '%s': %s", name, max);
    if (c->e != NULL) c->e->code = ERR_TOO_LARGE;
    return -1;
}
