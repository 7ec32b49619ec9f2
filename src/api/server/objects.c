/* What an administrator names: partitions, QOS, policy users, projects, departments, resources. One listing and three
 * handlers for all kinds; which kind is in the route's row, what its fields are in policy/objects.h. Values go to the
 * engine as people write them, and are read there. */
#include <string.h>

#include "api/server/internal.h"

/* --- reading ------------------------------------------------------------------------------------------------------ */

static struct wire_object_value value_of(const struct field *f, const struct field_value *value, struct arena *arena)
{
    struct buf text = {0};
    struct wire_object_value out = {.number = value->number, .real = value->real, .is_true = value->number == 1};
    field_format(f, value, &text);
    out.text = arena_copy(arena, (struct str){text.text, text.length});
    buf_release(&text);
    return out;
}

static struct wire_object_row row_of(const struct state *s, enum object_kind kind, uint32_t index, int64_t now_us,
                                     struct arena *arena)
{
    const struct object_class *class = &object_classes[kind];
    const struct object_row *from = &s->objects[kind].items[index];
    struct wire_object_row row = {.name = arena_copy(arena, str(from->object.name)), .created_us = from->created_us};
    for (uint32_t i = 0; i < class->field_count; i++)
        row.values[i] = value_of(&class->fields[i], &from->object.value[i], arena);
    if (kind == OBJECT_QOS) row.usage = state_qos_usage(s, index, now_us);
    return row;
}

int get_objects(struct request *r, struct err *e)
{
    const struct state *s = r->server->host.state;
    enum object_kind kind = r->route->object;
    const struct wire_object_kind *wire = &wire_object_kinds[kind];
    if (read_query(r, NULL, e) != 0) return -1;
    int64_t now_us = r->server->host.now_us(r->server->host.context);
    struct stream *stream = stream_new(r);
    struct wire_object_row *rows = arena_alloc(&stream->arena, (s->objects[kind].count + (size_t)1) * sizeof *rows);
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->objects[kind].count; i++) {
        if (!s->objects[kind].items[i].is_deleted) rows[count++] = row_of(s, kind, i, now_us, &stream->arena);
    }
    char head[40];
    text_format(head, sizeof head, "{\"%s\":[", object_classes[kind].plural);
    return reply_made_rows(stream, r, head, wire->row, (struct wire_list){rows, count}, e);
}

/* --- changing ----------------------------------------------------------------------------------------------------- */

static void queue_object(struct request *r, enum event_kind event, const char *name, const struct wire_pair *pairs,
                         uint32_t count)
{
    struct event_pair *wanted = arena_alloc(&r->arena, (count + (size_t)1) * sizeof *wanted);
    for (uint32_t i = 0; i < count; i++) wanted[i] = (struct event_pair){pairs[i].name, pairs[i].value};
    new_events(r, event, 1)->object = (struct event_object){r->route->object, name, wanted, count};
    request_queue(r);
}

int post_object(struct request *r, struct err *e)
{
    struct wire_list list;
    const char *name = NULL;
    if (read_query(r, NULL, e) != 0 || wire_read_pairs(body_text(r), &r->arena, &list, e) != 0) return -1;
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
        return err_set(e, ERR_INPUT, "name: missing; the name of the %s", object_classes[r->route->object].name);
    queue_object(r, EVENT_OBJECT_ADD, name, pairs, count);
    return 0;
}

int patch_object(struct request *r, struct err *e)
{
    struct wire_list list;
    if (read_query(r, NULL, e) != 0 || wire_read_pairs(body_text(r), &r->arena, &list, e) != 0) return -1;
    queue_object(r, EVENT_OBJECT_MODIFY, r->segment, list.items, list.count);
    return 0;
}

int delete_object(struct request *r, struct err *e)
{
    if (read_query(r, NULL, e) != 0) return -1;
    queue_object(r, EVENT_OBJECT_DELETE, r->segment, NULL, 0);
    return 0;
}
