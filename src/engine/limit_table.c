#include "engine/limit_table.h"

#include <string.h>

#include "base/ensure.h"
#include "fields/limit_fields.h"

/* --- the fields of both ------------------------------------------------------------------------------------------- */

enum { NO_FIELD = -1 };

static const int assoc_counts[LIMIT_COUNT_COUNT] = {
    [LIMIT_GRP_JOBS] = ASSOC_GRP_JOBS,       [LIMIT_GRP_SUBMIT] = ASSOC_GRP_SUBMIT,
    [LIMIT_GRP_WALL] = ASSOC_GRP_WALL,       [LIMIT_MAX_JOBS] = ASSOC_MAX_JOBS,
    [LIMIT_MAX_SUBMIT] = ASSOC_MAX_SUBMIT,   [LIMIT_MAX_WALL] = ASSOC_MAX_WALL,
    [LIMIT_MAX_JOBS_PER_ACCOUNT] = NO_FIELD, [LIMIT_MAX_SUBMIT_PER_ACCOUNT] = NO_FIELD,
};
static const int assoc_tres[LIMIT_TRES_COUNT] = {
    [LIMIT_GRP_TRES] = ASSOC_GRP_TRES,
    [LIMIT_GRP_TRES_MINS] = ASSOC_GRP_TRES_MINS,
    [LIMIT_GRP_TRES_RUN_MINS] = ASSOC_GRP_TRES_RUN_MINS,
    [LIMIT_MAX_TRES] = ASSOC_MAX_TRES,
    [LIMIT_MAX_TRES_PER_NODE] = ASSOC_MAX_TRES_PER_NODE,
    [LIMIT_MAX_TRES_MINS] = ASSOC_MAX_TRES_MINS,
    [LIMIT_MAX_TRES_PER_USER] = NO_FIELD,
    [LIMIT_MAX_TRES_PER_ACCOUNT] = NO_FIELD,
    [LIMIT_MIN_TRES] = NO_FIELD,
};
static const int qos_counts[LIMIT_COUNT_COUNT] = {
    [LIMIT_GRP_JOBS] = QOS_GRP_JOBS,
    [LIMIT_GRP_SUBMIT] = QOS_GRP_SUBMIT,
    [LIMIT_GRP_WALL] = QOS_GRP_WALL,
    [LIMIT_MAX_JOBS] = QOS_MAX_JOBS_PER_USER,
    [LIMIT_MAX_SUBMIT] = QOS_MAX_SUBMIT_PER_USER,
    [LIMIT_MAX_WALL] = QOS_MAX_WALL,
    [LIMIT_MAX_JOBS_PER_ACCOUNT] = QOS_MAX_JOBS_PER_ACCOUNT,
    [LIMIT_MAX_SUBMIT_PER_ACCOUNT] = QOS_MAX_SUBMIT_PER_ACCOUNT,
};
static const int qos_tres[LIMIT_TRES_COUNT] = {
    [LIMIT_GRP_TRES] = QOS_GRP_TRES,
    [LIMIT_GRP_TRES_MINS] = QOS_GRP_TRES_MINS,
    [LIMIT_GRP_TRES_RUN_MINS] = QOS_GRP_TRES_RUN_MINS,
    [LIMIT_MAX_TRES] = QOS_MAX_TRES,
    [LIMIT_MAX_TRES_PER_NODE] = QOS_MAX_TRES_PER_NODE,
    [LIMIT_MAX_TRES_MINS] = QOS_MAX_TRES_MINS,
    [LIMIT_MAX_TRES_PER_USER] = QOS_MAX_TRES_PER_USER,
    [LIMIT_MAX_TRES_PER_ACCOUNT] = QOS_MAX_TRES_PER_ACCOUNT,
    [LIMIT_MIN_TRES] = QOS_MIN_TRES,
};

/* --- reading ------------------------------------------------------------------------------------------------------ */

double limit_table_amount(const struct limit_set *l, enum limit_tres limit, uint32_t tres)
{
    if (l == NULL) return -1.0;
    const struct tres_list *list = &l->tres[limit];
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].tres == tres) return list->items[i].amount;
    }
    return -1.0;
}

/* The TRES that a text limits, including those limited to 0, in memory of arena. The text is valid. */
static struct tres_list read_tres(const struct tres_table *t, const char *text, struct arena *arena)
{
    struct tres_list list = {.items = arena_alloc(arena, (t->count + (size_t)1) * sizeof *list.items)};
    double limits[TRES_MAX];
    for (uint32_t i = 0; i < t->count; i++) limits[i] = TRES_UNLIMITED;
    ensure(tres_limits_change(t, str(text), "", limits, NULL) == 0);
    for (uint32_t i = 0; i < t->count; i++) {
        if (limits[i] >= 0.0) list.items[list.count++] = (struct tres_amount){i, limits[i]};
    }
    return list;
}

/* NULL: no field has a limit. The fields are valid. */
static const struct limit_set *read_limits(const struct state *s, const struct field_value *values, const int *counts,
                                           const int *tres, struct arena *arena)
{
    struct limit_set l = {.count = {0}};
    bool has_any = false;
    for (int i = 0; i < LIMIT_COUNT_COUNT; i++) {
        int64_t value = counts[i] == NO_FIELD ? FIELD_SPECIAL : values[counts[i]].number;
        l.count[i] = value == FIELD_SPECIAL ? LIMIT_UNLIMITED : value;
        has_any |= value != FIELD_SPECIAL;
    }
    for (int i = 0; i < LIMIT_TRES_COUNT; i++) {
        const char *text = tres[i] == NO_FIELD ? "" : values[tres[i]].text;
        if (text[0] == '\0') continue;
        l.tres[i] = read_tres(&s->policy.tres, text, arena);
        has_any = true;
    }
    if (!has_any) return NULL;
    struct limit_set *kept = arena_alloc(arena, sizeof *kept);
    *kept = l;
    return kept;
}

/* --- inheritance -------------------------------------------------------------------------------------------------- */

static bool has_group_limits(const struct limit_set *l)
{
    if (l == NULL) return false;
    return l->count[LIMIT_GRP_JOBS] != LIMIT_UNLIMITED || l->count[LIMIT_GRP_SUBMIT] != LIMIT_UNLIMITED ||
           l->count[LIMIT_GRP_WALL] != LIMIT_UNLIMITED || l->tres[LIMIT_GRP_TRES].count > 0 ||
           l->tres[LIMIT_GRP_TRES_MINS].count > 0 || l->tres[LIMIT_GRP_TRES_RUN_MINS].count > 0;
}

static bool has_member_limits(const struct limit_set *l)
{
    if (l == NULL) return false;
    return l->count[LIMIT_MAX_JOBS] != LIMIT_UNLIMITED || l->count[LIMIT_MAX_SUBMIT] != LIMIT_UNLIMITED ||
           l->count[LIMIT_MAX_WALL] != LIMIT_UNLIMITED || l->tres[LIMIT_MAX_TRES].count > 0 ||
           l->tres[LIMIT_MAX_TRES_PER_NODE].count > 0 || l->tres[LIMIT_MAX_TRES_MINS].count > 0;
}

/* The union; own values win. */
static struct tres_list merge_tres(const struct limit_set *own, const struct limit_set *above, enum limit_tres limit,
                                   struct arena *arena)
{
    const struct tres_list *a = &own->tres[limit], *b = &above->tres[limit];
    if (a->count == 0 || b->count == 0) return a->count == 0 ? *b : *a;
    struct tres_list merged = {.items = arena_alloc(arena, (a->count + b->count) * sizeof *merged.items)};
    for (uint32_t i = 0, k = 0; i < a->count || k < b->count;) {
        bool is_own = k == b->count || (i < a->count && a->items[i].tres <= b->items[k].tres);
        if (is_own && k < b->count && a->items[i].tres == b->items[k].tres) k++;
        merged.items[merged.count++] = is_own ? a->items[i++] : b->items[k++];
    }
    return merged;
}

static const struct limit_set *inherit(const struct limit_set *own, const struct limit_set *above, struct arena *arena)
{
    static const enum limit_count counts[] = {LIMIT_MAX_JOBS, LIMIT_MAX_SUBMIT, LIMIT_MAX_WALL};
    static const enum limit_tres tres[] = {LIMIT_MAX_TRES, LIMIT_MAX_TRES_PER_NODE, LIMIT_MAX_TRES_MINS};
    if (!has_member_limits(own)) return above;
    if (above == NULL) return own;
    struct limit_set *merged = arena_alloc(arena, sizeof *merged);
    *merged = *own;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (own->count[counts[i]] == LIMIT_UNLIMITED) merged->count[counts[i]] = above->count[counts[i]];
    }
    for (size_t i = 0; i < sizeof tres / sizeof *tres; i++)
        merged->tres[tres[i]] = merge_tres(own, above, tres[i], arena);
    return merged;
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

static bool limits_usage(const struct limit_set *l)
{
    return l != NULL && (l->tres[LIMIT_GRP_TRES_MINS].count > 0 || l->count[LIMIT_GRP_WALL] != LIMIT_UNLIMITED);
}

/* The rows from first on: their own limits first, because a parent may have a larger index. */
static void add_assocs(struct limit_table *t, const struct state *s, uint32_t first)
{
    for (uint32_t i = first; i < s->assocs.count; i++) {
        const struct assoc *a = &s->assocs.items[i];
        const struct limit_set *own =
            a->limits != NULL ? read_limits(s, a->limits, assoc_counts, assoc_tres, &t->arena) : NULL;
        *array_add(&t->of_assoc) = own;
        *array_add(&t->of_member) = NULL;
        *array_add(&t->group) = NONE;
        if (a->deleted_us != 0) continue;
        t->has_any |= own != NULL;
        if (limits_usage(own)) *array_add(&t->timed_assocs) = i;
    }
    for (uint32_t i = first; i < s->assocs.count; i++) {
        uint32_t path[TREE_DEPTH_MAX + 2], depth = 0;
        const struct limit_set *above = NULL;
        uint32_t group = NONE;
        for (uint32_t a = i; a != NONE && depth < TREE_DEPTH_MAX + 2; a = s->assocs.items[a].parent) path[depth++] = a;
        while (depth-- > 0) {
            const struct limit_set *own = t->of_assoc.items[path[depth]];
            const struct limit_set *known = t->of_member.items[path[depth]];
            above = known != NULL ? known : inherit(own, above, &t->arena);
            t->of_member.items[path[depth]] = above;
            if (has_group_limits(own)) group = path[depth];
        }
        t->group.items[i] = group;
    }
}

static void add_objects(struct limit_table *t, const struct state *s)
{
    for (uint32_t i = 0; i < s->objects[OBJECT_QOS].count; i++) {
        const struct object_row *q = &s->objects[OBJECT_QOS].items[i];
        const struct limit_set *l =
            q->is_deleted ? NULL : read_limits(s, q->object.value, qos_counts, qos_tres, &t->arena);
        *array_add(&t->of_qos) = l;
        t->has_any |= l != NULL;
        if (limits_usage(l)) *array_add(&t->timed_qos) = i;
    }
    for (uint32_t i = 0; i < s->objects[OBJECT_PARTITION].count; i++) {
        const struct object_row *p = &s->objects[OBJECT_PARTITION].items[i];
        const char *qos = p->object.value[PARTITION_QOS].text;
        bool has_qos = !p->is_deleted && qos != NULL && qos[0] != '\0';
        *array_add(&t->qos_of_partition) = has_qos ? state_find_object(s, OBJECT_QOS, qos) : NONE;
    }
}

static void clear(struct limit_table *t)
{
    array_clear(&t->of_assoc);
    array_clear(&t->of_member);
    array_clear(&t->group);
    array_clear(&t->of_qos);
    array_clear(&t->qos_of_partition);
    array_clear(&t->timed_assocs);
    array_clear(&t->timed_qos);
    arena_clear(&t->arena);
    t->has_any = false;
}

const struct limit_table *limit_table_of(struct state *s)
{
    if (s->limit_table == NULL) {
        s->limit_table = mem_resize(NULL, 0, sizeof *s->limit_table);
        *s->limit_table = (struct limit_table){.is_valid = false};
    }
    struct limit_table *t = s->limit_table;
    bool is_current =
        t->is_valid && t->rules_edition == s->rules_edition && t->of_qos.count == s->objects[OBJECT_QOS].count &&
        t->resource_count == s->objects[OBJECT_RESOURCE].count &&
        t->qos_of_partition.count == s->objects[OBJECT_PARTITION].count && t->of_assoc.count <= s->assocs.count;
    if (!is_current) {
        clear(t);
        add_objects(t, s);
        tres_indices_find(s, &t->arena, &t->indices);
        t->is_valid = true;
        t->rules_edition = s->rules_edition;
        t->resource_count = s->objects[OBJECT_RESOURCE].count;
    }
    if (t->of_assoc.count < s->assocs.count) add_assocs(t, s, t->of_assoc.count);
    return t;
}

void limit_table_invalidate(struct state *s)
{
    if (s->limit_table != NULL) s->limit_table->is_valid = false;
}

void limit_table_free(struct limit_table *t)
{
    if (t == NULL) return;
    clear(t);
    array_release(&t->of_assoc);
    array_release(&t->of_member);
    array_release(&t->group);
    array_release(&t->of_qos);
    array_release(&t->qos_of_partition);
    array_release(&t->timed_assocs);
    array_release(&t->timed_qos);
    arena_release(&t->arena);
    mem_free(t);
}
