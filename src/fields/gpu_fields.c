#include "fields/gpu_fields.h"

#include "base/quantity.h"
#include "fields/limits.h"

#define TEXT(name_, words)                                                        \
    {                                                                             \
        .name = (name_), .help = (words), .type = FIELD_TEXT, .is_nullable = true \
    }
#define NUMBER(name_, max_, words)                                                                 \
    {                                                                                              \
        .name = (name_), .help = (words), .type = FIELD_NUMBER, .max = (max_), .is_nullable = true \
    }

static const struct field rows[GPU_FIELD_COUNT] = {
    [GPU_FIELD_GPU] = {.name = "gpu", .help = "its number", .type = FIELD_NUMBER, .max = GPUS_MAX},
    [GPU_FIELD_STATE] = TEXT("state", "up; drained: it does not answer, and no job gets it; kept_back: no job gets it "
                                      "while processes without a job use it (gpu_outside)"),
    [GPU_FIELD_NAME] = TEXT("name", "its model"),
    [GPU_FIELD_MEM_MIB] = NUMBER("mem_mib", WHOLE_REAL_MAX, "memory that it has; null: not known"),
    [GPU_FIELD_USED_MIB] = NUMBER("used_mib", WHOLE_REAL_MAX, "memory that is used now; null: not known"),
    [GPU_FIELD_BUSY] = NUMBER("busy_percent", 100, "how much of the last second it computed; null: not known"),
    [GPU_FIELD_JOB] = TEXT("job", "the job or task that has it"),
    [GPU_FIELD_USED_BY] = TEXT("used_by", "the jobs and tasks whose processes compute on it"),
    [GPU_FIELD_OUTSIDE] = TEXT("outside", "processes without a job that compute on it, as user:pid"),
    [GPU_FIELD_VENDOR] = TEXT("vendor", "nvidia or amd"),
    [GPU_FIELD_BUS_ID] = TEXT("bus_id", "its address on the PCI bus; of a slice, that of its GPU"),
    [GPU_FIELD_MINOR] = NUMBER("minor", WHOLE_REAL_MAX, "its device is /dev/nvidia<minor>; null: not known"),
    [GPU_FIELD_UUID] = TEXT("uuid", "what the vendor identifies it by"),
    [GPU_FIELD_FAULT] = TEXT("fault", "why it does not answer"),
};

const struct field_table gpu_fields = {.name = "Gpu",
                                       .help = "A GPU of the machine, who has it and who uses it.",
                                       .rows = rows,
                                       .row_size = sizeof rows[0],
                                       .count = GPU_FIELD_COUNT};

static void show_memory(const struct field_value *value, struct buf *out)
{
    char text[32];
    if (value->number == FIELD_ABSENT)
        buf_add_char(out, '-');
    else
        buf_add(out, text, memory_format(text, (uint64_t)value->number));
}

static void show_mem(const struct field_value *row, struct buf *out)
{
    show_memory(&row[GPU_FIELD_MEM_MIB], out);
}

static void show_used(const struct field_value *row, struct buf *out)
{
    show_memory(&row[GPU_FIELD_USED_MIB], out);
}

static const struct column columns[] = {
    {.field = GPU_FIELD_GPU},
    {.field = GPU_FIELD_STATE},
    {.field = GPU_FIELD_NAME, .width_min = COLUMN_NAME_WIDTH_MIN},
    {.field = GPU_FIELD_MEM_MIB, .heading = "MEM", .show = show_mem, .is_right_aligned = true},
    {.field = GPU_FIELD_USED_MIB, .heading = "USED", .show = show_used, .is_right_aligned = true},
    {.field = GPU_FIELD_BUSY, .heading = "BUSY%"},
    {.field = GPU_FIELD_JOB},
    {.field = GPU_FIELD_USED_BY, .is_optional = true},
    {.field = GPU_FIELD_OUTSIDE, .is_optional = true},
    {.field = GPU_FIELD_VENDOR, .is_for_programs = true},
    {.field = GPU_FIELD_BUS_ID, .rank = 2},
    {.field = GPU_FIELD_MINOR, .is_for_programs = true},
    {.field = GPU_FIELD_UUID, .is_for_programs = true},
    {.field = GPU_FIELD_FAULT, .is_optional = true},
};

const struct column_table gpu_fields_columns = {
    .fields = &gpu_fields, .columns = columns, .count = sizeof columns / sizeof *columns};
