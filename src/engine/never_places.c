/* Where a job can never run: its partitions, the instances of their queues, and its parallel environments. */
#include <string.h>

#include "engine/never_finder.h"

/* --- its partitions ----------------------------------------------------------------------------------------------- */

static const struct object *partition_at(const struct never_finder *f, uint32_t partition)
{
    return &f->s->objects[OBJECT_PARTITION].items[partition].object;
}

static bool is_there(const struct never_finder *f, uint32_t partition)
{
    return !f->s->objects[OBJECT_PARTITION].items[partition].is_deleted;
}

/* Whether the job may use the partition; once the open instances are known, whether it has one. */
static bool may_use(const struct never_finder *f, uint32_t partition)
{
    bool found = f->open == NULL;
    if (!is_there(f, partition)) return false;
    if (job_demand_partition_limit(f->demands, f->j, f->only, partition) != LIMIT_NONE) return false;
    for (uint32_t i = 0; i < f->c->instances.count && !found; i++)
        found = f->demands->m->partition_of[i] == partition && never_finder_has_bit(f->open, i);
    return found;
}

uint32_t never_places_add(struct never_finder *f)
{
    const char *names[2];
    uint32_t count = 0;
    for (uint32_t p = 0; p < f->s->objects[OBJECT_PARTITION].count; p++) {
        if (!may_use(f, p)) continue;
        if (count < 2) names[count] = partition_at(f, p)->name;
        count++;
    }
    if (count == 1)
        buf_format(&f->text, names[0][0] != '\0' ? "partition '%s'" : "the cluster%s", names[0]);
    else if (count == 2)
        buf_format(&f->text, "partitions '%s' and '%s'", names[0], names[1]);
    else
        buf_format(&f->text, "its %u partitions", count);
    return count;
}

static void explain_own_limit(struct never_finder *f, enum place_limit limit, uint32_t partition)
{
    partition_limits_text(f->s, f->j, partition, limit, &f->text);
    if (limit == LIMIT_MAX_TIME) never_finder_blame(f, JOB_FIELD_TIME_LIMIT);
    if (limit == LIMIT_MAX_NODES || limit == LIMIT_MIN_NODES) never_finder_blame(f, JOB_FIELD_NODES);
    if (limit == LIMIT_MAX_MEM_PER_NODE) never_finder_blame(f, JOB_FIELD_MEM_MIB);
    if (limit == LIMIT_QOS) never_finder_blame(f, JOB_FIELD_QOS);
    never_finder_blame(f, JOB_FIELD_PARTITIONS);
    never_finder_blame(f, JOB_FIELD_QUEUES);
}

static void explain_users(struct never_finder *f, uint32_t partition)
{
    const struct object *o = partition_at(f, partition);
    const char *user = job_demands_user(f->demands, f->j), *accepted = o->value[PARTITION_USER_LISTS].text;
    bool is_refused = job_demand_is_refused_user(f->demands, partition, user);
    if (is_refused)
        buf_format(&f->text, "partition '%s' refuses user '%s' (xuser_lists %s)", o->name, user,
                   o->value[PARTITION_XUSER_LISTS].text);
    else
        buf_format(&f->text, "partition '%s' does not accept user '%s' (user_lists %s)", o->name, user, accepted);
    never_finder_blame(f, JOB_FIELD_PARTITIONS);
    never_finder_blame(f, JOB_FIELD_QUEUES);
}

static void explain_limit(struct never_finder *f, enum place_limit limit, uint32_t partition)
{
    if (partition_limits_is_own(limit))
        explain_own_limit(f, limit, partition);
    else
        explain_users(f, partition);
}

/* Whether all partitions are closed to the job. The partition that comes nearest is named. */
static bool find_in_partitions(struct never_finder *f)
{
    enum place_limit best = LIMIT_PARTITION;
    uint32_t nearest = NONE;
    for (uint32_t p = 0; p < f->s->objects[OBJECT_PARTITION].count && best != LIMIT_NONE; p++) {
        enum place_limit limit =
            is_there(f, p) ? job_demand_partition_limit(f->demands, f->j, f->only, p) : LIMIT_PARTITION;
        if (limit <= best) continue;
        best = limit;
        nearest = p;
    }
    if (best == LIMIT_NONE) return false;
    f->out->is_of_partitions = true;
    if (best != LIMIT_PARTITION) {
        explain_limit(f, best, nearest);
    } else {
        buf_add_text(&f->text, f->s->is_document && f->s->objects[OBJECT_HOST].count == 0 ? "there are no hosts"
                                                                                          : "its partition is gone");
        never_finder_blame(f, JOB_FIELD_PARTITIONS);
    }
    return true;
}

/* --- its instances ------------------------------------------------------------------------------------------------ */

static const char *host_name(const struct never_finder *f, uint32_t instance)
{
    return f->c->hosts.items[f->c->instances.items[instance].host].name;
}

const char *never_places_host(const struct never_finder *f)
{
    for (uint32_t i = 0; i < f->c->instances.count; i++) {
        if (!f->c->instances.items[i].is_off && may_use(f, f->demands->m->partition_of[i])) return host_name(f, i);
    }
    return NULL;
}

/* "its time limit, 02:00:00, exceeds MaxTime of partition 'main', 01:00:00; ": a partition that has hosts, but that is
 * closed to the job. Returns whether there is one. */
static bool add_closed_partition(struct never_finder *f)
{
    enum place_limit best = LIMIT_PARTITION;
    uint32_t nearest = NONE;
    for (uint32_t p = 0; p < f->s->objects[OBJECT_PARTITION].count; p++) {
        enum place_limit limit = job_demand_partition_limit(f->demands, f->j, f->only, p);
        if (!is_there(f, p) || limit == LIMIT_NONE || limit <= best || !never_runs_has_host(f->n, p)) continue;
        best = limit;
        nearest = p;
    }
    if (nearest == NONE) return false;
    f->out->is_of_partitions = true;
    explain_limit(f, best, nearest);
    buf_add_text(&f->text, "; ");
    return true;
}

static void explain_hosts(struct never_finder *f, uint32_t described)
{
    bool is_blamed = add_closed_partition(f), is_one = never_places_add(f) == 1;
    if (described != NONE)
        buf_format(&f->text, " %s no host that runs jobs; '%s' is only described", is_one ? "has" : "have",
                   host_name(f, described));
    else
        buf_format(&f->text, " %s no hosts", is_one ? "has" : "have");
    if (is_blamed) return;
    never_finder_blame(f, JOB_FIELD_PARTITIONS);
    never_finder_blame(f, JOB_FIELD_QUEUES);
}

static void explain_queues(struct never_finder *f, uint32_t described)
{
    buf_format(&f->text, "none of the queues '%s' is ", f->j->placing->queues);
    if (described != NONE) {
        buf_format(&f->text, "on a host that runs jobs; '%s' is only described", host_name(f, described));
    } else {
        buf_add_text(&f->text, "in ");
        never_places_add(f);
    }
    never_finder_blame(f, JOB_FIELD_QUEUES);
}

static void explain_features(struct never_finder *f, uint32_t described)
{
    buf_add_text(&f->text, "no host of ");
    never_places_add(f);
    if (described != NONE)
        buf_format(&f->text, " that runs jobs has the features '%s'; '%s' is only described", f->j->placing->constraint,
                   host_name(f, described));
    else
        buf_format(&f->text, " has the features '%s'", f->j->placing->constraint);
    const char *host = never_places_host(f);
    if (described == NONE && f->s->is_document) buf_add_text(&f->text, "; add a host with them");
    if (described == NONE && !f->s->is_document && host != NULL)
        buf_format(&f->text, "; host '%s' can be given them", host);
    never_finder_blame(f, JOB_FIELD_CONSTRAINT);
}

static void explain_masters(struct never_finder *f)
{
    buf_format(&f->text, "none of the master queues '%s' is among its queues in ", f->j->placing->master_queues);
    never_places_add(f);
    never_finder_blame(f, JOB_FIELD_MASTER_QUEUES);
}

/* Whether no instance is open to the job. A host that is only described is named where it comes nearer than others. */
static bool find_in_instances(struct never_finder *f)
{
    enum place_limit best = LIMIT_PARTITION, best_described = LIMIT_PARTITION;
    uint32_t described = NONE;
    for (uint32_t i = 0; i < f->c->instances.count; i++) {
        uint32_t partition = f->demands->m->partition_of[i];
        if (f->demands->m->has_left[i]) continue;
        if (job_demand_partition_limit(f->demands, f->j, f->only, partition) != LIMIT_NONE) continue;
        enum place_limit limit = job_demand_instance_limit(f->demands, f->j, demand_is_serial(&f->d), i);
        bool is_off = f->c->instances.items[i].is_off;
        if (is_off && limit > best_described) {
            best_described = limit;
            described = i;
        }
        if (!is_off && limit > best) best = limit;
    }
    if (best_described <= best) described = NONE;
    switch (best) {
    case LIMIT_NONE: return false;
    case LIMIT_QUEUES: explain_queues(f, described); return true;
    case LIMIT_CONSTRAINT: explain_features(f, described); return true;
    case LIMIT_MASTER_QUEUES: explain_masters(f); return true;
    default: explain_hosts(f, described); return true;
    }
}

/* --- its parallel environments ------------------------------------------------------------------------------------ */

/* Leaves the instances open that have one of its parallel environments. */
static void open_environments(struct never_finder *f)
{
    uint64_t *open = arena_alloc(f->arena, f->demands->m->set_words * sizeof *open);
    for (uint32_t i = 0; i < f->c->instances.count; i++) {
        bool is_open = never_finder_has_bit(f->d.allowed, i) && !f->c->instances.items[i].is_off;
        bool is_listed = f->d.environment_count == 0;
        for (uint32_t k = 0; k < f->d.environment_count; k++)
            is_listed |= never_finder_has_bit(f->c->environments.items[f->d.environments[k]].instances, i);
        if (is_open && is_listed) open[i / 64] |= UINT64_C(1) << i % 64;
    }
    f->open = open;
}

static bool is_open_somewhere(const struct never_finder *f)
{
    bool found = false;
    for (uint32_t w = 0; w < f->demands->m->set_words && !found; w++) found = f->open[w] != 0;
    return found;
}

/* "; it is in that of partition 'mpi'", "; it is in none" */
static void add_partition_with_environment(struct never_finder *f)
{
    uint32_t with = NONE;
    for (uint32_t i = 0; i < f->c->instances.count && with == NONE; i++) {
        for (uint32_t k = 0; k < f->d.environment_count; k++) {
            const struct sched_environment *e = &f->c->environments.items[f->d.environments[k]];
            if (never_finder_has_bit(e->instances, i) && !f->c->instances.items[i].is_off)
                with = f->demands->m->partition_of[i];
        }
    }
    if (with != NONE)
        buf_format(&f->text, "; it is in that of partition '%s'", partition_at(f, with)->name);
    else
        buf_add_text(&f->text, "; it is in none");
}

/* Whether no open queue has its parallel environment. */
static bool find_in_environments(struct never_finder *f)
{
    const char *name = job_demands_environment(f->demands, f->j);
    open_environments(f);
    if (name == NULL || is_open_somewhere(f)) return false;
    f->open = NULL; /* all partitions that it may use are named */
    if (f->d.environment_count == 0) {
        buf_format(&f->text, "there is no parallel environment '%s'", name);
    } else {
        buf_format(&f->text, "the parallel environment '%s' is not in the pe_list of ", name);
        never_places_add(f);
        add_partition_with_environment(f);
    }
    never_finder_blame(f, JOB_FIELD_ENVIRONMENT);
    return true;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

bool never_places_find(struct never_finder *f)
{
    return find_in_partitions(f) || find_in_instances(f) || find_in_environments(f);
}
