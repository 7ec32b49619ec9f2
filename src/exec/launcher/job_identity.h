/* The identity of a job: which ones a launcher accepts, and how a job's process takes its own.
 *
 * A private launcher starts jobs with its own identity only. A system launcher, which runs as root, does not trust the
 * launch for more than a user id: the user's groups come from the user database. The lookup may block, for example in
 * LDAP, so the job's process does it: the launcher's loop does not wait, and a keeper can kill it meanwhile. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_JOB_IDENTITY_H
#define FAIRLEAD_EXEC_LAUNCHER_JOB_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

enum { UID_NOBODY = 65534 };

/* Private launchers have is_system false, and the other members do not matter. */
struct identity_rules {
    bool is_system;
    bool allows_root; /* root, system accounts and the daemon's account may have jobs, and root may be the daemon */
    uid_t min_uid;    /* the lowest uid of a person's account */
    uid_t daemon_uid; /* of the daemon's account */
};

/* Why a process could not take its identity, beside errno. */
enum job_identity_fault {
    JOB_IDENTITY_OK,
    JOB_IDENTITY_LOOKUP,     /* the user database does not answer now */
    JOB_IDENTITY_NO_USER,    /* it has no such user */
    JOB_IDENTITY_NOT_MEMBER, /* the group is none of the user's */
    JOB_IDENTITY_CHANGE      /* a system call failed, or its effect is not what it should be */
};

/* Checks an identity by its numbers alone: no lookup, so it does not block. ERR_DENIED. */
int job_identity_check(const struct identity_rules *rules, uid_t uid, gid_t gid, struct err *e);

/* Whether a uid is that of a person whose processes outside jobs may be touched: of a system launcher, never root's, a
 * system account's, the daemon's or UID_NOBODY, whatever may have jobs. */
bool job_identity_is_person(const struct identity_rules *rules, uid_t uid);

/* Makes this process that of the user, without a way back: groups, group, user, capabilities, session keyring. Each
 * call is checked, and then its effect. Every descriptor above 2 is going to be closed by exec. Does nothing for a
 * private launcher. To be called in the job's process; in that of a system launcher, which shares no memory with its
 * keeper. Returns why it failed, with errno. May block. */
enum job_identity_fault job_identity_take(const struct identity_rules *rules, uid_t uid, gid_t gid);

/* Whether a fault is the machine's, so that the same launch may succeed later. */
bool job_identity_failed_for_machine(enum job_identity_fault fault, int error_number);

/* Describes a fault in one line for people. */
void job_identity_explain(enum job_identity_fault fault, int error_number, uid_t uid, gid_t gid, char *out,
                          size_t size);

#endif
