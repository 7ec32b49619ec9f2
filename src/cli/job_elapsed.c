#include "cli/job_elapsed.h"

#include "fields/job_fields.h"

static bool has(const struct field_value *row, enum job_field f)
{
    return !field_is_absent(job_field_at(f), &row[f]);
}

int64_t job_elapsed_suspended_us(const struct field_value *row, int64_t now_us)
{
    int64_t us = has(row, JOB_FIELD_SUSPENDED) ? row[JOB_FIELD_SUSPENDED].number : 0;
    if (has(row, JOB_FIELD_SUSPENDED_FROM) && now_us > row[JOB_FIELD_SUSPENDED_FROM].number)
        us += now_us - row[JOB_FIELD_SUSPENDED_FROM].number;
    return us;
}

int64_t job_elapsed_us(const struct field_value *row, int64_t now_us)
{
    int64_t until_us = has(row, JOB_FIELD_END) ? row[JOB_FIELD_END].number : now_us;
    int64_t elapsed_us = until_us - row[JOB_FIELD_START].number - job_elapsed_suspended_us(row, now_us);
    return elapsed_us > 0 ? elapsed_us : 0;
}
