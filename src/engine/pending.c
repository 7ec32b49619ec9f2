#include "engine/pending.h"

#include <inttypes.h>
#include <string.h>

#include "base/ensure.h"
#include "base/text.h"
#include "engine/job_waits.h"

static struct pending *pending_of(struct state *s)
{
    if (s->pending == NULL) {
        s->pending = mem_resize(NULL, 0, sizeof *s->pending);
        *s->pending = (struct pending){0};
    }
    return s->pending;
}

static void free_groups(struct pending_job *job)
{
    if (job->group_count > 1) mem_free(job->group_list);
}

static void release_jobs(struct pending *p)
{
    for (uint32_t i = 0; i < p->jobs.count; i++) free_groups(&p->jobs.items[i]);
    array_clear(&p->groups);
    array_clear(&p->heads);
    array_clear(&p->firsts);
    array_clear(&p->tickets);
    array_clear(&p->jobs);
    array_clear(&p->unused);
    array_clear(&p->begins.list);
    array_clear(&p->touched);
    map_clear(&p->by_id);
    queue_clear(&p->queue);
}

void pending_free(struct pending *p)
{
    if (p == NULL) return;
    release_jobs(p);
    queue_release(&p->queue);
    array_release(&p->groups);
    array_release(&p->heads);
    array_release(&p->firsts);
    array_release(&p->tickets);
    array_release(&p->fitting.best.list);
    array_release(&p->blocked.best.list);
    array_release(&p->jobs);
    array_release(&p->unused);
    array_release(&p->begins.list);
    array_release(&p->touched);
    map_release(&p->by_id);
    buf_release(&p->key);
    mem_free(p);
}

void pending_invalidate(struct state *s)
{
    if (s->pending == NULL) return;
    release_jobs(s->pending);
    s->pending->is_valid = false;
}

void pending_touch(struct state *s, uint32_t job_id)
{
    if (s->pending != NULL && s->pending->is_valid) *array_add(&s->pending->touched) = job_id;
}

/* --- begins ------------------------------------------------------------------------------------------------------- */

/* Whether most entries are of jobs that have changed since. */
static bool has_old_begins(const struct pending *p, const struct state *s)
{
    enum { FEW_BEGINS = 64 };
    return p->begins.list.count > FEW_BEGINS + 2 * s->jobs.count;
}

int64_t pending_next_begin_us(const struct state *s)
{
    return s->pending != NULL && s->pending->begins.list.count > 0 ? s->pending->begins.list.items[0].at_us : 0;
}

/* --- groups ------------------------------------------------------------------------------------------------------- */

/* The time from which a job's age counts, where that is not its submission: ids are in order of submission, so older
 * jobs have smaller ids. */
static int64_t irregular_accrual(const struct job *j)
{
    return j->accrue_us == j->submit_us ? 0 : j->accrue_us;
}

static void add_numbers(struct buf *key, const int64_t *numbers, size_t count)
{
    buf_add(key, (const char *)numbers, count * sizeof *numbers);
}

/* Requests differ by their amounts, and those for texts by their texts. */
static void add_requests(struct buf *key, const struct job_request *requests, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        add_numbers(key, &(int64_t){requests[i].resource}, 1);
        buf_add(key, (const char *)&requests[i].amount, sizeof requests[i].amount);
        buf_add(key, requests[i].text, strlen(requests[i].text) + 1);
    }
}

static void add_placing(struct buf *key, const struct job_placing *placing)
{
    const char *const texts[] = {placing->queues, placing->master_queues, placing->soft_queues, placing->constraint};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = texts[i] != NULL ? texts[i] : "";
        buf_add(key, text, strlen(text) + 1);
    }
    const int64_t numbers[] = {
        placing->node_min,      placing->node_max,     placing->slots_per_node, (int64_t)placing->mem_mib_per_cpu,
        placing->gpus_per_slot, placing->is_exclusive, placing->soft_count};
    add_numbers(key, numbers, sizeof numbers / sizeof *numbers);
    add_requests(key, placing->soft, placing->soft_count);
}

/* Everything that decides whether a job fits, and its priority. */
static void make_key(struct pending *p, const struct job *j, uint32_t partition)
{
    const int64_t numbers[] = {partition,
                               j->assoc,
                               j->qos,
                               j->project,
                               j->environment,
                               j->is_reserving,
                               j->is_time_exempt,
                               j->has_default_time,
                               j->request.cpus,
                               j->request.gpus,
                               (int64_t)j->request.mem_mib,
                               j->slots_max,
                               j->time_limit_s,
                               j->time_min_s,
                               j->set_priority,
                               j->nice,
                               j->site,
                               irregular_accrual(j),
                               j->posix_priority,
                               j->deadline_us,
                               j->job_share,
                               j->override_tickets,
                               j->is_array,
                               (int64_t)j->partition_count,
                               p->are_alike ? 0 : j->id};
    buf_clear(&p->key);
    add_numbers(&p->key, numbers, sizeof numbers / sizeof *numbers);
    for (uint32_t i = 0; i < j->partition_count; i++) add_numbers(&p->key, &(int64_t){j->partitions[i]}, 1);
    add_requests(&p->key, j->requests, j->request_count);
    if (j->placing != NULL) add_placing(&p->key, j->placing);
}

static bool may_start(const struct job *j)
{
    return j->ended_us == 0 && !j->is_held && idset_first(job_waits_ready_tasks(j)) != NONE;
}

/* Describes a new group by its first job. */
static void describe_group(struct pending *p, uint32_t index, const struct job *j, uint32_t place)
{
    while (p->groups.count <= index) {
        *array_add(&p->groups) = (struct pending_group){0};
        *array_add(&p->heads) = (struct pending_head){0};
        *array_add(&p->firsts) = (struct pending_first){0};
        *array_add(&p->tickets) = (struct pending_tickets){0};
    }
    p->tickets.items[index] = (struct pending_tickets){.edition = NONE};
    struct pending_group *g = &p->groups.items[index];
    *g = (struct pending_group){.partition = j->partitions[place],
                                .place = place,
                                .assoc = j->assoc,
                                .qos = j->qos,
                                .has_more_partitions = j->partition_count > 1,
                                .has_arrays = j->is_array,
                                .has_own_tickets = j->job_share > 0 || j->override_tickets > 0,
                                .is_reserving = j->is_reserving};
}

/* Another job may be its first one, or its last one. */
static void change_group(struct pending *p, uint32_t group)
{
    p->heads.items[group].edition = 0;
    p->tickets.items[group].has_ends = false;
}

static uint32_t add_to_group(struct pending *p, const struct job *j, uint32_t place)
{
    make_key(p, j, j->partitions[place]);
    uint32_t group = queue_add(&p->queue, (struct str){p->key.text, p->key.length}, j->id, j->id, j->submit_us);
    if (p->queue.groups.items[group].live == 1) describe_group(p, group, j, place);
    change_group(p, group);
    return group;
}

static void add_job(struct pending *p, const struct job *j)
{
    uint32_t index = p->jobs.count;
    if (p->unused.count > 0)
        index = p->unused.items[--p->unused.count];
    else
        (void)array_add(&p->jobs);
    struct pending_job *job = &p->jobs.items[index];
    *job = (struct pending_job){.job_id = j->id, .group_count = j->partition_count};
    if (job->group_count > 1) job->group_list = mem_resize(NULL, 0, j->partition_count * sizeof *job->group_list);
    uint32_t *groups = job->group_count > 1 ? job->group_list : &job->only_group;
    for (uint32_t i = 0; i < j->partition_count; i++) groups[i] = add_to_group(p, j, i);
    p->added++;
    map_set_u64(&p->by_id, j->id, index);
}

static void remove_job(struct pending *p, uint32_t job_id)
{
    uint32_t index = map_get_u64(&p->by_id, job_id);
    if (index == NONE) return;
    struct pending_job *job = &p->jobs.items[index];
    for (uint32_t i = 0; i < job->group_count; i++) {
        queue_remove(&p->queue, pending_job_group(job, i), job_id);
        change_group(p, pending_job_group(job, i));
    }
    free_groups(job);
    *job = (struct pending_job){0};
    *array_add(&p->unused) = index;
    ensure(map_remove_u64(&p->by_id, job_id));
}

/* Whether a job that is there has the groups that it should have. */
static bool is_in_its_groups(struct pending *p, const struct job *j)
{
    uint32_t index = map_get_u64(&p->by_id, j->id);
    if (index == NONE) return false;
    const struct pending_job *job = &p->jobs.items[index];
    bool is_equal = job->group_count == j->partition_count;
    for (uint32_t i = 0; is_equal && i < j->partition_count; i++) {
        make_key(p, j, j->partitions[i]);
        is_equal = map_get(&p->queue.by_key, (struct str){p->key.text, p->key.length}) == pending_job_group(job, i);
    }
    return is_equal;
}

/* Ids are in the order of submission, but the clock may have been set back in between. */
static void note_submission(struct pending *p, const struct job *j)
{
    if (j->id <= p->newest_job_id) return;
    p->is_unsteady |= j->submit_us < p->newest_submit_us;
    p->newest_job_id = j->id;
    p->newest_submit_us = j->submit_us;
}

static void update_job(struct state *s, struct pending *p, uint32_t job_id, int64_t now_us)
{
    uint32_t index = state_find_job(s, job_id);
    const struct job *j = index != NONE ? &s->jobs.items[index] : NULL;
    int64_t eligible_us = j != NULL ? job_waits_eligible_us(j) : 0;
    bool belongs = j != NULL && may_start(j) && eligible_us <= now_us;
    if (j != NULL) note_submission(p, j);
    if (belongs && is_in_its_groups(p, j)) return;
    remove_job(p, job_id);
    if (belongs)
        add_job(p, j);
    else if (j != NULL && may_start(j) && eligible_us != INT64_MAX)
        time_heap_push(&p->begins, eligible_us, job_id);
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static void list_begins(struct state *s, struct pending *p, int64_t now_us)
{
    array_clear(&p->begins.list);
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *j = &s->jobs.items[i];
        int64_t eligible_us = job_waits_eligible_us(j);
        if (may_start(j) && eligible_us > now_us && eligible_us != INT64_MAX)
            time_heap_push(&p->begins, eligible_us, j->id);
    }
}

static void rebuild(struct state *s, struct pending *p, int64_t now_us, bool are_alike)
{
    release_jobs(p);
    p->is_valid = true;
    p->are_alike = are_alike;
    p->is_unsteady = false;
    p->newest_job_id = 0;
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        note_submission(p, &s->jobs.items[i]);
        if (may_start(&s->jobs.items[i])) update_job(s, p, s->jobs.items[i].id, now_us);
    }
}

void pending_update(struct state *s, int64_t now_us, bool are_alike)
{
    struct pending *p = pending_of(s);
    if (!p->is_valid || p->are_alike != are_alike) {
        rebuild(s, p, now_us, are_alike);
        return;
    }
    for (uint32_t i = 0; i < p->touched.count; i++) update_job(s, p, p->touched.items[i], now_us);
    array_clear(&p->touched);
    while (p->begins.list.count > 0 && p->begins.list.items[0].at_us <= now_us)
        update_job(s, p, (uint32_t)time_heap_pop(&p->begins).id, now_us);
    if (has_old_begins(p, s)) list_begins(s, p, now_us);
}

bool pending_update_if_many(struct state *s, int64_t now_us, bool are_alike)
{
    enum { FEW_CHANGES = 1000 };
    if (s->pending == NULL || s->pending->touched.count < FEW_CHANGES) return false;
    pending_update(s, now_us, are_alike);
    s->pending->jobs_started = 0;
    return true;
}
