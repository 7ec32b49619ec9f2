#include "fields/use_fields.h"

#include "base/quantity.h"
#include "fields/limits.h"

#define TEXT(name_, words)                                                        \
    {                                                                             \
        .name = (name_), .help = (words), .type = FIELD_TEXT, .is_nullable = true \
    }
#define COUNT_OF(name_, words)                                                        \
    {                                                                                 \
        .name = (name_), .help = (words), .type = FIELD_NUMBER, .max = WHOLE_REAL_MAX \
    }
#define CPUS_OF(name_, words)                                \
    {                                                        \
        .name = (name_), .help = (words), .type = FIELD_REAL \
    }

static const struct field rows[USE_FIELD_COUNT] = {
    [USE_FIELD_USER] = TEXT("user", "the user; null: the uid has no name"),
    [USE_FIELD_UID] = {.name = "uid",
                       .help = "its uid; null: hidden by private_data",
                       .type = FIELD_NUMBER,
                       .max = UINT32_MAX,
                       .is_nullable = true},
    [USE_FIELD_JOB] = TEXT("job", "by=jobs and by=processes: the job or task; null: outside jobs"),
    [USE_FIELD_PID] = {.name = "pid",
                       .help = "by=processes: the process",
                       .type = FIELD_NUMBER,
                       .max = INT32_MAX,
                       .is_nullable = true},
    [USE_FIELD_CPUS] = CPUS_OF("cpus", "CPUs used now: CPU time by time, over the last seconds"),
    [USE_FIELD_MEM_KIB] = COUNT_OF("mem_kib", "memory of the processes; what they share counts for each"),
    [USE_FIELD_GPUS] = TEXT("gpus", "numbers of the GPUs whose device is open; null: none that can be seen"),
    [USE_FIELD_JOB_CPUS] = CPUS_OF("job_cpus", "of cpus, that in jobs"),
    [USE_FIELD_OUTSIDE_CPUS] = CPUS_OF("outside_cpus", "of cpus, that outside jobs"),
    [USE_FIELD_OUTSIDE_MEM_KIB] = COUNT_OF("outside_mem_kib", "of mem_kib, that outside jobs"),
    [USE_FIELD_OUTSIDE_GPUS] = TEXT("outside_gpus", "of gpus, those that are open outside jobs"),
    [USE_FIELD_JOBS] = TEXT("jobs", "the jobs and tasks whose processes these are"),
    [USE_FIELD_PROCESSES] = COUNT_OF("processes", "number of processes"),
    [USE_FIELD_STATE] =
        TEXT("state", "what outside_jobs makes of use outside jobs: over (its threshold), low (weight), exempt; null: "
                      "nothing"),
    [USE_FIELD_COMMAND] = TEXT("command", "by=processes: the kernel's name of it, at most 15 bytes"),
};

const struct field_table use_fields = {.name = "Use",
                                       .help = "What a user, a job or a process uses of the machine now.",
                                       .rows = rows,
                                       .row_size = sizeof rows[0],
                                       .count = USE_FIELD_COUNT};

enum { KIB_PER_MIB = 1024 };

static void show_kib(int64_t kib, struct buf *out)
{
    char text[32];
    buf_add(out, text, memory_format(text, (uint64_t)(kib / KIB_PER_MIB)));
}

/* A user without a name has a number. */
static void show_user(const struct field_value *row, struct buf *out)
{
    if (row[USE_FIELD_USER].number != FIELD_ABSENT)
        buf_add_text(out, row[USE_FIELD_USER].text);
    else
        buf_format(out, "%lld", (long long)row[USE_FIELD_UID].number);
}

static void show_mem(const struct field_value *row, struct buf *out)
{
    show_kib(row[USE_FIELD_MEM_KIB].number, out);
}

static void show_outside_mem(const struct field_value *row, struct buf *out)
{
    show_kib(row[USE_FIELD_OUTSIDE_MEM_KIB].number, out);
}

static const struct column columns[] = {
    {.field = USE_FIELD_USER, .show = show_user, .width_min = COLUMN_NAME_WIDTH_MIN},
    {.field = USE_FIELD_UID, .is_for_programs = true},
    {.field = USE_FIELD_JOB, .is_optional = true},
    {.field = USE_FIELD_PID, .is_optional = true},
    {.field = USE_FIELD_CPUS, .is_fixed = true, .decimals = 2},
    {.field = USE_FIELD_MEM_KIB, .heading = "MEM", .show = show_mem, .is_right_aligned = true},
    {.field = USE_FIELD_GPUS, .is_optional = true},
    {.field = USE_FIELD_JOB_CPUS, .heading = "IN_JOBS", .is_fixed = true, .decimals = 2, .rank = 3},
    {.field = USE_FIELD_OUTSIDE_CPUS, .heading = "OUTSIDE", .is_fixed = true, .decimals = 2},
    {.field = USE_FIELD_OUTSIDE_MEM_KIB,
     .heading = "OUT_MEM",
     .show = show_outside_mem,
     .is_right_aligned = true,
     .rank = 2},
    {.field = USE_FIELD_OUTSIDE_GPUS, .heading = "OUT_GPUS", .is_optional = true},
    {.field = USE_FIELD_PROCESSES, .heading = "PROCS", .rank = 1},
    {.field = USE_FIELD_STATE, .is_optional = true},
    {.field = USE_FIELD_JOBS, .is_optional = true, .width_min = COLUMN_NAME_WIDTH_MIN},
    {.field = USE_FIELD_COMMAND, .is_optional = true, .width_min = COLUMN_NAME_WIDTH_MIN},
};

const struct column_table use_fields_columns = {
    .fields = &use_fields, .columns = columns, .count = sizeof columns / sizeof *columns};
