/* The two trees of a document: associations, which Slurm's fair share ranks, and Grid Engine's share tree.
 *
 * Associations are rows that name the account above them. Siblings keep the order of their rows; the tree is put together
 * depth first, so an account may stand behind what is in it. Names are looked up by the text of all parts with a line
 * feed between, which no name can hold: "physics\nalice\nfast". */
#include <string.h>

#include "sim/reader.h"

static const char root_name[] = "root";

/* --- rows ----------------------------------------------------------------------------------------------------------- */

static int read_shares(struct reader *r, json_t *value, void *target)
{
    struct scenario_association *row = target;
    int64_t shares = 0;
    if (json_is_string(value) && strcmp(json_string_value(value), "parent") == 0) {
        row->shares = SHARES_PARENT;
        return 0;
    }
    if (json_is_string(value)) return reader_refuse(r, value, "a whole number from 0 to 2147483646, or 'parent'");
    if (read_whole(r, value, 0, SHARES_MAX, &shares) != 0) return -1;
    row->shares = (uint32_t)shares;
    return 0;
}

/* Per TRES it decides nothing here; what is said has to be right all the same. */
static int read_usage_tres(struct reader *r, json_t *value, void *target)
{
    const char *name;
    json_t *item;
    double used = 0.0;
    (void)target;
    if (!json_is_object(value)) return reader_refuse(r, value, "an object of TRES and seconds");
    json_object_foreach(value, name, item)
    {
        size_t length = reader_enter(r, name);
        if (tres_find(&r->s->policy.tres, str(name)) == NONE)
            return reader_fail(r, "no such TRES; AccountingStorageTRES names those beyond cpu, mem, node ...");
        if (read_real(r, item, 0, USAGE_MAX, &used) != 0) return -1;
        reader_leave(r, length);
    }
    return 0;
}

static const struct key association_keys[] = {
    NEEDED_NAME_KEY("account", struct scenario_association, account),
    NAME_KEY("user", struct scenario_association, user),
    NAME_KEY("parent", struct scenario_association, parent_name),
    NAME_KEY("partition", struct scenario_association, partition),
    OTHER_KEY("shares", read_shares),
    I64_KEY("priority", struct scenario_association, priority, 0, 4294967295.0),
    REAL_KEY("usage", struct scenario_association, usage, 0, USAGE_MAX),
    OTHER_KEY("usage_tres", read_usage_tres),
};

static void write_key(struct buf *out, const char *account, const char *user, const char *partition)
{
    buf_clear(out);
    buf_format(out, "%s\n%s\n%s", account, user, partition != NULL ? partition : "");
}

static struct str make_key(struct reader *r, const struct scenario_association *row)
{
    write_key(&r->scalar, row->account, row->user, row->partition);
    return (struct str){arena_copy(&r->s->arena, (struct str){r->scalar.text, r->scalar.length}), r->scalar.length};
}

static int note_user(struct reader *r, const struct scenario_association *row, uint32_t index)
{
    if (row->parent_name != NULL) return reader_fail_at(r, "parent", "only accounts have one; a user is in 'account'");
    const struct map *partitions = &r->s->partition_names;
    if (row->partition != NULL && partitions->count > 0 && map_get(partitions, str(row->partition)) == NONE)
        return reader_fail_at(r, "partition", "'%s' is not a partition of this document", row->partition);
    struct str key = make_key(r, row);
    uint32_t other = map_get(&r->s->association_keys, key);
    if (other != NONE)
        return reader_fail(r, "user '%s' in account '%s' is there already, at [%u]", row->user, row->account, other);
    map_set(&r->s->association_keys, key, index);
    if (map_get(&r->s->first_associations, str(row->user)) == NONE)
        map_set(&r->s->first_associations, str(row->user), index);
    return 0;
}

static int note_account(struct reader *r, const struct scenario_association *row, uint32_t index)
{
    uint32_t other = map_get(&r->s->account_names, str(row->account));
    if (row->partition != NULL) return reader_fail_at(r, "partition", "only users have one");
    if (strcmp(row->account, root_name) == 0 && row->parent_name != NULL)
        return reader_fail_at(r, "parent", "root has none");
    if (other != NONE) return reader_fail_at(r, "account", "'%s' is there already, at [%u]", row->account, other);
    map_set(&r->s->account_names, str(row->account), index);
    return 0;
}

static int read_association(struct reader *r, json_t *value, uint32_t index)
{
    struct scenario_association *row = array_add(&r->s->associations);
    *row = (struct scenario_association){.shares = 1, .priority = -1, .parent = NONE, .node = NONE};
    if (read_object(r, value, association_keys, COUNT_OF(association_keys), row) != 0) return -1;
    return row->user != NULL ? note_user(r, row, index) : note_account(r, row, index);
}

/* --- the tree of them ----------------------------------------------------------------------------------------------- */

static bool is_root(const struct scenario_association *row)
{
    return row->user == NULL && strcmp(row->account, root_name) == 0;
}

/* Finds the row above, now that all are known. root is in the tree already; a row of it is not needed and may be there. */
static int find_parent(struct reader *r, struct scenario_association *row)
{
    const char *name = row->user != NULL ? row->account : row->parent_name;
    if (is_root(row)) row->node = 0;
    if (name == NULL || strcmp(name, root_name) == 0) return 0;
    row->parent = map_get(&r->s->account_names, str(name));
    if (row->parent != NONE) return 0;
    return reader_fail_at(r, row->user != NULL ? "account" : "parent", "'%.60s' is not an account of this document",
                          name);
}

/* Rows below each other, as lists: below[r] is the first row below r, next[r] the one after r below the same account. The
 * root stands behind the rows. */
struct family {
    uint32_t *below, *next;
    uint32_t root;
};

static struct family make_family(struct scenario *s)
{
    uint32_t count = s->associations.count;
    struct family f = {arena_alloc(&s->arena, (count + 1) * sizeof *f.below),
                       arena_alloc(&s->arena, (count + 1) * sizeof *f.next), count};
    for (uint32_t i = 0; i <= count; i++) f.below[i] = f.next[i] = NONE;
    for (uint32_t i = count; i-- > 0;) {
        const struct scenario_association *row = &s->associations.items[i];
        uint32_t above = row->parent != NONE ? row->parent : f.root;
        if (row->node == 0) continue;
        f.next[i] = f.below[above];
        f.below[above] = i;
    }
    return f;
}

static void place(struct scenario *s, uint32_t index, uint32_t depth)
{
    struct scenario_association *row = &s->associations.items[index];
    uint32_t above = row->parent != NONE ? s->associations.items[row->parent].node : 0;
    row->depth = depth;
    row->node = tree_add(&s->tree, above, row->user != NULL, row->shares);
}

/* Puts all rows into the tree, depth first: the children of an account that hands them up stand where it stands. Rows that
 * the walk does not meet are in a circle or below one. */
static int place_all(struct reader *r)
{
    struct scenario *s = r->s;
    struct family f = make_family(s);
    uint32_t above[TREE_DEPTH_MAX + 1], depth = 0;
    for (uint32_t at = f.below[f.root]; at != NONE || depth > 0;) {
        if (at == NONE) {
            at = f.next[above[--depth]];
            continue;
        }
        if (depth == TREE_DEPTH_MAX) {
            reader_enter_index(r, at);
            return reader_fail(r, "more than %d levels deep", TREE_DEPTH_MAX);
        }
        above[depth++] = at;
        place(s, at, depth);
        at = f.below[at];
    }
    for (uint32_t i = 0; i < s->associations.count; i++) {
        if (s->associations.items[i].node != NONE) continue;
        reader_enter_index(r, i);
        return reader_fail(r, "the accounts above '%.60s' go round in a circle", s->associations.items[i].account);
    }
    return 0;
}

/* What is asked for by node: which row it is, and the priority that it has or inherits. */
static void note_nodes(struct scenario *s)
{
    s->row_of_node = arena_alloc(&s->arena, s->tree.count * sizeof *s->row_of_node);
    s->priority_of_node = arena_alloc(&s->arena, s->tree.count * sizeof *s->priority_of_node);
    s->row_of_node[0] = NONE;
    for (uint32_t i = 0; i < s->associations.count; i++) s->row_of_node[s->associations.items[i].node] = i;
    for (uint32_t n = 0; n < s->tree.count; n++) {
        uint32_t row = s->row_of_node[n];
        int64_t own = row != NONE ? s->associations.items[row].priority : -1;
        s->priority_of_node[n] = own >= 0 ? own : n > 0 ? s->priority_of_node[s->tree.parent[n]] : 0;
    }
}

int read_tree(struct reader *r, json_t *value)
{
    struct scenario *s = r->s;
    tree_init(&s->tree);
    if (value != NULL && read_list(r, value, read_association) != 0) return -1;
    for (uint32_t i = 0; i < s->associations.count; i++) {
        size_t length = reader_enter_index(r, i);
        if (find_parent(r, &s->associations.items[i]) != 0) return -1;
        reader_leave(r, length);
    }
    if (place_all(r) != 0) return -1;
    tree_finish(&s->tree);
    note_nodes(s);
    return 0;
}

static uint32_t node_of_key(const struct scenario *s, const struct scenario_job *job, const char *partition,
                            struct buf *key)
{
    write_key(key, job->account, job->user, partition);
    uint32_t row = map_get(&s->association_keys, (struct str){key->text, key->length});
    return row != NONE ? s->associations.items[row].node : NONE;
}

uint32_t scenario_node_of(const struct scenario *s, const struct scenario_job *job, uint32_t partition)
{
    struct buf key = {0};
    if (job->account == NULL) return NONE;
    uint32_t node = node_of_key(s, job, s->partitions.items[partition].object.name, &key);
    if (node == NONE) node = node_of_key(s, job, NULL, &key);
    buf_release(&key);
    return node;
}

/* --- the share tree ------------------------------------------------------------------------------------------------- */

/* A node while it is read. */
struct node_keys {
    const char *name;
    uint32_t shares;
    json_t *children;
};

static int read_children(struct reader *r, json_t *value, void *target)
{
    if (!json_is_array(value)) return reader_refuse(r, value, "a list of nodes");
    ((struct node_keys *)target)->children = value;
    return 0;
}

static const struct key node_keys[] = {
    NEEDED_NAME_KEY("name", struct node_keys, name),
    U32_KEY("shares", struct node_keys, shares, 0, SHARES_MAX),
    OTHER_KEY("children", read_children),
};

/* Reads a node and all below it: their order, depth first, is the order of struct share_nodes. */
static int read_node(struct reader *r, json_t *value, uint32_t parent, uint32_t depth)
{
    struct node_keys keys = {.shares = 1};
    if (depth > TREE_DEPTH_MAX) return reader_fail(r, "more than %d levels deep", TREE_DEPTH_MAX);
    if (read_object(r, value, node_keys, COUNT_OF(node_keys), &keys) != 0) return -1;
    uint32_t node = share_nodes_add(r->s->shares, parent, keys.name, keys.shares);
    if (keys.children == NULL) return 0;
    size_t length = reader_enter(r, "children");
    for (size_t i = 0; i < json_array_size(keys.children); i++) {
        size_t before = reader_enter_index(r, i);
        if (read_node(r, json_array_get(keys.children, i), node, depth + 1) != 0) return -1;
        reader_leave(r, before);
    }
    reader_leave(r, length);
    return 0;
}

int read_share_tree(struct reader *r, json_t *value)
{
    struct scenario *s = r->s;
    struct err below;
    s->shares = arena_alloc(&s->arena, sizeof *s->shares);
    share_nodes_init(s->shares);
    if (read_node(r, value, NONE, 0) != 0) return -1;
    if (share_nodes_finish(s->shares, &s->project_names, &below) != 0)
        return err_set(r->e, ERR_INPUT, "%s: %s", r->name, ERR_SENTENCE(&below));
    return 0;
}
