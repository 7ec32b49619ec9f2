#include "engine/partition_names.h"

#include <string.h>

#include "engine/handlers.h"

enum { NAMES_MAX = 20 };

static const struct {
    enum partition_field field;
    bool is_qos;
    const char *unset;
} lists[] = {
    {.field = PARTITION_ALLOW_ACCOUNTS, .is_qos = false, .unset = "ALL"},
    {.field = PARTITION_DENY_ACCOUNTS, .is_qos = false, .unset = "NONE"},
    {.field = PARTITION_ALLOW_QOS, .is_qos = true, .unset = "ALL"},
    {.field = PARTITION_DENY_QOS, .is_qos = true, .unset = "NONE"},
};
enum { LISTS = sizeof lists / sizeof *lists };

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* The next name of a list, which moves on; of length 0: there is no more. */
static struct str next_name(const char **io_at)
{
    static const char separators[] = ", \t\r\n";
    const char *begin = *io_at + strspn(*io_at, separators);
    *io_at = begin + strcspn(begin, separators);
    return str_range(begin, *io_at);
}

static bool has_name(const char *list, const char *name)
{
    struct str wanted = str(name), item;
    do item = next_name(&list);
    while (item.length > 0 && !str_equal(item, wanted));
    return item.length > 0;
}

/* Fast path: most lists are the default word. */
static bool is_word(const char *list, const char *word)
{
    if (strcmp(list, word) == 0) return true;
    struct str text = str_trim(str(list));
    return text.length == 0 || str_equal_nocase(text, str(word));
}

bool partition_names_is_unset(const struct object *partition, enum partition_field list)
{
    bool allows = list == PARTITION_ALLOW_ACCOUNTS || list == PARTITION_ALLOW_QOS;
    return is_word(partition->value[list].text, allows ? "ALL" : "NONE");
}

static bool allows(const struct object *o, enum partition_field allowed, enum partition_field denied, const char *name)
{
    if (!partition_names_is_unset(o, allowed)) return has_name(o->value[allowed].text, name);
    return partition_names_is_unset(o, denied) || !has_name(o->value[denied].text, name);
}

bool partition_names_allow_account(const struct object *partition, const char *account)
{
    return allows(partition, PARTITION_ALLOW_ACCOUNTS, PARTITION_DENY_ACCOUNTS, account);
}

bool partition_names_allow_qos(const struct object *partition, const char *qos)
{
    return allows(partition, PARTITION_ALLOW_QOS, PARTITION_DENY_QOS, qos);
}

/* --- checking ----------------------------------------------------------------------------------------------------- */

static bool exists(const struct state *s, bool is_qos, struct str name, struct arena *arena)
{
    if (is_qos) return map_get(&s->object_by_name[OBJECT_QOS], name) != NONE;
    return str_equal(name, str(DEFAULT_ACCOUNT)) || state_find_assoc(s, arena_copy(arena, name), NULL) != NONE;
}

static void add_name(const char *name, uint32_t *io_count, struct buf *out)
{
    if (*io_count > NAMES_MAX) return;
    buf_add_text(out, *io_count > 0 ? ", " : "");
    buf_add_text(out, (*io_count)++ < NAMES_MAX ? name : "...");
}

static void add_existing(const struct state *s, bool is_qos, struct buf *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; is_qos && i < s->objects[OBJECT_QOS].count && count <= NAMES_MAX; i++) {
        const struct object_row *row = &s->objects[OBJECT_QOS].items[i];
        if (!row->is_deleted) add_name(row->object.name, &count, out);
    }
    for (uint32_t i = 0; !is_qos && i < s->assocs.count && count <= NAMES_MAX; i++) {
        const struct assoc *a = &s->assocs.items[i];
        if (a->deleted_us == 0 && a->user == NULL) add_name(a->account, &count, out);
    }
}

static int check_list(const struct state *s, int list, const struct object *partition, struct arena *arena,
                      struct err *e)
{
    const char *at = partition->value[lists[list].field].text;
    if (is_word(at, lists[list].unset)) return 0;
    for (struct str name = next_name(&at); name.length > 0; name = next_name(&at)) {
        if (exists(s, lists[list].is_qos, name, arena)) continue;
        struct buf names = {0};
        add_existing(s, lists[list].is_qos, &names);
        (void)err_value_reason(e, object_classes[OBJECT_PARTITION].fields[lists[list].field].name, name,
                               "is no %s; there are: %s", lists[list].is_qos ? "QOS" : "account", names.text);
        buf_release(&names);
        return -1;
    }
    return 0;
}

int partition_names_check(const struct state *s, const struct object *partition, struct err *e)
{
    uint32_t index = state_find_object(s, OBJECT_PARTITION, partition->name);
    const struct object *before = index != NONE ? &s->objects[OBJECT_PARTITION].items[index].object : NULL;
    struct arena arena = {0};
    int status = 0;
    for (int i = 0; i < LISTS && status == 0; i++) {
        enum partition_field f = lists[i].field;
        bool is_same = before != NULL && strcmp(before->value[f].text, partition->value[f].text) == 0;
        if (!is_same) status = check_list(s, i, partition, &arena, e);
    }
    arena_release(&arena);
    return status;
}

static const char *find(const struct state *s, bool is_qos, const char *name, const char **out_field)
{
    for (uint32_t i = 0; i < s->objects[OBJECT_PARTITION].count; i++) {
        const struct object_row *row = &s->objects[OBJECT_PARTITION].items[i];
        for (int l = 0; l < LISTS && !row->is_deleted; l++) {
            const char *text = row->object.value[lists[l].field].text;
            if (lists[l].is_qos != is_qos || is_word(text, lists[l].unset) || !has_name(text, name)) continue;
            *out_field = object_classes[OBJECT_PARTITION].fields[lists[l].field].name;
            return row->object.name;
        }
    }
    return NULL;
}

const char *partition_names_find_account(const struct state *s, const char *account, const char **out_field)
{
    return find(s, false, account, out_field);
}

const char *partition_names_find_qos(const struct state *s, const char *qos, const char **out_field)
{
    return find(s, true, qos, out_field);
}
