#include "cli/prio_columns.h"

#include "fields/priority_fields.h"

enum { NAME_WIDTH_MIN = 8 };

#define COLUMN(name_, f) .field = PRIORITY_FIELD_##f, .name = (name_), .absent_text = ""
#define ID                                      \
    {                                           \
        COLUMN("JOBID", ID), .heading = "JOBID" \
    }
#define NAME(name_, f, rank_)                                          \
    {                                                                  \
        COLUMN(name_, f), .width_min = NAME_WIDTH_MIN, .rank = (rank_) \
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
    NAME("PARTITION", PARTITION, 11),
    NAME("USER", USER, 12),
    NAME("ACCOUNT", ACCOUNT, 13),
    FIXED("PRIORITY", PRIORITY, 0, 0),
    FIXED("SITE", SITE, 0, 10),
    FIXED("AGE", AGE, 0, 2),
    FIXED("ASSOC", ASSOC, 0, 9),
    FIXED("FAIRSHARE", FAIR_SHARE, 0, 1),
    FIXED("JOBSIZE", JOB_SIZE, 0, 4),
    PARTITION_TERM(PARTITION_TERM, 0, 6),
    FIXED("QOS", QOS_TERM, 0, 5),
    FIXED("NICE", NICE, 0, 7),
    FIXED("TRES", TRES_TERMS, 0, 8),
    {COLUMN("BILLING", BILLING), .is_fixed = true, .is_for_programs = true},
};

static const struct column factors[] = {
    ID,
    NAME("PARTITION", PARTITION, 9),
    NAME("USER", USER, 10),
    NAME("ACCOUNT", ACCOUNT, 11),
    FIXED("PRIORITY", PRIORITY, 0, 0),
    FIXED("AGE", AGE_FACTOR, 7, 2),
    FIXED("ASSOC", ASSOC_FACTOR, 7, 8),
    FIXED("FAIRSHARE", FAIR_SHARE_FACTOR, 7, 1),
    FIXED("JOBSIZE", JOB_SIZE_FACTOR, 7, 4),
    PARTITION_TERM(PARTITION_FACTOR, 7, 6),
    FIXED("QOS", QOS_FACTOR, 7, 5),
    FIXED("TRES", TRES_FACTORS, 2, 7),
};

/* The last column of tickets and of basic is dropped unless jobs have a row for each partition. */
static const struct column tickets[] = {
    ID,
    NAME("USER", USER, 13),
    NAME("PROJECT", PROJECT, 14),
    {COLUMN("STATE", STATE), .rank = 10},
    FIXED("PRIOR", PRIORITY, 5, 0),
    FIXED("NTCKTS", NORM_TICKETS, 5, 2),
    FIXED("NURG", NORM_URGENCY, 5, 3),
    FIXED("NPPRIOR", NORM_POSIX, 5, 9),
    WHOLE("RRCONTR", URGENCY_RESOURCES, 5),
    WHOLE("WTCONTR", URGENCY_WAITING, 6),
    WHOLE("DLCONTR", URGENCY_DEADLINE, 7),
    WHOLE("URG", URGENCY, 4),
    WHOLE("TICKETS", TICKETS, 1),
    WHOLE("OVERRIDE", OVERRIDE_TICKETS, 8),
    WHOLE("FUNCTIONAL", FUNCTIONAL_TICKETS, 8),
    WHOLE("SHARE", SHARE_TICKETS, 8),
    NAME("PARTITION", PARTITION, 11),
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
