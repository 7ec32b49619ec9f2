#include "engine/user_list.h"

#include <string.h>

#include "fields/host_text.h"

static const uint32_t fields[] = {PARTITION_USER_LISTS, PARTITION_XUSER_LISTS};
enum { FIELDS = sizeof fields / sizeof *fields, NAMES_MAX = 20 };

/* The department that an item names; without a name: it is a user. */
static struct str department_of(struct str item)
{
    if (item.length < 2 || item.text[0] != '@') return (struct str){0};
    return str_range(item.text + 1, item.text + item.length);
}

static void add_departments(const struct state *s, struct buf *out)
{
    uint32_t left = NAMES_MAX;
    buf_add_text(out, "@" DEFAULT_DEPARTMENT);
    for (uint32_t i = 0; i < s->objects[OBJECT_DEPARTMENT].count && left > 0; i++) {
        const struct object_row *row = &s->objects[OBJECT_DEPARTMENT].items[i];
        if (row->is_deleted || strcmp(row->object.name, DEFAULT_DEPARTMENT) == 0) continue;
        buf_format(out, ", %s", --left > 0 ? "@" : "...");
        if (left > 0) buf_add_text(out, row->object.name);
    }
}

static int check_item(const struct state *s, struct str item, const char *field, struct err *e)
{
    struct str department = department_of(item);
    bool is_known = department.length == 0 || str_equal(department, str(DEFAULT_DEPARTMENT)) ||
                    map_get(&s->object_by_name[OBJECT_DEPARTMENT], department) != NONE;
    struct buf names = {0};
    if (is_known) return 0;
    add_departments(s, &names);
    int status = err_value_reason(e, field, item, "is no department; there are: %s", names.text);
    buf_release(&names);
    return status;
}

int user_list_check(const struct state *s, const struct object *partition, struct err *e)
{
    int status = 0;
    for (int f = 0; f < FIELDS && status == 0; f++) {
        const char *name = object_classes[OBJECT_PARTITION].fields[fields[f]].name;
        struct arena arena = {0};
        struct name_list list = {0};
        status = host_text_names(str(partition->value[fields[f]].text), name, &arena, &list, e);
        for (uint32_t i = 0; i < list.count && status == 0; i++) status = check_item(s, list.items[i], name, e);
        arena_release(&arena);
    }
    return status;
}

static bool has_department(const struct object *partition, struct str department)
{
    bool found = false;
    for (int f = 0; f < FIELDS && !found; f++) {
        struct arena arena = {0};
        struct name_list list = {0};
        (void)host_text_names(str(partition->value[fields[f]].text), "", &arena, &list, NULL);
        for (uint32_t i = 0; i < list.count && !found; i++) found = str_equal(department_of(list.items[i]), department);
        arena_release(&arena);
    }
    return found;
}

const char *user_list_find_partition(const struct state *s, const char *department)
{
    for (uint32_t i = 0; i < s->objects[OBJECT_PARTITION].count; i++) {
        const struct object_row *row = &s->objects[OBJECT_PARTITION].items[i];
        if (!row->is_deleted && has_department(&row->object, str(department))) return row->object.name;
    }
    return NULL;
}
