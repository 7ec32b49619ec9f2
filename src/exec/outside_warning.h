/* What a user is told who uses more than the threshold outside jobs: numbers only, so that no text of anybody's reaches
 * a terminal. The launcher makes the sentences (launcher/terminal_warning.h). */
#ifndef FAIRLEAD_EXEC_OUTSIDE_WARNING_H
#define FAIRLEAD_EXEC_OUTSIDE_WARNING_H

#include <stdbool.h>
#include <stdint.h>

struct outside_warning {
    uint32_t uid;
    uint32_t cpus_centi, limit_centi; /* hundredths of CPUs: used, and the threshold */
    uint64_t gpus;                    /* bit n: /dev/nvidia<n> is in use */
    int64_t time_us;                  /* for how long */
    bool is_low;                      /* the processes have a low weight, too */
};

#endif
