/* What an executor can use to keep jobs to what they asked for, which depends on the machine and on its rights. In
 * order: a later one prevents more. Whether it does so for a job is in the launch (launch.h). */
#ifndef FAIRLEAD_EXEC_ENFORCEMENT_H
#define FAIRLEAD_EXEC_ENFORCEMENT_H

enum enforcement_memory {
    ENFORCEMENT_MEMORY_NONE,
    ENFORCEMENT_MEMORY_SAMPLING, /* the processes of a job are looked at; each has a limit of its data */
    ENFORCEMENT_MEMORY_GROUP_1,  /* a control group of version 1 */
    ENFORCEMENT_MEMORY_GROUP     /* a control group of version 2 */
};

enum enforcement_cpus {
    ENFORCEMENT_CPUS_NONE,
    ENFORCEMENT_CPUS_AFFINITY, /* which a job can change */
    ENFORCEMENT_CPUS_CPUSET    /* affinity, and a control group that it cannot leave */
};

enum enforcement_kill {
    ENFORCEMENT_KILL_NONE,
    ENFORCEMENT_KILL_TREE, /* all descendants, round by round */
    ENFORCEMENT_KILL_GROUP /* a control group, all at once */
};

/* Of a low weight for processes outside jobs (outside_jobs=low_weight). */
enum enforcement_outside {
    ENFORCEMENT_OUTSIDE_NONE,
    ENFORCEMENT_OUTSIDE_NICE,  /* nice values of processes and sessions */
    ENFORCEMENT_OUTSIDE_SLICES /* and CPU weights of systemd's slices of users */
};

enum enforcement_suspend {
    ENFORCEMENT_SUSPEND_NONE,
    ENFORCEMENT_SUSPEND_SIGNALS, /* SIGSTOP to all descendants, round by round */
    ENFORCEMENT_SUSPEND_GROUP_1, /* the freezer of control groups of version 1 */
    ENFORCEMENT_SUSPEND_GROUP    /* of version 2 */
};

struct enforcement {
    enum enforcement_memory memory;
    enum enforcement_cpus cpus;
    enum enforcement_kill kill;
    enum enforcement_outside outside;
    enum enforcement_suspend suspend;
};

#endif
