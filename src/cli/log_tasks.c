#include "cli/log_tasks.h"

#include <string.h>

#include "base/idset.h"
#include "fields/job_fields.h"
#include "fields/limits.h"

void log_tasks_release(struct log_tasks *tasks)
{
    for (uint32_t i = 0; i < tasks->list.count; i++) log_task_release(&tasks->list.items[i]);
    array_release(&tasks->list);
    map_release(&tasks->index);
}

static struct log_task *find(struct log_tasks *tasks, uint32_t job_id, uint32_t task_id)
{
    uint32_t index = map_get_u64(&tasks->index, map_key_of_pair(job_id, task_id));
    return index != NONE ? &tasks->list.items[index] : NULL;
}

static struct log_task *add(struct log_tasks *tasks, uint32_t job_id, uint32_t task_id)
{
    map_set_u64(&tasks->index, map_key_of_pair(job_id, task_id), tasks->list.count);
    struct log_task *t = array_add(&tasks->list);
    log_task_init(t, job_id, task_id);
    return t;
}

static void take_row(struct log_tasks *tasks, uint32_t job_id, uint32_t task_id, const struct field_value *row)
{
    struct log_task *t = find(tasks, job_id, task_id);
    bool waits = row[JOB_FIELD_START].number == FIELD_ABSENT && row[JOB_FIELD_END].number == FIELD_ABSENT;
    if (t != NULL && t->is_finished) return;
    if (t != NULL && waits && !tasks->is_following && t->has_started) return;
    if (t == NULL) t = add(tasks, job_id, task_id);
    log_task_take(t, row, tasks->wants_error);
}

/* How many tasks a row "3-9,12" stands for. */
static uint32_t count_tasks(const char *text)
{
    struct idset set = {0};
    struct err ignored;
    uint32_t count = 0;
    if (idset_parse(str(text), ARRAY_TASK_MAX, "tasks", &set, &ignored) == 0) count = idset_count(&set);
    idset_release(&set);
    return count;
}

int log_tasks_take(struct log_tasks *tasks, const char *id, const struct wire_list *rows, struct err *e)
{
    uint32_t job_id, task_id;
    const struct field_value *row = rows->items;
    if (rows->count == 0) return err_not_found(e, "job", str(id));
    if (job_id_parse(str(id), "job", &job_id, &task_id, e) != 0) return -1;
    for (uint32_t i = 0; i < rows->count; i++, row += JOB_FIELD_COUNT) {
        const char *several = row[JOB_FIELD_ARRAY_TASKS].text; /* NULL: the row is of one task */
        bool is_of_array = several != NULL || row[JOB_FIELD_TASK_ID].number != FIELD_ABSENT;
        if (is_of_array && task_id == NONE) tasks->has_several = true;
        if (several != NULL && task_id == NONE)
            tasks->waiting_count += count_tasks(several);
        else if (several != NULL)
            take_row(tasks, job_id, task_id, row);
        else
            take_row(tasks, job_id, is_of_array ? (uint32_t)row[JOB_FIELD_TASK_ID].number : NONE, row);
    }
    return 0;
}

uint32_t log_tasks_prefix_width(const struct log_tasks *tasks)
{
    uint32_t width = 0;
    if (!tasks->has_several) return 0;
    for (uint32_t i = 0; i < tasks->list.count; i++) {
        uint32_t length = (uint32_t)strlen(tasks->list.items[i].id);
        if (length > width) width = length;
    }
    return width;
}
