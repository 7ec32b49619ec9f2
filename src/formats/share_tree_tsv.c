#include "formats/share_tree_tsv.h"

#include <string.h>

#include "base/map.h"
#include "base/text.h"

/* Three passes: lines to rows; rows to their parents, which may come later; depths, which finds cycles. */
struct reader {
    const struct source *source;
    struct share_header header;
    ARRAY(struct share_tree_row) rows;
    struct map accounts; /* name to row; the root is not in it */
    struct map users;    /* name to a number */
    struct map seen;     /* (account's row, user's number) to row */
};

static const struct share_form form = {
    .separator = '\t',
    .headings = {[COLUMN_PARENT] = "parent",
                 [COLUMN_ACCOUNT] = "account",
                 [COLUMN_USER] = "user",
                 [COLUMN_SHARES] = "shares",
                 [COLUMN_USAGE] = "usage"},
};

bool share_tree_is_header(struct str line)
{
    return line.length > 0 && memchr(line.text, form.separator, line.length) != NULL;
}

static bool is_root_name(struct str name)
{
    return str_equal(name, str("root"));
}

static int check_account(struct reader *r, const struct share_tree_row *row, struct err *e)
{
    const char *at = row->account.text;
    struct str name = row->account;
    if (is_root_name(name)) return source_error(r->source, at, e, "the account 'root' is there without a line");
    if (map_get(&r->accounts, name) != NONE) {
        return source_error(r->source, at, e, "a second line of the account '%.*s'", QUOTED(name));
    }
    if (row->parent_name.length > 0) return 0;
    return source_error(r->source, row->parent_name.text, e,
                        "account '%.*s' names no parent; an account, or root, is wanted", QUOTED(name));
}

/* A name that begins with '#' would make a comment of the lines it stands first in. */
static int apply_check_name(const struct reader *r, struct str name, const char *what, struct err *e)
{
    if (share_name_check(r->source, name, what, e) != 0) return -1;
    if (name.text[0] != '#') return 0;
    return source_error(r->source, name.text, e, "%s '%.*s': a name may not begin with '#', which begins a comment",
                        what, QUOTED(name));
}

static int read_row(struct reader *r, struct str line, struct err *e)
{
    struct str fields[COLUMN_COUNT];
    if (share_line_cut(r->source, &r->header, line, fields, e) != 0) return -1;
    struct share_tree_row row = {fields[COLUMN_PARENT], fields[COLUMN_ACCOUNT], fields[COLUMN_USER], .parent = NONE};
    bool is_account = row.user.length == 0;
    if (apply_check_name(r, row.account, "account", e) != 0) return -1;
    if (!is_account && apply_check_name(r, row.user, "user", e) != 0) return -1;
    if (share_shares_read(r->source, fields[COLUMN_SHARES], &row.shares, e) != 0) return -1;
    if (row.shares.is_missing) {
        return source_error(r->source, fields[COLUMN_SHARES].text, e,
                            "the shares are empty; a whole number from 0 to %u, or 'parent', is wanted",
                            SHARES_FIELD_MAX);
    }
    if (share_usage_read(r->source, fields[COLUMN_USAGE], true, &row.usage, e) != 0) return -1;
    if (is_account && check_account(r, &row, e) != 0) return -1;
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
        bool is_skipped = str_trim(line).length == 0 || line.text[0] == '#';
        if (!is_skipped && read_row(r, line, e) != 0) return -1;
    }
    if (r->rows.count > 0) return 0;
    return source_error(r->source, r->source->text.text + r->source->text.length, e, "no line behind the header");
}

/* A number for each user's name: with the account's row, a pair that tells whether the two were there before. */
static uint32_t user_number(struct reader *r, struct str user)
{
    uint32_t number = map_get(&r->users, user);
    if (number != NONE) return number;
    number = r->users.count;
    map_set(&r->users, user, number);
    return number;
}

static int link_user(struct reader *r, uint32_t i, struct err *e)
{
    struct share_tree_row *row = &r->rows.items[i];
    row->parent = map_get(&r->accounts, row->account);
    if (row->parent == NONE && !is_root_name(row->account)) {
        return source_error(r->source, row->account.text, e, "user '%.*s' is in account '%.*s', which has no line",
                            QUOTED(row->user), QUOTED(row->account));
    }
    struct str wanted = row->parent != NONE ? r->rows.items[row->parent].parent_name : (struct str){0};
    if (row->parent_name.length > 0 && !str_equal(row->parent_name, wanted)) {
        return source_error(r->source, row->parent_name.text, e,
                            "user '%.*s' names the parent '%.*s'; that of account '%.*s' or nothing is wanted",
                            QUOTED(row->user), QUOTED(row->parent_name), QUOTED(row->account));
    }
    uint64_t pair = (uint64_t)row->parent << 32 | user_number(r, row->user);
    if (map_get_u64(&r->seen, pair) != NONE) {
        return source_error(r->source, row->user.text, e, "a second line of user '%.*s' in account '%.*s'",
                            QUOTED(row->user), QUOTED(row->account));
    }
    map_set_u64(&r->seen, pair, i);
    return 0;
}

static int link_account(struct reader *r, uint32_t i, struct err *e)
{
    struct share_tree_row *row = &r->rows.items[i];
    row->parent = map_get(&r->accounts, row->parent_name);
    if (row->parent != NONE || is_root_name(row->parent_name)) return 0;
    return source_error(r->source, row->parent_name.text, e, "account '%.*s' is below '%.*s', which has no line",
                        QUOTED(row->account), QUOTED(row->parent_name));
}

/* Row i did not reach the root within SHARE_DEPTH_MAX steps. As many steps as there are rows lead into the cycle, if
 * there is one; it is told from its first line on. */
static int refuse_depth(const struct reader *r, uint32_t i, struct err *e)
{
    const struct share_tree_row *rows = r->rows.items;
    uint32_t at = i;
    for (uint32_t step = 0; step < r->rows.count && at != NONE; step++) at = rows[at].parent;
    if (at == NONE) {
        struct str name = rows[i].user.length > 0 ? rows[i].user : rows[i].account;
        return source_error(r->source, name.text, e, "'%.*s' is more than %d levels below the root", QUOTED(name),
                            SHARE_DEPTH_MAX);
    }
    uint32_t first = at;
    for (uint32_t j = rows[at].parent; j != at; j = rows[j].parent) first = j < first ? j : first;

    char names[300];
    size_t length = text_format(names, sizeof names, "%.*s", QUOTED(rows[first].account));
    uint32_t j = first;
    do {
        j = rows[j].parent;
        length += text_format(names + length, sizeof names - length, " -> %.*s", QUOTED(rows[j].account));
    } while (j != first && length < sizeof names);
    return source_error(r->source, rows[first].account.text, e, "accounts are each other's parents: %s", names);
}

static int find_depths(struct reader *r, struct err *e)
{
    struct share_tree_row *rows = r->rows.items;
    for (uint32_t i = 0; i < r->rows.count; i++) {
        uint32_t depth = 1;
        for (uint32_t at = rows[i].parent; at != NONE; at = rows[at].parent) {
            if (++depth > SHARE_DEPTH_MAX) return refuse_depth(r, i, e);
        }
        rows[i].depth = depth;
    }
    return 0;
}

/* The rows depth first. Rows are chained to their siblings from the last to the first, so every chain is in the text's
 * order; then one walk with a place for each depth. */
static uint32_t *make_order(const struct share_tree_row *rows, uint32_t count, struct arena *arena)
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
    uint32_t made = 0, up[SHARE_DEPTH_MAX + 1], depth = 0;
    for (uint32_t i = child[0]; made < count;) {
        order[made++] = i;
        up[depth] = i;
        if (child[i + 1] != NONE) {
            depth++;
            i = child[i + 1];
            continue;
        }
        while (next[i] == NONE && depth > 0) i = up[--depth];
        i = next[i];
    }
    mem_free(child);
    mem_free(next);
    return order;
}

static int link_rows(struct reader *r, struct err *e)
{
    for (uint32_t i = 0; i < r->rows.count; i++) {
        bool is_account = r->rows.items[i].user.length == 0;
        if ((is_account ? link_account(r, i, e) : link_user(r, i, e)) != 0) return -1;
    }
    return find_depths(r, e);
}

int share_tree_parse(const struct source *s, struct arena *arena, struct share_tree *out, struct err *e)
{
    if (source_check(s, e) != 0) return -1;
    struct reader r = {.source = s};
    int status = read_rows(&r, e);
    if (status == 0) status = link_rows(&r, e);
    if (status == 0) {
        struct share_tree_row *rows = arena_alloc(arena, r.rows.count * sizeof *rows);
        memcpy(rows, r.rows.items, r.rows.count * sizeof *rows);
        *out = (struct share_tree){rows, r.rows.count, make_order(rows, r.rows.count, arena)};
    }
    array_release(&r.rows);
    map_release(&r.accounts);
    map_release(&r.users);
    map_release(&r.seen);
    return status;
}
