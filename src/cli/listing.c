#include "cli/listing.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/client/client.h"
#include "base/array.h"
#include "base/ensure.h"
#include "base/near_names.h"
#include "base/number.h"
#include "base/quantity.h"
#include "fields/host_list.h"
#include "fields/job_id.h"
#include "wire/psv.h"
#include "wire/wire.h"

const struct option_row listing_only_options[] = {
    LISTING_OPTIONS(struct listing_only_values, listing),
    {0},
};

enum { TEXT_WIDTH_MIN = 12 }; /* of a text that -o selects beside the listing's own columns */

/* --- cells of tables ---------------------------------------------------------------------------------------------- */

/* Larger numbers are written with an exponent: a double has no more correct digits. */
static const double fixed_max = 1e15;

/* Without the digits after the point. A number that is below a whole one only by the rounding of its last bits is
 * that. */
static double cut_off(double value)
{
    double nearest = rint(value);
    return fabs(value - nearest) <= 1e-12 * fabs(nearest) ? nearest : trunc(value);
}

static void write_real(const struct column *c, double value, struct buf *out)
{
    char digits[NUMBER_TEXT_SIZE];
    if (c->is_whole) value = cut_off(value);
    bool is_large =
        !c->is_fixed && fabs(value) >= 1e6 && fabs(value) < fixed_max; /* %g would lose digits of its whole part */
    bool is_fixed = is_large || (c->is_fixed && (value < fixed_max || isinf(value)));
    int precision = is_large ? 0 : is_fixed ? c->decimals : 6;
    buf_add(out, digits, number_format_double(digits, value, precision, is_fixed ? 'f' : c->is_fixed ? 'e' : 'g'));
}

/* "cpu=250.4,mem=25", each number in the column's format. */
static void write_amounts(const struct column *c, const char *text, struct buf *out)
{
    const char *separator = "";
    for (struct str rest = str(text); rest.text != NULL;) {
        struct str number, name = str_cut(str_cut(rest, ',', &rest), '=', &number);
        double value;
        if (!number_parse_double(number, &value)) continue;
        buf_format(out, "%s%.*s=", separator, (int)name.length, name.text);
        write_real(c, value, out);
        separator = ",";
    }
}

void listing_write_time(int64_t time_us, struct buf *out)
{
    char text[64];
    time_t at = (time_t)(time_us / US_PER_S), today = (time_t)(client_now_us() / US_PER_S);
    struct tm local, now;
    localtime_r(&at, &local);
    localtime_r(&today, &now);
    strftime(text, sizeof text, local.tm_year == now.tm_year ? "%d %b %H:%M:%S" : "%d %b %Y %H:%M", &local);
    buf_add_text(out, text);
}

static void write_hosts(const char *text, struct buf *out)
{
    ARRAY(struct str) names = {0};
    for (struct str rest = str(text); rest.length > 0;) *array_add(&names) = str_cut(rest, ',', &rest);
    host_list_format(names.items, names.count, out);
    array_release(&names);
}

static bool is_empty(const struct column *c, const struct field *f, const struct field_value *value)
{
    if (field_is_absent(f, value)) return true;
    if (field_is_text(f)) return value->text[0] == '\0';
    return c->zero_is_absent && f->type != FIELD_REAL && value->number == 0;
}

static void write_value(const struct column *c, const struct field *f, const struct field_value *value, struct buf *out)
{
    char text[32];
    bool is_special = f->special != NULL && field_is_whole(f) && value->number == FIELD_SPECIAL;
    if (is_empty(c, f, value)) {
        buf_add_text(out, c->absent_text != NULL ? c->absent_text : "-");
    } else if (f->is_task_set) {
        job_id_write_short(str(value->text), JOB_ID_TASKS_SHOWN, out);
    } else if (f->is_host_set) {
        write_hosts(value->text, out);
    } else if (field_is_text(f) && c->is_fixed) {
        write_amounts(c, value->text, out);
    } else if (f->type == FIELD_REAL) {
        write_real(c, value->real, out);
    } else if (field_is_duration(f) && !is_special) {
        buf_add(out, text, duration_format_short(text, value->number));
    } else if (f->type == FIELD_MEMORY && !is_special) {
        buf_add(out, text, memory_format(text, (uint64_t)value->number));
    } else if (f->type == FIELD_TIME && !is_special) {
        listing_write_time(value->number, out);
    } else {
        field_format(f, value, out);
    }
}

void listing_write_cell(const struct column_table *t, const struct column *c, const struct field_value *row,
                        struct arena *arena, struct buf *out)
{
    if (c->show != NULL) {
        c->show(row, out);
        return;
    }
    const struct field_value value = column_value(c, row, arena);
    if (c->indent != 0) buf_add_blanks(out, (size_t)row[c->indent].number);
    write_value(c, column_field(t, c), &value, out);
}

/* --- choosing columns --------------------------------------------------------------------------------------------- */

static bool has_name(const struct column_table *t, const struct column *c, struct str name,
                     bool (*equal)(struct str a, struct str b))
{
    struct buf own_name = {0};
    column_name(t, c, &own_name);
    bool is_equal = equal((struct str){own_name.text, own_name.length}, name) ||
                    (c->name == NULL && equal(str(column_field(t, c)->name), name));
    buf_release(&own_name);
    return is_equal;
}

void listing_write_names(const struct column_table *t, struct buf *out)
{
    const char *separator = "";
    for (uint32_t i = 0; i < t->count; i++) {
        buf_add_text(out, separator);
        column_name(t, &t->columns[i], out);
        separator = ", ";
    }
    for (uint32_t i = 0; i < t->fields->count; i++) {
        bool is_skipped = field_at(t->fields, i)->is_hidden; /* hidden, or among the columns above */
        for (uint32_t k = 0; k < t->count; k++)
            is_skipped |= has_name(t, &t->columns[k], str(field_at(t->fields, i)->name), str_equal);
        if (is_skipped) continue;
        buf_add_text(out, separator);
        column_name(t, &(struct column){.field = i}, out);
        separator = ", ";
    }
}

static bool find_by_name(const struct column_table *t, struct str name, bool (*equal)(struct str a, struct str b),
                         struct column *out)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (!has_name(t, &t->columns[i], name, equal)) continue;
        *out = t->columns[i];
        return true;
    }
    for (uint32_t i = 0; i < t->fields->count; i++) {
        const struct field *f = field_at(t->fields, i);
        *out = (struct column){.field = i, .width_min = field_is_text(f) ? TEXT_WIDTH_MIN : 0};
        if (!f->is_hidden && has_name(t, out, name, equal)) return true;
    }
    return false;
}

static bool find_own_heading(const struct column_table *t, struct str heading, struct column *out)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const struct column *c = &t->columns[i];
        if (c->heading == NULL || !str_equal_nocase(str(c->heading), heading)) continue;
        *out = *c;
        return true;
    }
    return false;
}

static bool find_by_heading(const struct column_table *t, struct str heading, struct column *out)
{
    return find_own_heading(t, heading, out) || (t->related != NULL && find_own_heading(t->related, heading, out));
}

/* Whether the texts are equal but for case and underscores: "JobId" and "job_id". */
static bool is_alike(struct str a, struct str b)
{
    size_t i = 0, k = 0;
    for (;; i++, k++) {
        while (i < a.length && a.text[i] == '_') i++;
        while (k < b.length && b.text[k] == '_') k++;
        if (i == a.length || k == b.length) return i == a.length && k == b.length;
        if (tolower((unsigned char)a.text[i]) != tolower((unsigned char)b.text[k])) return false;
    }
}

/* Finds the column of a name: one of the listing's, or one of any field that is not hidden. A name in its own case
 * comes before one in another case ("qos" is a field, "QOS" a term), names come before headings, and those before names
 * with other underscores. */
static bool find_column(const struct column_table *t, struct str name, struct column *out)
{
    return find_by_name(t, name, str_equal, out) || find_by_name(t, name, str_equal_nocase, out) ||
           find_by_heading(t, name, out) || find_by_name(t, name, is_alike, out);
}

static void add_headings(const struct column_table *t, struct buf *out)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->columns[i].heading != NULL) buf_format(out, "%s%s", out->length > 0 ? ", " : "", t->columns[i].heading);
    }
}

/* Names the fields, or, if none of them is near, the headings that are. */
static int fail_unknown(const struct column_table *t, const char *option, struct str name, struct err *e)
{
    struct buf names = {0}, headings = {0};
    struct str near[NEAR_NAMES_MAX];
    listing_write_names(t, &names);
    add_headings(t, &headings);
    if (t->related != NULL) add_headings(t->related, &headings);
    bool is_heading = near_names_find((struct str){names.text, names.length}, name, near) == 0 &&
                      near_names_find((struct str){headings.text, headings.length}, name, near) > 0;
    (void)err_unknown_field(e, option, name, is_heading ? headings.text : names.text);
    buf_release(&names);
    buf_release(&headings);
    return -1;
}

/* "name:20": the number after the last colon is the width, unless the whole item is a name. */
static int read_item(const struct column_table *t, struct str item, struct column *out_column, uint32_t *out_width,
                     struct err *e)
{
    uint64_t width = 0;
    struct str name = item;
    *out_width = 0;
    if (find_column(t, item, out_column)) return 0;
    for (size_t i = item.length; i-- > 0;) {
        if (item.text[i] != ':') continue;
        name = (struct str){item.text, i};
        struct str digits = {item.text + i + 1, item.length - i - 1};
        if (!number_parse_u64(digits, &width) || width == 0 || width > UINT16_MAX)
            return err_value(e, "-o", digits, "a width from 1 to %d", UINT16_MAX);
        break;
    }
    *out_width = (uint32_t)width;
    return find_column(t, name, out_column) ? 0 : fail_unknown(t, "-o", name, e);
}

static int choose_columns(struct listing *l, struct err *e)
{
    const struct column_table *t = l->columns;
    uint32_t count = 0;
    if (l->form->columns == NULL) {
        for (uint32_t i = 0; i < t->count; i++) {
            const struct column *c = &t->columns[i];
            if (listing_is_table(l->form) ? !c->is_for_programs : !c->is_for_people) l->chosen_columns[count++] = *c;
        }
    }
    for (struct str rest = str(l->form->columns); rest.text != NULL; count++) {
        struct str item = str_trim(str_cut(rest, ',', &rest));
        if (count == TABLE_COLUMNS_MAX) return err_set(e, ERR_INPUT, "-o: more than %d columns", TABLE_COLUMNS_MAX);
        if (read_item(t, item, &l->chosen_columns[count], &l->table_columns[count].width_set, e) != 0) return -1;
        l->chosen_columns[count].rank = 0; /* a chosen column is never left out */
        l->chosen_columns[count].is_optional = false;
    }
    l->chosen = (struct column_table){.fields = t->fields, .columns = l->chosen_columns, .count = count};
    return 0;
}

static int choose_keys(struct listing *l, struct err *e)
{
    for (struct str rest = str(l->form->sort); rest.text != NULL; l->key_count++) {
        struct str name = str_trim(str_cut(rest, ',', &rest));
        struct sort_key *key = &l->keys[l->key_count];
        if (l->key_count == TABLE_COLUMNS_MAX)
            return err_set(e, ERR_INPUT, "--sort: more than %d fields", TABLE_COLUMNS_MAX);
        key->is_descending = name.length > 0 && name.text[0] == '-';
        if (name.length > 0 && (name.text[0] == '-' || name.text[0] == '+')) {
            name.text++;
            name.length--;
        }
        if (!find_column(l->columns, name, &key->column)) return fail_unknown(l->columns, "--sort", name, e);
    }
    return 0;
}

/* The column's heading, or its name in capitals: "PRIORITYTIER". */
static const char *heading_of(struct listing *l, const struct column *c)
{
    struct buf name = {0};
    if (c->heading != NULL) return c->heading;
    column_name(&l->chosen, c, &name);
    char *heading = arena_copy(&l->arena, (struct str){name.text, name.length});
    for (char *p = heading; *p != '\0'; p++) *p = (char)toupper((unsigned char)*p);
    buf_release(&name);
    return heading;
}

static bool is_number(const struct field *f)
{
    return !field_is_text(f) && f->type != FIELD_CHOICE && f->type != FIELD_BOOL && f->type != FIELD_TIME;
}

static void begin_table(struct listing *l)
{
    for (uint32_t i = 0; i < l->chosen.count; i++) {
        const struct column *c = &l->chosen_columns[i];
        struct table_column *column = &l->table_columns[i];
        column->heading = heading_of(l, c);
        column->is_right_aligned = c->show == NULL && is_number(column_field(&l->chosen, c));
        if (c->is_right_aligned) column->is_right_aligned = true;
        column->rank = c->rank;
        column->is_optional = c->is_optional;
        column->width_min = c->width_min;
    }
    table_init(&l->table, l->table_columns, l->chosen.count);
}

int listing_check(const struct listing_values *form, struct err *e)
{
    if (!form->is_json || !form->is_parsable) return 0;
    return err_set(e, ERR_USAGE, "--json and --parsable: only one of them is accepted");
}

int listing_begin(struct listing *l, const struct column_table *columns, const struct listing_values *form,
                  struct output *out, struct err *e)
{
    *l = (struct listing){.columns = columns, .form = form, .out = out};
    if (listing_check(form, e) != 0 || choose_columns(l, e) != 0 || choose_keys(l, e) != 0) return -1;
    if (listing_is_table(form))
        begin_table(l);
    else if (form->is_json)
        buf_add_char(&out->text, '[');
    else if (!form->has_no_header)
        psv_write_heading(&l->chosen, &out->text);
    return 0;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static void add_cells(struct listing *l, const struct field_value *row)
{
    for (uint32_t i = 0; i < l->chosen.count; i++) {
        buf_clear(&l->cell);
        const struct column *column = &l->chosen_columns[i];
        listing_write_cell(&l->chosen, column, row, &l->row_arena, &l->cell);
        l->marked_count += column->is_marked != NULL && column->is_marked(row);
        table_add(&l->table, (struct str){l->cell.text, l->cell.length});
    }
}

/* Whether an earlier column has the same field. */
static bool is_repeated(const struct listing *l, uint32_t column)
{
    const struct field *f = column_field(&l->chosen, &l->chosen_columns[column]);
    uint32_t i = 0;
    while (i < column && column_field(&l->chosen, &l->chosen_columns[i]) != f) i++;
    return i < column;
}

/* The chosen fields under their own names; without -o, the whole record. */
static void write_object(struct listing *l, const struct field_value *row, struct buf *out)
{
    if (l->form->columns == NULL) {
        wire_write_record(l->columns->fields, row, out);
        return;
    }
    for (uint32_t i = 0; i < l->chosen.count; i++) {
        const struct field *f = column_field(&l->chosen, &l->chosen_columns[i]);
        const struct field_value value = column_value(&l->chosen_columns[i], row, &l->row_arena);
        if (is_repeated(l, i)) continue;
        buf_format(out, "%s\"%s\":", i == 0 ? "{" : ",", f->name);
        wire_write_value(f, &value, l->columns->fields->is_written, out);
    }
    buf_add_char(out, '}');
}

static void keep_keys(struct listing *l, const struct field_value *row)
{
    for (uint32_t i = 0; i < l->key_count; i++) {
        struct field_value value = column_value(&l->keys[i].column, row, &l->arena);
        if (value.text != NULL && value.text[0] != '\0') value.text = arena_copy(&l->arena, str(value.text));
        *array_add(&l->key_values) = value;
    }
}

/* Writes what separates a row from the one before. Blocks have an empty line between them. */
static void add_separator(struct listing *l, bool is_first)
{
    if (l->form->is_json)
        buf_add_text(&l->out->text, is_first ? "\n" : ",\n");
    else if (listing_is_table(l->form) && !is_first)
        buf_add_char(&l->out->text, '\n');
}

/* Writes what separates the row from the one before, and returns the buffer for its text: the output, or the rows that
 * are to be sorted. */
static struct buf *begin_row(struct listing *l)
{
    if (l->key_count > 0) return &l->rows;
    add_separator(l, l->count == 0);
    return &l->out->text;
}

static void end_row(struct listing *l)
{
    if (l->key_count > 0) *array_add(&l->ends) = l->rows.length;
    l->count++;
    arena_clear(&l->row_arena);
    output_pace(l->out);
}

void listing_add(struct listing *l, const struct field_value *row)
{
    keep_keys(l, row);
    if (listing_is_table(l->form))
        add_cells(l, row);
    else if (l->form->is_json)
        write_object(l, row, begin_row(l));
    else
        psv_write_row(&l->chosen, row, &l->row_arena, begin_row(l));
    end_row(l);
}

bool listing_takes_json(const struct listing_values *form)
{
    return form->is_json && form->columns == NULL && form->sort == NULL;
}

void listing_add_json(struct listing *l, struct str text)
{
    ensure(listing_takes_json(l->form));
    buf_add_str(begin_row(l), text);
    end_row(l);
}

void listing_add_block(struct listing *l, const struct field_value *row, struct str text)
{
    ensure(listing_is_table(l->form) && l->table.cells.count == 0);
    keep_keys(l, row);
    buf_add_str(begin_row(l), text);
    end_row(l);
}

void listing_add_line(struct listing *l, const char *text)
{
    if (listing_is_table(l->form) && l->key_count == 0) table_add_line(&l->table, text);
}

/* --- sorting ------------------------------------------------------------------------------------------------------ */

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

/* An absent value is less than any other, a special word (UNLIMITED) greater. Digits in texts are compared as numbers:
 * 5_9 is less than 5_10. */
int listing_compare(const struct field *f, const struct field_value *a, const struct field_value *b)
{
    bool has_a = !field_is_absent(f, a), has_b = !field_is_absent(f, b);
    if (!has_a || !has_b) return has_a - has_b;
    if (field_is_text(f)) return strverscmp(a->text, b->text);
    if (f->type == FIELD_REAL) return compare_numbers(a->real, b->real);
    bool is_special_a = f->special != NULL && a->number == FIELD_SPECIAL;
    bool is_special_b = f->special != NULL && b->number == FIELD_SPECIAL;
    if (is_special_a || is_special_b) return is_special_a - is_special_b;
    return (a->number > b->number) - (a->number < b->number);
}

/* Rows with equal keys keep their order. */
static int compare_rows(const void *a, const void *b, void *context)
{
    const struct listing *l = context;
    uint32_t row_a = *(const uint32_t *)a, row_b = *(const uint32_t *)b;
    for (uint32_t i = 0; i < l->key_count; i++) {
        const struct field *f = column_field(l->columns, &l->keys[i].column);
        const struct field_value *value_a = &l->key_values.items[(size_t)row_a * l->key_count + i];
        const struct field_value *value_b = &l->key_values.items[(size_t)row_b * l->key_count + i];
        int order = listing_compare(f, value_a, value_b);
        if (order != 0) return l->keys[i].is_descending ? -order : order;
    }
    return (row_a > row_b) - (row_a < row_b);
}

static const uint32_t *sort_rows(struct listing *l)
{
    uint32_t *order = arena_alloc(&l->arena, (l->count + (size_t)1) * sizeof *order);
    if (l->key_count == 0) return NULL;
    for (uint32_t i = 0; i < l->count; i++) order[i] = i;
    qsort_r(order, l->count, sizeof *order, compare_rows, l);
    return order;
}

static void write_sorted(struct listing *l, const uint32_t *order)
{
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t row = order[i];
        size_t start = row > 0 ? l->ends.items[row - 1] : 0;
        add_separator(l, i == 0);
        buf_add(&l->out->text, l->rows.text + start, l->ends.items[row] - start);
        output_pace(l->out);
    }
}

void listing_end(struct listing *l)
{
    const uint32_t *order = sort_rows(l);
    if (l->table.cells.count > 0)
        table_write(&l->table, !l->form->has_no_header, order, l->out);
    else if (order != NULL)
        write_sorted(l, order);
    if (l->form->is_json) buf_add_text(&l->out->text, l->count > 0 ? "\n]\n" : "]\n");
}

void listing_release(struct listing *l)
{
    table_release(&l->table);
    buf_release(&l->cell);
    buf_release(&l->rows);
    array_release(&l->ends);
    array_release(&l->key_values);
    arena_release(&l->arena);
    arena_release(&l->row_arena);
}
