#include "cli/schedule_chart.h"

#include <string.h>

#include "base/quantity.h"

enum {
    WIDTH_DEFAULT = 100,
    WIDTH_MIN = 40,
    AXIS_WIDTH_MIN = 10,
    GAP = 2,
    UNIT_WIDTH = 5,
    HOUR_S = 3600,
    DAY_S = 24 * HOUR_S
};

/* The row of a closed time has no job. */
static const char closed_label[] = "closed";

/* What a row has on an instance. */
struct chart_cell {
    uint32_t row, slots;
};

struct chart {
    const struct schedule *p;
    const struct state *s;
    struct chart_cell *cells;
    uint32_t *first, *count; /* by instance: its cells, in the order of the rows */
    const char **ids;        /* by row; NULL: it is not drawn */
    int64_t from_us, until_us;
    uint32_t id_width, slots_width; /* of the labels: of the ids, of the numbers of slots */
    uint32_t label_width;           /* with the blanks before, between and after them */
    uint32_t columns;               /* of the time axis */
    struct arena *arena;
    struct output *out;
};

static bool is_drawn(const struct schedule *p, const struct schedule_row *row)
{
    return row->state != SCHEDULE_WAITING && schedule_is_known(p, row->start_us);
}

/* The chart ends with the last job whose end is known; without one an hour is shown. */
static int64_t last_end(const struct schedule *p, int64_t now_us)
{
    int64_t last_us = now_us;
    for (uint32_t i = 0; i < p->rows.count; i++) {
        const struct schedule_row *row = &p->rows.items[i];
        if (!is_drawn(p, row)) continue;
        if (row->start_us > last_us) last_us = row->start_us;
        if (schedule_is_known(p, row->end_us) && row->end_us > last_us) last_us = row->end_us;
    }
    return last_us > now_us ? last_us : now_us + HOUR_S * US_PER_S;
}

static bool has_bars(const struct schedule *p)
{
    bool found = false;
    for (uint32_t i = 0; i < p->rows.count; i++) found |= is_drawn(p, &p->rows.items[i]);
    return found;
}

/* A row may have several parts on an instance. */
static void add_cell(struct chart *c, uint32_t row, const struct allocation_part *part)
{
    struct chart_cell *cells = c->cells + c->first[part->instance];
    uint32_t *count = &c->count[part->instance];
    if (*count > 0 && cells[*count - 1].row == row)
        cells[*count - 1].slots += part->slots;
    else
        cells[(*count)++] = (struct chart_cell){row, part->slots};
}

static void make_cells(struct chart *c)
{
    const struct schedule *p = c->p;
    uint32_t instances = p->model.cluster.instances.count;
    c->first = arena_alloc(c->arena, (instances + (size_t)1) * sizeof *c->first);
    c->count = arena_alloc(c->arena, (instances + (size_t)1) * sizeof *c->count);
    c->ids = arena_alloc(c->arena, (p->rows.count + (size_t)1) * sizeof *c->ids);
    for (uint32_t i = 0; i < p->rows.count; i++) {
        if (!is_drawn(p, &p->rows.items[i])) continue;
        const struct allocation *a = &p->rows.items[i].allocation;
        c->ids[i] = schedule_row_id(p, c->s, i, c->arena);
        for (uint32_t k = 0; k < a->part_count; k++) c->first[a->parts[k].instance + 1]++;
    }
    for (uint32_t i = 0; i < instances; i++) c->first[i + 1] += c->first[i];
    c->cells = arena_alloc(c->arena, (c->first[instances] + (size_t)1) * sizeof *c->cells);
    for (uint32_t i = 0; i < p->rows.count; i++) {
        const struct allocation *a = &p->rows.items[i].allocation;
        for (uint32_t k = 0; c->ids[i] != NULL && k < a->part_count; k++) add_cell(c, i, &a->parts[k]);
    }
}

/* The column of a time: 0 is now, columns the end. */
static uint32_t column_of(const struct chart *c, int64_t at_us)
{
    if (at_us <= c->from_us) return 0;
    if (at_us >= c->until_us) return c->columns;
    double part = (double)(at_us - c->from_us) / (double)(c->until_us - c->from_us);
    return (uint32_t)(part * c->columns);
}

/* --- the axis ----------------------------------------------------------------------------------------------------- */

static uint32_t tick_width(int64_t at_s)
{
    char text[32];
    return (uint32_t)duration_format_short(text, at_s);
}

static uint32_t tick_column(const struct chart *c, int64_t at_s)
{
    return column_of(c, c->from_us + at_s * US_PER_S);
}

/* Whether the texts at multiples of a duration leave blanks between them. The last one is the longest. */
static bool has_room(const struct chart *c, int64_t step_s)
{
    int64_t span_s = (c->until_us - c->from_us) / US_PER_S;
    return (double)step_s / (double)(span_s > 0 ? span_s : 1) * c->columns >= tick_width(span_s) + GAP;
}

static int64_t choose_step(const struct chart *c)
{
    static const int32_t steps_s[] = {1,      2,          5,          10,         15,          30,
                                      60,     2 * 60,     5 * 60,     10 * 60,    15 * 60,     30 * 60,
                                      HOUR_S, 2 * HOUR_S, 3 * HOUR_S, 6 * HOUR_S, 12 * HOUR_S, DAY_S};
    for (size_t i = 0; i < sizeof steps_s / sizeof *steps_s; i++) {
        if (has_room(c, steps_s[i])) return steps_s[i];
    }
    int64_t step_s = DAY_S;
    while (!has_room(c, step_s)) step_s *= 2;
    return step_s;
}

/* A text that would reach over the end of the axis is left out. */
static void write_axis(const struct chart *c)
{
    struct buf *out = &c->out->text;
    int64_t step_s = choose_step(c), span_s = (c->until_us - c->from_us) / US_PER_S;
    uint32_t written = 0;
    buf_add_blanks(out, c->label_width + 1);
    for (int64_t at_s = 0; at_s <= span_s; at_s += step_s) {
        char text[32];
        uint32_t column = tick_column(c, at_s), length = (uint32_t)duration_format_short(text, at_s);
        if (column + length > c->columns) break;
        buf_add_blanks(out, column - written);
        buf_add(out, text, length);
        written = column + length;
    }
    buf_add_char(out, '\n');
}

/* --- bars --------------------------------------------------------------------------------------------------------- */

struct bar {
    int64_t from_us, until_us;
    char mark;
    bool is_open; /* it goes on after the chart's end */
};

/* A bar is at least one column wide. */
static void write_bar(const struct chart *c, const struct bar *bar)
{
    struct buf *out = &c->out->text;
    uint32_t from = column_of(c, bar->from_us), until = column_of(c, bar->until_us);
    if (from >= c->columns) from = c->columns - 1;
    if (until <= from) until = from + 1;
    buf_add_char(out, '|');
    buf_add_blanks(out, from);
    for (uint32_t i = from; i < until; i++) buf_add_char(out, bar->mark);
    buf_add_blanks(out, c->columns - until);
    buf_add_text(out, bar->is_open ? "...\n" : "|\n");
}

static const char *unit_of(uint32_t slots)
{
    return slots == 1 ? "slot" : "slots";
}

static void write_row(const struct chart *c, const struct chart_cell *cell)
{
    static const char marks[] = {
        [SCHEDULE_RUNNING] = '#', [SCHEDULE_SUSPENDED] = '~', [SCHEDULE_STARTING] = '>', [SCHEDULE_RESERVED] = '='};
    const struct schedule_row *row = &c->p->rows.items[cell->row];
    buf_format(&c->out->text, "  %-*s  %*u %-*s  ", (int)c->id_width, c->ids[cell->row], (int)c->slots_width,
               cell->slots, UNIT_WIDTH, unit_of(cell->slots));
    write_bar(c, &(struct bar){row->start_us, row->end_us, marks[row->state], !schedule_is_known(c->p, row->end_us)});
}

/* The times in which a queue is closed, as far as they are in the chart. */
static void write_closed(const struct chart *c, uint32_t instance)
{
    const struct object_row *partition = &c->s->objects[OBJECT_PARTITION].items[c->p->model.partition_of[instance]];
    for (uint32_t i = 0; i < partition->closed_count; i++) {
        const struct closed_time *closed = &partition->closed[i];
        if (closed->until_us <= c->from_us || closed->from_us >= c->until_us) continue;
        buf_format(&c->out->text, "  %-*s", (int)c->label_width - GAP, closed_label);
        write_bar(c, &(struct bar){closed->from_us, closed->until_us, 'x', closed->until_us > c->until_us});
    }
}

/* "batch@n1, 4 slots" */
static void write_heading(const struct chart *c, const struct sched_instance *in)
{
    const struct offer *slots = offers_find(&in->offers, SCHED_SLOTS);
    if (slots == NULL || slots->amount > (double)UINT32_MAX)
        output_line(c->out, "%s", in->name);
    else
        output_line(c->out, "%s, %.0f %s", in->name, slots->amount, unit_of((uint32_t)slots->amount));
}

static void write_instance(const struct chart *c, uint32_t instance)
{
    if (c->count[instance] == 0) return;
    write_heading(c, &c->p->model.cluster.instances.items[instance]);
    for (uint32_t i = 0; i < c->count[instance]; i++) write_row(c, &c->cells[c->first[instance] + i]);
    write_closed(c, instance);
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static void grow(uint32_t *width, size_t other)
{
    if (other > *width) *width = (uint32_t)other;
}

/* The labels are as wide as the widest, and the axis has the rest. */
static void set_widths(struct chart *c, uint32_t width)
{
    if (width == 0) width = WIDTH_DEFAULT;
    if (width < WIDTH_MIN) width = WIDTH_MIN;
    for (uint32_t i = 0; i < c->p->rows.count; i++) {
        char text[32];
        if (c->ids[i] == NULL) continue;
        grow(&c->id_width, strlen(c->ids[i]));
        grow(&c->slots_width, text_format(text, sizeof text, "%u", c->p->rows.items[i].allocation.slots));
    }
    c->label_width = GAP + c->id_width + GAP + c->slots_width + 1 + UNIT_WIDTH + GAP;
    c->columns = AXIS_WIDTH_MIN;
    uint32_t others = c->label_width + 1 + 3; /* the bar's ends, the last one of dots */
    if (width > others + AXIS_WIDTH_MIN) c->columns = width - others;
}

void schedule_chart_write(const struct schedule *p, const struct scenario *s, uint32_t width, struct output *out)
{
    struct arena arena = {0};
    struct chart c = {.p = p, .s = &s->state, .from_us = s->now_us, .until_us = last_end(p, s->now_us), .out = out};
    c.arena = &arena;
    if (!has_bars(p)) return;
    make_cells(&c);
    set_widths(&c, width);
    output_line(out, "%s", "");
    write_axis(&c);
    for (uint32_t i = 0; i < p->model.cluster.instances.count; i++) write_instance(&c, i);
    arena_release(&arena);
}
