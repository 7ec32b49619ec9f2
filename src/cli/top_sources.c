/* Where the rows of 'fairlead top' come from. A view is one listing of the instance; the queue also has what jobs use
 * (GET /v1/use), which the launcher measures and not the daemon, and the ranks of waiting jobs (GET /v1/priorities),
 * which are read less often. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/client/client.h"
#include "base/map.h"
#include "base/quantity.h"
#include "cli/instance.h"
#include "cli/job_elapsed.h"
#include "cli/job_ranks.h"
#include "cli/share_promise.h"
#include "cli/top_columns.h"
#include "cli/top_rows.h"
#include "fields/job_fields.h"
#include "fields/use_fields.h"

/* --- rows of the instance ----------------------------------------------------------------------------------------- */

/* Takes one row of a listing, whose texts are gone afterwards. */
typedef void (*take_row)(const struct field_value *row, void *context);

static int read_json(struct client *c, const struct field_table *fields, take_row take, void *context,
                     struct arena *arena, struct err *e)
{
    struct field_value *row = arena_alloc(arena, fields->count * sizeof *row);
    struct arena row_arena = {0};
    struct str text;
    int more;
    while ((more = client_row(c, &text, e)) > 0) {
        arena_clear(&row_arena);
        if (wire_read_record(fields, text, &row_arena, row, e) != 0) {
            more = -1;
            break;
        }
        take(row, context);
    }
    arena_release(&row_arena);
    return more;
}

static int read_lines(struct client *c, const struct field_table *fields, take_row take, void *context,
                      struct arena *arena, struct err *e)
{
    struct field_value *row = arena_alloc(arena, fields->count * sizeof *row);
    struct arena row_arena = {0};
    struct wire_columns columns;
    struct str line;
    int more = client_line(c, &line, e);
    if (more == 0) return err_set(e, ERR_INTERNAL, "the instance's listing has no heading");
    if (more < 0 || wire_read_heading(fields, line, &columns, e) != 0) return -1;
    while ((more = client_line(c, &line, e)) > 0) {
        arena_clear(&row_arena);
        if (wire_read_line(&columns, line, &row_arena, row, e) != 0) {
            more = -1;
            break;
        }
        take(row, context);
    }
    arena_release(&row_arena);
    return more;
}

/* Requests a listing, as lines where the instance can send lines. */
static int read_listing(struct call *call, const char *target, const struct field_table *fields, bool has_lines,
                        take_row take, void *context, struct err *e)
{
    struct client client = {.fd = -1};
    struct buf path = {0};
    buf_add_text(&path, target);
    if (has_lines) client_add_query(&path, "format", "lines");
    const char *asked = instance_target(call, &path);
    int status = instance_open(call, &client, e);
    if (status == 0) status = client_request(&client, "GET", asked, str(""), e);
    if (status == 0) status = (has_lines ? read_lines : read_json)(&client, fields, take, context, call->arena, e);
    client_close(&client);
    return status;
}

static struct field_value *add_row(struct top_rows *rows)
{
    struct field_value *row = arena_alloc(&rows->arena, rows->columns->fields->count * sizeof *row);
    *array_add(&rows->list) = row;
    return row;
}

static struct field_value keep_text(struct top_rows *rows, const struct field_value *value)
{
    return field_text(value->text != NULL ? arena_copy(&rows->arena, str(value->text)) : NULL);
}

/* --- what is used ------------------------------------------------------------------------------------------------- */

struct use_reading {
    const struct top_query *query;
    struct top_rows *rows;
};

static bool is_of_user(const struct field_value *row, const char *user)
{
    char uid[24];
    if (row[USE_FIELD_USER].number != FIELD_ABSENT && strcmp(row[USE_FIELD_USER].text, user) == 0) return true;
    text_format(uid, sizeof uid, "%lld", (long long)row[USE_FIELD_UID].number);
    return row[USE_FIELD_UID].number != FIELD_ABSENT && strcmp(uid, user) == 0;
}

static void take_use(const struct field_value *row, void *context)
{
    struct use_reading *r = context;
    bool is_outside = row[USE_FIELD_OUTSIDE_CPUS].real > 0.0 || row[USE_FIELD_OUTSIDE_GPUS].number != FIELD_ABSENT;
    if (r->query->user != NULL && !is_of_user(row, r->query->user)) return;
    if (r->query->only_outside && !is_outside) return;
    struct field_value *kept = add_row(r->rows);
    for (uint32_t i = 0; i < USE_FIELD_COUNT; i++)
        kept[i] = field_is_text(field_at(&use_fields, i)) ? keep_text(r->rows, &row[i]) : row[i];
}

static int read_use(struct call *call, const struct top_query *query, struct top_rows *out, struct err *e)
{
    struct use_reading reading = {query, out};
    const char *target = query->view == TOP_PROCESSES ? API_USE "?by=processes"
                         : query->view == TOP_JOBS    ? API_USE "?by=jobs"
                                                      : API_USE;
    return read_listing(call, target, &use_fields, false, take_use, &reading, e);
}

/* --- the queue ---------------------------------------------------------------------------------------------------- */

struct job_use {
    double cpus;
    int64_t mem_kib;
    const char *gpus;
};

struct queue_reading {
    struct top_rows *rows;
    struct map by_id; /* index in uses */
    ARRAY(struct job_use) uses;
};

static void take_job_use(const struct field_value *row, void *context)
{
    struct queue_reading *r = context;
    if (row[USE_FIELD_JOB].number == FIELD_ABSENT) return;
    map_set(&r->by_id, str(arena_copy(&r->rows->arena, str(row[USE_FIELD_JOB].text))), r->uses.count);
    *array_add(&r->uses) = (struct job_use){row[USE_FIELD_CPUS].real, row[USE_FIELD_MEM_KIB].number,
                                            keep_text(r->rows, &row[USE_FIELD_GPUS]).text};
}

static void set_use(const struct queue_reading *r, struct field_value *kept)
{
    uint32_t index = map_get(&r->by_id, str(kept[TOP_JOB_ID].text));
    kept[TOP_JOB_CPUS_USED] = (struct field_value){.real = NAN};
    kept[TOP_JOB_MEM_USED_KIB] = field_absent();
    kept[TOP_JOB_GPUS_USED] = field_text(NULL);
    if (index == NONE) return;
    const struct job_use *use = &r->uses.items[index];
    kept[TOP_JOB_CPUS_USED] = field_real(use->cpus);
    kept[TOP_JOB_MEM_USED_KIB] = field_number(use->mem_kib);
    kept[TOP_JOB_GPUS_USED] = field_text(use->gpus);
}

static struct field_value time_limit_of(const struct field_value *row)
{
    int64_t limit_s = row[JOB_FIELD_TIME_LIMIT].number, granted_s = row[JOB_FIELD_GRANTED_TIME].number;
    if (granted_s > 0 && granted_s < limit_s) limit_s = granted_s;
    return limit_s >= (int64_t)job_field_at(JOB_FIELD_TIME_LIMIT)->max ? field_absent() : field_number(limit_s);
}

static void take_job(const struct field_value *row, void *context)
{
    struct queue_reading *r = context;
    struct field_value *kept = add_row(r->rows);
    bool is_pending = row[JOB_FIELD_STATE].number == JOB_PENDING;
    bool has_started = !is_pending && !field_is_absent(job_field_at(JOB_FIELD_START), &row[JOB_FIELD_START]);
    uint32_t rank = is_pending ? job_ranks_of((uint32_t)row[JOB_FIELD_JOB_ID].number) : 0;
    kept[TOP_JOB_ID] = keep_text(r->rows, &row[JOB_FIELD_ID]);
    kept[TOP_JOB_USER] = keep_text(r->rows, &row[JOB_FIELD_USER]);
    kept[TOP_JOB_ACCOUNT] = keep_text(r->rows, &row[JOB_FIELD_ACCOUNT]);
    kept[TOP_JOB_NAME] = keep_text(r->rows, &row[JOB_FIELD_NAME]);
    kept[TOP_JOB_PARTITION] = keep_text(r->rows, &row[JOB_FIELD_PARTITION]);
    kept[TOP_JOB_STATE] = row[JOB_FIELD_STATE];
    kept[TOP_JOB_ELAPSED] =
        has_started ? field_number(job_elapsed_us(row, client_now_us()) / US_PER_S) : field_absent();
    kept[TOP_JOB_TIME_LIMIT] = time_limit_of(row);
    kept[TOP_JOB_CPUS] = row[JOB_FIELD_CPUS];
    kept[TOP_JOB_MEM_MIB] = row[JOB_FIELD_MEM_MIB];
    kept[TOP_JOB_GPUS] = row[JOB_FIELD_GPUS];
    kept[TOP_JOB_RANK] = rank > 0 ? field_number(rank) : field_absent();
    kept[TOP_JOB_REASON] = row[JOB_FIELD_REASON].number == PENDING_NONE ? field_absent() : row[JOB_FIELD_REASON];
    set_use(r, kept);
}

struct queue_place {
    uint64_t key;
    struct field_value *row;
};

static int compare_places(const void *a, const void *b)
{
    uint64_t x = ((const struct queue_place *)a)->key, y = ((const struct queue_place *)b)->key;
    return (x > y) - (x < y);
}

/* Tasks that run come first, then waiting jobs in the order in which they would start, then those that may not
 * start. */
static void order_queue(struct top_rows *rows)
{
    size_t size = (rows->list.count + (size_t)1) * sizeof(struct queue_place);
    struct queue_place *places = arena_alloc_raw(&rows->arena, size);
    for (uint32_t i = 0; i < rows->list.count; i++) {
        struct field_value *row = rows->list.items[i];
        uint32_t rank = row[TOP_JOB_STATE].number != JOB_PENDING   ? 0
                        : row[TOP_JOB_RANK].number == FIELD_ABSENT ? NONE
                                                                   : (uint32_t)row[TOP_JOB_RANK].number;
        places[i] = (struct queue_place){(uint64_t)rank << 32 | i, row};
    }
    qsort(places, rows->list.count, sizeof *places, compare_places);
    for (uint32_t i = 0; i < rows->list.count; i++) rows->list.items[i] = places[i].row;
}

static int read_queue(struct call *call, const struct top_query *query, struct top_rows *out, struct err *e)
{
    struct queue_reading reading = {.rows = out, .by_id = {.arena = &out->arena}};
    struct err unused = {0};
    struct buf target = {0};
    if (!query->leaves_out_use) /* a pretend instance has none, and without a launcher nothing is known */
        (void)read_listing(call, API_USE "?by=jobs", &use_fields, false, take_job_use, &reading, &unused);
    if (!query->keeps_ranks && job_ranks_read(call, NONE, e) != 0) return -1;
    buf_add_text(&target, API_JOBS);
    client_add_query(&target, "which", "live");
    if (query->user != NULL) client_add_query(&target, "user", query->user);
    int status = read_listing(call, instance_target(call, &target), &job_fields, true, take_job, &reading, e);
    if (status == 0) order_queue(out);
    array_release(&reading.uses);
    return status;
}

/* --- shares ------------------------------------------------------------------------------------------------------- */

enum { PERCENT = 100 };

struct share_reading {
    struct top_rows *rows;
    struct share_promise promise;
};

static void take_share(const struct field_value *row, void *context)
{
    struct share_reading *r = context;
    struct field_value *kept = add_row(r->rows);
    share_promise_add(&r->promise, row);
    bool has_user = row[SHARE_FIELD_USER].text != NULL && row[SHARE_FIELD_USER].text[0] != '\0';
    kept[TOP_SHARE_ACCOUNT] = keep_text(r->rows, &row[SHARE_FIELD_ACCOUNT]);
    kept[TOP_SHARE_USER] = has_user ? keep_text(r->rows, &row[SHARE_FIELD_USER]) : field_text(NULL);
    kept[TOP_SHARE_DEPTH] = row[SHARE_FIELD_DEPTH];
    kept[TOP_SHARE_RECEIVED] = field_real(row[SHARE_FIELD_NORM_USAGE].real * PERCENT);
    kept[TOP_SHARE_FAIR_SHARE] = row[SHARE_FIELD_FAIR_SHARE];
    kept[TOP_SHARE_RUNNING_CPUS] = row[SHARE_FIELD_RUNNING_CPUS];
    kept[TOP_SHARE_RUNNING] = row[SHARE_FIELD_RUNNING];
    kept[TOP_SHARE_PENDING] = row[SHARE_FIELD_PENDING];
}

/* A part is of the whole tree, so the whole tree is read also where one user is wanted. */
static int read_shares(struct call *call, const struct top_query *query, struct top_rows *out, struct err *e)
{
    struct share_reading reading = {.rows = out, .promise = {.arena = &out->arena}};
    int status = read_listing(call, API_SHARES, &share_fields, true, take_share, &reading, e);
    uint32_t kept = 0;
    share_promise_finish(&reading.promise);
    for (uint32_t i = 0; i < out->list.count; i++) {
        struct field_value *row = out->list.items[i];
        row[TOP_SHARE_PROMISED] = field_real(reading.promise.rows.items[i].promised * PERCENT);
        bool is_wanted = query->user == NULL || (row[TOP_SHARE_USER].text != NULL && row[TOP_SHARE_USER].text[0] != 0 &&
                                                 strcmp(row[TOP_SHARE_USER].text, query->user) == 0);
        if (is_wanted) out->list.items[kept++] = row;
    }
    out->list.count = kept;
    share_promise_release(&reading.promise);
    return status;
}

int top_rows_read(struct call *call, const struct top_query *query, struct top_rows *out, struct err *e)
{
    out->columns = top_view_columns(query->view);
    switch (query->view) {
    case TOP_QUEUE: return read_queue(call, query, out, e);
    case TOP_SHARES: return read_shares(call, query, out, e);
    default: return read_use(call, query, out, e);
    }
}
