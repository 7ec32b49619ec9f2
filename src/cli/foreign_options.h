/* The options of sbatch (Slurm 22.05) and qsub (Grid Engine 8.1), and what each means for 'fairlead submit': the table
 * behind directives of scripts (directives.h) and behind the advice for the same option on the command line. */
#ifndef FAIRLEAD_CLI_FOREIGN_OPTIONS_H
#define FAIRLEAD_CLI_FOREIGN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* What is done with the option in a directive. */
enum foreign_meaning {
    FOREIGN_SAME,            /* the option .own with the same argument; refused if there is no such option */
    FOREIGN_SAME_OR_NOTHING, /* likewise, but ignored if there is no such option */
    FOREIGN_NOTHING,         /* ignored with a note: it changes neither what the job gets nor what it does */
    FOREIGN_REFUSED,
    FOREIGN_DEFAULT, /* that is how jobs are anyway */
    /* Of sbatch: numbers that multiply. */
    FOREIGN_TASKS,
    FOREIGN_TASKS_PER_NODE,
    FOREIGN_CPUS_PER_TASK,
    FOREIGN_NODES,
    FOREIGN_GPUS,
    FOREIGN_GPUS_PER_NODE,
    FOREIGN_GPUS_PER_TASK,
    FOREIGN_GRES,
    FOREIGN_LICENSES, /* -L matlab:2 is -l matlab=2 */
    FOREIGN_NODELIST,
    /* Of qsub. */
    FOREIGN_YES_NO, /* y or n: the option .own if yes */
    FOREIGN_REQUEUE,
    FOREIGN_TASK_RANGE,
    FOREIGN_TASK_LIMIT,
    FOREIGN_ENVIRONMENT, /* of slots: -pe NAME N[-M] */
    FOREIGN_REQUEST,     /* -l */
    FOREIGN_QUEUES,
    FOREIGN_LIST, /* all that are given are one list, that of .own */
    FOREIGN_SOFT,
    FOREIGN_HARD,
    FOREIGN_HOLD, /* letters may follow */
    FOREIGN_FILE, /* a path with $JOB_ID, ... */
    FOREIGN_JOIN,
    FOREIGN_ALL_VARIABLES,
    FOREIGN_SHELL,
    FOREIGN_DATE /* CCYYMMDDhhmm */
};

struct foreign_option {
    const char *name; /* without dashes; NULL ends the table */
    char letter;      /* of sbatch; 0: none */
    uint8_t argument_count;
    bool is_optional; /* of sbatch: the argument */
    enum foreign_meaning meaning;
    const char *own; /* the option of 'fairlead submit', without dashes; NULL: none */
    /* What to write instead; of FOREIGN_NOTHING why it is ignored; NULL where the option is the same. */
    const char *advice;
};

extern const struct foreign_option foreign_options_sbatch[], foreign_options_qsub[];

/* The advice for an option of either, given without its dashes, as its name or its letter; NULL: none. */
const char *foreign_options_advice(const char *word);

/* The option of qsub with that name; NULL: there is none. */
const struct foreign_option *foreign_options_find_qsub(const char *name);

#endif
