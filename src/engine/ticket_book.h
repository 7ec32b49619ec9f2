/* What the ticket policies know of users and other members, kept in the state from pass to pass: looking every user up by
 * name again would cost a pass more than everything else that it does with the state.
 *
 *     members   by kind and index of object: functional shares, override tickets
 *     users     by index of association: the objects of its user and of the user's department
 *
 * Rows that an operator changes make the book empty (state.object_edition). Submissions only ever add users. */
#ifndef FAIRLEAD_ENGINE_TICKET_BOOK_H
#define FAIRLEAD_ENGINE_TICKET_BOOK_H

#include "engine/state.h"

struct ticket_user {
    uint32_t user, department; /* indices of objects, or NONE */
    uint32_t known;            /* users there were when it was looked up, and one; 0: not yet */
};

struct ticket_book {
    uint32_t edition; /* of the objects */
    ARRAY(struct ticket_member) members[MEMBER_KIND_COUNT];
    ARRAY(struct ticket_user) users;
};

/* The state's, up to date but for users who were not asked for. */
struct ticket_book *ticket_book_of(struct state *s);

/* An association's user. */
struct ticket_user ticket_book_user(struct ticket_book *book, const struct state *s, uint32_t assoc);

void ticket_book_free(struct ticket_book *book); /* NULL is allowed */

#endif
