#include "fields/share_fields.h"

#include "fields/limits.h"

#define TEXT(name_, words)                                   \
    {                                                        \
        .name = (name_), .help = (words), .type = FIELD_TEXT \
    }
#define TEXT_OR_NULL(name_, words)                                                \
    {                                                                             \
        .name = (name_), .help = (words), .type = FIELD_TEXT, .is_nullable = true \
    }
#define COUNT(name_, words)                                                           \
    {                                                                                 \
        .name = (name_), .help = (words), .type = FIELD_NUMBER, .max = WHOLE_REAL_MAX \
    }
#define COUNT_OR_NULL(name_, words)                                                                        \
    {                                                                                                      \
        .name = (name_), .help = (words), .type = FIELD_NUMBER, .max = WHOLE_REAL_MAX, .is_nullable = true \
    }
#define REAL_OR_NULL(name_, words)                                                \
    {                                                                             \
        .name = (name_), .help = (words), .type = FIELD_REAL, .is_nullable = true \
    }
static const struct field share_rows[SHARE_FIELD_COUNT] = {
    [SHARE_FIELD_ACCOUNT] = TEXT("account", "the account"),
    [SHARE_FIELD_USER] = TEXT_OR_NULL("user", "the user; null: the account's own row"),
    [SHARE_FIELD_PARTITION] = TEXT_OR_NULL("partition", "the only partition that it is for; null: it is for all"),
    [SHARE_FIELD_PARENT_ACCOUNT] = TEXT_OR_NULL("parent_account", "of an account; null: root"),
    [SHARE_FIELD_DEPTH] = COUNT("depth", "levels below the root"),
    [SHARE_FIELD_RAW_SHARES] = {.name = "raw_shares",
                                .help = "as given; null: the root",
                                .type = FIELD_NUMBER,
                                .max = SHARE_COUNT_MAX,
                                .special = "parent",
                                .is_nullable = true},
    [SHARE_FIELD_NORM_SHARES] = REAL_OR_NULL("norm_shares", "part of its siblings' shares"),
    [SHARE_FIELD_RAW_USAGE] = REAL_OR_NULL("raw_usage", "decayed billing-seconds"),
    [SHARE_FIELD_NORM_USAGE] = REAL_OR_NULL("norm_usage", "part of the root's usage; null: the root"),
    [SHARE_FIELD_EFFECTIVE_USAGE] = REAL_OR_NULL("effective_usage", "part of its parent's usage"),
    [SHARE_FIELD_FAIR_SHARE] = REAL_OR_NULL("fair_share", "the factor, 0 to 1; null: an account"),
    [SHARE_FIELD_LEVEL_FS] = REAL_OR_NULL("level_fs", "norm_shares / effective_usage, or 'inf'; null: it has no level"),
    [SHARE_FIELD_PENDING] = COUNT_OR_NULL("pending", "number of waiting tasks; null: unknown, in a file"),
    [SHARE_FIELD_RUNNING] = COUNT_OR_NULL("running", "number of tasks that have started and not ended"),
    [SHARE_FIELD_RUNNING_CPUS] = COUNT_OR_NULL("running_cpus", "their CPUs"),
    [SHARE_FIELD_TRES_RAW] = TEXT_OR_NULL("tres_raw", "usage by TRES: decayed TRES-seconds; null: not asked for"),
};

#define TABLE(rows_) .rows = (rows_), .row_size = sizeof(struct field), .count = sizeof(rows_) / sizeof *(rows_)

const struct field_table share_fields = {TABLE(share_rows), .name = "Share",
                                         .help = "An association and what it is due."};

/* --- columns ------------------------------------------------------------------------------------------------------ */

enum { DECIMALS = 6 };

#define COLUMN(name_, f) .field = (f), .name = (name_), .heading = (name_), .absent_text = ""
#define FACTOR(name_, f, rank_)                                                   \
    {                                                                             \
        COLUMN(name_, f), .is_fixed = true, .decimals = DECIMALS, .rank = (rank_) \
    }

#define NAMES                                                                                                  \
    {COLUMN("Account", SHARE_FIELD_ACCOUNT), .indent = SHARE_FIELD_DEPTH, .width_min = COLUMN_NAME_WIDTH_MIN}, \
    {                                                                                                          \
        COLUMN("User", SHARE_FIELD_USER), .width_min = COLUMN_NAME_WIDTH_MIN                                   \
    }
#define PARTITION                                                                                           \
    {                                                                                                       \
        COLUMN("Partition", SHARE_FIELD_PARTITION), .width_min = COLUMN_NAME_WIDTH_MIN, .is_optional = true \
    }
#define NUMBERS                                                                                                 \
    {COLUMN("RawShares", SHARE_FIELD_RAW_SHARES), .rank = 2}, FACTOR("NormShares", SHARE_FIELD_NORM_SHARES, 5), \
        {COLUMN("RawUsage", SHARE_FIELD_RAW_USAGE), .is_fixed = true, .rank = 4},                               \
        FACTOR("NormUsage", SHARE_FIELD_NORM_USAGE, 6), FACTOR("EffectvUsage", SHARE_FIELD_EFFECTIVE_USAGE, 3), \
        FACTOR("FairShare", SHARE_FIELD_FAIR_SHARE, 0), FACTOR("LevelFS", SHARE_FIELD_LEVEL_FS, 1),             \
    {                                                                                                           \
        COLUMN("GrpTRESRaw", SHARE_FIELD_TRES_RAW), .is_fixed = true                                            \
    }

static const struct column columns[] = {NAMES, NUMBERS}, columns_with_partition[] = {NAMES, PARTITION, NUMBERS};

/* GrpTRESRaw is the last column. */
#define COLUMNS(columns_, without)                                                                                 \
    {                                                                                                              \
        .fields = &share_fields, .columns = (columns_), .count = sizeof(columns_) / sizeof *(columns_) - (without) \
    }
static const struct column_table tables[2][2] = {
    {COLUMNS(columns, 1), COLUMNS(columns, 0)},
    {COLUMNS(columns_with_partition, 1), COLUMNS(columns_with_partition, 0)},
};

const struct column_table *share_fields_columns(bool has_partition, bool has_tres)
{
    return &tables[has_partition][has_tres];
}
const struct column_table share_fields_all_columns = COLUMNS(columns_with_partition, 0);
