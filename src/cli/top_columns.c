#include "cli/top_columns.h"

#include <math.h>

#include "base/quantity.h"
#include "fields/job_state.h"
#include "fields/limits.h"
#include "fields/pending_reason.h"

enum { KIB_PER_MIB = 1024 };

#define TEXT(name_, words)                                                        \
    {                                                                             \
        .name = (name_), .help = (words), .type = FIELD_TEXT, .is_nullable = true \
    }
#define COUNT_OF(name_, words)                                                                             \
    {                                                                                                      \
        .name = (name_), .help = (words), .type = FIELD_NUMBER, .max = WHOLE_REAL_MAX, .is_nullable = true \
    }
#define REAL_OF(name_, words)                                                     \
    {                                                                             \
        .name = (name_), .help = (words), .type = FIELD_REAL, .is_nullable = true \
    }
#define SECONDS_OF(name_, words)                                                     \
    {                                                                                \
        .name = (name_), .help = (words), .type = FIELD_SECONDS, .is_nullable = true \
    }

/* --- jobs --------------------------------------------------------------------------------------------------------- */

static const struct field job_rows[TOP_JOB_COUNT] = {
    [TOP_JOB_ID] = {.name = "id", .help = "the job, or the task", .type = FIELD_TEXT, .is_task_set = true},
    [TOP_JOB_USER] = TEXT("user", "its user"),
    [TOP_JOB_ACCOUNT] = TEXT("account", "its account"),
    [TOP_JOB_NAME] = TEXT("name", "its name"),
    [TOP_JOB_PARTITION] = TEXT("partition", "its partition"),
    [TOP_JOB_STATE] = {.name = "state", .help = "its state", .type = FIELD_CHOICE, .choices = job_state_choices},
    [TOP_JOB_ELAPSED] = SECONDS_OF("elapsed_s", "time it has run, without suspensions"),
    [TOP_JOB_TIME_LIMIT] = SECONDS_OF("time_limit_s", "its time limit; null: none"),
    [TOP_JOB_CPUS] = COUNT_OF("cpus", "CPUs of each task"),
    [TOP_JOB_CPUS_USED] = REAL_OF("cpus_used", "CPUs used now: CPU time by time, over the last seconds"),
    [TOP_JOB_MEM_MIB] = COUNT_OF("mem_mib", "memory of each task"),
    [TOP_JOB_MEM_USED_KIB] = COUNT_OF("mem_used_kib", "memory of its processes; what they share counts for each"),
    [TOP_JOB_GPUS] = COUNT_OF("gpus", "GPUs of each task"),
    [TOP_JOB_GPUS_USED] = TEXT("gpus_used", "numbers of the GPUs whose device is open"),
    [TOP_JOB_RANK] = COUNT_OF("rank", "place among the pending jobs that may start: 1 is the next one"),
    [TOP_JOB_REASON] = {.name = "reason",
                        .help = "reason why it is pending",
                        .type = FIELD_CHOICE,
                        .choices = pending_reason_names,
                        .is_nullable = true},
};

static void show_used_mem(const struct field_value *row, struct buf *out)
{
    char text[32];
    if (row[TOP_JOB_MEM_USED_KIB].number == FIELD_ABSENT)
        buf_add_char(out, '-');
    else
        buf_add(out, text, memory_format(text, (uint64_t)(row[TOP_JOB_MEM_USED_KIB].number / KIB_PER_MIB)));
}

static const struct column job_columns[] = {
    {.field = TOP_JOB_ID, .is_right_aligned = true},
    {.field = TOP_JOB_USER, .width_min = COLUMN_NAME_WIDTH_MIN, .rank = 2},
    {.field = TOP_JOB_ACCOUNT, .width_min = COLUMN_NAME_WIDTH_MIN, .rank = 9},
    {.field = TOP_JOB_NAME, .width_min = COLUMN_NAME_WIDTH_MIN, .rank = 7},
    {.field = TOP_JOB_PARTITION, .width_min = COLUMN_NAME_WIDTH_MIN, .rank = 13},
    {.field = TOP_JOB_STATE},
    {.field = TOP_JOB_ELAPSED, .heading = "TIME", .rank = 4},
    {.field = TOP_JOB_TIME_LIMIT, .heading = "LIMIT", .rank = 11},
    {.field = TOP_JOB_CPUS, .rank = 5},
    {.field = TOP_JOB_CPUS_USED, .heading = "USED", .is_fixed = true, .decimals = 2, .rank = 1},
    {.field = TOP_JOB_MEM_MIB, .heading = "MEM", .rank = 6},
    {.field = TOP_JOB_MEM_USED_KIB, .heading = "MEM_USED", .show = show_used_mem, .is_right_aligned = true, .rank = 3},
    {.field = TOP_JOB_GPUS, .zero_is_absent = true, .is_optional = true, .rank = 12},
    {.field = TOP_JOB_GPUS_USED, .heading = "GPUS_USED", .is_optional = true, .rank = 14},
    {.field = TOP_JOB_RANK, .is_optional = true, .rank = 10},
    {.field = TOP_JOB_REASON, .is_optional = true, .rank = 8},
};

static const struct field_table job_table = {.name = "TopJob",
                                             .help = "A job with what it uses now.",
                                             .rows = job_rows,
                                             .row_size = sizeof job_rows[0],
                                             .count = TOP_JOB_COUNT};

const struct column_table top_columns_jobs = {
    .fields = &job_table, .columns = job_columns, .count = sizeof job_columns / sizeof *job_columns};

/* --- shares ------------------------------------------------------------------------------------------------------- */

static const struct field share_rows[TOP_SHARE_COUNT] = {
    [TOP_SHARE_ACCOUNT] = TEXT("account", "the account"),
    [TOP_SHARE_USER] = TEXT("user", "the user in it; null: the account's own row"),
    [TOP_SHARE_DEPTH] = COUNT_OF("depth", "levels below root"),
    [TOP_SHARE_PROMISED] = REAL_OF("promised_percent", "its part of the whole by its shares"),
    [TOP_SHARE_RECEIVED] = REAL_OF("received_percent", "its part of the usage of the whole, which decays"),
    [TOP_SHARE_FAIR_SHARE] = REAL_OF("fairshare", "its fair-share factor: the user with 1 comes first"),
    [TOP_SHARE_RUNNING_CPUS] = COUNT_OF("running_cpus", "CPUs of its running tasks"),
    [TOP_SHARE_RUNNING] = COUNT_OF("running", "its running tasks"),
    [TOP_SHARE_PENDING] = COUNT_OF("pending", "its pending tasks"),
};

static const struct field bar_field = {
    .name = "bar", .help = "received as a bar, promised as a mark", .type = FIELD_TEXT, .is_nullable = true};

/* "#####|....": as wide as the larger of the two parts. */
static struct field_value compute_bar(const struct field_value *row, struct arena *arena)
{
    enum { BAR_WIDTH = 20 };
    double promised = row[TOP_SHARE_PROMISED].real, received = row[TOP_SHARE_RECEIVED].real;
    double whole = fmax(promised, received);
    char bar[BAR_WIDTH + 1] = "";
    if (isnan(whole) || whole <= 0) return field_absent();
    long filled = isnan(received) ? 0 : lround(received / whole * BAR_WIDTH);
    long mark = isnan(promised) ? 0 : lround(promised / whole * BAR_WIDTH);
    for (int i = 1; i <= BAR_WIDTH; i++) bar[i - 1] = i == mark ? '|' : i <= filled ? '#' : '.';
    return field_text(arena_copy(arena, str(bar)));
}

static const struct column share_columns[] = {
    {.field = TOP_SHARE_ACCOUNT, .indent = TOP_SHARE_DEPTH, .width_min = COLUMN_NAME_WIDTH_MIN},
    {.field = TOP_SHARE_USER, .width_min = COLUMN_NAME_WIDTH_MIN},
    {.field = TOP_SHARE_PROMISED, .heading = "PROMISED%", .is_fixed = true, .decimals = 2, .rank = 2},
    {.field = TOP_SHARE_RECEIVED, .heading = "RECEIVED%", .is_fixed = true, .decimals = 2, .rank = 1},
    {.computed = &bar_field, .compute = compute_bar, .heading = "RECEIVED|PROMISED", .is_for_people = true, .rank = 5},
    {.field = TOP_SHARE_FAIR_SHARE, .heading = "FAIRSHARE", .is_fixed = true, .decimals = 4, .rank = 3},
    {.field = TOP_SHARE_RUNNING_CPUS, .heading = "CPUS", .rank = 4},
    {.field = TOP_SHARE_RUNNING, .heading = "RUNNING", .rank = 6},
    {.field = TOP_SHARE_PENDING, .heading = "PENDING", .rank = 7},
};

static const struct field_table share_table = {.name = "TopShare",
                                               .help = "What an association was promised and has received.",
                                               .rows = share_rows,
                                               .row_size = sizeof share_rows[0],
                                               .count = TOP_SHARE_COUNT};

const struct column_table top_columns_shares = {
    .fields = &share_table, .columns = share_columns, .count = sizeof share_columns / sizeof *share_columns};
