#include "engine/limit_size.h"

#include "base/ensure.h"
#include "base/sort.h"
#include "engine/partition_limits.h"
#include "fields/host_text.h"
#include "fields/request_text.h"

static uint32_t hosts_of(uint32_t slots, uint32_t each)
{
    return (slots - 1) / each + 1;
}

static struct limit_spread spread_in_environment(const struct state *s, const struct job *j)
{
    const struct object *o = &s->objects[OBJECT_ENVIRONMENT].items[j->environment].object;
    struct limit_spread spread = {.slots_min = j->request.cpus, .has_environment = true, .host_min = 1};
    enum rule_text rule;
    ensure(host_text_allocation_rule(str(o->value[ENVIRONMENT_ALLOCATION_RULE].text), "allocation_rule", &rule,
                                     &spread.slots_per_host, NULL) == 0);
    spread.rule = (enum allocation_rule)rule;
    return spread;
}

static struct limit_spread spread_over_nodes(const struct state *s, const struct job *j, uint32_t partition)
{
    const struct job_placing *p = j->placing;
    struct limit_spread spread = {.slots_min = j->request.cpus, .host_min = 1};
    uint32_t min, max;
    if (p == NULL || (p->node_max <= 1 && p->slots_per_node == 0)) return spread;
    partition_limits_nodes(s, j, partition, &min, &max);
    if (p->node_min > spread.host_min) spread.host_min = p->node_min;
    if (min > spread.host_min && min <= max) spread.host_min = min;
    spread.slots_per_host = p->slots_per_node;
    uint32_t most = p->slots_per_node > 0 ? p->slots_per_node : s->host_sums.largest.cpus;
    uint32_t needed = most > 0 ? hosts_of(spread.slots_min, most) : 1;
    if (p->node_max > 1 && needed > spread.host_min && needed <= p->node_max) spread.host_min = needed;
    return spread;
}

struct limit_spread limit_size_spread(const struct state *s, const struct job *j, uint32_t partition)
{
    struct limit_spread spread =
        j->environment != NONE ? spread_in_environment(s, j) : spread_over_nodes(s, j, partition);
    spread.slots_max = j->slots_max > spread.slots_min ? j->slots_max : spread.slots_min;
    return spread;
}

uint32_t limit_size_each(struct state *s, const struct limit_counts *counts, const struct job *j, uint32_t partition,
                         uint32_t max)
{
    uint32_t low = 0, high = max;
    while (low < high) {
        uint32_t slots = low + (high - low + 1) / 2;
        struct tres_amount amounts[TRES_MAX];
        struct limit_request r;
        limits_request(s, j, partition, slots, 1, amounts, &r);
        if (limits_admit_host(s, counts, &r))
            low = slots;
        else
            high = slots - 1;
    }
    return low > 0 ? low : max;
}

struct limit_size limit_size_min(const struct limit_spread *spread, uint32_t each)
{
    struct limit_size min = {spread->slots_min, 1};
    uint32_t fixed = spread->slots_per_host;
    if (spread->has_environment && spread->rule == ALLOCATE_ONE_HOST) return min;
    if (fixed > 0)
        min.hosts = hosts_of(min.slots, fixed);
    else if (spread->has_environment)
        min.hosts = hosts_of(min.slots, each);
    if (!spread->has_environment && min.hosts < spread->host_min) min.hosts = spread->host_min;
    uint64_t slots = min.hosts * (uint64_t)(fixed > 0 ? fixed : 1);
    if (slots > min.slots && slots <= spread->slots_max) min.slots = (uint32_t)slots;
    return min;
}

/* The CPUs of a host if the job may have all of it; else 0. */
static uint32_t whole_host(const struct state *s, const struct job *j, uint32_t host, uint32_t min)
{
    const char *constraint = j->placing != NULL ? j->placing->constraint : NULL;
    const char *features = s->objects[OBJECT_HOST].items[host].object.value[HOST_FEATURES].text;
    uint32_t cpus = s->hosts.items[host].host.has.cpus;
    if (cpus < min || (constraint != NULL && !request_text_is_satisfied(constraint, features))) return 0;
    return cpus;
}

uint32_t limit_size_slots(const struct state *s, const struct job *j, uint32_t partition, const struct limit_size *size)
{
    const struct object_row *row = &s->objects[OBJECT_PARTITION].items[partition];
    uint32_t count = row->hosts != NULL ? row->host_count : s->hosts.count, found = 0;
    uint32_t min = size->hosts > 1 ? 1 : size->slots;
    if (!state_job_is_exclusive(j) || count == 0) return size->slots;
    struct sort_record *hosts = mem_resize(NULL, 0, 2 * (size_t)count * sizeof *hosts);
    for (uint32_t i = 0; i < count; i++) {
        hosts[found].key = whole_host(s, j, row->hosts != NULL ? row->hosts[i] : i, min);
        found += hosts[found].key > 0;
    }
    sort_records(hosts, found, hosts + count);
    uint64_t slots = 0;
    for (uint32_t i = 0; i < size->hosts && found > 0; i++) slots += hosts[i < found ? i : found - 1].key;
    mem_free(hosts);
    return slots > size->slots && slots < UINT32_MAX ? (uint32_t)slots : size->slots;
}
