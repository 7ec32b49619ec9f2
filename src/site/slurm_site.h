/* What a slurm.conf says about policy: the settings, with Slurm's defaults for those that it leaves out, and the
 * partitions. Keywords that do not concern policy are counted. */
#ifndef FAIRLEAD_SITE_SLURM_SITE_H
#define FAIRLEAD_SITE_SLURM_SITE_H

#include "fields/settings.h"
#include "site/finding.h"

/* A line PartitionName, with what it takes from the line PartitionName=DEFAULT before it. NULL: neither has it. */
struct slurm_partition {
    const struct conf_pair *name, *job_factor, *billing_weights, *max_time, *qos;
};

struct slurm_site {
    const struct conf_pairs *pairs;
    struct settings settings;
    const struct conf_pair *pair[SETTING_COUNT]; /* the last one that sets it; NULL: the file does not set it */
    bool is_valid[SETTING_COUNT];                /* its value is accepted */
    ARRAY(struct slurm_partition) partitions;
    uint32_t policy_count, other_count, node_line_count; /* keywords that concern policy or do not; lines NodeName */
    struct arena arena;
};

/* Reads the pairs, and adds a finding for each that is unknown, removed, repeated or not accepted. Faults of the pairs
 * become errors. O(pairs). The caller releases both. */
void slurm_site_read(const struct conf_pairs *pairs, struct slurm_site *out_site, struct findings *findings);
void slurm_site_release(struct slurm_site *s);

/* Adds what the settings and partitions mean together. */
void slurm_site_check(const struct slurm_site *s, struct findings *findings);

#endif
