#include "engine/host_loads.h"

#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "base/number.h"
#include "fields/host_text.h"

const char *const host_loads_per_processor[LOADS_PER_PROCESSOR] = {"np_load_avg", "np_load_short", "np_load_medium",
                                                                   "np_load_long"};

/* The offers of one report while they are made. */
struct loads {
    const struct host_load_rules *rules;
    const struct host_row *row;
    const struct sched_host *host;
    struct named_values scaling;
    struct arena arena;
    struct offers offers;
    uint32_t cpus;
};

static void release(struct loads *l)
{
    array_release(&l->offers.list);
    arena_release(&l->arena);
}

/* --- scaling ------------------------------------------------------------------------------------------------------ */

int host_loads_check_scaling(const struct cluster_resources *resources, const char *text, struct err *e)
{
    struct arena arena = {0};
    struct named_values scaling = {0};
    int status = host_text_named_values(str(text), "load_scaling", &arena, &scaling, e);
    for (uint32_t i = 0; i < scaling.count && status == 0; i++) {
        struct str name = scaling.items[i].name;
        if (!cluster_resources_has_number(resources, name))
            status =
                cluster_resources_fail_unknown(resources, name, "load_scaling", "a load value, which is a number", e);
    }
    arena_release(&arena);
    return status;
}

/* The factor by which a load value is multiplied. */
static int read_scaling(struct loads *l, struct err *e)
{
    const char *text = l->rules->host->value[HOST_LOAD_SCALING].text;
    if (host_text_named_values(str(text), "load_scaling", &l->arena, &l->scaling, e) != 0) return -1;
    if (l->rules->is_strict && host_loads_check_scaling(l->rules->resources, text, e) != 0) return -1;
    for (uint32_t i = 0; i < l->scaling.count; i++) {
        const struct named_value *v = &l->scaling.items[i];
        double factor;
        if (v->value.text == NULL || !number_parse_double(v->value, &factor) || !isfinite(factor))
            return err_value(e, "load_scaling", v->name, "a load value and its factor, such as load_avg=0.5");
    }
    return 0;
}

static double scale_of(const struct named_values *scaling, const char *name)
{
    double factor = 1.0;
    for (uint32_t i = 0; i < scaling->count; i++) {
        if (str_equal(scaling->items[i].name, str(name))) (void)number_parse_double(scaling->items[i].value, &factor);
    }
    return factor;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static bool is_given(const struct loads *l, uint32_t resource)
{
    for (uint32_t i = 0; i < l->rules->given_count; i++) {
        if (l->host->offers.list.items[i].resource == resource) return true;
    }
    return false;
}

static void add_load(struct loads *l, struct offer load)
{
    if (is_given(l, load.resource) || offers_find(&l->offers, load.resource) != NULL) return;
    load.amount *= scale_of(&l->scaling, l->rules->resources->list.items[load.resource].name);
    *array_add(&l->offers.list) = load;
}

static const struct host_load *find_load(const struct host_row *row, const char *name)
{
    for (uint32_t i = 0; i < row->load_count; i++) {
        if (strcmp(row->loads[i].name, name) == 0) return &row->loads[i];
    }
    return NULL;
}

bool host_loads_processors(const char *value, uint32_t cpus, uint32_t *out)
{
    uint64_t number;
    *out = cpus;
    if (value == NULL) return true;
    if (!number_parse_u64(str_trim(str(value)), &number) || number >= UINT32_MAX) return false;
    *out = (uint32_t)number;
    return true;
}

static int read_processors(struct loads *l, struct err *e)
{
    const struct host_load *processors = find_load(l->row, "num_proc");
    const char *value = processors != NULL ? processors->value : NULL;
    if (host_loads_processors(value, l->row->host.has.cpus, &l->cpus) || !l->rules->is_strict) return 0;
    return err_value(e, "num_proc", str(value), "a whole number from 0 to 4294967294");
}

/* np_load_avg is load_avg for each processor, also if a sensor reports another value. */
static void add_loads_per_processor(struct loads *l)
{
    for (int i = 0; i < LOADS_PER_PROCESSOR && l->cpus > 0; i++) {
        const char *name = host_loads_per_processor[i];
        const struct host_load *load = find_load(l->row, name + PER_PROCESSOR_PREFIX);
        double value;
        if (load == NULL || !number_parse_double(str(load->value), &value) || !(value >= 0.0 && isfinite(value)))
            continue;
        uint32_t resource = cluster_resources_find(l->rules->resources, str(name));
        add_load(l, (struct offer){.resource = resource, .amount = value / l->cpus});
    }
}

static int add_reported(struct loads *l, const struct host_load *load, struct err *e)
{
    const struct cluster_resources *resources = l->rules->resources;
    uint32_t resource = cluster_resources_find(resources, str(load->name));
    struct offer offer;
    if (resource == NONE) {
        if (!l->rules->is_strict) return 0;
        return err_value(e, "load_values", str(load->name), "a resource");
    }
    if (cluster_resources_offer(resources, resource, str(load->value), &l->arena, &offer, e) != 0)
        return l->rules->is_strict ? -1 : 0;
    if (offer.text != NULL) offer.text = load->value;
    add_load(l, offer);
    return 0;
}

/* The caller releases l also after an error. */
static int make(struct loads *l, const struct host_load_rules *rules, const struct host_row *row,
                const struct sched_host *host, struct err *e)
{
    *l = (struct loads){.rules = rules, .row = row, .host = host};
    if (read_scaling(l, e) != 0 || read_processors(l, e) != 0) return -1;
    add_loads_per_processor(l);
    for (uint32_t i = 0; i < row->load_count; i++) {
        if (add_reported(l, &row->loads[i], e) != 0) return -1;
    }
    return 0;
}

/* --- the offers --------------------------------------------------------------------------------------------------- */

int host_loads_offer(const struct host_load_rules *rules, const struct host_row *row, struct sched_host *host,
                     struct err *e)
{
    struct loads l;
    int status = make(&l, rules, row, host, e);
    for (uint32_t i = 0; status == 0 && i < l.offers.list.count; i++)
        *array_add(&host->offers.list) = l.offers.list.items[i];
    if (status == 0) host->cpus = l.cpus;
    release(&l);
    return status;
}

bool host_loads_refresh(const struct host_load_rules *rules, const struct host_row *row, struct sched_host *host)
{
    struct loads l;
    ensure(!rules->is_strict && make(&l, rules, row, host, NULL) == 0);
    struct offer *old = host->offers.list.items + rules->given_count;
    uint32_t count = l.offers.list.count;
    bool is_same = host->offers.list.count == rules->given_count + count;
    for (uint32_t i = 0; is_same && i < count; i++) is_same = old[i].resource == l.offers.list.items[i].resource;
    for (uint32_t i = 0; is_same && i < count; i++) {
        old[i].amount = l.offers.list.items[i].amount;
        old[i].text = l.offers.list.items[i].text;
    }
    if (is_same) host->cpus = l.cpus;
    release(&l);
    return is_same;
}
