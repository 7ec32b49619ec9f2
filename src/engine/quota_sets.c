#include "engine/quota_sets.h"

#include <string.h>

#include "base/ensure.h"

/* --- what rules name ---------------------------------------------------------------------------------------------- */

static int fail_item(struct str item, const struct quota_rule *rule, uint32_t index, const char *accepted,
                     struct err *e)
{
    struct buf name = {0};
    quota_text_rule_name(rule, index, &name);
    int status = err_value_reason(e, "rules", item, "in rule %s is not %s", name.text, accepted);
    buf_release(&name);
    return status;
}

static bool exists(const struct state *s, enum object_kind kind, struct str name)
{
    return map_get(&s->object_by_name[kind], name) != NONE;
}

/* Whether an item may match; users need no object, and a pattern may match what comes later. */
static bool is_known(const struct state *s, enum quota_filter filter, struct str item)
{
    static const enum object_kind kinds[QUOTA_FILTER_COUNT] = {[QUOTA_USERS] = OBJECT_USER_POLICY,
                                                               [QUOTA_PROJECTS] = OBJECT_PROJECT,
                                                               [QUOTA_PES] = OBJECT_ENVIRONMENT,
                                                               [QUOTA_QUEUES] = OBJECT_PARTITION,
                                                               [QUOTA_HOSTS] = OBJECT_HOST};
    struct str group;
    if (quota_text_is_group(item, &group)) {
        bool is_default = filter == QUOTA_USERS && str_equal(group, str(DEFAULT_DEPARTMENT));
        return is_default || exists(s, filter == QUOTA_USERS ? OBJECT_DEPARTMENT : OBJECT_GROUP, group);
    }
    return filter == QUOTA_USERS || quota_text_is_pattern(item) || exists(s, kinds[filter], item);
}

static int check_items(const struct state *s, const struct quota_rule *rule, uint32_t index, struct err *e)
{
    static const char *const accepted[QUOTA_FILTER_COUNT] = {"a department", "a project", "a parallel environment",
                                                             "a partition", "a host or a group of hosts"};
    for (int f = 0; f < QUOTA_FILTER_COUNT; f++) {
        for (uint32_t i = 0; i < rule->scope[f].count; i++) {
            struct str item = rule->scope[f].items[i].name;
            if (!is_known(s, (enum quota_filter)f, item)) return fail_item(item, rule, index, accepted[f], e);
        }
    }
    return 0;
}

/* --- amounts ------------------------------------------------------------------------------------------------------ */

static int read_formula(const struct cluster_resources *r, const struct quota_rule *rule, uint32_t index,
                        struct str text, struct arena *arena, struct load_formula_text *out, struct err *e)
{
    ensure(host_text_load_formula(text, "rules", arena, out, NULL) == 0); /* as the rules were checked */
    for (uint32_t i = 0; i < out->count; i++) {
        struct str name = out->terms[i].name;
        if (name.length > 0 && !cluster_resources_has_number(r, name))
            return fail_item(name, rule, index, "a value of hosts that is a number", e);
    }
    return 0;
}

static int read_amount(const struct cluster_resources *r, const struct quota_rule *rule, uint32_t index,
                       const struct quota_limit *limit, struct arena *arena, struct quota_amount *out, struct err *e)
{
    uint32_t resource = cluster_resources_find(r, limit->resource);
    const struct cluster_resource *found = resource != NONE ? &r->list.items[resource] : NULL;
    struct err below;
    struct offer offer;
    if (found == NULL || !found->is_consumable || found->relop == RELOP_EXCLUSIVE)
        return fail_item(limit->resource, rule, index, "a resource of which jobs take amounts (a consumable)", e);
    out->resource = resource;
    if (limit->is_formula) return read_formula(r, rule, index, limit->amount, arena, &out->formula, e);
    if (cluster_resources_offer(r, resource, limit->amount, arena, &offer, &below) != 0)
        return fail_item(limit->amount, rule, index, below.accepted, e);
    out->amount = offer.amount;
    return 0;
}

static int read_rule(const struct state *s, const struct cluster_resources *r, struct quota_set *set, uint32_t index,
                     struct arena *arena, struct err *e)
{
    const struct quota_rule *rule = &set->rules.items[index];
    if (check_items(s, rule, index, e) != 0) return -1;
    struct quota_amount *amounts = arena_alloc(arena, rule->limit_count * sizeof *amounts);
    for (uint32_t i = 0; i < rule->limit_count; i++) {
        if (read_amount(r, rule, index, &rule->limits[i], arena, &amounts[i], e) != 0) return -1;
    }
    for (int f = 0; f < QUOTA_FILTER_COUNT; f++) set->mentions[f] |= rule->scope[f].count > 0;
    set->amounts[index] = amounts;
    return 0;
}

static int read_set(const struct state *s, const struct cluster_resources *r, const struct object *o,
                    struct arena *arena, struct quota_set *out, struct err *e)
{
    struct quota_set set = {.name = o->name};
    if (quota_text_rules(str(o->value[QUOTA_RULES].text), "rules", arena, &set.rules, e) != 0) return -1;
    set.amounts = arena_alloc(arena, (set.rules.count + (size_t)1) * sizeof(struct quota_amount *));
    set.found = arena_alloc(arena, (set.rules.count + (size_t)1) * sizeof *set.found);
    for (uint32_t i = 0; i < set.rules.count; i++) {
        if (read_rule(s, r, &set, i, arena, e) != 0) return -1;
    }
    *out = set;
    return 0;
}

int quota_sets_make(const struct state *s, const struct cluster_resources *resources, struct arena *arena,
                    struct quota_sets *out, struct err *e)
{
    uint32_t count = s->objects[OBJECT_QUOTA].count;
    struct quota_sets sets = {.items = arena_alloc(arena, (count + (size_t)1) * sizeof *sets.items)};
    for (uint32_t i = 0; i < count; i++) {
        const struct object_row *row = &s->objects[OBJECT_QUOTA].items[i];
        if (row->is_deleted) continue;
        struct quota_set *set = &sets.items[sets.count];
        if (read_set(s, resources, &row->object, arena, set, e) != 0) return err_of(e, "quota", str(row->object.name));
        sets.count += row->object.value[QUOTA_ENABLED].number != 0 && set->rules.count > 0;
    }
    *out = sets;
    return 0;
}

/* --- what rules are for ------------------------------------------------------------------------------------------- */

static const char *value_of(const struct state *s, const struct quota_subject *subject, enum quota_filter filter)
{
    switch (filter) {
    case QUOTA_USERS: return subject->user;
    case QUOTA_PROJECTS: return subject->project;
    case QUOTA_PES: return subject->pe;
    case QUOTA_QUEUES: return subject->queue;
    default: return s->objects[OBJECT_HOST].items[subject->host].object.name;
    }
}

/* Of a list of hosts quota_sets_hosts says it. */
static bool matches_item(const struct state *s, enum quota_filter filter, struct str item,
                         const struct quota_subject *subject)
{
    struct str group;
    const char *value = value_of(s, subject, filter);
    if (value == NULL) return false;
    if (filter == QUOTA_USERS && quota_text_is_group(item, &group)) return str_equal(group, str(subject->department));
    return str_matches(str(value), item);
}

static bool matches_scope(const struct state *s, enum quota_filter filter, const struct quota_scope *scope,
                          const struct quota_subject *subject)
{
    bool includes = false, is_included = false;
    for (uint32_t i = 0; i < scope->count; i++) {
        const struct quota_item *item = &scope->items[i];
        bool matches = matches_item(s, filter, item->name, subject);
        if (item->is_excluded && matches) return false;
        includes |= !item->is_excluded;
        is_included |= !item->is_excluded && matches;
    }
    return is_included || !includes;
}

bool quota_sets_has_user(const struct state *s, const struct quota_scope *scope, const char *user)
{
    uint32_t index = state_find_object(s, OBJECT_USER_POLICY, user);
    const struct object_row *row = index != NONE ? &s->objects[OBJECT_USER_POLICY].items[index] : NULL;
    const struct quota_subject subject = {
        .user = user, .department = row != NULL ? row->object.value[USER_DEPARTMENT].text : DEFAULT_DEPARTMENT};
    return matches_scope(s, QUOTA_USERS, scope, &subject);
}

bool quota_sets_may_be_for(const struct state *s, const struct quota_rule *rule, const struct quota_subject *subject)
{
    static const enum quota_filter filters[] = {QUOTA_USERS, QUOTA_PROJECTS, QUOTA_PES};
    bool matches = true;
    for (size_t i = 0; i < sizeof filters / sizeof *filters && matches; i++)
        matches = matches_scope(s, filters[i], &rule->scope[filters[i]], subject);
    return matches;
}

bool quota_sets_has_queue(const struct state *s, const struct quota_rule *rule, const char *queue)
{
    const struct quota_subject subject = {.queue = queue};
    return matches_scope(s, QUOTA_QUEUES, &rule->scope[QUOTA_QUEUES], &subject);
}

/* Adds the hosts of an item: those of a group, those with a name that matches, or one. */
static void add_hosts(const struct state *s, const struct host_names *hosts, struct str item, uint64_t *set)
{
    struct str group;
    if (quota_text_is_group(item, &group)) {
        uint32_t index = map_get(&s->object_by_name[OBJECT_GROUP], group);
        for (uint32_t k = 0; index != NONE && k < hosts->words; k++) set[k] |= hosts->members[index][k];
    } else if (quota_text_is_pattern(item)) {
        for (uint32_t i = 0; i < s->objects[OBJECT_HOST].count; i++) {
            bool matches = str_matches(str(s->objects[OBJECT_HOST].items[i].object.name), item);
            set[i / 64] |= (uint64_t)matches << i % 64;
        }
    } else {
        uint32_t index = map_get(&s->object_by_name[OBJECT_HOST], item);
        if (index != NONE) set[index / 64] |= UINT64_C(1) << index % 64;
    }
}

uint64_t *quota_sets_hosts(const struct state *s, const struct host_names *hosts, const struct quota_rule *rule,
                           struct arena *arena)
{
    const struct quota_scope *scope = &rule->scope[QUOTA_HOSTS];
    bool includes = false;
    if (scope->count == 0) return NULL;
    uint64_t *included = arena_alloc(arena, hosts->words * sizeof *included);
    uint64_t *excluded = arena_alloc(arena, hosts->words * sizeof *excluded);
    for (uint32_t i = 0; i < scope->count; i++) {
        const struct quota_item *item = &scope->items[i];
        includes |= !item->is_excluded;
        add_hosts(s, hosts, item->name, item->is_excluded ? excluded : included);
    }
    for (uint32_t k = 0; k < hosts->words; k++) included[k] = (includes ? included[k] : UINT64_MAX) & ~excluded[k];
    return included;
}

void quota_sets_list_members(const struct state *s, const struct quota_rule *rule, const struct quota_subject *subject,
                             const char *out_members[QUOTA_FILTER_COUNT])
{
    for (int f = 0; f < QUOTA_FILTER_COUNT; f++) {
        const char *value = rule->scope[f].is_each ? value_of(s, subject, (enum quota_filter)f) : NULL;
        out_members[f] = value != NULL ? value : "";
    }
}
