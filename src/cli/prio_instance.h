/* fairlead prio: the priorities of an instance's jobs, in the columns of its model of priorities. */
#ifndef FAIRLEAD_CLI_PRIO_INSTANCE_H
#define FAIRLEAD_CLI_PRIO_INSTANCE_H

#include "cli/command.h"
#include "cli/listing.h"

struct prio_wanted {
    uint32_t job_id;    /* 0: all jobs */
    uint32_t task_id;   /* of an array; NONE: all of its tasks */
    bool is_normalized; /* the factors of priority/multifactor, before weighting */
};

/* Writes the listing. ERR_USAGE: the model has no normalized factors. Otherwise fails as listing_begin does, or with
 * the instance's error. */
int prio_instance_run(struct call *call, const struct prio_wanted *wanted, const struct listing_values *form,
                      struct err *e);

/* Writes a listing of the settings that are weights of the instance's model. */
int prio_instance_run_weights(struct call *call, const struct listing_values *form, struct err *e);

#endif
