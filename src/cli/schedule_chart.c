#include "cli/schedule_chart.h"

#include <string.h>

#include "base/quantity.h"

enum { WIDTH_DEFAULT = 100, WIDTH_MIN = 40, LABEL_WIDTH = 24, TICK_COLUMNS = 10 };

struct chart {
    const struct schedule *p;
    const struct state *s;
    int64_t from_us, until_us;
    uint32_t columns; /* of the time axis */
    struct output *out;
};

/* The chart ends with the last job that ends; of endless jobs alone an hour is shown. */
static int64_t last_end(const struct schedule *p, int64_t now_us)
{
    int64_t last_us = now_us;
    for (uint32_t i = 0; i < p->rows.count; i++) {
        const struct schedule_row *row = &p->rows.items[i];
        if (row->state == SCHEDULE_WAITING) continue;
        if (row->start_us > last_us) last_us = row->start_us;
        if (row->end_us != TIMELINE_END && row->end_us > last_us) last_us = row->end_us;
    }
    return last_us > now_us ? last_us : now_us + 3600 * US_PER_S;
}

static bool has_bars(const struct schedule *p)
{
    bool found = false;
    for (uint32_t i = 0; i < p->rows.count; i++) found |= p->rows.items[i].state != SCHEDULE_WAITING;
    return found;
}

static uint32_t slots_on(const struct schedule_row *row, uint32_t instance)
{
    uint32_t slots = 0;
    for (uint32_t i = 0; row->state != SCHEDULE_WAITING && i < row->allocation.part_count; i++) {
        if (row->allocation.parts[i].instance == instance) slots += row->allocation.parts[i].slots;
    }
    return slots;
}

/* The column of a time: 0 is now, columns the end. */
static uint32_t column_of(const struct chart *c, int64_t at_us)
{
    if (at_us <= c->from_us) return 0;
    if (at_us >= c->until_us) return c->columns;
    double part = (double)(at_us - c->from_us) / (double)(c->until_us - c->from_us);
    return (uint32_t)(part * c->columns);
}

/* Times since now, at every tenth column. */
static void write_axis(const struct chart *c)
{
    struct buf *out = &c->out->text;
    buf_add_blanks(out, LABEL_WIDTH + 1);
    for (uint32_t column = 0; column + TICK_COLUMNS <= c->columns; column += TICK_COLUMNS) {
        char text[32];
        double part = (double)column / c->columns;
        size_t length = duration_format_short(text, (int64_t)(part * (double)(c->until_us - c->from_us)) / US_PER_S);
        if (length >= TICK_COLUMNS) length = TICK_COLUMNS - 1;
        buf_add(out, text, length);
        if (column + 2 * TICK_COLUMNS <= c->columns) buf_add_blanks(out, TICK_COLUMNS - length);
    }
    buf_add_char(out, '\n');
}

/* A bar is at least one column wide. */
static void write_bar(const struct chart *c, const struct schedule_row *row)
{
    static const char marks[] = {
        [SCHEDULE_RUNNING] = '#', [SCHEDULE_SUSPENDED] = '~', [SCHEDULE_STARTING] = '>', [SCHEDULE_RESERVED] = '='};
    struct buf *out = &c->out->text;
    uint32_t from = column_of(c, row->start_us), until = column_of(c, row->end_us);
    if (from >= c->columns) from = c->columns - 1;
    if (until <= from) until = from + 1;
    buf_add_char(out, '|');
    buf_add_blanks(out, from);
    for (uint32_t i = from; i < until; i++) buf_add_char(out, marks[row->state]);
    buf_add_blanks(out, c->columns - until);
    buf_add_text(out, row->end_us == TIMELINE_END ? "...\n" : "|\n");
}

static void write_row(const struct chart *c, uint32_t i, uint32_t slots, struct arena *arena)
{
    struct schedule_values values;
    char label[64];
    schedule_row_values(c->p, c->s, i, arena, &values);
    size_t length = text_format(label, sizeof label, "  %s  %u %s", values.value[SCHEDULE_FIELD_ID].text, slots,
                                slots == 1 ? "slot" : "slots");
    buf_add(&c->out->text, label, length < LABEL_WIDTH ? length : LABEL_WIDTH);
    if (length < LABEL_WIDTH) buf_add_blanks(&c->out->text, LABEL_WIDTH - length);
    write_bar(c, &c->p->rows.items[i]);
}

static void write_instance(const struct chart *c, uint32_t instance)
{
    const struct sched_instance *in = &c->p->model.cluster.instances.items[instance];
    const struct offer *slots = offers_find(&in->offers, SCHED_SLOTS);
    struct arena arena = {0};
    bool has_heading = false;
    for (uint32_t i = 0; i < c->p->rows.count; i++) {
        uint32_t taken = slots_on(&c->p->rows.items[i], instance);
        if (taken == 0) continue;
        if (!has_heading) output_line(c->out, "%s, %.0f slots", in->name, slots != NULL ? slots->amount : 0.0);
        has_heading = true;
        write_row(c, i, taken, &arena);
    }
    arena_release(&arena);
}

void schedule_chart_write(const struct schedule *p, const struct scenario *s, uint32_t width, struct output *out)
{
    if (width == 0) width = WIDTH_DEFAULT;
    if (width < WIDTH_MIN) width = WIDTH_MIN;
    struct chart c = {.p = p, .s = &s->state, .from_us = s->now_us, .until_us = last_end(p, s->now_us), .out = out};
    c.columns = width - LABEL_WIDTH - 4; /* the bar's ends, or "..." */
    if (!has_bars(p)) return;
    write_axis(&c);
    for (uint32_t i = 0; i < p->model.cluster.instances.count; i++) write_instance(&c, i);
}
