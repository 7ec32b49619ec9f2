/* submit --test-only: asks the instance what would become of a submission. */
#ifndef FAIRLEAD_CLI_JOB_TEST_H
#define FAIRLEAD_CLI_JOB_TEST_H

#include "cli/instance.h"

/* Prints when and where the job would start, and what it would wait for; is_json: the reply. Returns the exit status: 1
 * if it could never run. Fails as the submission would. */
int job_test_run(struct call *call, const struct api_submit *body, bool is_json, struct err *e);

#endif
