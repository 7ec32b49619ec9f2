/* The id of a job as people and the API write it: "5", "5_3" for task 3 of an array, "5_[3-9]" for several. */
#ifndef FAIRLEAD_FIELDS_JOB_ID_H
#define FAIRLEAD_FIELDS_JOB_ID_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/text.h"

enum { JOB_ID_TEXT_SIZE = 24 };

/* Ids are from 1 to 2^32 - 3; *out_task_id is NONE for a whole job. ERR_INPUT names field. */
int job_id_parse(struct str text, const char *field, uint32_t *out_job_id, uint32_t *out_task_id, struct err *e);

/* The length is returned. */
size_t job_id_format(char out[JOB_ID_TEXT_SIZE], uint32_t job_id, uint32_t task_id);

/* "5", "5_3", "5_[3-9%2]": tasks and limit of what has not started; is_array false: none of the three. */
struct job_id_parts {
    uint32_t job_id, task_id;
    bool is_array;
    const char *tasks;
    uint32_t limit;
};
void job_id_write(const struct job_id_parts *id, struct buf *out);

/* Appends an id, or the tasks alone, for people: tasks at equal distances are a range with a step, "5_[0-8:2%2]";
 * tasks of more than tasks_max bytes end after the last one that fits, as in "5_[0,1,4,...%2]". */
enum { JOB_ID_TASKS_SHOWN = 32 };
void job_id_write_short(struct str id, size_t tasks_max, struct buf *out);

#endif
