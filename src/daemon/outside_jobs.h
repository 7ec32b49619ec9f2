/* Users who use the machine outside jobs, by the setting outside_jobs: since when each is above the threshold, and what
 * follows. Pure but for the log.
 *
 *     below ── above for outside_jobs_s ──> over ── below for outside_jobs_s ──> below
 *
 * A user is warned when it becomes over, and while it is, but not twice in outside_jobs_warn_s, even if it was below in
 * between. The daemon forgets warnings when it ends.
 *
 * The time is the same in both directions, because a low weight by itself makes a user use less on a busy machine. */
#ifndef FAIRLEAD_DAEMON_OUTSIDE_JOBS_H
#define FAIRLEAD_DAEMON_OUTSIDE_JOBS_H

#include "base/array.h"
#include "base/text.h"
#include "fields/settings.h"

struct outside_rule {
    enum outside_jobs_action action;
    double cpus;
    int64_t time_us;
    int64_t warn_us; /* between two warnings of a user */
};

struct outside_user {
    uint32_t uid;
    char name[64]; /* or its uid */
    double cpus;
    uint64_t gpus;
    int64_t above_us, below_us; /* time since boot: since when; 0: not */
    int64_t warned_us;          /* likewise: when; 0: never */
    bool is_over;
    bool is_seen;       /* in this update */
    bool wants_warning; /* by this update */
};

/* What a user used since the last update. */
struct outside_use {
    uint32_t uid;
    const char *name;
    double cpus;
    uint64_t gpus;
    bool is_exempt;
    bool is_low; /* it has a low weight, which an earlier daemon may have ordered */
};

struct outside_jobs {
    ARRAY(struct outside_user) users; /* those that use something, and those that were warned lately */
};

/* The rule that the settings give. */
struct outside_rule outside_jobs_rule(const struct settings *settings);

/* How often to look, in milliseconds: four times in outside_jobs_s, but not too often. */
uint64_t outside_jobs_interval_ms(const struct outside_rule *rule);

/* Takes what all users used; those that are missing used nothing. now_us: time since boot. O(users^2), few. */
void outside_jobs_update(struct outside_jobs *o, const struct outside_rule *rule, const struct outside_use *uses,
                         uint32_t count, int64_t now_us);

/* Forgets all users, as when the setting goes off. */
void outside_jobs_clear(struct outside_jobs *o);
void outside_jobs_release(struct outside_jobs *o);

/* Whether the user was above the threshold for long enough. */
bool outside_jobs_is_over(const struct outside_jobs *o, uint32_t uid);

/* Appends who is over: "ann uses 3.9 CPUs and GPU 0 outside jobs for 12:00, with a low weight". has_names: otherwise
 * only how many there are. */
void outside_jobs_describe(const struct outside_jobs *o, const struct outside_rule *rule, bool has_names,
                           int64_t now_us, struct buf *out);

#endif
