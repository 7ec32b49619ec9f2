/* host drain and host resume of several hosts. The instance changes one object in a request, so all names are looked up
 * before the first change. */
#include "cli/object_hosts.h"

#include "api/bodies.h"
#include "base/map.h"
#include "cli/pairs.h"
#include "fields/host_list.h"
#include "fields/host_ranges.h"

static int read_names(struct call *call, struct name_list *out, struct err *e)
{
    struct buf text = {0};
    for (uint32_t i = 0; i < call->parsed.operand_count; i++)
        buf_format(&text, "%s%s", i > 0 ? "," : "", call->parsed.operands[i]);
    const char *copy = arena_copy(call->arena, (struct str){text.text, text.length});
    buf_release(&text);
    return host_ranges_names(str(copy), "host", call->arena, out, e);
}

/* The names of all hosts, in memory of the call. */
static int read_hosts(struct call *call, struct client *c, struct map *out, struct err *e)
{
    const struct field_table *table = &object_classes[OBJECT_HOST].record;
    struct field_value *row = arena_alloc(call->arena, table->count * sizeof *row);
    struct str text;
    int more;
    struct buf target = {0};
    buf_add_text(&target, api_object_paths[OBJECT_HOST]);
    if (client_request(c, "GET", instance_target(call, &target), str(""), e) != 0) return -1;
    while ((more = client_row(c, &text, e)) > 0) {
        if (wire_read_record(table, text, call->arena, row, e) != 0) return -1;
        map_set(out, str(arena_copy(call->arena, str(row[OBJECT_RECORD_NAME].text))), 0);
    }
    return more;
}

static int check_names(const struct name_list *names, const struct map *hosts, struct err *e)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (map_get(hosts, names->items[i]) == NONE)
            return err_not_found(e, object_classes[OBJECT_HOST].name, names->items[i]);
    return 0;
}

static int change_all(struct call *call, struct client *c, const struct object_change *change,
                      const struct name_list *names, struct err *e)
{
    struct pairs pairs = {.hint = "'fairlead host --help'"};
    int status = 0;
    pairs_set(&pairs, change->field, change->value);
    for (uint32_t i = 0; i < names->count && status == 0; i++) {
        struct buf target = {0};
        buf_add_text(&target, api_object_paths[OBJECT_HOST]);
        client_add_segment(&target, arena_copy(call->arena, names->items[i]));
        status = pairs_send(&pairs, c, "PATCH", instance_target(call, &target), e);
    }
    pairs_release(&pairs);
    return status;
}

static void write_done(struct call *call, const char *done, const struct name_list *names)
{
    struct buf list = {0};
    host_list_format(names->items, names->count, &list);
    output_line(call->out, "%s host%s %s", done, names->count == 1 ? "" : "s", list.text);
    buf_release(&list);
}

int object_hosts_set(struct call *call, const struct object_change *change, struct err *e)
{
    struct client client = {.fd = -1};
    struct name_list names;
    struct map hosts = {.arena = call->arena};
    if (read_names(call, &names, e) != 0) return -1;
    int status = instance_open(call, &client, e);
    if (status == 0) status = read_hosts(call, &client, &hosts, e);
    if (status == 0) status = check_names(&names, &hosts, e);
    if (status == 0) status = change_all(call, &client, change, &names, e);
    if (status == 0) write_done(call, change->done, &names);
    client_close(&client);
    return status;
}
