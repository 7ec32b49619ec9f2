/* The fields that a job has in its new instance when it is moved in from another one (engine/moved_jobs.h). Scripts and
 * environments stay behind, and so does what only decisions need: a moved job has ended. */
#ifndef FAIRLEAD_FIELDS_MOVED_FIELDS_H
#define FAIRLEAD_FIELDS_MOVED_FIELDS_H

#include "fields/job_fields.h"

enum moved_use { MOVED_NOT, MOVED_OPTIONAL, MOVED_REQUIRED };

/* In the record of a job, and in that of a start of a task. */
enum moved_use moved_fields_in_job(enum job_field f);
enum moved_use moved_fields_in_task(enum job_field f);

#endif
