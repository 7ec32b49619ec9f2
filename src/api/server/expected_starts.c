#include "api/server/expected_starts.h"

#include "engine/schedule.h"

enum { JOBS_NAMED_MAX = 3 };

struct maker {
    const struct state *s;
    const struct schedule *p;
    struct arena *arena;
    uint32_t *booked; /* rows that run or will run */
    uint32_t booked_count;
    struct buf text;
};

static const char *text_of(struct maker *m)
{
    return arena_copy(m->arena, (struct str){m->text.text, m->text.length});
}

static uint32_t host_of(const struct maker *m, const struct allocation_part *part)
{
    return m->p->model.cluster.instances.items[part->instance].host;
}

static bool shares_host(const struct maker *m, const struct allocation *a, const struct allocation *b)
{
    for (uint32_t i = 0; i < a->part_count; i++) {
        for (uint32_t k = 0; k < b->part_count; k++) {
            if (host_of(m, &a->parts[i]) == host_of(m, &b->parts[k])) return true;
        }
    }
    return false;
}

/* The jobs on its hosts that are to end when it starts. */
static const char *describe_wait(struct maker *m, const struct schedule_row *row)
{
    uint32_t count = 0, last = NONE;
    uint32_t jobs[JOBS_NAMED_MAX];
    for (uint32_t i = 0; i < m->booked_count; i++) {
        const struct schedule_row *other = &m->p->rows.items[m->booked[i]];
        if (other->end_us != row->start_us || other->job == last) continue;
        if (!shares_host(m, &other->allocation, &row->allocation)) continue;
        last = other->job;
        if (count < JOBS_NAMED_MAX) jobs[count] = m->s->jobs.items[other->job].id;
        count++;
    }
    buf_clear(&m->text);
    for (uint32_t i = 0; i < count && i < JOBS_NAMED_MAX; i++)
        buf_format(&m->text, "%s%u", i == 0 ? (count == 1 ? "job " : "jobs ") : ", ", jobs[i]);
    if (count > JOBS_NAMED_MAX) buf_format(&m->text, " and %u more", count - JOBS_NAMED_MAX);
    return count > 0 ? text_of(m) : NULL;
}

static struct expected_start describe(struct maker *m, const struct schedule_row *row)
{
    struct expected_start x = {0};
    if (row->reason != NULL) x.waits_for = arena_copy(m->arena, str(row->reason));
    if (row->start_us == 0) return x;
    buf_clear(&m->text);
    schedule_places(m->p, &row->allocation, &m->text);
    x.start_us = row->start_us;
    x.places = text_of(m);
    x.waits_for = describe_wait(m, row);
    return x;
}

static void find_booked(struct maker *m)
{
    m->booked = arena_alloc(m->arena, (m->p->rows.count + (size_t)1) * sizeof *m->booked);
    for (uint32_t i = 0; i < m->p->rows.count; i++) {
        if (m->p->rows.items[i].state != SCHEDULE_WAITING) m->booked[m->booked_count++] = i;
    }
}

/* Of several tasks the one that starts first, because it is the first of them in the order of the run. */
static void add_rows(struct maker *m, struct expected_starts *out)
{
    uint32_t count = 0;
    out->items = arena_alloc(m->arena, (m->p->rows.count + (size_t)1) * sizeof *out->items);
    for (uint32_t i = 0; i < m->p->rows.count; i++) {
        const struct schedule_row *row = &m->p->rows.items[i];
        uint32_t id = m->s->jobs.items[row->job].id;
        bool is_pending =
            row->state == SCHEDULE_STARTING || row->state == SCHEDULE_RESERVED || row->state == SCHEDULE_WAITING;
        if (!is_pending || map_get_u64(&out->by_job, id) != NONE) continue;
        out->items[count] = describe(m, row);
        map_set_u64(&out->by_job, id, count++);
    }
}

void expected_starts_make(struct state *s, int64_t now_us, struct arena *arena, struct expected_starts *out)
{
    struct schedule schedule;
    struct maker m = {.s = s, .p = &schedule, .arena = arena};
    *out = (struct expected_starts){0};
    if (schedule_make(s, now_us, SCHEDULE_WITH_ESTIMATES, &schedule, NULL) == 0) {
        find_booked(&m);
        add_rows(&m, out);
    }
    buf_release(&m.text);
    schedule_release(&schedule);
}

void expected_starts_release(struct expected_starts *x)
{
    map_release(&x->by_job);
}

const struct expected_start *expected_starts_find(const struct expected_starts *x, uint32_t job_id)
{
    uint32_t index = map_get_u64(&x->by_job, job_id);
    return index != NONE ? &x->items[index] : NULL;
}
