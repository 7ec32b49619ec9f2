/* Scenarios of arbitrary bytes. An accepted scenario refers only to things that it has, and every model and algorithm
 * gives finite numbers for it. In its schedule, jobs that start or have a reservation fit beside all others, and every
 * row can be written. The error of a refused one is one line that begins with the document's name. */
#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "fields/schedule_fields.h"
#include "sim/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    TICKET_TASKS_MAX = 10000, /* with more, the tickets model is left out: it takes too long */
    SCHEDULE_TASKS_MAX = 3000 /* the same for schedules */
};

static void check_tree(struct scenario *s)
{
    const struct tree *t = state_tree(&s->state);
    ensure(t->count <= s->association_count + 1);
    for (uint32_t i = 0; i < s->association_count; i++) {
        const struct assoc *a = &s->state.assocs.items[s->associations[i]];
        uint32_t node = s->state.node_of.items[s->associations[i]];
        ensure(node < t->count && t->is_user[node] == (a->user != NULL) && a->usage >= 0.0);
    }
}

static void check_jobs(const struct scenario *s)
{
    const struct state *state = &s->state;
    for (uint32_t i = 0; i < s->job_count; i++) {
        const struct job *j = &state->jobs.items[s->jobs[i]];
        ensure(i == 0 || scenario_has_job(s, j->id));
        ensure(j->partition_count > 0 && j->assoc < state->assocs.count);
        if (!state->is_document) continue;
        ensure(j->document->slots > 0 && j->document->slots <= j->slots_max);
        ensure(j->document->rank < s->job_count);
        const struct tres_list *tres = &j->document->tres;
        for (uint32_t t = 0; t < tres->count; t++) {
            ensure(tres->items[t].tres < state->policy.tres.count && tres->items[t].amount > 0.0);
            ensure(t == 0 || tres->items[t - 1].tres < tres->items[t].tres);
        }
    }
}

static uint64_t count_tasks(const struct scenario *s)
{
    uint64_t tasks = s->state.tasks.count;
    for (uint32_t i = 0; i < s->job_count; i++) tasks += idset_count(&s->state.jobs.items[i].pending);
    return tasks;
}

static void check_row(const struct scenario_priorities *all, uint32_t i)
{
    struct priority_record record;
    const struct field_value *value = record.value;
    scenario_priority_row(all, i, &record);
    bool is_suspended = value[PRIORITY_FIELD_STATE].number == JOB_SUSPENDED && all->all.model == MODEL_TICKETS;
    if (is_suspended && value[PRIORITY_FIELD_PRIORITY].number == FIELD_ABSENT) { /* by hand: it has no values */
        ensure(value[PRIORITY_FIELD_TICKETS].number == FIELD_ABSENT && isfinite(value[PRIORITY_FIELD_BILLING].real));
        return;
    }
    ensure(isfinite(value[PRIORITY_FIELD_PRIORITY].real) && isfinite(value[PRIORITY_FIELD_BILLING].real));
    if (all->all.model == MODEL_MULTIFACTOR) {
        double factor = value[PRIORITY_FIELD_FAIR_SHARE_FACTOR].real;
        ensure(factor >= 0.0 && factor <= 1.0 && isfinite(value[PRIORITY_FIELD_TRES].real));
    }
    if (all->all.model == MODEL_TICKETS) {
        double norm = value[PRIORITY_FIELD_NORM_TICKETS].real;
        ensure(value[PRIORITY_FIELD_TICKETS].real >= 0.0 && isfinite(value[PRIORITY_FIELD_TICKETS].real));
        ensure(norm >= 0.0 && norm <= 1.0 && isfinite(value[PRIORITY_FIELD_URGENCY].real));
    }
}

static void check_priorities(struct scenario *s, struct arena *arena)
{
    for (int model = 0; model < MODEL_COUNT; model++) {
        struct scenario_priorities all;
        if (model == MODEL_TICKETS && count_tasks(s) > TICKET_TASKS_MAX) continue;
        s->state.policy.model = (enum priority_model)model;
        scenario_priorities(s, arena, &all);
        for (uint32_t i = 0; i < all.count; i++) check_row(&all, i);
    }
}

static void check_shares(struct scenario *s, struct arena *arena)
{
    for (int a = 0; a < ALGORITHM_COUNT; a++) {
        struct share_options options = s->state.policy.share;
        struct share_table table;
        struct share_values row;
        options.algorithm = (enum share_algorithm)a;
        scenario_shares(s, &options, arena, &table);
        ensure(table.count == s->state.tree.count && isfinite(table.raw_usage[0]));
        for (uint32_t i = 0; i < s->association_count; i++) scenario_share_row(s, &table, i, &row);
    }
}

/* --- schedules ---------------------------------------------------------------------------------------------------- */

/* Jobs with different requests have different demands. */
static void check_demand(const struct scenario *s, const struct schedule *p, const struct schedule_row *row)
{
    const struct job *j = &s->state.jobs.items[row->job];
    const struct demand *d = row->demand;
    ensure(d->range_count == 1 && d->ranges[0].min > 0 && d->ranges[0].min <= d->ranges[0].max && d->duration_us > 0);
    bool has_environment = s->state.is_document ? j->document->environment != NULL : j->environment != NONE;
    ensure((d->environment_count > 0) == has_environment);
    for (uint32_t i = 0; i < d->need_count; i++) {
        const struct need *n = &d->needs[i];
        bool is_found = n->text == NULL;
        ensure(n->resource < p->model.cluster.resources.count && isfinite(n->amount));
        for (uint32_t k = 0; k < j->request_count && !is_found; k++)
            is_found = p->model.resources.of_object.items[j->requests[k].resource] == n->resource &&
                       strcmp(j->requests[k].text, n->text) == 0;
        ensure(is_found);
    }
}

static bool has_bit(const uint64_t *set, uint32_t index)
{
    return set == NULL || (set[index / 64] >> index % 64 & 1) != 0;
}

static uint32_t host_of(const struct schedule *p, const struct allocation_part *part)
{
    return p->model.cluster.instances.items[part->instance].host;
}

/* The number of hosts, and the slots on each. */
static void check_hosts(const struct schedule *p, const struct demand *d, const struct allocation *a)
{
    uint32_t hosts = 0, slots = 0;
    for (uint32_t i = 0; i < a->part_count; i++) {
        bool is_last = i + 1 == a->part_count || host_of(p, &a->parts[i]) != host_of(p, &a->parts[i + 1]);
        slots += a->parts[i].slots;
        if (!is_last) continue;
        ensure(d->slots_per_host == 0 || slots == d->slots_per_host);
        hosts++;
        slots = 0;
    }
    ensure(hosts >= d->host_min && hosts <= d->host_max);
}

/* Every instance once, those of a host adjacent. */
static void check_parts(const struct schedule *p, const struct schedule_row *row)
{
    const struct allocation *a = &row->allocation;
    bool is_planned = row->state == SCHEDULE_STARTING || row->state == SCHEDULE_RESERVED;
    uint64_t slots = 0;
    ensure(a->part_count > 0 && (a->environment == NONE || a->environment < p->model.cluster.environments.count));
    for (uint32_t i = 0; i < a->part_count; i++) {
        ensure(a->parts[i].instance < p->model.cluster.instances.count && a->parts[i].slots > 0);
        if (is_planned) ensure(has_bit(row->demand->allowed, a->parts[i].instance));
        for (uint32_t k = 0; k < i; k++) {
            ensure(a->parts[k].instance != a->parts[i].instance);
            ensure(host_of(p, &a->parts[k]) != host_of(p, &a->parts[i]) ||
                   host_of(p, &a->parts[k]) == host_of(p, &a->parts[k + 1]));
        }
        slots += a->parts[i].slots;
    }
    ensure(slots == a->slots || (slots > UINT32_MAX && a->slots == UINT32_MAX && !is_planned));
    if (is_planned) ensure(a->slots >= row->demand->ranges[0].min && a->slots <= row->demand->ranges[0].max);
    if (is_planned && row->demand->host_max > 0) check_hosts(p, row->demand, a);
    if (is_planned) ensure((a->environment != NONE) == (row->demand->environment_count > 0));
    if (is_planned && !demand_is_serial(row->demand)) ensure(has_bit(row->demand->masters, a->parts[0].instance));
}

struct fit_check {
    const struct cluster *cluster;
    const struct schedule_row *row;
};

/* All that is booked together, also after the row was decided, is there. */
static void check_fits(const struct taken *taken, void *context)
{
    const struct fit_check *check = context;
    double booked = timeline_max(&taken->offer->booked, check->row->start_us, check->row->end_us);
    if (check->cluster->resources.items[taken->offer->resource].relation == RELATION_EXCLUSIVE) return;
    ensure(booked <= taken->offer->amount + 1e-6 * fmax(1.0, fabs(taken->offer->amount)));
}

static void check_planned(const struct scenario *s, const struct schedule *p, const struct schedule_row *row)
{
    struct fit_check check = {.cluster = &p->model.cluster, .row = row};
    ensure(row->start_us < row->end_us);
    check_parts(p, row);
    if (row->state == SCHEDULE_RUNNING || row->state == SCHEDULE_SUSPENDED) {
        ensure(row->start_us <= s->now_us && row->end_us > s->now_us);
        return;
    }
    ensure(row->state == SCHEDULE_STARTING ? row->start_us == s->now_us : row->start_us > s->now_us);
    cluster_taken(check.cluster, row->demand, &row->allocation, check_fits, &check);
}

/* Running ones by start and id, then suspended ones, then the others in the order of the run. Tasks of an array in an
 * instance are of one job. */
static void check_order(const struct schedule_row *a, const struct schedule_row *b)
{
    if (b->state > SCHEDULE_SUSPENDED) return;
    ensure(a->state <= b->state);
    if (a->state < b->state) return;
    ensure(a->start_us < b->start_us ||
           (a->start_us == b->start_us && (a->job < b->job || (a->job == b->job && a->task_id != b->task_id))));
}

/* A serial job that runs, and whose places are not given, is missing only if it fits nowhere. In an instance all places
 * are known. */
static void check_all_run(const struct scenario *s, struct schedule *p, struct arena *arena)
{
    const struct window now = {s->now_us, s->now_us + 1};
    bool *is_listed = arena_alloc(arena, s->state.jobs.count + (size_t)1);
    struct allocation unused;
    if (!s->state.is_document) return;
    for (uint32_t i = 0; i < p->rows.count; i++)
        if (p->rows.items[i].state <= SCHEDULE_SUSPENDED) is_listed[p->rows.items[i].job] = true;
    for (uint32_t i = 0; i < s->state.tasks.count; i++) {
        uint32_t index = state_find_job(&s->state, s->state.tasks.items[i].job_id);
        const struct job *j = &s->state.jobs.items[index];
        if (is_listed[index] || j->document->place_count > 0) continue;
        if (j->document->suspension == SUSPENSION_BY_QUEUE) continue;
        const struct demand *d = job_demand(&p->demands, j, NONE);
        ensure(d->environment_count > 0 || !place_job(&p->model.cluster, d, now, NULL, arena, &unused));
    }
}

static void write_row(const struct scenario *s, const struct schedule *p, uint32_t i, struct arena *arena,
                      struct buf *out)
{
    struct schedule_values values;
    const struct schedule_row *row = &p->rows.items[i];
    schedule_row_values(p, &s->state, i, arena, &values);
    for (uint32_t f = 0; f < SCHEDULE_FIELD_COUNT; f++) {
        const struct field *field = field_at(&schedule_fields, f);
        if (!field_is_absent(field, &values.value[f])) field_format(field, &values.value[f], out);
        buf_add_char(out, '|');
    }
    ensure((values.value[SCHEDULE_FIELD_PLACES].text == NULL) == (row->state == SCHEDULE_WAITING));
    ensure(row->reason == NULL || row->state == SCHEDULE_WAITING);
    if (row->state != SCHEDULE_WAITING) schedule_lines(p, &s->state, row, out);
}

/* Checks and writes a schedule. */
static void write_schedule(struct scenario *s, struct arena *arena, struct buf *out)
{
    struct schedule p;
    struct err e = {0};
    if (scenario_schedule(s, "f", &p, &e) != 0) {
        ensure(e.code == ERR_INPUT && strncmp(ERR_SENTENCE(&e), "f:", 2) == 0 && p.rows.count == 0);
        buf_add_text(out, ERR_SENTENCE(&e));
    }
    for (uint32_t i = 0; i < p.rows.count; i++) {
        const struct schedule_row *row = &p.rows.items[i];
        ensure(row->job < s->state.jobs.count && (row->tasks == NULL || row->state == SCHEDULE_WAITING));
        if (i > 0) check_order(&p.rows.items[i - 1], row);
        check_demand(s, &p, row);
        if (row->state != SCHEDULE_WAITING) check_planned(s, &p, row);
        write_row(s, &p, i, arena, out);
    }
    if (e.code == ERR_NONE) check_all_run(s, &p, arena);
    schedule_release(&p);
}

/* The same document has the same schedule. */
static void check_schedules(struct scenario *s, struct arena *arena)
{
    if (count_tasks(s) > SCHEDULE_TASKS_MAX) return;
    for (int model = 0; model < MODEL_COUNT; model++) {
        struct buf first = {0}, second = {0};
        s->state.policy.model = (enum priority_model)model;
        write_schedule(s, arena, &first);
        write_schedule(s, arena, &second);
        ensure(first.length == second.length &&
               (first.length == 0 || memcmp(first.text, second.text, first.length) == 0));
        buf_release(&first);
        buf_release(&second);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct scenario s;
    struct err e = {0};
    if (scenario_read((struct str){(const char *)data, size}, "f", &s, &e) == 0) {
        check_tree(&s);
        check_jobs(&s);
        check_priorities(&s, &arena);
        check_shares(&s, &arena);
        check_schedules(&s, &arena);
    } else {
        ensure(e.code == ERR_INPUT && strncmp(ERR_SENTENCE(&e), "f:", 2) == 0 && strlen(ERR_SENTENCE(&e)) > 4);
    }
    scenario_release(&s);
    arena_release(&arena);
    return 0;
}
