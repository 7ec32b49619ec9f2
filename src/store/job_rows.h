/* Rows of the tables job and task, written and loaded: their columns are those of the table of job fields, in its order. */
#ifndef FAIRLEAD_STORE_JOB_ROWS_H
#define FAIRLEAD_STORE_JOB_ROWS_H

#include "engine/state.h"
#include "store/sql.h"

/* The statements, appended: one that writes a row whether it is there or not, and one that reads all that live. */
void job_rows_put_job(struct buf *out);
void job_rows_put_task(struct buf *out);
void job_rows_select_jobs(struct buf *out);
void job_rows_select_tasks(struct buf *out);

/* Writes a row with such a statement. arena: for text until then. */
int job_row_write(sqlite3_stmt *put, const struct state *state, uint32_t job, struct arena *arena, struct err *e);
int job_row_write_task(sqlite3_stmt *put, const struct state *state, uint32_t task, struct arena *arena, struct err *e);

/* Restores what the statement's row says. ERR_INTERNAL names the row and the field. */
int job_row_load(sqlite3_stmt *row, struct state *state, struct err *e);
int job_row_load_task(sqlite3_stmt *row, struct state *state, struct err *e);

#endif
