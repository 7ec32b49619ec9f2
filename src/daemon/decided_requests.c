#include "daemon/decided_requests.h"

#include "daemon/daemon.h"
#include "engine/submit_test.h"

struct job_script decided_request_script(const struct request_script *script)
{
    return (struct job_script){.script = script->script,
                               .script_name = script->script_name,
                               .arguments = script->arguments,
                               .argument_count = script->argument_count,
                               .environment = script->environment,
                               .environment_count = script->environment_count};
}

static void add_script(struct daemon *d, uint32_t job_id, const struct request_script *script)
{
    const struct job_script job_script = decided_request_script(script);
    store_add_script(d->store, job_id, &job_script);
}

bool decided_request_would_be_refused(struct daemon *d, const struct request *request)
{
    struct event event = *request_event(request);
    struct arena arena = {0};
    struct err unused;
    daemon_read_ends(d, &event, &arena);
    bool is_refused =
        daemon_refuse_submission(d, &event, &unused) || submit_test_check(&d->state, d->now_us, &event, &unused) != 0;
    daemon_release_ends(&event);
    arena_release(&arena);
    return is_refused;
}

void decided_request_apply(struct daemon *d, struct decided_request *decided, const struct upload *upload)
{
    struct event event = *request_event(decided->request);
    const struct request_script *script = request_script(decided->request);
    struct arena arena = {0};
    daemon_read_ends(d, &event, &arena);
    if (daemon_refuse_submission(d, &event, &decided->err))
        decided->is_refused = true;
    else if (engine_apply(&d->state, d->now_us, &event, &d->outcome, &decided->result, &decided->err) != 0)
        decided->is_refused = true;
    daemon_release_ends(&event);
    arena_release(&arena);
    if (script == NULL || decided->is_refused) return;
    if (upload != NULL)
        store_add_upload(d->store, decided->result.job_id, upload->stored);
    else
        add_script(d, decided->result.job_id, script);
}
