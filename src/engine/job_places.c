#include "engine/job_places.h"

#include "base/ensure.h"
#include "engine/job_members.h"
#include "engine/never_cause.h"
#include "engine/queue_list.h"
#include "fields/request_text.h"

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

void job_places_set_partitions(struct apply_context *c, struct job *row)
{
    const struct state *s = c->s;
    const char *queues = list_of(row, JOB_FIELD_QUEUES);
    if (queues == NULL) return;
    row->partitions = arena_alloc(&c->s->cycle, s->objects[OBJECT_PARTITION].count * sizeof *row->partitions);
    row->partition_count = queue_list_partitions(s, queues, row->partitions);
    ensure(row->partition_count > 0); /* job_places_check_names */
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
    const struct demand *d = job_demand(&never->demands, row, NONE);
    bool is_never = never_runs_is(never, d);
    if (is_never) never_cause_find(never, &never->demands, row, NONE, d, &c->s->cycle, &cause);
    never->demands.submitter = NULL;
    return is_never ? refuse(c, row, given, &cause) : 0;
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
