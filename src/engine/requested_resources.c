#include "engine/requested_resources.h"

#include "base/ensure.h"
#include "engine/limit_table.h"
#include "engine/never_runs.h"
#include "fields/standard_resources.h"

/* Hosts and queues have their names, what else there is a host reports. */
static bool is_offered(const struct state *s, struct str name)
{
    if (str_equal(name, str(HOST_NAME_RESOURCE)) || str_equal(name, str(QUEUE_NAME_RESOURCE))) return true;
    for (uint32_t h = 0; h < s->hosts.count; h++) {
        const struct host_row *host = &s->hosts.items[h];
        for (uint32_t i = 0; i < host->load_count; i++) {
            if (str_equal(str(host->loads[i].name), name)) return true;
        }
    }
    return false;
}

static uint32_t add_named(struct apply_context *c, const struct job_values *given, enum job_field f)
{
    struct state *s = c->s;
    uint32_t added = 0;
    const char *text = given->is_given[f] ? given->value[f].text : NULL;
    for (struct str rest = str(text); rest.text != NULL;) {
        struct str amount, name = str_trim(str_cut(str_cut(rest, ',', &rest), '=', &amount));
        const struct standard_resource *standard = standard_resource_find(name);
        if (standard == NULL || state_find_object(s, OBJECT_RESOURCE, standard->name) != NONE) continue;
        if (!is_offered(s, name)) continue;
        const struct object o = standard_resource_object(standard);
        uint32_t index = object_row_add(s, OBJECT_RESOURCE, &o, c->now_us);
        ensure(object_derive(s, OBJECT_RESOURCE, index, NULL) == 0);
        added++;
    }
    return added;
}

uint32_t requested_resources_add(struct apply_context *c, const struct job_values *given)
{
    return add_named(c, given, JOB_FIELD_REQUESTS) + add_named(c, given, JOB_FIELD_SOFT);
}

void requested_resources_settle(struct apply_context *c, uint32_t added, bool is_refused)
{
    struct state *s = c->s;
    for (uint32_t i = 0; i < added; i++) {
        uint32_t index = s->objects[OBJECT_RESOURCE].count - 1 - (is_refused ? 0 : i);
        if (is_refused)
            object_row_remove_last(s, OBJECT_RESOURCE, index);
        else
            apply_note_change(c, TABLE_OBJECT, object_change(OBJECT_RESOURCE, index));
    }
    if (added > 0 && is_refused) { /* the next ones that are added may have other names */
        never_runs_drop(s);
        limit_table_invalidate(s);
    }
    if (added == 0 || is_refused) return;
    s->object_edition++;
    s->rules_edition++;
    s->pass_is_due = true;
}
