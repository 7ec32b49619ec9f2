/* GET /v1/shares: the tree and what each association is due, of one moment.
 *
 * The numbers are computed at once when they are asked for (share_table_compute) and everything a row needs is copied
 * into the stream's arena, because the state goes on changing while the client reads. At 10^5 associations that is about
 * 20 ms; the rows are then rendered piece by piece. Rows are the tree's nodes in index order, which is the order of
 * listings (engine/state.h, invariant 2).
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

/* Columns by node. */
struct snapshot {
    struct share_table table;
    const char **name; /* a user's, or an account's */
    uint32_t *parent, *shares;
    uint8_t *depth;
    bool *is_user;
    bool *is_shown;
    uint64_t *pending;
    uint32_t *running, *running_cpus;
    uint32_t next;
    bool is_later;
};

/* --- the snapshot ------------------------------------------------------------------------------------------------- */

static void *copy(struct arena *arena, const void *from, size_t size)
{
    return memcpy(arena_alloc(arena, size), from, size);
}

static void copy_tree(const struct state *s, struct arena *arena, struct snapshot *out)
{
    const struct tree *t = &s->tree;
    out->parent = copy(arena, t->parent, t->count * sizeof *t->parent);
    out->shares = copy(arena, t->shares, t->count * sizeof *t->shares);
    out->depth = copy(arena, t->depth, t->count * sizeof *t->depth);
    out->is_user = copy(arena, t->is_user, t->count * sizeof *t->is_user);
    out->name = arena_alloc(arena, t->count * sizeof *out->name);
    for (uint32_t node = 0; node < t->count; node++) {
        const struct assoc *a = &s->assocs.items[s->assoc_of.items[node]];
        out->name[node] = arena_copy(arena, str(a->user ? a->user : a->account));
    }
}

/* Tasks that wait and run: each association's own, then added up towards the root. */
static void count_tasks(const struct state *s, struct arena *arena, struct snapshot *out)
{
    uint32_t count = s->tree.count;
    out->pending = arena_alloc(arena, count * sizeof *out->pending);
    out->running = arena_alloc(arena, count * sizeof *out->running);
    out->running_cpus = arena_alloc(arena, count * sizeof *out->running_cpus);
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *j = &s->jobs.items[i];
        uint32_t node = s->node_of.items[j->assoc];
        if (node != NONE) out->pending[node] += idset_count(&j->pending);
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

/* Of one account: it and all below it. Of one user: its rows and, for the tree's sake, the accounts above them. */
static int choose_rows(const struct state *s, const struct wire_shares_query *wanted, struct arena *arena,
                       struct snapshot *out, struct err *e)
{
    uint32_t count = s->tree.count, top = 0, users = 0;
    out->is_shown = arena_alloc(arena, count * sizeof *out->is_shown);
    if (wanted->account != NULL) {
        uint32_t account = state_find_assoc(s, wanted->account, NULL);
        if (account == NONE) return err_set(e, ERR_NOT_FOUND, "no account '%.100s'", wanted->account);
        top = s->node_of.items[account];
    }
    for (uint32_t node = top; node < count; node++)
        out->is_shown[node] = node == top || out->is_shown[s->tree.parent[node]];
    if (wanted->user == NULL) return 0;

    bool *leads_there = arena_alloc(arena, count * sizeof *leads_there);
    for (uint32_t node = count; node-- > top;) {
        bool is_wanted = out->is_user[node] && strcmp(out->name[node], wanted->user) == 0;
        out->is_shown[node] = out->is_shown[node] && (is_wanted || leads_there[node]);
        if (!out->is_shown[node]) continue;
        users += is_wanted;
        if (node > 0) leads_there[s->tree.parent[node]] = true;
    }
    if (users > 0) return 0;
    return err_set(e, ERR_NOT_FOUND, "no user '%.100s'%s%.100s%s", wanted->user, wanted->account ? " in account '" : "",
                   wanted->account ? wanted->account : "", wanted->account ? "' or below it" : "");
}

static int take_snapshot(struct server *server, const struct wire_shares_query *wanted, struct arena *arena,
                         struct snapshot *out, struct err *e)
{
    struct state *s = server->host.state;
    const struct tree *t = state_tree(s);
    copy_tree(s, arena, out);
    if (choose_rows(s, wanted, arena, out, e) != 0) return -1;
    count_tasks(s, arena, out);
    const double *own = state_own_usage(s, server->host.now_us(server->host.context), arena);
    enum tie_rule ties = (enum tie_rule)setting_number(&s->settings, SET_TIES);
    share_table_compute(t, own, NULL, ties, s->order, arena, &out->table);
    return 0;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static const char *account_of(const struct snapshot *s, uint32_t node)
{
    return s->name[s->is_user[node] ? s->parent[node] : node];
}

static void add_number(struct buf *out, double value)
{
    buf_add_char(out, '|');
    if (!isnan(value)) out->length += number_format_g17(buf_room(out, NUMBER_TEXT_SIZE), value);
}

static void add_psv(const struct snapshot *s, uint32_t node, struct buf *out)
{
    const struct share_table *t = &s->table;
    memset(buf_room(out, s->depth[node]), ' ', s->depth[node]);
    out->length += s->depth[node];
    buf_add_text(out, account_of(s, node));
    buf_add_char(out, '|');
    if (s->is_user[node]) buf_add_text(out, s->name[node]);
    buf_add_char(out, '|');
    if (node != 0 && s->shares[node] == SHARES_PARENT) {
        buf_add_text(out, "parent");
    } else if (node != 0) {
        buf_add_u64(out, s->shares[node]);
    }
    const double *columns[] = {t->norm_shares,     t->raw_usage,  t->norm_usage,
                               t->effective_usage, t->fair_share, t->level_fs};
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) add_number(out, columns[c][node]);
    buf_add_char(out, '\n');
}

static void add_json(const struct snapshot *s, uint32_t node, struct buf *out)
{
    const struct share_table *t = &s->table;
    bool is_user = s->is_user[node];
    const struct wire_share_row row = {
        .account = account_of(s, node),
        .user = is_user ? s->name[node] : NULL,
        .parent_account = is_user || node == 0 ? NULL : s->name[s->parent[node]],
        .raw_shares = node == 0 ? WIRE_SHARES_UNSET : s->shares[node],
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
    for (int rows = 0; rows < ROWS_AT_ONCE && s->next < s->table.count; s->next++, rows++) {
        if (s->is_shown[s->next]) add_psv(s, s->next, &stream->text);
    }
    return s->next < s->table.count;
}

static int fill_json(struct stream *stream)
{
    struct snapshot *s = stream->context;
    for (int rows = 0; rows < ROWS_AT_ONCE && s->next < s->table.count; s->next++, rows++) {
        if (!s->is_shown[s->next]) continue;
        buf_add_text(&stream->text, s->is_later ? ",\n" : "\n");
        s->is_later = true;
        add_json(s, s->next, &stream->text);
    }
    if (s->next < s->table.count) return 1;
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
    return stream_reply(stream, r, is_psv ? TYPE_TEXT : TYPE_JSON, e) < 0 ? -1 : 0;
}
