#include "engine/dependencies.h"

#include <string.h>

#include "base/ensure.h"
#include "base/expression.h"
#include "base/sort.h"
#include "engine/dependency_circles.h"
#include "engine/dependency_targets.h"
#include "engine/dependents.h"
#include "engine/handlers.h"
#include "engine/job_waits.h"
#include "engine/name_groups.h"
#include "engine/visibility.h"

static const char field_name[] = "dependency";

/* --- facts about jobs that have ended ----------------------------------------------------------------------------- */

static const char *given_text(const struct event *event)
{
    const struct job_values *given = event->kind == EVENT_SUBMIT   ? event->submit
                                     : event->kind == EVENT_UPDATE ? event->update.values
                                                                   : NULL;
    return given != NULL && given->is_given[JOB_FIELD_DEPENDENCY] ? given->value[JOB_FIELD_DEPENDENCY].text : NULL;
}

uint32_t dependencies_list_ended(const struct state *s, const struct event *event, struct arena *arena,
                                 const uint32_t **out_ids)
{
    struct dependency_list list;
    struct map seen = {0};
    const char *text = given_text(event);
    uint32_t count = 0;
    if (text == NULL || text[0] == '\0' || dependency_text_parse(str(text), arena, &list, NULL) != 0) return 0;
    struct sort_record *found = arena_alloc(arena, 2 * (list.count + (size_t)1) * sizeof *found);
    uint32_t *ids = arena_alloc(arena, (list.count + (size_t)1) * sizeof *ids);
    for (uint32_t i = 0; i < list.count; i++) {
        uint32_t id = list.items[i].job_id;
        if (id == 0 || id >= s->next_job_id || map_get_u64(&seen, id) != NONE) continue;
        map_set_u64(&seen, id, 0); /* an ended array is read once, however many of its tasks are named */
        if (dependency_target_row(s, id) == NONE) found[count++] = (struct sort_record){.key = id};
    }
    sort_records(found, count, found + count);
    for (uint32_t i = 0; i < count; i++) ids[i] = (uint32_t)found[i].key;
    map_release(&seen);
    *out_ids = ids;
    return count;
}

/* --- what is given ------------------------------------------------------------------------------------------------ */

enum { PATTERNS_MAX = 16 }; /* each is compared with all jobs of the user */

struct resolver {
    struct apply_context *c;
    const struct event *event;
    const char *user;
    struct job *row;
    ARRAY(struct dependency_item) items; /* that remain */
    uint32_t pattern_count;
    bool is_any, is_met; /* one of them is enough, and is met */
    struct map by_task; /* conditions task by task, by job and type: a second one would cost each end of a task again */
};

static enum dependency_type plain_type(enum dependency_type type)
{
    return type == DEPENDENCY_HOLD_JID      ? DEPENDENCY_AFTERANY
           : type == DEPENDENCY_HOLD_JID_AD ? DEPENDENCY_AFTERCORRANY
                                            : type;
}

/* Like Grid Engine: what does not exist is not waited for. */
static bool may_be_missing(enum dependency_type type)
{
    return type == DEPENDENCY_HOLD_JID || type == DEPENDENCY_HOLD_JID_AD;
}

static int add_item(struct resolver *r, const struct dependency_item *item)
{
    if (r->items.count == DEPENDENCY_ITEMS_MAX)
        return err_field(r->c->e, ERR_TOO_LARGE, field_name, "stands for more than %d jobs; at most %d are accepted",
                         DEPENDENCY_ITEMS_MAX, DEPENDENCY_ITEMS_MAX);
    *array_add(&r->items) = *item;
    return 0;
}

/* The time at which a condition with minutes is met, in whole seconds. */
static int64_t time_after(int64_t start_us, uint32_t minutes)
{
    return (start_us + minutes * INT64_C(60) * US_PER_S + US_PER_S - 1) / US_PER_S * US_PER_S;
}

/* A set in memory of the cycle. */
static struct idset cycle_set(struct state *s, struct idset *set)
{
    struct idset copy = {0};
    size_t size = set->ranges.count * sizeof *set->ranges.items;
    copy.ranges.items = arena_alloc(&s->cycle, size + 1);
    if (size > 0) memcpy(copy.ranges.items, set->ranges.items, size);
    copy.ranges.count = copy.ranges.capacity = set->ranges.count;
    idset_release(set);
    return copy;
}

/* Adds two conditions: one for the tasks that wait, one for those that can never be met. */
static int add_by_task(struct resolver *r, const struct dependency_item *item, const struct dependency_target *t)
{
    struct idset waiting = {0}, failed = {0};
    const struct idset *tasks = r->row->id == 0 ? &r->row->array : &r->row->pending;
    for (uint32_t id = idset_first(tasks); id != NONE; id = idset_next(tasks, id)) {
        enum target_outcome outcome = dependency_target_outcome(r->c->s, t, id);
        enum dependency_state state = dependency_target_meets(item->type, outcome);
        if (state == DEPENDENCY_WAITS) idset_add(&waiting, id);
        if (state == DEPENDENCY_NEVER) idset_add(&failed, id);
    }
    struct dependency_item added = *item;
    bool has_waiting = waiting.ranges.count > 0, has_failed = failed.ranges.count > 0;
    added.tasks = cycle_set(r->c->s, &waiting);
    int status = has_waiting ? add_item(r, &added) : 0;
    added.tasks = cycle_set(r->c->s, &failed);
    added.is_failed = true;
    if (status == 0 && has_failed) status = add_item(r, &added);
    idset_release(&waiting);
    idset_release(&failed);
    return status;
}

/* Task by task an array waits for an array that has all its tasks; Grid Engine wants the same ones. */
static int check_by_task(struct resolver *r, const struct dependency_item *item, const struct dependency_target *t)
{
    struct idset rest = {0};
    const struct idset *theirs = dependency_target_tasks(t), *ours = &r->row->array;
    if (!r->row->is_array)
        return err_field(r->c->e, ERR_INPUT, field_name, "only an array can wait task by task for job %u",
                         item->job_id);
    if (!dependency_target_is_array(t))
        return err_field(r->c->e, ERR_INPUT, field_name, "job %u is not an array; it cannot be waited for task by task",
                         item->job_id);
    idset_copy(&rest, ours);
    idset_remove_all(&rest, theirs);
    uint32_t missing = idset_first(&rest);
    idset_release(&rest);
    if (missing == NONE && (item->type == DEPENDENCY_AFTERCORR || idset_count(ours) == idset_count(theirs))) return 0;
    if (missing == NONE)
        return err_field(r->c->e, ERR_INPUT, field_name, "array %u has other tasks; both need the same", item->job_id);
    return err_field(r->c->e, ERR_INPUT, field_name, "array %u has no task %u", item->job_id, missing);
}

static int add_whole(struct resolver *r, const struct dependency_item *item, const struct dependency_target *t)
{
    struct dependency_item added = *item;
    struct state *s = r->c->s;
    enum dependency_state state = dependency_target_meets(item->type, dependency_target_outcome(s, t, item->task_id));
    if (state == DEPENDENCY_MET && item->minutes > 0) {
        added.at_us = time_after(dependency_target_start_us(s, t, item->task_id, r->c->now_us), item->minutes);
        if (added.at_us > r->c->now_us) return add_item(r, &added);
    }
    if (state == DEPENDENCY_MET) {
        r->is_met = true;
        return 0;
    }
    added.is_failed = state == DEPENDENCY_NEVER;
    return add_item(r, &added);
}

static int fail_missing(struct resolver *r, uint32_t job_id)
{
    uint32_t last = r->c->s->next_job_id - 1;
    if (last == 0) return err_field(r->c->e, ERR_NOT_FOUND, field_name, "job %u does not exist; no job does", job_id);
    return err_field(r->c->e, ERR_NOT_FOUND, field_name, "job %u does not exist; the ids of jobs are 1 to %u", job_id,
                     last);
}

/* Whether the one who asks may know of the job. */
static bool is_visible(const struct resolver *r, const struct dependency_target *t)
{
    const struct state *s = r->c->s;
    const struct actor *actor = &r->event->actor;
    if ((visibility_hidden_from(s, actor) & PRIVATE_JOBS) == 0) return true;
    const char *user = t->end != NULL ? t->end->user : s->assocs.items[t->job->assoc].user;
    return user != NULL && !visibility_hides(s, actor, PRIVATE_JOBS, user);
}

/* Of a job that was removed from the history it is known that it has begun and ended, but not how. */
static int add_pruned(struct resolver *r, const struct dependency_item *item)
{
    if (item->type != DEPENDENCY_AFTER && item->type != DEPENDENCY_AFTERANY)
        return err_field(
            r->c->e, ERR_CONFLICT, field_name,
            "job %u ended long ago and is no longer in the history, so how it ended is not known; only after "
            "and afterany are met",
            item->job_id);
    r->is_met = true;
    return 0;
}

/* A condition about one job, by id. */
static int add_job(struct resolver *r, const struct dependency_item *given, uint32_t job_id)
{
    struct dependency_target t;
    struct dependency_item item = {
        .type = plain_type(given->type), .job_id = job_id, .task_id = given->task_id, .minutes = given->minutes};
    bool is_known = job_id < r->c->s->next_job_id && dependency_target_find(r->c->s, r->event, job_id, &t);
    bool is_hidden = is_known && !is_visible(r, &t);
    is_known &= !is_hidden;
    bool is_pruned = is_known && t.end != NULL && t.end->is_pruned;
    if ((!is_known || is_pruned) && may_be_missing(given->type)) {
        r->is_met = true;
        return 0;
    }
    if (is_hidden)
        return err_field(r->c->e, ERR_NOT_FOUND, field_name, "job %u does not exist, or is not yours", job_id);
    if (!is_known) return fail_missing(r, job_id);
    if (is_pruned) return add_pruned(r, &item);
    if (item.task_id != NONE && !dependency_target_is_array(&t))
        return err_field(r->c->e, ERR_INPUT, field_name, "job %u is not an array; it has no task %u", job_id,
                         item.task_id);
    if (item.task_id != NONE && !idset_has(dependency_target_tasks(&t), item.task_id))
        return err_field(r->c->e, ERR_INPUT, field_name, "array %u has no task %u", job_id, item.task_id);
    if (!dependency_is_by_task(item.type)) return add_whole(r, &item, &t);
    uint64_t key = map_key_of_pair(job_id, item.type);
    if (map_get_u64(&r->by_task, key) != NONE) return 0;
    map_set_u64(&r->by_task, key, 0);
    return check_by_task(r, &item, &t) == 0 ? add_by_task(r, &item, &t) : -1;
}

static bool is_pattern(struct str name)
{
    for (size_t i = 0; i < name.length; i++) {
        if (name.text[i] == '*' || name.text[i] == '?' || name.text[i] == '[') return true;
    }
    return false;
}

/* All live jobs of the user with a name, or, for hold_jid, with one that fits a pattern. */
static int add_named(struct resolver *r, const struct dependency_item *item)
{
    struct state *s = r->c->s;
    const char *name = arena_copy(&s->cycle, item->name);
    bool is_for_all = may_be_missing(item->type) && is_pattern(item->name), found = false;
    const struct name_group *group = is_for_all ? NULL : name_groups_find(s, r->user, name);
    if (is_for_all && ++r->pattern_count > PATTERNS_MAX)
        return err_field(r->c->e, ERR_INPUT, field_name, "more than %d patterns of names", PATTERNS_MAX);
    uint32_t count = is_for_all ? s->jobs.count : group != NULL ? group->job_ids.count : 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = is_for_all ? i : state_find_job(s, group->job_ids.items[i]);
        const struct job *j = index != NONE ? &s->jobs.items[index] : NULL;
        if (j == NULL || j->id == r->row->id) continue;
        if (strcmp(s->assocs.items[j->assoc].user, r->user) != 0) continue;
        bool fits = is_for_all && expression_is_satisfied(item->name, str(j->text->name), EXPRESSION_CASE_COUNTS);
        if (!name_groups_is_of(s, j, r->user, fits ? j->text->name : name)) continue;
        found = true;
        if (add_job(r, item, j->id) != 0) return -1;
    }
    if (!found && may_be_missing(item->type)) r->is_met = true;
    if (found || may_be_missing(item->type)) return 0;
    return err_field(r->c->e, ERR_NOT_FOUND, field_name,
                     "no pending or running job of user '%s' has the name '%s'; a name or an id of a job is accepted",
                     r->user, name);
}

/* Only jobs with smaller ids count; a submission has the largest. */
static int add_singleton(struct resolver *r, const struct dependency_item *item)
{
    uint32_t first = name_groups_first(r->c->s, r->user, r->row->text->name);
    if (first != NONE && (r->row->id == 0 || r->c->s->jobs.items[first].id < r->row->id)) return add_item(r, item);
    r->is_met = true;
    return 0;
}

static int add_given(struct resolver *r, const struct dependency_item *item)
{
    if (item->type == DEPENDENCY_SINGLETON)
        return add_singleton(r, &(struct dependency_item){.type = item->type, .task_id = NONE});
    return item->name.text != NULL ? add_named(r, item) : add_job(r, item, item->job_id);
}

int dependencies_resolve(struct apply_context *c, const struct event *event, const char *user, struct job *row)
{
    struct state *s = c->s;
    struct dependency_list given, *list = arena_alloc(&s->cycle, sizeof *list);
    const char *text = given_text(event);
    int status = dependency_text_parse(str(text != NULL ? text : ""), &s->cycle, &given, c->e);
    struct resolver r = {.c = c, .event = event, .user = user, .row = row, .is_any = given.is_any};
    for (uint32_t i = 0; status == 0 && i < given.count; i++) status = add_given(&r, &given.items[i]);
    row->dependency = NULL;
    if (status == 0 && r.items.count > 0 && !(r.is_any && r.is_met)) {
        *list = (struct dependency_list){.count = r.items.count, .is_any = r.is_any && r.items.count > 1};
        list->items = arena_alloc(&s->cycle, r.items.count * sizeof *list->items);
        memcpy(list->items, r.items.items, r.items.count * sizeof *list->items);
        for (uint32_t i = 0; i < list->count; i++) list->items[i].position = i;
        dependency_list_count(list);
        row->dependency = list;
    }
    array_release(&r.items);
    map_release(&r.by_task);
    return status;
}

int dependencies_check_circle(struct apply_context *c, uint32_t index, const struct job *row)
{
    struct buf text = {0};
    if (!dependency_circles_find(c->s, index, row, &text)) return 0;
    (void)err_field(c->e, ERR_CONFLICT, field_name, "job %u would wait for itself: %s", row->id, text.text);
    buf_release(&text);
    return -1;
}

/* --- what is met -------------------------------------------------------------------------------------------------- */

static bool is_killed(const struct state *s)
{
    return setting_number(&s->settings, SET_KILL_INVALID_DEPEND) != 0;
}

/* With kill_invalid_depend, cancels what of a job can never start. */
static void cancel_failed(struct apply_context *c, uint32_t index)
{
    struct job *j = &c->s->jobs.items[index];
    struct idset tasks = {0}, rest = {0};
    if (j->dependency == NULL || j->ended_us != 0 || idset_first(&j->pending) == NONE) return;
    if (dependency_list_is_failed(j->dependency)) {
        idset_copy(&tasks, &j->pending);
    } else {
        dependency_list_add_waiting(j->dependency, true, &tasks);
        idset_copy(&rest, &tasks);
        idset_remove_all(&rest, &j->pending);
        idset_remove_all(&tasks, &rest);
    }
    if (idset_first(&tasks) != NONE) {
        j->is_cancelled_by_rule = true;
        job_cancel_pending(c, index, &tasks);
    }
    idset_release(&tasks);
    idset_release(&rest);
}

static void cancel_failed_task(struct apply_context *c, uint32_t index, uint32_t task_id)
{
    struct job *j = &c->s->jobs.items[index];
    struct idset tasks = {0};
    if (!idset_has(&j->pending, task_id)) return;
    idset_add(&tasks, task_id);
    j->is_cancelled_by_rule = true;
    job_cancel_pending(c, index, &tasks);
    idset_release(&tasks);
}

/* Something that happened to a job in memory, or to a task of it: what it means is looked up once for all that wait. */
struct target_event {
    struct dependency_target target;
    uint32_t task_id; /* NONE: the whole job */
    enum target_outcome outcome;
    int64_t start_us; /* when it started; 0: not asked yet */
};

static int64_t start_of(const struct apply_context *c, struct target_event *t)
{
    if (t->start_us == 0) t->start_us = dependency_target_start_us(c->s, &t->target, t->task_id, c->now_us);
    return t->start_us;
}

/* What follows from a condition that changed. task_id: of one task by task the task that it does not wait for any more,
 * otherwise NONE. O(1), and O(conditions x log ranges) for a task. */
static void finish(struct apply_context *c, uint32_t index, uint32_t item, uint32_t task_id)
{
    struct job *j = &c->s->jobs.items[index];
    int64_t accrue_us = j->accrue_us;
    bool is_last = j->dependency->left == 0;
    if (is_last) {
        dependency_list_free(j->dependency);
        j->dependency = NULL;
        apply_note_change(c, TABLE_DEPENDENCY, index);
    } else {
        apply_note_condition(c, index, item);
    }
    if (is_last) job_waits_find_ready(j);
    if (!is_last && task_id != NONE) job_waits_find_ready_task(j, task_id);
    if (j->accrue_us == 0) j->accrue_us = job_waits_accrual_us(j, c->now_us);
    c->s->pass_is_due = true;
    if (is_last || j->accrue_us != accrue_us) apply_note_change(c, TABLE_JOB, index);
    if (task_id == NONE && is_killed(c->s)) cancel_failed(c, index);
}

/* The condition of a dependent that is about a target, or NULL: the entry is out of date. A job that has started has no
 * conditions any more, and one that was updated others. */
static struct dependency_item *find_condition(struct state *s, const struct dependent *d, uint32_t job_id,
                                              uint32_t *out_index)
{
    uint32_t index = state_find_job(s, d->job_id);
    struct dependency_list *list = index != NONE ? s->jobs.items[index].dependency : NULL;
    if (list == NULL || d->item >= list->count) return NULL;
    struct dependency_item *item = &list->items[d->item];
    *out_index = index;
    return item->job_id == job_id && !item->is_met && !item->is_failed && item->at_us == 0 ? item : NULL;
}

/* Looks at a condition about a target. Returns whether it still waits for it. */
static bool meet(struct apply_context *c, const struct dependent *d, struct target_event *t)
{
    uint32_t index;
    const struct dependency_item *item = find_condition(c->s, d, t->target.job->id, &index);
    if (item == NULL || item->task_id != t->task_id || dependency_is_by_task(item->type)) return false;
    enum dependency_state state = dependency_target_meets(item->type, t->outcome);
    struct dependency_list *list = c->s->jobs.items[index].dependency;
    if (state == DEPENDENCY_WAITS) return true;
    if (state == DEPENDENCY_NEVER)
        dependency_list_fail(list, d->item);
    else if (item->minutes == 0)
        dependency_list_meet(list, d->item);
    else
        dependency_list_set_time(list, d->item, time_after(start_of(c, t), item->minutes));
    finish(c, index, d->item, NONE);
    return false;
}

/* The jobs that wait for a whole job, or for a task of it. */
static void meet_all(struct apply_context *c, struct target_event *t)
{
    uint32_t job_id = t->target.job->id, entry = dependents_take(c->s, job_id, t->task_id);
    while (entry != NONE) {
        const struct dependent d = c->s->dependents->entries.items[entry];
        entry = dependents_take_next(c->s, entry);
        if (meet(c, &d, t)) dependents_register(c->s, job_id, t->task_id, d.job_id, d.item);
    }
}

/* Adds a task to the condition with the tasks that wait for ever. O(conditions) */
static void add_failed_task(struct apply_context *c, uint32_t index, const struct dependency_item *item,
                            uint32_t task_id)
{
    struct dependency_list *list = c->s->jobs.items[index].dependency;
    uint32_t at = 0;
    while (at < list->count && (list->items[at].type != item->type || list->items[at].job_id != item->job_id ||
                                !list->items[at].is_failed || list->items[at].is_met))
        at++;
    if (at == list->count) {
        struct dependency_item added = *item;
        added.is_failed = true;
        added.position = NONE;
        added.tasks = (struct idset){0};
        at = dependency_list_add(list, &added);
    }
    idset_add(&list->items[at].tasks, task_id);
    apply_note_condition(c, index, at);
}

/* A task has ended: the same task of an array that waits for it task by task. */
static void meet_by_task(struct apply_context *c, const struct dependent *d, const struct target_event *t)
{
    uint32_t index;
    struct dependency_item *item = find_condition(c->s, d, t->target.job->id, &index);
    if (item == NULL || !dependency_is_by_task(item->type)) return;
    enum dependency_state state = dependency_target_meets(item->type, t->outcome);
    if (state == DEPENDENCY_WAITS || !idset_remove(&item->tasks, t->task_id)) return;
    struct dependency_list *list = c->s->jobs.items[index].dependency;
    const struct dependency_item copy = *item;
    if (state == DEPENDENCY_NEVER) add_failed_task(c, index, &copy, t->task_id);
    if (copy.tasks.ranges.count == 0) dependency_list_meet(list, d->item);
    finish(c, index, d->item, t->task_id);
    if (state == DEPENDENCY_NEVER && is_killed(c->s)) cancel_failed_task(c, index, t->task_id);
}

static void meet_all_by_task(struct apply_context *c, const struct target_event *t)
{
    uint32_t entry = dependents_first(c->s, t->target.job->id, DEPENDENTS_BY_TASK);
    while (entry != NONE) {
        const struct dependent d = c->s->dependents->entries.items[entry];
        meet_by_task(c, &d, t);
        entry = d.next;
    }
}

/* Frees the singleton that is now first of its name. */
static void meet_singleton(struct apply_context *c, const char *user, const char *name)
{
    if (!name_groups_are_built(c->s)) return;
    uint32_t index = name_groups_first(c->s, user, name);
    if (index == NONE) return;
    uint32_t item;
    while ((item = dependency_list_find_singleton(c->s->jobs.items[index].dependency)) != NONE) {
        dependency_list_meet(c->s->jobs.items[index].dependency, item);
        finish(c, index, item, NONE);
    }
}

static void settle(struct apply_context *c, struct dependents_cause cause)
{
    struct state *s = c->s;
    struct target_event t = {.task_id = cause.task_id};
    if (!dependency_target_find(s, NULL, cause.job_id, &t.target)) return;
    t.outcome = dependency_target_outcome(s, &t.target, cause.task_id);
    meet_all(c, &t);
    if (cause.task_id != NONE) meet_all_by_task(c, &t);
    if (!cause.is_end) return;
    dependents_forget(s, cause.job_id);
    meet_singleton(c, s->assocs.items[t.target.job->assoc].user, t.target.job->text->name);
}

void dependencies_settle(struct apply_context *c)
{
    struct dependents_cause cause;
    while (dependents_next_cause(c->s, &cause)) settle(c, cause);
}

void dependencies_set(struct apply_context *c, uint32_t index)
{
    struct state *s = c->s;
    const struct job *j = &s->jobs.items[index];
    apply_note_change(c, TABLE_DEPENDENCY, index);
    if (j->dependency == NULL) return;
    if (dependency_list_find_singleton(j->dependency) != NONE) name_groups_build(s);
    dependents_add(s, j);
    if (is_killed(s)) cancel_failed(c, index);
}

void dependencies_named(struct apply_context *c, uint32_t index, const char *old_name)
{
    const struct job *j = &c->s->jobs.items[index];
    const char *user = c->s->assocs.items[j->assoc].user;
    name_groups_add(c->s, j);
    if (old_name == NULL) return;
    meet_singleton(c, user, old_name);
    meet_singleton(c, user, j->text->name);
}

void dependencies_apply_rule(struct apply_context *c)
{
    for (uint32_t i = 0; is_killed(c->s) && i < c->s->jobs.count; i++) cancel_failed(c, i);
}
