#include "fields/dependency_list.h"

#include "base/array.h"
#include "base/ensure.h"

/* --- counts ------------------------------------------------------------------------------------------------------- */

/* Counts a condition that is left. */
static void count_item(struct dependency_list *list, const struct dependency_item *item)
{
    list->left++;
    list->singletons += item->type == DEPENDENCY_SINGLETON;
    if (dependency_is_by_task(item->type)) {
        list->by_task++;
    } else if (item->is_failed) {
        list->failed++;
    } else if (item->at_us > 0) {
        if (list->timed == 0 || item->at_us < list->timed_min_us) list->timed_min_us = item->at_us;
        if (list->timed == 0 || item->at_us > list->timed_max_us) list->timed_max_us = item->at_us;
        list->timed++;
    }
}

void dependency_list_count(struct dependency_list *list)
{
    list->left = list->by_task = list->singletons = list->failed = list->timed = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (!list->items[i].is_met) count_item(list, &list->items[i]);
    }
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

struct dependency_list *dependency_list_copy(const struct dependency_list *list)
{
    if (list == NULL || list->left == 0) return NULL;
    struct dependency_list *copy = mem_resize(NULL, 0, sizeof *copy);
    *copy = *list;
    copy->items = mem_resize(NULL, 0, list->count * sizeof *copy->items);
    copy->capacity = list->count;
    for (uint32_t i = 0; i < list->count; i++) {
        copy->items[i] = list->items[i];
        copy->items[i].name = (struct str){0};
        copy->items[i].tasks = (struct idset){0};
        idset_copy(&copy->items[i].tasks, &list->items[i].tasks);
    }
    return copy;
}

struct dependency_list *dependency_list_new(bool is_any)
{
    struct dependency_list *list = mem_resize(NULL, 0, sizeof *list);
    *list = (struct dependency_list){.is_any = is_any};
    return list;
}

void dependency_list_free(struct dependency_list *list)
{
    if (list == NULL) return;
    for (uint32_t i = 0; i < list->count; i++) idset_release(&list->items[i].tasks);
    mem_free(list->items);
    mem_free(list);
}

/* --- changes ------------------------------------------------------------------------------------------------------ */

/* A condition that waits for something that has not happened: neither met nor failed, nor met at a known time. */
static struct dependency_item *waiting_item(struct dependency_list *list, uint32_t index)
{
    ensure(index < list->count);
    struct dependency_item *item = &list->items[index];
    ensure(!item->is_met && !item->is_failed && item->at_us == 0);
    return item;
}

void dependency_list_meet(struct dependency_list *list, uint32_t index)
{
    struct dependency_item *item = waiting_item(list, index);
    item->is_met = true;
    list->left = list->is_any ? 0 : list->left - 1;
    list->by_task -= dependency_is_by_task(item->type);
    list->singletons -= item->type == DEPENDENCY_SINGLETON;
}

void dependency_list_fail(struct dependency_list *list, uint32_t index)
{
    struct dependency_item *item = waiting_item(list, index);
    ensure(!dependency_is_by_task(item->type));
    item->is_failed = true;
    list->failed++;
}

void dependency_list_set_time(struct dependency_list *list, uint32_t index, int64_t at_us)
{
    struct dependency_item *item = waiting_item(list, index);
    item->at_us = at_us;
    list->left--;
    count_item(list, item);
}

uint32_t dependency_list_find_singleton(const struct dependency_list *list)
{
    for (uint32_t i = 0; list != NULL && list->singletons > 0 && i < list->count; i++) {
        if (list->items[i].type == DEPENDENCY_SINGLETON && !list->items[i].is_met) return i;
    }
    return NONE;
}

uint32_t dependency_list_add(struct dependency_list *list, const struct dependency_item *item)
{
    uint32_t next = list->count > 0 ? list->items[list->count - 1].position + 1 : 0;
    struct dependency_item *added = array_add(list);
    *added = *item;
    if (added->position == NONE) added->position = next;
    count_item(list, added);
    return list->count - 1;
}

/* --- what it means ------------------------------------------------------------------------------------------------ */

int64_t dependency_list_ready_us(const struct dependency_list *list)
{
    uint32_t whole = list != NULL ? list->left - list->by_task : 0;
    if (whole == 0) return 0;
    if (list->timed == 0 || (!list->is_any && list->timed < whole)) return INT64_MAX;
    return list->is_any ? list->timed_min_us : list->timed_max_us;
}

bool dependency_list_is_failed(const struct dependency_list *list)
{
    return list != NULL && list->failed > 0 && (!list->is_any || list->failed == list->left);
}

void dependency_list_add_waiting(const struct dependency_list *list, bool failed_only, struct idset *out_tasks)
{
    for (uint32_t i = 0; list != NULL && list->by_task > 0 && i < list->count; i++) {
        const struct dependency_item *item = &list->items[i];
        if (!item->is_met && dependency_is_by_task(item->type) && (item->is_failed || !failed_only))
            idset_add_all(out_tasks, &item->tasks);
    }
}

bool dependency_list_has_task(const struct dependency_list *list, uint32_t task_id)
{
    bool found = false;
    for (uint32_t i = 0; list != NULL && list->by_task > 0 && i < list->count && !found; i++)
        found = !list->items[i].is_met && idset_has(&list->items[i].tasks, task_id);
    return found;
}

bool dependency_list_has_tasks(const struct dependency_list *list)
{
    bool found = false;
    for (uint32_t i = 0; list != NULL && list->by_task > 0 && i < list->count && !found; i++)
        found = !list->items[i].is_met && idset_first(&list->items[i].tasks) != NONE;
    return found;
}

/* Whether all pending tasks wait, task by task. */
static bool all_wait(const struct dependency_list *list, const struct idset *pending, bool failed_only)
{
    struct idset waiting = {0}, rest = {0};
    dependency_list_add_waiting(list, failed_only, &waiting);
    bool result = waiting.ranges.count > 0;
    if (result) {
        idset_copy(&rest, pending);
        idset_remove_all(&rest, &waiting);
        result = idset_first(&rest) == NONE;
    }
    idset_release(&waiting);
    idset_release(&rest);
    return result;
}

enum dependency_state dependency_list_state(const struct dependency_list *list, const struct idset *pending,
                                            int64_t now_us)
{
    if (list == NULL || list->left == 0) return DEPENDENCY_MET;
    if (dependency_list_is_failed(list) || all_wait(list, pending, true)) return DEPENDENCY_NEVER;
    if (dependency_list_ready_us(list) > now_us || all_wait(list, pending, false)) return DEPENDENCY_WAITS;
    return DEPENDENCY_MET;
}
