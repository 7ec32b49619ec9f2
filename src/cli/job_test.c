#include "cli/job_test.h"

#include "base/quantity.h"
#include "cli/listing.h"
#include "cli/reason_list.h"

/* begin_us: the job's own earliest start; 0: none. */
static void add_start(const struct api_tested *t, int64_t begin_us, struct buf *out)
{
    if (t->never) {
        buf_format(out, "The job %s\n", t->never_runs);
        return;
    }
    if (t->now) {
        buf_add_text(out, "The job would start now");
    } else if (t->start_us > 0 || begin_us > 0) {
        buf_add_text(out, "The job would start at ");
        listing_write_time(t->start_us > 0 ? t->start_us : begin_us, out);
        if (t->start_us <= 0) buf_add_text(out, " or later, which is its begin");
    } else {
        buf_add_text(out, "The job would wait; when it would start is not known");
    }
    if (t->places != NULL) buf_format(out, " on %s", t->places);
    buf_format(out, ", with %u CPU%s in partition %s\n", t->cpus, t->cpus == 1 ? "" : "s", t->partitions);
    if (t->waits_for != NULL) buf_format(out, "It would wait for %s\n", t->waits_for);
}

static void write_text(struct call *call, const struct api_tested *t, int64_t begin_us)
{
    add_start(t, begin_us, &call->out->text);
    reason_list_write(t->scheduling_info.items, t->scheduling_info.count, REASON_LIST_INDENT, &call->out->text);
}

/* Whether an immediate job would be cancelled instead of starting late. */
static bool is_too_late(const struct api_tested *t, const struct job_values *job)
{
    if (!job->is_given[JOB_FIELD_IMMEDIATE] || t->now || t->never) return false;
    int64_t latest_us = client_now_us() + job->value[JOB_FIELD_IMMEDIATE].number * US_PER_S;
    return t->start_us == 0 || t->start_us > latest_us;
}

int job_test_run(struct call *call, const struct api_submit *body, bool is_json, struct err *e)
{
    struct api_tested tested;
    if (instance_request_once(call, "POST", API_JOBS "?test_only=true", &api_submit_shape, body, &api_tested_shape,
                              &tested, e) != 0)
        return -1;
    if (is_json) {
        wire_write(&api_tested_shape, &tested, &call->out->text);
        buf_add_char(&call->out->text, '\n');
    } else {
        const struct job_values *job = &body->job;
        write_text(call, &tested, job->is_given[JOB_FIELD_BEGIN] ? job->value[JOB_FIELD_BEGIN].number : 0);
        if (is_too_late(&tested, job))
            buf_add_text(&call->out->text, "That is too late with --immediate: it would be cancelled\n");
    }
    return tested.never || is_too_late(&tested, &body->job) ? 1 : 0;
}
