/* Checks Grid Engine's scheduler configuration (formats/sched_conf.h) as slurm_site.h does slurm.conf. */
#ifndef FAIRLEAD_SITE_SCHED_SITE_H
#define FAIRLEAD_SITE_SCHED_SITE_H

#include "site/finding.h"

/* Adds a finding for each line that is unknown, repeated or not accepted, and for what lines mean together. The counts
 * are of lines that concern policy, and of others. */
void sched_site_check(const struct conf_pairs *pairs, struct findings *findings, uint32_t *out_policy_count,
                      uint32_t *out_other_count);

#endif
