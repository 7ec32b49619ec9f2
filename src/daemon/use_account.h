/* What the processes of the machine used between two samples (exec/process_sample.h), by job, and outside jobs by user.
 * Pure.
 *
 * The CPU time of a group of processes is what they have used and waited for at the end, less the same at the
 * beginning. A process that ended meanwhile is in the sum of an ancestor that waited for it, if that is of the same
 * group; otherwise its time up to the first sample is left out of the beginning. So what it used after that is
 * missing, as is what no process waited for. */
#ifndef FAIRLEAD_DAEMON_USE_ACCOUNT_H
#define FAIRLEAD_DAEMON_USE_ACCOUNT_H

#include "base/array.h"
#include "base/map.h"
#include "exec/process_sample.h"

struct use_sample {
    ARRAY(struct process_sample) list;
    struct map index_by_pid;
    struct process_sample_end end; /* at_us 0: there is no sample */
};

/* use_sample_add: no two have the same pid. */
void use_sample_add(struct use_sample *s, const struct process_sample *process);
void use_sample_clear(struct use_sample *s);
void use_sample_release(struct use_sample *s);

/* The process with a pid; NULL: none, or it is none that can have one. */
const struct process_sample *use_sample_find(const struct use_sample *s, int32_t pid);

struct use_part {
    uint64_t launch_id; /* 0: outside jobs */
    uint32_t uid;       /* outside jobs: of all its processes; else of one that is not root's, if there is one */
    double cpus;        /* CPU time by time: 2.5 are two CPUs and a half */
    int64_t mem_kib;
    uint64_t gpus; /* bit n: GPU n */
    uint32_t process_count;
    bool is_low; /* some of its processes have a low weight */
};

struct use_account {
    ARRAY(struct use_part) parts;
    ARRAY(double) cpus;  /* of each process of the later sample, by index; without its children */
    double interval_s;   /* between the samples */
    struct map outside;  /* from uid to index in parts */
    struct map launches; /* from launch id to index in parts */
};

/* O(processes). */
void use_account_make(const struct use_sample *before, const struct use_sample *now, struct use_account *out);
void use_account_release(struct use_account *a);

#endif
