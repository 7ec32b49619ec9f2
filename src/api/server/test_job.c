/* A submission that is only tried: the same checks, then a plan with the job in it (engine/submit_test.h). */
#include "api/server/internal.h"
#include "engine/submit_test.h"
#include "engine/visibility.h"
#include "engine/wait_answer.h"
#include "engine/wait_lasting.h"
#include "fields/dependency_text.h"

enum { PLANS_OF_ONE = 2 }; /* of one submission */

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

/* A job whose dependencies can never be met is in no plan. */
static void add_failed_dependency(const struct job *j, int64_t now_us, struct arena *arena, struct api_tested *out)
{
    struct buf text = {0};
    if (dependency_list_state(j->dependency, &j->pending, now_us) != DEPENDENCY_NEVER) return;
    buf_add_text(&text, "can never run: its dependencies can never be met: ");
    dependency_text_show(j->dependency, now_us, &text);
    out->never = true;
    out->never_runs = arena_copy(arena, (struct str){text.text, text.length});
    buf_release(&text);
}

/* A plan leaves out a job that begins later. So the job is planned as if it began now; a start before its begin says
 * nothing. */
static void add_start_behind_begin(struct state *s, uint32_t job, int64_t now_us, struct arena *arena,
                                   struct api_tested *out)
{
    struct job *j = &s->jobs.items[job];
    int64_t begin_us = j->begin_us;
    j->begin_us = now_us;
    struct expected_starts *starts = expected_starts_new(s, now_us);
    const struct expected_start *x = expected_starts_find(starts, j->id);
    if (x != NULL && (x->start_us > begin_us || x->never_runs != NULL)) add_start(x, now_us, arena, out);
    expected_starts_release(starts);
    j->begin_us = begin_us;
}

static const char *join_never(const char *why, struct arena *arena)
{
    struct buf text = {0};
    buf_format(&text, "can never run: %s", why);
    const char *copy = arena_copy(arena, (struct str){text.text, text.length});
    buf_release(&text);
    return copy;
}

/* The job is the last one of the state. */
static int answer(struct state *s, uint32_t job, uint32_t hidden, int64_t now_us, struct arena *arena,
                  struct api_tested *out, struct err *e)
{
    const struct job *j = &s->jobs.items[job];
    struct wait_sentences why;
    struct expected_starts *starts = expected_starts_new(s, now_us);
    const struct expected_start *x = expected_starts_find(starts, j->id);
    *out = (struct api_tested){.cpus = j->request.cpus, .partitions = partitions_text(s, j, arena)};
    if (x != NULL)
        add_start(x, now_us, arena, out);
    else
        add_failed_dependency(j, now_us, arena, out);
    expected_starts_release(starts);
    if (x == NULL && j->begin_us > now_us) add_start_behind_begin(s, job, now_us, arena, out);
    if (out->now && state_launch_failure(s) != NULL) {
        out->now = false;
        out->start_us = 0;
    }
    struct wait_lasting wait;
    if (!out->never && out->start_us == 0 && wait_lasting_find(s, j, now_us, arena, &wait)) {
        out->never = true;
        out->never_runs = join_never(wait.text, arena);
    }
    if (wait_answer_make(s, job, WAIT_IN_PASS, hidden, now_us, arena, &why, e) != 0) return -1;
    if (!out->now) out->scheduling_info = (struct wire_list){(void *)(uintptr_t)why.items, why.count};
    return 0;
}

/* What is known about jobs that have ended. */
static void read_ends(struct request *r)
{
    const struct server_host *host = &r->server->host;
    if (host->read_ends != NULL) host->read_ends(host->context, r->event, &r->arena);
}

static void release_ends(struct request *r)
{
    const struct server_host *host = &r->server->host;
    if (host->read_ends != NULL) host->release_ends(r->event);
}

static int render(struct request *r, struct buf *out, struct err *e)
{
    struct state *s = r->server->host.state;
    struct submit_test t;
    struct api_tested tested;
    if (submit_test_begin(&t, s, r->now_us, r->event, e) != 0) return -1;
    uint32_t hidden = visibility_hidden_from(s, &r->actor);
    int status = answer(s, t.job, hidden, r->now_us, &r->arena, &tested, e);
    submit_test_end(&t);
    if (status != 0) return -1;
    wire_write(&api_tested_shape, &tested, out);
    buf_add_char(out, '\n');
    return 0;
}

int server_test_job(struct request *r, struct err *e)
{
    static const struct request_snapshot tested = {read_ends, render, release_ends, TYPE_JSON};
    return request_reply_snapshot(r, &tested, server_plan_is_long(r->server, PLANS_OF_ONE), e);
}
