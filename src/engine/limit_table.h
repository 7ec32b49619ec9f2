/* The limits of associations and QOS as numbers, read from their fields (fields/limit_fields.h, fields/objects.h), with
 * those that users inherit.
 *
 *     Grp limits    of the association itself: each of its jobs, and of those below it, has to keep to them
 *     Max limits    of a user: the user's own value, or the nearest one upward; for TRES, each by itself
 *
 * Derived from the rows, never stored. Source: docs/formulas.md 9. */
#ifndef FAIRLEAD_ENGINE_LIMIT_TABLE_H
#define FAIRLEAD_ENGINE_LIMIT_TABLE_H

#include "engine/ranking.h"
#include "policy/tres.h"

/* Limits of numbers of jobs, and of times in seconds. Of a QOS, MAX_JOBS and MAX_SUBMIT are of each user. */
enum limit_count {
    LIMIT_GRP_JOBS,
    LIMIT_GRP_SUBMIT,
    LIMIT_GRP_WALL,
    LIMIT_MAX_JOBS,
    LIMIT_MAX_SUBMIT,
    LIMIT_MAX_WALL,
    LIMIT_MAX_JOBS_PER_ACCOUNT,
    LIMIT_MAX_SUBMIT_PER_ACCOUNT,
    LIMIT_COUNT_COUNT
};

/* Limits of TRES; those of _MINS in TRES-minutes. */
enum limit_tres {
    LIMIT_GRP_TRES,
    LIMIT_GRP_TRES_MINS,
    LIMIT_GRP_TRES_RUN_MINS,
    LIMIT_MAX_TRES, /* of a job */
    LIMIT_MAX_TRES_PER_NODE,
    LIMIT_MAX_TRES_MINS,
    LIMIT_MAX_TRES_PER_USER, /* this one and the next two only of a QOS */
    LIMIT_MAX_TRES_PER_ACCOUNT,
    LIMIT_MIN_TRES,
    LIMIT_TRES_COUNT
};

#define LIMIT_UNLIMITED INT64_MAX

struct limit_set {
    int64_t count[LIMIT_COUNT_COUNT];        /* LIMIT_UNLIMITED: no limit */
    struct tres_list tres[LIMIT_TRES_COUNT]; /* the TRES that are limited, also to 0, in order of index */
};

struct limit_table {
    ARRAY(const struct limit_set *) of_assoc;  /* by association: its own; NULL: none */
    ARRAY(const struct limit_set *) of_member; /* by association: the Max limits that hold there; NULL: none */
    ARRAY(uint32_t) group;                  /* by association: the nearest one with Grp limits, itself or above; NONE */
    ARRAY(const struct limit_set *) of_qos; /* by QOS; NULL: none */
    ARRAY(uint32_t) qos_of_partition;       /* by partition: the QOS whose limits its jobs have, too; NONE */
    ARRAY(uint32_t) timed_assocs, timed_qos; /* associations and QOS with GrpTRESMins or GrpWall */
    struct tres_indices indices;
    struct arena arena;
    uint32_t rules_edition;
    uint32_t resource_count; /* of which indices has entries; a submission may add standard resources */
    bool is_valid;
    bool has_any; /* something is limited */
};

/* The limit of a TRES; a negative number: none. O(limited TRES). */
double limit_table_amount(const struct limit_set *l, enum limit_tres limit, uint32_t tres);

/* The table, rebuilt after a change of rules by an operator: O(associations + objects); otherwise O(1), or O(new
 * associations). */
const struct limit_table *limit_table_of(struct state *s);

/* The next use rebuilds it. */
void limit_table_invalidate(struct state *s);
void limit_table_free(struct limit_table *t); /* NULL is allowed */

#endif
