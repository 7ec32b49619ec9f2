/* Who is who to the ticket policies, kept in the state from pass to pass: looking everybody up by name again would cost a
 * pass more than everything else that it does with the state.
 *
 *     name of a user -> a number, which stays the name's -> what the user is given
 *
 * Associations, owners and objects of one name have one number. New rows are looked up once; rows that an operator changes
 * (state.object_edition) make the identities read what members are given again, by numbers. */
#ifndef FAIRLEAD_ENGINE_TICKET_IDENTITIES_H
#define FAIRLEAD_ENGINE_TICKET_IDENTITIES_H

#include "engine/state.h"

/* A user's objects, or NONE. */
struct ticket_user {
    uint32_t user, department;
};

struct ticket_identities {
    struct map numbers;                                           /* name -> number */
    uint32_t rest;                                                /* the number of the name "default" */
    ARRAY(uint32_t) user_of_assoc, user_of_owner, user_of_object; /* numbers; NONE: an account, a project's own usage */
    /* What an operator may change. */
    uint32_t edition; /* of the objects */
    ARRAY(struct ticket_user) users;
    ARRAY(struct ticket_member) members[MEMBER_KIND_COUNT]; /* by object */
};

/* The state's, as it stands. O(1) a row that is new, O(objects) after an operator's change. */
struct ticket_identities *ticket_identities_of(struct state *s);

void ticket_identities_free(struct ticket_identities *identities); /* NULL is allowed */

#endif
