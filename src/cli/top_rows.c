#include "cli/top_rows.h"

#include <stdlib.h>
#include <string.h>

#include "cli/top_columns.h"
#include "fields/use_fields.h"

const char *const top_view_titles[TOP_VIEW_COUNT] = {
    [TOP_QUEUE] = "queue", [TOP_SHARES] = "shares",       [TOP_USERS] = "users",
    [TOP_JOBS] = "jobs",   [TOP_PROCESSES] = "processes",
};

const struct column_table *top_view_columns(enum top_view view)
{
    switch (view) {
    case TOP_QUEUE: return &top_columns_jobs;
    case TOP_SHARES: return &top_columns_shares;
    default: return &use_fields_columns;
    }
}

uint32_t top_view_id_field(enum top_view view)
{
    if (view == TOP_QUEUE) return TOP_JOB_ID;
    return view == TOP_JOBS || view == TOP_PROCESSES ? (uint32_t)USE_FIELD_JOB : NONE;
}

void top_rows_release(struct top_rows *rows)
{
    array_release(&rows->list);
    arena_release(&rows->arena);
}

/* --- filter ------------------------------------------------------------------------------------------------------- */

static bool has_text(const struct field_table *t, const struct field_value *row, const char *wanted)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const struct field *f = field_at(t, i);
        if (field_is_absent(f, &row[i])) continue;
        if (field_is_text(f) && strcasestr(row[i].text, wanted) != NULL) return true;
        if (f->type != FIELD_CHOICE) continue;
        char word[80];
        struct str choice = field_choice(f->choices, row[i].number);
        text_format(word, sizeof word, "%.*s", (int)choice.length, choice.text);
        if (strcasestr(word, wanted) != NULL) return true;
    }
    return false;
}

void top_rows_filter(struct top_rows *rows, struct str text)
{
    uint32_t kept = 0;
    const char *wanted = arena_copy(&rows->arena, text);
    if (text.length == 0) return;
    for (uint32_t i = 0; i < rows->list.count; i++) {
        if (has_text(rows->columns->fields, rows->list.items[i], wanted))
            rows->list.items[kept++] = rows->list.items[i];
    }
    rows->list.count = kept;
}

/* --- order -------------------------------------------------------------------------------------------------------- */

struct sorted_row {
    struct field_value value;
    struct field_value *row;
    uint32_t index;
};

struct row_order {
    const struct field *field;
    bool is_descending;
};

static int compare_rows(const void *a, const void *b, void *context)
{
    const struct row_order *order = context;
    const struct sorted_row *x = a, *y = b;
    int result = listing_compare(order->field, &x->value, &y->value);
    if (result != 0) return order->is_descending ? -result : result;
    return (x->index > y->index) - (x->index < y->index);
}

void top_rows_sort(struct top_rows *rows, uint32_t column, bool is_descending)
{
    const struct column *c = &rows->columns->columns[column];
    struct row_order order = {column_field(rows->columns, c), is_descending};
    struct sorted_row *sorted = arena_alloc(&rows->arena, (rows->list.count + (size_t)1) * sizeof *sorted);
    for (uint32_t i = 0; i < rows->list.count; i++) {
        struct field_value *row = rows->list.items[i];
        sorted[i] = (struct sorted_row){.value = column_value(c, row, &rows->arena), .row = row, .index = i};
    }
    qsort_r(sorted, rows->list.count, sizeof *sorted, compare_rows, &order);
    for (uint32_t i = 0; i < rows->list.count; i++) rows->list.items[i] = sorted[i].row;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

int top_rows_write(const struct top_rows *rows, const struct listing_values *form, uint32_t first, uint32_t count,
                   struct output *out, struct err *e)
{
    struct listing listing;
    int status = listing_begin(&listing, rows->columns, form, out, e);
    for (uint32_t i = first; status == 0 && i < rows->list.count && i - first < count; i++)
        listing_add(&listing, rows->list.items[i]);
    if (status == 0) listing_end(&listing);
    listing_release(&listing);
    return status;
}
