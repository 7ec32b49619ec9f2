#include "fields/array_spec.h"

#include "base/number.h"
#include "fields/limits.h"

int array_spec_parse(struct str text, struct idset *out_tasks, uint32_t *out_limit, struct err *e)
{
    struct str limit_text, tasks_text = str_cut(text, '%', &limit_text);
    uint64_t limit = 0;
    struct idset tasks = {0};
    if (limit_text.text != NULL && (!number_parse_u64(limit_text, &limit) || limit == 0 || limit > ARRAY_TASK_MAX))
        return err_value_reason(e, "array", text, "has no whole number from 1 to %d after '%%'", ARRAY_TASK_MAX);
    if (idset_parse(tasks_text, ARRAY_TASK_MAX, "array", &tasks, e) != 0) return -1;
    if (idset_count(&tasks) == 0) {
        idset_release(&tasks);
        return err_value_reason(e, "array", text, "has no tasks");
    }
    *out_tasks = tasks;
    *out_limit = (uint32_t)limit;
    return 0;
}
