/* Who uses the machine now. The launcher looks at all processes when it is asked to (executor_sample), and two looks
 * make an account (use_account.h). It is asked only while a client waits for an account, or the setting outside_jobs is
 * on. */
#ifndef FAIRLEAD_DAEMON_USE_H
#define FAIRLEAD_DAEMON_USE_H

#include "daemon/daemon.h"
#include "daemon/use_account.h"

/* What the user database says of a uid; looked up by a thread. */
struct use_user {
    uint32_t uid;
    char name[64];     /* "": it has none */
    bool is_exempt;    /* it is root, a system account, or among those that outside_jobs_exempt names */
    int64_t looked_us; /* time since boot; 0: not looked up yet */
};

/* d->use is NULL in a pretend instance, and all of these do nothing then. */
void use_open(struct daemon *d);
void use_close(struct daemon *d); /* after the loop was closed */

/* Reports of the executor. */
void use_take_process(struct daemon *d, const struct process_sample *process);
void use_take_end(struct daemon *d, const struct process_sample_end *end);

/* Looks at all processes soon, for d->on_sample; the name of a user that the last look had, NULL: none. */
void use_look(struct daemon *d);
const char *use_name_of(struct daemon *d, uint32_t uid);

/* The connection to the executor is lost: who waits is told so. */
void use_drop(struct daemon *d);

/* In each turn: begins to look, or ends it, as the settings say. */
void use_follow_settings(struct daemon *d);

/* The function for server_host.describe_outside; context is the daemon. */
void use_describe_outside(void *context, bool has_names, struct buf *out);

/* The daemon stops: gives all low weights back. Before the executor is closed. */
void use_end(struct daemon *d);

/* The function for server_host.measure_use; context is the daemon. */
int use_measure(void *context, struct request *request, struct err *e);

#endif
