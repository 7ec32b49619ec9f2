/* The job's own process, from fork to exec. It prepares everything with the identity of the user, appends the record
 * that says that it has started to the log, and executes the program. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_JOB_PROCESS_H
#define FAIRLEAD_EXEC_LAUNCHER_JOB_PROCESS_H

#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/text.h"
#include "exec/launcher/job_groups.h"
#include "exec/launcher/job_identity.h"
#include "exec/launcher/launch_command.h"

/* The attributes that the launcher was started with, for its jobs; the launcher changes both for itself. */
struct inherited_attributes {
    mode_t umask;
    struct rlimit open_files;
};

/* What all jobs of a launcher have in common. */
struct job_surroundings {
    const struct inherited_attributes *inherited;
    const struct identity_rules *rules;
    int state_fd;                    /* the state directory */
    const struct job_groups *groups; /* of the launch; the process enters those that exist */
};

/* The step that failed. */
enum job_step {
    JOB_STEP_SETUP = 1,
    JOB_STEP_IDENTITY,
    JOB_STEP_OUTPUT,
    JOB_STEP_ERROR_OUTPUT,
    JOB_STEP_DIRECTORY,
    JOB_STEP_CPUS,
    JOB_STEP_RECORD,
    JOB_STEP_EXEC
};

struct job_report {
    int step;           /* enum job_step */
    int fault;          /* enum job_identity_fault or enum job_output_fault, if the step is one of these */
    int error_number;   /* errno of the step that failed */
    bool is_state_disk; /* the disk of the state directory is full or broken */
    bool has_identity;  /* the process was the user's already, who can make calls fail */
};

struct job_process {
    pid_t pid;
    int report_fd; /* does not block; gives a job_report if a step fails; ends when the program is executed or the process is gone */
};

/* Forks the process into a control group, or without one if its path is empty or it cannot be entered; it is removed
 * then, and its path becomes empty. start_line: of log_text_add_start, which the process completes and appends to
 * log_fd right before exec. ERR_UNAVAILABLE: there can be no more processes or descriptors at present. */
int job_process_fork(const struct launch *launch, const struct launch_command *command,
                     const struct job_surroundings *surroundings, struct cgroup *group, int log_fd,
                     struct buf *start_line, struct job_process *out, struct err *e);

/* Whether a step failed because of a shortage of the machine (shortage.h), so that the same launch may succeed later. A
 * disk is the machine's if it has the state directory too; any other one is the job's own choice. Of a process that has
 * changed its identity, only that disk counts: for anything else a user could keep back the jobs of all others. */
bool job_process_failed_for_machine(const struct job_report *report);

/* Describes a failed step in one line for people. */
void job_process_explain(const struct job_report *report, const struct launch *launch,
                         const struct launch_command *command, char *out, size_t size);

#endif
