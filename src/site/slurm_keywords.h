/* The keywords of slurm.conf, of the versions 20.11 to 25.05: which ones there are, and which were removed. Those that
 * concern Fairlead are settings (fields/settings.h) and fields of partitions and hosts. Source: slurm.conf(5). */
#ifndef FAIRLEAD_SITE_SLURM_KEYWORDS_H
#define FAIRLEAD_SITE_SLURM_KEYWORDS_H

#include <stdbool.h>

#include "base/str.h"

/* Names separated by ", ", for base/near_names.h: keywords, and the options of SchedulerParameters. */
extern const char slurm_keywords_of_file[], slurm_keywords_of_scheduler[];
/* Keys of the lines NodeName and PartitionName. */
extern const char slurm_keywords_of_nodes[], slurm_keywords_of_partitions[];

/* Whether a word is in such a list, in any case. */
bool slurm_keywords_has(const char *names, struct str word);

struct slurm_removed {
    const char *keyword, *value; /* value: only this word of the keyword's value was removed; NULL: the keyword */
    const char *since, *advice;
};
/* The row of a keyword, or of a word of its value, that was removed; NULL: it was not. value may be empty. */
const struct slurm_removed *slurm_keywords_removed(struct str keyword, struct str value);

#endif
