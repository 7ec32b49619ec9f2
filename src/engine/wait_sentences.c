/* The steps of Grid Engine's scheduler, with a sentence for each thing that fails:
 *
 *     for all jobs    queue instances that take none: down, overloaded, disabled, full        WAIT_IN_PASS only
 *     for the job     held, begins later
 *                     queues as a whole: -q, time limit, user lists
 *                     instances: closed, -q, features, master queues
 *                     what the whole cluster has, then each host, then each instance
 *                     the slots of its parallel environment */
#include "engine/wait_sentences.h"

#include <string.h>

#include "engine/closed_times.h"
#include "engine/queue_list.h"
#include "engine/quota_usage.h"
#include "engine/requeue.h"
#include "engine/task_delays.h"
#include "engine/wait_list.h"
#include "fields/dependency_text.h"
#include "sched/place.h"

/* Why an instance takes no job at all, in the order in which Grid Engine looks; DROPPED_NOT: it may. */
enum dropped { DROPPED_NOT, DROPPED_UNAVAILABLE, DROPPED_OVERLOADED, DROPPED_DISABLED, DROPPED_CLOSED, DROPPED_FULL };

static const struct sched_instance *instance_at(const struct wait_list *l, uint32_t instance)
{
    return &l->v->m->cluster.instances.items[instance];
}

static bool is_closed(const struct wait_list *l, uint32_t instance)
{
    return closed_times_end(l->v->s, l->v->m->partition_of[instance], l->v->now_us) != 0;
}

static bool is_full(const struct wait_list *l, uint32_t instance)
{
    const struct offer *slots = offers_find(&instance_at(l, instance)->offers, SCHED_SLOTS);
    return slots != NULL && timeline_at(&slots->booked, l->v->now_us) > timeline_limit(slots->amount, 1.0);
}

static bool is_unavailable(const struct wait_list *l, uint32_t instance)
{
    return l->v->m->state_of[instance] == HOST_DOWN || !cluster_model_is_attached(l->v->m, l->v->s, instance);
}

static enum dropped drop_in_pass(const struct wait_list *l, uint32_t instance)
{
    const struct wait_view *v = l->v;
    if (is_unavailable(l, instance)) return DROPPED_UNAVAILABLE;
    if (load_threshold_find_passed(&v->m->cluster, v->load, instance, v->now_us) != NULL) return DROPPED_OVERLOADED;
    if (v->m->state_of[instance] == HOST_DRAINED) return DROPPED_DISABLED;
    if (is_closed(l, instance)) return DROPPED_CLOSED;
    return is_full(l, instance) ? DROPPED_FULL : DROPPED_NOT;
}

/* To `qalter -w p` all states look alike, and a load that is too high does not count. */
static enum dropped drop_of(const struct wait_list *l, uint32_t instance)
{
    if (l->question == WAIT_IN_PASS) return drop_in_pass(l, instance);
    if (l->question == WAIT_EMPTY) return instance_at(l, instance)->is_off ? DROPPED_UNAVAILABLE : DROPPED_NOT;
    bool is_down = is_unavailable(l, instance) || l->v->m->state_of[instance] != HOST_UP || is_closed(l, instance);
    return is_down ? DROPPED_UNAVAILABLE : DROPPED_NOT;
}

/* --- what holds for all jobs -------------------------------------------------------------------------------------- */

static void add_dropped(struct wait_list *l, uint32_t instance, const char *why)
{
    buf_format(&l->text, "queue instance \"%s\" dropped because it is %s", instance_at(l, instance)->name, why);
    (void)wait_list_add(l);
}

static void add_overloaded(struct wait_list *l, uint32_t instance)
{
    const struct wait_view *v = l->v;
    buf_format(&l->text, "queue instance \"%s\" dropped because it is overloaded: ", instance_at(l, instance)->name);
    wait_needs_add_threshold(l, instance, load_threshold_find_passed(&v->m->cluster, v->load, instance, v->now_us));
    (void)wait_list_add(l);
}

/* No sentence names an instance that no job could have: its partition has left the host, or the host is none of the
 * cluster. */
static bool is_gone(const struct wait_list *l, uint32_t instance)
{
    return l->v->m->has_left[instance] || cluster_model_is_outside(l->v->m, l->v->s, instance);
}

/* A job that names partitions is told of no other. */
static bool is_asked_for(const struct wait_list *l, uint32_t instance)
{
    uint32_t partition = l->v->m->partition_of[instance];
    return job_demand_partition_limit(l->v->demands, l->j, NONE, partition) != LIMIT_PARTITION;
}

static void add_all_of(struct wait_list *l, const uint8_t *drops, enum dropped which)
{
    static const char *const why[] = {[DROPPED_UNAVAILABLE] = "temporarily not available",
                                      [DROPPED_DISABLED] = "disabled",
                                      [DROPPED_CLOSED] = "disabled",
                                      [DROPPED_FULL] = "full"};
    for (uint32_t i = 0; i < l->v->m->cluster.instances.count; i++) {
        if (drops[i] != which || is_gone(l, i) || !is_asked_for(l, i)) continue;
        if (which == DROPPED_OVERLOADED)
            add_overloaded(l, i);
        else
            add_dropped(l, i, why[which]);
    }
}

/* Whether work keeps jobs from an instance, and not only an operator, a calendar or a failure. */
static bool is_busy(const struct wait_list *l, const uint8_t *drops)
{
    bool found = false;
    for (uint32_t i = 0; i < l->v->m->cluster.instances.count && !found; i++)
        found = !is_gone(l, i) && (drops[i] == DROPPED_OVERLOADED || drops[i] == DROPPED_FULL);
    return found;
}

/* Whether an instance of the cluster is dropped, also one of a partition that the job does not name. */
static bool has_dropped(const struct wait_list *l)
{
    bool found = false;
    for (uint32_t i = 0; i < l->v->m->cluster.instances.count && !found; i++) found = !is_gone(l, i);
    return found;
}

/* Returns whether an instance is left. */
static bool add_global(struct wait_list *l, const uint8_t *drops)
{
    bool is_left = false;
    for (int which = DROPPED_UNAVAILABLE; which <= DROPPED_FULL; which++) add_all_of(l, drops, (enum dropped)which);
    for (uint32_t i = 0; i < l->v->m->cluster.instances.count && !is_left; i++)
        is_left = drops[i] == DROPPED_NOT && !is_gone(l, i);
    return is_left;
}

/* --- what the job may use ----------------------------------------------------------------------------------------- */

static bool is_listed(const struct wait_list *l, uint32_t instance)
{
    const struct job_placing *p = l->j->placing;
    return p == NULL || p->queues == NULL || queue_list_has(l->v->s, l->v->m, p->queues, instance);
}

static const struct object *partition_at(const struct wait_list *l, uint32_t partition)
{
    return &l->v->s->objects[OBJECT_PARTITION].items[partition].object;
}

static void add_not_listed(struct wait_list *l, const char *name)
{
    buf_format(&l->text, "cannot run in queue \"%s\" because it is not contained in its hard queue list (-q)", name);
    (void)wait_list_add(l);
}

/* What the partition asks of its jobs, and the job does not give. Grid Engine knows only a run time that was requested,
 * and names no limit. */
static void add_own_limit(struct wait_list *l, uint32_t partition, enum place_limit limit)
{
    const char *name = partition_at(l, partition)->name;
    if (limit == LIMIT_MAX_TIME && strstr(l->requests, "h_rt=") != NULL) {
        buf_format(&l->text, "%s cannot run in queue \"%s\" because of cluster queue", l->requests, name);
    } else {
        buf_format(&l->text, "cannot run in queue \"%s\" because ", name);
        partition_limits_text(l->v->s, l->j, partition, limit, &l->text);
        buf_format(&l->text, " (%s)", pending_reason_name(partition_limits_reason(limit)));
    }
    (void)wait_list_add(l);
}

/* The instances of a partition that count for a sentence about all of it. */
struct queue_count {
    uint32_t seen, listed;
};

/* A sentence if the whole partition is closed to the job. Returns whether it is, also without one. */
static bool add_queue(struct wait_list *l, uint32_t partition, struct queue_count count)
{
    const char *name = partition_at(l, partition)->name;
    enum place_limit limit = job_demand_partition_limit(l->v->demands, l->j, NONE, partition);
    if (count.seen == 0 || limit == LIMIT_PARTITION) return true;
    if (count.listed == 0) {
        add_not_listed(l, name);
    } else if (partition_limits_is_own(limit)) {
        add_own_limit(l, partition, limit);
    } else if (limit == LIMIT_USERS) {
        buf_format(&l->text, "has no permission for cluster queue \"%s\"", name);
        (void)wait_list_add(l);
    }
    return count.listed == 0 || limit != LIMIT_NONE;
}

/* A job that asks for a reservation may have one where it could not start now. */
static bool is_seen(const struct wait_list *l, const uint8_t *drops, uint32_t instance)
{
    bool may_reserve = l->question == WAIT_IN_PASS && l->j->is_reserving;
    if (is_gone(l, instance)) return false;
    if (l->question != WAIT_IN_PASS || drops[instance] == DROPPED_NOT) return true;
    return may_reserve && (drops[instance] == DROPPED_FULL || drops[instance] == DROPPED_CLOSED);
}

static struct queue_count count_instances(const struct wait_list *l, const uint8_t *drops, uint32_t partition)
{
    struct queue_count count = {0};
    for (uint32_t i = 0; i < l->v->m->cluster.instances.count; i++) {
        if (l->v->m->partition_of[i] != partition || is_gone(l, i)) continue;
        count.seen += is_seen(l, drops, i);
        count.listed += is_listed(l, i);
    }
    return count;
}

static bool has_environment(const struct wait_list *l, uint32_t instance)
{
    bool found = job_demands_environment(l->v->demands, l->j) == NULL;
    for (uint32_t i = 0; i < l->d->environment_count && !found; i++) {
        const uint64_t *set = l->v->m->cluster.environments.items[l->d->environments[i]].instances;
        found = set == NULL || (set[instance / 64] >> instance % 64 & 1) != 0;
    }
    return found;
}

/* Whether the job may have slots of an instance of a partition that it may use; else a sentence says why not. */
static bool add_instance(struct wait_list *l, const uint8_t *drops, uint32_t instance)
{
    const char *name = instance_at(l, instance)->name;
    bool is_serial = demand_is_serial(l->d);
    if (l->question != WAIT_IN_PASS && drops[instance] != DROPPED_NOT) {
        add_dropped(l, instance, "temporarily not available");
        return false;
    }
    switch (job_demand_instance_limit(l->v->demands, l->j, is_serial, instance)) {
    case LIMIT_QUEUES: add_not_listed(l, name); return false;
    case LIMIT_CONSTRAINT:
        buf_format(&l->text, "cannot run at host \"%s\" because it does not have the features %s (--constraint)",
                   l->v->m->cluster.hosts.items[instance_at(l, instance)->host].name, l->j->placing->constraint);
        (void)wait_list_add(l);
        return false;
    case LIMIT_MASTER_QUEUES:
        buf_format(&l->text,
                   "cannot run in queue \"%s\" because it is not contained in its master queue list (-masterq)", name);
        (void)wait_list_add(l);
        return false;
    default: return drops[instance] == DROPPED_NOT && has_environment(l, instance);
    }
}

/* The instances that nothing but amounts and values keeps the job from. */
static uint32_t *list_open(struct wait_list *l, const uint8_t *drops, uint32_t *out_count)
{
    const struct cluster_model *m = l->v->m;
    uint32_t *open = arena_alloc(l->arena, (m->cluster.instances.count + (size_t)1) * sizeof *open);
    *out_count = 0;
    for (uint32_t p = 0; p < l->v->s->objects[OBJECT_PARTITION].count; p++) {
        if (l->v->s->objects[OBJECT_PARTITION].items[p].is_deleted) continue;
        if (add_queue(l, p, count_instances(l, drops, p))) continue;
        for (uint32_t i = 0; i < m->cluster.instances.count; i++) {
            if (m->partition_of[i] != p || !is_seen(l, drops, i)) continue;
            if (add_instance(l, drops, i)) open[(*out_count)++] = i;
        }
    }
    return open;
}

/* --- what is free ------------------------------------------------------------------------------------------------- */

/* Overloaded instances are not among those that are left to a pass, and count for the other questions. */
static bool place_in(const struct wait_list *l, const struct demand *d, const uint32_t *open, uint32_t count,
                     uint32_t *out_slots)
{
    struct cluster *c = &l->v->m->cluster;
    const struct place_scope scope = {.instances = open, .count = count};
    const struct window window = window_of(d, l->question == WAIT_EMPTY ? 0 : l->v->now_us);
    bool *was_overloaded = arena_alloc(l->arena, c->instances.count + (size_t)1);
    struct allocation a;
    for (uint32_t i = 0; i < c->instances.count; i++) {
        was_overloaded[i] = c->instances.items[i].is_overloaded;
        c->instances.items[i].is_overloaded = false;
    }
    bool fits = place_job(c, d, window, &scope, l->arena, &a);
    for (uint32_t i = 0; i < c->instances.count; i++) c->instances.items[i].is_overloaded = was_overloaded[i];
    if (fits) *out_slots = a.slots;
    return fits;
}

/* The most slots that the job could have on the instances, at most those it asks for. */
static uint32_t offered_together(const struct wait_list *l, const uint32_t *open, uint32_t count)
{
    const struct slot_range fewer = {1, l->d->ranges[0].min};
    struct demand other = *l->d;
    uint32_t slots = 0;
    other.ranges = &fewer;
    other.range_count = 1;
    (void)place_in(l, &other, open, count, &slots);
    return slots;
}

/* How many slots an environment has for the job, as Grid Engine counts them: none if all have to be on one host, if the
 * number is no multiple of a fixed one, or if the environment itself has too few. */
static uint32_t offered_in(const struct wait_list *l, const struct sched_environment *e, const uint32_t *open,
                           uint32_t count)
{
    uint32_t min = l->d->ranges[0].min;
    const struct offer *own = offers_find(&e->offers, SCHED_SLOTS);
    bool is_fixed = e->rule == ALLOCATE_FIXED;
    bool is_short = own != NULL && timeline_at(&own->booked, l->v->now_us) > timeline_limit(own->amount, min);
    if (e->rule == ALLOCATE_ONE_HOST || is_short || (is_fixed && min % e->slots_per_host != 0)) return 0;
    return offered_together(l, open, count);
}

/* A job on several hosts, without an environment: slots are short, or the hosts. */
static void add_hosts(struct wait_list *l, const uint32_t *open, uint32_t count)
{
    uint32_t slots = offered_together(l, open, count), hosts = l->d->host_min;
    const char *ending = hosts == 1 ? "" : "s";
    if (slots > 0)
        buf_format(&l->text, "cannot run on %u host%s because only %u of %u slots are free together", hosts, ending,
                   slots, l->d->ranges[0].min);
    else
        buf_format(&l->text, "cannot run on %u host%s because too few are free together", hosts, ending);
    (void)wait_list_add(l);
}

/* A job on several hosts, with or without an environment, does not fit on those that are open to it. Where none is, the
 * sentences before say why. */
static void add_parallel(struct wait_list *l, const uint32_t *open, uint32_t count)
{
    const struct cluster *c = &l->v->m->cluster;
    for (uint32_t i = 0; i < l->d->environment_count; i++) {
        const struct sched_environment *e = &c->environments.items[l->d->environments[i]];
        buf_format(&l->text, "cannot run in PE \"%s\" because it only offers %u slots", e->name,
                   offered_in(l, e, open, count));
        (void)wait_list_add(l);
    }
    if (l->d->environment_count == 0 && (count > 0 || l->items.count == 0)) add_hosts(l, open, count);
}

/* Whether the sentences for all jobs name an instance of the job's partitions. */
static bool is_named(const struct wait_list *l, const uint8_t *drops)
{
    const struct cluster_model *m = l->v->m;
    bool found = false;
    for (uint32_t i = 0; i < m->cluster.instances.count && l->question == WAIT_IN_PASS && !found; i++)
        found = drops[i] != DROPPED_NOT && !is_gone(l, i) &&
                job_demand_partition_limit(l->v->demands, l->j, NONE, m->partition_of[i]) == LIMIT_NONE;
    return found;
}

/* A quota with a pool for each of 10^4 hosts has as many sentences, and a job may have a hundred such quotas. */
enum { QUOTA_SENTENCES_MAX = 1000 };

/* Whether resource quotas keep the job back: of an instance; NONE: of all where it may run. Says which. Grid Engine
 * does not say the amounts, so the answers for documents do not. */
static bool add_quotas(struct wait_list *l, uint32_t instance)
{
    struct quota_blocker *items;
    uint32_t left = QUOTA_SENTENCES_MAX - l->quota_count;
    uint32_t count = quota_usage_blockers(l->v->m, l->d, instance, l->v->now_us, left + 1, l->arena, &items);
    for (uint32_t i = 0; i < count && i < left; i++) {
        buf_format(&l->text, "cannot run because it exceeds limit \"%s\" in rule \"%s\"", items[i].pool, items[i].rule);
        if (!l->v->s->is_document) quota_usage_add_amounts(&items[i], &l->text);
        l->quota_count += wait_list_add(l);
    }
    if (count > left) {
        buf_add_text(&l->text, "cannot run because it exceeds limits of more quotas, which are not listed");
        (void)wait_list_add(l);
    }
    return count > 0;
}

/* In a pass Grid Engine looks at what the whole cluster and quotas have before it looks at queues. Of a parallel job
 * one slot is looked for on each instance. */
static void add_amounts(struct wait_list *l, const uint8_t *drops, struct wait_sentences *out)
{
    bool is_serial = demand_is_serial(l->d), is_global = true;
    uint32_t min = l->d->ranges[0].min, count, before = l->items.count;
    if (l->question == WAIT_IN_PASS && (!wait_needs_check_global(l, min) || add_quotas(l, NONE))) return;
    uint32_t *open = list_open(l, drops, &count);
    if (l->question != WAIT_IN_PASS) is_global = wait_needs_check_global(l, min) && !add_quotas(l, NONE);
    for (uint32_t i = 0; i < count && is_global; i++) {
        if (!add_quotas(l, open[i])) (void)wait_needs_check_instance(l, open[i], is_serial ? min : 1);
    }
    if (!is_global) return;
    out->is_possible = place_in(l, l->d, open, count, &out->slots);
    if (!is_serial && !out->is_possible) add_parallel(l, open, count);
    if (out->is_possible || l->items.count > before || is_named(l, drops)) return;
    buf_add_text(&l->text, "cannot run in any queue instance that is left");
    (void)wait_list_add(l);
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

/* A document may also say that it cannot know when ("eligible": null). */
static bool waits_for_jobs(const struct wait_list *l)
{
    if (l->v->s->is_document && l->j->begin_us == INT64_MAX) return true;
    return dependency_list_state(l->j->dependency, &l->j->pending, l->v->now_us) != DEPENDENCY_MET;
}

static void add_dependencies(struct wait_list *l)
{
    const struct dependency_list *list = l->j->dependency;
    buf_add_text(&l->text, "job dropped because of job dependencies");
    if (dependency_list_state(list, &l->j->pending, l->v->now_us) != DEPENDENCY_NEVER) return;
    buf_add_text(&l->text, " that can never be met: ");
    dependency_text_show(list, l->v->now_us, &l->text);
}

/* By a user or an operator, or all of its tasks that could be tried, each for itself. */
static bool is_held(const struct job *j)
{
    return j->is_held || (j->waits_by_task && idset_first(&j->ready) == NONE && task_delays_has_held(j));
}

/* Of a plain job of an instance also that it was requeued too often. */
static void add_hold(struct wait_list *l)
{
    bool is_plain = !l->v->s->is_document && !l->j->is_array && l->j->is_held_by_operator;
    uint32_t max = is_plain ? requeue_max_reached(l->v->s, l->j, 0) : 0;
    buf_add_text(&l->text, "Job is in hold state");
    if (max > 0) buf_format(&l->text, ": it was requeued %u time%s, which is the maximum", max, max == 1 ? "" : "s");
}

/* What keeps the job from being tried. Returns whether there is something. */
static bool add_state(struct wait_list *l)
{
    bool is_asked = l->question != WAIT_IN_PASS && l->v->limit != NULL;
    if (l->question != WAIT_IN_PASS && !is_asked) return false;
    if (is_asked)
        buf_add_text(&l->text, l->v->limit);
    else if (is_held(l->j))
        add_hold(l);
    else if (waits_for_jobs(l))
        add_dependencies(l);
    else if (l->j->begin_us > l->v->now_us)
        buf_add_text(&l->text, "execution time not reached");
    else if (l->v->limit != NULL)
        buf_add_text(&l->text, l->v->limit);
    else if (l->v->is_limited)
        buf_format(&l->text, "job dropped because of user limitations%s%s", l->v->tasks != NULL ? ": " : "",
                   l->v->tasks != NULL ? l->v->tasks : "");
    if (l->text.length == 0) return false;
    (void)wait_list_add(l);
    return true;
}

static const char *extra_request(const struct wait_list *l)
{
    struct buf text = {0};
    uint32_t min = l->d->ranges[0].min;
    if (!demand_is_serial(l->d)) return "slots=1";
    if (min == 1) return NULL;
    buf_format(&text, "slots=%u", min);
    const char *copy = arena_copy(l->arena, (struct str){text.text, text.length});
    buf_release(&text);
    return copy;
}

void wait_sentences_make(const struct wait_view *v, const struct job *j, const struct demand *d,
                         enum wait_question question, struct arena *arena, struct wait_sentences *out)
{
    struct wait_list l = {.v = v, .j = j, .d = d, .question = question, .arena = arena};
    uint8_t *drops = arena_alloc(arena, v->m->cluster.instances.count + (size_t)1);
    bool is_left = true;
    *out = (struct wait_sentences){
        .is_held = is_held(j), .is_dependent = waits_for_jobs(&l), .is_early = j->begin_us > v->now_us};
    for (uint32_t i = 0; i < v->m->cluster.instances.count; i++) drops[i] = (uint8_t)drop_of(&l, i);
    l.requests = wait_needs_text(&l, extra_request(&l));
    if (question == WAIT_IN_PASS) is_left = add_global(&l, drops);
    if (!add_state(&l) && is_left) add_amounts(&l, drops, out);
    if (!is_left && (l.items.count > 0 || has_dropped(&l))) {
        buf_add_text(&l.text, is_busy(&l, drops) ? "All queues dropped because of overload or full"
                                                 : "All queues dropped because they are disabled or not available");
        (void)wait_list_add(&l);
    }
    if (out->is_possible) array_clear(&l.items);
    const char **items = arena_alloc(arena, (l.items.count + (size_t)1) * sizeof *items);
    for (uint32_t i = 0; i < l.items.count; i++) items[i] = l.items.items[i];
    out->items = items;
    out->count = l.items.count;
    array_release(&l.items);
    map_release(&l.seen);
    buf_release(&l.text);
}
