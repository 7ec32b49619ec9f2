#include "engine/places.h"

#include <math.h>

#include "engine/closed_times.h"
#include "engine/schedule.h"

/* What the plan has booked on an instance. */
struct place_slots {
    double used;
    struct timeline reserved;
};

static void count_row(const struct schedule_row *row, struct place_slots *slots)
{
    bool is_used = row->state == SCHEDULE_RUNNING || row->state == SCHEDULE_SUSPENDED;
    for (uint32_t i = 0; i < row->allocation.part_count; i++) {
        const struct allocation_part *part = &row->allocation.parts[i];
        struct place_slots *of_place = &slots[part->instance];
        if (is_used)
            of_place->used += part->slots;
        else if (row->start_us < row->end_us)
            timeline_book(&of_place->reserved, &(struct timeline_booking){row->start_us, row->end_us, part->slots});
    }
}

static enum place_state state_of(const struct state *s, const struct cluster_model *m, uint32_t instance,
                                 int64_t now_us)
{
    const struct sched_instance *in = &m->cluster.instances.items[instance];
    if (!s->hosts.items[m->host_of[in->host]].is_attached) return PLACE_UNATTACHED;
    if (m->has_left[instance]) return PLACE_LEFT;
    if (in->is_off) return (enum place_state)m->state_of[instance];
    if (closed_times_end(s, m->partition_of[instance], now_us) != 0) return PLACE_CLOSED;
    return in->is_overloaded ? PLACE_OVERLOADED : PLACE_UP;
}

/* What is free of the slots that an object offers; INFINITY: it does not limit them. */
static double free_slots(const struct offers *o, int64_t now_us)
{
    const struct offer *slots = offers_find(o, SCHED_SLOTS);
    return slots != NULL ? slots->amount - timeline_at(&slots->booked, now_us) : (double)INFINITY;
}

static double free_in_place(const struct cluster *c, const struct sched_instance *in, int64_t now_us)
{
    double global = free_slots(&c->global, now_us), on_host = free_slots(&c->hosts.items[in->host].offers, now_us);
    return fmax(0.0, fmin(free_slots(&in->offers, now_us), fmin(on_host, global)));
}

static double load_of(const struct cluster_model *m, const struct sched_instance *in)
{
    uint32_t resource = cluster_resources_find(&m->resources, str("load_avg"));
    const struct offer *load =
        resource != NONE ? offers_find(&m->cluster.hosts.items[in->host].offers, resource) : NULL;
    return load != NULL ? load->amount : (double)NAN;
}

static void describe(const struct state *s, const struct schedule *p, uint32_t instance,
                     const struct place_slots *slots, int64_t now_us, struct arena *arena, struct field_value *value)
{
    const struct cluster_model *m = &p->model;
    const struct sched_instance *in = &m->cluster.instances.items[instance];
    const struct offer *total = offers_find(&in->offers, SCHED_SLOTS);
    enum place_state state = state_of(s, m, instance, now_us);
    double load = load_of(m, in), is_free = state == PLACE_UP ? free_in_place(&m->cluster, in, now_us) : 0.0;
    const char *partition = s->objects[OBJECT_PARTITION].items[m->partition_of[instance]].object.name;
    value[PLACE_FIELD_PLACE] = field_text(arena_copy(arena, str(in->name)));
    value[PLACE_FIELD_PARTITION] = field_text(arena_copy(arena, str(partition)));
    value[PLACE_FIELD_HOST] = field_text(arena_copy(arena, str(m->cluster.hosts.items[in->host].name)));
    value[PLACE_FIELD_STATE] = field_number(state);
    value[PLACE_FIELD_USED] = field_number((int64_t)slots->used);
    value[PLACE_FIELD_RESERVED] = field_number((int64_t)timeline_max(&slots->reserved, now_us, TIMELINE_END));
    value[PLACE_FIELD_TOTAL] = field_number(total != NULL ? (int64_t)total->amount : 0);
    value[PLACE_FIELD_FREE] = field_number((int64_t)is_free);
    value[PLACE_FIELD_LOAD] = field_real(load);
}

static void list(const struct state *s, const struct schedule *p, int64_t now_us, struct arena *arena,
                 struct place_list *out)
{
    uint32_t count = p->model.cluster.instances.count;
    struct place_slots *slots = arena_alloc(arena, (count + (size_t)1) * sizeof *slots);
    out->items = arena_alloc(arena, (count + (size_t)1) * sizeof *out->items);
    out->count = count;
    for (uint32_t i = 0; i < p->rows.count; i++) count_row(&p->rows.items[i], slots);
    for (uint32_t i = 0; i < count; i++) {
        describe(s, p, i, &slots[i], now_us, arena, out->items[i].value);
        timeline_release(&slots[i].reserved);
    }
}

int places_list(struct state *s, int64_t now_us, struct arena *arena, struct place_list *out, struct err *e)
{
    struct schedule schedule;
    int status = schedule_make(s, now_us, SCHEDULE_WITHOUT_ESTIMATES, &schedule, e);
    if (status == 0) list(s, &schedule, now_us, arena, out);
    schedule_release(&schedule);
    return status;
}
