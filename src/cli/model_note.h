/* The note on options of a model of priorities that is not in force. They are accepted, because the model can change
 * while the job waits. */
#ifndef FAIRLEAD_CLI_MODEL_NOTE_H
#define FAIRLEAD_CLI_MODEL_NOTE_H

#include "cli/command.h"
#include "fields/job_fields.h"

/* Prints "fairlead submit: --set-priority has no effect now: PriorityType is priority/tickets; ..." on standard error
 * for each such option. Asks the instance for its model only if one is given that some model does not read; an
 * instance that does not answer gives no note. */
void model_note_print(struct call *call, const struct job_values *given);

#endif
