#include "formats/sshare.h"

#include <string.h>

#include "base/map.h"

/* Rows while they are read, and the accounts that are still open: open[i] is the last account indented by i, when it has
 * not been closed by one further left. The root is open at 0 even without a row. */
struct reader {
    const struct source *source;
    struct share_header header;
    ARRAY(struct sshare_row) rows;
    struct map accounts;                /* name to its last row */
    uint32_t open[SHARE_DEPTH_MAX + 1]; /* rows; NONE: the root without a row */
    uint32_t open_count;
    uint32_t root;
};

static const struct share_form form = {
    .separator = '|',
    .headings = {[COLUMN_ACCOUNT] = "Account",
                 [COLUMN_USER] = "User",
                 [COLUMN_PARTITION] = "Partition",
                 [COLUMN_SHARES] = "RawShares",
                 [COLUMN_USAGE] = "RawUsage"},
    .may_miss = {[COLUMN_PARTITION] = true},
    .may_have_others = true,
};

bool sshare_is_header(struct str line)
{
    return line.length > 0 && memchr(line.text, form.separator, line.length) != NULL;
}

static uint32_t take_indent(struct str *account)
{
    uint32_t indent = 0;
    while (indent < account->length && account->text[indent] == ' ') indent++;
    *account = str_range(account->text + indent, account->text + account->length);
    return indent;
}

static bool is_root(const struct sshare_row *row)
{
    return row->indent == 0 && str_equal(row->account, str("root"));
}

static int place_root(struct reader *r, struct sshare_row *row, struct err *e)
{
    if (r->root != NONE) return source_error(r->source, row->account.text, e, "a second row of the account 'root'");
    row->parent = NONE;
    r->root = r->rows.count;
    r->open[0] = NONE;
    r->open_count = 1;
    return 0;
}

static int place_below(struct reader *r, struct sshare_row *row, uint32_t parent, struct err *e)
{
    row->parent = parent;
    row->depth = parent == NONE ? 1 : r->rows.items[parent].depth + 1;
    if (row->depth <= SHARE_DEPTH_MAX) return 0;
    return source_error(r->source, row->account.text, e, "'%.*s' is more than %d levels below the root",
                        QUOTED(row->account), SHARE_DEPTH_MAX);
}

/* Finds the parent of an account's row by its indentation. The root, with a row or without, is what rows at the left
 * edge (indent 0) and one further (indent 1, nothing open at the left edge) hang under. */
static int place_account(struct reader *r, struct sshare_row *row, struct err *e)
{
    const char *at = row->account.text;
    struct str name = row->account;
    if (is_root(row)) return place_root(r, row, e);
    if (str_equal(name, str("root"))) return source_error(r->source, at, e, "account 'root' below another account");
    if (row->indent > r->open_count) {
        return source_error(r->source, at, e,
                            "account '%.*s' is indented by %u, under an account that is indented by %u", QUOTED(name),
                            row->indent, r->open_count - 1);
    }
    if (place_below(r, row, row->indent > 0 ? r->open[row->indent - 1] : NONE, e) != 0) return -1;
    uint32_t before = map_get(&r->accounts, name);
    if (before != NONE && r->rows.items[before].parent == row->parent) {
        return source_error(r->source, at, e, "account '%.*s' is listed twice under the same parent", QUOTED(name));
    }
    r->open[row->indent] = r->rows.count;
    r->open_count = row->indent + 1;
    return 0;
}

/* A user belongs to the nearest account of that name above and is one further in. The root's may have no row. */
static int place_user(struct reader *r, struct sshare_row *row, struct err *e)
{
    const char *at = row->account.text;
    struct str name = row->account;
    uint32_t account = map_get(&r->accounts, name);
    if (account == NONE && !str_equal(name, str("root"))) {
        return source_error(r->source, at, e, "user '%.*s' is in account '%.*s', which has no row above",
                            QUOTED(row->user), QUOTED(name));
    }
    uint32_t wanted = account != NONE ? r->rows.items[account].indent + 1 : 1;
    if (row->indent != wanted) {
        return source_error(r->source, at, e,
                            "user '%.*s' is indented by %u; one further than its account '%.*s' would be %u",
                            QUOTED(row->user), row->indent, QUOTED(name), wanted);
    }
    return place_below(r, row, account == r->root ? NONE : account, e);
}

static int check_names(const struct reader *r, const struct sshare_row *row, struct err *e)
{
    if (share_name_check(r->source, row->account, "account", e) != 0) return -1;
    if (row->user.length > 0 && share_name_check(r->source, row->user, "user", e) != 0) return -1;
    if (row->partition.length > 0 && share_name_check(r->source, row->partition, "partition", e) != 0) return -1;
    return 0;
}

static int read_row(struct reader *r, struct str line, struct err *e)
{
    struct str fields[COLUMN_COUNT];
    if (share_line_cut(r->source, &r->header, line, fields, e) != 0) return -1;
    struct sshare_row row = {fields[COLUMN_ACCOUNT], fields[COLUMN_USER], fields[COLUMN_PARTITION], .parent = NONE};
    row.indent = take_indent(&row.account);
    bool is_account = row.user.length == 0;
    if (check_names(r, &row, e) != 0) return -1;
    if (share_shares_read(r->source, fields[COLUMN_SHARES], &row.shares, e) != 0) return -1;
    if (row.shares.is_missing && !(is_account && is_root(&row))) {
        return source_error(r->source, fields[COLUMN_SHARES].text, e,
                            "the shares are empty; a whole number from 0 to %u, or 'parent', is wanted",
                            SHARES_FIELD_MAX);
    }
    if (share_usage_read(r->source, fields[COLUMN_USAGE], false, &row.usage, e) != 0) return -1;
    if ((is_account ? place_account(r, &row, e) : place_user(r, &row, e)) != 0) return -1;
    if (is_account) map_set(&r->accounts, row.account, r->rows.count);
    *array_add(&r->rows) = row;
    return 0;
}

static int read_rows(struct reader *r, struct err *e)
{
    struct str line, rest;
    if (!source_header(r->source, &line, &rest)) {
        return source_error(r->source, r->source->text.text, e, "no header line");
    }
    if (share_header_read(r->source, &form, line, &r->header, e) != 0) return -1;
    while (source_line(&rest, &line)) {
        if (str_trim(line).length > 0 && read_row(r, line, e) != 0) return -1;
    }
    if (r->rows.count > 0) return 0;
    return source_error(r->source, r->source->text.text + r->source->text.length, e, "no row behind the header");
}

int sshare_parse(const struct source *s, struct arena *arena, struct sshare *out, struct err *e)
{
    if (source_check(s, e) != 0) return -1;
    struct reader r = {.source = s, .root = NONE, .open = {NONE}, .open_count = 1};
    int status = read_rows(&r, e);
    if (status == 0) {
        struct sshare_row *rows = arena_alloc(arena, r.rows.count * sizeof *rows);
        memcpy(rows, r.rows.items, r.rows.count * sizeof *rows);
        *out = (struct sshare){rows, r.rows.count, r.root, r.header.has[COLUMN_PARTITION]};
    }
    array_release(&r.rows);
    map_release(&r.accounts);
    return status;
}
