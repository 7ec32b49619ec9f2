/* The state at a glance: accounts, users, settings, status. */
#include <unistd.h>

#include "api/server/internal.h"
#include "base/quantity.h"
#include "fields/share_fields.h"

#ifndef FAIRLEAD_VERSION
#define FAIRLEAD_VERSION "unknown"
#endif

enum { ROWS_AT_ONCE = 64 };

/* --- rows that were all made when they were asked for ------------------------------------------------------------- */

struct records {
    const struct field_table *table;
    struct wire_list list;
    uint32_t next;
};

static int fill(struct stream *stream)
{
    struct records *r = stream->context;
    const struct field_value *values = r->list.items;
    for (int i = 0; i < ROWS_AT_ONCE && r->next < r->list.count; i++, r->next++) {
        buf_add_text(&stream->text, r->next > 0 ? ",\n" : "\n");
        wire_write_record(r->table, values + (size_t)r->next * r->table->count, &stream->text);
    }
    if (r->next < r->list.count) return 1;
    buf_add_text(&stream->text, "\n]}\n");
    return 0;
}

int server_reply_records(struct stream *stream, struct request *r, const char *head, const struct field_table *table,
                         struct wire_list list, struct err *e)
{
    struct records *records = arena_alloc(&stream->arena, sizeof *records);
    *records = (struct records){table, list, 0};
    stream->context = records;
    stream->fill = fill;
    buf_add_text(&stream->text, head);
    return stream_reply(stream, r, TYPE_JSON, e) < 0 ? -1 : 0;
}

/* The association of a node. */
static const struct assoc *assoc_at(const struct state *s, uint32_t node)
{
    return &s->assocs.items[s->assoc_of.items[node]];
}

static struct field_value share_values_shares(const struct assoc *a)
{
    return field_number(a->shares == SHARES_PARENT ? FIELD_SPECIAL : (int64_t)a->shares);
}

static struct field_value priority_value(const struct assoc *a)
{
    return field_number(a->priority == NONE ? FIELD_SPECIAL : (int64_t)a->priority);
}

int server_get_accounts(struct request *r, struct err *e)
{
    struct state *s = r->server->host.state;
    if (request_read_query(r, NULL, e) != 0) return -1;
    const struct tree *t = state_tree(s);
    struct stream *stream = stream_new(r);
    size_t max = t->count - t->user_count;
    struct field_value *value = arena_alloc(&stream->arena, max * ACCOUNT_FIELD_COUNT * sizeof *value), *first = value;
    const char **names = arena_alloc(&stream->arena, t->count * sizeof *names);
    for (uint32_t node = 0; node < t->count; node++) {
        if (t->is_user[node]) continue;
        const struct assoc *a = assoc_at(s, node);
        names[node] = arena_copy(&stream->arena, str(a->account));
        value[ACCOUNT_FIELD_NAME] = field_text(names[node]);
        value[ACCOUNT_FIELD_PARENT] = field_text(node > 0 ? names[t->parent[node]] : NULL);
        value[ACCOUNT_FIELD_SHARES] = share_values_shares(a);
        value[ACCOUNT_FIELD_PRIORITY] = priority_value(a);
        value[ACCOUNT_FIELD_CREATED] = field_number(a->created_us);
        value += ACCOUNT_FIELD_COUNT;
    }
    return server_reply_records(stream, r, "{\"accounts\":[", &account_fields, (struct wire_list){first, (uint32_t)max},
                                e);
}

int server_get_users(struct request *r, struct err *e)
{
    struct state *s = r->server->host.state;
    if (request_read_query(r, NULL, e) != 0) return -1;
    const struct tree *t = state_tree(s);
    struct stream *stream = stream_new(r);
    struct field_value *value = arena_alloc(&stream->arena,
                                            (t->user_count + (size_t)1) * ACCOUNT_USER_FIELD_COUNT * sizeof *value),
                       *first = value;
    const char **names = arena_alloc(&stream->arena, t->count * sizeof *names);
    for (uint32_t node = 0; node < t->count; node++) {
        const struct assoc *a = assoc_at(s, node);
        names[node] = arena_copy(&stream->arena, str(a->user ? a->user : a->account));
        if (!t->is_user[node]) continue;
        value[ACCOUNT_USER_FIELD_NAME] = field_text(names[node]);
        value[ACCOUNT_USER_FIELD_ACCOUNT] = field_text(names[t->parent[node]]);
        value[ACCOUNT_USER_FIELD_SHARES] = share_values_shares(a);
        value[ACCOUNT_USER_FIELD_IS_DEFAULT] = field_number(a->is_default);
        value[ACCOUNT_USER_FIELD_PRIORITY] = priority_value(a);
        value[ACCOUNT_USER_FIELD_CREATED] = field_number(a->created_us);
        value += ACCOUNT_USER_FIELD_COUNT;
    }
    return server_reply_records(stream, r, "{\"users\":[", &account_fields_user,
                                (struct wire_list){first, t->user_count}, e);
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

static struct wire_list settings_list(const struct state *s, struct arena *arena)
{
    struct field_value *first = arena_alloc(arena, SETTING_COUNT * SETTING_FIELD_COUNT * sizeof *first), *value = first;
    for (int i = 0; i < SETTING_COUNT; i++, value += SETTING_FIELD_COUNT) {
        const struct field *f = &settings_table[i];
        value[SETTING_FIELD_NAME] = field_text(f->name);
        value[SETTING_FIELD_VALUE] = field_text(value_text((enum setting)i, &s->settings.value[i], arena));
        value[SETTING_FIELD_DEFAULT] = field_text(value_text((enum setting)i, &f->default_value, arena));
        value[SETTING_FIELD_HELP] = field_text(f->help);
        value[SETTING_FIELD_GROUP] = field_text(f->group);
        value[SETTING_FIELD_ACCEPTED] = field_text(accepted_text(f, arena));
    }
    return (struct wire_list){first, SETTING_COUNT};
}

int server_get_settings(struct request *r, struct err *e)
{
    if (request_read_query(r, NULL, e) != 0) return -1;
    const struct api_listing list = {settings_list(r->server->host.state, &r->arena)};
    reply_write(r, MHD_HTTP_OK, &api_setting_list_shape, &list);
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

static struct api_tasks count_tasks(const struct state *s)
{
    struct api_tasks tasks = {0};
    for (uint32_t i = 0; i < s->jobs.count; i++) tasks.pending += idset_count(&s->jobs.items[i].pending);
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        enum job_state state = s->tasks.items[i].state;
        tasks.starting += state == JOB_STARTING;
        tasks.running += state == JOB_RUNNING;
        tasks.completing += state == JOB_COMPLETING;
    }
    return tasks;
}

static struct api_host host_row(const struct server *server)
{
    const struct host *h = &server->host.state->host;
    return (struct api_host){
        .name = server->host.host_name,
        .cpus = h->has.cpus,
        .mem_mib = h->has.mem_mib,
        .gpus = h->has.gpus,
        .free_cpus = idset_count(&h->free_cpus),
        .free_mem_mib = h->free_mem_mib,
        .free_gpus = idset_count(&h->free_gpus),
    };
}

int server_get_status(struct request *r, struct err *e)
{
    struct server *server = r->server;
    struct state *s = server->host.state;
    if (request_read_query(r, NULL, e) != 0) return -1;
    const struct api_status status = {
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
        .settings = settings_list(s, &r->arena),
    };
    reply_write(r, MHD_HTTP_OK, &api_status_shape, &status);
    return 0;
}
