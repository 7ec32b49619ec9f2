/* EVENT_HOST and EVENT_HOSTS: what executors report of their hosts. A report is no row: executors repeat theirs at
 * every start, before the first pass. Hosts that EVENT_HOSTS adds are rows like those that operators add.
 *
 *     object     state UP | DRAIN | DOWN           an administrator's word; stored
 *     row        is_attached, is_down, detected    the executor's; not stored
 *
 * A job starts on a host that is attached, not down, and UP. Tasks of a host that is reported as down stay in their
 * rows until the executor reports their ends. */
#include "base/ensure.h"
#include "engine/cluster_model.h"
#include "engine/handlers.h"
#include "engine/placements.h"
#include "fields/host_text.h"

static const char *name_of(const struct event_host *host)
{
    return host->name != NULL ? host->name : LOCAL_HOST;
}

static const struct idset *withheld_of(const struct event_host *host)
{
    static const struct idset none;
    return host->withheld_gpus != NULL ? host->withheld_gpus : &none;
}

/* The host's row. */
static void take(struct state *s, const struct event_host *host)
{
    struct host_row *row = &s->hosts.items[state_find_object(s, OBJECT_HOST, name_of(host))];
    row->is_attached = host->report != HOST_REPORT_DETACHED;
    row->is_down = host->report == HOST_REPORT_DOWN;
    row->detected = host->has;
    idset_copy(&row->withheld_gpus, withheld_of(host));
}

static bool is_capacity_changed(const struct state *s, const struct event_host *host)
{
    const struct host_row *row = &s->hosts.items[state_find_object(s, OBJECT_HOST, name_of(host))];
    bool is_attached = host->report != HOST_REPORT_DETACHED;
    return row->is_attached != is_attached || row->detected.cpus != host->has.cpus ||
           row->detected.mem_mib != host->has.mem_mib || row->detected.gpus != host->has.gpus ||
           !idset_equal(&row->withheld_gpus, withheld_of(host));
}

/* A host that only goes down or comes up keeps its capacity, and what is free there. */
static void take_all(struct state *s, const struct event_hosts *hosts)
{
    if (s->hosts.count < s->objects[OBJECT_HOST].count) placements_rebuild(s); /* the table has all hosts */
    bool is_changed = false;
    for (uint32_t i = 0; i < hosts->count; i++) {
        is_changed |= is_capacity_changed(s, &hosts->items[i]);
        take(s, &hosts->items[i]);
    }
    s->host_edition++;
    s->pass_is_due = true;
    if (is_changed) placements_rebuild(s);
}

int apply_host(struct apply_context *c, const struct event *event)
{
    const struct event_hosts one = {&event->host, 1};
    const char *name = name_of(&event->host);
    if (state_find_object(c->s, OBJECT_HOST, name) == NONE)
        return err_subject(c->e, ERR_NOT_FOUND, "host", str(name), "does not exist");
    take_all(c->s, &one);
    return 0;
}

/* --- hosts that do not exist -------------------------------------------------------------------------------------- */

static int make_object(struct apply_context *c, const struct event_host *host, struct object *out)
{
    if (apply_check_name("host", host->name, c->e) != 0) return -1;
    if (!host_text_is_name(str(host->name)))
        return err_value_reason(c->e, "host", str(host->name), "has a blank, or one of , [ ] = @");
    *out = object_defaults(OBJECT_HOST, host->name);
    if (host->features == NULL) return 0;
    return object_set(out, OBJECT_HOST, str("features"), str(host->features), &c->s->cycle, c->e);
}

/* Adds them for a check of the cluster as it would be, and takes them back. out_objects: those to add. */
static int check_new(struct apply_context *c, const struct event_hosts *hosts, struct object *out_objects,
                     uint32_t *out_count)
{
    struct state *s = c->s;
    int status = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < hosts->count && status == 0; i++) {
        if (state_find_object(s, OBJECT_HOST, name_of(&hosts->items[i])) != NONE) continue;
        status = make_object(c, &hosts->items[i], &out_objects[count]);
        if (status == 0) (void)object_row_try(s, OBJECT_HOST, &out_objects[count++]);
    }
    if (status == 0 && count > 0) status = cluster_model_check(s, c->e);
    for (uint32_t i = 0; i < count; i++) object_row_remove_last(s, OBJECT_HOST, s->objects[OBJECT_HOST].count - 1);
    *out_count = count;
    return status;
}

static void add_new(struct apply_context *c, const struct object *objects, uint32_t count)
{
    struct state *s = c->s;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = object_row_add(s, OBJECT_HOST, &objects[i], c->now_us);
        ensure(object_derive(s, OBJECT_HOST, index, NULL) == 0);
        apply_note_change(c, TABLE_OBJECT, object_change(OBJECT_HOST, index));
    }
    s->object_edition += count > 0;
    s->rules_edition += count > 0;
}

int apply_hosts(struct apply_context *c, const struct event *event)
{
    const struct event_hosts *hosts = &event->hosts;
    struct object *added = arena_alloc(&c->s->cycle, (hosts->count + (size_t)1) * sizeof *added);
    uint32_t count;
    if (check_new(c, hosts, added, &count) != 0) return -1;
    add_new(c, added, count);
    take_all(c->s, hosts);
    return 0;
}
