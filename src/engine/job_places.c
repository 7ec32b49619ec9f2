#include "engine/job_places.h"

#include <string.h>

#include "base/ensure.h"
#include "base/expression.h"
#include "engine/job_demand.h"
#include "engine/job_members.h"
#include "engine/never_runs.h"
#include "engine/queue_list.h"
#include "fields/request_text.h"
#include "fields/standard_resources.h"

static const char *list_of(const struct job *row, enum job_field f)
{
    const struct job_placing *p = row->placing;
    if (p == NULL) return NULL;
    return f == JOB_FIELD_QUEUES ? p->queues : f == JOB_FIELD_MASTER_QUEUES ? p->master_queues : p->soft_queues;
}

static bool has_feature(const struct state *s, struct str feature)
{
    bool found = false;
    for (uint32_t i = 0; i < s->objects[OBJECT_HOST].count && !found; i++) {
        const struct object_row *host = &s->objects[OBJECT_HOST].items[i];
        found = !host->is_deleted && request_text_has_feature(host->object.value[HOST_FEATURES].text, feature);
    }
    return found;
}

int job_places_check_features(const struct state *s, const char *constraint, struct err *e)
{
    bool unused;
    for (struct str rest = str(constraint != NULL ? constraint : ""); rest.length > 0;) {
        struct str feature = request_text_next_feature(&rest, &unused);
        if (!has_feature(s, feature))
            return err_value_reason(e, job_field_at(JOB_FIELD_CONSTRAINT)->name, feature, "is a feature of no host");
    }
    return 0;
}

int job_places_check_names(struct apply_context *c, const struct job *row, enum job_field f)
{
    const char *list = list_of(row, f);
    if (f == JOB_FIELD_CONSTRAINT)
        return job_places_check_features(c->s, row->placing != NULL ? row->placing->constraint : NULL, c->e);
    return list == NULL ? 0 : queue_list_check(c->s, list, job_field_at(f)->name, c->e);
}

/* --- requested names ---------------------------------------------------------------------------------------------- */

static const struct object *resource_of(const struct state *s, const struct job_request *r)
{
    return &s->objects[OBJECT_RESOURCE].items[r->resource].object;
}

static enum resource_type type_of(const struct object *resource)
{
    return (enum resource_type)resource->value[RESOURCE_TYPE].number;
}

int job_places_check_expressions(struct apply_context *c, const struct job_request *requests, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct object *o = resource_of(c->s, &requests[i]);
        if (object_resource_expression_check(type_of(o), o->name, str(requests[i].text), c->e) != 0) return -1;
    }
    return 0;
}

/* The request of a name, such as hostname; NULL: there is none. */
static const struct job_request *find_name_request(const struct state *s, const struct job *row, const char *resource)
{
    for (uint32_t i = 0; i < row->request_count; i++) {
        const struct object *o = resource_of(s, &row->requests[i]);
        if (strcmp(o->name, resource) == 0 && resource_type_is_text(type_of(o))) return &row->requests[i];
    }
    return NULL;
}

/* Whether an object has a name as the job requests it. */
static bool has_requested_name(const struct state *s, const struct job_request *r, enum object_kind kind,
                               uint32_t index)
{
    const struct object_row *row = &s->objects[kind].items[index];
    const struct object *resource = resource_of(s, r);
    bool is_other = resource->value[RESOURCE_RELOP].number == RELOP_NOT_EQUAL;
    enum expression_case letters =
        resource_type_ignores_case(type_of(resource)) ? EXPRESSION_CASE_IGNORED : EXPRESSION_CASE_COUNTS;
    return !row->is_deleted && expression_is_satisfied(str(r->text), str(row->object.name), letters) != is_other;
}

static int refuse_name(struct apply_context *c, const struct job_request *r, const char *reason)
{
    (void)err_value_reason(c->e, "amount", str(r->text), "%s", reason);
    return err_of(c->e, "resource", str(resource_of(c->s, r)->name));
}

int job_places_check_requested_names(struct apply_context *c, const struct job *row)
{
    const struct job_request *host = find_name_request(c->s, row, HOST_NAME_RESOURCE);
    const struct job_request *queue = find_name_request(c->s, row, QUEUE_NAME_RESOURCE);
    bool has_host = host == NULL, has_queue = queue == NULL;
    for (uint32_t i = 0; i < c->s->objects[OBJECT_HOST].count && !has_host; i++)
        has_host = has_requested_name(c->s, host, OBJECT_HOST, i);
    for (uint32_t i = 0; i < row->partition_count && !has_queue; i++)
        has_queue = has_requested_name(c->s, queue, OBJECT_PARTITION, row->partitions[i]);
    if (!has_host) return refuse_name(c, host, "matches no host");
    return has_queue ? 0 : refuse_name(c, queue, "matches no partition that the job may run in");
}

/* The partitions that a request of qname is for. Returns their number. */
static uint32_t find_requested_partitions(const struct state *s, const struct job_request *queue, uint32_t *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->objects[OBJECT_PARTITION].count; i++) {
        if (has_requested_name(s, queue, OBJECT_PARTITION, i)) out[count++] = i;
    }
    return count;
}

void job_places_set_partitions(struct apply_context *c, struct job *row)
{
    const struct state *s = c->s;
    const char *queues = list_of(row, JOB_FIELD_QUEUES);
    const struct job_request *queue = find_name_request(s, row, QUEUE_NAME_RESOURCE);
    if (queues == NULL && queue == NULL) return;
    uint32_t *found = arena_alloc(&c->s->cycle, s->objects[OBJECT_PARTITION].count * sizeof *found);
    uint32_t count =
        queues != NULL ? queue_list_partitions(s, queues, found) : find_requested_partitions(s, queue, found);
    if (count == 0) return; /* job_places_check_requested_names says so */
    row->partitions = found;
    row->partition_count = count;
}

/* --- whether it could run ----------------------------------------------------------------------------------------- */

/* What limits the places of a job, the most particular first. */
static const enum job_field limits[] = {JOB_FIELD_NODES,         JOB_FIELD_CONSTRAINT, JOB_FIELD_SLOTS_PER_NODE,
                                        JOB_FIELD_MASTER_QUEUES, JOB_FIELD_QUEUES,     JOB_FIELD_ENVIRONMENT};

struct places_check {
    struct apply_context *c;
    const struct never_runs *never;
    struct job_demands demands;
};

/* Why the slots of a row find no place when nothing else runs; NULL: they find one. */
static const char *why_never(struct places_check *check, const struct job *row)
{
    struct job any_user = *row; /* lists of users do not count, because they change */
    any_user.assoc = 0;
    struct demand only_slots = *job_demand(&check->demands, &any_user, NONE);
    only_slots.need_count = 0; /* what else it asks for may come with another host */
    return never_runs_why(check->never, &only_slots, &check->c->s->cycle);
}

static bool is_limited_by(const struct places_check *check, const struct job *row, enum job_field f)
{
    const struct field_value value = job_member(check->c->s, row, f, &check->c->s->cycle), nothing = field_text("");
    return !field_equal(job_field_at(f), &value, &nothing);
}

/* The first limit without which the job could run; if none alone is enough, several nodes, or the last limit. */
static enum job_field find_fault(struct places_check *check, const struct job *row)
{
    struct state *s = check->c->s;
    enum job_field last = JOB_FIELD_COUNT;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct job other = *row;
        const struct field_value nothing = field_text("");
        if (!is_limited_by(check, row, limits[i])) continue;
        last = limits[i];
        ensure(job_member_set(s, &other, limits[i], &nothing, &s->cycle, NULL) == 0);
        if (why_never(check, &other) == NULL) return limits[i];
    }
    return row->placing != NULL && row->placing->node_min > 1 ? JOB_FIELD_NODES : last;
}

/* Whether one of its partitions lists its parallel environment. */
static bool lists_environment(const struct places_check *check, const struct job *row)
{
    const struct cluster_model *m = &check->never->empty;
    const struct sched_environment *environment = &m->cluster.environments.items[m->environment_of[row->environment]];
    for (uint32_t i = 0; i < m->cluster.instances.count; i++) {
        if ((environment->instances[i / 64] >> i % 64 & 1) == 0) continue;
        for (uint32_t k = 0; k < row->partition_count; k++) {
            if (m->partition_of[i] == row->partitions[k]) return true;
        }
    }
    return false;
}

static int refuse(struct places_check *check, const struct job *row, enum job_field f, const char *why)
{
    const struct field_value value = job_member(check->c->s, row, f, &check->c->s->cycle);
    struct err *e = check->c->e;
    if (field_is_text(job_field_at(f))) return err_value_reason(e, job_field_at(f)->name, str(value.text), "%s", why);
    return err_field(e, ERR_INPUT, job_field_at(f)->name, "%lld %s", (long long)value.number, why);
}

int job_places_check(struct apply_context *c, const struct job *row)
{
    struct places_check check = {.c = c};
    if (row->environment == NONE && row->placing == NULL) return 0;
    check.never = never_runs_kept(c->s);
    job_demands_begin(&check.demands, c->s, &check.never->empty, &c->s->cycle);
    const char *why = why_never(&check, row);
    enum job_field f = why != NULL ? find_fault(&check, row) : JOB_FIELD_COUNT;
    if (f == JOB_FIELD_ENVIRONMENT && !lists_environment(&check, row))
        why = "is in the pe_list of no partition of the job";
    int status = f != JOB_FIELD_COUNT ? refuse(&check, row, f, why) : 0;
    job_demands_end(&check.demands);
    return status;
}

/* --- the order of its partitions ---------------------------------------------------------------------------------- */

static uint32_t violations_in(const struct cluster_model *m, const struct demand *d, uint32_t partition)
{
    uint32_t instance = cluster_model_instance(m, partition, LOCAL_HOST_INDEX);
    return instance == NONE ? UINT32_MAX : place_violations(&m->cluster, d, instance);
}

void job_places_sort_partitions(struct apply_context *c, struct job *row)
{
    const struct job_placing *p = row->placing;
    struct cluster_model model;
    struct job_demands demands;
    struct arena *cycle = &c->s->cycle;
    if (row->partition_count < 2 || p == NULL || (p->soft_count == 0 && p->soft_queues == NULL)) return;
    uint32_t *sorted = arena_alloc(cycle, row->partition_count * sizeof *sorted);
    uint32_t *violations = arena_alloc(cycle, row->partition_count * sizeof *violations);
    ensure(cluster_model_make(c->s, &model, NULL) == 0); /* objects and settings are checked by it */
    job_demands_begin(&demands, c->s, &model, cycle);
    const struct demand *d = job_demand(&demands, row, NONE);
    for (uint32_t i = 0; i < row->partition_count; i++) {
        uint32_t own = violations_in(&model, d, row->partitions[i]), at = i;
        for (; at > 0 && violations[at - 1] > own; at--) {
            sorted[at] = sorted[at - 1];
            violations[at] = violations[at - 1];
        }
        sorted[at] = row->partitions[i];
        violations[at] = own;
    }
    row->partitions = sorted;
    job_demands_end(&demands);
    cluster_model_release(&model);
}
