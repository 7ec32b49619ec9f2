/* The hosts of a pretend cluster: reported to the engine at a start, and whenever the document says that they
 * change. */
#include <string.h>

#include "base/quantity.h"
#include "daemon/daemon.h"
#include "daemon/log.h"

enum { PERCENT = 100 };

static int64_t origin_of(const struct daemon *d)
{
    return d->state.assocs.items[0].created_us; /* root is as old as the database */
}

static struct event_host report_of(const struct pretend *p, uint32_t index)
{
    const struct pretend_host *h = &p->cluster.hosts.items[index];
    return (struct event_host){.has = {.cpus = h->cpus, .gpus = h->gpus, .mem_mib = h->mem_mib},
                               .name = h->name,
                               .report = p->timeline.hosts.items[index].is_down ? HOST_REPORT_DOWN : HOST_REPORT_UP,
                               .features = h->features};
}

/* --- load values -------------------------------------------------------------------------------------------------- */

static void add(struct load_values *v, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add(struct load_values *v, const char *name, const char *format, ...)
{
    char text[64];
    va_list arguments;
    va_start(arguments, format);
    text_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    load_values_add(v, str(name), str(text));
}

static void add_memory(struct load_values *v, const char *kind, uint64_t total_mib, uint64_t used_mib)
{
    static const char *const parts[] = {"total", "free", "used"};
    const uint64_t values[] = {total_mib, total_mib - used_mib, used_mib};
    for (int i = 0; i < 3; i++) {
        char name[32];
        text_format(name, sizeof name, "%s_%s", kind, parts[i]);
        add(v, name, "%llu.000M", (unsigned long long)values[i]);
    }
}

/* As a machine reports them; the load is that of other work, without the jobs. */
static void make_loads(const struct pretend_host *host, const struct pretend_load *load, struct load_values *out)
{
    static const char *const averages[] = {"load_avg", "load_short", "load_medium", "load_long"};
    double busy = load->load_avg < 1.0 ? load->load_avg : 1.0;
    load_values_clear(out);
    for (size_t i = 0; i < sizeof averages / sizeof *averages; i++)
        add(out, averages[i], "%.2f", load->load_avg * host->cpus);
    add(out, "num_proc", "%u", host->cpus);
    add(out, "cpu", "%.2f", busy * PERCENT);
    add_memory(out, "mem", host->mem_mib, load->mem_used_mib);
    add_memory(out, "swap", 0, 0);
    add_memory(out, "virtual", host->mem_mib, load->mem_used_mib);
    add(out, "m_socket", "1");
    add(out, "m_core", "%u", host->cpus);
    add(out, "m_thread", "%u", host->cpus);
    add(out, "arch", "lx-amd64");
}

static int report_load(struct daemon *d, uint32_t index, struct outcome *outcome, struct err *e)
{
    const struct pretend *p = d->pretend;
    const struct pretend_host *host = &p->cluster.hosts.items[index];
    make_loads(host, &p->timeline.hosts.items[index].load, &d->measured);
    const struct event event = {
        .kind = EVENT_LOAD,
        .load = {.values = d->measured.list.items, .count = d->measured.list.count, .host = host->name}};
    return engine_apply(&d->state, d->now_us, &event, outcome, NULL, e);
}

/* --- at a start --------------------------------------------------------------------------------------------------- */

/* The hosts of the document that exist; all of them if missing ones are added. This machine is no host of its own. */
static uint32_t collect(const struct daemon *d, bool adds, struct event_host *out)
{
    const struct pretend *p = d->pretend;
    uint32_t count = 0;
    if (map_get(&p->cluster.host_by_name, str(LOCAL_HOST)) == NONE)
        out[count++] = (struct event_host){.name = LOCAL_HOST, .report = HOST_REPORT_DETACHED};
    for (uint32_t i = 0; i < p->cluster.hosts.count; i++) {
        if (adds || state_find_object(&d->state, OBJECT_HOST, p->cluster.hosts.items[i].name) != NONE)
            out[count++] = report_of(p, i);
    }
    return count;
}

int daemon_report_pretend_hosts(struct daemon *d, bool adds, struct outcome *outcome, struct err *e)
{
    struct pretend *p = d->pretend;
    struct arena arena = {0};
    int64_t last_us = store_last_commit_us(d->store), origin_us = origin_of(d);
    array_clear(&p->changed);
    pretend_timeline_release(&p->timeline);
    pretend_timeline_init(&p->timeline, &p->cluster, origin_us, last_us > origin_us ? last_us : origin_us);
    struct event_host *hosts = arena_alloc(&arena, (p->cluster.hosts.count + (size_t)1) * sizeof *hosts);
    const struct event event = {.kind = EVENT_HOSTS, .hosts = {hosts, collect(d, adds, hosts)}};
    int status = engine_apply(&d->state, d->now_us, &event, outcome, NULL, e);
    for (uint32_t i = 0; i < p->cluster.hosts.count && status == 0; i++) {
        if (state_find_object(&d->state, OBJECT_HOST, p->cluster.hosts.items[i].name) != NONE)
            status = report_load(d, i, outcome, e);
    }
    arena_release(&arena);
    return status == 0 ? 0 : err_prefix(e, "%s", p->path);
}

/* --- over time ---------------------------------------------------------------------------------------------------- */

static void lose_tasks(struct daemon *d, uint32_t host, const char *name)
{
    char detail[LAUNCH_DETAIL_SIZE];
    text_format(detail, sizeof detail, "host %s failed", name);
    for (uint32_t i = 0; i < d->state.tasks.count; i++) {
        const struct task *k = &d->state.tasks.items[i];
        bool is_there = false;
        for (uint32_t n = 0; n < k->placement_count; n++) is_there |= k->placements[n].host == host;
        if (is_there && !job_state_is_end(k->state)) executor_pretend_lose(d->executor, k->launch_id, detail);
    }
}

void daemon_advance_pretend(struct daemon *d)
{
    struct pretend *p = d->pretend;
    if (p == NULL || d->executor == NULL) return;
    for (int64_t at_us; (at_us = pretend_timeline_next_us(&p->timeline)) != 0 && at_us <= d->now_us;) {
        executor_pretend_advance(d->executor, at_us);
        const struct pretend_step *step = pretend_timeline_take(&p->timeline);
        const char *name = p->cluster.hosts.items[step->host].name;
        uint32_t host = state_find_object(&d->state, OBJECT_HOST, name);
        if (step->kind == PRETEND_STEP_DOWN && host != NONE) lose_tasks(d, host, name);
        *array_add(&p->changed) = step->host;
    }
    executor_pretend_advance(d->executor, d->now_us);
    executor_ready(d->executor, &d->reports);
}

static void report_change(struct daemon *d, uint32_t index)
{
    const struct event_host host = report_of(d->pretend, index);
    const struct event event = {.kind = EVENT_HOST, .host = host};
    uint32_t object = state_find_object(&d->state, OBJECT_HOST, host.name);
    struct err e;
    if (object == NONE) return; /* an operator has deleted it */
    bool is_same = d->state.hosts.items[object].is_down == (host.report == HOST_REPORT_DOWN);
    if (!is_same) log_line(LOG_INFO, host.report == HOST_REPORT_DOWN ? "host-down" : "host-up", " host=%s", host.name);
    int status = is_same ? 0 : engine_apply(&d->state, d->now_us, &event, &d->outcome, NULL, &e);
    if (status == 0) status = report_load(d, index, &d->outcome, &e);
    if (status != 0) log_line(LOG_ERROR, "refused", " host=%s error=\"%s\"", host.name, ERR_SENTENCE(&e));
}

void daemon_report_pretend_changes(struct daemon *d)
{
    struct pretend *p = d->pretend;
    if (p == NULL) return;
    struct map reported = {0}; /* a host may have changed often since the last turn */
    for (uint32_t i = 0; i < p->changed.count; i++) {
        if (map_get_u64(&reported, p->changed.items[i]) != NONE) continue;
        map_set_u64(&reported, p->changed.items[i], 0);
        report_change(d, p->changed.items[i]);
    }
    map_release(&reported);
    array_clear(&p->changed);
}

int64_t daemon_next_pretend_us(const struct daemon *d)
{
    if (d->pretend == NULL || d->executor == NULL) return 0;
    int64_t launch_us = executor_pretend_next_us(d->executor),
            host_us = pretend_timeline_next_us(&d->pretend->timeline);
    return launch_us == 0 || (host_us != 0 && host_us < launch_us) ? host_us : launch_us;
}

bool daemon_pretend_host_is_up(const struct daemon *d, uint32_t host)
{
    const char *name = d->state.objects[OBJECT_HOST].items[host].object.name;
    uint32_t index = map_get(&d->pretend->cluster.host_by_name, str(name));
    return index != NONE && !d->pretend->timeline.hosts.items[index].is_down;
}
