/* The output of one job or task, as 'log' prints it: what the instance says of the task, and the file that the command
 * reads itself, with its user's rights.
 *
 *     rows of the instance ──log_task_take──> facts ──log_task_open──> file ──log_task_copy──> lines, or bytes
 *
 * Invariants
 *   1. Before the task has started, a file at its path is not its output, and is not opened.
 *   2. With a prefix only whole lines are printed, so that lines of several tasks do not mix; what follows the last
 *      line end is printed by log_task_finish. */
#ifndef FAIRLEAD_CLI_LOG_TASK_H
#define FAIRLEAD_CLI_LOG_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "cli/log_filter.h"
#include "cli/output.h"
#include "fields/field.h"
#include "fields/job_id.h"
#include "fields/job_state.h"
#include "fields/pending_reason.h"

struct log_task {
    uint32_t job_id, task_id; /* task_id: NONE for a job that is no array */
    char id[JOB_ID_TEXT_SIZE];
    uid_t uid; /* that it runs as */
    enum job_state state;
    enum pending_reason reason;
    bool has_started, is_ended;
    bool is_hidden; /* by private_data */
    bool is_error;  /* the file is that of the error output */
    char detail[256];
    struct buf path;
    int fd; /* -1: not open */
    bool is_finished;
    struct buf line;      /* not printed yet: it has no end */
    struct buf new_bytes; /* read last */
    struct log_filter filter;
};

void log_task_init(struct log_task *t, uint32_t job_id, uint32_t task_id);
void log_task_release(struct log_task *t);

/* Takes over what a row (a record of job_fields) says. wants_error: of the error output, if it has its own file. */
void log_task_take(struct log_task *t, const struct field_value *row, bool wants_error);

/* Opens the file, if it is not open. Returns 1 if it is open now; 0: not yet, because the task has not started or the
 * file does not exist; -1: never. socket: log_task looks for a file that was moved in /proc (cli/job_stdio.h). */
int log_task_open(struct log_task *t, const char *socket, struct err *e);

/* Appends "PENDING (Priority)", of a task that has not started. */
void log_task_wait_text(const struct log_task *t, struct buf *out);

/* Why log_task_open returned 0. Returns -1. */
int log_task_explain(const struct log_task *t, struct err *e);

/* Goes to the beginning of the last lines of the file. */
void log_task_seek_tail(struct log_task *t, uint64_t line_count);

/* Prints what is new in the file. prefix_width: 0, or the columns in which the id of the task precedes each line. */
int log_task_copy(struct log_task *t, uint32_t prefix_width, struct output *out, struct err *e);

/* Prints the rest of the last line, and closes the file. */
int log_task_finish(struct log_task *t, uint32_t prefix_width, struct output *out, struct err *e);

#endif
