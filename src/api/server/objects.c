/* Objects that an administrator names: partitions, QOS, user policies, projects, departments, resources. One listing
 * and three other handlers serve all kinds: the row of the route has the kind, and fields/objects.h has its fields. The
 * values go to the engine as text, as people write them, and the engine parses them. */
#include <string.h>

#include "api/server/internal.h"
#include "base/ensure.h"
#include "engine/closed_times.h"
#include "engine/state_rows.h"
#include "engine/usage_sums.h"
#include "engine/visibility.h"
#include "fields/standard_resources.h"
#include "policy/tres_text.h"

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* The load values that are values of resources. */
static const char *load_text(const struct state *s, const struct host_row *host, struct arena *arena)
{
    struct buf text = {0};
    buf_add_text(&text, "");
    for (uint32_t i = 0; i < host->load_count; i++) {
        const struct host_load *load = &host->loads[i];
        bool is_known = standard_resource_find(str(load->name)) != NULL ||
                        state_find_object(s, OBJECT_RESOURCE, load->name) != NONE;
        if (is_known) buf_format(&text, "%s%s=%s", text.length > 0 ? "\n" : "", load->name, load->value);
    }
    const char *copy = arena_copy(arena, (struct str){text.text, text.length});
    buf_release(&text);
    return copy;
}

/* What a host has and reports; of one that is not attached nothing is known. Returns the next value. */
static struct field_value *add_report(const struct state *s, uint32_t index, struct arena *arena,
                                      struct field_value *value)
{
    bool is_known = index < s->hosts.count && s->hosts.items[index].is_attached;
    const struct host_row *host = is_known ? &s->hosts.items[index] : NULL;
    *value++ = field_number(is_known);
    *value++ = field_number(host != NULL && host->is_down);
    *value++ = host != NULL ? field_number(host->host.has.cpus) : field_absent();
    *value++ = host != NULL ? field_number((int64_t)host->host.has.mem_mib) : field_absent();
    *value++ = host != NULL ? field_number(host->host.has.gpus) : field_absent();
    *value++ = host != NULL ? field_text(load_text(s, host, arena)) : field_absent();
    return value;
}

static struct field_value closed_until(const struct state *s, uint32_t partition, int64_t now_us)
{
    int64_t end_us = closed_times_end(s, partition, now_us);
    return end_us != 0 && end_us != TIMELINE_END ? field_number(end_us) : field_absent();
}

/* The current usage of a QOS. Returns the next value. */
static struct field_value *add_usage(struct state *s, uint32_t qos, int64_t now_us, struct arena *arena,
                                     struct field_value *value)
{
    double usage[USAGE_KIND_COUNT];
    struct tres_amount amounts[TRES_MAX];
    struct tres_list list = {.items = amounts};
    struct buf text = {0};
    usage_sums_qos_list(s, qos, now_us, usage);
    tres_list_from_amounts(usage, s->policy.tres.count, &list);
    tres_text_format_list(&s->policy.tres, &list, &text);
    *value++ = field_real(usage[TRES_BILLING]);
    *value++ = field_real(usage[USAGE_WALL]);
    *value++ = field_text(text.length > 0 ? arena_copy(arena, (struct str){text.text, text.length}) : "");
    buf_release(&text);
    return value;
}

/* The name and the fields. Returns the next value. */
static struct field_value *add_fields(enum object_kind kind, const struct object *o, struct arena *arena,
                                      struct field_value *value)
{
    *value++ = field_text(arena_copy(arena, str(o->name)));
    for (uint32_t i = 0; i < object_classes[kind].field_count; i++) {
        *value = o->value[i];
        value->text = arena_copy(arena, str(value->text));
        value++;
    }
    return value;
}

/* Fills the record of a built-in resource that has no row. */
static void make_built_in(const char *name, struct arena *arena, struct field_value *out)
{
    const struct object o = standard_resource_defaults(name);
    struct field_value *value = add_fields(OBJECT_RESOURCE, &o, arena, out);
    *value++ = field_number(true);
    *value++ = field_absent();
}

/* Appends the built-in resources that have no rows. Returns the number of all records. */
static uint32_t add_built_in(const struct state *s, struct arena *arena, struct field_value *values, uint32_t count)
{
    uint32_t width = object_classes[OBJECT_RESOURCE].record.count;
    for (uint32_t i = 0; i <= STANDARD_RESOURCE_COUNT; i++) {
        const char *name = i == 0 ? SLOTS_RESOURCE : standard_resources[i - 1].name;
        if (state_find_object(s, OBJECT_RESOURCE, name) != NONE) continue;
        make_built_in(name, arena, values + (size_t)count++ * width);
    }
    return count;
}

/* Fills the record of an object; its texts are in memory of arena. */
static void make_record(struct state *s, enum object_kind kind, uint32_t index, int64_t now_us, struct arena *arena,
                        struct field_value *out)
{
    const struct object_class *class = &object_classes[kind];
    const struct object_row *row = &s->objects[kind].items[index];
    struct field_value *value = add_fields(kind, &row->object, arena, out);
    if (kind == OBJECT_QOS) value = add_usage(s, index, now_us, arena, value);
    if (kind == OBJECT_HOST) value = add_report(s, index, arena, value);
    if (kind == OBJECT_RESOURCE) *value++ = field_number(standard_resource_is_built_in(row->object.name));
    if (kind == OBJECT_PARTITION) *value++ = closed_until(s, index, now_us);
    if (kind == OBJECT_PARTITION) *value++ = field_number(index == object_row_first(s, kind));
    *value++ = field_number(row->created_us);
    ensure(value == out + class->record.count);
}

int server_get_objects(struct request *r, struct err *e)
{
    struct state *s = r->server->host.state;
    enum object_kind kind = r->route->object;
    const struct field_table *table = &object_classes[kind].record;
    if (request_read_query(r, NULL, e) != 0) return -1;
    int64_t now_us = r->server->host.now_us(r->server->host.context);
    struct stream *stream = stream_new(r);
    struct field_value *values = arena_alloc(
        &stream->arena, (s->objects[kind].count + STANDARD_RESOURCE_COUNT + (size_t)1) * table->count * sizeof *values);
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->objects[kind].count; i++) {
        const struct object_row *row = &s->objects[kind].items[i];
        bool is_of_user = kind == OBJECT_USER_POLICY;
        if (row->is_deleted) continue;
        if (is_of_user && visibility_hides(s, &r->actor, PRIVATE_USERS, row->object.name)) continue;
        make_record(s, kind, i, now_us, &stream->arena, values + (size_t)count++ * table->count);
    }
    if (kind == OBJECT_RESOURCE) count = add_built_in(s, &stream->arena, values, count);
    char head[40];
    text_format(head, sizeof head, "{\"%s\":[", object_classes[kind].plural);
    return server_reply_records(stream, r, head, table, (struct wire_list){values, count}, e);
}

/* --- changing ----------------------------------------------------------------------------------------------------- */

static void queue_object(struct request *r, enum event_kind event, const char *name, const struct wire_pair *pairs,
                         uint32_t count)
{
    struct event_pair *event_pairs = request_copy_pairs(r, pairs, count);
    request_new_event(r, event)->object = (struct event_object){r->route->object, name, event_pairs, count};
    request_queue(r);
}

int server_post_object(struct request *r, struct err *e)
{
    struct wire_list list;
    const char *name = NULL;
    if (request_read_query(r, NULL, e) != 0 || wire_read_pairs(request_body_text(r), &r->arena, &list, e) != 0)
        return -1;
    struct wire_pair *pairs = list.items;
    uint32_t count = 0;
    for (uint32_t i = 0; i < list.count; i++) {
        if (strcmp(pairs[i].name, "name") == 0) {
            name = pairs[i].value;
        } else {
            pairs[count++] = pairs[i];
        }
    }
    if (name == NULL)
        return err_field(e, ERR_INPUT, "name", "missing; the name of the %s", object_classes[r->route->object].name);
    queue_object(r, EVENT_OBJECT_ADD, name, pairs, count);
    return 0;
}

int server_patch_object(struct request *r, struct err *e)
{
    struct wire_list list;
    if (request_read_query(r, NULL, e) != 0 || wire_read_pairs(request_body_text(r), &r->arena, &list, e) != 0)
        return -1;
    queue_object(r, EVENT_OBJECT_MODIFY, r->segment, list.items, list.count);
    return 0;
}

int server_delete_object(struct request *r, struct err *e)
{
    if (request_read_query(r, NULL, e) != 0) return -1;
    queue_object(r, EVENT_OBJECT_DELETE, r->segment, NULL, 0);
    return 0;
}
