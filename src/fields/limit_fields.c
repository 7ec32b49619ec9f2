#include "fields/limit_fields.h"

#include "base/array.h"
#include "base/quantity.h"

static const struct field rows[ASSOC_LIMIT_COUNT] = {LIMIT_ROWS(0)};

#define NO_NUMBER                           \
    {                                       \
        .number = FIELD_SPECIAL, .text = "" \
    }
#define NO_TEXT    \
    {              \
        .text = "" \
    }

const struct field_value limit_fields_defaults[ASSOC_LIMIT_COUNT] = {
    [ASSOC_GRP_JOBS] = NO_NUMBER, [ASSOC_GRP_SUBMIT] = NO_NUMBER,      [ASSOC_GRP_WALL] = NO_NUMBER,
    [ASSOC_GRP_TRES] = NO_TEXT,   [ASSOC_GRP_TRES_MINS] = NO_TEXT,     [ASSOC_GRP_TRES_RUN_MINS] = NO_TEXT,
    [ASSOC_MAX_JOBS] = NO_NUMBER, [ASSOC_MAX_SUBMIT] = NO_NUMBER,      [ASSOC_MAX_WALL] = NO_NUMBER,
    [ASSOC_MAX_TRES] = NO_TEXT,   [ASSOC_MAX_TRES_PER_NODE] = NO_TEXT, [ASSOC_MAX_TRES_MINS] = NO_TEXT,
    [ASSOC_QOS_LIST] = NO_TEXT,   [ASSOC_DEFAULT_QOS] = NO_TEXT,
};

const struct field_table limit_fields = {.rows = rows,
                                         .row_size = sizeof *rows,
                                         .count = ASSOC_LIMIT_COUNT,
                                         .name = "Limits",
                                         .help = "Limits of an account or of a user in an account.",
                                         .is_written = true};

/* Other spellings that Slurm's tools accept or print: PJ, PU, PA and PN stand for per job, user, account and node. */
static const struct {
    const char *alias, *name;
} aliases[] = {
    {"GrpSubmit", "GrpSubmitJobs"},
    {"MaxJobsPA", "MaxJobsPerAccount"},
    {"MaxJobsPU", "MaxJobsPerUser"},
    {"MaxSubmit", "MaxSubmitJobs"},
    {"MaxSubmitJobsPA", "MaxSubmitJobsPerAccount"},
    {"MaxSubmitJobsPU", "MaxSubmitJobsPerUser"},
    {"MaxSubmitPA", "MaxSubmitJobsPerAccount"},
    {"MaxSubmitPU", "MaxSubmitJobsPerUser"},
    {"MaxTRESMinsPerJob", "MaxTRESMins"},
    {"MaxTRESMinsPJ", "MaxTRESMins"},
    {"MaxTRESPA", "MaxTRESPerAccount"},
    {"MaxTRESPerJob", "MaxTRES"},
    {"MaxTRESPJ", "MaxTRES"},
    {"MaxTRESPN", "MaxTRESPerNode"},
    {"MaxTRESPU", "MaxTRESPerUser"},
    {"MaxWallDurationPerJob", "MaxWall"},
    {"MaxWallPJ", "MaxWall"},
    {"MinTRESPerJob", "MinTRES"},
    {"MinTRESPJ", "MinTRES"},
    {"QOS", "QosLevel"},
    {"UsageFactor", "usage_factor"},
    {"UsageThreshold", "usage_threshold"},
};

uint32_t limit_fields_find(const struct field_table *t, struct str name)
{
    uint32_t index = field_find(t, name);
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases && index == NONE; i++) {
        if (str_equal_nocase(str(aliases[i].alias), name)) index = field_find(t, str(aliases[i].name));
    }
    return index;
}

uint32_t limit_fields_find_key(struct str key, char *out_sign)
{
    char last = key.length > 0 ? key.text[key.length - 1] : '\0';
    bool has_sign = last == '+' || last == '-';
    if (has_sign) key.length--;
    uint32_t index = limit_fields_find(&limit_fields, key);
    *out_sign = has_sign ? last : '\0';
    return has_sign && index != ASSOC_QOS_LIST ? NONE : index;
}

void limit_fields_format(const struct field *fields, uint32_t count, const struct field_value *values, struct buf *out)
{
    const char *separator = "";
    char duration[32];
    for (uint32_t i = 0; i < count; i++) {
        if (field_equal(&fields[i], &values[i], &fields[i].default_value)) continue;
        buf_format(out, "%s%s=", separator, fields[i].name);
        if (field_is_duration(&fields[i]) && values[i].number >= 0) {
            buf_add(out, duration, duration_format(duration, values[i].number));
        } else {
            field_format(&fields[i], &values[i], out);
        }
        separator = " ";
    }
}
