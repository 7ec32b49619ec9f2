#include "cli/history_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/number.h"
#include "base/quantity.h"
#include "cli/job_elapsed.h"
#include "fields/job_fields.h"
#include "fields/job_state.h"
#include "fields/limits.h"

enum { MIB_PER_GIB = 1024, KIB_PER_GIB = 1024 * 1024, S_PER_HOUR = 3600, BAR_WIDTH = 10 };

/* --- keys --------------------------------------------------------------------------------------------------------- */

/* The day, the Monday of the week, or the month of a time, in the local zone. */
static size_t format_date(enum report_key key, int64_t time_us, char *out, size_t size)
{
    time_t at = (time_t)(time_us / US_PER_S);
    struct tm local;
    if (localtime_r(&at, &local) == NULL) return 0;
    if (key == REPORT_BY_WEEK) {
        local.tm_mday -= (local.tm_wday + 6) % 7;
        local.tm_hour = 12; /* so that no change of the clock moves it to another day */
        local.tm_isdst = -1;
        at = mktime(&local);
        localtime_r(&at, &local);
    }
    return strftime(out, size, key == REPORT_BY_MONTH ? "%Y-%m" : "%Y-%m-%d", &local);
}

static const char *key_of(enum report_key key, const struct field_value *row, char *buffer, size_t size)
{
    static const enum job_field fields[] = {
        [REPORT_BY_USER] = JOB_FIELD_USER,           [REPORT_BY_ACCOUNT] = JOB_FIELD_ACCOUNT,
        [REPORT_BY_PARTITION] = JOB_FIELD_PARTITION, [REPORT_BY_QOS] = JOB_FIELD_QOS,
        [REPORT_BY_NAME] = JOB_FIELD_NAME,           [REPORT_BY_PROJECT] = JOB_FIELD_PROJECT,
    };
    switch (key) {
    case REPORT_BY_DAY:
    case REPORT_BY_WEEK:
    case REPORT_BY_MONTH: return format_date(key, row[JOB_FIELD_END].number, buffer, size) > 0 ? buffer : "";
    case REPORT_BY_STATE: return job_state_name((enum job_state)row[JOB_FIELD_STATE].number);
    default: return row[fields[key]].text != NULL ? row[fields[key]].text : "";
    }
}

static struct report_group *find_group(struct history_report *r, const char *key)
{
    uint32_t index = map_get(&r->index, str(key));
    if (index != NONE) return &r->groups.items[index];
    const char *copy = arena_copy(r->arena, str(key));
    map_set(&r->index, str(copy), r->groups.count);
    struct report_group *group = array_add(&r->groups);
    *group = (struct report_group){.key = copy};
    return group;
}

/* --- sums --------------------------------------------------------------------------------------------------------- */

/* An amount of "cpu=4,mem=8192,gres/gpu=2"; 0: none. */
static double tres_amount(const char *tres, const char *name)
{
    size_t length = strlen(name);
    struct str rest = str(tres != NULL ? tres : ""), pair;
    double amount;
    while (rest.length > 0) {
        pair = str_cut(rest, ',', &rest);
        bool is_it = pair.length > length && memcmp(pair.text, name, length) == 0 && pair.text[length] == '=';
        struct str value = is_it ? (struct str){pair.text + length + 1, pair.length - length - 1} : (struct str){0};
        if (is_it && number_parse_double(value, &amount)) return amount;
    }
    return 0;
}

static void add_use(struct report_group *group, const struct field_value *row)
{
    const char *tres = row[JOB_FIELD_TRES].text;
    double hours = (double)job_elapsed_us(row, row[JOB_FIELD_END].number) / US_PER_S / S_PER_HOUR;
    group->cpu_h += tres_amount(tres, "cpu") * hours;
    group->gpu_h += tres_amount(tres, "gres/gpu") * hours;
    group->mem_gib_h += tres_amount(tres, "mem") / MIB_PER_GIB * hours;
    if (row[JOB_FIELD_CPU_TIME].number != FIELD_ABSENT)
        group->cpu_used_h += (double)row[JOB_FIELD_CPU_TIME].number / US_PER_S / S_PER_HOUR;
    if (row[JOB_FIELD_MAX_RSS].number != FIELD_ABSENT)
        group->peak_gib_h += (double)row[JOB_FIELD_MAX_RSS].number / KIB_PER_GIB * hours;
    if (row[JOB_FIELD_BILLING].number != FIELD_ABSENT) group->billing_h += row[JOB_FIELD_BILLING].real * hours;
}

/* The attempts of a task follow each other in the history, so that one that was requeued is remembered until the next
 * one. */
static uint64_t task_key(const struct field_value *row)
{
    int64_t task = row[JOB_FIELD_TASK_ID].number;
    return map_key_of_pair((uint32_t)row[JOB_FIELD_JOB_ID].number, task != FIELD_ABSENT ? (uint32_t)task : 0);
}

static void remember_end(struct history_report *r, const struct field_value *row)
{
    if (row[JOB_FIELD_STATE].number != JOB_REQUEUED || row[JOB_FIELD_END].number == FIELD_ABSENT) return;
    uint64_t key = task_key(row);
    uint32_t index = map_get_u64(&r->end_of_task, key);
    if (index == NONE) map_set_u64(&r->end_of_task, key, index = r->ends.count);
    struct report_end end = {.us = row[JOB_FIELD_END].number, .restarts = row[JOB_FIELD_RESTARTS].number};
    if (index == r->ends.count)
        *array_add(&r->ends) = end;
    else
        r->ends.items[index] = end;
}

/* From when on an attempt waited: the first one from the submission, a later one from the end of the one before it, or
 * from its begin. The row has the begin that the job has now, which is that of an attempt only if it lies between the
 * two. FIELD_ABSENT: the attempt before it is not among the rows. */
static int64_t waits_from_us(const struct history_report *r, const struct field_value *row)
{
    int64_t begin_us = row[JOB_FIELD_BEGIN].number, restarts = row[JOB_FIELD_RESTARTS].number;
    int64_t from_us = row[JOB_FIELD_SUBMIT].number;
    if (restarts > 0) {
        uint32_t index = map_get_u64(&r->end_of_task, task_key(row));
        if (index == NONE || r->ends.items[index].restarts != restarts - 1) return FIELD_ABSENT;
        from_us = r->ends.items[index].us;
    }
    bool is_own = begin_us != FIELD_ABSENT && begin_us > from_us && begin_us <= row[JOB_FIELD_START].number;
    return is_own ? begin_us : from_us;
}

static void add_wait(const struct history_report *r, struct report_group *group, const struct field_value *row)
{
    int64_t from_us = waits_from_us(r, row);
    if (from_us == FIELD_ABSENT) return;
    double wait_s = (double)(row[JOB_FIELD_START].number - from_us) / US_PER_S;
    if (wait_s < 0) wait_s = 0; /* the machine's clock was set back */
    group->wait_s += wait_s;
    if (wait_s > group->wait_max_s) group->wait_max_s = wait_s;
    *array_add(&group->waits_s) = (float)wait_s;
}

/* One that completed and was requeued by hand did complete: its detail has the state it had. */
static bool has_completed(const struct field_value *row)
{
    static const char before[] = "COMPLETED, then requeued";
    const char *detail = row[JOB_FIELD_DETAIL].text;
    if (row[JOB_FIELD_STATE].number == JOB_COMPLETED) return true;
    return row[JOB_FIELD_STATE].number == JOB_REQUEUED && detail != NULL &&
           strncmp(detail, before, sizeof before - 1) == 0;
}

void history_report_add(struct history_report *r, const struct field_value *row)
{
    char buffer[64];
    struct report_group *group = find_group(r, key_of(r->key, row, buffer, sizeof buffer));
    double before = group->billing_h;
    group->job_count++;
    group->completed_count += has_completed(row);
    bool has_run = row[JOB_FIELD_START].number != FIELD_ABSENT && row[JOB_FIELD_END].number != FIELD_ABSENT;
    if (has_run) {
        add_wait(r, group, row);
        add_use(group, row);
        r->billing_h += group->billing_h - before;
    }
    remember_end(r, row);
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct report_group *)a)->key, ((const struct report_group *)b)->key);
}

static int by_billing(const void *a, const void *b)
{
    double x = ((const struct report_group *)a)->billing_h, y = ((const struct report_group *)b)->billing_h;
    return x > y ? -1 : x < y ? 1 : by_key(a, b);
}

void history_report_sort(struct history_report *r)
{
    bool is_date = r->key == REPORT_BY_DAY || r->key == REPORT_BY_WEEK || r->key == REPORT_BY_MONTH;
    if (r->groups.count > 0)
        qsort(r->groups.items, r->groups.count, sizeof *r->groups.items, is_date ? by_key : by_billing);
    map_clear(&r->index); /* groups have moved */
}

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Of an even number, the mean of the two in the middle. */
static double median(const struct report_group *group)
{
    uint32_t count = group->waits_s.count;
    qsort(group->waits_s.items, count, sizeof *group->waits_s.items, by_size);
    return ((double)group->waits_s.items[(count - 1) / 2] + (double)group->waits_s.items[count / 2]) / 2;
}

static struct field_value percent(double part, double whole)
{
    return whole > 0 ? field_real(100 * part / whole) : field_absent();
}

void history_report_row(const struct history_report *r, const struct report_group *group, double promised,
                        struct field_value out[REPORT_FIELD_COUNT])
{
    uint32_t waited = group->waits_s.count;
    out[REPORT_KEY] = field_text(group->key);
    out[REPORT_JOBS] = field_number((int64_t)group->job_count);
    out[REPORT_COMPLETED] = field_number((int64_t)group->completed_count);
    out[REPORT_WAIT_MEDIAN] = waited > 0 ? field_number((int64_t)median(group)) : field_absent();
    out[REPORT_WAIT_MEAN] = waited > 0 ? field_number((int64_t)(group->wait_s / waited)) : field_absent();
    out[REPORT_WAIT_MAX] = waited > 0 ? field_number((int64_t)group->wait_max_s) : field_absent();
    out[REPORT_CPU_HOURS] = field_real(group->cpu_h);
    out[REPORT_GPU_HOURS] = field_real(group->gpu_h);
    out[REPORT_MEM_HOURS] = field_real(group->mem_gib_h);
    out[REPORT_BILLING_HOURS] = field_real(group->billing_h);
    out[REPORT_CPU_PERCENT] = percent(group->cpu_used_h, group->cpu_h);
    out[REPORT_MEM_PERCENT] = percent(group->peak_gib_h, group->mem_gib_h);
    out[REPORT_PROMISED] = isnan(promised) ? field_absent() : field_real(100 * promised);
    out[REPORT_RECEIVED] = percent(group->billing_h, r->billing_h);
}

void history_report_release(struct history_report *r)
{
    for (uint32_t i = 0; i < r->groups.count; i++) array_release(&r->groups.items[i].waits_s);
    array_release(&r->groups);
    map_release(&r->index);
    map_release(&r->end_of_task);
    array_release(&r->ends);
}

/* --- columns ------------------------------------------------------------------------------------------------------ */

#define NUMBER_OF(name_, help_)                                                       \
    {                                                                                 \
        .name = (name_), .help = (help_), .type = FIELD_NUMBER, .max = WHOLE_REAL_MAX \
    }
#define REAL_OF(name_, help_)                                                     \
    {                                                                             \
        .name = (name_), .help = (help_), .type = FIELD_REAL, .is_nullable = true \
    }
#define SECONDS_OF(name_, help_)                                                                            \
    {                                                                                                       \
        .name = (name_), .help = (help_), .type = FIELD_SECONDS, .max = WHOLE_REAL_MAX, .is_nullable = true \
    }

static const struct field rows_of_fields[REPORT_FIELD_COUNT] = {
    [REPORT_KEY] = {.name = "key", .help = "what the row is about: a user, an account, a day", .type = FIELD_TEXT},
    [REPORT_JOBS] = NUMBER_OF("jobs", "rows of the history: each attempt of each task"),
    [REPORT_COMPLETED] =
        NUMBER_OF("completed", "of jobs, those that ended as COMPLETED, also if requeued by hand later"),
    [REPORT_WAIT_MEDIAN] = SECONDS_OF(
        "wait_median_s", "median wait of those that started; of a later attempt from the end of the one before"),
    [REPORT_WAIT_MEAN] = SECONDS_OF("wait_mean_s", "mean wait"),
    [REPORT_WAIT_MAX] = SECONDS_OF("wait_max_s", "longest wait"),
    [REPORT_CPU_HOURS] = REAL_OF("cpu_hours", "allocated CPUs x time"),
    [REPORT_GPU_HOURS] = REAL_OF("gpu_hours", "allocated GPUs x time"),
    [REPORT_MEM_HOURS] = REAL_OF("mem_gib_hours", "allocated memory in GiB x time"),
    [REPORT_BILLING_HOURS] = REAL_OF("billing_hours", "billing x time"),
    [REPORT_CPU_PERCENT] = REAL_OF("cpu_percent", "CPU time in percent of cpu_hours"),
    [REPORT_MEM_PERCENT] = REAL_OF("mem_percent", "peak memory in percent of the allocated memory, weighted by time"),
    [REPORT_PROMISED] = REAL_OF("promised_percent", "share of the user or account, now; null: of other keys"),
    [REPORT_RECEIVED] = REAL_OF("received_percent", "billing_hours in percent of those of all rows"),
};

static const struct field_table report_fields = {.name = "Report",
                                                 .help = "Sums over ended jobs.",
                                                 .rows = rows_of_fields,
                                                 .row_size = sizeof rows_of_fields[0],
                                                 .count = REPORT_FIELD_COUNT};

/* " 42.1 ####" */
static void show_received(const struct field_value *row, struct buf *out)
{
    const struct field_value *received = &row[REPORT_RECEIVED];
    if (received->number == FIELD_ABSENT) {
        buf_add_char(out, '-');
        return;
    }
    int length = (int)lround(received->real / 100 * BAR_WIDTH);
    if (length < 0) length = 0;
    if (length > BAR_WIDTH) length = BAR_WIDTH;
    buf_format(out, "%5.1f ", received->real);
    for (int i = 0; i < length; i++) buf_add_char(out, '#');
}

#define HOURS_COLUMN(field_, heading_, rank_)                                                      \
    {                                                                                              \
        .field = (field_), .heading = (heading_), .is_fixed = true, .decimals = 1, .rank = (rank_) \
    }
#define PERCENT_COLUMN(field_, heading_, decimals_, rank_)                                                   \
    {                                                                                                        \
        .field = (field_), .heading = (heading_), .is_fixed = true, .decimals = (decimals_), .rank = (rank_) \
    }

static const struct column columns[] = {
    {.field = REPORT_KEY, .width_min = COLUMN_NAME_WIDTH_MIN},
    {.field = REPORT_JOBS},
    {.field = REPORT_COMPLETED, .rank = 8},
    {.field = REPORT_WAIT_MEDIAN, .heading = "WAIT", .rank = 2},
    {.field = REPORT_WAIT_MEAN, .heading = "MEAN", .rank = 10},
    {.field = REPORT_WAIT_MAX, .heading = "LONGEST", .rank = 7},
    HOURS_COLUMN(REPORT_CPU_HOURS, "CPU-H", 1),
    {.field = REPORT_GPU_HOURS,
     .heading = "GPU-H",
     .is_fixed = true,
     .decimals = 1,
     .zero_is_absent = true,
     .is_optional = true,
     .rank = 3},
    HOURS_COLUMN(REPORT_MEM_HOURS, "GIB-H", 9),
    HOURS_COLUMN(REPORT_BILLING_HOURS, "BILLING-H", 11),
    PERCENT_COLUMN(REPORT_CPU_PERCENT, "CPU%", 0, 4),
    PERCENT_COLUMN(REPORT_MEM_PERCENT, "MEM%", 0, 5),
    {.field = REPORT_PROMISED, .heading = "PROMISED%", .is_fixed = true, .decimals = 1, .is_optional = true, .rank = 1},
    {.field = REPORT_RECEIVED, .heading = "RECEIVED%", .show = show_received},
};

const struct column_table history_report_columns = {
    .fields = &report_fields, .columns = columns, .count = sizeof columns / sizeof *columns};
