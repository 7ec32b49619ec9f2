/* Rows come as text. For --json they go out as they are; otherwise each is read by its shape into an arena of its own,
 * which is emptied after the row. Only a table, and a listing that has to be turned round, hold all their rows. Where the
 * instance gives rows as lines they are asked for as such: 10^5 jobs as JSON take a second to read, as lines a tenth. */
#include "cli/listing.h"

#include <string.h>
#include <time.h>

#include "base/ensure.h"
#include "base/quantity.h"

const struct option_row listing_only_options[] = {
    LISTING_OPTIONS(struct listing_only_values, listing),
    {0},
};

/* One run of a listing. */
struct run {
    const struct listing *listing;
    const struct listing_values *how;
    struct output *out;
    struct arena arena; /* of one row */
    struct table table;
    struct buf cell;
    void *row;
    uint32_t count;
    char group[40]; /* of the row before */
    bool is_lines;
    struct wire_columns lines; /* of the lines that come */
};

static void write_heading(struct run *r)
{
    if (r->how->is_json) {
        buf_add_text(&r->out->text, "[");
    } else if (r->how->is_parsable && !r->how->has_no_header) {
        for (uint32_t i = 0; i < r->listing->column_count; i++)
            buf_format(&r->out->text, "%s%s", i > 0 ? "|" : "", r->listing->columns[i].name);
        buf_add_char(&r->out->text, '\n');
    }
}

/* The cell's text; where columns stand between |, one in the text would shift those behind it. Control characters may be
 * seen on a terminal even there; tables see to that themselves. */
static struct str make_cell(struct run *r, uint32_t column)
{
    bool is_exact = r->how->is_parsable;
    buf_clear(&r->cell);
    const struct column *c = &r->listing->columns[column];
    if (c->cell != NULL) {
        c->cell(r->row, is_exact, &r->cell);
    } else {
        r->listing->cell_at(r->row, column, is_exact, &r->cell, r->listing->context);
    }
    if (is_exact && r->cell.length > 0) text_make_plain(r->cell.text, r->cell.length);
    for (size_t i = 0; is_exact && i < r->cell.length; i++) {
        if (r->cell.text[i] == '|') r->cell.text[i] = '?';
    }
    return (struct str){r->cell.text, r->cell.length};
}

static int read_row(struct run *r, struct str text, struct err *e)
{
    return r->is_lines ? wire_read_line(&r->lines, text, &r->arena, r->row, e)
                       : wire_read_text(r->listing->shape, text, &r->arena, r->row, e);
}

static int next_row(struct run *r, struct client *c, struct str *out_text, struct err *e)
{
    return r->is_lines ? client_line(c, out_text, e) : client_row(c, out_text, e);
}

/* A line between groups, and an empty one before it. */
static void add_group(struct run *r)
{
    const char *group = r->listing->group(r->row);
    if (strcmp(group, r->group) == 0) return;
    uint32_t cells = (r->count > 0 ? r->listing->column_count : 0) + r->listing->column_count;
    for (uint32_t i = 0; i < cells; i++) table_add_text(&r->table, i + r->listing->column_count == cells ? group : "");
    text_format(r->group, sizeof r->group, "%s", group);
}

static int write_row(struct run *r, struct str text, struct err *e)
{
    bool is_shown_whole = r->how->is_json && r->listing->wants == NULL;
    arena_clear(&r->arena);
    if (!is_shown_whole) {
        if (read_row(r, text, e) != 0) return -1;
        if (r->listing->wants && !r->listing->wants(r->row, r->listing->context)) return 0;
    }
    if (r->how->is_json) {
        buf_add_text(&r->out->text, r->count > 0 ? ",\n" : "\n");
        buf_add_str(&r->out->text, text);
    } else {
        if (r->listing->group != NULL && !r->how->is_parsable) add_group(r);
        for (uint32_t i = 0; i < r->listing->column_count; i++) {
            struct str cell = make_cell(r, i);
            if (!r->how->is_parsable) {
                table_add(&r->table, cell);
                continue;
            }
            buf_add_str(&r->out->text, cell);
            buf_add_char(&r->out->text, i + 1 < r->listing->column_count ? '|' : '\n');
        }
    }
    r->count++;
    output_pace(r->out);
    return 0;
}

static int write_in_order(struct run *r, struct client *c, struct err *e)
{
    struct str text;
    int more;
    while ((more = next_row(r, c, &text, e)) > 0) {
        if (write_row(r, text, e) != 0) return -1;
    }
    return more;
}

/* All rows are kept, as text, and written from the last to the first. */
static int write_reversed(struct run *r, struct client *c, struct err *e)
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

static void write_end(struct run *r)
{
    if (r->how->is_json) {
        buf_add_text(&r->out->text, "\n]\n");
    } else if (!r->how->is_parsable && r->count > 0) {
        table_write(&r->table, !r->how->has_no_header, r->out);
    } else if (!r->how->is_parsable && r->listing->empty) {
        output_note("%s", r->listing->empty);
    }
}

/* An empty listing of an account that does not exist is a mistyped name. The instance's words say so. */
static int check_account(struct call *call, struct client *c, const char *account, struct err *e)
{
    struct buf target = {0};
    buf_add_text(&target, WIRE_SHARES "?format=psv");
    target_add_query(&target, "account", account);
    return client_request(c, "GET", instance_target(call, &target), str(""), e);
}

/* Asks for the rows, as lines where that is possible and nobody wants to see them as they come. */
static int ask(struct run *r, struct call *call, struct client *c, const char *target, struct err *e)
{
    struct buf text = {0};
    struct str heading;
    r->is_lines = r->listing->has_lines && !r->how->is_json;
    buf_add_text(&text, target);
    if (r->is_lines) target_add_query(&text, "format", "lines");
    if (client_request(c, "GET", instance_target(call, &text), str(""), e) != 0) return -1;
    if (!r->is_lines) return 0;
    int more = client_line(c, &heading, e);
    if (more == 0) return err_set(e, ERR_INTERNAL, "the instance's listing has no heading");
    return more < 0 ? -1 : wire_read_heading(r->listing->shape, heading, &r->lines, e);
}

int listing_copy_json(struct client *c, struct output *out, struct err *e)
{
    struct str row;
    int more;
    buf_add_char(&out->text, '[');
    for (uint32_t i = 0; (more = client_row(c, &row, e)) > 0; i++) {
        buf_add_text(&out->text, i > 0 ? ",\n" : "\n");
        buf_add_str(&out->text, row);
        output_pace(out);
    }
    buf_add_text(&out->text, "\n]\n");
    return more;
}

int listing_run(struct call *call, const struct listing *l, const struct listing_values *how, const char *target,
                uint32_t *out_count, struct err *e)
{
    ensure(l->column_count <= TABLE_COLUMNS_MAX);
    if (how->is_json && how->is_parsable) return err_set(e, ERR_USAGE, "--json and --parsable: one of them is wanted");
    struct client client;
    if (instance_open(call, &client, e) != 0) return -1;

    struct table_column columns[TABLE_COLUMNS_MAX];
    for (uint32_t i = 0; i < l->column_count; i++)
        columns[i] = (struct table_column){l->columns[i].heading, l->columns[i].is_right};
    struct run r = {.listing = l, .how = how, .out = call->out, .row = arena_alloc(call->arena, l->shape->size)};
    table_init(&r.table, columns, l->column_count);

    size_t before = call->out->text.length;
    int status = ask(&r, call, &client, target, e);
    if (status == 0) {
        write_heading(&r);
        status = l->is_reversed ? write_reversed(&r, &client, e) : write_in_order(&r, &client, e);
    }
    if (status == 0 && r.count == 0 && l->account) {
        status = check_account(call, &client, l->account, e);
        if (status != 0) call->out->text.length = before; /* takes the heading back */
    }
    if (status == 0) write_end(&r);
    if (out_count) *out_count = r.count;

    client_close(&client);
    table_release(&r.table);
    buf_release(&r.cell);
    arena_release(&r.arena);
    return status;
}

int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}

void cell_add_text(struct buf *out, const char *text, bool is_exact)
{
    buf_add_text(out, text && text[0] != '\0' ? text : is_exact ? "" : "-");
}

void cell_add_moment(struct buf *out, int64_t moment_us, bool is_exact)
{
    char text[64];
    if (moment_us == 0) {
        cell_add_text(out, NULL, is_exact);
    } else if (is_exact) {
        time_format(text, moment_us);
        buf_add_text(out, text);
    } else {
        time_t moment = (time_t)(moment_us / US_PER_S), today = time(NULL);
        struct tm then, now;
        localtime_r(&moment, &then);
        localtime_r(&today, &now);
        strftime(text, sizeof text, then.tm_year == now.tm_year ? "%d %b %H:%M:%S" : "%d %b %Y %H:%M", &then);
        buf_add_text(out, text);
    }
}

void cell_add_span(struct buf *out, int64_t span_s, bool is_exact)
{
    char text[32];
    if (span_s < 0) {
        cell_add_text(out, NULL, is_exact);
    } else if (is_exact) {
        buf_format(out, "%lld", (long long)span_s);
    } else {
        duration_format_short(text, span_s);
        buf_add_text(out, text);
    }
}

void cell_add_memory(struct buf *out, uint64_t mib, bool is_exact)
{
    char text[32];
    if (is_exact) {
        buf_add_u64(out, mib);
    } else {
        memory_format(text, mib);
        buf_add_text(out, text);
    }
}

void cell_add_shares(struct buf *out, uint32_t shares)
{
    if (shares == WIRE_SHARES_PARENT) {
        buf_add_text(out, "parent");
    } else {
        buf_add_u64(out, shares);
    }
}

void cell_add_priority(struct buf *out, uint32_t priority)
{
    if (priority == WIRE_PRIORITY_PARENT) {
        buf_add_text(out, "parent");
    } else {
        buf_add_u64(out, priority);
    }
}
