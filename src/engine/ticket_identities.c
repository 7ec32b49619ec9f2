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

static uint32_t number_of(struct ticket_identities *book, const char *user)
{
    uint32_t number = map_get(&book->numbers, str(user));
    if (number == NONE) map_set(&book->numbers, str(user), number = book->numbers.count);
    return number;
}

static struct ticket_identities *new_book(const struct state *s)
{
    struct ticket_identities *book = mem_resize(NULL, 0, sizeof *book);
    book->rest = number_of(book, "default");
    book->edition = s->object_edition;
    return book;
}

/* Rows that are new. */
static void number_rows(struct ticket_identities *book, const struct state *s)
{
    array_reserve(&book->user_of_assoc, s->assocs.count);
    for (uint32_t i = book->user_of_assoc.count; i < s->assocs.count; i++) {
        const char *user = s->assocs.items[i].user;
        *array_add(&book->user_of_assoc) = user != NULL ? number_of(book, user) : NONE;
    }
    array_reserve(&book->user_of_owner, s->owners.count);
    for (uint32_t i = book->user_of_owner.count; i < s->owners.count; i++) {
        const char *user = s->owners.items[i].user;
        *array_add(&book->user_of_owner) = user[0] != '\0' ? number_of(book, user) : NONE;
    }
    array_reserve(&book->user_of_object, s->objects[OBJECT_USER].count);
    for (uint32_t i = book->user_of_object.count; i < s->objects[OBJECT_USER].count; i++)
        *array_add(&book->user_of_object) = number_of(book, s->objects[OBJECT_USER].items[i].object.name);
}

static void read_members(struct ticket_identities *book, const struct state *s, int member)
{
    enum object_kind kind = kinds[member].kind;
    array_reserve(&book->members[member], s->objects[kind].count);
    for (uint32_t i = book->members[member].count; i < s->objects[kind].count; i++) {
        const struct object_row *row = &s->objects[kind].items[i];
        const struct field_value *value = row->object.value;
        *array_add(&book->members[member]) = (struct ticket_member){
            .fshare = (double)value[kinds[member].fshare].number,
            .oticket = (double)value[kinds[member].oticket].number,
        };
        if (kind != OBJECT_USER || row->is_deleted) continue;
        uint32_t department = state_find_object(s, OBJECT_DEPARTMENT, value[USER_DEPARTMENT].text);
        book->users.items[book->user_of_object.items[i]] = (struct ticket_user){i, department};
    }
}

struct ticket_identities *ticket_identities_of(struct state *s)
{
    if (s->ticket_identities == NULL) s->ticket_identities = new_book(s);
    struct ticket_identities *book = s->ticket_identities;
    number_rows(book, s);
    if (book->edition != s->object_edition) {
        array_clear(&book->users);
        for (int m = 0; m < MEMBER_KIND_COUNT; m++) array_clear(&book->members[m]);
        book->edition = s->object_edition;
    }
    array_reserve(&book->users, book->numbers.count);
    while (book->users.count < book->numbers.count) *array_add(&book->users) = (struct ticket_user){NONE, NONE};
    for (int m = 0; m < MEMBER_KIND_COUNT; m++) read_members(book, s, m);
    return book;
}

void ticket_identities_free(struct ticket_identities *book)
{
    if (book == NULL) return;
    map_release(&book->numbers);
    array_release(&book->user_of_assoc);
    array_release(&book->user_of_owner);
    array_release(&book->user_of_object);
    array_release(&book->users);
    for (int m = 0; m < MEMBER_KIND_COUNT; m++) array_release(&book->members[m]);
    mem_free(book);
}
