#include "cli/prio_print.h"

#include <math.h>

#include "base/number.h"

enum cell_type {
    CELL_TEXT,
    CELL_NUMBER, /* for people with the column's decimals */
    CELL_COUNT,  /* for people cut to a whole number, as qstat cuts tickets */
    CELL_TRES,   /* "cpu=250,mem=25": its numbers as above */
};

/* A column: of which member of the row, and how people see it. */
struct prio_column {
    const char *name;
    enum cell_type type;
    size_t offset;
    int decimals;
};

/* offsetof that only compiles for a member of the given C type. */
#define ROW_MEMBER(member, c_type)                \
    (offsetof(struct wire_priority_row, member) + \
     0 * sizeof(_Generic(((struct wire_priority_row *)0)->member, c_type : 0)))

/* clang-format off */
#define TEXT(name, member) {name, CELL_TEXT, ROW_MEMBER(member, const char *), 0}
#define NUMBER(name, member, decimals) {name, CELL_NUMBER, ROW_MEMBER(member, double), decimals}
#define COUNT(name, member) {name, CELL_COUNT, ROW_MEMBER(member, double), 0}
#define TRES(name, member, decimals) {name, CELL_TRES, ROW_MEMBER(member, const char *), decimals}
/* clang-format on */

#define WEIGHTED_COLUMNS(partition_name)                                                                               \
    TEXT("JOBID", id), TEXT("PARTITION", partition), TEXT("USER", user), TEXT("ACCOUNT", account),                     \
        NUMBER("PRIORITY", priority, 0), NUMBER("SITE", site, 0), NUMBER("AGE", age, 0), NUMBER("ASSOC", assoc, 0),    \
        NUMBER("FAIRSHARE", fair_share, 0), NUMBER("JOBSIZE", job_size, 0), NUMBER(partition_name, partition_term, 0), \
        NUMBER("QOS", qos_term, 0), NUMBER("NICE", nice, 0), TRES("TRES", tres_terms, 0)

#define FACTOR_COLUMNS(partition_name)                                                                   \
    TEXT("JOBID", id), TEXT("PARTITION", partition), TEXT("USER", user), TEXT("ACCOUNT", account),       \
        NUMBER("PRIORITY", priority, 0), NUMBER("AGE", age_factor, 7), NUMBER("ASSOC", assoc_factor, 7), \
        NUMBER("FAIRSHARE", fair_share_factor, 7), NUMBER("JOBSIZE", job_size_factor, 7),                \
        NUMBER(partition_name, partition_factor, 7), NUMBER("QOS", qos_factor, 7), TRES("TRES", tres_factors, 2)

/* Two columns of the same name are fine for people, who see where they stand. */
static const struct prio_column weighted_for_people[] = {WEIGHTED_COLUMNS("PARTITION")};
static const struct prio_column weighted_for_programs[] = {WEIGHTED_COLUMNS("PARTITIONFACTOR"),
                                                           NUMBER("BILLING", billing, 0)};
static const struct prio_column factors_for_people[] = {FACTOR_COLUMNS("PARTITION")};
static const struct prio_column factors_for_programs[] = {FACTOR_COLUMNS("PARTITIONFACTOR")};

/* Of these two the last is for those who have a row for each partition. */
static const struct prio_column ticket_columns[] = {
    TEXT("JOBID", id),
    TEXT("USER", user),
    TEXT("PROJECT", project),
    TEXT("STATE", state),
    NUMBER("PRIOR", priority, 5),
    NUMBER("NTCKTS", norm_tickets, 5),
    NUMBER("NURG", norm_urgency, 5),
    NUMBER("NPPRIOR", norm_posix, 5),
    COUNT("RRCONTR", urgency_resources),
    COUNT("WTCONTR", urgency_waiting),
    COUNT("DLCONTR", urgency_deadline),
    COUNT("URG", urgency),
    COUNT("TICKETS", tickets),
    COUNT("OVERRIDE", override_tickets),
    COUNT("FUNCTIONAL", functional_tickets),
    COUNT("SHARE", share_tickets),
    TEXT("PARTITION", partition),
};

static const struct prio_column basic_columns[] = {TEXT("JOBID", id), NUMBER("PRIORITY", priority, 0),
                                                   TEXT("PARTITION", partition)};

#define COLUMNS_ARE(p, table) ((p)->columns = (table), (p)->column_count = sizeof(table) / sizeof *(table))

static void choose_columns(struct prio_printer *p, const struct prio_kind *kind)
{
    bool is_exact = p->form->is_parsable;
    if (kind->model == MODEL_TICKETS) {
        COLUMNS_ARE(p, ticket_columns);
    } else if (kind->model == MODEL_BASIC) {
        COLUMNS_ARE(p, basic_columns);
    } else if (kind->is_normalized && is_exact) {
        COLUMNS_ARE(p, factors_for_programs);
    } else if (kind->is_normalized) {
        COLUMNS_ARE(p, factors_for_people);
    } else if (is_exact) {
        COLUMNS_ARE(p, weighted_for_programs);
    } else {
        COLUMNS_ARE(p, weighted_for_people);
    }
    if (kind->model != MODEL_MULTIFACTOR && !kind->has_partitions) p->column_count--;
}

static bool is_left(const struct prio_column *column)
{
    return column->type == CELL_TEXT || column->type == CELL_TRES;
}

void prio_printer_init(struct prio_printer *p, const struct prio_kind *kind, const struct listing_values *form,
                       struct output *out)
{
    *p = (struct prio_printer){.form = form, .out = out};
    choose_columns(p, kind);
    for (uint32_t i = 0; i < p->column_count; i++)
        p->headings[i] = (struct table_column){p->columns[i].name, !is_left(&p->columns[i])};
    if (form->is_json) {
        buf_add_char(&out->text, '[');
    } else if (!form->is_parsable) {
        table_init(&p->table, p->headings, p->column_count);
    } else {
        for (uint32_t i = 0; i < p->column_count && !form->has_no_header; i++) {
            buf_add_text(&out->text, p->columns[i].name);
            buf_add_char(&out->text, i + 1 < p->column_count ? '|' : '\n');
        }
    }
}

void prio_printer_end(struct prio_printer *p)
{
    if (p->form->is_json) {
        buf_add_text(&p->out->text, p->row_count > 0 ? "\n]\n" : "]\n");
    } else if (!p->form->is_parsable) {
        if (p->row_count > 0) table_write(&p->table, !p->form->has_no_header, p->out);
        table_release(&p->table);
    }
    buf_release(&p->cell);
}

/* "cpu=250.4,mem=25" with each number to so many decimals. */
static void add_tres(struct buf *out, const char *text, int decimals)
{
    char digits[NUMBER_TEXT_SIZE];
    for (struct str rest = str(text); rest.text != NULL;) {
        struct str number, name = str_cut(str_cut(rest, ',', &rest), '=', &number);
        double value;
        if (!number_parse_double(number, &value)) continue;
        if (out->length > 0) buf_add_char(out, ',');
        buf_add_str(out, name);
        buf_add_char(out, '=');
        buf_add(out, digits, number_format_double(digits, value, decimals, 'f'));
    }
}

static void add_number(struct buf *out, const struct prio_column *column, double value, bool is_exact)
{
    char digits[NUMBER_TEXT_SIZE];
    if (isnan(value)) return;
    if (column->type == CELL_COUNT) value = is_exact ? value : trunc(value);
    buf_add(out, digits,
            is_exact ? number_format_g17(digits, value) : number_format_double(digits, value, column->decimals, 'f'));
}

/* Where columns stand between |, one in the text would shift those behind it. */
static void add_text(struct buf *out, const char *text, bool is_exact)
{
    buf_add_text(out, text != NULL ? text : "");
    if (out->length > 0) text_make_plain(out->text, out->length);
    for (size_t i = 0; is_exact && i < out->length; i++) {
        if (out->text[i] == '|') out->text[i] = '?';
    }
}

static struct str make_cell(struct prio_printer *p, const struct prio_column *column,
                            const struct wire_priority_row *row)
{
    const char *member = (const char *)row + column->offset;
    bool is_exact = p->form->is_parsable;
    buf_clear(&p->cell);
    switch (column->type) {
    case CELL_TEXT: add_text(&p->cell, *(const char *const *)member, is_exact); break;
    case CELL_TRES:
        if (is_exact) {
            add_text(&p->cell, *(const char *const *)member, is_exact);
        } else {
            add_tres(&p->cell, *(const char *const *)member, column->decimals);
        }
        break;
    default: add_number(&p->cell, column, *(const double *)member, is_exact);
    }
    return (struct str){p->cell.text, p->cell.length};
}

void prio_printer_add(struct prio_printer *p, const struct wire_priority_row *row)
{
    struct buf *out = &p->out->text;
    if (p->form->is_json) {
        buf_add_text(out, p->row_count > 0 ? ",\n" : "\n");
        wire_write(&wire_priority_row_shape, row, out);
    } else {
        for (uint32_t i = 0; i < p->column_count; i++) {
            struct str cell = make_cell(p, &p->columns[i], row);
            if (!p->form->is_parsable) {
                table_add(&p->table, cell);
                continue;
            }
            buf_add_str(out, cell);
            buf_add_char(out, i + 1 < p->column_count ? '|' : '\n');
        }
    }
    p->row_count++;
    output_pace(p->out);
}
