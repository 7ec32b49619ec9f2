/* The instance renders its tree as columns between |, which is what -P prints: those lines go out as they come. The table
 * for people is made from the same lines, because reading columns is ten times as fast as reading JSON, and a tree may
 * have 10^5 rows. --json is passed on too. */
#include "cli/share_instance.h"
#include "cli/listing.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "cli/instance.h"
#include "cli/share_print.h"

/* The next column as a number; empty: NAN. */
static double take_number(struct str *rest)
{
    double value;
    return number_parse_double(str_cut(*rest, '|', rest), &value) ? value : NAN;
}

/* One line of columns; false when it has not all of them. */
static bool read_row(struct str line, bool has_tres, struct share_row *row)
{
    struct str rest, account = str_cut(line, '|', &rest);
    *row = (struct share_row){0};
    while (row->indent < account.length && account.text[row->indent] == ' ') row->indent++;
    row->account = (struct str){account.text + row->indent, account.length - row->indent};
    row->user = str_cut(rest, '|', &rest);

    uint64_t shares;
    struct str shares_text = str_cut(rest, '|', &rest);
    row->kind = shares_text.length == 0 ? SHARES_NOTHING : SHARES_OF_PARENT;
    if (number_parse_u64(shares_text, &shares)) {
        row->kind = SHARES_NUMBER;
        row->shares = (uint32_t)shares;
    }
    row->norm_shares = take_number(&rest);
    row->raw_usage = take_number(&rest);
    row->norm_usage = take_number(&rest);
    row->effective_usage = take_number(&rest);
    row->fair_share = take_number(&rest);
    if (rest.text == NULL) return false;
    row->level_fs = take_number(&rest);
    if (has_tres && rest.text == NULL) return false;
    if (has_tres) row->tres_raw = str_cut(rest, '|', &rest);
    return rest.text == NULL;
}

static int write_table(struct client *c, const struct listing_values *form, bool has_tres, struct output *out,
                       struct err *e)
{
    struct share_printer printer;
    struct str line;
    int more = client_line(c, &line, e); /* the heading */
    share_printer_init(&printer, form, has_tres, out);
    while (more > 0 && (more = client_line(c, &line, e)) > 0) {
        struct share_row row;
        if (!read_row(line, has_tres, &row)) {
            more = err_set(e, ERR_INTERNAL, "the instance's listing of shares has not the columns asked for");
            break;
        }
        share_printer_add(&printer, &row);
    }
    share_printer_end(&printer);
    return more;
}

static int write_lines(struct client *c, bool has_header, struct output *out, struct err *e)
{
    struct str line;
    int more;
    for (uint32_t i = 0; (more = client_line(c, &line, e)) > 0; i++) {
        if (i == 0 && !has_header) continue;
        buf_add_str(&out->text, line);
        buf_add_char(&out->text, '\n');
        output_pace(out);
    }
    return more;
}

int share_instance_run(struct call *call, const struct share_wanted *wanted, const struct listing_values *form,
                       struct err *e)
{
    struct buf target = {0};
    buf_add_text(&target, WIRE_SHARES);
    target_add_query(&target, "format", form->is_json ? "json" : "psv");
    if (wanted->account) target_add_query(&target, "account", wanted->account);
    if (wanted->user) target_add_query(&target, "user", wanted->user);
    if (wanted->has_tres) target_add_query(&target, "tres", "true");
    const char *text = instance_target(call, &target);

    struct client client;
    if (instance_open(call, &client, e) != 0) return -1;
    int status = client_request(&client, "GET", text, str(""), e);
    if (status == 0 && form->is_json) {
        status = listing_copy_json(&client, call->out, e);
    } else if (status == 0 && form->is_parsable) {
        status = write_lines(&client, !form->has_no_header, call->out, e);
    } else if (status == 0) {
        status = write_table(&client, form, wanted->has_tres, call->out, e);
    }
    client_close(&client);
    return status;
}
