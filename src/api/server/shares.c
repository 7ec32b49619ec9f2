/* GET /v1/shares: the tree and what each association is due, of one moment, by the algorithm in force.
 *
 * The numbers are computed at once when they are asked for (state_share_table), and what the rows need beside them is copied
 * into the stream's arena, because the state goes on changing while the client reads; the rows are then rendered piece by
 * piece. Only rows that are shown are found and copied: somebody who asks for one user in a tree of 10^5 waits for the
 * numbers, a millisecond or two, and for nothing else. Rows are the tree's nodes in index order, which is the order of listings
 * (engine/state.h, invariant 2).
 *
 * psv: the columns of sshare -P (and GrpTRESRaw, if asked for), each number with %.17g, what Slurm has nothing for empty. Account names are indented by
 * their depth, as sshare does, so that the text alone gives the tree. */
#include <math.h>
#include <string.h>

#include "api/server/internal.h"
#include "base/number.h"
#include "policy/share_table.h"

enum { ROWS_AT_ONCE = 64 };

static const char psv_heading[] = "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS";

/* A row: a node of the tree. */
struct line {
    uint32_t node, shares;
    uint8_t depth;
    bool is_root;
    const char *account, *user, *parent_account; /* user NULL: the account's own row; parent_account: of one, or NULL */
    struct work work;
};

/* Usage of one TRES, by node, with all that is below. */
struct tres_usage {
    const char *name;
    double *total;
};

struct snapshot {
    struct share_table table;
    struct tres_usage *tres; /* NULL: not asked for */
    uint32_t tres_count;
    struct line *lines;
    uint32_t count, next;
};

/* --- the snapshot ------------------------------------------------------------------------------------------------- */

static const struct assoc *assoc_at(const struct state *s, uint32_t node)
{
    return &s->assocs.items[s->assoc_of.items[node]];
}

/* The user's rows below an account and, for the tree's sake, the accounts above them. Asked of each account by name, for
 * there are fewer of them than users. Returns how many rows are the user's. */
static uint32_t choose_user(const struct state *s, const char *user, uint32_t top, uint32_t end, bool *is_shown)
{
    const struct tree *t = &s->tree;
    uint32_t found = 0;
    for (uint32_t node = top; node < end; node++) {
        if (t->is_user[node]) continue;
        uint32_t assoc = state_find_assoc(s, assoc_at(s, node)->account, user);
        if (assoc == NONE) continue;
        found++;
        is_shown[s->node_of.items[assoc]] = true;
        for (uint32_t above = node; !is_shown[above]; above = t->parent[above]) {
            is_shown[above] = true;
            if (above == top) break;
        }
    }
    return found;
}

/* Which nodes are shown. Of one account: it and all below it, which stand behind it. */
static int choose_rows(const struct state *s, const struct wire_shares_query *wanted, bool *is_shown, struct err *e)
{
    const struct tree *t = &s->tree;
    uint32_t top = 0, end = t->count;
    if (wanted->account != NULL) {
        uint32_t account = state_find_assoc(s, wanted->account, NULL);
        if (account == NONE) return err_set(e, ERR_NOT_FOUND, "no account '%.100s'", wanted->account);
        top = s->node_of.items[account];
        for (end = top + 1; end < t->count && t->depth[end] > t->depth[top];) end++;
    }
    if (wanted->user == NULL) {
        memset(is_shown + top, true, end - top);
        return 0;
    }
    if (choose_user(s, wanted->user, top, end, is_shown) > 0) return 0;
    return err_set(e, ERR_NOT_FOUND, "no user '%.100s'%s%.100s%s", wanted->user, wanted->account ? " in account '" : "",
                   wanted->account ? wanted->account : "", wanted->account ? "' or below it" : "");
}

/* Where the accounts above a row have their names: nodes stand depth first, so that of each depth the last one counts.
 * Copied once each, however many users they have. */
struct names {
    const char *at_depth[TREE_DEPTH_MAX + 1];
};

static struct line make_line(const struct state *s, uint32_t node, struct names *names, struct arena *arena)
{
    const struct tree *t = &s->tree;
    const struct assoc *a = assoc_at(s, node);
    uint8_t depth = t->depth[node];
    struct line line = {.node = node, .shares = t->shares[node], .depth = depth, .is_root = node == 0, .work = a->work};
    if (t->is_user[node]) {
        line.account = names->at_depth[depth - 1];
        line.user = arena_copy(arena, str(a->user));
        return line;
    }
    line.account = names->at_depth[depth] = arena_copy(arena, str(a->account));
    if (node == 0) return line;
    if (names->at_depth[depth - 1] == NULL) /* not shown itself */
        names->at_depth[depth - 1] = arena_copy(arena, str(assoc_at(s, t->parent[node])->account));
    line.parent_account = names->at_depth[depth - 1];
    return line;
}

static void copy_lines(const struct state *s, const bool *is_shown, struct arena *arena, struct snapshot *out)
{
    const struct tree *t = &s->tree;
    struct names names = {0};
    uint32_t count = 0;
    for (uint32_t node = 0; node < t->count; node++) count += is_shown[node];
    out->lines = arena_alloc(arena, (count + (size_t)1) * sizeof *out->lines);
    for (uint32_t node = 0; node < t->count; node++) {
        if (is_shown[node]) out->lines[out->count++] = make_line(s, node, &names, arena);
    }
}

static void take_tres(struct state *s, int64_t now_us, struct arena *arena, struct snapshot *out)
{
    const struct tree *t = state_tree(s);
    out->tres_count = s->policy.tres.count;
    out->tres = arena_alloc(arena, (out->tres_count + (size_t)1) * sizeof *out->tres);
    for (uint32_t i = 0; i < out->tres_count; i++) {
        double *total = state_own_tres_usage(s, i, now_us, arena);
        for (uint32_t node = t->count; node-- > 1;) total[t->parent[node]] += total[node];
        out->tres[i] = (struct tres_usage){arena_copy(arena, str(s->policy.tres.items[i].text)), total};
    }
}

static int take_snapshot(struct server *server, const struct wire_shares_query *wanted, struct arena *arena,
                         struct snapshot *out, struct err *e)
{
    struct state *s = server->host.state;
    int64_t now_us = server->host.now_us(server->host.context);
    bool *is_shown = arena_alloc(arena, state_tree(s)->count * sizeof *is_shown);
    if (choose_rows(s, wanted, is_shown, e) != 0) return -1;
    copy_lines(s, is_shown, arena, out);
    state_share_table(s, now_us, is_shown, arena, &out->table);
    if (wanted->tres) take_tres(s, now_us, arena, out);
    return 0;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static void add_number(struct buf *out, double value)
{
    buf_add_char(out, '|');
    if (!isnan(value)) out->length += number_format_g17(buf_room(out, NUMBER_TEXT_SIZE), value);
}

/* "cpu=2.5,mem=640": what there is of it. */
static void add_tres(const struct snapshot *s, uint32_t node, struct buf *out)
{
    size_t begin = out->length;
    for (uint32_t i = 0; i < s->tres_count; i++) {
        double total = s->tres[i].total[node];
        if (!(total > 0.0)) continue;
        if (out->length > begin) buf_add_char(out, ',');
        buf_add_text(out, s->tres[i].name);
        buf_add_char(out, '=');
        out->length += number_format_g17(buf_room(out, NUMBER_TEXT_SIZE), total);
    }
}

static void add_psv(const struct snapshot *s, const struct line *line, struct buf *out)
{
    const struct share_table *t = &s->table;
    memset(buf_room(out, line->depth), ' ', line->depth);
    out->length += line->depth;
    buf_add_text(out, line->account);
    buf_add_char(out, '|');
    if (line->user) buf_add_text(out, line->user);
    buf_add_char(out, '|');
    if (!line->is_root && line->shares == SHARES_PARENT) {
        buf_add_text(out, "parent");
    } else if (!line->is_root) {
        buf_add_u64(out, line->shares);
    }
    const double *columns[] = {t->norm_shares,     t->raw_usage,  t->norm_usage,
                               t->effective_usage, t->fair_share, t->level_fs};
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) add_number(out, columns[c][line->node]);
    if (s->tres != NULL) {
        buf_add_char(out, '|');
        add_tres(s, line->node, out);
    }
    buf_add_char(out, '\n');
}

static void add_json(const struct snapshot *s, const struct line *line, struct buf *out)
{
    const struct share_table *t = &s->table;
    uint32_t node = line->node;
    struct buf tres = {0};
    if (s->tres != NULL) {
        add_tres(s, node, &tres);
        buf_add_char(&tres, '\0');
    }
    const struct wire_share_row row = {
        .account = line->account,
        .user = line->user,
        .parent_account = line->parent_account,
        .raw_shares = line->is_root ? WIRE_SHARES_UNSET : line->shares,
        .norm_shares = t->norm_shares[node],
        .raw_usage = t->raw_usage[node],
        .norm_usage = t->norm_usage[node],
        .effective_usage = t->effective_usage[node],
        .fair_share = t->fair_share[node],
        .level_fs = t->level_fs[node],
        .pending = line->work.pending,
        .running = line->work.running,
        .running_cpus = line->work.running_cpus,
        .tres_raw = tres.text,
    };
    wire_write(&wire_share_row_shape, &row, out);
    buf_release(&tres);
}

static int fill_psv(struct stream *stream)
{
    struct snapshot *s = stream->context;
    for (int rows = 0; rows < ROWS_AT_ONCE && s->next < s->count; rows++)
        add_psv(s, &s->lines[s->next++], &stream->text);
    return s->next < s->count;
}

static int fill_json(struct stream *stream)
{
    struct snapshot *s = stream->context;
    for (int rows = 0; rows < ROWS_AT_ONCE && s->next < s->count; rows++) {
        buf_add_text(&stream->text, s->next > 0 ? ",\n" : "\n");
        add_json(s, &s->lines[s->next++], &stream->text);
    }
    if (s->next < s->count) return 1;
    buf_add_text(&stream->text, "\n]}\n");
    return 0;
}

int get_shares(struct request *r, struct err *e)
{
    struct wire_shares_query wanted;
    if (read_query(r, &wanted, e) != 0) return -1;
    bool is_psv = wanted.format != NULL && strcmp(wanted.format, "psv") == 0;
    struct stream *stream = stream_new(r);
    struct snapshot *snapshot = arena_alloc(&stream->arena, sizeof *snapshot);
    stream->context = snapshot;
    stream->fill = is_psv ? fill_psv : fill_json;
    if (take_snapshot(r->server, &wanted, &stream->arena, snapshot, e) != 0) {
        stream_free(stream);
        return -1;
    }
    buf_add_text(&stream->text, is_psv ? psv_heading : "{\"shares\":[");
    if (is_psv) buf_add_text(&stream->text, wanted.tres ? "|GrpTRESRaw\n" : "\n");
    return stream_reply(stream, r, is_psv ? TYPE_TEXT : TYPE_JSON, e) < 0 ? -1 : 0;
}
