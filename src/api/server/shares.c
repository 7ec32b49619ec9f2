/* GET /v1/shares: the tree of associations with shares, usage and factors at one time, by the algorithm in force.
 *
 * The handler computes all numbers at once (state_share_table) and copies the texts that the rows need into the
 * stream's arena, because the state changes while the client reads. The rows are then rendered piece by piece. Only
 * rows that are shown are copied: one user in a tree of 10^5 takes the 1-2 ms of the numbers. Rows are the tree's nodes
 * in index order, which is the order of listings (engine/state.h, invariant 2).
 *
 * psv: the columns of sshare -P, and GrpTRESRaw on request, as wire/psv.h writes them. Account names are indented by
 * their depth, as in sshare, so that the text alone gives the tree. */
#include <math.h>
#include <string.h>

#include "api/server/internal.h"
#include "base/number.h"
#include "engine/usage_sums.h"
#include "engine/visibility.h"
#include "fields/share_fields.h"
#include "policy/share_values.h"
#include "wire/psv.h"

enum { ROWS_AT_ONCE = 64 };

/* A row of the listing: a node of the tree. */
struct line {
    uint32_t node, shares;
    uint8_t depth;
    bool is_root;
    const char *account, *user; /* user NULL: the row of an account */
    const char *partition;      /* NULL: for all partitions */
    const char *parent_account; /* NULL: the row of a user, or of root */
    struct work work;
};

struct snapshot {
    struct share_table table;
    const char **tres; /* names; NULL: not requested */
    uint32_t tres_count;
    const double *usage; /* of the node of a line with those below it, by line and TRES */
    struct line *lines;
    uint32_t count, next;
    enum { FORM_JSON, FORM_LINES, FORM_PSV } form;
    const struct column_table *columns; /* of psv */
};

/* --- the snapshot ------------------------------------------------------------------------------------------------- */

/* Chooses the user's rows in the nodes from top to end, and the accounts above them, so that the rows are a tree.
 * Returns the number of the user's rows. O(associations of the user). */
static uint32_t choose_user(const struct state *s, const char *user, uint32_t top, uint32_t end, bool *is_shown)
{
    const struct tree *t = &s->tree;
    uint32_t found = 0;
    for (uint32_t i = map_get(&s->first_of_user, str(user)); i != NONE; i = s->assocs.items[i].next_of_user) {
        uint32_t node = s->node_of.items[i];
        if (node == NONE || node < top || node >= end) continue;
        found++;
        is_shown[node] = true;
        for (uint32_t above = t->parent[node]; !is_shown[above]; above = t->parent[above]) {
            is_shown[above] = true;
            if (above == top) break;
        }
    }
    return found;
}

/* Chooses the nodes to show. The nodes below an account follow it directly. */
static int choose_rows(const struct state *s, const struct api_shares_query *query, bool *is_shown, struct err *e)
{
    const struct tree *t = &s->tree;
    uint32_t top = 0, end = t->count;
    if (query->account != NULL) {
        uint32_t account = state_find_assoc(s, query->account, NULL);
        if (account == NONE) return err_not_found(e, "account", str(query->account));
        top = s->node_of.items[account];
        for (end = top + 1; end < t->count && t->depth[end] > t->depth[top];) end++;
    }
    if (query->user == NULL) {
        memset(is_shown + top, true, end - top);
        return 0;
    }
    if (choose_user(s, query->user, top, end, is_shown) > 0) return 0;
    if (query->account == NULL) return err_not_found(e, "user", str(query->user));
    return err_subject(e, ERR_NOT_FOUND, "user", str(query->user), "is not in account '%s' or below it",
                       query->account);
}

/* Another user who is hidden is not there. */
static int check_user(const struct request *r, const char *user, struct err *e)
{
    bool is_hidden =
        user != NULL && visibility_hides(r->server->host.state, &r->actor, PRIVATE_USAGE | PRIVATE_USERS, user);
    return is_hidden ? err_not_found(e, "user", str(user)) : 0;
}

static void hide_users(const struct request *r, bool *is_shown)
{
    const struct state *s = r->server->host.state;
    bool hides = (visibility_hidden_from(s, &r->actor) & (PRIVATE_USAGE | PRIVATE_USERS)) != 0;
    for (uint32_t node = 0; hides && node < s->tree.count; node++) {
        const char *user = server_assoc_at(s, node)->user;
        if (user != NULL && (r->actor.user == NULL || strcmp(user, r->actor.user) != 0)) is_shown[node] = false;
    }
}

/* The name of the last account at each depth: because nodes are in depth-first order, these are the accounts above the
 * current node. So each name is copied once, however many users the account has. */
struct account_names {
    const char *at_depth[TREE_DEPTH_MAX + 1];
};

static struct line make_line(const struct state *s, uint32_t node, struct account_names *names, struct arena *arena)
{
    const struct tree *t = &s->tree;
    const struct assoc *a = server_assoc_at(s, node);
    uint8_t depth = t->depth[node];
    struct line line = {.node = node, .shares = t->shares[node], .depth = depth, .is_root = node == 0, .work = a->work};
    if (t->is_user[node]) {
        line.account = names->at_depth[depth - 1];
        line.user = arena_copy(arena, str(a->user));
        line.partition = a->partition != NULL ? arena_copy(arena, str(a->partition)) : NULL;
        return line;
    }
    line.account = names->at_depth[depth] = arena_copy(arena, str(a->account));
    if (node == 0) return line;
    if (names->at_depth[depth - 1] == NULL) /* the parent is not shown */
        names->at_depth[depth - 1] = arena_copy(arena, str(server_assoc_at(s, t->parent[node])->account));
    line.parent_account = names->at_depth[depth - 1];
    return line;
}

static void copy_lines(const struct state *s, const bool *is_shown, struct arena *arena, struct snapshot *out)
{
    const struct tree *t = &s->tree;
    struct account_names names = {0};
    uint32_t count = 0;
    for (uint32_t node = 0; node < t->count; node++) count += is_shown[node];
    out->lines = arena_alloc(arena, (count + (size_t)1) * sizeof *out->lines);
    for (uint32_t node = 0; node < t->count; node++) {
        if (is_shown[node]) out->lines[out->count++] = make_line(s, node, &names, arena);
    }
}

static void copy_tres_usage(struct state *s, int64_t now_us, struct arena *arena, struct snapshot *out)
{
    uint32_t count = s->policy.tres.count;
    uint32_t *assocs = arena_alloc_raw(arena, (out->count + (size_t)1) * sizeof *assocs);
    double *usage = arena_alloc_raw(arena, (out->count + (size_t)1) * count * sizeof *usage);
    out->tres_count = count;
    out->tres = arena_alloc(arena, (count + (size_t)1) * sizeof *out->tres);
    for (uint32_t i = 0; i < count; i++) out->tres[i] = arena_copy(arena, str(s->policy.tres.items[i].text));
    for (uint32_t i = 0; i < out->count; i++) assocs[i] = s->assoc_of.items[out->lines[i].node];
    usage_sums_list(s, assocs, out->count, now_us, usage);
    out->usage = usage;
}

static int take_snapshot(const struct request *r, const struct api_shares_query *query, struct arena *arena,
                         struct snapshot *out, struct err *e)
{
    struct server *server = r->server;
    struct state *s = server->host.state;
    int64_t now_us = server->host.now_us(server->host.context);
    bool *is_shown = arena_alloc(arena, state_tree(s)->count * sizeof *is_shown);
    if (check_user(r, query->user, e) != 0 || choose_rows(s, query, is_shown, e) != 0) return -1;
    hide_users(r, is_shown);
    copy_lines(s, is_shown, arena, out);
    struct share_options options = s->policy.share;
    options.wanted = is_shown;
    state_share_table(s, now_us, &options, arena, &out->table);
    if (query->tres) copy_tres_usage(s, now_us, arena, out);
    return 0;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* Appends the TRES that the node of a line has used: "cpu=2.5,mem=640". */
static void add_tres_usage(const struct snapshot *s, const struct line *line, struct buf *out)
{
    size_t begin = out->length;
    for (uint32_t i = 0; i < s->tres_count; i++) {
        double total = s->usage[(size_t)(line - s->lines) * s->tres_count + i];
        if (!(total > 0.0)) continue;
        if (out->length > begin) buf_add_char(out, ',');
        buf_add_text(out, s->tres[i]);
        buf_add_char(out, '=');
        out->length += number_format_g17(buf_room(out, NUMBER_TEXT_SIZE), total);
    }
}

/* tres: a buffer for the text of the usage by TRES, which out points to. */
static void make_values(const struct snapshot *s, const struct line *line, struct buf *tres, struct share_values *out)
{
    struct field_value *value = out->value;
    share_values_set_numbers(out, &s->table, line->node);
    value[SHARE_FIELD_ACCOUNT] = field_text(line->account);
    value[SHARE_FIELD_USER] = field_text(line->user);
    value[SHARE_FIELD_PARTITION] = field_text(line->partition);
    value[SHARE_FIELD_PARENT_ACCOUNT] = field_text(line->parent_account);
    value[SHARE_FIELD_DEPTH] = field_number(line->depth);
    value[SHARE_FIELD_RAW_SHARES] = line->is_root ? field_absent() : share_values_shares(line->shares);
    value[SHARE_FIELD_PENDING] = field_number((int64_t)line->work.pending);
    value[SHARE_FIELD_RUNNING] = field_number(line->work.running);
    value[SHARE_FIELD_RUNNING_CPUS] = field_number(line->work.running_cpus);
    value[SHARE_FIELD_TRES_RAW] = field_absent();
    if (s->tres == NULL) return;
    buf_clear(tres);
    add_tres_usage(s, line, tres);
    value[SHARE_FIELD_TRES_RAW] = field_text(tres->length > 0 ? tres->text : "");
}

static void add_row(const struct snapshot *s, const struct line *line, struct buf *out)
{
    struct share_values values;
    struct buf tres = {0};
    make_values(s, line, &tres, &values);
    switch (s->form) {
    case FORM_PSV: psv_write_row(s->columns, values.value, NULL, out); break;
    case FORM_LINES: wire_write_line(&share_fields, values.value, out); break;
    case FORM_JSON: wire_write_record(&share_fields, values.value, out); break;
    }
    buf_release(&tres);
}

static int fill(struct stream *stream)
{
    struct snapshot *s = stream->context;
    for (int rows = 0; rows < ROWS_AT_ONCE && s->next < s->count; rows++) {
        if (s->form == FORM_JSON) buf_add_text(&stream->text, s->next > 0 ? ",\n" : "\n");
        add_row(s, &s->lines[s->next++], &stream->text);
    }
    if (s->next < s->count) return 1;
    if (s->form == FORM_JSON) buf_add_text(&stream->text, "\n]}\n");
    return 0;
}

static void write_head(const struct snapshot *s, struct buf *out)
{
    switch (s->form) {
    case FORM_PSV: psv_write_heading(s->columns, out); return;
    case FORM_LINES: wire_write_heading(&share_fields, out); return;
    case FORM_JSON: buf_add_text(out, "{\"shares\":["); return;
    }
}

int server_get_shares(struct request *r, struct err *e)
{
    struct api_shares_query query;
    if (request_read_query(r, &query, e) != 0) return -1;
    struct stream *stream = stream_new(r);
    struct snapshot *snapshot = arena_alloc(&stream->arena, sizeof *snapshot);
    stream->context = snapshot;
    stream->fill = fill;
    if (query.format != NULL && strcmp(query.format, "lines") == 0) snapshot->form = FORM_LINES;
    if (query.format != NULL && strcmp(query.format, "psv") == 0) snapshot->form = FORM_PSV;
    snapshot->columns = share_fields_columns(query.partition, query.tres);
    if (take_snapshot(r, &query, &stream->arena, snapshot, e) != 0) {
        stream_free(stream);
        return -1;
    }
    write_head(snapshot, &stream->text);
    return stream_reply(stream, r, snapshot->form == FORM_JSON ? TYPE_JSON : TYPE_TEXT, e) < 0 ? -1 : 0;
}
