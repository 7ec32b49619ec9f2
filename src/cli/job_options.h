/* The options of submit and update that set fields of a job. They are computed from the table of job fields
 * (fields/job_fields.h), one option for each field that a user can set. Some options differ: --slots N-M sets the CPUs
 * and the maximum of the range, a repeated --request adds to one list, --hold-jid and --hold-jid-ad add to the
 * dependency, and --no-requeue is --requeue=no. */
#ifndef FAIRLEAD_CLI_JOB_OPTIONS_H
#define FAIRLEAD_CLI_JOB_OPTIONS_H

#include "base/arena.h"
#include "fields/job_fields.h"
#include "options/options.h"

struct job_option_values {
    struct job_values values;
    const char *slots;
    struct option_texts requests, soft;
    const char *hold_jid, *hold_jid_ad;
    bool has_no_requeue;
};

/* The options of update, or of submit; ends with {0}. They fill a struct job_option_values. Static memory. */
const struct option_row *job_option_rows(bool is_update);

/* The values of the given options, with --slots and --request parsed. Their texts are in the arena or in argv.
 * ERR_INPUT: a range of slots that is not accepted; ERR_USAGE: --slots and --cpus differ. */
int job_options_read(const struct job_option_values *given, struct arena *arena, struct job_values *out_values,
                     struct err *e);

/* Rewrites the instance's error: it names the option ("--mem") instead of the field, --slots if that gave the CPUs, and
 * the equivalent option for names that another scheduler has (qsub -l h_rt=3600, -p -100, -q all.q). Returns -1. */
int job_options_explain(const struct job_option_values *given, struct err *e);

#endif
