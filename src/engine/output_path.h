/* The path of a task's output. */
#ifndef FAIRLEAD_ENGINE_OUTPUT_PATH_H
#define FAIRLEAD_ENGINE_OUTPUT_PATH_H

#include "engine/state.h"

enum { OUTPUT_PATH_WIDTH_MAX = 10 };

/* Appends the pattern with these fields expanded: %j (job id, or ID_TASK for a task of an array), %A (job id), %a (task
 * number), %x (job name), %u (user) and %%. "%5j" fills the number with zeros to five digits. Anything else behind a %
 * stays as it is. A relative path is below the job's directory. Slashes in names become '_'. */
void output_path_expand(const struct job *j, const char *user, uint32_t task_id, const char *pattern, struct buf *out);

/* Whether a submission may have the pattern: 0, or ERR_INPUT about the field. */
int output_path_check(const char *pattern, const char *field, struct err *e);

#endif
