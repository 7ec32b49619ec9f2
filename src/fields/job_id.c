#include "fields/job_id.h"

#include <string.h>

#include "base/array.h"
#include "base/idset.h"
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

/* Appends the tasks; those of more than max bytes end after the last one that fits. */
static void write_tasks(struct str tasks, size_t max, struct buf *out)
{
    static const struct str mark = {"...", 3};
    if (tasks.length <= max || tasks.length == 0 || memchr(tasks.text, ',', tasks.length) == NULL) {
        buf_add_str(out, tasks);
        return;
    }
    size_t cut = max > mark.length ? max - mark.length : 0;
    while (cut > 0 && tasks.text[cut - 1] != ',') cut--;
    buf_add(out, tasks.text, cut);
    buf_add_str(out, mark);
}

void job_id_write_short(struct str id, size_t tasks_max, struct buf *out)
{
    const char *bracket = id.length > 0 ? memchr(id.text, '[', id.length) : NULL;
    size_t start = bracket != NULL ? (size_t)(bracket - id.text) + 1 : 0, end = start;
    struct idset set;
    struct buf steps = {0};
    while (end < id.length && id.text[end] != '%' && id.text[end] != ']') end++;
    struct str tasks = {id.text + start, end - start};
    if (tasks.length > 0 && idset_parse(tasks, NONE - 1, "tasks", &set, NULL) == 0) {
        idset_format_steps(&set, &steps);
        tasks = (struct str){steps.text, steps.length};
        idset_release(&set);
    }
    buf_add(out, id.text, start);
    write_tasks(tasks, tasks_max, out);
    buf_add(out, id.text + end, id.length - end);
    buf_release(&steps);
}
