/* The options of submit and update that set fields of a job: a row of the table of job fields is an option's row, too
 * (fields/job_fields.h). Two are not one field each: --slots N-M sets the CPUs and the maximum of the range, and several
 * --request are one list. */
#ifndef FAIRLEAD_CLI_JOB_OPTIONS_H
#define FAIRLEAD_CLI_JOB_OPTIONS_H

#include "base/arena.h"
#include "fields/job_fields.h"
#include "options/options.h"

struct job_option_values {
    struct job_values values;
    const char *slots;
    struct option_texts requests;
};

/* The rows, ended by {0}; their values are a struct job_option_values. */
const struct option_row *job_option_rows(bool is_update);

/* What was given as values, with what slots and requests say. Text is in arena or as it was given. ERR_INPUT, ERR_USAGE. */
int job_options_read(const struct job_option_values *given, struct arena *arena, struct job_values *out_values,
                     struct err *e);

/* After a refusal: *e names the option instead of the field ("--mem"); and where what does not exist means something elsewhere
 * (qsub -l h_rt=3600, -p -100, -q all.q), it says what is written here. Returns -1. */
int job_options_explain(struct err *e);

#endif
