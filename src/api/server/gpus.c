/* GET /v1/gpus: the GPUs of the machine, who has them and who uses them. What private_data hides of others is
 * "(hidden)": their jobs, and the names of their processes. */
#include "api/server/internal.h"
#include "engine/visibility.h"
#include "fields/gpu_fields.h"
#include "fields/job_id.h"

static const char *move_text(struct buf *text, struct arena *arena)
{
    const char *copy = text->length > 0 ? arena_copy(arena, (struct str){text->text, text->length}) : NULL;
    buf_release(text);
    return copy;
}

/* Appends the task's id, or what stands for one that the client may not see. */
static void add_task(const struct request *r, const struct task *k, struct buf *out)
{
    const struct state *s = r->server->host.state;
    uint32_t job = state_find_job(s, k->job_id);
    char text[JOB_ID_TEXT_SIZE];
    bool is_hidden =
        job == NONE || (visibility_hidden_from(s, &r->actor) != 0 && s->jobs.items[job].uid != r->actor.uid);
    if (out->length > 0) buf_add_char(out, ',');
    if (!is_hidden) job_id_format(text, k->job_id, s->jobs.items[job].is_array ? k->task_id : NONE);
    buf_add_text(out, is_hidden ? VISIBILITY_HIDDEN_NAME : text);
}

static const char *holders_of(const struct request *r, uint32_t gpu, struct arena *arena)
{
    const struct state *s = r->server->host.state;
    struct buf text = {0};
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        if (job_state_is_end(k->state) || k->placement_count == 0) continue;
        const struct placement *p = &k->placements[0];
        if (p->host == LOCAL_HOST_INDEX && idset_has(&p->gpus, gpu)) add_task(r, k, &text);
    }
    return move_text(&text, arena);
}

/* A job with several processes is listed once: its processes are behind each other, or the listing is a little long. */
static const char *jobs_using(const struct request *r, const struct server_gpu *gpu, struct arena *arena)
{
    const struct state *s = r->server->host.state;
    struct buf text = {0};
    uint64_t last = 0;
    for (uint32_t i = 0; i < gpu->user_count; i++) {
        uint64_t launch_id = gpu->users[i].is_known ? gpu->users[i].launch_id : 0;
        uint32_t task = launch_id != 0 ? map_get_u64(&s->task_by_launch, launch_id) : NONE;
        if (task != NONE && launch_id != last) add_task(r, &s->tasks.items[task], &text);
        last = launch_id;
    }
    return move_text(&text, arena);
}

static const char *outside_of(const struct request *r, const struct server_gpu *gpu, struct arena *arena)
{
    bool hides_others = visibility_hidden_from(r->server->host.state, &r->actor) != 0;
    struct buf text = {0};
    for (uint32_t i = 0; i < gpu->user_count; i++) {
        const struct server_gpu_user *user = &gpu->users[i];
        if (!user->is_known || user->launch_id != 0) continue;
        if (text.length > 0) buf_add_char(&text, ',');
        if (hides_others && user->uid != r->actor.uid)
            buf_add_text(&text, VISIBILITY_HIDDEN_NAME);
        else if (user->user != NULL)
            buf_format(&text, "%s:%d", user->user, user->pid);
        else
            buf_format(&text, "%u:%d", user->uid, user->pid);
    }
    return move_text(&text, arena);
}

static struct field_value known(int64_t number)
{
    return number >= 0 ? field_number(number) : field_absent();
}

static void fill(const struct request *r, uint32_t number, const struct server_gpu *gpu, struct arena *arena,
                 struct field_value *value)
{
    value[GPU_FIELD_GPU] = field_number(number);
    value[GPU_FIELD_STATE] = field_text(gpu->fault != NULL ? "drained" : gpu->is_kept_back ? "kept_back" : "up");
    value[GPU_FIELD_NAME] = field_text(gpu->name);
    value[GPU_FIELD_MEM_MIB] = known(gpu->mem_mib);
    value[GPU_FIELD_USED_MIB] = known(gpu->used_mib);
    value[GPU_FIELD_BUSY] = known(gpu->busy);
    value[GPU_FIELD_JOB] = field_text(holders_of(r, number, arena));
    value[GPU_FIELD_USED_BY] = field_text(jobs_using(r, gpu, arena));
    value[GPU_FIELD_OUTSIDE] = field_text(outside_of(r, gpu, arena));
    value[GPU_FIELD_VENDOR] = field_text(gpu->vendor);
    value[GPU_FIELD_BUS_ID] = field_text(gpu->bus);
    value[GPU_FIELD_MINOR] = known(gpu->minor);
    value[GPU_FIELD_UUID] = field_text(gpu->uuid);
    value[GPU_FIELD_FAULT] = field_text(gpu->fault);
}

int server_get_gpus(struct request *r, struct err *e)
{
    const struct server_host *host = &r->server->host;
    const struct server_gpu *gpus = NULL;
    if (request_read_query(r, NULL, e) != 0) return -1;
    uint32_t count = host->list_gpus != NULL ? host->list_gpus(host->context, &r->arena, &gpus) : 0;
    struct field_value *values = arena_alloc(&r->arena, (count + (size_t)1) * GPU_FIELD_COUNT * sizeof *values);
    for (uint32_t i = 0; i < count; i++) fill(r, i, &gpus[i], &r->arena, values + (size_t)i * GPU_FIELD_COUNT);
    struct buf text = {0};
    buf_add_text(&text, "{\"gpus\":[");
    server_write_records(&gpu_fields, (struct wire_list){values, count}, &text);
    reply_take(r, r->route->status, TYPE_JSON, &text);
    return 0;
}
