/* Limits of associations (accounts, users in accounts), by Slurm's keywords. A QOS has limits among its fields
 * (fields/objects.h), of the same types.
 *
 *     GrpJobs=10 MaxWall=2-0 GrpTRES=cpu=64,gres/gpu=4
 *
 * Counts and durations are FIELD_SPECIAL ("UNLIMITED", "INFINITE", -1) where there is no limit; lists of TRES have
 * those that are limited, and are empty where none is. Grp limits are of the association and all below it; the others
 * are of each user in it, unless the user or an account in between has an own value. Source: docs/formulas.md 9. */
#ifndef FAIRLEAD_FIELDS_LIMIT_FIELDS_H
#define FAIRLEAD_FIELDS_LIMIT_FIELDS_H

#include "fields/field.h"

enum assoc_limit {
    ASSOC_GRP_JOBS,
    ASSOC_GRP_SUBMIT,
    ASSOC_GRP_WALL, /* seconds, in whole minutes; so is ASSOC_MAX_WALL */
    ASSOC_GRP_TRES,
    ASSOC_GRP_TRES_MINS,
    ASSOC_GRP_TRES_RUN_MINS,
    ASSOC_MAX_JOBS,
    ASSOC_MAX_SUBMIT,
    ASSOC_MAX_WALL,
    ASSOC_MAX_TRES,
    ASSOC_MAX_TRES_PER_NODE,
    ASSOC_MAX_TRES_MINS,
    ASSOC_QOS_LIST,    /* names of the QOS that its jobs may have; empty: those of the account above, of root all */
    ASSOC_DEFAULT_QOS, /* of jobs that name none; empty: that of the account above, of root "normal" */
    ASSOC_LIMIT_COUNT
};

extern const struct field_table limit_fields; /* by enum assoc_limit */

/* Pieces of rows of tables of fields. */
#define LIMIT_COUNT_MAX 4294967293.0
#define LIMIT_WALL_MAX_S 3153600000.0 /* 100 years */
#define LIMIT_COUNT_TYPE                                                  \
    .type = FIELD_NUMBER, .max = LIMIT_COUNT_MAX, .special = "UNLIMITED", \
    .default_value = {.number = FIELD_SPECIAL, .text = ""}
#define LIMIT_WALL_TYPE                                                     \
    .type = FIELD_MINUTES, .max = LIMIT_WALL_MAX_S, .special = "UNLIMITED", \
    .default_value = {.number = FIELD_SPECIAL, .text = ""}
#define LIMIT_TRES_TYPE .type = FIELD_TEXT, .default_value = {.text = ""}

#endif
