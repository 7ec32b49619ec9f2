/* Rows are only appended, so each array of numbers continues where it ended. */
#include "engine/ticket_identities.h"

/* The kinds of objects that are members of the policies, and their fields. */
static const struct {
    enum object_kind kind;
    uint32_t fshare, oticket;
} kinds[MEMBER_KIND_COUNT] = {
    [MEMBER_USER] = {.kind = OBJECT_USER_POLICY, .fshare = USER_FSHARE, .oticket = USER_OTICKET},
    [MEMBER_DEPARTMENT] = {.kind = OBJECT_DEPARTMENT, .fshare = PROJECT_FSHARE, .oticket = PROJECT_OTICKET},
    [MEMBER_PROJECT] = {.kind = OBJECT_PROJECT, .fshare = PROJECT_FSHARE, .oticket = PROJECT_OTICKET},
    [MEMBER_JOB_CLASS] = {.kind = OBJECT_PARTITION, .fshare = PARTITION_FSHARE, .oticket = PARTITION_OTICKET},
};

static uint32_t number_of(struct ticket_identities *t, const char *user)
{
    uint32_t number = map_get(&t->numbers, str(user));
    if (number == NONE) map_set(&t->numbers, str(user), number = t->numbers.count);
    return number;
}

static struct ticket_identities *new_identities(const struct state *s)
{
    struct ticket_identities *t = mem_resize(NULL, 0, sizeof *t);
    t->default_user = number_of(t, "default");
    t->edition = s->object_edition;
    return t;
}

/* Numbers the users of new rows. */
static void number_rows(struct ticket_identities *t, const struct state *s)
{
    array_reserve(&t->user_of_assoc, s->assocs.count);
    for (uint32_t i = t->user_of_assoc.count; i < s->assocs.count; i++) {
        const char *user = s->assocs.items[i].user;
        *array_add(&t->user_of_assoc) = user != NULL ? number_of(t, user) : NONE;
    }
    array_reserve(&t->user_of_owner, s->owners.count);
    for (uint32_t i = t->user_of_owner.count; i < s->owners.count; i++) {
        const char *user = s->owners.items[i].user;
        *array_add(&t->user_of_owner) = user[0] != '\0' ? number_of(t, user) : NONE;
    }
    array_reserve(&t->user_of_object, s->objects[OBJECT_USER_POLICY].count);
    for (uint32_t i = t->user_of_object.count; i < s->objects[OBJECT_USER_POLICY].count; i++)
        *array_add(&t->user_of_object) = number_of(t, s->objects[OBJECT_USER_POLICY].items[i].object.name);
}

static void read_members(struct ticket_identities *t, const struct state *s, int member)
{
    enum object_kind kind = kinds[member].kind;
    array_reserve(&t->members[member], s->objects[kind].count);
    for (uint32_t i = t->members[member].count; i < s->objects[kind].count; i++) {
        const struct object_row *row = &s->objects[kind].items[i];
        const struct field_value *value = row->object.value;
        *array_add(&t->members[member]) = (struct ticket_member){
            .fshare = (double)value[kinds[member].fshare].number,
            .oticket = (double)value[kinds[member].oticket].number,
        };
        t->gives_override |= value[kinds[member].oticket].number > 0;
        if (kind != OBJECT_USER_POLICY || row->is_deleted) continue;
        uint32_t department = state_find_object(s, OBJECT_DEPARTMENT, value[USER_DEPARTMENT].text);
        t->users.items[t->user_of_object.items[i]] = (struct ticket_user){i, department};
    }
}

struct ticket_identities *ticket_identities_of(struct state *s)
{
    if (s->ticket_identities == NULL) s->ticket_identities = new_identities(s);
    struct ticket_identities *t = s->ticket_identities;
    number_rows(t, s);
    if (t->edition != s->object_edition) {
        array_clear(&t->users);
        for (int m = 0; m < MEMBER_KIND_COUNT; m++) array_clear(&t->members[m]);
        t->gives_override = false;
        t->edition = s->object_edition;
    }
    uint32_t department = state_find_object(s, OBJECT_DEPARTMENT, DEFAULT_DEPARTMENT);
    array_reserve(&t->users, t->numbers.count);
    while (t->users.count < t->numbers.count) *array_add(&t->users) = (struct ticket_user){NONE, department};
    for (int m = 0; m < MEMBER_KIND_COUNT; m++) read_members(t, s, m);
    return t;
}

void ticket_identities_free(struct ticket_identities *t)
{
    if (t == NULL) return;
    map_release(&t->numbers);
    array_release(&t->user_of_assoc);
    array_release(&t->user_of_owner);
    array_release(&t->user_of_object);
    array_release(&t->users);
    for (int m = 0; m < MEMBER_KIND_COUNT; m++) array_release(&t->members[m]);
    mem_free(t);
}
