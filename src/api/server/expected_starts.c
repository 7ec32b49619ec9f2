#include "api/server/expected_starts.h"

#include <string.h>

#include "base/ensure.h"
#include "base/sort.h"
#include "engine/closed_times.h"
#include "engine/never_runs.h"
#include "engine/schedule.h"

enum { JOBS_NAMED_MAX = 3 };

#define HOST_RESUMED "its host or partition to be resumed"

struct maker {
    const struct state *s;
    const struct schedule *p;
    struct arena *arena;
    struct never_runs *never;
    struct sort_record *ends; /* of the rows that run or will run, ascending; key: time, index: row */
    uint32_t end_count;
    int64_t now_us, due_us; /* due_us: of the next pass */
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

static int64_t resolution_us(const struct maker *m)
{
    return setting_number(&m->s->settings, SET_BF_RESOLUTION) * US_PER_S;
}

static uint32_t first_end_after(const struct maker *m, int64_t at_us)
{
    uint32_t low = 0, high = m->end_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((int64_t)m->ends[middle].key <= at_us)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The partition that opens when the job starts, or shortly before it. */
static const char *describe_opening(struct maker *m, const struct schedule_row *row)
{
    uint32_t instance = row->allocation.part_count > 0 ? row->allocation.parts[0].instance : NONE;
    if (instance == NONE) return NULL;
    uint32_t partition = m->p->model.partition_of[instance];
    int64_t before_us = row->start_us - 1 - resolution_us(m), opening_us = closed_times_end(m->s, partition, before_us);
    if (opening_us == 0 || opening_us > row->start_us) return NULL;
    buf_clear(&m->text);
    buf_format(&m->text, "partition %s to open", m->s->objects[OBJECT_PARTITION].items[partition].object.name);
    return text_of(m);
}

/* Whether one of its partitions is ever open for so long. */
static bool is_ever_open(const struct maker *m, const struct job *j, int64_t duration_us)
{
    bool is_open = false;
    for (uint32_t i = 0; i < j->partition_count; i++)
        is_open |= closed_times_leave(m->s, j->partitions[i], m->now_us, duration_us);
    return is_open;
}

static const char *describe_always_closed(struct maker *m, const struct job *j)
{
    if (j->partition_count > 1)
        return arena_copy(m->arena, str("one of its partitions to open, but their calendars give no time for that"));
    const char *name = m->s->objects[OBJECT_PARTITION].items[j->partitions[0]].object.name;
    buf_clear(&m->text);
    buf_format(&m->text, "partition %s to open, but its calendar gives no time for that", name);
    return text_of(m);
}

/* Why a job without an expected start has none, if it is because of calendars. */
static const char *describe_closed(struct maker *m, const struct schedule_row *row)
{
    const struct job *j = &m->s->jobs.items[row->job];
    if (is_ever_open(m, j, row->demand->duration_us)) return NULL;
    if (!is_ever_open(m, j, 1)) return describe_always_closed(m, j);
    return arena_copy(m->arena, str("a shorter time limit; its partitions are never open for so long"));
}

/* The jobs on its hosts that are to end when it starts, or since the last time at which it might have started. */
static const char *describe_wait(struct maker *m, const struct schedule_row *row)
{
    int64_t step_us = resolution_us(m) > 0 ? resolution_us(m) : 1;
    uint32_t count = 0, last = NONE, end = first_end_after(m, row->start_us);
    uint32_t jobs[JOBS_NAMED_MAX];
    for (uint32_t i = first_end_after(m, row->start_us - step_us); i < end; i++) {
        const struct schedule_row *other = &m->p->rows.items[m->ends[i].index];
        if (other->job == last || other->job == row->job) continue;
        if (!shares_host(m, &other->allocation, &row->allocation)) continue;
        last = other->job;
        if (count < JOBS_NAMED_MAX) jobs[count] = m->s->jobs.items[other->job].id;
        count++;
    }
    if (count == 0) return describe_opening(m, row);
    buf_clear(&m->text);
    for (uint32_t i = 0; i < count && i < JOBS_NAMED_MAX; i++)
        buf_format(&m->text, "%s%u", i == 0 ? (count == 1 ? "job " : "jobs ") : ", ", jobs[i]);
    if (count > JOBS_NAMED_MAX) buf_format(&m->text, " and %u more", count - JOBS_NAMED_MAX);
    return text_of(m);
}

/* Why nothing starts on any of the instances that it may use; NULL: one is open. Described hosts do not count. */
static const char *describe_off(const struct maker *m, const struct schedule_row *row)
{
    const struct cluster_model *model = &m->p->model;
    bool is_overloaded = false;
    for (uint32_t i = 0; i < model->cluster.instances.count; i++) {
        const struct sched_instance *in = &model->cluster.instances.items[i];
        bool is_allowed = row->demand->allowed == NULL || (row->demand->allowed[i / 64] >> i % 64 & 1) != 0;
        uint32_t host = model->host_of[in->host];
        bool is_attached = host < m->s->hosts.count && m->s->hosts.items[host].is_attached;
        if (!is_allowed || model->has_left[i] || !is_attached) continue;
        if (!in->is_off && !in->is_overloaded) return NULL;
        is_overloaded |= in->is_overloaded;
    }
    return is_overloaded ? "the load to pass no threshold any more" : HOST_RESUMED;
}

/* Whether only hosts that are drained or down have what it asks for. */
static bool is_unavailable(const struct maker *m, const struct schedule_row *row)
{
    return never_runs_is_unavailable(m->never, job_demand(&m->never->demands, &m->s->jobs.items[row->job], NONE));
}

static struct expected_start describe(struct maker *m, const struct schedule_row *row)
{
    struct expected_start x = {0};
    if (row->reason != NULL)
        x.never_runs = arena_copy(m->arena, str(row->reason));
    else if (row->start_us == 0)
        x.waits_for = describe_closed(m, row);
    if (row->start_us == 0 && x.waits_for == NULL && x.never_runs == NULL) x.waits_for = describe_off(m, row);
    if (row->start_us == 0 && x.waits_for == NULL && x.never_runs == NULL && is_unavailable(m, row))
        x.waits_for = HOST_RESUMED;
    if (row->start_us == 0) return x;
    buf_clear(&m->text);
    schedule_places(m->p, &row->allocation, &m->text);
    if (schedule_is_known(m->p, row->start_us)) x.start_us = row->start_us > m->due_us ? row->start_us : m->due_us;
    x.places = text_of(m);
    x.waits_for = describe_wait(m, row);
    return x;
}

static void find_ends(struct maker *m)
{
    const struct schedule *p = m->p;
    size_t size = (p->rows.count + (size_t)1) * sizeof *m->ends;
    struct sort_record *scratch = arena_alloc_raw(m->arena, size);
    m->ends = arena_alloc_raw(m->arena, size);
    for (uint32_t i = 0; i < p->rows.count; i++) {
        const struct schedule_row *row = &p->rows.items[i];
        if (row->start_us == 0 || row->end_us <= 0) continue;
        m->ends[m->end_count++] = (struct sort_record){.key = (uint64_t)row->end_us, .index = i};
    }
    sort_records(m->ends, m->end_count, scratch);
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
        out->items[count].job_id = id;
        map_set_u64(&out->by_job, id, count++);
    }
    out->count = count;
}

struct expected_starts *expected_starts_new(struct state *s, int64_t now_us)
{
    struct expected_starts *x = mem_resize(NULL, 0, sizeof *x);
    struct schedule schedule;
    struct maker m = {.s = s,
                      .p = &schedule,
                      .arena = &x->arena,
                      .now_us = now_us,
                      .due_us = state_next_due_us(s),
                      .never = never_runs_kept(s)};
    *x = (struct expected_starts){.references = 1, .next_job_id = s->next_job_id};
    if (schedule_make(s, now_us, SCHEDULE_WITH_ESTIMATES, &schedule, NULL) == 0) {
        find_ends(&m);
        add_rows(&m, x);
    }
    buf_release(&m.text);
    schedule_release(&schedule);
    return x;
}

/* --- as a text ---------------------------------------------------------------------------------------------------- */

static void write_number(struct buf *out, uint64_t number)
{
    buf_add(out, &number, sizeof number);
}

/* NULL: NONE instead of a length. */
static void write_text(struct buf *out, const char *text)
{
    struct str s = str(text);
    write_number(out, text != NULL ? s.length : NONE);
    if (s.length > 0) buf_add_str(out, s);
}

void expected_starts_write(const struct expected_starts *x, struct buf *out)
{
    write_number(out, x->next_job_id);
    write_number(out, x->count);
    for (uint32_t i = 0; i < x->count; i++) {
        const struct expected_start *start = &x->items[i];
        write_number(out, start->job_id);
        write_number(out, (uint64_t)start->start_us);
        write_text(out, start->places);
        write_text(out, start->waits_for);
        write_text(out, start->never_runs);
    }
}

static uint64_t read_number(struct str *text)
{
    uint64_t number;
    ensure(text->length >= sizeof number);
    memcpy(&number, text->text, sizeof number);
    *text = (struct str){text->text + sizeof number, text->length - sizeof number};
    return number;
}

static const char *read_text(struct str *text, struct arena *arena)
{
    uint64_t length = read_number(text);
    if (length == NONE) return NULL;
    ensure(length <= text->length);
    const char *copy = arena_copy(arena, (struct str){text->text, length});
    *text = (struct str){text->text + length, text->length - length};
    return copy;
}

struct expected_starts *expected_starts_read(struct str text)
{
    struct expected_starts *x = mem_resize(NULL, 0, sizeof *x);
    *x = (struct expected_starts){.references = 1, .next_job_id = (uint32_t)read_number(&text)};
    x->count = (uint32_t)read_number(&text);
    x->items = arena_alloc(&x->arena, (x->count + (size_t)1) * sizeof *x->items);
    for (uint32_t i = 0; i < x->count; i++) {
        struct expected_start *start = &x->items[i];
        start->job_id = (uint32_t)read_number(&text);
        start->start_us = (int64_t)read_number(&text);
        start->places = read_text(&text, &x->arena);
        start->waits_for = read_text(&text, &x->arena);
        start->never_runs = read_text(&text, &x->arena);
        map_set_u64(&x->by_job, start->job_id, i);
    }
    return x;
}

/* --- references --------------------------------------------------------------------------------------------------- */

struct expected_starts *expected_starts_share(struct expected_starts *x)
{
    x->references++;
    return x;
}

void expected_starts_release(struct expected_starts *x)
{
    if (x == NULL || --x->references > 0) return;
    map_release(&x->by_job);
    arena_release(&x->arena);
    mem_free(x);
}

const struct expected_start *expected_starts_find(const struct expected_starts *x, uint32_t job_id)
{
    uint32_t index = map_get_u64(&x->by_job, job_id);
    return index != NONE ? &x->items[index] : NULL;
}
