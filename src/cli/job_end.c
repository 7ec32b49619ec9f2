#include "cli/job_end.h"

#include <string.h>

#include "base/quantity.h"
const struct command_exit job_end_exits[] = {
    {.status = JOB_EXIT_OUT_OF_MEMORY, .meaning = "the job used more memory than it had asked for, and was ended"},
    {.status = JOB_EXIT_NOT_STARTED,
     .meaning = "the job failed before its program ran: its directory, output or program could not be opened"},
    {.status = JOB_EXIT_CANCELLED, .meaning = "the job was cancelled"},
    {.status = JOB_EXIT_TIMEOUT, .meaning = "the job reached its time limit"},
    {.status = JOB_EXIT_NODE_FAIL,
     .meaning = "the host or the job's keeper failed while the job ran, so its end is unknown"},
    {.status = 128, .meaning = "plus the number of a signal: the signal ended the job"},
    {0},
};

static int number_or_0(const struct field_value *value)
{
    return value->number == FIELD_ABSENT ? 0 : (int)value->number;
}

bool job_end_has_status(const struct field_value *row)
{
    return row[JOB_FIELD_EXIT_STATUS].number != FIELD_ABSENT || row[JOB_FIELD_SIGNAL].number != FIELD_ABSENT;
}

int job_end_status(const struct field_value *row)
{
    int signal_number = number_or_0(&row[JOB_FIELD_SIGNAL]);
    switch (row[JOB_FIELD_STATE].number) {
    case JOB_REQUEUED: /* the end is that of its last attempt */
    case JOB_COMPLETED: return 0;
    case JOB_CANCELLED: return JOB_EXIT_CANCELLED;
    case JOB_TIMEOUT: return JOB_EXIT_TIMEOUT;
    case JOB_NODE_FAIL: return JOB_EXIT_NODE_FAIL;
    case JOB_OUT_OF_MEMORY: return JOB_EXIT_OUT_OF_MEMORY;
    default: break;
    }
    if (signal_number > 0) return 128 + signal_number;
    return job_end_has_status(row) ? (int)row[JOB_FIELD_EXIT_STATUS].number : JOB_EXIT_NOT_STARTED;
}

void job_end_describe(const struct field_value *row, struct buf *out)
{
    int signal_number = number_or_0(&row[JOB_FIELD_SIGNAL]), status = number_or_0(&row[JOB_FIELD_EXIT_STATUS]);
    const char *detail = row[JOB_FIELD_DETAIL].text;
    buf_add_str(out, field_choice(job_state_choices, row[JOB_FIELD_STATE].number));
    if (signal_number > 0)
        buf_format(out, ", signal %d (%s)", signal_number, strsignal(signal_number));
    else if (status > 0)
        buf_format(out, ", exit status %d", status);
    if (detail != NULL && detail[0] != '\0') buf_format(out, " (%s)", detail);
    const char *cancelled = row[JOB_FIELD_CANCEL_REASON].text;
    if (row[JOB_FIELD_STATE].number == JOB_CANCELLED && cancelled != NULL) buf_format(out, " (%s)", cancelled);
    if (row[JOB_FIELD_STATE].number == JOB_OUT_OF_MEMORY && row[JOB_FIELD_MEM_MIB].number != FIELD_ABSENT) {
        char more[32];
        memory_format(more, 2 * (uint64_t)row[JOB_FIELD_MEM_MIB].number);
        buf_format(out, "; submit it with more, as --mem %s", more);
    }
}
