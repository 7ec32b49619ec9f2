/* fairlead prio: the priorities of an instance's jobs, by the model in force. */
#ifndef FAIRLEAD_CLI_PRIO_INSTANCE_H
#define FAIRLEAD_CLI_PRIO_INSTANCE_H

#include "cli/command.h"
#include "cli/listing.h"

struct prio_wanted {
    uint32_t job_id;    /* 0: of all jobs */
    bool is_normalized; /* the factors of priority/multifactor, before weighing */
};

/* Asks for them and writes a row of each. */
int prio_instance_run(struct call *call, const struct prio_wanted *wanted, const struct listing_values *how,
                      struct err *e);

/* Writes the weights of the model in force, which are settings. */
int prio_instance_run_weights(struct call *call, const struct listing_values *how, struct err *e);

#endif
