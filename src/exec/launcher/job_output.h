/* Opens the output files of a job, as its user.
 *
 * A system launcher opens them by stricter rules, because its users may attack each other through directories that
 * several of them can write: what a user writes there has to be the user's own file. They are the rules of
 * fs.protected_symlinks, protected_regular and protected_fifos (proc_sys_fs(5)), which may be switched off, and some
 * more:
 *
 *     a symbolic link as the last component     is followed if it belongs to the user or root
 *     one before it                             the same, in a shared directory; elsewhere it is followed
 *     an existing file in a shared directory    is opened if it belongs to the user or root, and has one name only
 *
 * A shared directory is one that its group or others can write, with the sticky bit or without it, as the directory of
 * a project. (With an access control list that lets others write, the bits of the group are those of its mask.) */
#ifndef FAIRLEAD_EXEC_LAUNCHER_JOB_OUTPUT_H
#define FAIRLEAD_EXEC_LAUNCHER_JOB_OUTPUT_H

#include <stdbool.h>

enum job_output_fault {
    JOB_OUTPUT_FAILED,       /* errno says why */
    JOB_OUTPUT_FOREIGN_LINK, /* a symbolic link in its path is another user's */
    JOB_OUTPUT_FOREIGN_FILE, /* it is another user's, in a shared directory */
    JOB_OUTPUT_LINKED_FILE   /* it has several names, in a shared directory */
};

/* Opens a file for writing as the user that this process is; creates it, or cuts an existing one to length 0. path:
 * absolute. is_strict: by the rules above. Returns the descriptor (O_CLOEXEC); -1 with errno and *out_fault. Neither
 * allocates memory nor blocks at a fifo. */
int job_output_open(const char *path, bool is_strict, enum job_output_fault *out_fault);

/* The reason of a fault, for people: "Permission denied". */
const char *job_output_explain(enum job_output_fault fault, int error_number);

#endif
