#include "daemon/use_account.h"

#include "base/quantity.h"
#include "base/saturate.h"

void use_sample_add(struct use_sample *s, const struct process_sample *process)
{
    if (process->pid <= 0) return;
    map_set_u64(&s->index_by_pid, (uint64_t)process->pid, s->list.count);
    *array_add(&s->list) = *process;
}

void use_sample_clear(struct use_sample *s)
{
    array_clear(&s->list);
    map_clear(&s->index_by_pid);
    s->end = (struct process_sample_end){0};
}

void use_sample_release(struct use_sample *s)
{
    array_release(&s->list);
    map_release(&s->index_by_pid);
}

const struct process_sample *use_sample_find(const struct use_sample *s, int32_t pid)
{
    uint32_t index = pid > 0 ? map_get_u64(&s->index_by_pid, (uint64_t)pid) : NONE;
    return index != NONE ? &s->list.items[index] : NULL;
}

/* The same process in another sample; NULL: it is not there. */
static const struct process_sample *find_same(const struct use_sample *s, const struct process_sample *p)
{
    const struct process_sample *found = use_sample_find(s, p->pid);
    return found != NULL && found->started_us == p->started_us ? found : NULL;
}

static bool is_same_part(const struct process_sample *a, const struct process_sample *b)
{
    return a->launch_id == b->launch_id && (a->launch_id != 0 || a->uid == b->uid);
}

static struct use_part *part_of(struct use_account *a, const struct process_sample *p)
{
    struct map *map = p->launch_id != 0 ? &a->launches : &a->outside;
    uint64_t key = p->launch_id != 0 ? p->launch_id : p->uid;
    uint32_t index = map_get_u64(map, key);
    if (index == NONE) {
        index = a->parts.count;
        map_set_u64(map, key, index);
        *array_add(&a->parts) = (struct use_part){.launch_id = p->launch_id, .uid = p->uid};
    }
    if (a->parts.items[index].uid == 0) a->parts.items[index].uid = p->uid;
    return &a->parts.items[index];
}

static double total_us(const struct process_sample *p)
{
    return (double)p->cpu_us + (double)p->children_cpu_us;
}

static void add_process(struct use_account *a, const struct use_sample *before, int64_t before_us,
                        const struct process_sample *p)
{
    const struct process_sample *earlier = find_same(before, p);
    bool is_new = earlier == NULL && p->started_us >= before_us;
    struct use_part *part = part_of(a, p);
    double own_us = earlier != NULL ? (double)p->cpu_us - (double)earlier->cpu_us : is_new ? (double)p->cpu_us : 0.0;
    if (is_new) part->cpus += total_us(p);
    if (earlier != NULL && is_same_part(earlier, p)) part->cpus += total_us(p) - total_us(earlier);
    part->mem_kib = saturate_add(part->mem_kib, p->mem_kib);
    part->gpus |= p->gpus;
    part->process_count++;
    part->is_low |= p->is_low;
    *array_add(&a->cpus) = own_us > 0.0 ? own_us : 0.0;
}

/* The ancestor that may have waited for a process that is gone: the nearest one that is still there. NULL: none, or of
 * another part. */
static const struct process_sample *find_heir(const struct use_sample *before, const struct use_sample *now,
                                              const struct process_sample *gone)
{
    const struct process_sample *p = gone;
    for (uint32_t steps = 0; steps <= before->list.count; steps++) { /* pids that were given again can make circles */
        p = use_sample_find(before, p->parent);
        if (p == NULL || !is_same_part(p, gone)) return NULL;
        const struct process_sample *later = find_same(now, p);
        if (later != NULL) return is_same_part(later, gone) ? later : NULL;
    }
    return NULL;
}

static void take_back_gone(struct use_account *a, const struct use_sample *before, const struct use_sample *now)
{
    for (uint32_t i = 0; i < before->list.count; i++) {
        const struct process_sample *gone = &before->list.items[i];
        if (find_same(now, gone) != NULL) continue;
        const struct process_sample *heir = find_heir(before, now, gone);
        if (heir != NULL) part_of(a, heir)->cpus -= total_us(gone);
    }
}

void use_account_make(const struct use_sample *before, const struct use_sample *now, struct use_account *out)
{
    int64_t interval_us = now->end.at_us - before->end.at_us;
    double us = interval_us > 0 ? (double)interval_us : 1.0;
    *out = (struct use_account){.interval_s = us / (double)US_PER_S};
    for (uint32_t i = 0; i < now->list.count; i++) add_process(out, before, before->end.at_us, &now->list.items[i]);
    take_back_gone(out, before, now);
    for (uint32_t i = 0; i < out->cpus.count; i++) out->cpus.items[i] /= us;
    for (uint32_t i = 0; i < out->parts.count; i++) {
        struct use_part *part = &out->parts.items[i];
        part->cpus = part->cpus > 0.0 ? part->cpus / us : 0.0;
    }
}

void use_account_release(struct use_account *a)
{
    array_release(&a->parts);
    array_release(&a->cpus);
    map_release(&a->outside);
    map_release(&a->launches);
}
