/* attach: connects this terminal with a job that 'fairlead run' has started. */
#include <string.h>

#include "api/client/address.h"
#include "cli/instance.h"
#include "cli/job_ids.h"
#include "cli/job_watch.h"
#include "cli/terminal_end.h"
#include "cli/terminal_signals.h"

struct attach_values {
    bool reads_only;
    const char *escape;
};

static const struct option_row attach_options[] = {
    {.name = "read-only",
     .letter = 'r',
     .value = FLAG_IN(struct attach_values, reads_only),
     .help = "only watch: nothing that is typed reaches the job, and a slow terminal does not slow the job down"},
    {.name = "escape",
     .argument = "CHAR",
     .value = TEXT_IN(struct attach_values, escape),
     .help = "the character that begins '~.' and '~^Z' (~ by default), or none"},
    {0},
};

/* The directory of a private instance's sockets, beside its own socket. */
static const char *directory_beside(struct call *call, const char *socket)
{
    const char *slash = strrchr(socket, '/');
    struct buf path = {0};
    if (slash == NULL) return NULL;
    buf_format(&path, "%.*s/launches", (int)(slash - socket), socket);
    return instance_target(call, &path);
}

/* Connects while no instance answers: the sockets are where instances have them by default. Results as
 * terminal_link_open. */
static int open_without_instance(struct call *call, const char *id, struct terminal_link *out, struct err *e)
{
    struct addresses addresses;
    struct err unused;
    int found = 0;
    if (addresses_find(call->common.socket, call->arena, &addresses, &unused) != 0) return 0;
    for (uint32_t i = 0; found == 0 && i < addresses.count; i++) {
        bool is_system = strcmp(addresses.path[i], SYSTEM_ADDRESS) == 0;
        const char *directory =
            is_system ? SYSTEM_LAUNCHER_STATE "/launches" : directory_beside(call, addresses.path[i]);
        if (directory != NULL) found = terminal_link_open(out, directory, id, e);
    }
    return found;
}

static int explain_none(struct call *call, const char *id, struct err *e)
{
    struct job_watch w;
    int answer = job_watch_read(call, id, &w, e);
    if (answer <= 0) return -1;
    if (job_watch_is_ended(&w)) return err_subject(e, ERR_CONFLICT, "job", str(id), "has ended: %s", w.end);
    if (!w.has_terminal)
        return err_subject(e, ERR_CONFLICT, "job", str(id),
                           "is a batch job without a terminal; run 'fairlead log -f %s' to follow its output", id);
    if (w.restarts == INT64_MAX) return err_subject(e, ERR_CONFLICT, "job", str(id), "has not started");
    return err_subject(e, ERR_UNAVAILABLE, "job", str(id), "has no terminal that can be reached now");
}

static int open_link(struct call *call, const char *id, struct terminal_link *out, struct err *e)
{
    struct api_status status;
    struct err cause;
    int found = instance_request_once(call, "GET", API_STATUS, NULL, NULL, &api_status_shape, &status, e);
    if (found != 0 && e->code != ERR_UNAVAILABLE) return -1;
    if (found == 0) {
        found = status.terminals == NULL ? 0 : terminal_link_open(out, status.terminals, id, e);
        return found > 0 ? 0 : found < 0 ? -1 : explain_none(call, id, e);
    }
    cause = *e;
    found = open_without_instance(call, id, out, e);
    if (found == 0) *e = cause;
    return found > 0 ? 0 : -1;
}

static int attach_run(struct call *call, struct err *e)
{
    const struct attach_values *values = call->values;
    struct terminal_session_options session = {.reads_only = values->reads_only, .detaches = true};
    struct terminal_link link;
    struct terminal_end end;
    struct wire_list ids;
    if (terminal_end_read_escape(values->escape, &session.escape, e) != 0) return -1;
    if (job_ids_parse(call, 0, &ids, e) != 0) return -1;
    if (ids.count != 1) return err_set(e, ERR_INPUT, "%u tasks: give one job, or one task such as 6_3", ids.count);
    session.id = *(const char **)ids.items;
    if (open_link(call, session.id, &link, e) != 0) return -1;
    session.signal_fd = terminal_signals_open();
    if (session.signal_fd < 0) return err_set(e, ERR_UNAVAILABLE, "this process can open no more files");
    terminal_session_run(&link, &session, &end);
    terminal_link_close(&link);
    int status = terminal_end_status(call, session.id, TERMINAL_END_ANY, &end, e);
    if (status != TERMINAL_END_REQUEUED) return status;
    output_note("fairlead attach: job %s was requeued", session.id);
    return 0;
}

static const struct command_example attach_examples[] = {
    {.line = "fairlead attach 5", .meaning = "back to the terminal of job 5; ~. leaves it"},
    {.line = "fairlead attach --read-only 5", .meaning = "watch job 5"},
    {0},
};

const struct command cmd_attach = {
    .name = "attach",
    .group = GROUP_JOBS,
    .summary = "connect this terminal with a job of 'fairlead run'",
    .usage = "[OPTIONS] ID",
    .description =
        "Shows the last 64 KiB of the job's output and what follows. At a job with a pseudo-terminal, what is typed is the job's, which "
        "gets the size of this terminal; several terminals can be attached at once. A job with pipes is only watched. "
        "'~.' at the beginning of a line leaves, as does the loss of this terminal; the job goes on. When the job ends, the exit "
        "status is the job's.\n\n"
        "Only the job's user and root can attach. It works while the daemon is down, for instances in their usual places.",
    .options = attach_options,
    .values_size = sizeof(struct attach_values),
    .operands_min = 1,
    .operands_max = 1,
    .examples = attach_examples,
    .exits = terminal_end_exits,
    .see_also = "run log queue",
    .run = attach_run,
};
