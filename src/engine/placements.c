#include "engine/placements.h"

#include <string.h>

#include "base/ensure.h"
#include "base/number.h"

uint32_t task_cpu_count(const struct task *k)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < k->placement_count; i++) count += idset_count(&k->placements[i].cpus);
    return count;
}

uint64_t task_mem_mib(const struct task *k)
{
    uint64_t mem_mib = 0;
    for (uint32_t i = 0; i < k->placement_count; i++) mem_mib += k->placements[i].mem_mib;
    return mem_mib;
}

/* --- taking and giving back --------------------------------------------------------------------------------------- */

void placements_take(struct state *s, uint32_t host, const struct capacity *granted, struct placement *out)
{
    ensure(host < s->hosts.count);
    host_take(&s->hosts.items[host].host, granted, out);
    out->host = host;
    s->free_cpu_count -= granted->cpus;
}

uint32_t placements_list_hosts(const struct task *k, uint32_t *out)
{
    uint32_t count = 0;
    struct idset seen = {0};
    for (uint32_t i = 0; i < k->placement_count; i++) {
        uint32_t host = k->placements[i].host;
        if (k->placement_count > 1 && !placements_add_host(&seen, host)) continue;
        if (out != NULL) out[count] = host;
        count++;
    }
    idset_release(&seen);
    return count;
}

bool placements_add_host(struct idset *seen, uint32_t host)
{
    if (idset_has(seen, host)) return false;
    idset_add(seen, host);
    return true;
}

void placements_give_back(struct state *s, const struct task *k)
{
    for (uint32_t i = 0; i < k->placement_count; i++) {
        struct host *host = &s->hosts.items[k->placements[i].host].host;
        uint32_t gpus = host->has.gpus;
        s->free_cpu_count -= host->free_cpu_count;
        host_give_back(host, &k->placements[i]);
        s->free_cpu_count += host->free_cpu_count;
        if (host->has.gpus != gpus) s->host_edition++; /* a withheld GPU was given back: plans have one less */
    }
}

void placements_release(struct task *k)
{
    for (uint32_t i = 0; i < k->placement_count; i++) placement_release(&k->placements[i]);
    mem_free(k->placements);
    k->placements = NULL;
    k->placement_count = 0;
}

/* --- what hosts have ---------------------------------------------------------------------------------------------- */

/* The settings of an instance are about its own machine. */
static void override_by_settings(const struct settings *set, struct capacity *has)
{
    int64_t cpus = setting_number(set, SET_HOST_CPUS), mem_mib = setting_number(set, SET_HOST_MEM_MIB);
    int64_t gpus = setting_number(set, SET_HOST_GPUS);
    if (cpus != SETTING_AUTO) has->cpus = (uint32_t)cpus;
    if (mem_mib != SETTING_AUTO) has->mem_mib = (uint64_t)mem_mib;
    if (gpus != SETTING_AUTO) has->gpus = (uint32_t)gpus;
}

static struct capacity capacity_of(const struct state *s, uint32_t index)
{
    const struct object_row *row = &s->objects[OBJECT_HOST].items[index];
    struct capacity has = s->hosts.items[index].detected;
    int64_t cpus = row->object.value[HOST_CPUS].number, mem_mib = row->object.value[HOST_MEM].number;
    if (!s->hosts.items[index].is_attached || row->is_deleted) return (struct capacity){0};
    if (index == LOCAL_HOST_INDEX) override_by_settings(&s->settings, &has);
    if (cpus != FIELD_SPECIAL) has.cpus = (uint32_t)cpus;
    if (mem_mib != FIELD_SPECIAL) has.mem_mib = (uint64_t)mem_mib;
    return has;
}

static void take_again(struct state *s, const struct task *k)
{
    for (uint32_t i = 0; i < k->placement_count; i++)
        host_take_again(&s->hosts.items[k->placements[i].host].host, &k->placements[i]);
}

static void add_up(struct state *s)
{
    struct capacity *largest = &s->host_sums.largest;
    memset(&s->host_sums, 0, sizeof s->host_sums);
    s->free_cpu_count = 0;
    for (uint32_t i = 0; i < s->hosts.count; i++) {
        const struct host_row *row = &s->hosts.items[i];
        const struct capacity *has = &row->host.has;
        s->host_sums.attached += row->is_attached;
        s->host_sums.cpus += has->cpus;
        s->free_cpu_count += row->host.free_cpu_count;
        if (has->cpus > largest->cpus) largest->cpus = has->cpus;
        if (has->mem_mib > largest->mem_mib) largest->mem_mib = has->mem_mib;
        if (row->host.gpu_count > largest->gpus) largest->gpus = row->host.gpu_count;
    }
}

static void drop_last_host(struct state *s)
{
    struct host_row *row = &s->hosts.items[--s->hosts.count];
    host_release(&row->host);
    idset_release(&row->withheld_gpus);
    arena_release(&row->load_arena);
}

void placements_rebuild(struct state *s)
{
    if (s->is_document) return;
    s->host_edition++;
    while (s->hosts.count > s->objects[OBJECT_HOST].count) drop_last_host(s);
    while (s->hosts.count < s->objects[OBJECT_HOST].count) {
        bool is_local = s->hosts.count == LOCAL_HOST_INDEX;
        *array_add(&s->hosts) = (struct host_row){.is_attached = is_local};
    }
    for (uint32_t i = 0; i < s->hosts.count; i++) {
        host_release(&s->hosts.items[i].host);
        host_init(&s->hosts.items[i].host, capacity_of(s, i), &s->hosts.items[i].withheld_gpus);
    }
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        if (!job_state_is_end(s->tasks.items[i].state)) take_again(s, &s->tasks.items[i]);
    }
    add_up(s);
    s->pass_is_due = true;
}

bool placements_use_host(const struct state *s, uint32_t host)
{
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        for (uint32_t p = 0; p < k->placement_count && !job_state_is_end(k->state); p++) {
            if (k->placements[p].host == host) return true;
        }
    }
    return false;
}

/* --- as texts ----------------------------------------------------------------------------------------------------- */

static const struct idset *numbers_of(const struct placement *p, enum job_field f)
{
    return f == JOB_FIELD_CPU_IDS ? &p->cpus : &p->gpus;
}

struct field_value placements_value(const struct state *s, const struct task *k, enum job_field f, struct arena *arena)
{
    struct buf text = {0};
    if (f == JOB_FIELD_TASK_MEM_MIB) return field_number((int64_t)task_mem_mib(k));
    if (f == JOB_FIELD_HOST_MEM_MIB && k->placement_count < 2) return field_absent();
    for (uint32_t i = 0; i < k->placement_count; i++) {
        const struct placement *p = &k->placements[i];
        if (i > 0) buf_add_char(&text, f == JOB_FIELD_HOSTS ? ',' : ';');
        if (f == JOB_FIELD_HOSTS)
            buf_add_text(&text, s->objects[OBJECT_HOST].items[p->host].object.name);
        else if (f == JOB_FIELD_HOST_MEM_MIB)
            buf_format(&text, "%llu", (unsigned long long)p->mem_mib);
        else
            idset_format(numbers_of(p, f), &text);
    }
    const char *copy = text.length > 0 ? arena_copy(arena, (struct str){text.text, text.length}) : "";
    buf_release(&text);
    return field_text(copy);
}

/* "n1,n2" */
static int set_hosts(const struct state *s, struct task *row, struct str text, struct err *e)
{
    placements_release(row);
    while (text.text != NULL) {
        struct str name = str_cut(text, ',', &text);
        uint32_t index = map_get(&s->object_by_name[OBJECT_HOST], name);
        if (index == NONE) return err_subject(e, ERR_NOT_FOUND, "host", name, "does not exist");
        row->placements = mem_resize(row->placements, row->placement_count * sizeof *row->placements,
                                     (row->placement_count + (size_t)1) * sizeof *row->placements);
        row->placements[row->placement_count++] = (struct placement){.host = index};
    }
    return 0;
}

/* One item for each host. */
static int set_each(struct task *row, enum job_field f, struct str text, struct err *e)
{
    const char *name = job_field_at(f)->name;
    struct str rest = text;
    for (uint32_t i = 0; i < row->placement_count; i++) {
        struct placement *p = &row->placements[i];
        if (rest.text == NULL) return err_value(e, name, text, "an item for each of %u hosts", row->placement_count);
        struct str item = str_cut(rest, ';', &rest);
        struct idset *numbers = f == JOB_FIELD_CPU_IDS ? &p->cpus : &p->gpus;
        if (f == JOB_FIELD_HOST_MEM_MIB && !number_parse_u64(item, &p->mem_mib))
            return err_value(e, name, item, "a number of MiB");
        if (f != JOB_FIELD_HOST_MEM_MIB && item.length > 0 && idset_parse(item, NONE - 1, name, numbers, e) != 0)
            return -1;
    }
    return rest.text == NULL ? 0 : err_value(e, name, text, "an item for each of %u hosts", row->placement_count);
}

int placements_set(const struct state *s, struct task *row, enum job_field f, const struct field_value *value,
                   struct err *e)
{
    if (f == JOB_FIELD_HOSTS) return set_hosts(s, row, str(value->text), e);
    if (f != JOB_FIELD_TASK_MEM_MIB)
        return value->text == NULL ? 0 : set_each(row, f, str(value->text), e); /* memory of one host */
    if (row->placement_count > 0) row->placements[0].mem_mib = (uint64_t)value->number;
    return 0;
}
