#include "cli/job_change.h"

#include <string.h>

#include "cli/ended_jobs.h"
#include "cli/instance.h"
#include "cli/job_ids.h"
#include "cli/unknown_name.h"
#include "fields/signal_text.h"

enum {
    LINES_MAX = 20,   /* of the jobs that are reported one by one */
    PIECE_MAX = 1000, /* of the jobs of one request */
};

const struct command_exit job_change_exits[] = {
    {.status = 1, .meaning = "some jobs were changed, and others were refused; or another failure"},
    {.status = 2, .meaning = "no job was changed: the command line or all jobs are not accepted"},
    {0},
};

/* What the ids are of: "job", or "task" if each of them names a task. */
static const char *noun_of(const struct wire_list *ids, uint32_t count)
{
    bool is_of_tasks = ids->count > 0;
    for (uint32_t i = 0; i < ids->count && is_of_tasks; i++)
        is_of_tasks = strchr(((const char *const *)ids->items)[i], '_') != NULL;
    return is_of_tasks ? count == 1 ? "task" : "tasks" : count == 1 ? "job" : "jobs";
}

/* A line for each of the first jobs that were refused. Returns the exit status. */
static int report_refused(const struct call *call, const struct api_count *reply)
{
    const struct api_refused *rows = reply->refused.items;
    uint32_t count = reply->refused.count;
    for (uint32_t i = 0; i < count && i < LINES_MAX; i++)
        output_note("fairlead %s: %s", call->command->name, rows[i].message);
    if (count > LINES_MAX) output_note("fairlead %s: and %u more", call->command->name, count - LINES_MAX);
    if (count == 0) return 0;
    return reply->count > 0 ? 1 : err_exit_status(err_from_name(rows[0].name));
}

static int check_operands(const struct call *call, bool is_selected, uint32_t first, struct err *e)
{
    const struct job_change_values *values = call->values;
    if (values->has_all && call->parsed.operand_count > first)
        return err_set(e, ERR_USAGE, "--all and job ids: only one of them is accepted");
    if (is_selected && call->parsed.operand_count > first)
        return err_set(e, ERR_USAGE, "options that select jobs and job ids: only one of them is accepted");
    if (!is_selected && call->parsed.operand_count <= first)
        return err_set(e, ERR_USAGE, "missing job id; run 'fairlead queue' to list jobs, or give --all");
    return 0;
}

/* The state of the API for one or several words: pending and running ones are all; suspended ones are running ones,
 * too. *out_state NULL: all. */
static int read_state(const struct job_change *change, const char *text, const char **out_state, struct err *e)
{
    static const char *const states[] = {"pending", "running", "suspended"};
    bool has[3] = {false};
    *out_state = NULL;
    for (struct str rest = str(text); rest.text != NULL;) {
        struct str word = str_trim(str_cut(rest, ',', &rest));
        int64_t index = field_choice_index("pending,running,suspended,pd,r,s", word);
        if (index < 0 || field_choice_index(change->states, word) < 0)
            return err_value(e, "--state", word, "%s", change->state_help);
        has[index % 3] = true;
    }
    if (has[0] && has[1]) return 0;
    if (has[0] && has[2])
        return err_value(e, "--state", str(text), "pending with running, which are also suspended ones");
    for (int i = 2; i >= 0; i--) {
        if (has[i]) *out_state = states[i];
    }
    return 0;
}

static void write_dry_run(const struct call *call, const struct api_count *reply, const struct job_change *v,
                          const char *noun)
{
    const char *const *ids = reply->jobs.items;
    output_line(call->out, "Would %s %u %s", v->verb, reply->count, noun);
    for (uint32_t i = 0; i < reply->jobs.count; i++) {
        output_line(call->out, "  %s", ids[i]);
        output_pace(call->out);
    }
}

static void append(struct call *call, struct wire_list *list, const struct wire_list *more, size_t size)
{
    char *items = arena_alloc(call->arena, ((size_t)list->count + more->count + 1) * size);
    if (list->count > 0) memcpy(items, list->items, list->count * size);
    if (more->count > 0) memcpy(items + list->count * size, more->items, more->count * size);
    *list = (struct wire_list){items, list->count + more->count};
}

/* Names the jobs of body in several requests. Jobs of other users, which may not be changed, are not selected. */
static int request_in_pieces(struct call *call, const struct job_change *v, const struct api_jobs *body,
                             struct api_count *out_reply, struct err *e)
{
    *out_reply = (struct api_count){0};
    for (uint32_t first = 0; first < body->ids.count; first += PIECE_MAX) {
        struct api_jobs piece = *body;
        struct api_count reply;
        uint32_t left = body->ids.count - first, kept = 0;
        piece.all = false;
        piece.user = piece.account = piece.partition = piece.qos = piece.name = NULL;
        piece.ids = (struct wire_list){(const char **)body->ids.items + first, left < PIECE_MAX ? left : PIECE_MAX};
        if (instance_request_once(call, "POST", v->target, v->shape, &piece, &api_count_shape, &reply, e) != 0)
            return -1;
        struct api_refused *rows = reply.refused.items;
        for (uint32_t i = 0; i < reply.refused.count; i++) {
            if (err_from_name(rows[i].name) != ERR_DENIED) rows[kept++] = rows[i];
        }
        reply.refused.count = kept;
        out_reply->count += reply.count;
        append(call, &out_reply->refused, &reply.refused, sizeof(struct api_refused));
        append(call, &out_reply->jobs, &reply.jobs, sizeof(const char *));
    }
    return 0;
}

static int report(struct call *call, const struct job_change *v, const struct wire_list *ids,
                  const struct api_count *reply, struct err *e)
{
    const struct job_change_values *values = call->values;
    const char *noun = noun_of(ids, reply->count);
    bool is_none = reply->count == 0;
    if (is_none && reply->refused.count == 0) {
        output_line(call->out, "No %s to %s", noun, v->verb);
    } else if (!is_none && values->is_dry_run) {
        write_dry_run(call, reply, v, noun);
    } else if (!is_none) {
        output_line(call->out, "%s %u %s", v->done, reply->count, noun);
    }
    if (output_flush(call->out, e) != 0) return -1;
    if (is_none && reply->refused.count == 0) (void)unknown_name_note(call, values->user, NULL);
    return report_refused(call, reply);
}

int job_change_run(struct call *call, const struct job_change *v, uint32_t states, uint32_t first, struct err *e)
{
    const struct job_change_values *values = call->values;
    bool is_selected = values->has_all || values->user || values->account || values->partition || values->qos ||
                       values->name || values->state;
    struct api_jobs body = {.all = is_selected,
                            .user = values->user,
                            .account = values->account,
                            .partition = values->partition,
                            .qos = values->qos,
                            .name = values->name,
                            .partial = true,
                            .dry_run = values->is_dry_run,
                            .hold = values->has_hold,
                            .signal = v->signal != 0 ? signal_text_name(v->signal) : NULL,
                            .batch = values->is_batch};
    struct api_count reply;
    if (v->states != NULL && read_state(v, values->state, &body.state, e) != 0) return -1;
    if (check_operands(call, is_selected, first, e) != 0) return -1;
    if (states != 0) {
        if (ended_jobs_list(call, &body, states, &body.ids, e) != 0) return -1;
        if (request_in_pieces(call, v, &body, &reply, e) != 0) return -1;
        return report(call, v, &body.ids, &reply, e);
    }
    if (job_ids_parse(call, first, &body.ids, e) != 0) return -1;
    if (instance_request_once(call, "POST", v->target, v->shape, &body, &api_count_shape, &reply, e) != 0) return -1;
    return report(call, v, &body.ids, &reply, e);
}
