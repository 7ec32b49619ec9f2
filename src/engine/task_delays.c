#include "engine/task_delays.h"

#include <string.h>

#include "base/number.h"
#include "base/quantity.h"

/* Instead of a time; each begins with h (store/clock.c). */
static const char held[] = "held", held_by_user[] = "held_by_user";

static int64_t hold_us(bool is_by_operator)
{
    return is_by_operator ? TASK_DELAYS_HELD_US : TASK_DELAYS_HELD_BY_USER_US;
}

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

/* Holds are the last ones. */
static struct task_delay *find_hold(const struct job *j, bool is_by_operator)
{
    for (uint32_t i = j->delays.count; i-- > 0 && j->delays.items[i].at_us >= TASK_DELAYS_HELD_BY_USER_US;) {
        if (j->delays.items[i].at_us == hold_us(is_by_operator)) return &j->delays.items[i];
    }
    return NULL;
}

static void remove_delay(struct job *j, struct task_delay *d)
{
    uint32_t behind = j->delays.count - 1 - (uint32_t)(d - j->delays.items);
    idset_release(&d->tasks);
    memmove(d, d + 1, behind * sizeof *d);
    j->delays.count--;
}

bool task_delays_release_task(struct job *j, uint32_t task_id, bool is_by_operator)
{
    struct task_delay *d = find_hold(j, is_by_operator);
    if (d == NULL || !idset_remove(&d->tasks, task_id)) return false;
    if (idset_first(&d->tasks) == NONE) remove_delay(j, d);
    return true;
}

bool task_delays_release_all(struct job *j, bool is_by_operator)
{
    struct task_delay *d = find_hold(j, is_by_operator);
    if (d != NULL) remove_delay(j, d);
    return d != NULL;
}

void task_delays_hold(struct job *j, uint32_t task_id, bool is_by_operator)
{
    (void)task_delays_release_task(j, task_id, !is_by_operator);
    add(j, task_id, hold_us(is_by_operator));
}

void task_delays_hold_all(struct job *j, const struct idset *tasks, bool is_by_operator)
{
    struct idset held_tasks = {0};
    idset_copy(&held_tasks, tasks);
    const struct task_delay *by_operator = find_hold(j, true);
    if (!is_by_operator && by_operator != NULL) idset_remove_all(&held_tasks, &by_operator->tasks);
    if (is_by_operator) (void)task_delays_release_all(j, false);
    if (idset_first(&held_tasks) != NONE) {
        add(j, idset_first(&held_tasks), hold_us(is_by_operator));
        idset_add_all(&find_hold(j, is_by_operator)->tasks, &held_tasks);
    }
    idset_release(&held_tasks);
}

const struct idset *task_delays_held(const struct job *j, bool is_by_operator)
{
    const struct task_delay *d = find_hold(j, is_by_operator);
    return d != NULL ? &d->tasks : NULL;
}

bool task_delays_has_held(const struct job *j)
{
    return j->delays.count > 0 && j->delays.items[j->delays.count - 1].at_us >= TASK_DELAYS_HELD_BY_USER_US;
}

enum task_hold task_delays_hold_of(const struct job *j, uint32_t task_id)
{
    const struct idset *by_operator = task_delays_held(j, true), *by_user = task_delays_held(j, false);
    if (by_operator != NULL && idset_has(by_operator, task_id)) return TASK_HOLD_BY_OPERATOR;
    return by_user != NULL && idset_has(by_user, task_id) ? TASK_HOLD_BY_USER : TASK_HOLD_NONE;
}

void task_delays_drop(struct job *j, const struct idset *tasks)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < j->delays.count; i++) {
        struct task_delay *d = &j->delays.items[i];
        if (d->at_us != TASK_DELAYS_HELD_US) idset_remove_all(&d->tasks, tasks);
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
    bool ends = j->delays.count > 0 && j->delays.items[0].at_us < TASK_DELAYS_HELD_BY_USER_US;
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
        const struct task_delay *d = &j->delays.items[i];
        if (d->at_us >= TASK_DELAYS_HELD_BY_USER_US)
            buf_format(out, "%s:", d->at_us == TASK_DELAYS_HELD_US ? held : held_by_user);
        else
            buf_format(out, "%lld:", (long long)(d->at_us / US_PER_S));
        idset_format(&d->tasks, out);
    }
}

/* Until when; 0: no time. */
static int64_t parse_time(struct str time)
{
    uint64_t at_s = 0;
    if (str_equal(time, str(held)) || str_equal(time, str(held_by_user))) return hold_us(str_equal(time, str(held)));
    bool is_time = number_parse_u64(time, &at_s) && at_s < (uint64_t)(TASK_DELAYS_HELD_BY_USER_US / US_PER_S);
    return is_time ? (int64_t)at_s * US_PER_S : 0;
}

int task_delays_parse(struct job *row, struct str text, const char *field, struct err *e)
{
    int64_t last_us = 0;
    task_delays_release(row);
    for (struct str rest = text; rest.length > 0;) {
        struct idset tasks = {0};
        struct str numbers, part = str_cut(rest, ';', &rest), time = str_cut(part, ':', &numbers);
        int64_t at_us = parse_time(time);
        if (at_us <= last_us || numbers.text == NULL)
            return err_value(e, field, part,
                             "a later time than before, or held_by_user or held, and tasks, such as 1764000060:3-7");
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
