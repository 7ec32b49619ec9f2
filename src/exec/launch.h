/* A launch is one start of one task; its record is its latest state. Daemon, launcher and keeper share these types.
 *
 * The daemon uses each launch id once, and commits it before. A second START with the same id has no effect. The record
 * of a launch is first STARTED, perhaps COMPLETING, finally ENDED. Each is appended to a log before anything follows
 * from it, so records outlive daemon, launcher and keeper. */
#ifndef FAIRLEAD_EXEC_LAUNCH_H
#define FAIRLEAD_EXEC_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/idset.h"
#include "base/quantity.h"
#include "base/str.h"

/* What its program has as standard input and output. With one of the last two a relay is its first process, and output
 * goes to clients, too (terminal/relay.h). */
enum launch_terminal { LAUNCH_NO_TERMINAL, LAUNCH_PTY, LAUNCH_PIPES };

struct launch {
    uint64_t id; /* 1 to INT64_MAX */
    uid_t uid;   /* the user that it runs as; a private launcher refuses all but its own uid and gid */
    gid_t gid;
    const char *name;      /* "12" or "12_3": for messages and for the keeper's title in ps */
    const char *directory; /* the working directory; absolute */
    const char *out_path;  /* absolute; created or truncated, opened as the user */
    const char *err_path;  /* likewise; NULL: the same file as out_path */
    struct str script;     /* a script's text, run by its "#!" line or by /bin/sh; empty: arguments[0] is a program */
    char **arguments;      /* with a script, the arguments that follow its name; NULL at the end */
    char **environment;    /* NAME=value, complete except FAIRLEAD_LAUNCH_ID and _KEY; NULL at the end */
    struct idset cpus;     /* CPUs to bind to, as the kernel numbers them; empty: all */
    uint64_t mem_mib;      /* requested */
    int64_t mem_limit_kib; /* its processes may use that much together (launch_memory_limit_kib); 0: not enforced */
    int64_t mem_poll_us;   /* how often that is looked at where no control group enforces it; 0 without a limit */
    int64_t time_limit_us; /* enforced by the keeper; 0: none */
    int64_t grace_us;      /* from SIGTERM to SIGKILL */
    /* The keeper sends warn_signal warn_before_us before the time limit, to all processes or the first one. 0: none */
    uint32_t warn_signal;
    int64_t warn_before_us;
    bool is_warn_to_first;
    enum launch_terminal terminal;
    bool ends_on_hangup; /* it ends if the command that submitted it is lost; with a terminal */
};

enum launch_phase {
    LAUNCH_STARTED,    /* the job's process exists and may have run */
    LAUNCH_COMPLETING, /* its processes are being ended; perhaps the main process has ended already */
    LAUNCH_ENDED       /* none of its processes runs */
};

enum launch_end {
    LAUNCH_EXITED,    /* by itself, with exit_status or signal */
    LAUNCH_CANCELLED, /* by an order to end */
    LAUNCH_TIMED_OUT, /* because its time limit had passed */
    LAUNCH_REFUSED,   /* it never ran; detail says why (no such directory, output cannot be opened, no such program) */
    LAUNCH_LOST,      /* its keeper was killed: the job's end is unknown; its processes were killed */
    LAUNCH_UNAVAILABLE,  /* it never ran, because the machine could start nothing then (no space, descriptors or
                         * processes); another launch of the same task may run later */
    LAUNCH_OUT_OF_MEMORY /* because its processes used more memory than their limit */
};

enum {
    LAUNCH_NAME_MAX = 63,         /* bytes */
    LAUNCH_PATH_MAX = 4095,       /* bytes of a path */
    LAUNCH_STRING_MAX = 131071,   /* bytes of an argument or NAME=value: Linux's MAX_ARG_STRLEN, less the zero */
    LAUNCH_STRINGS_MAX = 1001000, /* count of arguments, or of NAME=value pairs */
    LAUNCH_CPU_MAX = 65535,       /* the highest CPU number */
    LAUNCH_DETAIL_SIZE = 200,     /* bytes, with the closing zero */
    LAUNCH_BOOT_SIZE = 40         /* likewise */
};
enum { LAUNCH_SIGNAL_MAX = 31 };                  /* the highest number of a signal that can be sent to a launch */
#define LAUNCH_GRACE_MAX_US INT64_C(604800000000) /* a week */
#define LAUNCH_TIME_LIMIT_MAX_US (DURATION_S_MAX * US_PER_S)
#define LAUNCH_SUSPENDED_MAX_US (INT64_C(1) << 53)
#define LAUNCH_MEM_LIMIT_MAX_KIB (INT64_C(1) << 50)
#define LAUNCH_MEM_POLL_MAX_US (3600 * US_PER_S)

/* The weight of a launch where it competes for CPUs. The scale is that of cpu.weight in cgroup v2. */
enum { LAUNCH_CPU_WEIGHT_MIN = 1, LAUNCH_CPU_WEIGHT_DEFAULT = 100, LAUNCH_CPU_WEIGHT_MAX = 10000 };

/* A time is given twice: as the wall clock showed it, and as the time since boot (CLOCK_BOOTTIME), which no clock that
 * is set makes wrong. The latter is of the boot `boot`; 0: not known, of an earlier boot or written by an older
 * keeper. */
struct launch_record {
    uint64_t id;
    enum launch_phase phase;
    int64_t at_us, at_boot_us;           /* when this phase began */
    int64_t started_us, started_boot_us; /* started_us 0: it never started; a program that could not be executed did
                                          * not start */
    char boot[LAUNCH_BOOT_SIZE];         /* the kernel's id of the boot; "": not known */
    int32_t pid;                         /* of the job's main process; 0 if it never started */
    int64_t before_cpu_us;   /* CPU time and I/O of the children that the keeper had waited for before: of other */
    int64_t before_io_bytes; /* launches. What is measured of the keeper while the launch runs has them, too */
    /* The members below are set for LAUNCH_ENDED; end, max_rss_kib and detail also for LAUNCH_COMPLETING, if the end is
     * LAUNCH_OUT_OF_MEMORY: */
    enum launch_end end;
    int32_t exit_status;             /* 0 to 255, if signal is 0 */
    int32_t signal;                  /* the signal that ended the main process, else 0 */
    int64_t cpu_us;                  /* user and system time of all its processes */
    int64_t max_rss_kib;             /* of the largest process */
    int64_t io_bytes;                /* read from and written to storage */
    char detail[LAUNCH_DETAIL_SIZE]; /* one line for people, or empty */
};

/* What a launch uses, measured while it runs. A measurement may miss a process that ends meanwhile, so the largest
 * cpu_us and io_bytes so far are the best ones. Those of the ENDED record can be smaller: it has only what was waited
 * for, or what the control group counted, and nothing if the launch is LOST. */
struct launch_usage {
    uint64_t id;
    int64_t at_us;    /* when it was measured: the time since boot, or the time of a pretend executor */
    int64_t cpu_us;   /* user and system time of all its processes since its start */
    int64_t mem_kib;  /* memory in use then */
    int64_t io_bytes; /* read from and written to storage since its start */
};

/* Checks every member against the ranges above (ERR_INPUT with the member and its value). The launcher checks
 * every launch again, and also whether it may start a process as this user (launches.c).
 * O(size). */
int launch_check(const struct launch *launch, struct err *e);

/* The limit of a launch that has requested mem_mib: so much and slack_mib, at most LAUNCH_MEM_LIMIT_MAX_KIB. */
int64_t launch_memory_limit_kib(uint64_t mem_mib, uint64_t slack_mib);

/* The limit of the data of one process (RLIMIT_DATA, in bytes) of a launch with a memory limit that no control group
 * enforces: twice that and 4 GiB. It counts what a process has mapped, used or not, such as the 8 MiB stack of each
 * thread, so it has to be above the memory limit; it bounds what a process can use between two looks. */
uint64_t launch_data_limit(int64_t mem_limit_kib);

/* An ENDED record of a launch that never ran, without a time. end: LAUNCH_REFUSED or LAUNCH_UNAVAILABLE. */
struct launch_record launch_record_never_ran(uint64_t id, enum launch_end end, const char *detail);

/* Sets at_us and at_boot_us to now. boot: the present one. A start in another boot keeps only its wall time. */
void launch_record_set_time(struct launch_record *record, const char *boot);

/* Whether an end is one of a launch that never ran. */
static inline bool launch_end_is_never_ran(enum launch_end end)
{
    return end == LAUNCH_REFUSED || end == LAUNCH_UNAVAILABLE;
}

/* Sets detail to the text as one printable line, with its middle cut out if it is too long. */
void launch_record_set_detail(struct launch_record *record, const char *text);

/* The names in records and logs; stable, because records are read by later versions. */
const char *launch_phase_name(enum launch_phase phase); /* "started", "completing", "ended" */
const char *launch_end_name(enum launch_end end);       /* "exited" ... "unavailable", "out-of-memory" */

#endif
