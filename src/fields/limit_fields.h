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

/* Every limit at its default, which is none. */
extern const struct field_value limit_fields_defaults[ASSOC_LIMIT_COUNT];

/* The rows of the limits, as members of an array of fields in which the first one has the index first. A record of an
 * account has them behind other fields. */
#define LIMIT_AT(first, limit) [(first) + (limit)]
#define LIMIT_ROWS(first)                                                                                             \
    LIMIT_AT(                                                                                                         \
        first,                                                                                                        \
        ASSOC_GRP_JOBS) = {LIMIT_COUNT_TYPE, .name = "GrpJobs", .help = "running jobs, with those of all below it"},  \
        LIMIT_AT(first, ASSOC_GRP_SUBMIT) = {LIMIT_COUNT_TYPE, .name = "GrpSubmitJobs",                               \
                                             .help = "jobs waiting and running, with those of all below it"},         \
        LIMIT_AT(first,                                                                                               \
                 ASSOC_GRP_WALL) = {LIMIT_WALL_TYPE, .name = "GrpWall",                                               \
                                    .help = "run time of its jobs and of those of all below it so far, decayed"},     \
        LIMIT_AT(first,                                                                                               \
                 ASSOC_GRP_TRES) = {LIMIT_TRES_TYPE, .name = "GrpTRES",                                               \
                                    .help = "TRES of running jobs, with those of all below it: cpu=64,gres/gpu=4"},   \
        LIMIT_AT(first, ASSOC_GRP_TRES_MINS) = {LIMIT_TRES_TYPE, .name = "GrpTRESMins",                               \
                                                .help = "usage in TRES-minutes, with that of all below it, decayed"}, \
        LIMIT_AT(first, ASSOC_GRP_TRES_RUN_MINS) =                                                                    \
            {LIMIT_TRES_TYPE, .name = "GrpTRESRunMins",                                                               \
             .help = "TRES-minutes that running jobs may still use, with those of all below it"},                     \
        LIMIT_AT(first, ASSOC_MAX_JOBS) = {LIMIT_COUNT_TYPE, .name = "MaxJobs", .help = "running jobs of each user"}, \
        LIMIT_AT(first, ASSOC_MAX_SUBMIT) = {LIMIT_COUNT_TYPE, .name = "MaxSubmitJobs",                               \
                                             .help = "jobs of each user, waiting and running"},                       \
        LIMIT_AT(first, ASSOC_MAX_WALL) = {LIMIT_WALL_TYPE, .name = "MaxWall", .help = "time limit of a job"},        \
        LIMIT_AT(first, ASSOC_MAX_TRES) = {LIMIT_TRES_TYPE, .name = "MaxTRES", .help = "TRES of a job"},              \
        LIMIT_AT(first, ASSOC_MAX_TRES_PER_NODE) = {LIMIT_TRES_TYPE, .name = "MaxTRESPerNode",                        \
                                                    .help = "TRES of a job on each node"},                            \
        LIMIT_AT(first, ASSOC_MAX_TRES_MINS) = {LIMIT_TRES_TYPE, .name = "MaxTRESMins",                               \
                                                .help = "TRES of a job times its time limit"},                        \
        LIMIT_AT(                                                                                                     \
            first,                                                                                                    \
            ASSOC_QOS_LIST) = {.type = FIELD_TEXT,                                                                    \
                               .default_value = {.text = ""},                                                         \
                               .name = "QosLevel",                                                                    \
                               .help =                                                                                \
                                   "QOS that its jobs may have: normal,long; empty: those of the account above it"},  \
        LIMIT_AT(first,                                                                                               \
                 ASSOC_DEFAULT_QOS) = {.type = FIELD_TEXT,                                                            \
                                       .default_value = {.text = ""},                                                 \
                                       .name = "DefaultQOS",                                                          \
                                       .help = "QOS of jobs that name none; empty: that of the account above it"}

/* Pieces of rows of tables of fields. */
#define LIMIT_COUNT_MAX 4294967293.0
#define LIMIT_WALL_MAX_S 3153600000.0 /* 100 years */
#define LIMIT_COUNT_TYPE                                                  \
    .type = FIELD_NUMBER, .max = LIMIT_COUNT_MAX, .special = "UNLIMITED", \
    .default_value = {.number = FIELD_SPECIAL, .text = ""}
#define LIMIT_WALL_TYPE                                                                      \
    .type = FIELD_MINUTES, .is_text = true, .max = LIMIT_WALL_MAX_S, .special = "UNLIMITED", \
    .default_value = {.number = FIELD_SPECIAL, .text = ""}
#define LIMIT_TRES_TYPE .type = FIELD_TEXT, .is_tres = true, .default_value = {.text = ""}

/* The index of the field of that name in any case, or of that other spelling of Slurm ("MaxTRESPU", "MaxSubmit"); NONE:
 * neither. For the limits of associations and of QOS. */
uint32_t limit_fields_find(const struct field_table *t, struct str name);

/* The limit of an association that a change names, or NONE. out_sign: 0; with "QosLevel+" and "QosLevel-", which add to
 * the list and remove from it, '+' and '-'. */
uint32_t limit_fields_find_key(struct str key, char *out_sign);

/* Appends the fields that differ from their defaults: "GrpJobs=10 MaxWall=2-00:00:00". values: one for each field. */
void limit_fields_format(const struct field *fields, uint32_t count, const struct field_value *values, struct buf *out);

#endif
