/* A submission that is only tried: the same checks, then a plan with the job in it (engine/submit_test.h). */
#include "api/server/internal.h"
#include "engine/submit_test.h"
#include "engine/wait_answer.h"

static const char *partitions_text(const struct state *s, const struct job *j, struct arena *arena)
{
    struct buf text = {0};
    for (uint32_t i = 0; i < j->partition_count; i++)
        buf_format(&text, "%s%s", i > 0 ? "," : "", s->objects[OBJECT_PARTITION].items[j->partitions[i]].object.name);
    const char *copy = arena_copy(arena, (struct str){text.text, text.length});
    buf_release(&text);
    return copy;
}

static const char *copy_or_null(const char *text, struct arena *arena)
{
    return text != NULL ? arena_copy(arena, str(text)) : NULL;
}

static void add_start(const struct expected_start *x, int64_t now_us, struct arena *arena, struct api_tested *out)
{
    out->start_us = x->start_us;
    out->now = x->start_us > 0 && x->start_us <= now_us;
    out->places = copy_or_null(x->places, arena);
    out->waits_for = copy_or_null(x->waits_for, arena);
    out->never_runs = copy_or_null(x->never_runs, arena);
    out->never = x->never_runs != NULL;
}

/* The job is the last one of the state. */
static int answer(struct state *s, uint32_t job, int64_t now_us, struct arena *arena, struct api_tested *out,
                  struct err *e)
{
    const struct job *j = &s->jobs.items[job];
    struct wait_sentences why;
    struct expected_starts *starts = expected_starts_new(s, now_us);
    const struct expected_start *x = expected_starts_find(starts, j->id);
    *out = (struct api_tested){.cpus = j->request.cpus, .partitions = partitions_text(s, j, arena)};
    if (x != NULL) add_start(x, now_us, arena, out);
    expected_starts_release(starts);
    if (wait_answer_make(s, job, WAIT_IN_PASS, now_us, arena, &why, e) != 0) return -1;
    if (!out->now) out->scheduling_info = (struct wire_list){(void *)(uintptr_t)why.items, why.count};
    return 0;
}

/* With what is known about jobs that have ended. */
static int begin(struct submit_test *t, const struct server_host *host, struct event *event, int64_t now_us,
                 struct arena *arena, struct err *e)
{
    if (host->read_ends != NULL) host->read_ends(host->context, event, arena);
    int status = submit_test_begin(t, host->state, now_us, event, e);
    if (host->read_ends != NULL) host->release_ends(event);
    return status;
}

int server_test_job(struct request *r, struct err *e)
{
    const struct server_host *host = &r->server->host;
    int64_t now_us = host->now_us(host->context);
    struct submit_test t;
    struct api_tested tested;
    if (begin(&t, host, r->event, now_us, &r->arena, e) != 0) return -1;
    int status = answer(host->state, t.job, now_us, &r->arena, &tested, e);
    submit_test_end(&t);
    if (status == 0) reply_write(r, MHD_HTTP_OK, &api_tested_shape, &tested);
    return status;
}
