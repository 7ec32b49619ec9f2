/* One pass: the parent of each row is found among the rows above it, by the indentation. */
#include "formats/sshare.h"

#include <string.h>

#include "base/map.h"

/* The rows so far, and the open accounts, which can get more children: open[i] is the last account indented by i,
 * unless an account with less indentation followed. The root is open at 0, even without a row. */
struct sshare_reader {
    const struct source *source;
    struct share_columns columns;
    ARRAY(struct sshare_row) rows;
    struct map accounts;                /* name to its last row */
    uint32_t open[SHARE_DEPTH_MAX + 1]; /* rows; NONE: the root without a row */
    uint32_t open_count;
    uint32_t root;
};

static const struct share_format format = {
    .separator = '|',
    .headings = {[COLUMN_ACCOUNT] = "Account",
                 [COLUMN_USER] = "User",
                 [COLUMN_PARTITION] = "Partition",
                 [COLUMN_SHARES] = "RawShares",
                 [COLUMN_USAGE] = "RawUsage"},
    .is_optional = {[COLUMN_PARTITION] = true},
    .allows_others = true,
};

bool sshare_is_header(struct str line)
{
    return line.length > 0 && memchr(line.text, format.separator, line.length) != NULL;
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
    return row->indent == 0 && share_columns_is_root(row->account);
}

static int link_root(struct sshare_reader *r, struct sshare_row *row, struct err *e)
{
    if (r->root != NONE) {
        return source_error(r->source, row->account.text, e,
                            err_subject(e, ERR_INPUT, "account", row->account, "has two rows"));
    }
    row->parent = NONE;
    r->root = r->rows.count;
    r->open[0] = NONE;
    r->open_count = 1;
    return 0;
}

static int link_below(struct sshare_reader *r, struct sshare_row *row, uint32_t parent, struct err *e)
{
    row->parent = parent;
    row->depth = parent == NONE ? 1 : r->rows.items[parent].depth + 1;
    if (row->depth <= SHARE_DEPTH_MAX) return 0;
    bool is_user = row->user.length > 0;
    return source_error(r->source, row->account.text, e,
                        err_subject(e, ERR_INPUT, is_user ? "user" : "account", is_user ? row->user : row->account,
                                    "is more than %d levels below the root", SHARE_DEPTH_MAX));
}

/* Finds the parent of an account's row by its indentation. The root, with a row or without one, is the parent of rows
 * without indentation, and of rows indented by 1 if no account without indentation is open. */
static int link_account(struct sshare_reader *r, struct sshare_row *row, struct err *e)
{
    const char *position = row->account.text;
    struct str name = row->account;
    if (is_root(row)) return link_root(r, row, e);
    if (share_columns_is_root(name)) {
        return source_error(r->source, position, e,
                            err_subject(e, ERR_INPUT, "account", name, "is below another account"));
    }
    if (row->indent > r->open_count) {
        return source_error(r->source, position, e,
                            err_subject(e, ERR_INPUT, "account", name,
                                        "is indented by %u below an account that is indented by %u", row->indent,
                                        r->open_count - 1));
    }
    if (link_below(r, row, row->indent > 0 ? r->open[row->indent - 1] : NONE, e) != 0) return -1;
    uint32_t previous = map_get(&r->accounts, name);
    if (previous != NONE && r->rows.items[previous].parent == row->parent) {
        return source_error(r->source, position, e,
                            err_subject(e, ERR_INPUT, "account", name, "has two rows below the same parent"));
    }
    r->open[row->indent] = r->rows.count;
    r->open_count = row->indent + 1;
    return 0;
}

/* A user belongs to the nearest account of that name above, and is indented by one more. The root needs no row. */
static int link_user(struct sshare_reader *r, struct sshare_row *row, struct err *e)
{
    const char *position = row->account.text;
    struct str name = row->account;
    uint32_t account = map_get(&r->accounts, name);
    if (account == NONE && !share_columns_is_root(name)) {
        (void)err_value_reason(e, "account", name, "has no row above");
        return source_error(r->source, position, e, err_of(e, "user", row->user));
    }
    uint32_t expected = account != NONE ? r->rows.items[account].indent + 1 : 1;
    if (row->indent != expected) {
        return source_error(r->source, position, e,
                            err_subject(e, ERR_INPUT, "user", row->user,
                                        "is indented by %u; one more than its account is %u", row->indent, expected));
    }
    return link_below(r, row, account == r->root ? NONE : account, e);
}

static int check_names(const struct sshare_reader *r, const struct sshare_row *row, struct err *e)
{
    if (share_columns_check_name(r->source, row->account, "account", e) != 0) return -1;
    if (row->user.length > 0 && share_columns_check_name(r->source, row->user, "user", e) != 0) return -1;
    if (row->partition.length == 0) return 0;
    return share_columns_check_name(r->source, row->partition, "partition", e);
}

static int read_row(struct sshare_reader *r, struct str line, struct err *e)
{
    struct str fields[COLUMN_COUNT];
    if (share_columns_cut(r->source, &r->columns, line, fields, e) != 0) return -1;
    struct sshare_row row = {
        .account = fields[COLUMN_ACCOUNT],
        .user = fields[COLUMN_USER],
        .partition = fields[COLUMN_PARTITION],
        .parent = NONE,
    };
    row.indent = take_indent(&row.account);
    bool is_account = row.user.length == 0;
    if (check_names(r, &row, e) != 0) return -1;
    bool may_miss_shares = is_account && is_root(&row);
    if (share_columns_parse_shares(r->source, fields[COLUMN_SHARES], may_miss_shares, &row.shares, e) != 0) return -1;
    if (share_columns_parse_usage(r->source, fields[COLUMN_USAGE], false, &row.usage, e) != 0) return -1;
    if ((is_account ? link_account(r, &row, e) : link_user(r, &row, e)) != 0) return -1;
    if (is_account) map_set(&r->accounts, row.account, r->rows.count);
    *array_add(&r->rows) = row;
    return 0;
}

static int read_rows(struct sshare_reader *r, struct err *e)
{
    struct str line, rest;
    if (source_header(r->source, &line, &rest, e) != 0) return -1;
    if (share_columns_parse(r->source, &format, line, &r->columns, e) != 0) return -1;
    while (source_line(&rest, &line)) {
        if (str_trim(line).length > 0 && read_row(r, line, e) != 0) return -1;
    }
    if (r->rows.count > 0) return 0;
    const char *end = r->source->text.text + r->source->text.length;
    return source_error(r->source, end, e, err_set(e, ERR_INPUT, "no row follows the header"));
}

int sshare_parse(const struct source *s, struct arena *arena, struct sshare *out, struct err *e)
{
    if (source_check(s, e) != 0) return -1;
    struct sshare_reader r = {.source = s, .root = NONE, .open = {NONE}, .open_count = 1};
    int status = read_rows(&r, e);
    if (status == 0) {
        struct sshare_row *rows = arena_alloc(arena, r.rows.count * sizeof *rows);
        memcpy(rows, r.rows.items, r.rows.count * sizeof *rows);
        *out = (struct sshare){
            .rows = rows,
            .count = r.rows.count,
            .root = r.root,
            .has_partition = r.columns.has[COLUMN_PARTITION],
        };
    }
    array_release(&r.rows);
    map_release(&r.accounts);
    return status;
}
