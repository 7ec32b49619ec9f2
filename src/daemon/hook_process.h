/* A run of a program of the site that decides about something: it gets a document on standard input, accepts it with
 * the exit status 0, and refuses it with any other, and a line on standard error that says why.
 *
 *  I1  Only a thread of its own calls hook_process_run, and that thread waits for the program, so the loop never does.
 *  I2  Whatever the program does, the run ends: after the time limit its process group is killed. Processes that left
 *      the group are the site's.
 *  I3  Nothing of the daemon is in the program: no descriptor, no variable of its environment. It ends with the
 *      daemon. */
#ifndef FAIRLEAD_DAEMON_HOOK_PROCESS_H
#define FAIRLEAD_DAEMON_HOOK_PROCESS_H

#include <stdint.h>
#include <sys/resource.h>

#include "base/str.h"

enum { HOOK_LINE_SIZE = 512 };

struct hook_order {
    const char *path;
    struct str input;
    int64_t time_limit_s;
    int stop_fd; /* the run ends at once when it is readable */
    struct rlimit file_limit;
};

enum hook_end {
    HOOK_ACCEPTED,
    HOOK_REFUSED,
    HOOK_FAILED, /* it could not be run, was killed, or took too long: it has decided nothing */
    HOOK_STOPPED /* stop_fd was readable */
};

struct hook_result {
    enum hook_end end;
    char
        line[HOOK_LINE_SIZE]; /* printable. HOOK_REFUSED: why; HOOK_FAILED: the end of a sentence: "was ended by ..." */
};

void hook_process_run(const struct hook_order *order, struct hook_result *out);

#endif
