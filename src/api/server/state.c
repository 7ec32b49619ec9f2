/* The state at a glance: accounts, users, settings, status. */
#include <unistd.h>

#include "api/server/internal.h"
#include "base/quantity.h"

#ifndef FAIRLEAD_VERSION
#define FAIRLEAD_VERSION "unknown"
#endif

enum { ROWS_AT_ONCE = 64 };

/* --- rows that were all made when they were asked for ------------------------------------------------------------- */

struct made_rows {
    const struct wire_shape *shape;
    struct wire_list list;
    uint32_t next;
};

static int fill(struct stream *stream)
{
    struct made_rows *rows = stream->context;
    for (int i = 0; i < ROWS_AT_ONCE && rows->next < rows->list.count; i++, rows->next++) {
        buf_add_text(&stream->text, rows->next > 0 ? ",\n" : "\n");
        wire_write(rows->shape, (const char *)rows->list.items + (size_t)rows->next * rows->shape->size, &stream->text);
    }
    if (rows->next < rows->list.count) return 1;
    buf_add_text(&stream->text, "\n]}\n");
    return 0;
}

int reply_made_rows(struct stream *stream, struct request *r, const char *head, const struct wire_shape *shape,
                    struct wire_list list, struct err *e)
{
    struct made_rows *rows = arena_alloc(&stream->arena, sizeof *rows);
    *rows = (struct made_rows){shape, list, 0};
    stream->context = rows;
    stream->fill = fill;
    buf_add_text(&stream->text, head);
    return stream_reply(stream, r, TYPE_JSON, e) < 0 ? -1 : 0;
}

/* The association of a node. */
static const struct assoc *assoc_at(const struct state *s, uint32_t node)
{
    return &s->assocs.items[s->assoc_of.items[node]];
}

int get_accounts(struct request *r, struct err *e)
{
    struct state *s = r->server->host.state;
    if (read_query(r, NULL, e) != 0) return -1;
    const struct tree *t = state_tree(s);
    struct stream *stream = stream_new(r);
    struct wire_account_row *rows = arena_alloc(&stream->arena, (t->count - t->user_count) * sizeof *rows);
    const char **names = arena_alloc(&stream->arena, t->count * sizeof *names);
    uint32_t count = 0;
    for (uint32_t node = 0; node < t->count; node++) {
        if (t->is_user[node]) continue;
        const struct assoc *a = assoc_at(s, node);
        names[node] = arena_copy(&stream->arena, str(a->account));
        rows[count++] = (struct wire_account_row){.name = names[node],
                                                  .parent = node > 0 ? names[t->parent[node]] : NULL,
                                                  .shares = a->shares,
                                                  .priority = a->priority,
                                                  .created_us = a->created_us};
    }
    return reply_made_rows(stream, r, "{\"accounts\":[", &wire_account_row_shape, (struct wire_list){rows, count}, e);
}

int get_users(struct request *r, struct err *e)
{
    struct state *s = r->server->host.state;
    if (read_query(r, NULL, e) != 0) return -1;
    const struct tree *t = state_tree(s);
    struct stream *stream = stream_new(r);
    struct wire_user_row *rows = arena_alloc(&stream->arena, (t->user_count + (size_t)1) * sizeof *rows);
    const char **names = arena_alloc(&stream->arena, t->count * sizeof *names);
    uint32_t count = 0;
    for (uint32_t node = 0; node < t->count; node++) {
        const struct assoc *a = assoc_at(s, node);
        names[node] = arena_copy(&stream->arena, str(a->user ? a->user : a->account));
        if (!t->is_user[node]) continue;
        rows[count++] = (struct wire_user_row){.name = names[node],
                                               .account = names[t->parent[node]],
                                               .shares = a->shares,
                                               .priority = a->priority,
                                               .is_default = a->is_default,
                                               .created_us = a->created_us};
    }
    return reply_made_rows(stream, r, "{\"users\":[", &wire_user_row_shape, (struct wire_list){rows, count}, e);
}

/* --- settings ----------------------------------------------------------------------------------------------------- */

/* The buffer's text in the arena, and the buffer released. */
static const char *settled(struct buf *text, struct arena *arena)
{
    const char *copy = arena_copy(arena, (struct str){text->text, text->length});
    buf_release(text);
    return copy;
}

static const char *accepted_text(const struct field *f, struct arena *arena)
{
    struct buf text = {0};
    field_accepted(f, &text);
    return settled(&text, arena);
}

static const char *value_text(enum setting setting, const struct field_value *value, struct arena *arena)
{
    struct buf text = {0};
    setting_format(setting, value, &text);
    return settled(&text, arena);
}

/* Whose keyword it is: the order of enum setting. */
static const char *group_of(enum setting setting)
{
    return setting < SET_PRIORITY_TYPE ? "Fairlead" : setting < SET_GE_WEIGHT_TICKET ? "Slurm" : "Grid Engine";
}

static struct wire_list settings_rows(const struct state *s, struct arena *arena)
{
    struct wire_setting *rows = arena_alloc(arena, SETTING_COUNT * sizeof *rows);
    for (int i = 0; i < SETTING_COUNT; i++) {
        const struct field *row = &settings_table[i];
        const char *value = value_text((enum setting)i, &s->settings.value[i], arena);
        const char *default_value = value_text((enum setting)i, &row->default_value, arena);
        rows[i] = (struct wire_setting){
            row->name, value, default_value, row->help, group_of((enum setting)i), accepted_text(row, arena)};
    }
    return (struct wire_list){rows, SETTING_COUNT};
}

int get_settings(struct request *r, struct err *e)
{
    if (read_query(r, NULL, e) != 0) return -1;
    const struct wire_setting_list list = {settings_rows(r->server->host.state, &r->arena)};
    reply_write(r, MHD_HTTP_OK, &wire_setting_list_shape, &list);
    return 0;
}

/* --- status ------------------------------------------------------------------------------------------------------- */

/* The algorithm with what it depends on. */
static void add_fair_share(const struct state *s, struct buf *out)
{
    const struct share_options *share = &s->policy.share;
    buf_add_text(out, share_algorithm_names[share->algorithm]);
    if (share->algorithm == ALGORITHM_FAIR_TREE)
        buf_format(out, ", ties %s", share->ties == TIES_SLURM ? "slurm" : "merge");
    else
        buf_format(out, ", dampening %g", share->dampening);
}

/* "priority/multifactor: fair-tree, ties merge, half-life 7-00:00:00" */
static const char *policy_text(const struct state *s, struct arena *arena)
{
    char span[32] = "none";
    struct buf text = {0};
    int64_t halflife_s = setting_number(&s->settings, SET_HALFLIFE_S);
    if (halflife_s > 0) duration_format(span, halflife_s);
    buf_format(&text, "%s: ", priority_model_names[s->policy.model]);
    if (s->policy.model == MODEL_TICKETS) {
        const char *order = s->policy.tickets.hierarchy;
        buf_format(&text, "hierarchy %s; shares by ", order[0] ? order : "NONE");
    }
    add_fair_share(s, &text);
    buf_format(&text, ", half-life %s", span);
    const char *copy = arena_copy(arena, (struct str){text.text, text.length});
    buf_release(&text);
    return copy;
}

static struct wire_tasks count_tasks(const struct state *s)
{
    struct wire_tasks tasks = {0};
    for (uint32_t i = 0; i < s->jobs.count; i++) tasks.pending += idset_count(&s->jobs.items[i].pending);
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        enum job_state state = s->tasks.items[i].state;
        tasks.starting += state == JOB_STARTING;
        tasks.running += state == JOB_RUNNING;
        tasks.completing += state == JOB_COMPLETING;
    }
    return tasks;
}

static struct wire_host host_row(const struct server *server)
{
    const struct host *h = &server->host.state->host;
    return (struct wire_host){
        .name = server->host.host_name,
        .cpus = h->has.cpus,
        .mem_mib = h->has.mem_mib,
        .gpus = h->has.gpus,
        .free_cpus = idset_count(&h->free_cpus),
        .free_mem_mib = h->free_mem_mib,
        .free_gpus = idset_count(&h->free_gpus),
    };
}

int get_status(struct request *r, struct err *e)
{
    struct server *server = r->server;
    struct state *s = server->host.state;
    if (read_query(r, NULL, e) != 0) return -1;
    const struct wire_status status = {
        .version = FAIRLEAD_VERSION,
        .pid = getpid(),
        .uid = geteuid(),
        .user = server->user,
        .state_directory = server->host.state_directory,
        .socket = server->host.socket_path,
        .started_us = server->host.started_us,
        .now_us = server->host.now_us(server->host.context),
        .host = host_row(server),
        .tasks = count_tasks(s),
        .associations = state_tree(s)->count,
        .policy = policy_text(s, &r->arena),
        .model = priority_model_names[s->policy.model],
        .algorithm = share_algorithm_names[s->policy.share.algorithm],
        .settings = settings_rows(s, &r->arena),
    };
    reply_write(r, MHD_HTTP_OK, &wire_status_shape, &status);
    return 0;
}
