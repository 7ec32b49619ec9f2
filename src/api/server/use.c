/* GET /v1/use: who uses the machine now, in jobs and outside. The daemon measures; what a client may see of others is
 * decided here:
 *
 *     private_data hides anything       all other users are one row, "(hidden)"
 *     by=processes                      those of others are for PERMISSION_PROCESSES; the others are not there
 *
 * What the machine shows to anyone (ps) depends on how /proc is mounted (hidepid), so processes are not for everyone
 * here: the launcher sees more than a user does. */
#include <stdlib.h>
#include <string.h>

#include "api/server/internal.h"
#include "base/ensure.h"
#include "engine/visibility.h"
#include "fields/use_fields.h"

enum { GPU_BITS = 64 };

/* A row while it is put together. */
struct use_row {
    struct server_use_part all, outside;
    const char *user;
    bool has_uid;
    struct buf jobs;
    int32_t pid;      /* 0: none */
    const char *name; /* NULL: none */
};

struct use_rows {
    struct request *request;
    bool hides_others;
    struct map by_uid; /* by=users: from uid to index in list */
    uint32_t hidden;   /* index of the row of all others, or NONE */
    ARRAY(struct use_row) list;
};

static bool is_own(const struct use_rows *rows, uint32_t uid)
{
    return uid == rows->request->actor.uid;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

/* "0,2"; NULL: none. */
static const char *gpus_text(uint64_t gpus, struct arena *arena)
{
    struct buf text = {0};
    for (uint32_t i = 0; i < GPU_BITS; i++) {
        if ((gpus >> i & 1U) != 0) buf_format(&text, "%s%u", text.length > 0 ? "," : "", i);
    }
    const char *copy = text.length > 0 ? arena_copy(arena, (struct str){text.text, text.length}) : NULL;
    buf_release(&text);
    return copy;
}

static const char *plain_text(const char *name, struct arena *arena)
{
    char *copy = arena_copy(arena, str(name));
    text_make_plain(copy, strlen(copy));
    return copy;
}

/* The job or task of a launch; NULL: outside jobs, or not known any more. */
static const char *job_text(const struct use_rows *rows, uint64_t launch_id)
{
    const struct state *s = rows->request->server->host.state;
    char text[JOB_ID_TEXT_SIZE];
    uint32_t index = launch_id != 0 ? map_get_u64(&s->task_by_launch, launch_id) : NONE;
    if (index == NONE) return launch_id != 0 ? "?" : NULL;
    const struct task *k = &s->tasks.items[index];
    uint32_t job = state_find_job(s, k->job_id);
    job_id_format(text, k->job_id, job != NONE && s->jobs.items[job].is_array ? k->task_id : NONE);
    return arena_copy(&rows->request->arena, str(text));
}

static struct field_value number_or_absent(bool is_known, int64_t number)
{
    return is_known ? field_number(number) : field_absent();
}

static void fill(const struct use_rows *rows, const struct use_row *row, struct field_value *value)
{
    struct arena *arena = &rows->request->arena;
    const char *jobs = row->jobs.length > 0 ? arena_copy(arena, (struct str){row->jobs.text, row->jobs.length}) : NULL;
    bool is_single = row->all.launch_id != 0 || row->pid != 0;
    value[USE_FIELD_USER] = field_text(row->user);
    value[USE_FIELD_UID] = number_or_absent(row->has_uid, row->all.uid);
    value[USE_FIELD_JOB] = field_text(is_single ? job_text(rows, row->all.launch_id) : NULL);
    value[USE_FIELD_PID] = number_or_absent(row->pid != 0, row->pid);
    value[USE_FIELD_CPUS] = field_real(row->all.cpus);
    value[USE_FIELD_MEM_KIB] = field_number(row->all.mem_kib);
    value[USE_FIELD_GPUS] = field_text(gpus_text(row->all.gpus, arena));
    value[USE_FIELD_JOB_CPUS] = field_real(row->all.cpus - row->outside.cpus);
    value[USE_FIELD_OUTSIDE_CPUS] = field_real(row->outside.cpus);
    value[USE_FIELD_OUTSIDE_MEM_KIB] = field_number(row->outside.mem_kib);
    value[USE_FIELD_OUTSIDE_GPUS] = field_text(gpus_text(row->outside.gpus, arena));
    value[USE_FIELD_JOBS] = field_text(jobs);
    value[USE_FIELD_PROCESSES] = field_number(row->all.process_count);
    value[USE_FIELD_STATE] = field_text(row->outside.state);
    value[USE_FIELD_COMMAND] = field_text(row->name != NULL ? plain_text(row->name, arena) : NULL);
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static void add_part(struct server_use_part *sum, const struct server_use_part *part)
{
    sum->cpus += part->cpus;
    sum->mem_kib += part->mem_kib;
    sum->gpus |= part->gpus;
    sum->process_count += part->process_count;
    if (part->state != NULL) sum->state = part->state;
}

static struct use_row *new_row(struct use_rows *rows, const struct server_use_part *part)
{
    struct use_row *row = array_add(&rows->list);
    *row = (struct use_row){.all = {.uid = part->uid}, .user = part->user, .has_uid = true};
    return row;
}

/* The row of all users that are hidden. */
static struct use_row *hidden_row(struct use_rows *rows)
{
    if (rows->hidden == NONE) {
        rows->hidden = rows->list.count;
        *array_add(&rows->list) = (struct use_row){.user = VISIBILITY_HIDDEN_NAME};
    }
    return &rows->list.items[rows->hidden];
}

static struct use_row *user_row(struct use_rows *rows, const struct server_use_part *part)
{
    uint32_t index = map_get_u64(&rows->by_uid, part->uid);
    if (index != NONE) return &rows->list.items[index];
    map_set_u64(&rows->by_uid, part->uid, rows->list.count);
    return new_row(rows, part);
}

/* is_by_job: a row for each job, and one for what is outside. */
static void add_use(struct use_rows *rows, const struct server_use_part *part, bool is_by_job)
{
    bool is_hidden = rows->hides_others && !is_own(rows, part->uid);
    struct use_row *row = is_hidden ? hidden_row(rows) : is_by_job ? new_row(rows, part) : user_row(rows, part);
    add_part(&row->all, part);
    if (is_by_job && !is_hidden) row->all.launch_id = part->launch_id;
    if (part->launch_id == 0) add_part(&row->outside, part);
    if (is_hidden) row->outside.state = NULL;
    if (is_hidden || is_by_job || part->launch_id == 0) return;
    buf_format(&row->jobs, "%s%s", row->jobs.length > 0 ? "," : "", job_text(rows, part->launch_id));
}

static void add_process(struct use_rows *rows, const struct server_use_process *process)
{
    if (!is_own(rows, process->part.uid) && !actor_may(&rows->request->actor, PERMISSION_PROCESSES)) return;
    struct use_row *row = new_row(rows, &process->part);
    row->all = process->part;
    row->pid = process->pid;
    row->name = process->name;
    if (process->part.launch_id == 0) row->outside = process->part;
}

/* Those that use most first; of the same use, by uid, job and process. */
static int compare(const void *a, const void *b)
{
    const struct use_row *x = a, *y = b;
    if (x->all.cpus != y->all.cpus) return x->all.cpus > y->all.cpus ? -1 : 1;
    if (x->all.uid != y->all.uid) return x->all.uid < y->all.uid ? -1 : 1;
    if (x->all.launch_id != y->all.launch_id) return x->all.launch_id < y->all.launch_id ? -1 : 1;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

static void reply_rows(struct request *r, struct use_rows *rows)
{
    struct field_value *values =
        arena_alloc(&r->arena, (rows->list.count + (size_t)1) * USE_FIELD_COUNT * sizeof *values);
    if (rows->list.count > 0) qsort(rows->list.items, rows->list.count, sizeof *rows->list.items, compare);
    for (uint32_t i = 0; i < rows->list.count; i++) {
        fill(rows, &rows->list.items[i], values + (size_t)i * USE_FIELD_COUNT);
        buf_release(&rows->list.items[i].jobs);
    }
    struct buf text = {0};
    buf_add_text(&text, "{\"use\":[");
    server_write_records(&use_fields, (struct wire_list){values, rows->list.count}, &text);
    reply_take(r, r->route->status, TYPE_JSON, &text);
    array_release(&rows->list);
    map_release(&rows->by_uid);
}

/* --- the route ---------------------------------------------------------------------------------------------------- */

int server_get_use(struct request *r, struct err *e)
{
    const struct server_host *host = &r->server->host;
    struct api_use_query query;
    if (request_read_query(r, &query, e) != 0) return -1;
    if (host->measure_use == NULL) return err_set(e, ERR_CONFLICT, "the jobs of a pretend instance have no processes");
    if (r->is_head) {
        reply_head(r, TYPE_JSON);
        return 0;
    }
    struct err refusal;
    request_park(r, STAGE_VERIFYING);
    if (host->measure_use(host->context, r, &refusal) != 0) server_use_measured(r, NULL, &refusal);
    return 0;
}

void server_use_measured(struct request *r, const struct server_use *use, const struct err *e)
{
    struct api_use_query query;
    struct err refusal;
    ensure(r->stage == STAGE_VERIFYING);
    if (e == NULL && request_read_query(r, &query, &refusal) != 0) e = &refusal;
    if (e != NULL) {
        reply_error(r, e);
        request_unpark(r);
        return;
    }
    struct use_rows rows = {.request = r, .hidden = NONE};
    const char *by = query.by != NULL ? query.by : "users";
    rows.hides_others = visibility_hidden_from(r->server->host.state, &r->actor) != 0;
    if (strcmp(by, "processes") == 0) {
        for (uint32_t i = 0; i < use->process_count; i++) add_process(&rows, &use->processes[i]);
    } else {
        for (uint32_t i = 0; i < use->part_count; i++) add_use(&rows, &use->parts[i], strcmp(by, "jobs") == 0);
    }
    reply_rows(r, &rows);
    request_unpark(r);
}
