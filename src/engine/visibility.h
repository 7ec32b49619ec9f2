/* What users may see of each other, by the setting private_data. Nothing is hidden from operators, and of one's own
 * jobs and usage nothing is hidden from anyone. Totals, of accounts for example, are never hidden.
 *
 *     jobs      jobs of other users are not there: not in listings, not for requests that name them
 *     details   they are there, without names, texts and paths (job_field_row.is_public), and without owner and account
 *     usage     shares, usage and priorities of other users
 *     users     their associations and user policies */
#ifndef FAIRLEAD_ENGINE_VISIBILITY_H
#define FAIRLEAD_ENGINE_VISIBILITY_H

#include "engine/event.h"
#include "fields/setting_text.h"

/* What stands for a name that is hidden. No user, account or project can have it. */
#define VISIBILITY_HIDDEN_NAME "(hidden)"

/* What is hidden from the actor, of PRIVATE_JOBS and so on. */
uint32_t visibility_hidden_from(const struct state *s, const struct actor *actor);

/* Whether what is of that user, and of one of these kinds, is hidden from the actor. */
bool visibility_hides(const struct state *s, const struct actor *actor, uint32_t kinds, const char *user);

/* Why the machine can start nothing at present, if these kinds are hidden from who asks: the last failure may be that
 * of another user's job, and name a file of it. NULL: it can. */
const char *visibility_launch_failure(const struct state *s, uint32_t hidden);

/* Fills *e for a job that the actor may not change: with the name of its user, if the actor may see that. With
 * PRIVATE_JOBS it is the error of a job that does not exist. Returns -1. */
int visibility_refuse_job(const struct state *s, const struct actor *actor, struct str job_id, const char *user,
                          struct err *e);

#endif
