/* The job's own process, from the fork to its program. It prepares everything as the user, says that it is ready, and
 * runs the program once it is told to: between the two, the keeper writes the start record. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_JOB_PROCESS_H
#define FAIRLEAD_EXEC_LAUNCHER_JOB_PROCESS_H

#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"
#include "exec/launcher/launch_command.h"

/* What the launcher was started with and a job shall have; the launcher changes both for itself. */
struct inherited_attributes {
    mode_t umask;
    struct rlimit files;
};

enum job_step {
    JOB_STEP_READY,
    JOB_STEP_SETUP,
    JOB_STEP_IDENTITY,
    JOB_STEP_OUTPUT,
    JOB_STEP_ERROR_OUTPUT,
    JOB_STEP_DIRECTORY,
    JOB_STEP_CPUS,
    JOB_STEP_EXEC
};

struct job_report {
    int step; /* enum job_step; anything but JOB_STEP_READY failed */
    int why;  /* errno */
};

struct job_process {
    pid_t pid;
    int report_fd; /* struct job_report for each report; ends when the program runs or the process is gone */
    int go_fd;     /* a byte lets it run the program */
};

/* Forks it. ERR_UNAVAILABLE: there can be no more processes or descriptors now. */
int job_process_fork(const struct launch *launch, const struct launch_command *command,
                     const struct inherited_attributes *inherited, struct job_process *out, struct err *e);

/* What a failed report means to a person. */
void job_process_explain(const struct job_report *report, const struct launch *launch,
                         const struct launch_command *command, char *out, size_t size);

#endif
