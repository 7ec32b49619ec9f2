/* What a process of the machine had used when it was looked at. */
#ifndef FAIRLEAD_EXEC_PROCESS_SAMPLE_H
#define FAIRLEAD_EXEC_PROCESS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

enum { PROCESS_SAMPLE_NAME_SIZE = 16, PROCESS_SAMPLE_GPUS = 64 };

struct process_sample {
    int32_t pid, parent;
    uint32_t uid;                        /* its real one: sudo's is root, that of a program like ping is its user */
    uint64_t launch_id;                  /* the launch whose keeper it is below, or that it keeps; 0: none */
    int64_t started_us;                  /* time since boot; with pid it identifies a process for good */
    int64_t cpu_us;                      /* user and system time of its threads */
    int64_t children_cpu_us;             /* the same of the children that it has waited for, and of theirs */
    int64_t mem_kib;                     /* resident; what several processes share counts for each */
    uint64_t gpus;                       /* bit n: it has /dev/nvidia<n> open */
    bool is_low;                         /* the launcher has given it a low weight */
    char name[PROCESS_SAMPLE_NAME_SIZE]; /* the kernel's, cut to 15 bytes; any bytes */
};

/* The end of a sample. */
struct process_sample_end {
    int64_t at_us;    /* time since boot */
    uint32_t min_uid; /* the lowest uid of a person's account */
    uint32_t hidden;  /* processes that could not be read, or whose files could not: another user's */
    bool has_gpus;    /* there are GPUs, and the files of processes were looked at */
    bool is_partial;  /* there were more open files than a sample looks at */
};

#endif
