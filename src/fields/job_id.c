#include "fields/job_id.h"

#include "base/array.h"
#include "base/number.h"

int job_id_parse(struct str text, const char *field, uint32_t *out_job_id, uint32_t *out_task_id, struct err *e)
{
    uint64_t job_id = 0, task_id = NONE;
    struct str task, job = str_cut(text, '_', &task);
    bool is_good = number_parse_u64(job, &job_id) && job_id >= 1 && job_id < NONE - 1;
    if (is_good && task.text != NULL) is_good = number_parse_u64(task, &task_id) && task_id < NONE;
    if (!is_good) return err_value(e, field, text, "a job id (such as 5, or 5_3 for task 3 of an array)");
    *out_job_id = (uint32_t)job_id;
    *out_task_id = (uint32_t)task_id;
    return 0;
}

size_t job_id_format(char out[JOB_ID_TEXT_SIZE], uint32_t job_id, uint32_t task_id)
{
    if (task_id == NONE) return text_format(out, JOB_ID_TEXT_SIZE, "%u", job_id);
    return text_format(out, JOB_ID_TEXT_SIZE, "%u_%u", job_id, task_id);
}

void job_id_write(const struct job_id_parts *id, struct buf *out)
{
    buf_add_u64(out, id->job_id);
    if (id->is_array && id->task_id != NONE) {
        buf_format(out, "_%u", id->task_id);
    } else if (id->is_array) {
        buf_format(out, "_[%s", id->tasks);
        if (id->limit > 0) buf_format(out, "%%%u", id->limit);
        buf_add_char(out, ']');
    }
}
