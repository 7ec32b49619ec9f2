/* Verification (store_verify) reads the records of all tasks, so it runs in a thread of libuv's pool, on a database
 * connection of its own, and does not hold up the loop. One runs at a time, because the pool has few threads, and a
 * reading connection keeps the write-ahead log from being reset. The next one is for all who have asked meanwhile: each
 * answer is of a time after its request. */
#include "base/json.h"
#include "daemon/daemon.h"

struct verification {
    uv_work_t work;
    struct daemon *d;
    ARRAY(struct request *) requests;
    struct arena arena;
    struct verify_report report;
    struct buf body;
    struct err err;
    bool has_failed;
};

static void write_report(struct verification *v)
{
    struct json j = {.out = &v->body};
    json_begin_object(&j);
    json_key(&j, "associations");
    json_u64(&j, v->report.assoc_count);
    json_key(&j, "usage_owners");
    json_u64(&j, v->report.owner_count);
    json_key(&j, "tasks");
    json_u64(&j, v->report.task_count);
    json_key(&j, "pruned_tasks");
    json_u64(&j, v->report.pruned_task_count);
    json_key(&j, "differences");
    json_begin_array(&j);
    for (uint32_t i = 0; i < v->report.differences.count; i++) {
        const struct verify_difference *difference = &v->report.differences.items[i];
        json_begin_object(&j);
        json_key(&j, "account");
        json_text(&j, difference->account);
        json_key(&j, "user");
        json_text(&j, difference->user);
        json_key(&j, "partition");
        json_text(&j, difference->partition);
        json_key(&j, "qos");
        json_text(&j, difference->qos);
        json_key(&j, "project");
        json_text(&j, difference->project);
        json_key(&j, "tres");
        json_text(&j, difference->tres);
        json_key(&j, "stored");
        json_double(&j, difference->stored);
        json_key(&j, "recomputed");
        json_double(&j, difference->recomputed);
        json_end(&j);
    }
    json_end(&j);
    json_end(&j);
}

static void verify_in_thread(uv_work_t *work)
{
    struct verification *v = work->data;
    v->has_failed = store_verify(v->d->state_dir.path, &v->arena, &v->report, &v->err) != 0;
    if (!v->has_failed) write_report(v);
}

static void start(struct verification *v);

static void answer_in_loop(uv_work_t *work, int status)
{
    struct verification *v = work->data;
    struct daemon *d = v->d;
    (void)status;
    for (uint32_t i = 0; i < v->requests.count; i++)
        server_verified(v->requests.items[i], (struct str){v->body.text, v->body.length},
                        v->has_failed ? &v->err : NULL);
    array_release(&v->requests);
    array_release(&v->report.differences);
    buf_release(&v->body);
    arena_release(&v->arena);
    mem_free(v);
    d->verification = d->next_verification;
    d->next_verification = NULL;
    if (d->verification != NULL) start(d->verification);
}

static void start(struct verification *v)
{
    uv_queue_work(&v->d->loop, &v->work, verify_in_thread, answer_in_loop);
}

void daemon_verify(void *context, struct request *request)
{
    struct daemon *d = context;
    struct verification **place = d->verification == NULL ? &d->verification : &d->next_verification;
    struct verification *v = *place;
    if (v == NULL) {
        v = *place = mem_resize(NULL, 0, sizeof *v);
        *v = (struct verification){.work.data = v, .d = d};
    }
    *array_add(&v->requests) = request;
    if (v == d->verification) start(v);
}
