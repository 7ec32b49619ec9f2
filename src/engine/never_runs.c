#include "engine/never_runs.h"

#include "base/ensure.h"
#include "fields/standard_resources.h"

enum never_answer { ANSWER_UNKNOWN, ANSWER_NEVER, ANSWER_COULD };

static void begin_with_quotas(struct never_runs *n, const struct state *s)
{
    ensure(cluster_model_make(s, &n->empty, NULL) == 0);
    cluster_model_offer_withheld(&n->empty, s);
    struct cluster *c = &n->empty.cluster;
    n->is_document = s->is_document;
    n->has_sensors = cluster_model_has_sensors(s);
    for (uint32_t i = 0; i < c->instances.count; i++) {
        *array_add(&c->order) = i;
        c->instances.items[i].is_off = n->empty.has_left[i] || !cluster_model_is_attached(&n->empty, s, i);
    }
}

void never_runs_begin(struct never_runs *n, const struct state *s)
{
    begin_with_quotas(n, s);
    cluster_model_drop_quotas(&n->empty); /* which administrators change */
}

void never_runs_end(struct never_runs *n)
{
    cluster_model_release(&n->empty);
}

static void release_kept(struct never_runs *n)
{
    if (n->edition == 0) return;
    job_demands_end(&n->demands);
    array_release(&n->answers);
    array_release(&n->up_answers);
    arena_release(&n->arena);
    never_runs_end(n);
    *n = (struct never_runs){0};
}

static struct never_runs *keep(struct state *s, struct never_runs **io_kept,
                               void (*begin)(struct never_runs *, const struct state *))
{
    /* Resources that a submission requests for the first time are there before it is accepted. */
    uint64_t edition = (1 + (uint64_t)s->rules_edition + s->host_edition) << 32 | s->objects[OBJECT_RESOURCE].count;
    struct never_runs *n = *io_kept;
    if (n == NULL) {
        *io_kept = n = mem_resize(NULL, 0, sizeof *n);
        *n = (struct never_runs){0};
    }
    if (n->edition == edition) return n;
    release_kept(n);
    begin(n, s);
    job_demands_begin(&n->demands, s, &n->empty, &n->arena);
    n->edition = edition;
    return n;
}

struct never_runs *never_runs_kept(struct state *s)
{
    return keep(s, &s->never_runs, never_runs_begin);
}

struct never_runs *never_runs_kept_with_quotas(struct state *s)
{
    return keep(s, &s->never_runs_with_quotas, begin_with_quotas);
}

static void drop(struct never_runs **io_kept)
{
    if (*io_kept == NULL) return;
    release_kept(*io_kept);
    mem_free(*io_kept);
    *io_kept = NULL;
}

static bool has_old_demands(const struct state *s, const struct never_runs *n)
{
    return n != NULL && n->edition != 0 && n->demands.list.count >= (uint64_t)NEVER_RUNS_DEMANDS_MAX + s->jobs.count;
}

void never_runs_trim(struct state *s)
{
    if (has_old_demands(s, s->never_runs)) drop(&s->never_runs);
    if (has_old_demands(s, s->never_runs_with_quotas)) drop(&s->never_runs_with_quotas);
}

void never_runs_drop(struct state *s)
{
    drop(&s->never_runs);
    drop(&s->never_runs_with_quotas);
}

bool never_runs_has_host(const struct never_runs *n, uint32_t partition)
{
    bool found = false;
    for (uint32_t i = 0; i < n->empty.cluster.instances.count && !found; i++)
        found = n->empty.partition_of[i] == partition && !n->empty.cluster.instances.items[i].is_off;
    return found;
}

bool never_runs_fits(const struct never_runs *n, const struct demand *d)
{
    struct arena scratch = {0};
    struct allocation unused;
    bool fits = place_job(&n->empty.cluster, d, (struct window){0, TIMELINE_END}, NULL, &scratch, &unused);
    arena_release(&scratch);
    return fits;
}

/* --- what lasts --------------------------------------------------------------------------------------------------- */

/* A value that hosts report, and that is another one later. What no host has and no administrator has defined may be
 * reported, too. What is fixed is reported soon after a start of an instance. */
static bool may_change(const struct never_runs *n, uint32_t resource)
{
    const struct sched_resource *r = &n->empty.cluster.resources.items[resource];
    const struct standard_resource *standard = standard_resource_find(str(r->name));
    bool is_offered = cluster_model_offers(&n->empty, resource);
    if (standard != NULL && standard->is_fixed) return !is_offered && !n->is_document;
    if (is_offered) return cluster_model_is_reported(&n->empty, resource);
    return n->has_sensors || (standard != NULL && !r->is_consumable);
}

struct demand never_runs_lasting(const struct never_runs *n, const struct demand *d, struct arena *arena)
{
    struct demand other = *d;
    struct need *needs = arena_alloc(arena, (d->need_count + (size_t)1) * sizeof *needs);
    other.need_count = 0;
    for (uint32_t i = 0; i < d->need_count; i++) {
        if (!may_change(n, d->needs[i].resource)) needs[other.need_count++] = d->needs[i];
    }
    other.needs = needs;
    return other;
}

/* --- the question ------------------------------------------------------------------------------------------------- */

bool never_runs_is_demand(const struct never_runs *n, const struct demand *d)
{
    struct arena scratch = {0};
    const struct demand lasting = never_runs_lasting(n, d, &scratch);
    bool fits = never_runs_fits(n, &lasting);
    arena_release(&scratch);
    return !fits;
}

/* Whether what lasts of a demand fits on the instances whose host and partition are up. */
static bool fits_on_up(const struct never_runs *n, const struct demand *d)
{
    struct arena scratch = {0};
    struct allocation unused;
    const struct cluster *c = &n->empty.cluster;
    const struct demand lasting = never_runs_lasting(n, d, &scratch);
    uint32_t *up = arena_alloc(&scratch, (c->instances.count + (size_t)1) * sizeof *up);
    struct place_scope scope = {.instances = up};
    for (uint32_t i = 0; i < c->instances.count; i++) {
        if (n->empty.state_of[i] == HOST_UP) up[scope.count++] = i;
    }
    bool fits = place_job(c, &lasting, (struct window){0, TIMELINE_END}, &scope, &scratch, &unused);
    arena_release(&scratch);
    return fits;
}

bool never_runs_is_unavailable(struct never_runs *n, const struct demand *d)
{
    while (n->up_answers.count <= d->kind) *array_add(&n->up_answers) = ANSWER_UNKNOWN;
    uint8_t *answer = &n->up_answers.items[d->kind];
    if (*answer == ANSWER_UNKNOWN) *answer = fits_on_up(n, d) ? ANSWER_COULD : ANSWER_NEVER;
    return *answer == ANSWER_NEVER && !never_runs_is(n, d);
}

bool never_runs_is(struct never_runs *n, const struct demand *d)
{
    while (n->answers.count <= d->kind) *array_add(&n->answers) = ANSWER_UNKNOWN;
    uint8_t *answer = &n->answers.items[d->kind];
    if (*answer == ANSWER_UNKNOWN) *answer = never_runs_is_demand(n, d) ? ANSWER_NEVER : ANSWER_COULD;
    return *answer == ANSWER_NEVER;
}
