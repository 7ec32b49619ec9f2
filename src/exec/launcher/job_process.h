/* The job's own process, from fork to exec. It prepares everything with the identity of the user and reports that it is
 * ready. It runs the program once the keeper lets it; between the two, the keeper writes the start record. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_JOB_PROCESS_H
#define FAIRLEAD_EXEC_LAUNCHER_JOB_PROCESS_H

#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"
#include "exec/launcher/launch_command.h"

/* The attributes that the launcher was started with, for its jobs; the launcher changes both for itself. */
struct inherited_attributes {
    mode_t umask;
    struct rlimit open_files;
};

/* The step that failed; or JOB_STEP_READY: all steps before exec have succeeded. */
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
    int step;         /* enum job_step */
    int error_number; /* errno of the step that failed */
};

struct job_process {
    pid_t pid;
    int report_fd; /* gives job_reports; ends when the program is executed or the process is gone */
    int go_fd;     /* a byte written here lets the process execute the program */
};

/* Forks the process. ERR_UNAVAILABLE: there can be no more processes or descriptors at present. */
int job_process_fork(const struct launch *launch, const struct launch_command *command,
                     const struct inherited_attributes *inherited, struct job_process *out, struct err *e);

/* Whether a step failed because of a shortage of the machine (shortage.h), so that the same launch may succeed later. A
 * disk is the machine's if it has the state directory (state_fd) too; any other one is the job's own choice. */
bool job_process_failed_for_machine(const struct job_report *report, const struct launch *launch, int state_fd);

/* Describes a failed step in one line for people. */
void job_process_explain(const struct job_report *report, const struct launch *launch,
                         const struct launch_command *command, char *out, size_t size);

#endif
