#include "engine/job_places.h"

#include <string.h>

#include "base/ensure.h"
#include "base/expression.h"
#include "engine/job_admission.h"
#include "engine/job_members.h"
#include "engine/never_cause.h"
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

/* The first field that may be at fault and that was given; if none was, the first one. */
static enum job_field find_fault(const struct never_cause *cause, const struct job_values *given)
{
    for (uint32_t i = 0; i < cause->field_count; i++) {
        if (given->is_given[cause->fields[i]]) return cause->fields[i];
    }
    return cause->fields[0];
}

static int refuse(struct apply_context *c, const struct job *row, const struct job_values *given,
                  const struct never_cause *cause)
{
    enum job_field f = find_fault(cause, given);
    const struct field *field = job_field_at(f);
    const struct field_value value = job_member(c->s, row, f, &c->s->cycle);
    struct buf text = {0};
    if (f == JOB_FIELD_REQUESTS && cause->request != NULL)
        buf_add_text(&text, cause->request);
    else
        field_format(field, &value, &text);
    (void)err_value_reason(c->e, field->name, (struct str){text.text, text.length}, "can never run: %s", cause->text);
    if (field->type == FIELD_NUMBER && c->e != NULL) c->e->is_number = true;
    buf_release(&text);
    return -1;
}

int job_places_check(struct apply_context *c, const struct actor *actor, const struct job *row, bool is_submission,
                     const struct job_values *given)
{
    struct never_runs *never = never_runs_kept(c->s);
    struct never_cause cause;
    never->demands.submitter = is_submission ? actor->user : NULL;
    /* With EnforcePartLimits=NO a job waits for other limits of its partitions. */
    never->demands.has_no_limits = setting_number(&c->s->settings, SET_ENFORCE_PART_LIMITS) == PART_LIMITS_NO;
    const struct demand *d = job_demand(&never->demands, row, NONE);
    bool is_never = never_runs_is(never, d);
    if (is_never) never_cause_find(never, &never->demands, row, NONE, d, &c->s->cycle, &cause);
    never->demands.submitter = NULL;
    never->demands.has_no_limits = false;
    return is_never ? refuse(c, row, given, &cause) : 0;
}

/* --- the order of its partitions ---------------------------------------------------------------------------------- */

/* On the best of its hosts that run jobs. O(instances) */
static uint32_t violations_in(const struct state *s, const struct cluster_model *m, const struct demand *d,
                              uint32_t partition)
{
    uint32_t min = UINT32_MAX;
    for (uint32_t i = 0; i < m->cluster.instances.count; i++) {
        if (m->partition_of[i] != partition || !cluster_model_is_attached(m, s, i)) continue;
        uint32_t violations = place_violations(&m->cluster, d, i);
        if (violations < min) min = violations;
    }
    return min;
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
    cluster_model_drop_quotas(&model);
    job_demands_begin(&demands, c->s, &model, cycle);
    const struct demand *d = job_demand(&demands, row, NONE);
    for (uint32_t i = 0; i < row->partition_count; i++) {
        uint32_t own = violations_in(c->s, &model, d, row->partitions[i]), at = i;
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
