/* What commands say about jobs: the cells that listings share, ids as people write them, and how a row ended. */
#ifndef FAIRLEAD_CLI_JOB_ROW_H
#define FAIRLEAD_CLI_JOB_ROW_H

#include "cli/instance.h"

/* Cells of a struct wire_job_row (cli/listing.h). */
void job_cell_id(const void *row, bool is_exact, struct buf *out);
void job_cell_name(const void *row, bool is_exact, struct buf *out);
void job_cell_user(const void *row, bool is_exact, struct buf *out);
void job_cell_account(const void *row, bool is_exact, struct buf *out);
void job_cell_partition(const void *row, bool is_exact, struct buf *out);
void job_cell_qos(const void *row, bool is_exact, struct buf *out);
void job_cell_state(const void *row, bool is_exact, struct buf *out);
void job_cell_elapsed(const void *row, bool is_exact, struct buf *out);
void job_cell_limit(const void *row, bool is_exact, struct buf *out);
void job_cell_cpus(const void *row, bool is_exact, struct buf *out);
void job_cell_memory(const void *row, bool is_exact, struct buf *out);
void job_cell_gpus(const void *row, bool is_exact, struct buf *out);
void job_cell_reason(const void *row, bool is_exact, struct buf *out);
void job_cell_exit(const void *row, bool is_exact, struct buf *out);
void job_cell_max_memory(const void *row, bool is_exact, struct buf *out);
void job_cell_ended(const void *row, bool is_exact, struct buf *out);

/* How long it has run, in seconds; -1: it never has. */
int64_t job_elapsed_s(const struct wire_job_row *row);

/* Reads operands "5", "5_3" and "5_[1-3,7]" into ids "5", "5_3", "5_1" ... in the call's arena. ERR_INPUT. */
int job_ids_parse(struct call *call, uint32_t first_operand, struct wire_list *out_ids, struct err *e);

/* A time limit as given: UNLIMITED (INT64_MAX) is the longest there is, ten years. */
int64_t job_time_limit(int64_t given_s);

/* Exit statuses of wait for ends that have none of their own. Just below the ones with a meaning already: 123 is xargs',
 * 124 and 125 timeout's, 126, 127 and 128 + signal the shell's. */
enum {
    JOB_EXIT_NOT_STARTED = 119, /* failed before its program ran */
    JOB_EXIT_CANCELLED = 120,
    JOB_EXIT_TIMEOUT = 121,
    JOB_EXIT_NODE_FAIL = 122,
};
extern const struct command_exit job_exits[];

/* The exit status an ended row stands for: 0, its own, 128 + signal, or one of the above. */
int job_exit_status(const struct wire_job_row *row);

/* "COMPLETED", "FAILED, exit status 3", "FAILED, signal 9 (Killed)", with its detail where there is one. */
void job_describe_end(const struct wire_job_row *row, struct buf *out);

/* Waits until all ids have ended. Returns the first failure's status in their order, or -1. A connection that breaks is
 * tried again for retry_s. Says on standard error which failed. */
int job_wait(struct call *call, const struct wire_list *ids, uint64_t retry_s, struct err *e);

#endif
