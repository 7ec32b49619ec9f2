#include "engine/restarts.h"

uint32_t restarts_of(const struct job *j, uint32_t task_id)
{
    uint32_t count = 0;
    while (count < j->restarted.count && idset_has(&j->restarted.items[count], task_id)) count++;
    return count;
}

void restarts_add(struct job *j, uint32_t task_id)
{
    uint32_t count = restarts_of(j, task_id);
    if (count == j->restarted.count) (void)array_add(&j->restarted);
    idset_add(&j->restarted.items[count], task_id);
}

void restarts_format(const struct job *j, struct buf *out)
{
    for (uint32_t i = 0; i < j->restarted.count; i++) {
        if (i > 0) buf_add_char(out, ';');
        idset_format(&j->restarted.items[i], out);
    }
}

int restarts_parse(struct job *row, struct str text, const char *field, struct err *e)
{
    restarts_release(row);
    for (struct str rest = text; rest.length > 0;) {
        struct idset set = {0};
        if (idset_parse(str_cut(rest, ';', &rest), NONE - 1, field, &set, e) != 0) return -1;
        *array_add(&row->restarted) = set;
    }
    return 0;
}

void restarts_release(struct job *j)
{
    for (uint32_t i = 0; i < j->restarted.count; i++) idset_release(&j->restarted.items[i]);
    array_release(&j->restarted);
}
