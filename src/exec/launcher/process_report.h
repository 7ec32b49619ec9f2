/* Tells the daemon what the processes of the machine use (exec/process_sample.h). */
#ifndef FAIRLEAD_EXEC_LAUNCHER_PROCESS_REPORT_H
#define FAIRLEAD_EXEC_LAUNCHER_PROCESS_REPORT_H

#include "exec/launcher/low_weight.h"

/* Reports every process, and the end. O(processes, and with GPUs their open files). */
void process_report_all(struct launches *l, const struct low_weights *low);

#endif
