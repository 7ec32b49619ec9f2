#include "cli/prio_columns.h"

#include "fields/job_id.h"
#include "fields/priority_fields.h"

#define COLUMN(name_, f) .field = PRIORITY_FIELD_##f, .name = (name_), .absent_text = ""
#define ID                                                                                     \
    {                                                                                          \
        COLUMN("JOBID", ID), .heading = "JOBID", .show = show_id, .is_marked = is_not_eligible \
    }
#define ELIGIBLE                                              \
    {                                                         \
        COLUMN("ELIGIBLE", ELIGIBLE), .is_for_programs = true \
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

static bool is_not_eligible(const struct field_value *row)
{
    return row[PRIORITY_FIELD_ELIGIBLE].number == 0;
}

/* The id, with a mark if the job is not eligible. */
static void show_id(const struct field_value *row, struct buf *out)
{
    job_id_write_short(str(row[PRIORITY_FIELD_ID].text), JOB_ID_TASKS_SHOWN, out);
    if (is_not_eligible(row)) buf_add_text(out, PRIO_NOT_ELIGIBLE_MARK);
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
    ELIGIBLE,
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
    ELIGIBLE,
};

#define TICKETS                                                                                                 \
    ID, NAME("USER", USER, 2), NAME("PROJECT", PROJECT, 6), {COLUMN("STATE", STATE), .rank = 13},               \
        FIXED("PRIOR", PRIORITY, 5, 0), FIXED("NTCKTS", NORM_TICKETS, 5, 3), FIXED("NURG", NORM_URGENCY, 5, 4), \
        FIXED("NPPRIOR", NORM_POSIX, 5, 11), WHOLE("RRCONTR", URGENCY_RESOURCES, 8),                            \
        WHOLE("WTCONTR", URGENCY_WAITING, 9), WHOLE("DLCONTR", URGENCY_DEADLINE, 10), WHOLE("URG", URGENCY, 5), \
        WHOLE("TICKETS", TICKETS, 1), WHOLE("OVERRIDE", OVERRIDE_TICKETS, 7),                                   \
        WHOLE("FUNCTIONAL", FUNCTIONAL_TICKETS, 7), WHOLE("SHARE", SHARE_TICKETS, 7)

static const struct column tickets[] = {TICKETS, ELIGIBLE};
static const struct column tickets_by_partition[] = {TICKETS, NAME("PARTITION", PARTITION, 12), ELIGIBLE};

#define BASIC ID, FIXED("PRIORITY", PRIORITY, 0, 0)

static const struct column basic[] = {BASIC, ELIGIBLE};
static const struct column basic_by_partition[] = {BASIC, NAME("PARTITION", PARTITION, 1), ELIGIBLE};

#define TABLE(rows)                                                                           \
    (struct column_table)                                                                     \
    {                                                                                         \
        .fields = &priority_fields, .columns = (rows), .count = sizeof(rows) / sizeof *(rows) \
    }

const struct column_table prio_columns_all = {.fields = &priority_fields};

struct column_table prio_columns(const struct prio_kind *kind)
{
    bool has_partitions = kind->has_partitions;
    if (kind->model == MODEL_TICKETS) return has_partitions ? TABLE(tickets_by_partition) : TABLE(tickets);
    if (kind->model == MODEL_BASIC) return has_partitions ? TABLE(basic_by_partition) : TABLE(basic);
    return kind->is_normalized ? TABLE(factors) : TABLE(weighted);
}
