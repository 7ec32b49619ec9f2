/* One start of one task, and what became of it: the words that daemon, launcher and keeper share.
 *
 * A launch id is given out once by the daemon, committed, and never used again; sending it a second time starts nothing
 * a second time. What happened to a launch is a record: first STARTED, perhaps COMPLETING, at last ENDED. The keeper
 * writes its records to disk before it goes on, so they outlive daemon, launcher and keeper. */
#ifndef FAIRLEAD_EXEC_LAUNCH_H
#define FAIRLEAD_EXEC_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/idset.h"
#include "base/str.h"

struct launch {
    uint64_t id;
    uid_t uid; /* whom it runs as; a private launcher refuses any but its own uid and gid */
    gid_t gid;
    const char *name;      /* "12" or "12_3": for messages and the keeper's line in ps */
    const char *directory; /* absolute */
    const char *out_path;  /* absolute; opened by the keeper as the user, created or truncated */
    const char *err_path;  /* NULL: where out goes */
    struct str script;  /* text of a script, run by its #! interpreter or /bin/sh; empty: arguments[0] is the program */
    char **arguments;   /* with a script: what follows its name; both closed by NULL */
    char **environment; /* NAME=value, whole and final but for FAIRLEAD_LAUNCH_ID and _KEY; closed by NULL */
    struct idset cpus;  /* CPUs to bind to, as the kernel numbers them; empty: all */
    uint64_t mem_mib;   /* promised, not yet enforced */
    int64_t time_limit_us; /* 0: none; enforced by the keeper */
    int64_t grace_us;      /* from SIGTERM to SIGKILL */
};

enum launch_phase {
    LAUNCH_STARTED,    /* the job's process exists and may have run */
    LAUNCH_COMPLETING, /* it is being ended, or its main process is gone and others are being ended */
    LAUNCH_ENDED       /* nothing of it runs any more */
};

enum launch_end {
    LAUNCH_EXITED,    /* by itself: exit_status or signal says how */
    LAUNCH_CANCELLED, /* because it was asked to end */
    LAUNCH_TIMED_OUT, /* because its time limit had passed */
    LAUNCH_REFUSED,   /* never ran: detail says why (no such directory, output cannot be opened, no such program) */
    LAUNCH_LOST       /* its keeper was killed: what the job did is not known; its processes have been ended */
};

enum {
    LAUNCH_NAME_MAX = 63,         /* bytes */
    LAUNCH_PATH_MAX = 4095,       /* bytes, of a path */
    LAUNCH_STRING_MAX = 131071,   /* bytes, of one argument or NAME=value: what Linux takes */
    LAUNCH_STRINGS_MAX = 1000000, /* arguments, or NAME=value pairs */
    LAUNCH_CPU_MAX = 65535,
    LAUNCH_DETAIL_SIZE = 200
};
#define LAUNCH_GRACE_MAX_US INT64_C(604800000000) /* a week */

/* Of what a job gets of the CPUs it shares with others. */
enum { LAUNCH_CPU_WEIGHT_MIN = 1, LAUNCH_CPU_WEIGHT_DEFAULT = 100, LAUNCH_CPU_WEIGHT_MAX = 10000 };

struct launch_record {
    uint64_t id;
    enum launch_phase phase;
    int64_t at_us;      /* when this phase began */
    int64_t started_us; /* 0 when it never started; a program that could not be run did not start */
    int32_t pid;        /* of the job's main process, 0 when it never started */
    /* From here on for LAUNCH_ENDED: */
    enum launch_end end;
    int32_t exit_status; /* 0 to 255, when signal is 0 */
    int32_t signal;      /* that ended the main process, else 0 */
    int64_t cpu_us;      /* user and system time of all it waited for */
    int64_t max_rss_kib;
    char detail[LAUNCH_DETAIL_SIZE]; /* one line for a person, or empty */
};

/* Whether every field is what it is said to be above (ERR_INPUT; the text names the field). The launcher asks this of
 * everything it is told to start; whether the identity is one it may start is its own question. */
int launch_check(const struct launch *launch, struct err *e);

/* An ended record of a launch that never ran. */
struct launch_record launch_record_refused(uint64_t id, int64_t at_us, const char *detail);

/* Puts text in as one printable line, cut in its middle where it is too long. */
void launch_record_set_detail(struct launch_record *record, const char *text);

/* The words of records and logs. */
const char *launch_phase_name(enum launch_phase phase); /* "started", "completing", "ended" */
const char *launch_end_name(enum launch_end end);       /* "exited", "cancelled", "timed-out", "refused", "lost" */

#endif
