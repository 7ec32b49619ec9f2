/* The users of a system instance over time. The kernel's uid is what a job runs as, the name is what is shown, and what
 * associations have; the database knows the name and the home directory that each uid had when it was last looked up.
 *
 *     the uid has                        then
 *     the same name                      nothing
 *     another name, the same home        the user was renamed: the rows get the new name
 *     another name, another home         it is another person's now: the rows of the old name stay, and the jobs of the
 *                                        uid that wait are held, because they would run as that person
 *     no name, in two looks              the user was removed: its jobs that wait are held; what runs goes on
 *     the last name again                nothing: the jobs stay held until an operator releases them
 *
 * Accounts are renamed in place: usermod -l keeps the home directory, while a new account gets one of its own. Where an
 * administrator changes both at once, the shares have to be set anew, which harms less than giving the jobs of one
 * person to another. If a new name has rows already, both stay as they are.
 *
 * Users of jobs that have not ended are looked up every minute, others when they ask something. A database that cannot
 * be asked says nothing. */
#ifndef FAIRLEAD_DAEMON_KNOWN_USERS_H
#define FAIRLEAD_DAEMON_KNOWN_USERS_H

#include "daemon/daemon.h"

/* Reads what the database knows; after the store is open. Does nothing in a private instance, as all of these. */
int known_users_open(struct daemon *d, struct err *e);
void known_users_close(struct daemon *d);

/* Has the users of live jobs looked up if a minute has passed. O(jobs) then. */
void known_users_refresh(struct daemon *d);

/* Takes answers of the user database. True: rows have changed, and the state has to be loaded. To be called between two
 * turns. */
bool known_users_follow(struct daemon *d);

/* In a turn: holds the jobs of users who were removed, or whose uid is another person's. What is known of these users
 * is stored in the turn's commit, with the holds. O(jobs) for each such user. */
void known_users_hold(struct daemon *d);

/* After a commit: these users are done. After one that failed, the next turn holds their jobs. */
void known_users_committed(struct daemon *d);

#endif
