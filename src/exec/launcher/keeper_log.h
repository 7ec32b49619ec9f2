/* The records that a keeper appends to the log. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_KEEPER_LOG_H
#define FAIRLEAD_EXEC_LAUNCHER_KEEPER_LOG_H

#include "exec/launcher/keeper.h"

/* Returns as durable_append. */
int keeper_log_append(const struct keeper_task *t, const struct launch_record *record);

/* Tries until the end is in the log, because the disk may be full where no space can be allocated before; and syncs it
 * if the launcher is gone. */
void keeper_log_append_end(const struct keeper_task *t, const struct launch_record *record);

#endif
