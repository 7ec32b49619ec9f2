/* What runs, as a plan has it: where each task is, and until when it is booked. */
#include <string.h>

#include "engine/closed_times.h"
#include "engine/live_cluster.h"
#include "engine/ranking.h"
#include "engine/schedule.h"

struct running_builder {
    struct state *s;
    int64_t now_us;
    struct schedule *out;
    uint32_t unplaced; /* a running job that has no room, or NONE */
};

/* Adds slots on an instance behind those on the same host, because the parts on a host have to be adjacent. */
static void add_part(const struct cluster *c, struct allocation *a, struct allocation_part part)
{
    uint32_t host = c->instances.items[part.instance].host, at = a->part_count++;
    while (at > 0 && c->instances.items[a->parts[at - 1].instance].host != host) at--;
    if (at == 0) at = a->part_count - 1;
    memmove(a->parts + at + 1, a->parts + at, (a->part_count - 1 - at) * sizeof *a->parts);
    a->parts[at] = part;
    a->slots = part.slots > UINT32_MAX - a->slots ? UINT32_MAX : a->slots + part.slots;
}

/* The places that the document says; of those that are no instance, none. */
static bool place_as_given(struct running_builder *b, const struct job_document *document, struct allocation *out)
{
    *out = (struct allocation){.environment = NONE};
    out->parts = arena_alloc(&b->out->arena, (document->place_count + (size_t)1) * sizeof *out->parts);
    for (uint32_t i = 0; i < document->place_count; i++) {
        const struct job_place *place = &document->places[i];
        uint32_t instance = cluster_model_instance(&b->out->model, place->partition, place->host);
        if (instance == NONE) continue;
        add_part(&b->out->model.cluster, out, (struct allocation_part){instance, place->slots});
    }
    return out->part_count > 0;
}

static bool has_places(const struct running_builder *b, const struct job *j)
{
    return !b->s->is_document || j->document->place_count > 0;
}

/* Without places a running job is put where it fits now. */
static bool place_running(struct running_builder *b, const struct job *j, const struct demand *d,
                          struct allocation *out)
{
    const struct window window = {b->now_us, b->now_us + 1};
    bool is_placed = has_places(b, j) ? place_as_given(b, j->document, out)
                                      : place_job(&b->out->model.cluster, d, window, NULL, &b->out->arena, out);
    if (is_placed && out->environment == NONE && d->environment_count > 0) out->environment = d->environments[0];
    return is_placed;
}

static void count_start(struct running_builder *b, const struct allocation *a, int64_t start_us)
{
    struct cluster_model *m = &b->out->model;
    double slots = load_started_slots(&m->load, b->now_us - start_us);
    for (uint32_t i = 0; i < a->part_count; i++)
        m->cluster.hosts.items[m->cluster.instances.items[a->parts[i].instance].host].started_slots +=
            slots * a->parts[i].slots;
}

static void book_row(struct running_builder *b, const struct schedule_row *row)
{
    int64_t from_us = row->start_us < b->now_us ? row->start_us : b->now_us - 1;
    count_start(b, &row->allocation, row->start_us);
    cluster_book(&b->out->model.cluster, row->demand, &row->allocation, from_us, row->end_us);
    *array_add(&b->out->rows) = *row;
}

static enum schedule_state state_of(const struct task *k)
{
    return k->state == JOB_SUSPENDED ? SCHEDULE_SUSPENDED : SCHEDULE_RUNNING;
}

/* A task of an instance is where it was started. */
static void add_live(struct running_builder *b, const struct task *k, uint32_t index)
{
    struct schedule_row row = {.job = index, .task_id = k->task_id, .state = state_of(k)};
    row.demand = job_demand_of_task(&b->out->demands, &b->s->jobs.items[index], k);
    row.allocation = live_cluster_allocation(&b->out->model, k, row.demand, &b->out->arena);
    if (row.allocation.part_count == 0) return;
    row.start_us = k->launch_us;
    row.end_us = live_cluster_end(b->s, k, row.demand, b->now_us);
    book_row(b, &row);
}

/* A job that runs longer than planned is expected to end with the next run. */
static void add_running(struct running_builder *b, const struct task *k, uint32_t index)
{
    const struct job *j = &b->s->jobs.items[index];
    const struct job_document *document = j->document;
    if (document->suspension == SUSPENSION_BY_QUEUE)
        return; /* it is in no schedule, and its slots are another queue's (case i5) */
    struct schedule_row row = {.job = index, .task_id = k->task_id, .state = state_of(k)};
    int64_t interval_us = setting_number(&b->s->settings, SET_GE_SCHEDULE_INTERVAL) * US_PER_S;
    row.demand = job_demand(&b->out->demands, j, NONE);
    row.start_us = document->start_us != 0 ? document->start_us : b->now_us;
    row.end_us = demand_end_us(row.demand, row.start_us);
    if (row.end_us <= b->now_us) row.end_us = b->now_us + interval_us;
    if (place_running(b, j, row.demand, &row.allocation))
        book_row(b, &row);
    else
        b->unplaced = index;
}

/* An order by index, for jobs whose places are not known. The run makes its own. */
static void list_instances(struct cluster *c)
{
    for (uint32_t i = 0; i < c->instances.count; i++) *array_add(&c->order) = i;
}

/* By share: the hosts have the tickets of their jobs. */
static void count_tickets(struct running_builder *b)
{
    struct cluster_model *m = &b->out->model;
    if (m->load.order != ORDER_BY_SHARE || b->s->policy.model != MODEL_TICKETS) return;
    const double *tickets = ticket_ranks_of_running(b->s, b->now_us, &b->out->arena);
    for (uint32_t i = 0; i < b->out->rows.count; i++) {
        const struct schedule_row *row = &b->out->rows.items[i];
        const struct allocation *a = &row->allocation;
        uint32_t task = state_find_task(b->s, b->s->jobs.items[row->job].id, row->task_id);
        for (uint32_t k = 0; k < a->part_count; k++) {
            uint32_t host = m->cluster.instances.items[a->parts[k].instance].host;
            m->cluster.hosts.items[host].tickets += tickets[task] * a->parts[k].slots / a->slots;
        }
    }
}

/* Those with places first: the others are put where those leave room. */
static void add_all_running(struct running_builder *b)
{
    list_instances(&b->out->model.cluster);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < b->s->tasks.count; i++) {
            const struct task *k = &b->s->tasks.items[i];
            uint32_t job = state_find_job(b->s, k->job_id);
            if (job_state_is_end(k->state) || has_places(b, &b->s->jobs.items[job]) != (pass == 0)) continue;
            if (b->s->is_document)
                add_running(b, k, job);
            else
                add_live(b, k, job);
        }
    }
    schedule_sort_rows(b->out->rows.items, b->out->rows.count);
}

static int check_running(const struct running_builder *b, struct err *e)
{
    char id[16];
    if (b->unplaced == NONE) return 0;
    text_format(id, sizeof id, "%u", b->s->jobs.items[b->unplaced].id);
    return err_subject(e, ERR_INPUT, "job", str(id), "is running, but there is no room for it%s",
                       has_places(b, &b->s->jobs.items[b->unplaced]) ? " at its places" : "; give its 'places'");
}

int schedule_make_running(struct state *s, int64_t now_us, struct schedule *out, struct err *e)
{
    struct running_builder b = {.s = s, .now_us = now_us, .out = out, .unplaced = NONE};
    struct run_rules rules;
    *out = (struct schedule){0};
    if (cluster_model_make(s, &out->model, e) != 0) return -1;
    job_demands_begin(&out->demands, s, &out->model, &out->arena);
    cluster_model_run_rules(&out->model, s, &rules);
    add_all_running(&b);
    count_tickets(&b);
    closed_times_book(&out->model, s, closed_times_part(rules.search), now_us);
    return check_running(&b, e);
}
