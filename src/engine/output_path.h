/* Where a task's output goes. */
#ifndef FAIRLEAD_ENGINE_OUTPUT_PATH_H
#define FAIRLEAD_ENGINE_OUTPUT_PATH_H

#include "engine/state.h"

/* Appends the pattern with %j (job id, or A_a for a task of an array), %A (job id), %a (task number), %x (job name), %u (user)
 * and %% replaced; relative paths get the job's directory in front. Slashes in names become '_'. */
void output_path_expand(const struct job *j, const char *user, uint32_t task_id, const char *pattern, struct buf *out);

#endif
