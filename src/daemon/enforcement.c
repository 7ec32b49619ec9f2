/* What keeps jobs to what they asked for, in words: for status. The executor says what the machine has
 * (exec/enforcement.h), the settings what is wanted. A mechanism is never said without what it does not prevent. */
#include "daemon/enforcement.h"

#include "base/text.h"

#define SAME_USER "a job that moves itself out, because it runs as the user of its keeper"

enum { MEMORY_AUTO, MEMORY_ON, MEMORY_OFF, CPUS_ON = 0 }; /* as in the rows of the settings */

/* A system instance keeps jobs to their memory unless it is told otherwise, because its users do not trust each other.
 * In a private instance there is one user, who may have given no job the memory that it needs. */
static bool wants_memory(const struct daemon *d)
{
    int64_t choice = setting_number(&d->state.settings, SET_ENFORCE_MEMORY);
    return choice == MEMORY_ON || (choice == MEMORY_AUTO && d->is_system);
}

static bool wants_cpus(const struct daemon *d)
{
    return setting_number(&d->state.settings, SET_ENFORCE_CPUS) == CPUS_ON;
}

void enforcement_set(const struct daemon *d, const struct task *k, struct launch *launch)
{
    const struct settings *settings = &d->state.settings;
    if (wants_memory(d)) {
        launch->mem_limit_kib =
            launch_memory_limit_kib(launch->mem_mib, (uint64_t)setting_number(settings, SET_MEMORY_SLACK));
        launch->mem_poll_us = setting_number(settings, SET_MEMORY_POLL_S) * US_PER_S;
    }
    if (wants_cpus(d)) machine_cpus(&d->machine, &k->placements[0].cpus, &launch->cpus);
}

static struct server_enforcement memory_row(const struct daemon *d, struct arena *arena)
{
    struct server_enforcement row = {
        .resource = "memory", .mechanism = "none", .gap = "use of more than was asked for"};
    char gap[160];
    if (!wants_memory(d)) return row;
    switch (d->enforcement.memory) {
    case ENFORCEMENT_MEMORY_NONE: return row;
    case ENFORCEMENT_MEMORY_SAMPLING:
        text_format(gap, sizeof gap,
                    "more than its memory for up to %lld s; what is swapped out; files in a tmpfs, as /dev/shm",
                    (long long)setting_number(&d->state.settings, SET_MEMORY_POLL_S));
        row.mechanism = "sampling and a limit of each process";
        row.gap = arena_copy(arena, str(gap));
        return row;
    case ENFORCEMENT_MEMORY_GROUP_1:
    case ENFORCEMENT_MEMORY_GROUP: break;
    }
    row.mechanism = d->enforcement.memory == ENFORCEMENT_MEMORY_GROUP ? "control group" : "control group of version 1";
    row.gap = d->is_system ? NULL : SAME_USER;
    return row;
}

/* A job with a CPU that the machine lacks is bound to none (machine_cpus). */
static const char *lacking_cpus_gap(const struct daemon *d, struct arena *arena)
{
    int64_t cpus = setting_number(&d->state.settings, SET_HOST_CPUS);
    char gap[160];
    if (cpus <= (int64_t)d->machine.has.cpus) return NULL;
    text_format(gap, sizeof gap, "use of all CPUs by jobs with a CPU above the %u of this machine (host_cpus is %lld)",
                d->machine.has.cpus, (long long)cpus);
    return arena_copy(arena, str(gap));
}

static struct server_enforcement cpus_row(const struct daemon *d, struct arena *arena)
{
    struct server_enforcement row = {.resource = "CPUs", .mechanism = "none", .gap = "use of the CPUs of other jobs"};
    if (!wants_cpus(d) || d->enforcement.cpus == ENFORCEMENT_CPUS_NONE) return row;
    bool has_cpuset = d->enforcement.cpus == ENFORCEMENT_CPUS_CPUSET;
    row.mechanism = has_cpuset ? "cpuset" : "affinity";
    row.gap = !has_cpuset ? "use of the CPUs of other jobs by one that calls taskset" : d->is_system ? NULL : SAME_USER;
    const char *lacking = lacking_cpus_gap(d, arena);
    if (lacking != NULL) row.gap = lacking;
    return row;
}

static struct server_enforcement kill_row(const struct daemon *d)
{
    bool has_group = d->enforcement.kill == ENFORCEMENT_KILL_GROUP;
    struct server_enforcement row = {.resource = "kill", .mechanism = has_group ? "control group" : "process tree"};
    if (!has_group)
        row.gap =
            "the escape of a process that left its session and emptied its environment, from a keeper that was killed";
    else if (!d->is_system)
        row.gap = SAME_USER;
    return row;
}

static struct server_enforcement suspend_row(const struct daemon *d)
{
    static const char *const mechanisms[] = {
        [ENFORCEMENT_SUSPEND_NONE] = "none",
        [ENFORCEMENT_SUSPEND_SIGNALS] = "SIGSTOP",
        [ENFORCEMENT_SUSPEND_GROUP_1] = "freezer of a control group of version 1",
        [ENFORCEMENT_SUSPEND_GROUP] = "freezer of a control group",
    };
    struct server_enforcement row = {.resource = "suspend", .mechanism = mechanisms[d->enforcement.suspend]};
    if (d->enforcement.suspend <= ENFORCEMENT_SUSPEND_SIGNALS)
        row.gap = "that a process of the same user continues a suspended one, which then runs for up to 0.5 s";
    else if (!d->is_system)
        row.gap = SAME_USER;
    return row;
}

/* What is done about use outside jobs; that of the launcher is in exec/launcher/low_weight.h. */
static struct server_enforcement outside_row(const struct daemon *d)
{
    struct server_enforcement row = {.resource = "outside jobs", .mechanism = "shown", .gap = "use outside jobs"};
    enum outside_jobs_action action = (enum outside_jobs_action)setting_number(&d->state.settings, SET_OUTSIDE_JOBS);
    if (action == OUTSIDE_JOBS_WARN && d->is_system) row.mechanism = "shown, and a warning on terminals";
    if (action != OUTSIDE_JOBS_LOW_WEIGHT || !d->is_system) return row;
    row.gap = "use of CPUs that are idle, of GPUs and of memory";
    row.mechanism = d->enforcement.outside == ENFORCEMENT_OUTSIDE_SLICES
                        ? "CPU weights of systemd's slices (1 for the user, 20 for all sessions), and nice 19"
                        : "nice 19, for processes and for sessions (autogroup)";
    return row;
}

uint32_t enforcement_list(void *context, struct arena *arena, const struct server_enforcement **out_rows)
{
    const struct daemon *d = context;
    enum { ROWS = 6 };
    bool is_outside_ignored = setting_number(&d->state.settings, SET_OUTSIDE_JOBS) == OUTSIDE_JOBS_IGNORE;
    if (d->pretend != NULL) return 0;
    struct server_enforcement *rows = arena_alloc(arena, ROWS * sizeof *rows);
    rows[0] = memory_row(d, arena);
    rows[1] = cpus_row(d, arena);
    rows[2] = (struct server_enforcement){.resource = "GPUs",
                                          .mechanism = "CUDA_VISIBLE_DEVICES",
                                          .gap = "use of the GPUs of other jobs by one that changes it"};
    rows[3] = kill_row(d);
    rows[4] = suspend_row(d);
    rows[5] = outside_row(d);
    *out_rows = rows;
    return is_outside_ignored ? ROWS - 1 : ROWS;
}
