/* Processes: reading them, finding which root each is below, signalling one. Roots are processes that the caller
 * chooses, such as keepers. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_PROCESS_H
#define FAIRLEAD_EXEC_LAUNCHER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"
#include "base/map.h"
#include "base/str.h"
#include "base/text.h"

enum { PROCESS_NAME_SIZE = 16 };

/* The fields of /proc/PID/stat that are used here (proc(5)). */
struct process {
    pid_t pid, parent, group, session;
    char state;           /* 'R', 'S', 'Z' ... */
    uint64_t start_ticks; /* when it started, in clock ticks since boot; with pid it identifies a process for good */
    int64_t cpu_ticks;    /* user and system time of all its threads */
    int64_t children_cpu_ticks; /* the same of the children that it has waited for, and of theirs */
    int64_t thread_count;
    bool is_kernel;               /* a thread of the kernel */
    int32_t nice;                 /* of its first thread */
    uint32_t terminal;            /* device number of its controlling terminal; 0: it has none */
    int64_t resident_pages;       /* 0 for a zombie, also if other threads of it run on (process_read_resident) */
    char name[PROCESS_NAME_SIZE]; /* the kernel's name of it, cut to 15 bytes; any bytes */
};

struct processes {
    ARRAY(struct process) list;
};

/* Parses the text of a stat file. The command name in it may contain anything, even parentheses and newlines. False if
 * the text cannot be parsed, or the process is gone. Pure. */
bool process_parse(struct str text, struct process *out);

/* Reads one process. False if it does not exist. */
bool process_read(pid_t pid, struct process *out);

/* Appends every process of the machine. O(processes): reads a file of /proc for each. */
void processes_read(struct processes *out);

/* Bytes that a process, with the children that it has waited for, has read from and written to storage; and those of
 * these children alone, if the process has one thread. 0 if the process is gone or another user's. scratch: memory for
 * texts, which the caller releases. */
int64_t process_read_io(pid_t pid, struct buf *scratch);
int64_t process_read_children_io(pid_t pid, struct buf *scratch);

/* The real uid of a process, which no set-uid program changes. False: it is gone, or hidden. scratch as above. */
bool process_read_uid(pid_t pid, struct buf *scratch, uint32_t *out_uid);

/* The pages that a process has in memory, from one of its threads if the first one has ended. scratch as above. */
int64_t process_read_resident(const struct process *p, struct buf *scratch);

/* From pid to index in all. */
void processes_index(const struct processes *all, struct map *out_index_by_pid);

/* Finds the tree that each process belongs to. root_by_pid: from the pids of the roots to their numbers. index_by_pid:
 * of all. out_roots: for each process of all the number of its nearest ancestor that is a root; NONE without one. A
 * root itself belongs to the tree of a root above it. O(processes). */
void processes_find_roots(const struct processes *all, const struct map *index_by_pid, const struct map *root_by_pid,
                          uint32_t *out_roots);

/* Sends a signal to exactly this process; does nothing if it is gone, even if its pid has been given to another
 * process. False if the kernel refused (EPERM). */
bool process_signal(const struct process *p, int signal);

/* Closes every descriptor of this process above 2 that is not in the list: the gaps between those that are. */
void process_close_all_but(const int *kept, int count);

#endif
