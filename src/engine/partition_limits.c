#include "engine/partition_limits.h"

#include <string.h>

#include "base/ensure.h"
#include "base/quantity.h"
#include "engine/handlers.h"
#include "engine/partition_names.h"
#include "fields/setting_text.h"

static const struct object *object_of(const struct state *s, uint32_t partition)
{
    return &s->objects[OBJECT_PARTITION].items[partition].object;
}

/* --- states ------------------------------------------------------------------------------------------------------- */

int partition_limits_read_state(struct str text, enum partition_state *out, struct err *e)
{
    static const char *const words[] = {[PARTITION_IS_UP] = "UP",
                                        [PARTITION_IS_DOWN] = "DOWN",
                                        [PARTITION_IS_DRAINED] = "DRAIN",
                                        [PARTITION_IS_INACTIVE] = "INACTIVE"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!str_equal_nocase(str_trim(text), str(words[i]))) continue;
        *out = (enum partition_state)i;
        return 0;
    }
    return err_value(e, "state", text, "one of UP, DOWN, DRAIN, INACTIVE");
}

enum partition_state partition_limits_state(const struct state *s, uint32_t partition)
{
    enum partition_state state = PARTITION_IS_UP;
    struct str of_hosts, text = str_cut(str(object_of(s, partition)->value[PARTITION_STATE].text), ',', &of_hosts);
    ensure(partition_limits_read_state(text, &state, NULL) == 0); /* the cluster is checked before it changes */
    return state;
}

/* --- time --------------------------------------------------------------------------------------------------------- */

int64_t partition_limits_max_time_s(const struct state *s, uint32_t partition)
{
    int64_t max_s = object_of(s, partition)->value[PARTITION_MAX_TIME].number;
    return max_s == FIELD_SPECIAL ? INT64_MAX : max_s;
}

/* The default of a partition now. out_name: the field or the setting that it comes from. */
static int64_t default_time_s(const struct state *s, uint32_t partition, const char **out_name)
{
    int64_t default_s = object_of(s, partition)->value[PARTITION_DEFAULT_TIME].number;
    int64_t max_s = partition_limits_max_time_s(s, partition);
    bool is_own = default_s != FIELD_SPECIAL;
    if (!is_own) default_s = setting_number(&s->settings, SET_DEFAULT_TIME_S);
    bool is_cut = default_s > max_s;
    *out_name = is_cut ? "MaxTime" : is_own ? "DefaultTime" : NULL;
    return is_cut ? max_s : default_s;
}

int64_t partition_limits_time_s(const struct state *s, const struct job *j, uint32_t partition)
{
    if (!j->has_default_time || j->live_tasks > 0) return s->is_document ? j->document->time_limit_s : j->time_limit_s;
    const char *unused;
    return default_time_s(s, partition, &unused);
}

void partition_limits_add_default(const struct state *s, uint32_t partition, int64_t time_s, struct buf *out)
{
    const char *name;
    if (default_time_s(s, partition, &name) != time_s) return;
    if (name == NULL)
        buf_add_text(out, " (default_time_s)");
    else
        buf_format(out, " (%s of partition '%s')", name, object_of(s, partition)->name);
}

void partition_limits_reset_time(const struct state *s, struct job *j)
{
    if (j->has_default_time) j->time_limit_s = partition_limits_time_s(s, j, j->partitions[0]);
}

/* --- nodes and memory --------------------------------------------------------------------------------------------- */

static bool has_flag(const struct state *s, const struct job *j, uint32_t flag)
{
    return j->qos != NONE && (s->objects[OBJECT_QOS].items[j->qos].qos_flags & flag) != 0;
}

static bool has_environment(const struct state *s, const struct job *j)
{
    return s->is_document ? j->document->environment != NULL : j->environment != NONE;
}

void partition_limits_nodes(const struct state *s, const struct job *j, uint32_t partition, uint32_t *out_min,
                            uint32_t *out_max)
{
    const struct field_value *value = object_of(s, partition)->value;
    bool is_free = has_environment(s, j), is_unlimited = value[PARTITION_MAX_NODES].number == FIELD_SPECIAL;
    bool has_max = !is_free && !is_unlimited && !has_flag(s, j, QOS_PARTITION_MAX_NODES);
    bool has_min = !is_free && !has_flag(s, j, QOS_PARTITION_MIN_NODES);
    *out_max = has_max ? (uint32_t)value[PARTITION_MAX_NODES].number : UINT32_MAX;
    *out_min = has_min ? (uint32_t)value[PARTITION_MIN_NODES].number : 0;
}

static uint32_t slots_max(const struct job *j)
{
    return j->slots_max > j->request.cpus ? j->slots_max : j->request.cpus;
}

/* The numbers of nodes that the job may have by itself: without a number one, and at most one for each slot. */
static uint32_t nodes_min(const struct job *j)
{
    return j->placing != NULL && j->placing->node_min > 0 ? j->placing->node_min : 1;
}

static uint32_t nodes_max(const struct job *j)
{
    uint32_t max = j->placing != NULL && j->placing->node_max > 0 ? j->placing->node_max : 1;
    uint32_t per_node = j->placing != NULL && j->placing->slots_per_node > 0 ? j->placing->slots_per_node : 1;
    bool is_open = j->placing != NULL && j->placing->node_max == 0 && j->placing->slots_per_node > 0;
    uint32_t slots = slots_max(j) / per_node;
    if (is_open || max > slots) max = slots;
    return max > nodes_min(j) ? max : nodes_min(j);
}

/* Memory per node on the smallest number of nodes. */
static uint64_t mem_per_node_mib(const struct job *j)
{
    uint64_t each = j->placing != NULL ? j->placing->mem_mib_per_cpu : 0;
    uint32_t nodes = nodes_min(j), per_node = j->placing != NULL ? j->placing->slots_per_node : 0;
    if (each == 0) return j->request.mem_mib;
    if (per_node == 0) per_node = (j->request.cpus + nodes - 1) / nodes;
    return each * per_node;
}

/* --- names -------------------------------------------------------------------------------------------------------- */

/* A new user where there is no account for new users yet counts as root itself. */
static const char *account_of(const struct state *s, const struct job *j)
{
    const struct assoc *a = &s->assocs.items[j->assoc];
    return a->user == NULL && a->parent == NONE ? DEFAULT_ACCOUNT : a->account;
}

static const char *qos_of(const struct state *s, const struct job *j)
{
    return s->objects[OBJECT_QOS].items[j->qos].object.name;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

enum place_limit partition_limits_find(const struct state *s, const struct job *j, uint32_t partition)
{
    const struct object *o = object_of(s, partition);
    int64_t max_mem = o->value[PARTITION_MAX_MEM_PER_NODE].number;
    bool has_max_time = !has_flag(s, j, QOS_PARTITION_TIME_LIMIT);
    uint32_t min, max;
    partition_limits_nodes(s, j, partition, &min, &max);
    if (nodes_min(j) > max) return LIMIT_MAX_NODES;
    if (nodes_max(j) < min) return LIMIT_MIN_NODES;
    if (has_max_time && partition_limits_time_s(s, j, partition) > partition_limits_max_time_s(s, partition))
        return LIMIT_MAX_TIME;
    if (max_mem != FIELD_SPECIAL && mem_per_node_mib(j) > (uint64_t)max_mem) return LIMIT_MAX_MEM_PER_NODE;
    if (j->assoc != NONE && !partition_names_allow_account(o, account_of(s, j))) return LIMIT_ACCOUNTS;
    if (j->qos != NONE && !partition_names_allow_qos(o, qos_of(s, j))) return LIMIT_QOS;
    return LIMIT_NONE;
}

bool partition_limits_is_own(enum place_limit limit)
{
    return limit >= LIMIT_MAX_NODES && limit <= LIMIT_QOS;
}

enum pending_reason partition_limits_reason(enum place_limit limit)
{
    switch (limit) {
    case LIMIT_MAX_NODES:
    case LIMIT_MIN_NODES: return PENDING_PARTITION_NODE_LIMIT;
    case LIMIT_MAX_TIME: return PENDING_PARTITION_TIME_LIMIT;
    case LIMIT_MAX_MEM_PER_NODE: return PENDING_MAX_MEM_PER_NODE;
    case LIMIT_ACCOUNTS: return PENDING_ACCOUNT_NOT_ALLOWED;
    case LIMIT_QOS: return PENDING_QOS_NOT_ALLOWED;
    default: return PENDING_BAD_CONSTRAINTS;
    }
}

/* --- texts -------------------------------------------------------------------------------------------------------- */

static void add_time(const struct state *s, const struct job *j, uint32_t partition, struct buf *out)
{
    char limit[32], max[32];
    duration_format(limit, partition_limits_time_s(s, j, partition));
    duration_format(max, partition_limits_max_time_s(s, partition));
    buf_format(out, "its time limit, %s, exceeds MaxTime of partition '%s', %s", limit, object_of(s, partition)->name,
               max);
}

static void add_memory(const struct state *s, const struct job *j, uint32_t partition, struct buf *out)
{
    char mem[32], max[32];
    const struct object *o = object_of(s, partition);
    memory_format(mem, mem_per_node_mib(j));
    memory_format(max, (uint64_t)o->value[PARTITION_MAX_MEM_PER_NODE].number);
    buf_format(out, "its memory on a node, %s, exceeds MaxMemPerNode of partition '%s', %s", mem, o->name, max);
}

static void add_nodes(uint32_t nodes, const char *verb, const char *field, const char *partition, int64_t limit,
                      struct buf *out)
{
    buf_format(out, "its %u node%s %s %s of partition '%s', %lld", nodes, nodes == 1 ? "" : "s", verb, field, partition,
               (long long)limit);
}

static void add_list(const struct object *o, enum partition_field allowed, enum partition_field denied,
                     const char *what, const char *name, struct buf *out)
{
    bool is_denied = partition_names_is_unset(o, allowed);
    enum partition_field f = is_denied ? denied : allowed;
    buf_format(out, "partition '%s' %s %s '%s' (%s %s)", o->name, is_denied ? "refuses" : "does not accept", what, name,
               object_classes[OBJECT_PARTITION].fields[f].name, o->value[f].text);
}

void partition_limits_text(const struct state *s, const struct job *j, uint32_t partition, enum place_limit limit,
                           struct buf *out)
{
    const struct object *o = object_of(s, partition);
    uint32_t min, max;
    partition_limits_nodes(s, j, partition, &min, &max);
    switch (limit) {
    case LIMIT_MAX_NODES:
        add_nodes(nodes_min(j), nodes_min(j) == 1 ? "exceeds" : "exceed", "MaxNodes", o->name, max, out);
        break;
    case LIMIT_MIN_NODES:
        add_nodes(nodes_max(j), nodes_max(j) == 1 ? "is below" : "are below", "MinNodes", o->name, min, out);
        break;
    case LIMIT_MAX_TIME: add_time(s, j, partition, out); break;
    case LIMIT_MAX_MEM_PER_NODE: add_memory(s, j, partition, out); break;
    case LIMIT_ACCOUNTS:
        add_list(o, PARTITION_ALLOW_ACCOUNTS, PARTITION_DENY_ACCOUNTS, "account", account_of(s, j), out);
        break;
    case LIMIT_QOS: add_list(o, PARTITION_ALLOW_QOS, PARTITION_DENY_QOS, "QOS", qos_of(s, j), out); break;
    default: break;
    }
}
