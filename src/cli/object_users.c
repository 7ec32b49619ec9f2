#include "cli/object_users.h"

#include "cli/unknown_name.h"
#include "fields/host_text.h"
#include "fields/quota_text.h"

/* Patterns and departments are no users. */
static void add_user(struct str name, struct buf *out)
{
    struct str unused;
    if (name.length == 0 || quota_text_is_group(name, &unused) || quota_text_is_pattern(name)) return;
    if (out->length > 0) buf_add_char(out, ',');
    buf_add(out, name.text, name.length);
}

static void add_users_of_rules(struct call *call, struct str text, struct buf *out)
{
    struct quota_rules rules;
    if (quota_text_rules(text, "rules", call->arena, &rules, NULL) != 0) return;
    for (uint32_t i = 0; i < rules.count; i++) {
        const struct quota_scope *users = &rules.items[i].scope[QUOTA_USERS];
        for (uint32_t k = 0; k < users->count; k++) add_user(users->items[k].name, out);
    }
}

static void add_users_of_list(struct call *call, struct str text, struct buf *out)
{
    struct name_list names;
    if (host_text_names(text, "users", call->arena, &names, NULL) != 0) return;
    for (uint32_t i = 0; i < names.count; i++) add_user(names.items[i], out);
}

static bool is_field(enum object_kind kind, uint32_t field, struct str name)
{
    return str_equal_nocase(name, str(object_classes[kind].fields[field].name));
}

void object_users_note(struct call *call, enum object_kind kind)
{
    struct buf users = {0};
    for (uint32_t i = 1; i < call->parsed.operand_count; i++) {
        struct str value, name = str_cut(str(call->parsed.operands[i]), '=', &value);
        bool is_list = kind == OBJECT_PARTITION &&
                       (is_field(kind, PARTITION_USER_LISTS, name) || is_field(kind, PARTITION_XUSER_LISTS, name));
        if (value.text == NULL) continue;
        if (is_list) add_users_of_list(call, value, &users);
        if (kind == OBJECT_QUOTA && is_field(kind, QUOTA_RULES, name)) add_users_of_rules(call, value, &users);
    }
    if (users.length > 0) (void)unknown_name_note(call, users.text, NULL);
    buf_release(&users);
}
