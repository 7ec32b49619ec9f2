/* Updates of a job that waits, or of the little that can change while it runs: the fields given (job_edit.h), what it
 * waits for, and what follows for limits, its priority and its place in the scheduler's list. */
#include <string.h>

#include "engine/dependencies.h"
#include "engine/job_control.h"
#include "engine/job_edit.h"
#include "engine/job_members.h"
#include "engine/job_waits.h"
#include "engine/limit_submit.h"
#include "engine/min_priority.h"
#include "engine/name_groups.h"
#include "engine/requested_resources.h"
#include "engine/time_limit.h"

static bool has_decisive_change(struct state *s, const struct job *old, const struct job *new)
{
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (job_field_rows[f].home != JOB_HOME_JOB || !job_field_rows[f].is_decisive) continue;
        const struct field_value before = job_member(s, old, f, &s->cycle), after = job_member(s, new, f, &s->cycle);
        if (!field_equal(job_field_at(f), &before, &after)) return true;
    }
    return false;
}

/* A copy in the cycle, because the row is replaced. NULL: the name is the same. */
static const char *old_name_of(struct state *s, const struct job *old, const struct job *new)
{
    return strcmp(old->text->name, new->text->name) != 0 ? arena_copy(&s->cycle, str(old->text->name)) : NULL;
}

/* Sets what the job waits for, if that is given and differs. */
static int set_dependency(struct apply_context *c, const struct event *event, uint32_t index, struct job *row,
                          bool *out_is_new)
{
    struct state *s = c->s;
    const struct job *j = &s->jobs.items[index];
    const struct job_values *given = event->update.values;
    const struct field_value old = job_member(s, j, JOB_FIELD_DEPENDENCY, &s->cycle);
    bool is_new =
        given->is_given[JOB_FIELD_DEPENDENCY] && strcmp(given->value[JOB_FIELD_DEPENDENCY].text, old.text) != 0;
    *out_is_new = is_new;
    if (is_new && dependencies_resolve(c, event, s->assocs.items[j->assoc].user, row) != 0) return -1;
    if (is_new || (strcmp(j->text->name, row->text->name) != 0 && name_groups_are_built(s)))
        return dependencies_check_circle(c, index, row);
    return 0;
}

/* A job that has to wait for others now has no age; one that waits no more begins to age. */
static void settle_dependency(struct apply_context *c, uint32_t index, bool is_new, const char *old_name)
{
    struct job *j = &c->s->jobs.items[index];
    job_waits_find_ready(j);
    int64_t accrual_us = job_waits_accrual_us(j, c->now_us);
    if (accrual_us == 0 || j->accrue_us == 0) j->accrue_us = accrual_us;
    if (is_new) dependencies_set(c, index);
    if (old_name != NULL) dependencies_named(c, index, old_name);
}

/* Of each resource by name, as of the CPUs, a job may ask for more than before. */
static bool requests_more(const struct job *row, const struct job *old)
{
    bool is_more = false;
    for (uint32_t i = 0; i < row->request_count && !is_more; i++) {
        uint32_t k = 0;
        while (k < old->request_count && old->requests[k].resource != row->requests[i].resource) k++;
        is_more = k == old->request_count || row->requests[i].amount > old->requests[k].amount;
    }
    return is_more;
}

static uint32_t nodes_of(const struct job *j)
{
    return j->placing != NULL ? j->placing->node_min : 0;
}

static bool job_asks_more(const struct job *row, const struct job *old)
{
    return row->request.cpus > old->request.cpus || row->request.mem_mib > old->request.mem_mib ||
           row->request.gpus > old->request.gpus || nodes_of(row) > nodes_of(old) || requests_more(row, old) ||
           (state_job_is_exclusive(row) && !state_job_is_exclusive(old));
}

static bool has_same_partitions(const struct job *a, const struct job *b)
{
    size_t size = a->partition_count * sizeof *a->partitions;
    return a->partition_count == b->partition_count && memcmp(a->partitions, b->partitions, size) == 0;
}

/* MaxWall does not count for a time limit that an operator changes. What a user asks for more may be refused as in a
 * submission, and so may a new QOS, partition or account. An operator may give others more, and any job more time. */
static int check_limits(struct apply_context *c, const struct actor *actor, const struct job *old, struct job *row)
{
    bool has_time = row->time_limit_s != old->time_limit_s && !row->lacks_time_limit;
    if (has_time) row->is_time_exempt = actor_may(actor, PERMISSION_JOB_FIELDS);
    c->result->is_time_exempt = has_time && row->is_time_exempt && limits_time_exceeds(c->s, row);
    bool is_moved = row->qos != old->qos || row->assoc != old->assoc || !has_same_partitions(row, old);
    bool is_owner = strcmp(actor->user, c->s->assocs.items[old->assoc].user) == 0;
    bool asks_more = (!actor_may(actor, PERMISSION_JOB_FIELDS) && row->time_limit_s > old->time_limit_s) ||
                     ((is_owner || !actor_may(actor, PERMISSION_JOB_FIELDS)) && job_asks_more(row, old));
    return is_moved || asks_more ? limit_submit_check_update(c, old, row, asks_more) : 0;
}

static int update(struct apply_context *c, const struct event *event)
{
    const struct event_update *wanted = &event->update;
    uint32_t index;
    bool is_new;
    if (job_control_find(c, &event->actor, (struct job_ref){wanted->job_id, NONE}, &index) != 0) return -1;
    struct job row = c->s->jobs.items[index];
    if (job_edit_update(c, &event->actor, &c->s->jobs.items[index], wanted->values, &row) != 0) return -1;
    if (set_dependency(c, event, index, &row, &is_new) != 0) return -1;
    const char *old_name = old_name_of(c->s, &c->s->jobs.items[index], &row);
    if (check_limits(c, &event->actor, &c->s->jobs.items[index], &row) != 0) return -1;
    if (has_decisive_change(c->s, &c->s->jobs.items[index], &row)) job_control_move_to_list_end(c->s, &row);
    bool is_restored = wanted->values->is_given[JOB_FIELD_TIME_LIMIT] &&
                       actor_may(&event->actor, PERMISSION_JOB_FIELDS) && time_limit_restore(c, index);
    bool has_new_time = is_restored || row.time_limit_s != c->s->jobs.items[index].time_limit_s;
    min_priority_update(c, index, &row);
    job_set_assoc(c->s, index, row.assoc);
    job_replace(c->s, index, &row);
    settle_dependency(c, index, is_new, old_name);
    if (has_new_time) time_limit_changed(c, index);
    c->s->pass_is_due = true;
    apply_note_change(c, TABLE_JOB, index);
    return 0;
}

int apply_update(struct apply_context *c, const struct event *event)
{
    uint32_t added = requested_resources_add(c, event->update.values);
    int status = update(c, event);
    requested_resources_settle(c, added, status != 0);
    return status;
}
