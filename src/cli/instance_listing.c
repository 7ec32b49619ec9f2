/* Rows arrive as text. For --json they are copied; otherwise each is read into an arena that is cleared before the next
 * row. If the instance can send rows as lines, they are requested as lines: reading 10^5 jobs takes a second as JSON
 * and a tenth of a second as lines. Memory is bounded by the table or, if rows arrive in reverse, by their text. */
#include "cli/instance_listing.h"

#include <string.h>

#include "api/bodies.h"
#include "base/ensure.h"
#include "cli/unknown_name.h"

enum { BLOCK_NAME_WIDTH_MIN = 13 };

struct listing_run {
    const struct instance_listing *listing;
    const struct listing_values *form;
    struct output *out;
    struct listing written;
    struct field_value *row;
    struct arena arena; /* of one row */
    const char *group;  /* of the previous row */
    uint32_t count;
    bool is_lines;
    struct wire_columns lines; /* if is_lines: the columns of the reply */
};

static bool writes_blocks(const struct listing_run *r)
{
    return r->listing->has_blocks && listing_is_table(r->form);
}

/* The headings of a block begin in capitals or are names of fields. */
static const char *block_name(const struct listing_run *r, uint32_t i)
{
    const struct column *c = &r->written.chosen_columns[i];
    return c->heading != NULL ? c->heading : r->written.table_columns[i].heading;
}

static int name_width(const struct listing_run *r)
{
    size_t width = BLOCK_NAME_WIDTH_MIN;
    for (uint32_t i = 0; i < r->written.chosen.count; i++) {
        size_t length = strlen(block_name(r, i));
        if (length > width) width = length;
    }
    return (int)width;
}

/* "Time limit    2:00:00" */
static void write_block(struct listing_run *r)
{
    struct buf block = {0}, value = {0};
    int width = name_width(r);
    if (r->listing->block_heading != NULL) r->listing->block_heading(r->row, &block);
    for (uint32_t i = 0; i < r->written.chosen.count; i++) {
        const struct column *c = &r->written.chosen_columns[i];
        buf_clear(&value);
        listing_write_cell(&r->written.chosen, c, r->row, &r->arena, &value);
        if (value.length > 0) text_make_plain(value.text, value.length);
        if (r->listing->drops_empty && r->form->columns == NULL && (value.length == 0 || strcmp(value.text, "-") == 0))
            continue;
        buf_format(&block, "%-*s %.*s\n", width, block_name(r, i), (int)value.length, value.text);
    }
    listing_add_block(&r->written, r->row, (struct str){block.text, block.length});
    buf_release(&block);
    buf_release(&value);
}

static void add_group(struct listing_run *r)
{
    const char *group = r->listing->group_of(r->row);
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
    bool is_copied = listing_takes_json(r->form) && l->filter == NULL;
    arena_clear(&r->arena);
    if (!is_copied && read_row(r, text, e) != 0) return -1;
    if (l->filter != NULL && !l->filter(r->row, l->filter_context)) return 0;
    if (listing_takes_json(r->form)) {
        listing_add_json(&r->written, text);
    } else if (writes_blocks(r)) {
        write_block(r);
    } else {
        if (l->group_of != NULL) add_group(r);
        listing_add(&r->written, r->row);
    }
    r->count++;
    return 0;
}

/* --- copying ------------------------------------------------------------------------------------------------------ */

/* Whether the instance sends exactly the lines of --parsable. */
static bool copies_psv(const struct listing_run *r)
{
    return r->listing->has_psv && r->form->is_parsable && r->form->columns == NULL && r->form->sort == NULL;
}

/* Control characters become '?': the lines of another program do not control the terminal. */
static void add_plain_line(struct str line, struct buf *out)
{
    buf_add_str(out, line);
    if (!str_is_printable(line)) text_make_plain(out->text + out->length - line.length, line.length);
    buf_add_char(out, '\n');
}

static int copy_psv(struct listing_run *r, struct call *call, struct client *c, struct err *e)
{
    struct buf target = {0};
    struct str line;
    int more;
    buf_add_text(&target, r->listing->target);
    client_add_query(&target, "format", "psv");
    if (instance_open(call, c, e) != 0 || client_request(c, "GET", instance_target(call, &target), str(""), e) != 0)
        return -1;
    for (uint32_t i = 0; (more = client_line(c, &line, e)) > 0; i++) {
        if (i == 0 && r->form->has_no_header) continue;
        add_plain_line(line, &r->out->text);
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

/* Stores the text of all rows and writes them from the last to the first. */
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

/* An empty listing of an account that does not exist is an error; the instance reports it for its shares. */
static int check_account(struct call *call, struct client *c, const char *account, struct err *e)
{
    struct buf target = {0};
    buf_add_text(&target, API_SHARES "?format=psv");
    client_add_query(&target, "account", account);
    return client_request(c, "GET", instance_target(call, &target), str(""), e);
}

/* Requests the rows: as lines if that is possible and --json does not copy them. */
static int request_rows(struct listing_run *r, struct call *call, struct client *c, struct err *e)
{
    struct buf target = {0};
    struct str heading;
    r->is_lines = r->listing->has_lines && !listing_takes_json(r->form);
    buf_add_text(&target, r->listing->target);
    if (r->is_lines) client_add_query(&target, "format", "lines");
    if (client_request(c, "GET", instance_target(call, &target), str(""), e) != 0) return -1;
    if (!r->is_lines) return 0;
    int more = client_line(c, &heading, e);
    if (more == 0) return err_set(e, ERR_INTERNAL, "the instance's listing has no heading");
    return more < 0 ? -1 : wire_read_heading(r->listing->columns->fields, heading, &r->lines, e);
}

static int run(struct listing_run *r, struct call *call, struct client *c, struct err *e)
{
    const struct instance_listing *l = r->listing;
    size_t old_length = call->out->text.length;
    if (listing_begin(&r->written, l->columns, r->form, call->out, e) != 0) return -1;
    r->written.table.drops_empty = l->drops_empty && r->form->columns == NULL;
    if (instance_open(call, c, e) != 0 || request_rows(r, call, c, e) != 0 ||
        (l->is_reversed ? write_reversed(r, c, e) : write_in_order(r, c, e)) != 0)
        return -1;
    if (r->count == 0 && l->account != NULL && check_account(call, c, l->account, e) != 0) {
        call->out->text.length = old_length; /* removes the heading */
        return -1;
    }
    listing_end(&r->written);
    bool is_told = r->count == 0 && unknown_name_note(call, l->user, NULL);
    if (r->count == 0 && !is_told && listing_is_table(r->form) && l->empty_note != NULL)
        output_note("%s", l->empty_note);
    return 0;
}

int instance_listing_write(struct call *call, const struct instance_listing *l, const struct listing_values *form,
                           uint32_t *out_count, struct err *e)
{
    struct client client = {.fd = -1};
    struct listing_run r = {.listing = l, .form = form, .out = call->out};
    ensure(l->columns->count <= TABLE_COLUMNS_MAX);
    if (listing_check(form, e) != 0) return -1;
    r.row = arena_alloc(call->arena, l->columns->fields->count * sizeof *r.row);
    int status = copies_psv(&r) ? copy_psv(&r, call, &client, e) : run(&r, call, &client, e);
    if (out_count) *out_count = r.count;
    client_close(&client);
    listing_release(&r.written);
    arena_release(&r.arena);
    return status;
}
