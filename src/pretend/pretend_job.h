/* How a pretend job runs. The first that is given says how long:
 *
 *     its comment          run=90 or run=1:30:00, beside exit=3 (its exit status) or fail (exit status 1)
 *     its command          sleep N, also as the one line of a script
 *     its time limit       a part of that at its start, which is drawn by the rules of the document
 *
 * A run time above the time limit ends with TIMEOUT. What is drawn depends on the seed and on the numbers of job and
 * task alone, so a restart and a repetition give the same. */
#ifndef FAIRLEAD_PRETEND_PRETEND_JOB_H
#define FAIRLEAD_PRETEND_PRETEND_JOB_H

#include "pretend/pretend_cluster.h"

struct pretend_job {
    uint32_t job_id, task_id, restarts;
    const char *comment; /* NULL: none */
    struct str script;   /* empty: arguments[0] is the program */
    const struct str *arguments;
    uint32_t argument_count;
    int64_t time_limit_s; /* at its start */
};

struct pretend_run {
    int64_t run_us;      /* at least 0; it may be above the time limit */
    int32_t exit_status; /* 0 to 255 */
    double cpu_part;     /* of its CPUs that it uses, and of the memory that it asked for; above 0, at most 1 */
    double mem_part;
};

/* O(texts). */
struct pretend_run pretend_job_run(const struct pretend_rules *rules, const struct pretend_job *job);

/* ERR_INPUT: a word of the comment begins with run= or exit=, and what follows cannot be read. */
int pretend_job_check_comment(const char *comment, struct err *e);

/* Reads the arguments of sleep(1): numbers with an optional suffix s, m, h or d, which are added. False: they are not
 * such, or together more than ten years. */
bool pretend_job_sleep_us(const struct str *arguments, uint32_t count, int64_t *out_us);

#endif
