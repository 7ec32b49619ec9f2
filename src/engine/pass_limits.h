/* Limits in a pass. A limit that blocks the first job of a group blocks all of them, and does so until what it counts
 * becomes less, or the rules change; so a blocked group costs nothing in the passes until then. */
#ifndef FAIRLEAD_ENGINE_PASS_LIMITS_H
#define FAIRLEAD_ENGINE_PASS_LIMITS_H

#include "engine/pass.h"

/* Sets p->limits, if limits are enforced. After the live cluster is up to date. */
void pass_limits_begin(struct pass *p);

/* Whether a limit is known to keep a group's jobs waiting. O(1). */
bool pass_limits_block(struct pass *p, const struct pending_group *g);

/* The demand of a task of a job as limits let it be placed, or NULL; NULL is noted in its group (index), so that it is
 * not looked at again as long as that makes no difference. */
const struct demand *pass_limits_place(struct pass *p, uint32_t job, uint32_t group, const struct demand *d);

/* Whether limits let a task of a job start now, wherever it fits. */
bool pass_limits_admit(struct pass *p, uint32_t job, uint32_t group, const struct demand *d);

#endif
