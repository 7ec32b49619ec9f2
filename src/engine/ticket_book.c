#include "engine/ticket_book.h"

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

static void add_members(struct ticket_book *book, const struct state *s, int member)
{
    enum object_kind kind = kinds[member].kind;
    array_reserve(&book->members[member], s->objects[kind].count);
    for (uint32_t i = book->members[member].count; i < s->objects[kind].count; i++) {
        const struct field_value *value = s->objects[kind].items[i].object.value;
        *array_add(&book->members[member]) = (struct ticket_member){
            .fshare = (double)value[kinds[member].fshare].number,
            .oticket = (double)value[kinds[member].oticket].number,
        };
    }
}

struct ticket_book *ticket_book_of(struct state *s)
{
    if (s->ticket_book == NULL || s->ticket_book->edition != s->object_edition) {
        ticket_book_free(s->ticket_book);
        s->ticket_book = mem_resize(NULL, 0, sizeof *s->ticket_book);
        s->ticket_book->edition = s->object_edition;
    }
    struct ticket_book *book = s->ticket_book;
    for (int m = 0; m < MEMBER_KIND_COUNT; m++) add_members(book, s, m);
    array_reserve(&book->users, s->assocs.count);
    while (book->users.count < s->assocs.count) array_add(&book->users);
    return book;
}

static struct ticket_user look_up(const struct state *s, const char *name)
{
    struct ticket_user u = {state_find_object(s, OBJECT_USER, name), NONE, s->objects[OBJECT_USER].count + 1};
    if (u.user == NONE) return u;
    const char *department = s->objects[OBJECT_USER].items[u.user].object.value[USER_DEPARTMENT].text;
    u.department = state_find_object(s, OBJECT_DEPARTMENT, department);
    return u;
}

struct ticket_user ticket_book_user(struct ticket_book *book, const struct state *s, uint32_t assoc)
{
    struct ticket_user *u = &book->users.items[assoc];
    bool is_known = u->known > 0 && (u->user != NONE || u->known == s->objects[OBJECT_USER].count + 1);
    if (!is_known) *u = look_up(s, s->assocs.items[assoc].user);
    return *u;
}

void ticket_book_free(struct ticket_book *book)
{
    if (book == NULL) return;
    for (int m = 0; m < MEMBER_KIND_COUNT; m++) array_release(&book->members[m]);
    array_release(&book->users);
    mem_free(book);
}
