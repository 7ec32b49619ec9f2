#include "engine/queue_list.h"

static struct str next_item(struct str *rest)
{
    return str_trim(str_cut(*rest, ',', rest));
}

static bool matches(const struct state *s, enum object_kind kind, uint32_t index, struct str pattern)
{
    const struct object_row *row = &s->objects[kind].items[index];
    return !row->is_deleted && str_matches(str(row->object.name), pattern);
}

static bool is_group(struct str hosts)
{
    return hosts.length > 1 && hosts.text[0] == '@';
}

static uint32_t find_group(const struct state *s, struct str hosts)
{
    return map_get(&s->object_by_name[OBJECT_GROUP], str_range(hosts.text + 1, hosts.text + hosts.length));
}

static bool is_for_host(const struct state *s, const struct cluster_model *m, struct str hosts, uint32_t host)
{
    if (!is_group(hosts)) return matches(s, OBJECT_HOST, host, hosts);
    uint32_t group = find_group(s, hosts);
    return group != NONE && host_set_has(m->hosts.members[group], host);
}

bool queue_list_has(const struct state *s, const struct cluster_model *m, const char *list, uint32_t instance)
{
    uint32_t host = m->host_of[m->cluster.instances.items[instance].host];
    for (struct str rest = str(list); rest.length > 0;) {
        struct str hosts, queues = str_cut(next_item(&rest), '@', &hosts);
        if (!matches(s, OBJECT_PARTITION, m->partition_of[instance], queues)) continue;
        if (hosts.text == NULL || is_for_host(s, m, hosts, host)) return true;
    }
    return false;
}

/* Whether any item is for the partition. */
static bool has_partition(const struct state *s, const char *list, uint32_t partition)
{
    for (struct str rest = str(list); rest.length > 0;) {
        struct str unused, queues = str_cut(next_item(&rest), '@', &unused);
        if (matches(s, OBJECT_PARTITION, partition, queues)) return true;
    }
    return false;
}

uint32_t queue_list_partitions(const struct state *s, const char *list, uint32_t *out_partitions)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < s->objects[OBJECT_PARTITION].count; p++) {
        if (has_partition(s, list, p)) out_partitions[count++] = p;
    }
    return count;
}

static bool matches_any(const struct state *s, enum object_kind kind, struct str pattern)
{
    bool found = false;
    for (uint32_t i = 0; i < s->objects[kind].count && !found; i++) found = matches(s, kind, i, pattern);
    return found;
}

int queue_list_check(const struct state *s, const char *list, const char *field, struct err *e)
{
    for (struct str rest = str(list); rest.text != NULL;) {
        struct str hosts, item = next_item(&rest), queues = str_cut(item, '@', &hosts);
        if (!matches_any(s, OBJECT_PARTITION, queues)) return err_value_reason(e, field, item, "matches no partition");
        if (hosts.text == NULL) continue;
        if (is_group(hosts) ? find_group(s, hosts) == NONE : !matches_any(s, OBJECT_HOST, hosts))
            return err_value_reason(e, field, item, "matches no %s", is_group(hosts) ? "group of hosts" : "host");
    }
    return 0;
}
