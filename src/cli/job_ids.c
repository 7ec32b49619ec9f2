#include "cli/job_ids.h"

#include <string.h>

#include "base/ensure.h"
#include "base/idset.h"
#include "fields/job_id.h"
#include "fields/limits.h"

enum { TASKS_NAMED_MAX = 100000 };

typedef ARRAY(const char *) id_list;

static bool has_name_option(const struct command *command)
{
    for (const struct option_row *o = command->options; o != NULL && o->name != NULL; o++) {
        if (strcmp(o->name, "name") == 0) return true;
    }
    return false;
}

/* qdel takes names and lists with commas, too. *e: of an id that is no other word: unchanged. Returns -1. */
static int refuse_id(const struct call *call, struct str id, struct err *e)
{
    static const char accepted[] = "a job id (such as 5, or 5_3 for task 3 of an array)";
    if (memchr(id.text, ',', id.length) != NULL)
        return err_value(e, "job", id, "%s; give several ids as several arguments", accepted);
    bool is_name = id.length > 0 && !(id.text[0] >= '0' && id.text[0] <= '9');
    if (is_name && has_name_option(call->command))
        return err_value(e, "job", id, "%s; use -J, --name NAME for a name", accepted);
    return -1;
}

static int add_id(struct call *call, struct str id, id_list *ids, struct err *e)
{
    uint32_t job_id, task_id;
    if (job_id_parse(id, "job", &job_id, &task_id, e) != 0) return refuse_id(call, id, e);
    *array_add(ids) = arena_copy(call->arena, id);
    return 0;
}

/* Adds the id of each task of "5_[1-3,7]". */
static int add_tasks(struct call *call, struct str job, struct str tasks, id_list *ids, struct err *e)
{
    struct idset set = {0};
    if (idset_parse(tasks, ARRAY_TASK_MAX, "tasks of the job", &set, e) != 0) return -1;
    int status = 0;
    if (idset_count(&set) > TASKS_NAMED_MAX)
        status = err_value_reason(e, "job", tasks, "names more than %d tasks; give the id of the job", TASKS_NAMED_MAX);
    for (uint32_t task = idset_first(&set); status == 0 && task != NONE; task = idset_next(&set, task)) {
        char id[64];
        size_t length = text_format(id, sizeof id, "%.*s_%u", (int)job.length, job.text, task);
        status = add_id(call, (struct str){id, length < sizeof id ? length : sizeof id - 1}, ids, e);
    }
    idset_release(&set);
    return status;
}

int job_ids_expand(struct call *call, const char *const *texts, uint32_t count, struct wire_list *out_ids,
                   struct err *e)
{
    id_list ids = {0};
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < count; i++) {
        struct str text = str(texts[i]), tasks, job = str_cut(text, '_', &tasks);
        bool is_set = tasks.length > 2 && tasks.text[0] == '[' && tasks.text[tasks.length - 1] == ']';
        if (is_set) {
            status = add_tasks(call, job, (struct str){tasks.text + 1, tasks.length - 2}, &ids, e);
        } else {
            status = add_id(call, text, &ids, e);
        }
    }
    *out_ids = (struct wire_list){arena_alloc(call->arena, ids.count * sizeof *ids.items), ids.count};
    if (ids.count > 0) memcpy(out_ids->items, ids.items, ids.count * sizeof *ids.items);
    array_release(&ids);
    return status;
}

int job_ids_parse(struct call *call, uint32_t first_operand, struct wire_list *out_ids, struct err *e)
{
    uint32_t count = call->parsed.operand_count;
    ensure(first_operand <= count);
    return job_ids_expand(call, (const char *const *)call->parsed.operands + first_operand, count - first_operand,
                          out_ids, e);
}
