/* GET /v1/shares: the tree and what each association is due, of one moment, by the algorithm in force.
 *
 * The numbers are computed at once when they are asked for (state_share_table), and what the rows need beside them is copied
 * into the stream's arena, because the state goes on changing while the client reads; the rows are then rendered piece by
 * piece. Only rows that are shown are copied: somebody who asks for one user in a tree of 10^5 waits for the numbers, some
 * milliseconds, and for nothing else. Rows are the tree's nodes in index order, which is the order of listings
 * (engine/state.h, invariant 2).
 *
 * psv: the columns of sshare -P, each number with %.17g, what Slurm has nothing for empty. Account names are indented by
 * their depth, as sshare does, so that the text alone gives the tree. */
#include <math.h>
#include <string.h>

#include "api/server/internal.h"
#include "base/number.h"
#include "policy/share_table.h"

enum { ROWS_AT_ONCE = 64 };

static const char psv_heading[] =
    "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS\n";

/* A row: a node of the tree. */
struct line {
    uint32_t node, shares;
    uint8_t depth;
    bool is_root;
    const char *account, *user, *parent_account; /* user NULL: the account's own row; parent_account: of one, or NULL */
};

struct snapshot {
    struct share_table table;
    struct line *lines;
    uint32_t count, next;
    /* By node, only for JSON. */
    uint64_t *pending;
    uint32_t *running, *running_cpus;
};

/* --- the snapshot ------------------------------------------------------------------------------------------------- */

/* Tasks that wait and run: each association's own, then added up towards the root. A job that is no array has one task or
 * none, which is known without a look at its set: with 10^5 jobs a third of the answer's time. */
static void count_tasks(const struct state *s, struct arena *arena, struct snapshot *out)
{
    uint32_t count = s->tree.count;
    out->pending = arena_alloc(arena, count * sizeof *out->pending);
    out->running = arena_alloc(arena, count * sizeof *out->running);
    out->running_cpus = arena_alloc(arena, count * sizeof *out->running_cpus);
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *j = &s->jobs.items[i];
        uint32_t node = s->node_of.items[j->assoc];
        if (node != NONE) out->pending[node] += j->is_array ? idset_count(&j->pending) : j->pending.ranges.count;
    }
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        uint32_t node = s->node_of.items[k->assoc];
        if (node == NONE || job_state_is_end(k->state)) continue;
        out->running[node]++;
        out->running_cpus[node] += idset_count(&k->placement.cpus);
    }
    for (uint32_t node = count; node-- > 1;) {
        uint32_t parent = s->tree.parent[node];
        out->pending[parent] += out->pending[node];
        out->running[parent] += out->running[node];
        out->running_cpus[parent] += out->running_cpus[node];
    }
}

static const struct assoc *assoc_at(const struct state *s, uint32_t node)
{
    return &s->assocs.items[s->assoc_of.items[node]];
}

/* Which nodes are shown. Of one account: it and all below it, which stand behind it. Of one user: its rows and, for the
 * tree's sake, the accounts above them. */
static int choose_rows(const struct state *s, const struct wire_shares_query *wanted, bool *is_shown, struct err *e)
{
    const struct tree *t = &s->tree;
    uint32_t top = 0, found = 0;
    if (wanted->account != NULL) {
        uint32_t account = state_find_assoc(s, wanted->account, NULL);
        if (account == NONE) return err_set(e, ERR_NOT_FOUND, "no account '%.100s'", wanted->account);
        top = s->node_of.items[account];
    }
    for (uint32_t node = top; node < t->count && (node == top || t->depth[node] > t->depth[top]); node++) {
        if (wanted->user == NULL) {
            is_shown[node] = true;
            continue;
        }
        if (!t->is_user[node] || strcmp(assoc_at(s, node)->user, wanted->user) != 0) continue;
        found++;
        is_shown[node] = true;
        for (uint32_t above = node; above != top && !is_shown[t->parent[above]];)
            is_shown[above = t->parent[above]] = true;
    }
    if (wanted->user == NULL || found > 0) return 0;
    return err_set(e, ERR_NOT_FOUND, "no user '%.100s'%s%.100s%s", wanted->user, wanted->account ? " in account '" : "",
                   wanted->account ? wanted->account : "", wanted->account ? "' or below it" : "");
}

/* Accounts' names are copied once each, however many users they have. */
static const char *account_name(const struct state *s, uint32_t node, const char **names, struct arena *arena)
{
    if (names[node] == NULL) names[node] = arena_copy(arena, str(assoc_at(s, node)->account));
    return names[node];
}

static void copy_lines(const struct state *s, const bool *is_shown, struct arena *arena, struct snapshot *out)
{
    const struct tree *t = &s->tree;
    uint32_t count = 0;
    for (uint32_t node = 0; node < t->count; node++) count += is_shown[node];
    const char **names = arena_alloc(arena, t->count * sizeof *names);
    out->lines = arena_alloc(arena, (count + (size_t)1) * sizeof *out->lines);
    for (uint32_t node = 0; node < t->count; node++) {
        if (!is_shown[node]) continue;
        bool is_user = t->is_user[node];
        out->lines[out->count++] = (struct line){
            .node = node,
            .shares = t->shares[node],
            .depth = t->depth[node],
            .is_root = node == 0,
            .account = account_name(s, is_user ? t->parent[node] : node, names, arena),
            .user = is_user ? arena_copy(arena, str(assoc_at(s, node)->user)) : NULL,
            .parent_account = is_user || node == 0 ? NULL : account_name(s, t->parent[node], names, arena),
        };
    }
}

static int take_snapshot(struct server *server, const struct wire_shares_query *wanted, bool is_psv,
                         struct arena *arena, struct snapshot *out, struct err *e)
{
    struct state *s = server->host.state;
    bool *is_shown = arena_alloc(arena, state_tree(s)->count * sizeof *is_shown);
    if (choose_rows(s, wanted, is_shown, e) != 0) return -1;
    copy_lines(s, is_shown, arena, out);
    if (!is_psv) count_tasks(s, arena, out);
    state_share_table(s, server->host.now_us(server->host.context), is_shown, arena, &out->table);
    return 0;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static void add_number(struct buf *out, double value)
{
    buf_add_char(out, '|');
    if (!isnan(value)) out->length += number_format_g17(buf_room(out, NUMBER_TEXT_SIZE), value);
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
    buf_add_char(out, '\n');
}

static void add_json(const struct snapshot *s, const struct line *line, struct buf *out)
{
    const struct share_table *t = &s->table;
    uint32_t node = line->node;
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
        .pending = s->pending[node],
        .running = s->running[node],
        .running_cpus = s->running_cpus[node],
    };
    wire_write(&wire_share_row_shape, &row, out);
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
    if (take_snapshot(r->server, &wanted, is_psv, &stream->arena, snapshot, e) != 0) {
        stream_free(stream);
        return -1;
    }
    buf_add_text(&stream->text, is_psv ? psv_heading : "{\"shares\":[");
    return stream_reply(stream, r, is_psv ? TYPE_TEXT : TYPE_JSON, e) < 0 ? -1 : 0;
}
