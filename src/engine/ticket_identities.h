/* Numbers for the users of the ticket policies, and the shares and tickets of all members. They are kept in the state
 * from pass to pass, because looking up every name again would cost more than the rest of a snapshot.
 *
 *     name of a user -> its number, which never changes -> the objects of the user
 *
 * Associations, usage owners and objects with the same name have the same number. The name of a new row is looked up
 * once. After an operator changed objects (state.object_edition), shares and tickets are read again, by number. */
#ifndef FAIRLEAD_ENGINE_TICKET_IDENTITIES_H
#define FAIRLEAD_ENGINE_TICKET_IDENTITIES_H

#include "engine/state.h"

/* The indices of a user's objects, or NONE. */
struct ticket_user {
    uint32_t user, department;
};

struct ticket_identities {
    struct map numbers;                                           /* name -> number */
    uint32_t default_user;                                        /* the number of "default" */
    ARRAY(uint32_t) user_of_assoc, user_of_owner, user_of_object; /* by row; NONE: an account, or a project's usage */
    /* Read again when edition is not state.object_edition. */
    uint32_t edition;
    ARRAY(struct ticket_user) users;                        /* by number */
    ARRAY(struct ticket_member) members[MEMBER_KIND_COUNT]; /* by index of the object */
    bool gives_override;                                    /* a member has override tickets */
};

/* The current identities, owned by the state. O(1) for each new row; O(users + objects) after an operator changed
 * objects. */
struct ticket_identities *ticket_identities_of(struct state *s);

void ticket_identities_free(struct ticket_identities *t); /* NULL is allowed */

#endif
