/* A low CPU weight for the control groups in which systemd has the sessions of users (systemd.slice(5)):
 *
 *     /sys/fs/cgroup               version 2
 *       system.slice               weight 100, with it fairlead-jobs.service and the jobs
 *       user.slice                 weight 100: becomes 20 while a user in it gets a low weight
 *         user-1000.slice          weight 100 of each user: becomes 1 for such a user
 *
 * Where these groups have weights, a nice value counts only within a group (sched(7)). The weight of the user's slice
 * lets other users go first, that of user.slice jobs; with 20 to 100, all sessions together have a sixth of the CPUs
 * that jobs want, too. Weights that are lower already stay.
 *
 * What each group had is in the file of low_weight.h before it is changed: "slice <uid, or all> <weight>". systemd sets
 * a weight again when its unit is reloaded, so whatever is found later and is not the low one is what the group gets
 * back, and it is made low again at the next order. Only a group that has the low one still is given its own back. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_SLICE_WEIGHTS_H
#define FAIRLEAD_EXEC_LAUNCHER_SLICE_WEIGHTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/text.h"

enum { SLICE_WEIGHT_LOW = 1, SLICE_WEIGHT_ALL_LOW = 20, SLICE_WEIGHT_MAX = 10000 };

#define SLICE_ALL UINT32_MAX /* user.slice itself; no user has this uid */

struct slice_weight {
    uint32_t uid;    /* or SLICE_ALL */
    uint32_t weight; /* before */
};

struct slice_weights {
    char directory[PATH_MAX]; /* user.slice; "": leave them alone */
    ARRAY(struct slice_weight) list;
};

/* Finds user.slice. directory: another path of it, NULL: at the top of the hierarchy of version 2, "": none. */
void slice_weights_find(struct slice_weights *w, const char *directory);
void slice_weights_release(struct slice_weights *w);

/* Whether user.slice has a weight that can be set. */
bool slice_weights_are_used(const struct slice_weights *w);

/* The three steps of a change, for the users that get a low weight; between the first and the second the list has to be
 * in the file, and after the third again. The first and the third return whether the list has changed. Users without a
 * slice are left out. */
bool slice_weights_add(struct slice_weights *w, const uint32_t *uids, uint32_t count);
void slice_weights_apply(const struct slice_weights *w, const uint32_t *uids, uint32_t count);
bool slice_weights_remove_others(struct slice_weights *w, const uint32_t *uids, uint32_t count);

/* Lines of the file. slice_weight_parse is pure; false: it is no such line. */
void slice_weight_format(const struct slice_weight *slice, struct buf *out);
bool slice_weight_parse(struct str line, struct slice_weight *out);

#endif
