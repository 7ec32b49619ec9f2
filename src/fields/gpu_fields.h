/* Rows of 'fairlead status --gpus': a GPU of the machine, who has it and who uses it. */
#ifndef FAIRLEAD_FIELDS_GPU_FIELDS_H
#define FAIRLEAD_FIELDS_GPU_FIELDS_H

#include "fields/column.h"
#include "fields/field.h"

enum gpu_field {
    GPU_FIELD_GPU,
    GPU_FIELD_STATE,
    GPU_FIELD_NAME,
    GPU_FIELD_MEM_MIB,
    GPU_FIELD_USED_MIB,
    GPU_FIELD_BUSY,
    GPU_FIELD_JOB,
    GPU_FIELD_USED_BY, /* "12,13_1"; absent: none */
    GPU_FIELD_OUTSIDE, /* "ann:4711"; absent: none */
    GPU_FIELD_VENDOR,
    GPU_FIELD_BUS_ID,
    GPU_FIELD_MINOR,
    GPU_FIELD_UUID,
    GPU_FIELD_FAULT,
    GPU_FIELD_COUNT
};

extern const struct field_table gpu_fields;
extern const struct column_table gpu_fields_columns;

#endif
