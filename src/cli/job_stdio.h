/* The open output files of a job's processes, found in /proc: what the job writes to now, wherever the file was moved,
 * and also if it was removed. Only processes of this user are found. */
#ifndef FAIRLEAD_CLI_JOB_STDIO_H
#define FAIRLEAD_CLI_JOB_STDIO_H

#include <stdint.h>

/* Opens, for reading, the regular file that is descriptor fd (1, 2) of the first process of the task in its session.
 * task_id: NONE for a job that is no array. socket: of the instance, because others have jobs with the same id. Returns
 * the new descriptor, or -1. */
int job_stdio_open(uint32_t job_id, uint32_t task_id, const char *socket, int fd);

#endif
