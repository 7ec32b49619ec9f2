/* Three passes: the first parses lines to rows, the second finds the parents, which may come later in the text, and the
 * third counts depths, which detects cycles. */
#include "formats/share_tree_tsv.h"

#include <string.h>

#include "base/map.h"
#include "base/text.h"

struct tsv_reader {
    const struct source *source;
    struct share_columns columns;
    ARRAY(struct share_tree_tsv_row) rows;
    struct map accounts; /* name to row, without the root */
    struct map users;    /* name to a number */
    struct map seen;     /* (user's number, account's row) to row */
};

static const struct share_format format = {
    .separator = '\t',
    .headings = {[COLUMN_PARENT] = "parent",
                 [COLUMN_ACCOUNT] = "account",
                 [COLUMN_USER] = "user",
                 [COLUMN_SHARES] = "shares",
                 [COLUMN_USAGE] = "usage"},
};

bool share_tree_tsv_is_header(struct str line)
{
    return line.length > 0 && memchr(line.text, format.separator, line.length) != NULL;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* A name must not begin with '#', because a line that began with it would be a comment. */
static int check_name(const struct tsv_reader *r, struct str name, const char *what, struct err *e)
{
    if (share_columns_check_name(r->source, name, what, e) != 0) return -1;
    if (name.text[0] != '#') return 0;
    return source_error(r->source, name.text, e,
                        err_value_reason(e, what, name, "begins with '#', which starts a comment"));
}

static int check_account(struct tsv_reader *r, const struct share_tree_tsv_row *row, struct err *e)
{
    struct str name = row->account;
    if (share_columns_is_root(name)) {
        return source_error(r->source, name.text, e,
                            err_subject(e, ERR_INPUT, "account", name, "is implied; remove this line"));
    }
    if (map_get(&r->accounts, name) != NONE) {
        return source_error(r->source, name.text, e, err_subject(e, ERR_INPUT, "account", name, "has two lines"));
    }
    if (row->parent_name.length > 0) return 0;
    return source_error(r->source, row->parent_name.text, e,
                        err_subject(e, ERR_INPUT, "account", name, "names no parent; name an account or root"));
}

static int read_row(struct tsv_reader *r, struct str line, struct err *e)
{
    struct str fields[COLUMN_COUNT];
    if (share_columns_cut(r->source, &r->columns, line, fields, e) != 0) return -1;
    struct share_tree_tsv_row row = {
        .parent_name = fields[COLUMN_PARENT],
        .account = fields[COLUMN_ACCOUNT],
        .user = fields[COLUMN_USER],
        .parent = NONE,
    };
    bool is_account = row.user.length == 0;
    if (check_name(r, row.account, "account", e) != 0) return -1;
    if (!is_account && check_name(r, row.user, "user", e) != 0) return -1;
    if (share_columns_parse_shares(r->source, fields[COLUMN_SHARES], false, &row.shares, e) != 0) return -1;
    if (share_columns_parse_usage(r->source, fields[COLUMN_USAGE], true, &row.usage, e) != 0) return -1;
    if (is_account && check_account(r, &row, e) != 0) return -1;
    if (is_account) map_set(&r->accounts, row.account, r->rows.count);
    *array_add(&r->rows) = row;
    return 0;
}

static int read_rows(struct tsv_reader *r, struct err *e)
{
    struct str line, rest;
    if (source_header(r->source, &line, &rest, e) != 0) return -1;
    if (share_columns_parse(r->source, &format, line, &r->columns, e) != 0) return -1;
    while (source_line(&rest, &line)) {
        bool is_skipped = str_trim(line).length == 0 || line.text[0] == '#';
        if (!is_skipped && read_row(r, line, e) != 0) return -1;
    }
    if (r->rows.count > 0) return 0;
    const char *end = r->source->text.text + r->source->text.length;
    return source_error(r->source, end, e, err_set(e, ERR_INPUT, "no line follows the header"));
}

/* --- parents ------------------------------------------------------------------------------------------------------ */

/* A number for each user name. With the account's row it forms the key that detects a user's second line in an
 * account. */
static uint32_t user_number(struct tsv_reader *r, struct str user)
{
    uint32_t number = map_get(&r->users, user);
    if (number != NONE) return number;
    number = r->users.count;
    map_set(&r->users, user, number);
    return number;
}

static int link_user(struct tsv_reader *r, uint32_t i, struct err *e)
{
    struct share_tree_tsv_row *row = &r->rows.items[i];
    row->parent = map_get(&r->accounts, row->account);
    if (row->parent == NONE && !share_columns_is_root(row->account)) {
        (void)err_value_reason(e, "account", row->account, "has no line");
        return source_error(r->source, row->account.text, e, err_of(e, "user", row->user));
    }
    struct str expected = row->parent != NONE ? r->rows.items[row->parent].parent_name : (struct str){0};
    if (row->parent_name.length > 0 && !str_equal(row->parent_name, expected)) {
        (void)err_value(e, "parent", row->parent_name, "the parent of the user's account; leave it empty");
        return source_error(r->source, row->parent_name.text, e, err_of(e, "user", row->user));
    }
    uint64_t key = map_key_of_pair(user_number(r, row->user), row->parent); /* the parent may be NONE */
    if (map_get_u64(&r->seen, key) != NONE) {
        return source_error(r->source, row->user.text, e,
                            err_subject(e, ERR_INPUT, "user", row->user, "has two lines in account '%.*s'",
                                        (int)row->account.length, row->account.text));
    }
    map_set_u64(&r->seen, key, i);
    return 0;
}

static int link_account(struct tsv_reader *r, uint32_t i, struct err *e)
{
    struct share_tree_tsv_row *row = &r->rows.items[i];
    row->parent = map_get(&r->accounts, row->parent_name);
    if (row->parent != NONE || share_columns_is_root(row->parent_name)) return 0;
    (void)err_value_reason(e, "parent", row->parent_name, "has no line");
    return source_error(r->source, row->parent_name.text, e, err_of(e, "account", row->account));
}

static int link_rows(struct tsv_reader *r, struct err *e)
{
    for (uint32_t i = 0; i < r->rows.count; i++) {
        bool is_account = r->rows.items[i].user.length == 0;
        if ((is_account ? link_account(r, i, e) : link_user(r, i, e)) != 0) return -1;
    }
    return 0;
}

/* --- depths ------------------------------------------------------------------------------------------------------- */

/* Names the accounts of a cycle that row i is in, from the one whose line comes first. Long cycles are cut. */
static int refuse_cycle(const struct tsv_reader *r, uint32_t i, struct err *e)
{
    const struct share_tree_tsv_row *rows = r->rows.items;
    uint32_t first = i;
    for (uint32_t j = rows[i].parent; j != i; j = rows[j].parent) first = j < first ? j : first;

    struct buf names = {0};
    uint32_t j = first;
    do {
        buf_add_str(&names, rows[j].account);
        buf_add_text(&names, " -> ");
        j = rows[j].parent;
    } while (j != first && names.length < sizeof e->reason);
    buf_add_str(&names, rows[j].account);
    (void)err_set(e, ERR_INPUT, "the accounts form a cycle: %s", names.text);
    buf_release(&names);
    return source_error(r->source, rows[first].account.text, e, -1);
}

/* Row i did not reach the root within SHARE_DEPTH_MAX steps. After as many steps as there are rows, a path that has not
 * reached the root is in a cycle. */
static int refuse_depth(const struct tsv_reader *r, uint32_t i, struct err *e)
{
    const struct share_tree_tsv_row *rows = r->rows.items;
    uint32_t above = i;
    for (uint32_t step = 0; step < r->rows.count && above != NONE; step++) above = rows[above].parent;
    if (above != NONE) return refuse_cycle(r, above, e);
    bool is_user = rows[i].user.length > 0;
    struct str name = is_user ? rows[i].user : rows[i].account;
    return source_error(r->source, name.text, e,
                        err_subject(e, ERR_INPUT, is_user ? "user" : "account", name,
                                    "is more than %d levels below the root", SHARE_DEPTH_MAX));
}

static int find_depths(struct tsv_reader *r, struct err *e)
{
    struct share_tree_tsv_row *rows = r->rows.items;
    for (uint32_t i = 0; i < r->rows.count; i++) {
        uint32_t depth = 1;
        for (uint32_t above = rows[i].parent; above != NONE; above = rows[above].parent) {
            if (++depth > SHARE_DEPTH_MAX) return refuse_depth(r, i, e);
        }
        rows[i].depth = depth;
    }
    return 0;
}

/* --- order -------------------------------------------------------------------------------------------------------- */

/* The rows depth first. Every row is linked to its next sibling, from the last row to the first, so that each chain is
 * in the order of the text. The walk follows the chains and keeps its row at each depth. O(n). */
static uint32_t *order_depth_first(const struct share_tree_tsv_row *rows, uint32_t count, struct arena *arena)
{
    uint32_t *order = arena_alloc(arena, count * sizeof *order);
    uint32_t *next = mem_resize(NULL, 0, count * sizeof *next);
    uint32_t *child = mem_resize(NULL, 0, (count + 1) * sizeof *child); /* of row i at i + 1; of the root at 0 */
    memset(child, 0xff, (count + 1) * sizeof *child);
    for (uint32_t i = count; i-- > 0;) {
        uint32_t *chain = &child[rows[i].parent + 1]; /* NONE + 1 is 0 */
        next[i] = *chain;
        *chain = i;
    }
    uint32_t done = 0, path[SHARE_DEPTH_MAX + 1], depth = 0;
    for (uint32_t i = child[0]; done < count;) {
        order[done++] = i;
        path[depth] = i;
        if (child[i + 1] != NONE) {
            depth++;
            i = child[i + 1];
            continue;
        }
        while (next[i] == NONE && depth > 0) i = path[--depth];
        i = next[i];
    }
    mem_free(child);
    mem_free(next);
    return order;
}

int share_tree_tsv_parse(const struct source *s, struct arena *arena, struct share_tree_tsv *out, struct err *e)
{
    if (source_check(s, e) != 0) return -1;
    struct tsv_reader r = {.source = s};
    int status = read_rows(&r, e);
    if (status == 0) status = link_rows(&r, e);
    if (status == 0) status = find_depths(&r, e);
    if (status == 0) {
        uint32_t count = r.rows.count;
        struct share_tree_tsv_row *rows = arena_alloc(arena, count * sizeof *rows);
        memcpy(rows, r.rows.items, count * sizeof *rows);
        *out = (struct share_tree_tsv){.rows = rows, .count = count, .order = order_depth_first(rows, count, arena)};
    }
    array_release(&r.rows);
    map_release(&r.accounts);
    map_release(&r.users);
    map_release(&r.seen);
    return status;
}
