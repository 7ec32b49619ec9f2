/* The audit log: every administrative change, its author, and the values before and after it. It is made around the
 * handler of an event (engine.c), from the rows before and after, so no handler knows of it, and a new field is in it
 * by itself.
 *
 *     command           name             field           before  after
 *     set               host_cpus                        auto    2
 *     partition modify  main             PriorityTier    1       5
 *     account add       physics          shares                  70
 *     user delete       physics/alice    shares          1
 *     hold              5
 *
 * An entry is a field that has another value after the event. Of what was added the fields have no value before, and of
 * what was deleted none after; fields at their defaults are left out then. A user in an account is named ACCOUNT/USER,
 * or ACCOUNT/USER/PARTITION for the association of one partition. Of jobs only changes by others than their users
 * count, in one entry for an event, with an entry for each field of an update. What the instance does by itself (reset
 * periods, passes, quarantine) is no administrative change. */
#ifndef FAIRLEAD_ENGINE_AUDIT_H
#define FAIRLEAD_ENGINE_AUDIT_H

#include "engine/apply.h"

struct audit_run;

/* Notes what the event may change, before its handler runs; in memory of the cycle. NULL: it is nothing that counts.
 * O(fields), for a user O(the user's associations), for a reset of usage O(associations + tasks). */
struct audit_run *audit_begin(struct apply_context *c, const struct event *event);

/* Appends the entries to the outcome, after the handler has succeeded. run may be NULL. */
void audit_end(struct apply_context *c, const struct event *event, const struct audit_run *run);

#endif
