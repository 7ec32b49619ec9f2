/* `tree`: the associations. An item names the account above it, which may come later in the list. Siblings keep the
 * order of the list, which is the order of their ids. */
#include <string.h>

#include "engine/assoc_limits.h"
#include "fields/limit_fields.h"
#include "sim/document.h"

static const char root_name[] = "root";

enum { ROOT_ID = 1, FIRST_ID = 2 }; /* item i of the list has the id FIRST_ID + i, except for root */

static int read_usage_tres(struct wire_reader *r, json_t *value, void *target)
{
    return document_read_usage_tres(r, value, &((struct association_document *)target)->usage_tres);
}

#define MEMBER(member) .offset = offsetof(struct association_document, member)
#define NUMBER_OR_PARENT(max_) .type = WIRE_I64, .max = (max_), .special = "parent", .special_number = FIELD_SPECIAL

static const struct wire_field fields[] = {
    {.name = "account",
     .type = WIRE_NAME,
     .is_required = true,
     MEMBER(account),
     .help = "the account, or the account of the user"},
    {.name = "user", .type = WIRE_NAME, MEMBER(user)},
    {.name = "parent", .type = WIRE_NAME, MEMBER(parent)},
    {.name = "partition", .type = WIRE_NAME, MEMBER(partition)},
    {.name = "shares", NUMBER_OR_PARENT(SHARE_COUNT_MAX), MEMBER(shares)},
    {.name = "priority", NUMBER_OR_PARENT(UINT32_MAX - 2.0), MEMBER(priority)},
    {.name = "usage", .type = WIRE_DOUBLE, .max = USAGE_MAX, MEMBER(usage)},
    {.name = "usage_wall", .type = WIRE_DOUBLE, .max = USAGE_MAX, MEMBER(usage_wall)},
    {.name = "usage_tres", .type = WIRE_CUSTOM, .read = read_usage_tres},
    {0},
};

/* A document has no value before, to which QosLevel+ could add. */
static bool is_limit(const char *name)
{
    char sign;
    return limit_fields_find_key(str(name), &sign) != NONE && sign == '\0';
}

static const struct wire_shape shape = {.name = "association",
                                        .fields = fields,
                                        .size = sizeof(struct association_document),
                                        .pair_fields = {.table = &limit_fields,
                                                        .offset = offsetof(struct association_document, limits),
                                                        .is_member = is_limit}};

/* --- rows --------------------------------------------------------------------------------------------------------- */

static bool is_root(const struct association_document *row)
{
    return row->user == NULL && strcmp(row->account, root_name) == 0;
}

/* Line feeds separate the names, because no name can contain one. */
static struct str user_key(struct arena *arena, const char *account, const char *user, const char *partition)
{
    struct buf key = {0};
    buf_format(&key, "%s\n%s\n%s", account, user, partition != NULL ? partition : "");
    struct str own = {arena_copy(arena, (struct str){key.text, key.length}), key.length};
    buf_release(&key);
    return own;
}

static int note_user(struct wire_reader *r, const struct association_document *row, uint32_t index)
{
    struct document *d = document_of(r);
    if (row->parent != NULL) return wire_fail_at(r, "parent", "only accounts have one; a user is in 'account'");
    if (row->partition != NULL && state_find_object(d->state, OBJECT_PARTITION, row->partition) == NONE)
        return wire_fail_at(r, "partition", "'%s' is not a partition of this document", row->partition);
    struct str key = user_key(&d->arena, row->account, row->user, row->partition);
    if (map_get(&d->user_rows, key) != NONE)
        return wire_fail(r, "user '%s' occurs twice in account '%s'", row->user, row->account);
    map_set(&d->user_rows, key, index);
    if (map_get(&d->first_rows, str(row->user)) == NONE) map_set(&d->first_rows, str(row->user), index);
    return 0;
}

static int note_account(struct wire_reader *r, const struct association_document *row, uint32_t index)
{
    struct document *d = document_of(r);
    if (row->partition != NULL) return wire_fail_at(r, "partition", "only users have one");
    if (is_root(row) && row->parent != NULL) return wire_fail_at(r, "parent", "root has none");
    if (map_get(&d->account_rows, str(row->account)) != NONE) return document_fail_twice(r, "account", row->account);
    map_set(&d->account_rows, str(row->account), index);
    return 0;
}

static int read_limits(struct wire_reader *r, struct association_document *row)
{
    const struct wire_pair *pairs = row->limits.items;
    struct err below;
    if (row->limits.count == 0) return 0;
    row->limit_values = arena_alloc(r->arena, sizeof limit_fields_defaults);
    memcpy(row->limit_values, limit_fields_defaults, sizeof limit_fields_defaults);
    for (uint32_t i = 0; i < row->limits.count; i++) {
        const struct event_pair pair = {pairs[i].name, pairs[i].value};
        if (assoc_limits_change(document_of(r)->state, &pair, NONE, r->arena, row->limit_values, &below) != 0)
            return wire_fail_below(r, &below);
    }
    return 0;
}

static int read_association(struct wire_reader *r, json_t *value, uint32_t index)
{
    struct association_document row = {.shares = 1, .priority = FIELD_SPECIAL};
    if (wire_read_members(r, &shape, value, &row) != 0 || read_limits(r, &row) != 0) return -1;
    *array_add(&document_of(r)->associations) = row;
    return row.user != NULL ? note_user(r, &row, index) : note_account(r, &row, index);
}

/* --- the tree ----------------------------------------------------------------------------------------------------- */

/* The item above, after all items were read; NONE: root, which does not need an item. */
static int find_parent(struct wire_reader *r, uint32_t index, uint32_t *out_parent)
{
    struct document *d = document_of(r);
    const struct association_document *row = &d->associations.items[index];
    bool is_user = row->user != NULL;
    const char *name = is_user ? row->account : row->parent;
    *out_parent = NONE;
    if (name == NULL || strcmp(name, root_name) == 0) return 0;
    *out_parent = map_get(&d->account_rows, str(name));
    if (*out_parent != NONE) return 0;
    return wire_fail_at(r, is_user ? "account" : "parent", "'%s' is not an account of this document", name);
}

/* Computes depths by item; 0: not computed yet. Goes up to an item with a depth, and back. */
static int check_depth(struct wire_reader *r, uint32_t index, const uint32_t *parents, uint32_t *depths)
{
    uint32_t path[TREE_DEPTH_MAX + 1], count = 0;
    for (uint32_t item = index; item != NONE && depths[item] == 0; item = parents[item]) {
        for (uint32_t i = 0; i < count; i++) {
            if (path[i] == item)
                return wire_fail(r, "the accounts above '%s' form a circle",
                                 document_of(r)->associations.items[index].account);
        }
        if (count == TREE_DEPTH_MAX) return wire_fail(r, "more than %d levels deep", TREE_DEPTH_MAX);
        path[count++] = item;
    }
    while (count-- > 0) {
        uint32_t above = parents[path[count]];
        depths[path[count]] = (above != NONE ? depths[above] : 0) + 1;
        if (depths[path[count]] > TREE_DEPTH_MAX) return wire_fail(r, "more than %d levels deep", TREE_DEPTH_MAX);
    }
    return 0;
}

static int find_parents(struct wire_reader *r, uint32_t **out_parents)
{
    struct document *d = document_of(r);
    uint32_t count = d->associations.count;
    uint32_t *parents = arena_alloc(&d->arena, (count + (size_t)1) * sizeof *parents);
    uint32_t *depths = arena_alloc(&d->arena, (count + (size_t)1) * sizeof *depths);
    *out_parents = parents;
    for (uint32_t i = 0; i < count; i++) {
        size_t length = wire_enter_index(r, i);
        if (find_parent(r, i, &parents[i]) != 0) return -1;
        wire_leave(r, length);
    }
    for (uint32_t i = 0; i < count; i++) {
        size_t length = wire_enter_index(r, i);
        if (!is_root(&d->associations.items[i]) && check_depth(r, i, parents, depths) != 0) return -1;
        wire_leave(r, length);
    }
    return 0;
}

static void restore(struct document *d, uint32_t id, const struct association_document *item, uint32_t parent_id)
{
    struct assoc row = {
        .id = id,
        .account = item->account,
        .user = item->user,
        .partition = item->partition,
        .shares = item->shares == FIELD_SPECIAL ? SHARES_PARENT : (uint32_t)item->shares,
        .priority = item->priority == FIELD_SPECIAL ? NONE : (uint32_t)item->priority,
        .usage = item->usage,
        .usage_wall = item->usage_wall,
        .created_us = d->scenario->now_us,
        .limits = item->limit_values,
    };
    row.usage_tres = document_own_usage_tres(item->usage_tres);
    state_restore_assoc(d->state, &row, parent_id);
}

/* Root is first and has the first id; the others are in the order of the list. */
static void restore_rows(struct document *d, const uint32_t *parents)
{
    static const struct association_document plain_root = {
        .account = root_name, .shares = 1, .priority = FIELD_SPECIAL};
    struct scenario *scenario = d->scenario;
    uint32_t root = map_get(&d->account_rows, str(root_name));
    scenario->association_count = d->associations.count;
    scenario->associations =
        arena_alloc(&scenario->arena, (d->associations.count + (size_t)1) * sizeof *scenario->associations);
    restore(d, ROOT_ID, root != NONE ? &d->associations.items[root] : &plain_root, NONE);
    for (uint32_t i = 0; i < d->associations.count; i++) {
        if (i == root) continue;
        scenario->associations[i] = d->state->assocs.count;
        restore(d, FIRST_ID + i, &d->associations.items[i], parents[i] != NONE ? FIRST_ID + parents[i] : ROOT_ID);
    }
}

int document_read_tree(struct wire_reader *r, json_t *value)
{
    uint32_t *parents;
    if (value != NULL && wire_read_items(r, value, read_association) != 0) return -1;
    if (find_parents(r, &parents) != 0) return -1;
    restore_rows(document_of(r), parents);
    return 0;
}

/* --- associations of jobs ----------------------------------------------------------------------------------------- */

uint32_t document_association_of_partition(struct document *d, const char *account, const char *user,
                                           const char *partition)
{
    uint32_t row = map_get(&d->user_rows, user_key(&d->arena, account, user, partition));
    return row != NONE ? FIRST_ID + row : 0;
}

uint32_t document_association(struct document *d, const char *account, const char *user)
{
    struct str key = user_key(&d->arena, account, user, NULL);
    uint32_t row = map_get(&d->user_rows, key);
    if (row != NONE) return FIRST_ID + row;
    uint32_t id = FIRST_ID + d->associations.count;
    const struct association_document outside = {.account = account, .user = user};
    *array_add(&d->associations) = outside;
    map_set(&d->user_rows, key, id - FIRST_ID);
    const struct assoc assoc = {.id = id, .account = account, .user = user, .priority = NONE, .deleted_us = 1};
    state_restore_assoc(d->state, &assoc, ROOT_ID);
    return id;
}
