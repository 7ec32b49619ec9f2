/* The freezer of a control group stops a job whole: no process of it can fork, continue another or itself, and none
 * sees that it is stopped. Without one, SIGSTOP goes to each process that a walk down from the keeper finds. A process
 * that forks meanwhile is found by the next round, and rounds follow each other until one finds nothing that runs; then
 * they go on, seldom, because a process outside of the job can continue one of it. */
#include "exec/launcher/job_stop.h"

#include <signal.h>
#include <unistd.h>

#include "base/quantity.h"
#include "exec/clock.h"
#include "exec/launcher/keeper_orders.h"
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

static void stop_round(struct job_stop *stop)
{
    struct round round = {0};
    process_tree_walk(getpid(), stop_process, &round);
    stop->wait_us = round.running_count > 0 ? ROUND_MIN_US : stop->wait_us * 2 + ROUND_MIN_US;
    if (stop->wait_us > ROUND_MAX_US) stop->wait_us = ROUND_MAX_US;
    stop->round_us = clock_boot_us() + stop->wait_us;
}

static void begin(struct job_stop *stop, const struct cgroup_parent *parents, uint64_t launch_id,
                  const struct process_identity *identity, struct job_groups *groups)
{
    if (stop->is_stopped) return;
    stop->is_stopped = true;
    stop->has_signals =
        !cgroup_freeze(&identity->cgroup, true) && !freeze_group_1(parents, launch_id, identity, groups);
    stop->wait_us = 0;
    if (stop->has_signals) stop_round(stop);
}

/* --- signals ------------------------------------------------------------------------------------------------------ */

static void signal_process(const struct process *p, void *context)
{
    const int *number = context;
    (void)process_signal(p, *number);
}

static void signal_all(int number)
{
    process_tree_walk(getpid(), signal_process, &number);
}

/* SI_QUEUE tells a relay (terminal/relay.c) that the signal is for its program, which did not get it from signal_all. A
 * user's limit of queued signals may keep it from being sent so. */
static void send_to_first(int number, pid_t first_pid)
{
    if (sigqueue(first_pid, number, (union sigval){0}) < 0) (void)kill(first_pid, number);
}

/* first_pid 0: the first process is gone. */
static void send(uint32_t number, bool is_to_first, pid_t first_pid)
{
    if (number < 1 || number > LAUNCH_SIGNAL_MAX) return;
    if (!is_to_first)
        signal_all((int)number);
    else if (first_pid > 0)
        send_to_first((int)number, first_pid);
}

void job_stop_send(int64_t value, pid_t first_pid)
{
    if (value > 0 && value / 2 <= LAUNCH_SIGNAL_MAX) send((uint32_t)(value / 2), value % 2 == 1, first_pid);
}

/* --- continuing --------------------------------------------------------------------------------------------------- */

static void let_run(struct job_stop *stop, const struct process_identity *identity, const struct job_groups *groups)
{
    stop->round_us = INT64_MAX;
    if (!stop->is_stopped) return;
    stop->is_stopped = false;
    (void)cgroup_freeze(&identity->cgroup, false);
    (void)cgroup_freeze(&groups->freezer, false);
    if (stop->has_signals) signal_all(SIGCONT);
    stop->has_signals = false;
}

void job_stop_end(struct job_stop *stop, const struct process_identity *identity, const struct job_groups *groups)
{
    stop->warn_us = INT64_MAX;
    let_run(stop, identity, groups);
}

/* --- orders, and what is due -------------------------------------------------------------------------------------- */

struct job_stop job_stop_of(const struct launch *launch)
{
    return (struct job_stop){.round_us = INT64_MAX,
                             .warn_us = INT64_MAX,
                             .warn_signal = launch->warn_signal,
                             .warn_before_us = launch->warn_before_us,
                             .is_warn_to_first = launch->is_warn_to_first};
}

bool job_stop_take(struct job_stop *stop, int64_t value)
{
    if (value < 0 || value / 2 > LAUNCH_SUSPENDED_MAX_US) return false;
    stop->is_wanted = value % 2 == 1;
    stop->suspended_us = value / 2;
    return true;
}

void job_stop_apply(struct job_stop *stop, const struct cgroup_parent *parents, uint64_t launch_id,
                    const struct process_identity *identity, struct job_groups *groups)
{
    if (stop->is_wanted)
        begin(stop, parents, launch_id, identity, groups);
    else
        let_run(stop, identity, groups);
}

void job_stop_set_warning(struct job_stop *stop, int64_t limit_us)
{
    bool warns = stop->warn_signal != 0 && limit_us != INT64_MAX;
    stop->warn_us = warns ? limit_us - stop->warn_before_us : INT64_MAX;
}

int64_t job_stop_next_us(const struct job_stop *stop)
{
    return stop->round_us < stop->warn_us ? stop->round_us : stop->warn_us;
}

void job_stop_follow(struct job_stop *stop, pid_t first_pid)
{
    if (job_stop_next_us(stop) == INT64_MAX) return;
    if (clock_boot_us() >= stop->warn_us) {
        send(stop->warn_signal, stop->is_warn_to_first, first_pid);
        stop->warn_signal = 0;
        stop->warn_us = INT64_MAX;
    }
    if (clock_boot_us() >= stop->round_us) stop_round(stop);
}
