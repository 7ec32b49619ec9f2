#include "engine/task_delays.h"

#include <string.h>

#include "base/number.h"
#include "base/quantity.h"

static const char held[] = "held"; /* instead of a time */

static void add(struct job *j, uint32_t task_id, int64_t at_us)
{
    uint32_t at = j->delays.count;
    while (at > 0 && j->delays.items[at - 1].at_us > at_us) at--;
    if (at == 0 || j->delays.items[at - 1].at_us != at_us) {
        (void)array_add(&j->delays);
        for (uint32_t i = j->delays.count - 1; i > at; i--) j->delays.items[i] = j->delays.items[i - 1];
        j->delays.items[at] = (struct task_delay){.at_us = at_us};
        at++;
    }
    idset_add(&j->delays.items[at - 1].tasks, task_id);
}

void task_delays_add(struct state *s, struct job *j, uint32_t task_id, int64_t at_us)
{
    at_us = (at_us + US_PER_S - 1) / US_PER_S * US_PER_S;
    add(j, task_id, at_us);
    if (s->next_delay_us == 0 || at_us < s->next_delay_us) s->next_delay_us = at_us;
}

void task_delays_hold(struct job *j, uint32_t task_id)
{
    add(j, task_id, TASK_DELAYS_HELD_US);
}

const struct idset *task_delays_held(const struct job *j)
{
    const struct task_delay *last = j->delays.count > 0 ? &j->delays.items[j->delays.count - 1] : NULL;
    return last != NULL && last->at_us == TASK_DELAYS_HELD_US ? &last->tasks : NULL;
}

void task_delays_drop(struct job *j, const struct idset *tasks)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < j->delays.count; i++) {
        struct task_delay *d = &j->delays.items[i];
        idset_remove_all(&d->tasks, tasks);
        if (idset_first(&d->tasks) == NONE)
            idset_release(&d->tasks);
        else
            j->delays.items[kept++] = *d;
    }
    j->delays.count = kept;
}

void task_delays_add_waiting(const struct job *j, int64_t now_us, struct idset *out_tasks)
{
    for (uint32_t i = 0; i < j->delays.count; i++) {
        if (j->delays.items[i].at_us > now_us) idset_add_all(out_tasks, &j->delays.items[i].tasks);
    }
}

bool task_delays_has_task(const struct job *j, uint32_t task_id)
{
    bool found = false;
    for (uint32_t i = 0; i < j->delays.count && !found; i++) found = idset_has(&j->delays.items[i].tasks, task_id);
    return found;
}

int64_t task_delays_next_us(const struct job *j)
{
    bool ends = j->delays.count > 0 && j->delays.items[0].at_us != TASK_DELAYS_HELD_US;
    return ends ? j->delays.items[0].at_us : 0;
}

bool task_delays_end(struct job *j, int64_t now_us)
{
    uint32_t ended = 0, left;
    while (ended < j->delays.count && j->delays.items[ended].at_us <= now_us)
        idset_release(&j->delays.items[ended++].tasks);
    left = j->delays.count - ended;
    if (ended > 0) memmove(j->delays.items, j->delays.items + ended, left * sizeof *j->delays.items);
    j->delays.count = left;
    return ended > 0;
}

void task_delays_format(const struct job *j, struct buf *out)
{
    for (uint32_t i = 0; i < j->delays.count; i++) {
        if (i > 0) buf_add_char(out, ';');
        if (j->delays.items[i].at_us == TASK_DELAYS_HELD_US)
            buf_format(out, "%s:", held);
        else
            buf_format(out, "%lld:", (long long)(j->delays.items[i].at_us / US_PER_S));
        idset_format(&j->delays.items[i].tasks, out);
    }
}

int task_delays_parse(struct job *row, struct str text, const char *field, struct err *e)
{
    int64_t last_us = 0;
    task_delays_release(row);
    for (struct str rest = text; rest.length > 0;) {
        struct idset tasks = {0};
        uint64_t at_s = 0;
        struct str numbers, part = str_cut(rest, ';', &rest), time = str_cut(part, ':', &numbers);
        bool is_held = str_equal(time, str(held));
        bool is_time = number_parse_u64(time, &at_s) && at_s < (uint64_t)(TASK_DELAYS_HELD_US / US_PER_S);
        int64_t at_us = is_held ? TASK_DELAYS_HELD_US : is_time ? (int64_t)at_s * US_PER_S : 0;
        if (at_us <= last_us || numbers.text == NULL)
            return err_value(e, field, part, "a later time than before, or held, and tasks, such as 1764000060:3-7");
        if (idset_parse(numbers, NONE - 1, field, &tasks, e) != 0) return -1;
        last_us = at_us;
        *array_add(&row->delays) = (struct task_delay){last_us, tasks};
    }
    return 0;
}

void task_delays_release(struct job *j)
{
    for (uint32_t i = 0; i < j->delays.count; i++) idset_release(&j->delays.items[i].tasks);
    array_release(&j->delays);
}
