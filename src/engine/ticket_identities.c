#include "engine/ticket_identities.h"

/* The kinds of members as objects. */
static const struct {
    enum object_kind kind;
    uint32_t fshare, oticket;
} kinds[MEMBER_KIND_COUNT] = {
    [MEMBER_USER] = {OBJECT_USER, USER_FSHARE, USER_OTICKET},
    [MEMBER_DEPARTMENT] = {OBJECT_DEPARTMENT, PROJECT_FSHARE, PROJECT_OTICKET},
    [MEMBER_PROJECT] = {OBJECT_PROJECT, PROJECT_FSHARE, PROJECT_OTICKET},
    [MEMBER_JOB_CLASS] = {OBJECT_PARTITION, PARTITION_FSHARE, PARTITION_OTICKET},
};

static uint32_t number_of(struct ticket_identities *identities, const char *user)
{
    uint32_t number = map_get(&identities->numbers, str(user));
    if (number == NONE) map_set(&identities->numbers, str(user), number = identities->numbers.count);
    return number;
}

static struct ticket_identities *new_book(const struct state *s)
{
    struct ticket_identities *identities = mem_resize(NULL, 0, sizeof *identities);
    identities->rest = number_of(identities, "default");
    identities->edition = s->object_edition;
    return identities;
}

/* Rows that are new. */
static void number_rows(struct ticket_identities *identities, const struct state *s)
{
    array_reserve(&identities->user_of_assoc, s->assocs.count);
    for (uint32_t i = identities->user_of_assoc.count; i < s->assocs.count; i++) {
        const char *user = s->assocs.items[i].user;
        *array_add(&identities->user_of_assoc) = user != NULL ? number_of(identities, user) : NONE;
    }
    array_reserve(&identities->user_of_owner, s->owners.count);
    for (uint32_t i = identities->user_of_owner.count; i < s->owners.count; i++) {
        const char *user = s->owners.items[i].user;
        *array_add(&identities->user_of_owner) = user[0] != '\0' ? number_of(identities, user) : NONE;
    }
    array_reserve(&identities->user_of_object, s->objects[OBJECT_USER].count);
    for (uint32_t i = identities->user_of_object.count; i < s->objects[OBJECT_USER].count; i++)
        *array_add(&identities->user_of_object) = number_of(identities, s->objects[OBJECT_USER].items[i].object.name);
}

static void read_members(struct ticket_identities *identities, const struct state *s, int member)
{
    enum object_kind kind = kinds[member].kind;
    array_reserve(&identities->members[member], s->objects[kind].count);
    for (uint32_t i = identities->members[member].count; i < s->objects[kind].count; i++) {
        const struct object_row *row = &s->objects[kind].items[i];
        const struct field_value *value = row->object.value;
        *array_add(&identities->members[member]) = (struct ticket_member){
            .fshare = (double)value[kinds[member].fshare].number,
            .oticket = (double)value[kinds[member].oticket].number,
        };
        if (kind != OBJECT_USER || row->is_deleted) continue;
        uint32_t department = state_find_object(s, OBJECT_DEPARTMENT, value[USER_DEPARTMENT].text);
        identities->users.items[identities->user_of_object.items[i]] = (struct ticket_user){i, department};
    }
}

struct ticket_identities *ticket_identities_of(struct state *s)
{
    if (s->ticket_identities == NULL) s->ticket_identities = new_book(s);
    struct ticket_identities *identities = s->ticket_identities;
    number_rows(identities, s);
    if (identities->edition != s->object_edition) {
        array_clear(&identities->users);
        for (int m = 0; m < MEMBER_KIND_COUNT; m++) array_clear(&identities->members[m]);
        identities->edition = s->object_edition;
    }
    array_reserve(&identities->users, identities->numbers.count);
    while (identities->users.count < identities->numbers.count)
        *array_add(&identities->users) = (struct ticket_user){NONE, NONE};
    for (int m = 0; m < MEMBER_KIND_COUNT; m++) read_members(identities, s, m);
    return identities;
}

void ticket_identities_free(struct ticket_identities *identities)
{
    if (identities == NULL) return;
    map_release(&identities->numbers);
    array_release(&identities->user_of_assoc);
    array_release(&identities->user_of_owner);
    array_release(&identities->user_of_object);
    array_release(&identities->users);
    for (int m = 0; m < MEMBER_KIND_COUNT; m++) array_release(&identities->members[m]);
    mem_free(identities);
}
