/* The rows of a schedule as records of a listing, and as lines of Grid Engine's schedule file. */
#include <inttypes.h>
#include <string.h>

#include "base/ensure.h"
#include "base/sort.h"
#include "engine/schedule.h"
#include "fields/job_id.h"
#include "fields/limits.h"

/* --- records ------------------------------------------------------------------------------------------------------ */

const char *schedule_row_id(const struct schedule *p, const struct state *s, uint32_t i, struct arena *arena)
{
    const struct schedule_row *row = &p->rows.items[i];
    const struct job *j = &s->jobs.items[row->job];
    struct buf text = {0};
    uint32_t task = row->tasks != NULL ? NONE : row->task_id;
    const struct job_id_parts id = {.job_id = j->id, .task_id = task, .is_array = j->is_array, .tasks = row->tasks};
    job_id_write(&id, &text);
    const char *result = arena_copy(arena, (struct str){text.text, text.length});
    buf_release(&text);
    return result;
}

void schedule_places(const struct schedule *p, const struct allocation *a, struct buf *out)
{
    for (uint32_t i = 0; i < a->part_count; i++)
        buf_format(out, "%s%s=%u", i > 0 ? "," : "", p->model.cluster.instances.items[a->parts[i].instance].name,
                   a->parts[i].slots);
}

static const char *places_of(const struct schedule *p, const struct schedule_row *row, struct arena *arena)
{
    struct buf text = {0};
    schedule_places(p, &row->allocation, &text);
    const char *result = arena_copy(arena, (struct str){text.text, text.length});
    buf_release(&text);
    return result;
}

void schedule_row_values(const struct schedule *p, const struct state *s, uint32_t i, struct arena *arena,
                         struct schedule_values *out)
{
    const struct schedule_row *row = &p->rows.items[i];
    const struct job *j = &s->jobs.items[row->job];
    bool is_waiting = row->state == SCHEDULE_WAITING;
    uint32_t environment = is_waiting ? NONE : row->allocation.environment;
    struct field_value *value = out->value;
    for (uint32_t f = 0; f < SCHEDULE_FIELD_COUNT; f++) value[f] = field_absent();
    value[SCHEDULE_FIELD_ID] = field_text(schedule_row_id(p, s, i, arena));
    value[SCHEDULE_FIELD_JOB_ID] = field_number(j->id);
    value[SCHEDULE_FIELD_USER] = field_text(s->assocs.items[j->assoc].user);
    value[SCHEDULE_FIELD_STATE] = field_number(row->state);
    value[SCHEDULE_FIELD_SLOTS] = field_number(is_waiting ? row->demand->ranges[0].min : row->allocation.slots);
    if (environment != NONE)
        value[SCHEDULE_FIELD_ENVIRONMENT] = field_text(p->model.cluster.environments.items[environment].name);
    value[SCHEDULE_FIELD_REASON] = field_text(row->reason);
    if (is_waiting) return;
    if (schedule_is_known(p, row->start_us)) value[SCHEDULE_FIELD_START] = field_number(row->start_us);
    if (schedule_is_known(p, row->end_us) && row->end_us <= (int64_t)TIME_US_MAX)
        value[SCHEDULE_FIELD_END] = field_number(row->end_us);
    value[SCHEDULE_FIELD_PLACES] = field_text(places_of(p, row, arena));
}

/* --- the order of running ones ---------------------------------------------------------------------------------- */

void schedule_sort_rows(struct schedule_row *rows, uint32_t count)
{
    struct arena arena = {0};
    struct sort_record *records = arena_alloc(&arena, (count + (size_t)1) * sizeof *records);
    struct sort_record *scratch = arena_alloc(&arena, (count + (size_t)1) * sizeof *scratch);
    struct schedule_row *copy = arena_alloc(&arena, (count + (size_t)1) * sizeof *copy);
    for (uint32_t i = 0; i < count; i++) {
        const struct schedule_row *row = &rows[i];
        records[i] = (struct sort_record){.key = map_key_of_pair(row->job, row->task_id), .index = i};
    }
    sort_records(records, count, scratch);
    for (uint32_t i = 0; i < count; i++) {
        const struct schedule_row *row = &rows[records[i].index];
        uint64_t is_suspended = row->state == SCHEDULE_SUSPENDED;
        uint64_t start = (uint64_t)row->start_us + (UINT64_C(1) << 62); /* negative ones first */
        records[i].key = is_suspended << 63 | start;
    }
    sort_records(records, count, scratch);
    for (uint32_t i = 0; i < count; i++) copy[i] = rows[records[i].index];
    if (count > 0) memcpy(rows, copy, count * sizeof *copy);
    arena_release(&arena);
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

struct line_writer {
    const struct cluster *cluster;
    const struct job *job;
    const struct schedule_row *row;
    struct buf *out;
    ARRAY(struct taken) of_pools; /* of a running job's part, not written yet */
};

/* Endless: up to the largest time of 32 bits, as in Grid Engine; of 64 bits if it starts later. */
static int64_t duration_s(const struct schedule_row *row)
{
    int64_t start_s = row->start_us / US_PER_S, end_s = row->end_us / US_PER_S;
    if (row->end_us == TIMELINE_END && start_s < (int64_t)UINT32_MAX) end_s = UINT32_MAX;
    return end_s - start_s;
}

static void write_taken(const struct line_writer *w, const struct taken *taken)
{
    static const char *const states[] = {[SCHEDULE_RUNNING] = "RUNNING",
                                         [SCHEDULE_SUSPENDED] = "SUSPENDED",
                                         [SCHEDULE_STARTING] = "STARTING",
                                         [SCHEDULE_RESERVED] = "RESERVING"};
    static const char levels[] = {[LEVEL_ENVIRONMENT] = 'P',
                                  [LEVEL_GLOBAL] = 'G',
                                  [LEVEL_HOST] = 'H',
                                  [LEVEL_INSTANCE] = 'Q',
                                  [LEVEL_QUOTA] = 'L'};
    const struct schedule_row *row = w->row;
    buf_format(
        w->out, "%u:%u:%s:%" PRId64 ":%" PRId64 ":%c:%s:%s:%.6f\n", w->job->id, w->job->is_array ? row->task_id : 1,
        states[row->state], row->start_us / US_PER_S, duration_s(row), levels[taken->level], taken->object,
        taken->pool != NULL ? taken->pool : w->cluster->resources.items[taken->offer->resource].name, taken->amount);
}

/* The slots come last. */
static uint32_t position_of(const struct taken *taken)
{
    return taken->offer->resource == SCHED_SLOTS ? UINT32_MAX : taken->offer->resource;
}

/* In the order of resources; those of one resource keep theirs. */
static void write_pools(struct line_writer *w)
{
    for (uint32_t left = w->of_pools.count; left > 0; left--) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < left; i++) {
            if (position_of(&w->of_pools.items[i]) < position_of(&w->of_pools.items[first])) first = i;
        }
        write_taken(w, &w->of_pools.items[first]);
        memmove(&w->of_pools.items[first], &w->of_pools.items[first + 1],
                (left - 1 - first) * sizeof *w->of_pools.items);
    }
    array_clear(&w->of_pools);
}

/* Grid Engine writes what a running job has of pools resource by resource, and what the run gives set by set (case
 * i1). */
static void write_line(const struct taken *taken, void *context)
{
    struct line_writer *w = context;
    bool is_of_run = w->row->state == SCHEDULE_STARTING || w->row->state == SCHEDULE_RESERVED;
    if (taken->level == LEVEL_QUOTA && !is_of_run) {
        *array_add(&w->of_pools) = *taken;
        return;
    }
    write_pools(w);
    write_taken(w, taken);
}

void schedule_row_lines(const struct cluster *c, const struct job *j, const struct schedule_row *row, struct buf *out)
{
    struct line_writer w = {.cluster = c, .job = j, .row = row, .out = out};
    ensure(row->state != SCHEDULE_WAITING);
    cluster_taken(c, row->demand, &row->allocation, write_line, &w);
    write_pools(&w);
    array_release(&w.of_pools);
}

void schedule_lines(const struct schedule *p, const struct state *s, const struct schedule_row *row, struct buf *out)
{
    schedule_row_lines(&p->model.cluster, &s->jobs.items[row->job], row, out);
}
