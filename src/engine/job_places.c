#include "engine/job_places.h"

#include "base/ensure.h"
#include "engine/job_demand.h"
#include "engine/job_members.h"
#include "engine/never_runs.h"
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
