#include "cli/share_print.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/number.h"

enum { COLUMNS = 10, DECIMALS = 6 };

/* Beyond this a fixed-point number is a row of meaningless digits. */
static const double fixed_max = 1e15;

static const struct table_column columns[COLUMNS] = {
    {"Account", false},  {"User", false},        {"RawShares", true}, {"NormShares", true}, {"RawUsage", true},
    {"NormUsage", true}, {"EffectvUsage", true}, {"FairShare", true}, {"LevelFS", true},    {"GrpTRESRaw", false},
};

void share_printer_init(struct share_printer *p, const struct listing_values *form, bool has_tres, struct output *out)
{
    uint32_t count = has_tres ? COLUMNS : COLUMNS - 1;
    *p = (struct share_printer){.form = form, .has_tres = has_tres, .out = out};
    if (form->is_json) {
        buf_add_char(&out->text, '[');
        return;
    }
    if (!form->is_parsable) {
        table_init(&p->table, columns, count);
        return;
    }
    for (uint32_t c = 0; c < count && !form->has_no_header; c++) {
        buf_add_text(&out->text, columns[c].heading);
        buf_add_char(&out->text, c + 1 < count ? '|' : '\n');
    }
}

void share_printer_end(struct share_printer *p)
{
    if (p->form->is_json) {
        buf_add_text(&p->out->text, p->row_count > 0 ? "\n]\n" : "]\n");
    } else if (!p->form->is_parsable) {
        table_write(&p->table, !p->form->has_no_header, p->out);
        table_release(&p->table);
    }
}

static struct str shares_text(const struct share_row *row, char *digits)
{
    switch (row->kind) {
    case SHARES_NUMBER: return (struct str){digits, number_format_u64(digits, row->shares)};
    case SHARES_OF_PARENT: return str("parent");
    case SHARES_NOTHING: break;
    }
    return str("");
}

static void add_exact(struct buf *out, double value)
{
    buf_add_char(out, '|');
    if (!isnan(value)) out->length += number_format_g17(buf_room(out, NUMBER_TEXT_SIZE), value);
}

static void add_parsable(struct buf *out, const struct share_row *row)
{
    char digits[NUMBER_TEXT_SIZE];
    memset(buf_room(out, row->indent), ' ', row->indent);
    out->length += row->indent;
    buf_add_str(out, row->account);
    buf_add_char(out, '|');
    buf_add_str(out, row->user);
    buf_add_char(out, '|');
    buf_add_str(out, shares_text(row, digits));
    add_exact(out, row->norm_shares);
    add_exact(out, row->raw_usage);
    add_exact(out, row->norm_usage);
    add_exact(out, row->effective_usage);
    add_exact(out, row->fair_share);
    add_exact(out, row->level_fs);
    buf_add_char(out, '\n');
}

static void json_str_or_null(struct json *j, const char *key, struct str value)
{
    json_key(j, key);
    if (value.length > 0) {
        json_str(j, value);
    } else {
        json_write_null(j);
    }
}

static void json_number(struct json *j, const char *key, double value)
{
    json_key(j, key);
    if (isnan(value)) {
        json_write_null(j);
    } else {
        json_double(j, value);
    }
}

static void add_json(struct buf *out, const struct share_row *row)
{
    struct json j = {.out = out};
    json_begin_object(&j);
    json_key(&j, "account");
    json_str(&j, row->account);
    json_str_or_null(&j, "user", row->user);
    if (row->partition.length > 0) json_str_or_null(&j, "partition", row->partition);
    json_key(&j, "raw_shares");
    switch (row->kind) {
    case SHARES_NUMBER: json_u64(&j, row->shares); break;
    case SHARES_OF_PARENT: json_text(&j, "parent"); break;
    case SHARES_NOTHING: json_write_null(&j); break;
    }
    json_number(&j, "norm_shares", row->norm_shares);
    json_number(&j, "raw_usage", row->raw_usage);
    json_number(&j, "norm_usage", row->norm_usage);
    json_number(&j, "effective_usage", row->effective_usage);
    json_number(&j, "fair_share", row->fair_share);
    json_number(&j, "level_fs", row->level_fs);
    json_str_or_null(&j, "parent_account", row->parent_account);
    json_end(&j);
}

static void add_number(struct table *t, double value, int decimals)
{
    char digits[NUMBER_TEXT_SIZE];
    size_t length = 0;
    if (!isnan(value)) {
        bool is_fixed = value < fixed_max || isinf(value);
        length = number_format_double(digits, value, is_fixed ? decimals : DECIMALS, is_fixed ? 'f' : 'e');
    }
    table_add(t, (struct str){digits, length});
}

/* The amounts as whole numbers, as RawUsage is. */
static void add_tres(struct table *t, struct str list)
{
    struct buf text = {0};
    while (list.length > 0) {
        struct str amount, name = str_cut(str_cut(list, ',', &list), '=', &amount);
        double value;
        if (!number_parse_double(amount, &value)) break;
        if (text.length > 0) buf_add_char(&text, ',');
        buf_add_str(&text, name);
        buf_add_char(&text, '=');
        text.length += number_format_double(buf_room(&text, NUMBER_TEXT_SIZE), value, value < fixed_max ? 0 : DECIMALS,
                                            value < fixed_max ? 'f' : 'e');
    }
    table_add(t, (struct str){text.text, text.length});
    buf_release(&text);
}

static void add_cells(struct table *t, const struct share_row *row)
{
    char digits[NUMBER_TEXT_SIZE];
    struct buf account = {0};
    memset(buf_room(&account, row->indent), ' ', row->indent);
    account.length = row->indent;
    buf_add_str(&account, row->account);
    table_add(t, (struct str){account.text, account.length});
    buf_release(&account);

    table_add(t, row->user);
    table_add(t, shares_text(row, digits));
    add_number(t, row->norm_shares, DECIMALS);
    add_number(t, row->raw_usage, 0);
    add_number(t, row->norm_usage, DECIMALS);
    add_number(t, row->effective_usage, DECIMALS);
    add_number(t, row->fair_share, DECIMALS);
    add_number(t, row->level_fs, DECIMALS);
}

void share_printer_add(struct share_printer *p, const struct share_row *row)
{
    struct buf *out = &p->out->text;
    if (p->form->is_json) {
        buf_add_text(out, p->row_count > 0 ? ",\n" : "\n");
        add_json(out, row);
    } else if (p->form->is_parsable) {
        add_parsable(out, row);
    } else {
        add_cells(&p->table, row);
        if (p->has_tres) add_tres(&p->table, row->tres_raw);
    }
    p->row_count++;
    output_pace(p->out);
}
