#include "cli/job_watch.h"

#include "cli/instance.h"
#include "cli/job_end.h"
#include "cli/terminal_signals.h"

static int64_t restarts_of(const struct field_value *row)
{
    const struct field_value *restarts = &row[JOB_FIELD_RESTARTS];
    if (row[JOB_FIELD_STATE].number == JOB_PENDING) return INT64_MAX;
    return restarts->number == FIELD_ABSENT ? 0 : restarts->number;
}

/* A job that was requeued has a row for each attempt. */
static const struct field_value *newest_row(const struct wire_list *rows)
{
    const struct field_value *row = rows->items, *newest = NULL;
    for (uint32_t i = 0; i < rows->count; i++, row += JOB_FIELD_COUNT) {
        if (newest == NULL || restarts_of(row) >= restarts_of(newest)) newest = row;
    }
    return newest;
}

static void fill(const struct field_value *row, struct job_watch *out)
{
    struct buf end = {0};
    const struct str reason = field_choice(pending_reason_names, row[JOB_FIELD_REASON].number);
    const int64_t expected_us = row[JOB_FIELD_EXPECTED_START].number;
    *out = (struct job_watch){.state = (enum job_state)row[JOB_FIELD_STATE].number,
                              .restarts = restarts_of(row),
                              .has_terminal = row[JOB_FIELD_TERMINAL].text != NULL,
                              .status = job_end_status(row),
                              .has_program_status = job_end_has_status(row)};
    job_end_describe(row, &end);
    text_format(out->end, sizeof out->end, "%s", end.text);
    text_format(out->reason, sizeof out->reason, "%.*s", (int)reason.length, reason.text);
    out->expected_start_us = expected_us == FIELD_ABSENT ? 0 : expected_us;
    buf_release(&end);
}

int job_watch_read(struct call *call, const char *id, struct job_watch *out, struct err *e)
{
    struct arena arena = {0}, *call_arena = call->arena;
    struct buf text = {0};
    struct api_listing list;
    buf_add_text(&text, API_JOBS);
    client_add_segment(&text, id);
    call->arena = &arena;
    terminal_signals_begin_request();
    int status =
        instance_request_once(call, "GET", instance_target(call, &text), NULL, NULL, &api_job_list_shape, &list, e);
    terminal_signals_end_request();
    const struct field_value *row = status == 0 ? newest_row(&list.rows) : NULL;
    if (row != NULL) fill(row, out);
    if (status == 0 && row == NULL) status = err_subject(e, ERR_NOT_FOUND, "job", str(id), "is not known");
    call->arena = call_arena;
    arena_release(&arena);
    if (status == 0) return 1;
    return e->code == ERR_UNAVAILABLE ? 0 : -1;
}

bool job_watch_is_ended(const struct job_watch *w)
{
    return w->restarts != INT64_MAX && job_state_is_end(w->state) && w->state != JOB_REQUEUED;
}
