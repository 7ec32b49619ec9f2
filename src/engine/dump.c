/* A row is a JSON document of its own within the lists, so that each has a line. */
#include "engine/dump.h"

#include <string.h>

#include "base/ensure.h"
#include "base/quantity.h"
#include "engine/closed_times.h"
#include "engine/job_members.h"
#include "engine/min_priority.h"
#include "engine/placements.h"
#include "engine/usage_read.h"
#include "fields/limit_fields.h"
#include "policy/tres_text.h"

/* --- values ------------------------------------------------------------------------------------------------------- */

enum { TIME_TEXT_SIZE = 64 };

/* "2026-11-21T09:05:00.25Z": with the microseconds, if there are any. */
static size_t format_time(char text[TIME_TEXT_SIZE], int64_t time_us)
{
    size_t length = time_format(text, time_us);
    int64_t fraction_us = (time_us % US_PER_S + US_PER_S) % US_PER_S;
    if (fraction_us == 0) return length;
    text[length - 1] = '.';
    for (int64_t unit = US_PER_S / 10; fraction_us > 0; unit /= 10) {
        text[length++] = (char)('0' + fraction_us / unit);
        fraction_us %= unit;
    }
    text[length++] = 'Z';
    return length;
}

static void add_time(struct json *j, const char *key, int64_t time_us)
{
    char text[TIME_TEXT_SIZE];
    json_key(j, key);
    json_str(j, (struct str){text, format_time(text, time_us)});
}

static void add_text(struct json *j, const char *key, const char *value)
{
    json_key(j, key);
    json_text(j, value);
}

static void add_number(struct json *j, const char *key, uint64_t number)
{
    json_key(j, key);
    json_u64(j, number);
}

static void add_real(struct json *j, const char *key, double number)
{
    json_key(j, key);
    json_double(j, number);
}

static void add_formatted(struct json *j, const struct field *f, const struct field_value *value)
{
    struct buf text = {0};
    field_format(f, value, &text);
    json_str(j, (struct str){text.length > 0 ? text.text : "", text.length});
    buf_release(&text);
}

/* The value as the readers of documents take it: numbers as numbers, everything else as text. */
static void add_value(struct json *j, const struct field *f, const struct field_value *value)
{
    bool is_special = f->special != NULL && value->number == FIELD_SPECIAL && !field_is_text(f);
    json_key(j, f->name);
    if (f->type == FIELD_REAL)
        json_double(j, value->real);
    else if (f->type == FIELD_BOOL)
        json_bool(j, value->number != 0);
    else if ((f->type == FIELD_NUMBER || f->type == FIELD_SECONDS) && !is_special)
        json_i64(j, value->number);
    else
        add_formatted(j, f, value);
}

/* --- parts and rows ----------------------------------------------------------------------------------------------- */

static void begin_part(struct dump *d, const char *name)
{
    buf_format(d->out, ",\n\"%s\":[", name);
    d->has_rows = false;
}

static void end_part(struct dump *d)
{
    buf_add_text(d->out, d->has_rows ? "\n]" : "]");
}

static struct json *begin_row(struct dump *d)
{
    buf_add_text(d->out, d->has_rows ? ",\n" : "\n");
    d->has_rows = true;
    d->json = (struct json){.out = d->out};
    json_begin_object(&d->json);
    return &d->json;
}

static void end_row(struct dump *d)
{
    json_end(&d->json);
}

/* --- settings ----------------------------------------------------------------------------------------------------- */

/* The capacity of the machine is in its row of the hosts. */
static bool is_of_host(enum setting setting)
{
    return setting == SET_HOST_CPUS || setting == SET_HOST_MEM_MIB || setting == SET_HOST_GPUS;
}

static void add_settings(struct dump *d)
{
    const struct settings defaults = settings_defaults();
    struct json j = {.out = d->out};
    buf_add_text(d->out, ",\n\"settings\":");
    json_begin_object(&j);
    for (int i = 0; i < SETTING_COUNT; i++) {
        const struct field_value *value = &d->s->settings.value[i];
        if (is_of_host((enum setting)i) || field_equal(&settings_table[i], value, &defaults.value[i])) continue;
        add_value(&j, &settings_table[i], value);
    }
    json_end(&j);
}

/* --- objects ------------------------------------------------------------------------------------------------------ */

/* Documents have another default. */
static bool is_always_written(enum object_kind kind, uint32_t field)
{
    return kind == OBJECT_USER_POLICY && field == USER_MAY_USE_DEADLINE;
}

/* What hosts have is written as their capacity. */
static bool is_capacity(const struct state *s, enum object_kind kind, uint32_t index, uint32_t field)
{
    return kind == OBJECT_HOST && s->hosts.items[index].is_attached && (field == HOST_CPUS || field == HOST_MEM);
}

/* A document has no time zone, so it says when each partition is closed and not by which calendar. */
static bool is_calendar(enum object_kind kind, uint32_t field)
{
    return kind == OBJECT_PARTITION && field == PARTITION_CALENDAR;
}

static void add_closed(const struct dump *d, struct json *j, uint32_t partition)
{
    const struct closed_times t = closed_times_of(d->s, partition);
    char text[TIME_TEXT_SIZE];
    bool has_any = false;
    for (uint32_t i = 0; i < t.count; i++) {
        if (t.items[i].until_us <= d->now_us) continue;
        if (!has_any) {
            json_key(j, "closed");
            json_begin_array(j);
        }
        has_any = true;
        json_begin_array(j);
        json_str(j, (struct str){text, format_time(text, t.items[i].from_us)});
        if (t.items[i].until_us == TIMELINE_END)
            json_write_null(j);
        else
            json_str(j, (struct str){text, format_time(text, t.items[i].until_us)});
        json_end(j);
    }
    if (has_any) json_end(j);
}

/* The fields that differ from those of an object without a name. */
static void add_fields(struct json *j, const struct state *s, enum object_kind kind, uint32_t index)
{
    const struct object_class *class = &object_classes[kind];
    const struct object *o = &s->objects[kind].items[index].object;
    const struct object defaults = object_defaults(kind, "");
    for (uint32_t i = 0; i < class->field_count; i++) {
        bool is_default = field_equal(&class->fields[i], &o->value[i], &defaults.value[i]);
        if (is_capacity(s, kind, index, i) || is_calendar(kind, i) || (is_default && !is_always_written(kind, i)))
            continue;
        add_value(j, &class->fields[i], &o->value[i]);
    }
}

static void count_taken_cpus(struct dump *d)
{
    const struct state *s = d->s;
    d->taken_cpus = arena_alloc(&d->arena, (s->hosts.count + (size_t)1) * sizeof *d->taken_cpus);
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        for (uint32_t p = 0; p < k->placement_count && !job_state_is_end(k->state); p++)
            d->taken_cpus[k->placements[p].host] += idset_count(&k->placements[p].cpus);
    }
}

/* Tasks keep CPUs that a host has no more, so its free ones can be more than the others. */
static bool has_shrunk(const struct dump *d, uint32_t index)
{
    const struct host *host = &d->s->hosts.items[index].host;
    return d->taken_cpus[index] + host->free_cpu_count != host->has.cpus;
}

/* A host without an executor is only described, by its object. */
static void add_host(const struct dump *d, struct json *j, uint32_t index)
{
    const struct host_row *row = &d->s->hosts.items[index];
    if (row->is_attached != (index == LOCAL_HOST_INDEX)) {
        json_key(j, "attached");
        json_bool(j, row->is_attached);
    }
    if (!row->is_attached) return;
    if (row->is_down) {
        json_key(j, "down");
        json_bool(j, true);
    }
    add_number(j, "cpus", row->host.has.cpus);
    if (has_shrunk(d, index)) add_number(j, "free_cpus", row->host.free_cpu_count);
    add_number(j, "mem", row->host.has.mem_mib);
    json_key(j, "gres");
    json_begin_object(j);
    if (row->host.has.gpus > 0) add_number(j, "gpu", row->host.has.gpus);
    json_end(j);
    if (row->load_count == 0) return;
    json_key(j, "load_values");
    json_begin_object(j);
    for (uint32_t i = 0; i < row->load_count; i++) add_text(j, row->loads[i].name, row->loads[i].value);
    json_end(j);
}

/* usage: by kind (usage_read.h). */
static void add_usage(const struct dump *d, struct json *j, const double usage[USAGE_KIND_COUNT])
{
    bool has_tres = false;
    if (usage[TRES_BILLING] > 0.0) add_real(j, "usage", usage[TRES_BILLING]);
    if (usage[USAGE_WALL] > 0.0) add_real(j, "usage_wall", usage[USAGE_WALL]);
    for (uint32_t t = 0; t < d->s->policy.tres.count; t++) {
        if (t == TRES_BILLING || !(usage[t] > 0.0)) continue;
        if (!has_tres) json_key(j, "usage_tres");
        if (!has_tres) json_begin_object(j);
        has_tres = true;
        add_real(j, d->s->policy.tres.items[t].text, usage[t]);
    }
    if (has_tres) json_end(j);
}

static void add_qos_usage(const struct dump *d, struct json *j, uint32_t qos)
{
    double usage[USAGE_KIND_COUNT];
    usage_read_qos(d->s, qos, d->now_us, usage);
    add_usage(d, j, usage);
}

static void add_objects(struct dump *d, enum object_kind kind, const char *part)
{
    const struct state *s = d->s;
    begin_part(d, part);
    for (uint32_t i = 0; i < s->objects[kind].count; i++) {
        if (s->objects[kind].items[i].is_deleted) continue;
        struct json *j = begin_row(d);
        add_text(j, "name", s->objects[kind].items[i].object.name);
        if (kind == OBJECT_HOST) add_host(d, j, i);
        if (kind == OBJECT_PARTITION) add_closed(d, j, i);
        add_fields(j, s, kind, i);
        if (kind == OBJECT_QOS) add_qos_usage(d, j, i);
        end_row(d);
    }
    end_part(d);
}

/* In the order in which documents are read. */
static void add_all_objects(struct dump *d)
{
    add_objects(d, OBJECT_RESOURCE, "resources");
    add_objects(d, OBJECT_HOST, "hosts");
    add_objects(d, OBJECT_GROUP, "groups");
    add_objects(d, OBJECT_ENVIRONMENT, "parallel_environments");
    add_objects(d, OBJECT_PARTITION, "partitions");
    add_objects(d, OBJECT_QOS, "qos");
    add_objects(d, OBJECT_PROJECT, "projects");
    add_objects(d, OBJECT_DEPARTMENT, "departments");
    add_objects(d, OBJECT_USER_POLICY, "users");
    add_objects(d, OBJECT_QUOTA, "quotas");
}

/* --- usage and the tree ------------------------------------------------------------------------------------------- */

static bool is_zero(const struct ticket_usage *usage)
{
    bool is_zero = true;
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) is_zero &= !(usage->used[r] > 0.0);
    return is_zero;
}

static void add_usage_owners(struct dump *d)
{
    const struct ticket_usage *usage = usage_owner_current(d->s, d->now_us, &d->arena);
    begin_part(d, "usage_owners");
    for (uint32_t i = 0; i < d->s->owners.count; i++) {
        const struct usage_owner *o = &d->s->owners.items[i];
        if (is_zero(&usage[i])) continue;
        struct json *j = begin_row(d);
        if (o->user[0] != '\0') add_text(j, "user", o->user);
        if (o->project[0] != '\0') add_text(j, "project", o->project);
        json_key(j, "usage");
        json_begin_object(j);
        for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) {
            if (usage[i].used[r] > 0.0) add_real(j, usage_resource_names[r], usage[i].used[r]);
        }
        json_end(j);
        end_row(d);
    }
    end_part(d);
}

static void add_association(struct dump *d, const struct assoc *a, const double usage[USAGE_KIND_COUNT])
{
    struct json *j = begin_row(d);
    bool has_parent = a->user == NULL && a->parent != NONE && a->parent != 0; /* 0 is root */
    add_text(j, "account", a->account);
    if (a->user != NULL) add_text(j, "user", a->user);
    if (a->partition != NULL) add_text(j, "partition", a->partition);
    if (has_parent) add_text(j, "parent", d->s->assocs.items[a->parent].account);
    if (a->shares == SHARES_PARENT)
        add_text(j, "shares", "parent");
    else if (a->shares != 1)
        add_number(j, "shares", a->shares);
    if (a->priority != NONE) add_number(j, "priority", a->priority);
    add_usage(d, j, usage);
    for (uint32_t i = 0; a->limits != NULL && i < limit_fields.count; i++) {
        const struct field *f = field_at(&limit_fields, i);
        if (!field_equal(f, &a->limits[i], &limit_fields_defaults[i])) add_value(j, f, &a->limits[i]);
    }
    end_row(d);
}

/* In the order of listings. */
static void add_tree(struct dump *d)
{
    const struct tree *t = state_tree(d->s);
    const double *usage[USAGE_KIND_COUNT] = {0}; /* by node; NULL: none */
    for (uint32_t kind = 0; kind < USAGE_KIND_COUNT; kind++) {
        if (kind == USAGE_WALL || kind < d->s->policy.tres.count)
            usage[kind] = usage_read_own(d->s, kind, d->now_us, &d->arena);
    }
    begin_part(d, "tree");
    for (uint32_t node = 0; node < t->count; node++) {
        double own[USAGE_KIND_COUNT] = {0};
        for (uint32_t kind = 0; kind < USAGE_KIND_COUNT; kind++) {
            if (usage[kind] != NULL) own[kind] = usage[kind][node];
        }
        add_association(d, &d->s->assocs.items[d->s->assoc_of.items[node]], own);
    }
    end_part(d);
}

/* --- members of jobs ---------------------------------------------------------------------------------------------- */

/* An instance has 10^5 jobs and serves no client while they are written, so the keys of jobs are constant texts. Each
 * is written with the comma before it: the id is first. */
#define KEY(d, name) buf_add((d)->out, ",\"" name "\":", sizeof ",\"" name "\":" - 1)

static void put_text(struct dump *d, const char *text)
{
    struct json j = {.out = d->out};
    json_str(&j, str(text));
}

static void put_real(struct dump *d, double number)
{
    struct json j = {.out = d->out};
    json_double(&j, number);
}

static void put_time(struct dump *d, int64_t time_us)
{
    char text[TIME_TEXT_SIZE];
    buf_add_char(d->out, '"');
    buf_add(d->out, text, format_time(text, time_us));
    buf_add_char(d->out, '"');
}

static const char *object_name(const struct dump *d, enum object_kind kind, uint32_t index)
{
    return d->s->objects[kind].items[index].object.name;
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

static void link_tasks(struct dump *d)
{
    const struct state *s = d->s;
    d->first_task = arena_alloc(&d->arena, (s->jobs.count + (size_t)1) * sizeof *d->first_task);
    d->next_task = arena_alloc(&d->arena, (s->tasks.count + (size_t)1) * sizeof *d->next_task);
    for (uint32_t i = 0; i < s->jobs.count; i++) d->first_task[i] = NONE;
    for (uint32_t i = s->tasks.count; i-- > 0;) {
        if (job_state_is_end(s->tasks.items[i].state)) continue;
        uint32_t job = state_find_job(s, s->tasks.items[i].job_id);
        d->next_task[i] = d->first_task[job];
        d->first_task[job] = i;
    }
}

static bool is_same_list(const struct tres_list *a, const struct tres_list *b)
{
    bool is_same = a->count == b->count;
    for (uint32_t i = 0; is_same && i < a->count; i++)
        is_same = a->items[i].tres == b->items[i].tres && !(a->items[i].amount < b->items[i].amount) &&
                  !(a->items[i].amount > b->items[i].amount);
    return is_same;
}

/* What the task got by the rules of its start, if those of today would give something else. */
static void add_allocated(struct dump *d, const struct job *job, const struct task *k)
{
    struct tres_amount amounts[TRES_MAX];
    struct tres_list now = {.items = amounts};
    struct buf text = {0};
    job_task_tres(d->s, &d->indices, job, task_cpu_count(k), placements_list_hosts(k, NULL), &now);
    if (!is_same_list(&now, &k->tres)) {
        tres_text_format_list(&d->s->policy.tres, &k->tres, &text);
        KEY(d, "allocated_tres");
        put_text(d, text.length > 0 ? text.text : "");
    }
    double billing = job_billing_in(d->s, k->partition, &k->tres);
    if (billing < k->billing || billing > k->billing) {
        KEY(d, "billing");
        put_real(d, k->billing);
    }
    buf_release(&text);
}

static void add_places(struct dump *d, const struct task *k)
{
    struct buf place = {0};
    KEY(d, "places");
    for (uint32_t i = 0; i < k->placement_count; i++) {
        buf_clear(&place);
        buf_format(&place, "%s@%s", object_name(d, OBJECT_PARTITION, k->partition),
                   object_name(d, OBJECT_HOST, k->placements[i].host));
        buf_add_char(d->out, i == 0 ? '{' : ',');
        put_text(d, place.text);
        buf_add_char(d->out, ':');
        buf_add_u64(d->out, idset_count(&k->placements[i].cpus));
    }
    buf_add_char(d->out, '}');
    buf_release(&place);
}

/* The association of its start, if a task that starts today would have another one. */
static void add_association_of_task(struct dump *d, const struct job *job, const struct task *k)
{
    if (state_assoc_in_partition(d->s, job->assoc, k->partition) == k->assoc) return;
    const char *partition = d->s->assocs.items[k->assoc].partition;
    KEY(d, "association_partition");
    put_text(d, partition != NULL ? partition : "");
}

static void add_task(struct dump *d, const struct job *job, const struct task *k)
{
    KEY(d, "start");
    put_time(d, k->launch_us);
    add_places(d, k);
    KEY(d, "launch");
    buf_add_u64(d->out, k->launch_id);
    if (k->suspended_us > 0) {
        KEY(d, "suspended_us");
        buf_add_u64(d->out, (uint64_t)k->suspended_us);
    }
    if (job->is_array && k->state == JOB_SUSPENDED) {
        KEY(d, "suspended");
        buf_add_text(d->out, "true");
    }
    if (k->granted_time_s > 0) {
        KEY(d, "granted_time_s");
        buf_add_u64(d->out, (uint64_t)k->granted_time_s);
    }
    add_allocated(d, job, k);
    add_association_of_task(d, job, k);
}

static void add_running(struct dump *d, uint32_t index)
{
    const struct job *job = &d->s->jobs.items[index];
    if (d->first_task[index] == NONE) return;
    if (!job->is_array) {
        add_task(d, job, &d->s->tasks.items[d->first_task[index]]);
        return;
    }
    KEY(d, "running");
    for (uint32_t i = d->first_task[index]; i != NONE; i = d->next_task[i]) {
        buf_add_text(d->out, i == d->first_task[index] ? "[{\"task\":" : ",{\"task\":");
        buf_add_u64(d->out, d->s->tasks.items[i].task_id);
        add_task(d, job, &d->s->tasks.items[i]);
        buf_add_char(d->out, '}');
    }
    buf_add_char(d->out, ']');
}

/* --- jobs --------------------------------------------------------------------------------------------------------- */

static void add_references(struct dump *d, const struct job *job)
{
    const struct assoc *a = &d->s->assocs.items[job->assoc];
    KEY(d, "user");
    put_text(d, a->user);
    KEY(d, "account");
    put_text(d, a->account);
    if (job->project != NONE) {
        KEY(d, "project");
        put_text(d, object_name(d, OBJECT_PROJECT, job->project));
    }
    KEY(d, "partition");
    if (job->partition_count > 1) buf_add_char(d->out, '[');
    for (uint32_t i = 0; i < job->partition_count; i++) {
        if (i > 0) buf_add_char(d->out, ',');
        put_text(d, object_name(d, OBJECT_PARTITION, job->partitions[i]));
    }
    if (job->partition_count > 1) buf_add_char(d->out, ']');
    const char *qos = object_name(d, OBJECT_QOS, job->qos);
    if (strcmp(qos, DEFAULT_QOS) == 0) return;
    KEY(d, "qos");
    put_text(d, qos);
}

static bool is_pending(const struct job *job)
{
    return idset_first(&job->pending) != NONE;
}

/* Of an array each task that has started says whether it is suspended. */
static void add_state(struct dump *d, const struct job *job, uint32_t task)
{
    if (is_pending(job) && !job->is_held) return;
    bool is_suspended = !job->is_array && task != NONE && d->s->tasks.items[task].state == JOB_SUSPENDED;
    KEY(d, "state");
    put_text(d, is_pending(job) ? "HELD" : is_suspended ? "SUSPENDED" : "RUNNING");
}

/* The reader takes the same time if the document gives none. */
static int64_t default_accrual(const struct job *job)
{
    if (job->is_held && is_pending(job)) return 0;
    return job->begin_us > job->submit_us ? job->begin_us : job->submit_us;
}

static void add_times(struct dump *d, const struct job *job)
{
    KEY(d, "submit");
    put_time(d, job->submit_us);
    if (job->begin_us != 0) {
        KEY(d, "eligible");
        put_time(d, job->begin_us);
    }
    if (job->accrue_us != default_accrual(job)) {
        KEY(d, "accrue");
        if (job->accrue_us == 0)
            buf_add_text(d->out, "null");
        else
            put_time(d, job->accrue_us);
    }
    if (job->deadline_us != 0) {
        KEY(d, "deadline");
        put_time(d, job->deadline_us);
    }
}

static void put_requests(struct dump *d, const struct job_request *requests, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        buf_add_char(d->out, i == 0 ? '{' : ',');
        put_text(d, object_name(d, OBJECT_RESOURCE, requests[i].resource));
        buf_add_char(d->out, ':');
        put_text(d, requests[i].text);
    }
    buf_add_char(d->out, '}');
}

static void add_requests(struct dump *d, const struct job *job)
{
    if (job->request_count > 0) {
        KEY(d, "request");
        put_requests(d, job->requests, job->request_count);
    }
    if (job->placing != NULL && job->placing->soft_count > 0) {
        KEY(d, "soft");
        put_requests(d, job->placing->soft, job->placing->soft_count);
    }
}

/* Amounts for each slot are fields of the table. */
static void add_amounts(struct dump *d, const struct job *job)
{
    const struct job_placing *p = job->placing;
    if (p == NULL || p->mem_mib_per_cpu == 0) {
        KEY(d, "mem");
        buf_add_u64(d->out, job->request.mem_mib);
    }
    if (job->request.gpus > 0 && (p == NULL || p->gpus_per_slot == 0)) {
        KEY(d, "gpus");
        buf_add_u64(d->out, job->request.gpus);
    }
    if (p != NULL && p->node_max > 0) {
        KEY(d, "nodes");
        buf_format(d->out, "[%u,%u]", p->node_min, p->node_max);
    }
}

static void add_capacity(struct dump *d, const struct job *job)
{
    KEY(d, "cpus");
    buf_add_u64(d->out, job->request.cpus);
    add_amounts(d, job);
    if (job->slots_max > 0) {
        KEY(d, "slots");
        buf_format(d->out, "[%u,%u]", job->request.cpus, job->slots_max);
    }
    if (job->environment != NONE) {
        KEY(d, "pe");
        put_text(d, object_name(d, OBJECT_ENVIRONMENT, job->environment));
    }
    add_requests(d, job);
}

static void find_table_fields(struct dump *d)
{
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (job_field_rows[f].document_key != NULL) d->table_fields[d->table_field_count++] = f;
    }
}

static bool has_value(const struct job_field_row *row, const struct field_value *value)
{
    if (!field_is_text(&row->field)) return value->number != 0 && value->number != FIELD_ABSENT;
    return value->text != NULL && (value->text[0] != '\0' || !row->empty_is_null);
}

/* The fields with a key in the table; 0 is the default of numbers. */
static void add_table_fields(struct dump *d, const struct job *job)
{
    for (uint32_t i = 0; i < d->table_field_count; i++) {
        const struct job_field_row *row = &job_field_rows[d->table_fields[i]];
        struct field_value value = job_member(d->s, job, d->table_fields[i], &d->arena);
        if (!has_value(row, &value)) continue;
        buf_add_text(d->out, ",\"");
        buf_add_text(d->out, row->document_key);
        buf_add_text(d->out, "\":");
        if (field_is_text(&row->field))
            put_text(d, value.text);
        else if (row->field.type == FIELD_BOOL)
            buf_add_text(d->out, "true");
        else if (value.number > 0)
            buf_add_u64(d->out, (uint64_t)value.number);
        else
            buf_format(d->out, "%lld", (long long)value.number);
    }
}

static void add_array(struct dump *d, const struct job *job)
{
    if (!job->is_array) return;
    KEY(d, "tasks");
    buf_add_char(d->out, '"');
    idset_format(&job->pending, d->out);
    buf_add_char(d->out, '"');
    if (job->array_limit == 0) return;
    KEY(d, "array_limit");
    buf_add_u64(d->out, job->array_limit);
}

static void add_min_priorities(struct dump *d, const struct job *job)
{
    char separator = '{';
    if (job->min_priorities == NULL || !min_priority_is_kept(d->s)) return;
    for (uint32_t i = 0; i < job->partition_count; i++) {
        if (job->min_priorities[i].min == 0) continue;
        if (separator == '{') KEY(d, "min_priority");
        buf_add_char(d->out, separator);
        put_text(d, object_name(d, OBJECT_PARTITION, job->partitions[i]));
        buf_add_char(d->out, ':');
        buf_add_u64(d->out, job->min_priorities[i].min);
        separator = ',';
    }
    if (separator == ',') buf_add_char(d->out, '}');
}

static void add_job(struct dump *d, uint32_t index)
{
    const struct job *job = &d->s->jobs.items[index];
    buf_add_text(d->out, d->has_rows ? ",\n{\"id\":" : "\n{\"id\":");
    d->has_rows = true;
    buf_add_u64(d->out, job->id);
    add_references(d, job);
    add_state(d, job, d->first_task[index]);
    add_times(d, job);
    add_capacity(d, job);
    add_table_fields(d, job);
    if (job->list_position != job->id) {
        KEY(d, "seq");
        buf_add_u64(d->out, job->list_position);
    }
    add_array(d, job);
    add_min_priorities(d, job);
    add_running(d, index);
    buf_add_char(d->out, '}');
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

void dump_begin(struct dump *d, struct state *s, int64_t now_us, struct buf *out)
{
    ensure(!s->is_document);
    *d = (struct dump){.s = s, .now_us = now_us, .out = out};
    struct json j = {.out = out};
    json_begin_object(&j);
    add_time(&j, "now", now_us);
    buf_add_text(out, ",\"instance\":true");
    add_settings(d);
    count_taken_cpus(d);
    add_all_objects(d);
    add_usage_owners(d);
    add_tree(d);
    tres_indices_find(s, &d->arena, &d->indices);
    find_table_fields(d);
    link_tasks(d);
    begin_part(d, "jobs");
}

bool dump_jobs(struct dump *d, uint32_t count)
{
    const struct state *s = d->s;
    for (; count > 0 && d->next_job < s->jobs.count; d->next_job++) {
        if (s->jobs.items[d->next_job].ended_us != 0) continue;
        add_job(d, d->next_job);
        count--;
    }
    if (d->next_job < s->jobs.count) return true;
    end_part(d);
    buf_add_text(d->out, "}\n");
    return false;
}

void dump_release(struct dump *d)
{
    arena_release(&d->arena);
}
