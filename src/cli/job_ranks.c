#include "cli/job_ranks.h"

#include "base/map.h"
#include "cli/instance.h"
#include "fields/priority_fields.h"

struct job_rank {
    uint32_t rank;
    double priority;
};

static struct {
    struct map by_job; /* index in list */
    ARRAY(struct job_rank) list;
} known; /* never released */

static void keep(const struct field_value *row)
{
    const struct field_value *rank = &row[PRIORITY_FIELD_RANK], *priority = &row[PRIORITY_FIELD_PRIORITY];
    uint64_t job_id = (uint64_t)row[PRIORITY_FIELD_JOB_ID].number;
    bool is_task = !field_is_absent(field_at(&priority_fields, PRIORITY_FIELD_TASK_ID), &row[PRIORITY_FIELD_TASK_ID]);
    if (is_task || field_is_absent(field_at(&priority_fields, PRIORITY_FIELD_PRIORITY), priority)) return;
    uint32_t index = map_get_u64(&known.by_job, job_id);
    if (index == NONE) {
        index = known.list.count;
        *array_add(&known.list) = (struct job_rank){.priority = priority->real};
        map_set_u64(&known.by_job, job_id, index);
    }
    struct job_rank *r = &known.list.items[index];
    if (rank->number != FIELD_ABSENT) r->rank = (uint32_t)rank->number;
    if (priority->real > r->priority) r->priority = priority->real;
}

static int read_rows(struct client *c, struct arena *arena, struct err *e)
{
    struct wire_columns columns;
    struct priority_values row;
    struct str line;
    int more = client_line(c, &line, e);
    if (more <= 0) return more < 0 ? -1 : err_set(e, ERR_INTERNAL, "the instance's priorities have no heading");
    if (wire_read_heading(&priority_fields, line, &columns, e) != 0) return -1;
    while ((more = client_line(c, &line, e)) > 0) {
        arena_clear(arena);
        if (wire_read_line(&columns, line, arena, row.value, e) != 0) return -1;
        keep(row.value);
    }
    return more;
}

int job_ranks_read(struct call *call, uint32_t job_id, struct err *e)
{
    struct client client = {.fd = -1};
    struct buf target = {0};
    struct arena arena = {0};
    buf_add_text(&target, API_PRIORITIES);
    client_add_query(&target, "format", "lines");
    if (job_id != NONE) {
        struct buf id = {0};
        buf_add_u64(&id, job_id);
        client_add_query(&target, "job", id.text);
        buf_release(&id);
    }
    const char *path = instance_target(call, &target);
    array_clear(&known.list);
    map_clear(&known.by_job);
    int status = instance_open(call, &client, e);
    if (status == 0) status = client_request(&client, "GET", path, str(""), e);
    if (status == 0) status = read_rows(&client, &arena, e);
    client_close(&client);
    arena_release(&arena);
    return status;
}

static const struct job_rank *find(uint32_t job_id)
{
    uint32_t index = map_get_u64(&known.by_job, job_id);
    return index != NONE ? &known.list.items[index] : NULL;
}

uint32_t job_ranks_of(uint32_t job_id)
{
    const struct job_rank *r = find(job_id);
    return r != NULL ? r->rank : 0;
}

bool job_ranks_priority(uint32_t job_id, double *out_priority)
{
    const struct job_rank *r = find(job_id);
    if (r != NULL) *out_priority = r->priority;
    return r != NULL;
}
