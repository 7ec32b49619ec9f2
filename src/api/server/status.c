/* GET /v1/settings, and GET /v1/status: the instance at a glance. */
#include <unistd.h>

#include "api/server/internal.h"
#include "base/quantity.h"
#include "engine/quarantine.h"
#include "engine/state_rows.h"
#include "engine/visibility.h"

#ifndef FAIRLEAD_VERSION
#define FAIRLEAD_VERSION "unknown"
#endif

#define DAY_US (24 * 3600 * US_PER_S)

/* --- settings ----------------------------------------------------------------------------------------------------- */

/* Moves the buffer's text into the arena, and releases the buffer. */
static const char *move_text(struct buf *text, struct arena *arena)
{
    const char *copy = arena_copy(arena, (struct str){text->text, text->length});
    buf_release(text);
    return copy;
}

static const char *accepted_text(const struct field *f, struct arena *arena)
{
    struct buf text = {0};
    field_accepted(f, &text);
    return move_text(&text, arena);
}

static const char *value_text(enum setting setting, const struct field_value *value, struct arena *arena)
{
    struct buf text = {0};
    setting_format(setting, value, &text);
    return move_text(&text, arena);
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

/* Appends the algorithm with its options. */
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
    char halflife[32] = "none";
    struct buf text = {0};
    int64_t halflife_s = setting_number(&s->settings, SET_HALFLIFE_S);
    if (halflife_s > 0) duration_format(halflife, halflife_s);
    buf_format(&text, "%s: ", priority_model_names[s->policy.model]);
    if (s->policy.model == MODEL_TICKETS) {
        const char *order = s->policy.tickets.hierarchy;
        buf_format(&text, "hierarchy %s; shares by ", order[0] ? order : "NONE");
    }
    add_fair_share(s, &text);
    buf_format(&text, ", half-life %s", halflife);
    return move_text(&text, arena);
}

static struct api_tasks count_tasks(const struct state *s)
{
    struct api_tasks tasks = {0};
    for (uint32_t i = 0; i < s->jobs.count; i++) tasks.pending += idset_count(&s->jobs.items[i].pending);
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        enum job_state state = s->tasks.items[i].state;
        tasks.starting += state == JOB_STARTING;
        tasks.running += state == JOB_RUNNING;
        tasks.suspended += state == JOB_SUSPENDED;
        tasks.completing += state == JOB_COMPLETING;
    }
    return tasks;
}

static struct api_host host_row(const struct server *server)
{
    const struct state *s = server->host.state;
    static const char *const states[] = {[HOST_UP] = "UP", [HOST_DRAINED] = "DRAIN", [HOST_DOWN] = "DOWN"};
    const struct host *h = &s->hosts.items[LOCAL_HOST_INDEX].host;
    return (struct api_host){
        .name = server->host.host_name,
        .cpus = h->has.cpus,
        .mem_mib = h->has.mem_mib,
        .gpus = h->has.gpus,
        .free_cpus = idset_count(&h->free_cpus),
        .free_mem_mib = h->free_mem_mib,
        .free_gpus = idset_count(&h->free_gpus),
        .state = states[s->objects[OBJECT_HOST].items[LOCAL_HOST_INDEX].object.value[HOST_STATE].number],
    };
}

static struct api_hosts count_hosts(const struct state *s)
{
    struct api_hosts hosts = {0};
    for (uint32_t i = 0; i < s->hosts.count; i++) {
        const struct object_row *object = &s->objects[OBJECT_HOST].items[i];
        const struct host_row *row = &s->hosts.items[i];
        if (!row->is_attached || object->is_deleted) continue;
        bool is_down = row->is_down || object->object.value[HOST_STATE].number == HOST_DOWN;
        hosts.count++;
        hosts.down += is_down;
        hosts.cpus += row->host.has.cpus;
        hosts.free_cpus += is_down ? 0 : row->host.free_cpu_count;
    }
    return hosts;
}

static const char *sensors_text(const struct server_host *host, struct arena *arena)
{
    struct buf text = {0};
    if (host->describe_sensors != NULL) host->describe_sensors(host->context, &text);
    return text.length > 0 ? move_text(&text, arena) : NULL;
}

static const char *gpus_text(const struct server_host *host, struct arena *arena)
{
    struct buf text = {0};
    if (host->describe_gpus != NULL) host->describe_gpus(host->context, &text);
    return text.length > 0 ? move_text(&text, arena) : NULL;
}

static const char *outside_text(const struct request *r, struct arena *arena)
{
    const struct server_host *host = &r->server->host;
    struct buf text = {0};
    bool has_names = visibility_hidden_from(host->state, &r->actor) == 0;
    if (host->describe_outside != NULL) host->describe_outside(host->context, has_names, &text);
    return text.length > 0 ? move_text(&text, arena) : NULL;
}

static const char *text_or_null(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static const char *launch_failure_text(const struct request *r)
{
    const struct state *s = r->server->host.state;
    return visibility_launch_failure(s, visibility_hidden_from(s, &r->actor));
}

static struct wire_list enforcement_list_of(const struct server_host *host, struct arena *arena)
{
    const struct server_enforcement *found = NULL;
    uint32_t count = host->list_enforcement != NULL ? host->list_enforcement(host->context, arena, &found) : 0;
    struct api_enforcement *rows = arena_alloc(arena, (count + (size_t)1) * sizeof *rows);
    for (uint32_t i = 0; i < count; i++)
        rows[i] = (struct api_enforcement){found[i].resource, found[i].mechanism, found[i].gap};
    return (struct wire_list){rows, count};
}

int server_get_status(struct request *r, struct err *e)
{
    struct server *server = r->server;
    struct state *s = server->host.state;
    const struct launch_backoff *backoff = &s->launch_backoff;
    if (request_read_query(r, NULL, e) != 0) return -1;
    uint32_t quarantined = quarantine_held_count(s);
    const struct server_host *host = &server->host;
    int64_t last_recovery_us = 0;
    const char *last_recovery =
        host->last_recovery != NULL ? host->last_recovery(host->context, &last_recovery_us) : NULL;
    const char *recovery = host->recovery != NULL ? text_or_null(host->recovery->text) : NULL;
    const struct api_status status = {
        .version = FAIRLEAD_VERSION,
        .pid = getpid(),
        .uid = geteuid(),
        .user = server->user,
        .serves_all = server->host.serves_all,
        .state_directory = server->host.state_directory,
        .socket = server->host.socket_path,
        .started_us = *server->host.started_us,
        .now_us = server->host.now_us(server->host.context),
        .pretend = server->host.pretend_path,
        .speed = server->host.speed,
        .host = host_row(server),
        .hosts = count_hosts(s),
        .tasks = count_tasks(s),
        .associations = state_tree(s)->count,
        .policy = policy_text(s, &r->arena),
        .model = priority_model_names[s->policy.model],
        .algorithm = share_algorithm_names[s->policy.share.algorithm],
        .default_partition = s->objects[OBJECT_PARTITION].items[object_row_first(s, OBJECT_PARTITION)].object.name,
        .gpus = gpus_text(&server->host, &r->arena),
        .load_sensors = sensors_text(&server->host, &r->arena),
        .outside_jobs = outside_text(r, &r->arena),
        .launch_failure = launch_backoff_is_waiting(backoff) ? launch_failure_text(r) : NULL,
        .launch_retry_us = backoff->probe_id == 0 ? backoff->retry_us : 0,
        .write_failure = text_or_null(server->host.write_failure),
        .launcher_failure = text_or_null(server->host.launcher_failure),
        .terminals = server->host.terminals,
        .recovery = recovery,
        .last_recovery = last_recovery,
        .last_recovery_us = last_recovery != NULL ? last_recovery_us : 0,
        .quarantine = quarantined > 0 ? s->quarantine : NULL,
        .quarantined_us = quarantined > 0 ? s->quarantined_us : 0,
        .quarantined_jobs = quarantined,
        .enforcement = enforcement_list_of(&server->host, &r->arena),
        .clock = server_clock_record(server, server->host.now_us(server->host.context) - DAY_US, &r->arena),
        .settings = settings_list(s, &r->arena),
    };
    reply_write(r, MHD_HTTP_OK, &api_status_shape, &status);
    return 0;
}
