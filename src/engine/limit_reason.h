/* The pending reason that stands for a limit: AssocGrpCpuLimit, QOSMaxJobsPerUserLimit. Source: Slurm 22.05.8. */
#ifndef FAIRLEAD_ENGINE_LIMIT_REASON_H
#define FAIRLEAD_ENGINE_LIMIT_REASON_H

#include "engine/limit_table.h"
#include "fields/pending_reason.h"

/* Of a limit of a QOS, or of an association, which has no limits per user and account and no minimum. */
enum pending_reason limit_reason_of_tres(bool is_qos, enum limit_tres limit, enum tres_type type);
enum pending_reason limit_reason_of_count(bool is_qos, enum limit_count limit);

#endif
