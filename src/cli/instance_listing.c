/* Rows come as text. For --json they go out as they are; otherwise each is read into an arena of its own, which is emptied
 * after the row. Where the instance gives rows as lines they are asked for as such: 10^5 jobs as JSON take a second to read,
 * as lines a tenth. */
#include "cli/instance_listing.h"

#include <string.h>

#include "api/bodies.h"
#include "base/ensure.h"

struct listing_run {
    const struct instance_listing *listing;
    const struct listing_values *how;
    struct output *out;
    struct listing written;
    struct field_value *row;
    struct arena arena; /* of one row */
    const char *group;  /* of the row before */
    uint32_t count;
    bool is_lines;
    struct wire_columns lines; /* of the lines that come */
};

static bool is_blocks(const struct listing_run *r)
{
    return r->listing->is_blocks && listing_is_table(r->how);
}

/* "Time limit    2:00:00" */
static void write_block(struct listing_run *r)
{
    struct buf value = {0};
    if (r->count > 0) buf_add_char(&r->out->text, '\n');
    for (uint32_t i = 0; i < r->written.shown.count; i++) {
        const struct column *c = &r->written.shown_columns[i];
        const char *heading = c->heading != NULL ? c->heading : r->written.table_columns[i].heading;
        buf_clear(&value);
        listing_write_cell(&r->written.shown, c, r->row, &r->arena, &value);
        if (value.length > 0) text_make_plain(value.text, value.length);
        buf_format(&r->out->text, "%-13s %.*s\n", heading, (int)value.length, value.text);
    }
    buf_release(&value);
    output_pace(r->out);
}

static void add_group(struct listing_run *r)
{
    const char *group = r->listing->group(r->row);
    if (r->group == NULL || strcmp(group, r->group) != 0) listing_add_line(&r->written, group);
    r->group = group;
}

static int read_row(struct listing_run *r, struct str text, struct err *e)
{
    return r->is_lines ? wire_read_line(&r->lines, text, &r->arena, r->row, e)
                       : wire_read_record(r->listing->columns->fields, text, &r->arena, r->row, e);
}

static int write_row(struct listing_run *r, struct str text, struct err *e)
{
    const struct instance_listing *l = r->listing;
    bool is_shown_whole = listing_takes_json(r->how) && l->wants == NULL;
    arena_clear(&r->arena);
    if (!is_shown_whole && read_row(r, text, e) != 0) return -1;
    if (l->wants != NULL && !l->wants(r->row, l->context)) return 0;
    if (listing_takes_json(r->how)) {
        listing_add_json(&r->written, text);
    } else if (is_blocks(r)) {
        write_block(r);
    } else {
        if (l->group != NULL) add_group(r);
        listing_add(&r->written, r->row);
    }
    r->count++;
    return 0;
}

/* --- as it comes -------------------------------------------------------------------------------------------------- */

/* The lines of --parsable, made by the instance. */
static bool is_copied(const struct listing_run *r)
{
    return r->listing->has_psv && r->how->is_parsable && r->how->columns == NULL && r->how->sort == NULL;
}

static int copy_lines(struct listing_run *r, struct call *call, struct client *c, struct err *e)
{
    struct buf target = {0};
    struct str line;
    int more;
    buf_add_text(&target, r->listing->target);
    client_add_query(&target, "format", "psv");
    if (instance_open(call, c, e) != 0 || client_request(c, "GET", instance_target(call, &target), str(""), e) != 0)
        return -1;
    for (uint32_t i = 0; (more = client_line(c, &line, e)) > 0; i++) {
        if (i == 0 && r->how->has_no_header) continue;
        buf_add_str(&r->out->text, line);
        buf_add_char(&r->out->text, '\n');
        output_pace(r->out);
    }
    return more;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static int next_row(struct listing_run *r, struct client *c, struct str *out_text, struct err *e)
{
    return r->is_lines ? client_line(c, out_text, e) : client_row(c, out_text, e);
}

static int write_in_order(struct listing_run *r, struct client *c, struct err *e)
{
    struct str text;
    int more;
    while ((more = next_row(r, c, &text, e)) > 0) {
        if (write_row(r, text, e) != 0) return -1;
    }
    return more;
}

/* All rows are kept, as text, and written from the last to the first. */
static int write_reversed(struct listing_run *r, struct client *c, struct err *e)
{
    struct buf texts = {0};
    ARRAY(size_t) ends = {0};
    struct str text;
    int status;
    while ((status = next_row(r, c, &text, e)) > 0) {
        buf_add_str(&texts, text);
        *array_add(&ends) = texts.length;
    }
    for (uint32_t i = ends.count; status == 0 && i > 0; i--) {
        size_t start = i > 1 ? ends.items[i - 2] : 0;
        status = write_row(r, (struct str){texts.text + start, ends.items[i - 1] - start}, e);
    }
    buf_release(&texts);
    array_release(&ends);
    return status;
}

/* An empty listing of an account that does not exist is a mistyped name. The instance's words say so. */
static int check_account(struct call *call, struct client *c, const char *account, struct err *e)
{
    struct buf target = {0};
    buf_add_text(&target, API_SHARES "?format=psv");
    client_add_query(&target, "account", account);
    return client_request(c, "GET", instance_target(call, &target), str(""), e);
}

/* Asks for the rows, as lines where that is possible and nobody wants to see them as they come. */
static int ask(struct listing_run *r, struct call *call, struct client *c, struct err *e)
{
    struct buf text = {0};
    struct str heading;
    r->is_lines = r->listing->has_lines && !listing_takes_json(r->how);
    buf_add_text(&text, r->listing->target);
    if (r->is_lines) client_add_query(&text, "format", "lines");
    if (client_request(c, "GET", instance_target(call, &text), str(""), e) != 0) return -1;
    if (!r->is_lines) return 0;
    int more = client_line(c, &heading, e);
    if (more == 0) return err_set(e, ERR_INTERNAL, "the instance's listing has no heading");
    return more < 0 ? -1 : wire_read_heading(r->listing->columns->fields, heading, &r->lines, e);
}

static int run(struct listing_run *r, struct call *call, struct client *c, struct err *e)
{
    const struct instance_listing *l = r->listing;
    size_t before = call->out->text.length;
    if (listing_begin(&r->written, l->columns, r->how, call->out, e) != 0) return -1;
    if (instance_open(call, c, e) != 0 || ask(r, call, c, e) != 0 ||
        (l->is_reversed ? write_reversed(r, c, e) : write_in_order(r, c, e)) != 0)
        return -1;
    if (r->count == 0 && l->account != NULL && check_account(call, c, l->account, e) != 0) {
        call->out->text.length = before; /* takes the heading back */
        return -1;
    }
    if (!is_blocks(r)) listing_end(&r->written);
    if (r->count == 0 && listing_is_table(r->how) && l->empty != NULL) output_note("%s", l->empty);
    return 0;
}

int instance_listing_run(struct call *call, const struct instance_listing *l, const struct listing_values *how,
                         uint32_t *out_count, struct err *e)
{
    struct client client = {.fd = -1};
    struct listing_run r = {.listing = l, .how = how, .out = call->out};
    ensure(l->columns->count <= TABLE_COLUMNS_MAX);
    if (listing_check(how, e) != 0) return -1;
    r.row = arena_alloc(call->arena, l->columns->fields->count * sizeof *r.row);
    int status = is_copied(&r) ? copy_lines(&r, call, &client, e) : run(&r, call, &client, e);
    if (out_count) *out_count = r.count;
    client_close(&client);
    listing_release(&r.written);
    arena_release(&r.arena);
    return status;
}
