#include "cli/job_efficiency.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/quantity.h"
#include "cli/job_elapsed.h"
#include "fields/job_fields.h"
#include "fields/job_state.h"
#include "fields/limits.h"

/* Advice: what was used and a quarter of it for memory, half of it and a minute for time. */
static const double MEM_RESERVE = 1.25, TIME_RESERVE = 1.5;
/* Less is asked for only if that is at most so much of the request. */
static const double MEM_WORTHWHILE = 0.75, TIME_WORTHWHILE = 0.5;
enum { MEM_STEP_MIB = 64, KIB_PER_MIB = 1024, S_PER_MINUTE = 60 };

/* The sums over the tasks of a job. */
struct use {
    const char *name;
    uint32_t started_count, ended_count, out_of_memory_count, timeout_count, completed_count;
    double cpus; /* of a task: the largest number */
    double cpu_s, cpus_x_s;
    double mem_mib, peak_mib, limit_s, longest_s;
};

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* The number of CPUs that the task got, "cpu=4,mem=...", else those that it asked for. */
static double cpus_of(const struct field_value *row)
{
    const char *tres = row[JOB_FIELD_TRES].text;
    uint64_t count;
    struct str rest, value;
    if (tres != NULL && strncmp(tres, "cpu=", 4) == 0) {
        value = str_cut(str(tres + 4), ',', &rest);
        if (number_parse_u64(value, &count)) return (double)count;
    }
    return (double)row[JOB_FIELD_CPUS].number;
}

static void add_row(struct use *u, const struct field_value *row, int64_t now_us)
{
    if (row[JOB_FIELD_START].number == FIELD_ABSENT) return;
    bool is_ended = row[JOB_FIELD_END].number != FIELD_ABSENT;
    double elapsed_s = (double)job_elapsed_us(row, now_us) / US_PER_S, cpus = cpus_of(row);
    u->started_count++;
    u->cpus = larger(u->cpus, cpus);
    u->cpu_s += (double)row[JOB_FIELD_CPU_TIME].number / US_PER_S;
    u->cpus_x_s += cpus * elapsed_s;
    u->mem_mib = larger(u->mem_mib, (double)row[JOB_FIELD_MEM_MIB].number);
    u->peak_mib = larger(u->peak_mib, (double)row[JOB_FIELD_MAX_RSS].number / KIB_PER_MIB);
    u->longest_s = larger(u->longest_s, elapsed_s);
    u->limit_s = (double)row[JOB_FIELD_TIME_LIMIT].number;
    if (!is_ended) return;
    u->ended_count++;
    u->out_of_memory_count += row[JOB_FIELD_STATE].number == JOB_OUT_OF_MEMORY;
    u->timeout_count += row[JOB_FIELD_STATE].number == JOB_TIMEOUT;
    u->completed_count += row[JOB_FIELD_STATE].number == JOB_COMPLETED;
}

static void advise_cpus(const struct use *u, struct buf *out)
{
    double used = ceil(u->cpus_x_s > 0 ? u->cpu_s / u->cpus_x_s * u->cpus * 1.1 : 0);
    if (u->completed_count > 0 && larger(1, used) < u->cpus) buf_format(out, " -n %.0f", larger(1, used));
}

static void advise_memory(const struct use *u, struct buf *out)
{
    char text[32];
    double wanted = ceil(u->peak_mib * MEM_RESERVE / MEM_STEP_MIB) * MEM_STEP_MIB;
    if (u->out_of_memory_count > 0) wanted = larger(wanted, 2 * u->mem_mib);
    if (u->out_of_memory_count == 0 && (u->completed_count == 0 || wanted > MEM_WORTHWHILE * u->mem_mib || wanted <= 0))
        return;
    memory_format(text, (uint64_t)wanted);
    buf_format(out, " --mem %s", text);
}

static void advise_time(const struct use *u, struct buf *out)
{
    char text[32];
    double wanted = (ceil(u->longest_s * TIME_RESERVE / S_PER_MINUTE) + 1) * S_PER_MINUTE;
    if (u->limit_s >= TIME_LIMIT_S_MAX) return;
    if (u->timeout_count > 0) wanted = 2 * u->limit_s;
    if (u->timeout_count == 0 && (u->completed_count == 0 || wanted > TIME_WORTHWHILE * u->limit_s)) return;
    duration_format(text, (int64_t)wanted);
    buf_format(out, " -t %s", text);
}

static struct field_value advice(const struct use *u, struct arena *arena)
{
    struct buf text = {0};
    advise_cpus(u, &text);
    advise_memory(u, &text);
    advise_time(u, &text);
    const char *words = text.length > 0 ? arena_copy(arena, (struct str){text.text + 1, text.length - 1}) : NULL;
    buf_release(&text);
    return field_text(words);
}

static struct field_value percent(double part, double whole)
{
    return whole > 0 ? field_real(100 * part / whole) : field_absent();
}

int job_efficiency_compute(const char *id, const struct wire_list *rows, int64_t now_us, struct arena *arena,
                           struct field_value out[EFFICIENCY_COUNT], struct err *e)
{
    const struct field_value *row = rows->items;
    struct use u = {0};
    if (rows->count == 0) return err_not_found(e, "job", str(id));
    if (row[JOB_FIELD_OUT_PATH].text[0] == '\0')
        return err_subject(e, ERR_DENIED, "job", str(id), "belongs to another user");
    u.name = arena_copy(arena, str(row[JOB_FIELD_NAME].text));
    for (uint32_t i = 0; i < rows->count; i++, row += JOB_FIELD_COUNT) add_row(&u, row, now_us);
    if (u.started_count == 0)
        return err_subject(e, ERR_CONFLICT, "job", str(id), "has not started: it has used nothing yet");

    out[EFFICIENCY_JOB] = field_text(arena_copy(arena, str(id)));
    out[EFFICIENCY_NAME] = field_text(u.name);
    out[EFFICIENCY_TASKS] = field_number(u.started_count);
    out[EFFICIENCY_CPUS] = field_number((int64_t)u.cpus);
    out[EFFICIENCY_CPUS_USED] = field_real(u.cpus_x_s > 0 ? u.cpu_s / u.cpus_x_s * u.cpus : 0);
    out[EFFICIENCY_CPU_PERCENT] = percent(u.cpu_s, u.cpus_x_s);
    out[EFFICIENCY_MEM] = field_number((int64_t)u.mem_mib);
    out[EFFICIENCY_PEAK] = field_number((int64_t)ceil(u.peak_mib));
    out[EFFICIENCY_MEM_PERCENT] = percent(u.peak_mib, u.mem_mib);
    out[EFFICIENCY_LIMIT] = field_number((int64_t)u.limit_s);
    out[EFFICIENCY_LONGEST] = field_number((int64_t)u.longest_s);
    out[EFFICIENCY_TIME_PERCENT] = percent(u.longest_s, u.limit_s);
    out[EFFICIENCY_ADVICE] = advice(&u, arena);
    return 0;
}

#define TEXT_OF(name_, help_)                                                     \
    {                                                                             \
        .name = (name_), .help = (help_), .type = FIELD_TEXT, .is_nullable = true \
    }
#define NUMBER_OF(name_, type_, help_)                                           \
    {                                                                            \
        .name = (name_), .help = (help_), .type = (type_), .max = WHOLE_REAL_MAX \
    }
#define PERCENT_OF(name_, help_)                                                  \
    {                                                                             \
        .name = (name_), .help = (help_), .type = FIELD_REAL, .is_nullable = true \
    }

static const struct field rows_of_fields[EFFICIENCY_COUNT] = {
    [EFFICIENCY_JOB] = TEXT_OF("id", "the job or task"),
    [EFFICIENCY_NAME] = TEXT_OF("name", "the job's name"),
    [EFFICIENCY_TASKS] = NUMBER_OF("tasks", FIELD_NUMBER, "starts that are summed up: tasks and attempts"),
    [EFFICIENCY_CPUS] = NUMBER_OF("cpus", FIELD_NUMBER, "CPUs of each task"),
    [EFFICIENCY_CPUS_USED] = PERCENT_OF("cpus_used", "CPUs that a task used on average: CPU time by run time"),
    [EFFICIENCY_CPU_PERCENT] = PERCENT_OF("cpu_percent", "cpus_used in percent of cpus; null: no run time"),
    [EFFICIENCY_MEM] = NUMBER_OF("mem_mib", FIELD_MEMORY, "memory of each task"),
    [EFFICIENCY_PEAK] = NUMBER_OF("peak_mib", FIELD_MEMORY, "the largest peak memory of a task"),
    [EFFICIENCY_MEM_PERCENT] = PERCENT_OF("mem_percent", "peak_mib in percent of mem_mib"),
    [EFFICIENCY_LIMIT] = {.name = "time_limit_s",
                          .help = "time limit of each task",
                          .type = FIELD_SECONDS,
                          .max = TIME_LIMIT_S_MAX,
                          .special = "UNLIMITED"},
    [EFFICIENCY_LONGEST] = NUMBER_OF("longest_s", FIELD_SECONDS, "the longest run time of a task"),
    [EFFICIENCY_TIME_PERCENT] = PERCENT_OF("time_percent", "longest_s in percent of time_limit_s"),
    [EFFICIENCY_ADVICE] = TEXT_OF("advice", "what to ask for the next time; null: the request fits"),
};

static const struct field_table efficiency_fields = {.name = "Efficiency",
                                                     .help = "What a job used of what it asked for.",
                                                     .rows = rows_of_fields,
                                                     .row_size = sizeof rows_of_fields[0],
                                                     .count = EFFICIENCY_COUNT};

#define PERCENT_COLUMN(field_, heading_, rank_)                                                    \
    {                                                                                              \
        .field = (field_), .heading = (heading_), .is_fixed = true, .decimals = 0, .rank = (rank_) \
    }

static const struct column columns[] = {
    {.field = EFFICIENCY_JOB, .is_right_aligned = true},
    {.field = EFFICIENCY_NAME, .rank = 9, .width_min = COLUMN_NAME_WIDTH_MIN},
    {.field = EFFICIENCY_TASKS, .rank = 8},
    {.field = EFFICIENCY_CPUS, .rank = 5},
    {.field = EFFICIENCY_CPUS_USED, .heading = "USED", .is_fixed = true, .decimals = 2, .rank = 4},
    PERCENT_COLUMN(EFFICIENCY_CPU_PERCENT, "CPU%", 0),
    {.field = EFFICIENCY_MEM, .heading = "MEM", .rank = 5},
    {.field = EFFICIENCY_PEAK, .heading = "PEAK", .rank = 4},
    PERCENT_COLUMN(EFFICIENCY_MEM_PERCENT, "MEM%", 0),
    {.field = EFFICIENCY_LIMIT, .heading = "LIMIT", .rank = 5},
    {.field = EFFICIENCY_LONGEST, .heading = "LONGEST", .rank = 4},
    PERCENT_COLUMN(EFFICIENCY_TIME_PERCENT, "TIME%", 0),
    {.field = EFFICIENCY_ADVICE, .heading = "NEXT TIME"},
};

const struct column_table job_efficiency_columns = {
    .fields = &efficiency_fields, .columns = columns, .count = sizeof columns / sizeof *columns};
