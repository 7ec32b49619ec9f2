#include "engine/job_admission.h"

#include "base/ensure.h"
#include "base/quantity.h"
#include "engine/assoc_limits.h"
#include "engine/job_members.h"
#include "engine/never_runs.h"
#include "fields/host_text.h"

/* "4G of memory", "2 GPUs"; without its unit "4G", "2" */
static void format_amount(char out[static 48], enum job_field f, uint64_t amount, bool has_unit)
{
    bool is_memory = f == JOB_FIELD_MEM_PER_CPU || f == JOB_FIELD_MEM_MIB;
    size_t length = is_memory ? memory_format(out, amount) : text_format(out, 24, "%llu", (unsigned long long)amount);
    if (has_unit) text_format(out + length, 16, is_memory ? " of memory" : amount == 1 ? " GPU" : " GPUs");
}

static const char *largest_host(const struct state *s)
{
    return s->host_sums.attached > 1 ? "the largest host's" : "the host's";
}

uint32_t job_admission_min_slots(const struct state *s, const struct job *row)
{
    const struct job_placing *p = row->placing;
    uint32_t slots = row->request.cpus;
    if (row->environment == NONE && p == NULL) return slots;
    if (row->environment != NONE) {
        const struct object *o = &s->objects[OBJECT_ENVIRONMENT].items[row->environment].object;
        const char *text = o->value[ENVIRONMENT_ALLOCATION_RULE].text;
        enum rule_text rule;
        uint32_t each;
        ensure(host_text_allocation_rule(str(text), "allocation_rule", &rule, &each, NULL) == 0);
        if (rule != RULE_FIXED) each = rule == RULE_PE_SLOTS ? slots : 1;
        return each < slots ? each : slots;
    }
    if (p->slots_per_node > 0) return p->slots_per_node < slots ? p->slots_per_node : slots;
    return p->node_max > 1 ? (slots - 1) / p->node_max + 1 : slots;
}

/* ERR_TOO_LARGE for what each of the slots takes that a host has at least; 0 for what all take together. */
static int check_each(struct apply_context *c, enum job_field f, uint64_t each, const struct job *row, uint64_t has)
{
    char one[48], all[48], host[48];
    uint32_t slots = job_admission_min_slots(c->s, row);
    const char *where = slots < row->request.cpus ? " on a host" : "", *whose = largest_host(c->s);
    if (each == 0 || each <= has / slots) return 0;
    format_amount(one, f, each, false);
    format_amount(all, f, each * slots, false);
    format_amount(host, f, has, true);
    if (slots == 1) return err_field(c->e, ERR_TOO_LARGE, job_field_at(f)->name, "%s exceeds %s %s", one, whose, host);
    return err_field(c->e, ERR_TOO_LARGE, job_field_at(f)->name, "%s for each of %u slots%s is %s, which exceeds %s %s",
                     one, slots, where, all, whose, host);
}

int job_admission_set_amounts(struct apply_context *c, struct job *row)
{
    const struct capacity *has = &c->s->host_sums.largest;
    const struct job_placing *p = row->placing;
    if (p == NULL) return 0;
    if (check_each(c, JOB_FIELD_MEM_PER_CPU, p->mem_mib_per_cpu, row, has->mem_mib) != 0) return -1;
    if (check_each(c, JOB_FIELD_GPUS_PER_SLOT, p->gpus_per_slot, row, has->gpus) != 0) return -1;
    row->request = state_job_capacity(row, row->request.cpus);
    return 0;
}

/* The field that the CPUs come from. */
static enum job_field find_origin(const struct job_values *given)
{
    if (given->is_given[JOB_FIELD_CPUS]) return JOB_FIELD_CPUS;
    if (given->is_given[JOB_FIELD_SLOTS_PER_NODE]) return JOB_FIELD_SLOTS_PER_NODE;
    return given->is_given[JOB_FIELD_NODES] ? JOB_FIELD_NODES : JOB_FIELD_CPUS;
}

/* A job in a parallel environment, or on several nodes, may have several hosts. */
static int check_cpus(struct apply_context *c, const struct job *row, const struct job_values *given)
{
    const struct state *s = c->s;
    uint32_t cpus = row->request.cpus;
    bool is_spread = row->environment != NONE || (row->placing != NULL && row->placing->node_max > 1);
    uint64_t max = is_spread ? s->host_sums.cpus : s->host_sums.largest.cpus;
    const char *whose = s->host_sums.attached == 1 ? "the host's" : is_spread ? "all hosts'" : "the largest host's";
    if (cpus <= max) return 0;
    return err_exceeds(c->e, job_field_at(find_origin(given))->name, cpus, "%s %llu CPU%s", whose,
                       (unsigned long long)max, max == 1 ? "" : "s");
}

/* The memory or the GPUs that one host has to have. */
static int check_whole(struct apply_context *c, enum job_field f, uint64_t amount, uint64_t max)
{
    char asked[48], has[48];
    if (amount <= max) return 0;
    format_amount(asked, f, amount, false);
    format_amount(has, f, max, true);
    return err_field(c->e, ERR_TOO_LARGE, job_field_at(f)->name, "%s exceeds %s %s", asked, largest_host(c->s), has);
}

/* What each slot takes is checked by job_admission_set_amounts: several hosts share it. */
int job_admission_check_capacity(struct apply_context *c, const struct job *row, const struct job_values *given)
{
    const struct capacity *has = &c->s->host_sums.largest, *r = &row->request;
    const struct job_placing *p = row->placing;
    uint64_t mem_mib = p != NULL && p->mem_mib_per_cpu > 0 ? 0 : r->mem_mib;
    uint32_t gpus = p != NULL && p->gpus_per_slot > 0 ? 0 : r->gpus;
    if (check_cpus(c, row, given) != 0) return -1;
    if (check_whole(c, JOB_FIELD_MEM_MIB, mem_mib, has->mem_mib) != 0) return -1;
    return check_whole(c, JOB_FIELD_GPUS, gpus, has->gpus);
}

int job_admission_check_slots(struct apply_context *c, struct job *row)
{
    if (row->slots_max == row->request.cpus) row->slots_max = 0;
    if (row->slots_max == 0 || row->slots_max >= row->request.cpus) return 0;
    return err_number(c->e, job_field_at(JOB_FIELD_SLOTS_MAX)->name, row->slots_max,
                      "at least the minimum of the range, %u", row->request.cpus);
}

static uint64_t slots_of_nodes(const struct job_placing *p)
{
    return (p->node_min > 0 ? p->node_min : 1) * (uint64_t)(p->slots_per_node > 0 ? p->slots_per_node : 1);
}

void job_admission_set_cpus(struct job *row)
{
    uint64_t slots = row->placing != NULL ? slots_of_nodes(row->placing) : 1;
    if (slots > row->request.cpus) row->request.cpus = slots < UINT32_MAX ? (uint32_t)slots : UINT32_MAX;
}

int job_admission_check_nodes(struct apply_context *c, const struct job *row)
{
    const struct job_placing *p = row->placing;
    uint32_t cpus = row->request.cpus;
    if (p == NULL || (p->node_max == 0 && p->slots_per_node == 0 && !p->is_exclusive)) return 0;
    enum job_field f = p->is_exclusive   ? JOB_FIELD_EXCLUSIVE
                       : p->node_max > 0 ? JOB_FIELD_NODES
                                         : JOB_FIELD_SLOTS_PER_NODE;
    const char *name = job_field_at(f)->name;
    if (row->environment != NONE)
        return err_field(c->e, ERR_INPUT, name, "the parallel environment '%s' distributes the slots; give only one",
                         c->s->objects[OBJECT_ENVIRONMENT].items[row->environment].object.name);
    if (slots_of_nodes(p) > cpus)
        return err_field(
            c->e, ERR_INPUT, job_field_at(p->node_max > 0 ? JOB_FIELD_NODES : JOB_FIELD_SLOTS_PER_NODE)->name,
            "%llu slots are the minimum, and the job asks for %u", (unsigned long long)slots_of_nodes(p), cpus);
    if (row->slots_max > 0 || p->slots_per_node == 0 || cpus % p->slots_per_node == 0) return 0;
    return err_number(c->e, job_field_at(JOB_FIELD_SLOTS_PER_NODE)->name, p->slots_per_node,
                      "a divisor of the job's %u slots", cpus);
}

int job_admission_check_amounts(struct apply_context *c, const struct job *row)
{
    const struct state *s = c->s;
    for (uint32_t i = 0; i < row->request_count; i++) {
        const struct job_request *r = &row->requests[i];
        const struct object *o = &s->objects[OBJECT_RESOURCE].items[r->resource].object;
        int64_t has = o->value[RESOURCE_AMOUNT].number;
        if (has == FIELD_SPECIAL || resource_type_is_text((enum resource_type)o->value[RESOURCE_TYPE].number)) continue;
        enum resource_consumable consumable = (enum resource_consumable)o->value[RESOURCE_CONSUMABLE].number;
        double taken = consumable == CONSUMABLE_JOB ? r->amount : r->amount * row->request.cpus;
        if (consumable == CONSUMABLE_NO || taken <= (double)has * (1 + 1e-9)) continue;
        if (consumable == CONSUMABLE_JOB || row->request.cpus == 1)
            return err_subject(c->e, ERR_TOO_LARGE, "resource", str(o->name),
                               "has an amount of %lld; a job with %s exceeds it", (long long)has, r->text);
        return err_subject(c->e, ERR_TOO_LARGE, "resource", str(o->name),
                           "has an amount of %lld; a job with %s per CPU and %u CPUs exceeds it", (long long)has,
                           r->text, row->request.cpus);
    }
    return 0;
}

/* --- limits of partitions ----------------------------------------------------------------------------------------- */

static enum enforce_part_limits enforced(const struct state *s)
{
    return (enum enforce_part_limits)setting_number(&s->settings, SET_ENFORCE_PART_LIMITS);
}

/* The field that a job gives what exceeds the limit with. */
static enum job_field field_of(const struct job *row, enum place_limit limit)
{
    switch (limit) {
    case LIMIT_MAX_NODES:
    case LIMIT_MIN_NODES: return JOB_FIELD_NODES;
    case LIMIT_MAX_TIME: return JOB_FIELD_TIME_LIMIT;
    case LIMIT_MAX_MEM_PER_NODE:
        return row->placing != NULL && row->placing->mem_mib_per_cpu > 0 ? JOB_FIELD_MEM_PER_CPU : JOB_FIELD_MEM_MIB;
    case LIMIT_QOS: return JOB_FIELD_QOS;
    default: return JOB_FIELD_PARTITIONS;
    }
}

/* "time_limit_s: '02:00:00' exceeds MaxTime of partition 'late': 01:00:00 (PartitionTimeLimit)" */
static int refuse_time(struct apply_context *c, const struct job *row, uint32_t partition)
{
    char limit[32], max[32];
    duration_format(limit, row->time_limit_s);
    duration_format(max, partition_limits_max_time_s(c->s, partition));
    const char *name = c->s->objects[OBJECT_PARTITION].items[partition].object.name;
    return err_value_reason(c->e, job_field_at(JOB_FIELD_TIME_LIMIT)->name, str(limit),
                            "exceeds MaxTime of partition '%s': %s (%s)", name, max,
                            pending_reason_name(PENDING_PARTITION_TIME_LIMIT));
}

static int refuse_in(struct apply_context *c, const struct job *row, uint32_t partition, enum place_limit limit)
{
    bool is_of_list = limit == LIMIT_ACCOUNTS || limit == LIMIT_QOS;
    enum err_code code = is_of_list ? ERR_INPUT : ERR_TOO_LARGE;
    struct buf text = {0};
    if (limit == LIMIT_MAX_TIME) {
        (void)refuse_time(c, row, partition);
        if (c->e != NULL) c->e->code = code;
        return -1;
    }
    partition_limits_text(c->s, row, partition, limit, &text);
    (void)err_field(c->e, code, job_field_at(field_of(row, limit))->name, "%s (%s)", text.text,
                    pending_reason_name(partition_limits_reason(limit)));
    buf_release(&text);
    return -1;
}

/* Whether the limit of a partition is nearer to the job than the one so far: it counts later, or it is a larger
 * MaxTime. */
static bool is_nearer(const struct state *s, enum place_limit limit, uint32_t partition, enum place_limit best,
                      uint32_t nearest)
{
    if (limit != best || nearest == NONE) return limit > best;
    return limit == LIMIT_MAX_TIME &&
           partition_limits_max_time_s(s, partition) > partition_limits_max_time_s(s, nearest);
}

/* A partition without hosts counts only if all are without. */
int job_admission_check_partitions(struct apply_context *c, const struct job *row)
{
    enum enforce_part_limits rule = enforced(c->s);
    const struct never_runs *never = never_runs_kept(c->s);
    enum place_limit best = LIMIT_PARTITION;
    uint32_t nearest = NONE;
    bool found_host = false, is_admitted = false;
    for (uint32_t i = 0; i < row->partition_count && rule != PART_LIMITS_NO; i++) {
        uint32_t p = row->partitions[i];
        enum place_limit limit = partition_limits_find(c->s, row, p);
        if (limit != LIMIT_NONE && rule == PART_LIMITS_ALL) return refuse_in(c, row, p, limit);
        bool has_host = never_runs_has_host(never, p), is_first_host = has_host && !found_host;
        if (!is_first_host && has_host != found_host) continue;
        if (is_first_host) is_admitted = false;
        is_admitted |= limit == LIMIT_NONE;
        if (is_first_host || is_nearer(c->s, limit, p, best, nearest)) {
            best = limit;
            nearest = p;
        }
        found_host |= has_host;
    }
    return is_admitted || nearest == NONE ? 0 : refuse_in(c, row, nearest, best);
}

static bool accepts_jobs(const struct state *s, uint32_t partition)
{
    enum partition_state state = partition_limits_state(s, partition);
    return state == PARTITION_IS_UP || state == PARTITION_IS_DOWN;
}

int job_admission_check_states(struct apply_context *c, struct job *row)
{
    const struct state *s = c->s;
    uint32_t *accepting = arena_alloc(&c->s->cycle, row->partition_count * sizeof *accepting), count = 0, other = NONE;
    for (uint32_t i = 0; i < row->partition_count; i++) {
        if (accepts_jobs(s, row->partitions[i]))
            accepting[count++] = row->partitions[i];
        else if (other == NONE)
            other = row->partitions[i];
    }
    if (other == NONE) return 0;
    if (count == 0 || enforced(s) == PART_LIMITS_ALL) {
        bool is_drained = partition_limits_state(s, other) == PARTITION_IS_DRAINED;
        return err_field(c->e, ERR_CONFLICT, job_field_at(JOB_FIELD_PARTITIONS)->name,
                         "partition '%s' accepts no new jobs: its state is %s",
                         s->objects[OBJECT_PARTITION].items[other].object.name, is_drained ? "DRAIN" : "INACTIVE");
    }
    row->partitions = accepting;
    row->partition_count = count;
    return 0;
}

void job_admission_set_default_time(const struct state *s, struct job *row)
{
    row->lacks_time_limit = true;
    row->has_default_time = true;
    row->time_limit_s = partition_limits_time_s(s, row, row->partitions[0]);
    for (uint32_t i = 1; row->is_array && i < row->partition_count; i++) {
        int64_t time_s = partition_limits_time_s(s, row, row->partitions[i]);
        if (time_s < row->time_limit_s) row->time_limit_s = time_s;
    }
    row->has_default_time = !row->is_array && row->partition_count > 1;
}

int job_admission_set_default_memory(struct apply_context *c, const struct job_values *given, struct job *row)
{
    const struct object *first = &c->s->objects[OBJECT_PARTITION].items[row->partitions[0]].object;
    int64_t each = first->value[PARTITION_DEF_MEM_PER_CPU].number;
    const struct field_value value = field_number(each);
    if (given->is_given[JOB_FIELD_MEM_MIB] || given->is_given[JOB_FIELD_MEM_PER_CPU] || each == FIELD_SPECIAL) return 0;
    return job_member_set(c->s, row, JOB_FIELD_MEM_PER_CPU, &value, &c->s->cycle, c->e);
}

int job_admission_check_qos(struct apply_context *c, uint32_t qos, uint32_t assoc)
{
    if (!assoc_limits_refuse_qos(c->s, assoc, qos)) return 0;
    struct buf text = {0};
    assoc_limits_refusal(c->s, assoc, qos, &text);
    (void)err_field(c->e, ERR_INPUT, job_field_at(JOB_FIELD_QOS)->name, "%s", text.text);
    buf_release(&text);
    return -1;
}
