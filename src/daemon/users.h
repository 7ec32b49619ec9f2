/* The users of a system instance: who a uid is, and what it may do. The user database may answer slowly, so threads ask
 * it, and answers are kept: one younger than USERS_FRESH_S serves at once; an older one serves too, while a thread asks
 * again, until it is USERS_OLD_S old. What a database that cannot be asked does not say makes no answer younger. That
 * there is no such user serves for USERS_UNKNOWN_S only, because an account that has just been made asks at once.
 *
 * A database may also hang. Who waits for it is refused after USERS_WAIT_S; root is always known. */
#ifndef FAIRLEAD_DAEMON_USERS_H
#define FAIRLEAD_DAEMON_USERS_H

#include "base/arena.h"
#include "base/err.h"
#include "daemon/own_thread.h"
#include "daemon/user_lookup.h"

enum { USERS_FRESH_S = 60, USERS_OLD_S = 600, USERS_RETRY_S = 5, USERS_UNKNOWN_S = 1, USERS_WAIT_S = 10 };

struct users;

/* on_answer: called in the loop after each answer, and each second while one is overdue. */
struct users *users_open(struct own_threads *threads, void (*on_answer)(void *context), void *context);

/* Answers on their way are dropped. The loop has to run afterwards, until they have come, or own_threads_end waits no
 * longer. u may be NULL. */
void users_close(struct users *u);

/* The groups whose members are operators and administrators. If they change, all answers are out of date at once. */
void users_set_role_groups(struct users *u, const struct role_groups *roles);

/* Who the client of a uid and a gid is: with that group if it is one of the user's, else with that of the user
 * database. *out: the name is in memory of arena. 0: known. 1: a thread asks, look again after on_answer. -1 with *e:
 * ERR_DENIED there is no such user; ERR_UNAVAILABLE the database could not be asked, or does not answer. O(1), except
 * that it looks through the groups of one user. */
int users_find(struct users *u, uint32_t uid, uint32_t gid, struct arena *arena, struct actor *out, struct err *e);

/* Asks for a uid again if its answer is not fresh. */
void users_refresh(struct users *u, uint32_t uid);

/* The next uid of which the database said something since the last call: that there is such a user, or none. False:
 * there is no more. *out_answer is valid until the loop runs. */
bool users_next_answer(struct users *u, uint32_t *out_uid, const struct user_lookup **out_answer);

#endif
