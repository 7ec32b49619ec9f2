/* The freezer of a control group stops a job whole: no process of it can fork, continue another or itself, and none
 * sees that it is stopped. Without one, SIGSTOP goes to each process that a walk down from the keeper finds. A process
 * that forks meanwhile is found by the next round, and rounds follow each other until one finds nothing that runs; then
 * they go on, seldom, because a process outside of the job can continue one of it. */
#include "exec/launcher/job_stop.h"

#include <signal.h>
#include <unistd.h>

#include "base/quantity.h"
#include "exec/launcher/process_tree.h"

#define ROUND_MIN_US INT64_C(1000)
#define ROUND_MAX_US INT64_C(500000)

/* --- stopping ----------------------------------------------------------------------------------------------------- */

/* The group of version 1 is only needed if the job is suspended: then all its processes move there. */
static bool freeze_group_1(const struct cgroup_parent *parents, uint64_t launch_id,
                           const struct process_identity *identity, struct job_groups *groups)
{
    struct cgroup *group = &groups->freezer;
    if (group->path[0] == '\0') {
        cgroup_set_freezer_path(parents, launch_id, identity->key, group);
        cgroup_create(group);
        if (group->path[0] != '\0') process_tree_attach(group);
    }
    return cgroup_freeze(group, true);
}

void job_stop_begin(struct job_stop *stop, const struct cgroup_parent *parents, uint64_t launch_id,
                    const struct process_identity *identity, struct job_groups *groups)
{
    if (stop->is_stopped) return;
    stop->is_stopped = true;
    stop->has_signals =
        !cgroup_freeze(&identity->cgroup, true) && !freeze_group_1(parents, launch_id, identity, groups);
    stop->wait_us = 0;
    if (stop->has_signals) job_stop_round(stop);
}

struct round {
    uint32_t running_count;
};

static bool is_stopped(const struct process *p)
{
    return p->state == 'T' || p->state == 't';
}

static void stop_process(const struct process *p, void *context)
{
    struct round *round = context;
    if (is_stopped(p)) return;
    round->running_count++;
    (void)process_signal(p, SIGSTOP);
}

void job_stop_round(struct job_stop *stop)
{
    struct round round = {0};
    process_tree_walk(getpid(), stop_process, &round);
    stop->wait_us = round.running_count > 0 ? ROUND_MIN_US : stop->wait_us * 2 + ROUND_MIN_US;
    if (stop->wait_us > ROUND_MAX_US) stop->wait_us = ROUND_MAX_US;
}

/* --- continuing --------------------------------------------------------------------------------------------------- */

void job_stop_end(struct job_stop *stop, const struct process_identity *identity, const struct job_groups *groups)
{
    if (!stop->is_stopped) return;
    stop->is_stopped = false;
    (void)cgroup_freeze(&identity->cgroup, false);
    (void)cgroup_freeze(&groups->freezer, false);
    if (stop->has_signals) job_stop_signal(SIGCONT);
    stop->has_signals = false;
}

/* --- signals ------------------------------------------------------------------------------------------------------ */

static void signal_process(const struct process *p, void *context)
{
    const int *number = context;
    (void)process_signal(p, *number);
}

void job_stop_signal(int number)
{
    process_tree_walk(getpid(), signal_process, &number);
}
