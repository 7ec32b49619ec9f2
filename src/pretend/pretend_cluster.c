#include "pretend/pretend_cluster.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "fields/host_ranges.h"
#include "fields/limits.h"
#include "fields/request_text.h"
#include "wire/reader.h"

enum { MEM_MIB_PER_CPU = 4096 };

static struct pretend_cluster *cluster_of(const struct wire_reader *r)
{
    return r->context;
}

#define FIELD(struct_, member) .offset = offsetof(struct struct_, member)

/* --- values ------------------------------------------------------------------------------------------------------- */

/* A number of seconds, or a duration as sbatch -t reads it. */
static int read_duration(struct wire_reader *r, json_t *value, int64_t min_s, int64_t *out_us)
{
    struct str text = json_is_string(value) ? wire_string(value) : str("");
    int64_t duration_s = json_is_integer(value) ? json_integer_value(value) : -1;
    bool is_read = json_is_integer(value) || duration_read(text, &duration_s);
    if (!is_read || duration_s < min_s || duration_s > DURATION_S_MAX)
        return wire_refuse(r, value, "a time of %lld s to 3660 days, such as %s or \"1-12:00:00\"", (long long)min_s,
                           min_s <= 90 ? "90, \"0:30:00\"" : "7200, \"2:00:00\"");
    *out_us = duration_s * US_PER_S;
    return 0;
}

/* Appends the names to *io. Errors are those of host_ranges_expand, at the path. */
static int read_names(struct wire_reader *r, json_t *value, struct host_ranges *io)
{
    struct err below;
    if (!json_is_string(value)) return wire_refuse(r, value, "a text of names, such as \"n[001-500]\"");
    if (host_ranges_expand(wire_string(value), PRETEND_HOSTS_MAX, &cluster_of(r)->arena, io, &below) == 0) return 0;
    return wire_fail_below(r, &below);
}

/* --- hosts -------------------------------------------------------------------------------------------------------- */

struct host_item {
    struct host_ranges names;
    int64_t cpus, gpus;
    uint64_t mem_mib; /* 0: not given */
    const char *features;
};

static int read_host_names(struct wire_reader *r, json_t *value, void *target)
{
    return read_names(r, value, &((struct host_item *)target)->names);
}

static int read_features(struct wire_reader *r, json_t *value, void *target)
{
    struct host_item *item = target;
    struct err below;
    if (!json_is_string(value)) return wire_refuse(r, value, "a text of features, such as \"avx,ssd\"");
    item->features = arena_copy(r->arena, wire_string(value));
    if (!str_is_printable(str(item->features))) return wire_fail(r, "has a character that is not printable");
    if (request_text_features_check(str(item->features), "features", &below) == 0) return 0;
    return wire_fail(r, "'%s' is not a feature: a name without any of & | ( ) [ ] * = @", below.value);
}

static const struct wire_field host_fields[] = {
    {.name = "name",
     .type = WIRE_CUSTOM,
     .is_required = true,
     .read = read_host_names,
     .help = "\"n1\" or \"n[001-500]\""},
    {.name = "cpus",
     .type = WIRE_I64,
     .is_required = true,
     FIELD(host_item, cpus),
     .min = 1,
     .max = CPUS_MAX,
     .help = "the number of CPUs"},
    {.name = "mem", .type = WIRE_MEMORY, FIELD(host_item, mem_mib), .max = MEM_MIB_MAX},
    {.name = "gpus", .type = WIRE_I64, FIELD(host_item, gpus), .max = GPUS_MAX},
    {.name = "features", .type = WIRE_CUSTOM, .read = read_features},
    {0},
};
static const struct wire_shape host_shape = {.name = "host", .fields = host_fields, .size = sizeof(struct host_item)};

static int add_host(struct wire_reader *r, const struct host_item *item, const char *name)
{
    struct pretend_cluster *c = cluster_of(r);
    if (map_get(&c->host_by_name, str(name)) != NONE) return wire_fail_at(r, "name", "host '%s' occurs twice", name);
    if (c->hosts.count >= PRETEND_HOSTS_MAX)
        return wire_fail_at(r, "name", "more than %d hosts in all", PRETEND_HOSTS_MAX);
    map_set(&c->host_by_name, str(name), c->hosts.count);
    *array_add(&c->hosts) = (struct pretend_host){
        .name = name,
        .features = item->features,
        .cpus = (uint32_t)item->cpus,
        .gpus = (uint32_t)item->gpus,
        .mem_mib = item->mem_mib > 0 ? item->mem_mib : (uint64_t)item->cpus * MEM_MIB_PER_CPU,
    };
    return 0;
}

static int read_host(struct wire_reader *r, json_t *value, uint32_t index)
{
    struct host_item item = {0};
    (void)index;
    int status = wire_read_members(r, &host_shape, value, &item);
    for (uint32_t i = 0; i < item.names.names.count && status == 0; i++)
        status = add_host(r, &item, item.names.names.items[i]);
    array_release(&item.names.names);
    return status;
}

static int read_hosts(struct wire_reader *r, json_t *value)
{
    if (value == NULL) return wire_fail(r, "missing; a list of hosts, such as {\"name\": \"n[1-16]\", \"cpus\": 16}");
    if (wire_read_items(r, value, read_host) != 0) return -1;
    return cluster_of(r)->hosts.count > 0 ? 0 : wire_fail(r, "is empty; a cluster has at least one host");
}

/* --- what happens ------------------------------------------------------------------------------------------------- */

/* Indices of hosts. */
struct host_list {
    ARRAY(uint32_t) hosts;
};

static int read_known_hosts(struct wire_reader *r, json_t *value, struct host_list *out)
{
    struct host_ranges names = {0};
    int status = read_names(r, value, &names);
    for (uint32_t i = 0; i < names.names.count && status == 0; i++) {
        uint32_t host = map_get(&cluster_of(r)->host_by_name, str(names.names.items[i]));
        if (host == NONE) status = wire_fail(r, "'%s' is not one of the hosts", names.names.items[i]);
        if (host != NONE) *array_add(&out->hosts) = host;
    }
    array_release(&names.names);
    return status;
}

/* The time has to be in the period, and so has the end of a failure (for_us 0: of a load). */
static int check_in_period(struct wire_reader *r, int64_t at_us, int64_t for_us)
{
    int64_t period_us = cluster_of(r)->period_us;
    long long at_s = at_us / US_PER_S, for_s = for_us / US_PER_S, period_s = period_us / US_PER_S;
    if (period_us == 0 || (at_us < period_us && at_us + for_us <= period_us)) return 0;
    if (at_us >= period_us) return wire_fail_at(r, "at", "%lld s is not within the period of %lld s", at_s, period_s);
    return wire_fail_at(r, "for", "%lld s after %lld s is not within the period of %lld s", for_s, at_s, period_s);
}

static int add_step(struct wire_reader *r, const struct pretend_step *step)
{
    struct pretend_cluster *c = cluster_of(r);
    if (c->steps.count >= PRETEND_STEPS_MAX)
        return wire_fail(r, "more than %d changes of hosts in all", PRETEND_STEPS_MAX);
    *array_add(&c->steps) = *step;
    return 0;
}

struct happening {
    struct host_list hosts;
    int64_t at_us, for_us;
    double np_load_avg;
    uint64_t mem_used_mib;
};

static int read_happening_hosts(struct wire_reader *r, json_t *value, void *target)
{
    return read_known_hosts(r, value, &((struct happening *)target)->hosts);
}

static int read_at(struct wire_reader *r, json_t *value, void *target)
{
    return read_duration(r, value, 0, &((struct happening *)target)->at_us);
}

static int read_for(struct wire_reader *r, json_t *value, void *target)
{
    return read_duration(r, value, 1, &((struct happening *)target)->for_us);
}

#define HOSTS_AND_TIME                                                                                            \
    {.name = "hosts",                                                                                             \
     .type = WIRE_CUSTOM,                                                                                         \
     .is_required = true,                                                                                         \
     .read = read_happening_hosts,                                                                                \
     .help = "names of hosts"},                                                                                   \
    {                                                                                                             \
        .name = "at", .type = WIRE_CUSTOM, .is_required = true, .read = read_at, .help = "a time after the start" \
    }

static const struct wire_field failure_fields[] = {
    HOSTS_AND_TIME,
    {.name = "for", .type = WIRE_CUSTOM, .is_required = true, .read = read_for, .help = "how long"},
    {0},
};
static const struct wire_shape failure_shape = {
    .name = "failure", .fields = failure_fields, .size = sizeof(struct happening)};

static const struct wire_field load_fields[] = {
    HOSTS_AND_TIME,
    {.name = "np_load_avg", .type = WIRE_DOUBLE, FIELD(happening, np_load_avg), .max = 1000},
    {.name = "mem_used", .type = WIRE_MEMORY, FIELD(happening, mem_used_mib), .max = MEM_MIB_MAX},
    {0},
};
static const struct wire_shape load_shape = {.name = "load", .fields = load_fields, .size = sizeof(struct happening)};

static int add_failure(struct wire_reader *r, const struct happening *h)
{
    int64_t end_us = h->at_us + h->for_us;
    int status = check_in_period(r, h->at_us, h->for_us);
    for (uint32_t i = 0; i < h->hosts.hosts.count && status == 0; i++) {
        const struct pretend_step down = {
            .at_us = h->at_us, .host = h->hosts.hosts.items[i], .kind = PRETEND_STEP_DOWN};
        const struct pretend_step up = {.at_us = end_us, .host = h->hosts.hosts.items[i], .kind = PRETEND_STEP_UP};
        status = add_step(r, &down) == 0 ? add_step(r, &up) : -1;
    }
    return status;
}

static int add_load(struct wire_reader *r, const struct happening *h)
{
    const struct pretend_cluster *c = cluster_of(r);
    int status = check_in_period(r, h->at_us, 0);
    for (uint32_t i = 0; i < h->hosts.hosts.count && status == 0; i++) {
        uint32_t host = h->hosts.hosts.items[i];
        const struct pretend_step step = {
            .at_us = h->at_us, .host = host, .kind = PRETEND_STEP_LOAD, .load = {h->np_load_avg, h->mem_used_mib}};
        if (h->mem_used_mib > c->hosts.items[host].mem_mib)
            return wire_fail_at(r, "mem_used", "more than host '%s' has", c->hosts.items[host].name);
        status = add_step(r, &step);
    }
    return status;
}

static int read_failure(struct wire_reader *r, json_t *value, uint32_t index)
{
    struct happening h = {0};
    (void)index;
    int status = wire_read_members(r, &failure_shape, value, &h) == 0 ? add_failure(r, &h) : -1;
    array_release(&h.hosts.hosts);
    return status;
}

static int read_load(struct wire_reader *r, json_t *value, uint32_t index)
{
    struct happening h = {0};
    (void)index;
    int status = wire_read_members(r, &load_shape, value, &h) == 0 ? add_load(r, &h) : -1;
    array_release(&h.hosts.hosts);
    return status;
}

/* --- the order of what happens ------------------------------------------------------------------------------------ */

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_steps(const void *left, const void *right)
{
    const struct pretend_step *a = left, *b = right;
    int order = compare_numbers(a->at_us, b->at_us);
    if (order == 0) order = compare_numbers(a->host, b->host);
    return order != 0 ? order : compare_numbers(a->kind, b->kind);
}

static void sort_steps(struct pretend_cluster *c)
{
    if (c->steps.count > 0) qsort(c->steps.items, c->steps.count, sizeof *c->steps.items, compare_steps);
}

/* In the order of time a host is down once and then up, and has one load at a time. */
static int check_failures(struct wire_reader *r, json_t *value)
{
    struct pretend_cluster *c = cluster_of(r);
    if (value != NULL && wire_read_items(r, value, read_failure) != 0) return -1;
    sort_steps(c);
    bool *is_down = arena_alloc(r->arena, c->hosts.count + (size_t)1);
    for (uint32_t i = 0; i < c->steps.count; i++) {
        const struct pretend_step *s = &c->steps.items[i];
        if (is_down[s->host] && s->kind == PRETEND_STEP_DOWN)
            return wire_fail(r, "host '%s' fails again at %lld s while it is down", c->hosts.items[s->host].name,
                             (long long)(s->at_us / US_PER_S));
        is_down[s->host] = s->kind == PRETEND_STEP_DOWN;
    }
    return 0;
}

static int check_loads(struct wire_reader *r, json_t *value)
{
    struct pretend_cluster *c = cluster_of(r);
    if (value != NULL && wire_read_items(r, value, read_load) != 0) return -1;
    sort_steps(c);
    for (uint32_t i = 1; i < c->steps.count; i++) {
        const struct pretend_step *s = &c->steps.items[i];
        if (s->kind == PRETEND_STEP_LOAD && compare_steps(s, s - 1) == 0)
            return wire_fail(r, "host '%s' has two loads at %lld s", c->hosts.items[s->host].name,
                             (long long)(s->at_us / US_PER_S));
    }
    return 0;
}

/* --- the document ------------------------------------------------------------------------------------------------- */

/* Shorter ones would be more changes a second than the daemon can follow at a high speed. */
enum { PERIOD_MIN_S = 3600 };

static int read_period(struct wire_reader *r, json_t *value)
{
    return value != NULL ? read_duration(r, value, PERIOD_MIN_S, &cluster_of(r)->period_us) : 0;
}

static const struct wire_field run_time_fields[] = {
    {.name = "of_limit", .type = WIRE_DOUBLE, FIELD(pretend_rules, of_limit), .max = 1},
    {.name = "spread", .type = WIRE_DOUBLE, FIELD(pretend_rules, spread), .max = 1},
    {0},
};
static const struct wire_shape run_time_shape = {
    .name = "run_time", .fields = run_time_fields, .size = sizeof(struct pretend_rules)};

static int read_run_time(struct wire_reader *r, json_t *value)
{
    return value != NULL ? wire_read_members(r, &run_time_shape, value, &cluster_of(r)->rules) : 0;
}

static int read_fail_percent(struct wire_reader *r, json_t *value)
{
    return value != NULL ? wire_read_real(r, value, 0, 100, &cluster_of(r)->rules.fail_percent) : 0;
}

static int read_seed(struct wire_reader *r, json_t *value)
{
    static const struct wire_range range = {.min = 0, .max = WHOLE_REAL_MAX};
    int64_t seed = 1;
    if (value != NULL && wire_read_whole(r, value, &range, &seed) != 0) return -1;
    cluster_of(r)->rules.seed = (uint64_t)seed;
    return 0;
}

/* In an order in which a part refers only to earlier ones. value NULL: the document does not have the part. */
static const struct pretend_part {
    const char *name;
    int (*read)(struct wire_reader *r, json_t *value);
} parts[] = {
    {"hosts", read_hosts},  {"period", read_period},     {"failures", check_failures},
    {"loads", check_loads}, {"run_time", read_run_time}, {"fail_percent", read_fail_percent},
    {"seed", read_seed},
};
enum { PRETEND_PART_COUNT = sizeof parts / sizeof *parts };

static int check_names(struct wire_reader *r, json_t *document)
{
    const char *name;
    json_t *value;
    json_object_foreach(document, name, value)
    {
        struct buf names = {0};
        bool is_known = false;
        for (uint32_t i = 0; i < PRETEND_PART_COUNT; i++) {
            is_known |= strcmp(parts[i].name, name) == 0;
            buf_format(&names, "%s%s", i > 0 ? ", " : "", parts[i].name);
        }
        if (!is_known) wire_fill_unknown(r, name, names.text);
        buf_release(&names);
        if (!is_known) return -1;
    }
    return 0;
}

static int read_parts(struct wire_reader *r, json_t *document)
{
    if (!json_is_object(document)) return wire_refuse(r, document, "an object");
    if (check_names(r, document) != 0) return -1;
    for (uint32_t i = 0; i < PRETEND_PART_COUNT; i++) {
        size_t length = wire_enter(r, parts[i].name);
        if (parts[i].read(r, json_object_get(document, parts[i].name)) != 0) return -1;
        wire_leave(r, length);
    }
    return 0;
}

int pretend_cluster_read(struct str text, const char *name, struct pretend_cluster *out_cluster, struct err *e)
{
    *out_cluster = (struct pretend_cluster){.rules = {.of_limit = 0.5, .spread = 0.2}};
    struct wire_reader r = {.arena = &out_cluster->arena,
                            .root = "the document",
                            .code = ERR_INPUT,
                            .is_document = true,
                            .context = out_cluster,
                            .e = e};
    if (str_trim(text).length == 0)
        return err_set(e, ERR_INPUT, "%s: is empty; a pretend cluster is a JSON document", name);
    json_t *document = wire_load(text, ERR_INPUT, e);
    int status = document != NULL ? read_parts(&r, document) : -1;
    wire_reader_release(&r);
    json_decref(document);
    if (status == 0) return 0;
    pretend_cluster_release(out_cluster);
    return err_prefix(e, "%s", name);
}

void pretend_cluster_release(struct pretend_cluster *c)
{
    array_release(&c->hosts);
    array_release(&c->steps);
    map_release(&c->host_by_name);
    arena_release(&c->arena);
    *c = (struct pretend_cluster){0};
}
