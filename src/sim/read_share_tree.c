/* `share_tree`: Grid Engine's share tree, an object for each node. */
#include "sim/document.h"

struct node_document {
    const char *name;
    uint32_t shares;
    json_t *children;
};

static int read_children(struct wire_reader *r, json_t *value, void *target)
{
    if (!json_is_array(value)) return wire_refuse(r, value, "a list of nodes");
    ((struct node_document *)target)->children = value;
    return 0;
}

static const struct wire_field fields[] = {
    {.name = "name",
     .type = WIRE_NAME,
     .is_required = true,
     .offset = offsetof(struct node_document, name),
     .help = "a user, a project, 'default' or a group"},
    {.name = "shares", .type = WIRE_U32, .offset = offsetof(struct node_document, shares), .max = SHARE_COUNT_MAX},
    {.name = "children", .type = WIRE_CUSTOM, .read = read_children},
    {0},
};
static const struct wire_shape shape = {.name = "node", .fields = fields, .size = sizeof(struct node_document)};

/* Reads a node and all nodes below it, depth first, which is the order of struct share_nodes. */
static int read_node(struct wire_reader *r, json_t *value, uint32_t parent, uint32_t depth)
{
    struct node_document node = {.shares = 1};
    if (depth > TREE_DEPTH_MAX) return wire_fail(r, "more than %d levels deep", TREE_DEPTH_MAX);
    if (wire_read_members(r, &shape, value, &node) != 0) return -1;
    uint32_t index = share_nodes_add(document_of(r)->state->share_nodes, parent, node.name, node.shares);
    if (node.children == NULL) return 0;
    size_t length = wire_enter(r, "children");
    for (size_t i = 0; i < json_array_size(node.children); i++) {
        size_t before = wire_enter_index(r, i);
        if (read_node(r, json_array_get(node.children, i), index, depth + 1) != 0) return -1;
        wire_leave(r, before);
    }
    wire_leave(r, length);
    return 0;
}

int document_read_share_tree(struct wire_reader *r, json_t *value)
{
    struct state *s = document_of(r)->state;
    if (document_is_instance(document_of(r))) return wire_fail(r, "the share tree of an instance is its 'tree'");
    s->share_nodes = arena_alloc(&s->arena, sizeof *s->share_nodes);
    share_nodes_init(s->share_nodes);
    if (read_node(r, value, NONE, 0) != 0) return -1;
    return share_nodes_finish(s->share_nodes, &s->object_by_name[OBJECT_PROJECT], r->e);
}
