#include "cli/prio_columns.h"

#include "fields/priority_fields.h"

#define COLUMN(name_, f) .field = PRIORITY_FIELD_##f, .name = (name_), .absent_text = ""
#define ID                                      \
    {                                           \
        COLUMN("JOBID", ID), .heading = "JOBID" \
    }
#define NAME(name_, f, rank_)                                                 \
    {                                                                         \
        COLUMN(name_, f), .width_min = COLUMN_NAME_WIDTH_MIN, .rank = (rank_) \
    }
#define FIXED(name_, f, decimals_, rank_)                                            \
    {                                                                                \
        COLUMN(name_, f), .is_fixed = true, .decimals = (decimals_), .rank = (rank_) \
    }
#define WHOLE(name_, f, rank_)                                                \
    {                                                                         \
        COLUMN(name_, f), .is_fixed = true, .is_whole = true, .rank = (rank_) \
    }
/* A second column with the heading PARTITION; for programs its name differs. */
#define PARTITION_TERM(f, decimals_, rank_)                                                              \
    {                                                                                                    \
        COLUMN("PARTITIONFACTOR", f), .heading = "PARTITION", .is_fixed = true, .decimals = (decimals_), \
                                      .rank = (rank_)                                                    \
    }

static const struct column weighted[] = {
    ID,
    NAME("PARTITION", PARTITION, 4),
    NAME("USER", USER, 2),
    NAME("ACCOUNT", ACCOUNT, 5),
    FIXED("PRIORITY", PRIORITY, 0, 0),
    FIXED("SITE", SITE, 0, 13),
    FIXED("AGE", AGE, 0, 6),
    FIXED("ASSOC", ASSOC, 0, 12),
    FIXED("FAIRSHARE", FAIR_SHARE, 0, 3),
    FIXED("JOBSIZE", JOB_SIZE, 0, 7),
    PARTITION_TERM(PARTITION_TERM, 0, 9),
    FIXED("QOS", QOS_TERM, 0, 8),
    FIXED("NICE", NICE, 0, 10),
    FIXED("TRES", TRES_TERMS, 0, 11),
    {COLUMN("BILLING", BILLING), .is_fixed = true, .is_for_programs = true},
};

static const struct column factors[] = {
    ID,
    NAME("PARTITION", PARTITION, 4),
    NAME("USER", USER, 2),
    NAME("ACCOUNT", ACCOUNT, 5),
    FIXED("PRIORITY", PRIORITY, 0, 0),
    FIXED("AGE", AGE_FACTOR, 7, 6),
    FIXED("ASSOC", ASSOC_FACTOR, 7, 11),
    FIXED("FAIRSHARE", FAIR_SHARE_FACTOR, 7, 3),
    FIXED("JOBSIZE", JOB_SIZE_FACTOR, 7, 7),
    PARTITION_TERM(PARTITION_FACTOR, 7, 9),
    FIXED("QOS", QOS_FACTOR, 7, 8),
    FIXED("TRES", TRES_FACTORS, 2, 10),
};

/* The last column of tickets and of basic is dropped unless jobs have a row for each partition. */
static const struct column tickets[] = {
    ID,
    NAME("USER", USER, 2),
    NAME("PROJECT", PROJECT, 6),
    {COLUMN("STATE", STATE), .rank = 13},
    FIXED("PRIOR", PRIORITY, 5, 0),
    FIXED("NTCKTS", NORM_TICKETS, 5, 3),
    FIXED("NURG", NORM_URGENCY, 5, 4),
    FIXED("NPPRIOR", NORM_POSIX, 5, 11),
    WHOLE("RRCONTR", URGENCY_RESOURCES, 8),
    WHOLE("WTCONTR", URGENCY_WAITING, 9),
    WHOLE("DLCONTR", URGENCY_DEADLINE, 10),
    WHOLE("URG", URGENCY, 5),
    WHOLE("TICKETS", TICKETS, 1),
    WHOLE("OVERRIDE", OVERRIDE_TICKETS, 7),
    WHOLE("FUNCTIONAL", FUNCTIONAL_TICKETS, 7),
    WHOLE("SHARE", SHARE_TICKETS, 7),
    NAME("PARTITION", PARTITION, 12),
};

static const struct column basic[] = {
    ID,
    FIXED("PRIORITY", PRIORITY, 0, 0),
    NAME("PARTITION", PARTITION, 1),
};

#define TABLE(rows)                                                                           \
    (struct column_table)                                                                     \
    {                                                                                         \
        .fields = &priority_fields, .columns = (rows), .count = sizeof(rows) / sizeof *(rows) \
    }

const struct column_table prio_columns_all = {.fields = &priority_fields};

struct column_table prio_columns(const struct prio_kind *kind)
{
    struct column_table t = kind->model == MODEL_TICKETS ? TABLE(tickets)
                            : kind->model == MODEL_BASIC ? TABLE(basic)
                            : kind->is_normalized        ? TABLE(factors)
                                                         : TABLE(weighted);
    if (kind->model != MODEL_MULTIFACTOR && !kind->has_partitions) t.count--;
    return t;
}
