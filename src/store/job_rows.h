/* Rows of the tables job and task, written and loaded: their columns are those of the table of job fields, in its
 * order. All that depends only on the fields of these columns is computed once. */
#ifndef FAIRLEAD_STORE_JOB_ROWS_H
#define FAIRLEAD_STORE_JOB_ROWS_H

#include "engine/state.h"
#include "fields/job_fields.h"
#include "store/field_columns.h"

/* Fields that a statement reads or writes, in the order of its columns. */
struct job_row_columns {
    uint32_t count;
    enum job_field field[JOB_FIELD_COUNT];
    struct field_column column[JOB_FIELD_COUNT];
};

/* Adds the column of a field behind the others. */
void job_row_columns_add(struct job_row_columns *columns, enum job_field f);

/* The columns of the table job (home JOB) or task (home TASK). */
struct job_row_columns job_row_columns_of(enum job_field_home home);

/* Appends statements: one inserts or updates a row, one selects all rows of jobs or tasks that have not ended. SQLite
 * rewrites the entries of each index of which an update names a column, changed or not. So job_rows_move_job updates
 * the columns with indices of a job that is there, if one of them changes, and job_rows_put_job does not name them. */
void job_rows_move_job(struct buf *out);
void job_rows_put_job(struct buf *out);
void job_rows_put_task(struct buf *out);
void job_rows_select_jobs(struct buf *out);
void job_rows_select_ended_job(struct buf *out); /* by its id */
void job_rows_select_tasks(struct buf *out);

/* Writes a row with such statements. columns: those of the table. arena: for text that is needed until then. */
int job_row_write(const struct job_row_columns *columns, sqlite3_stmt *move, sqlite3_stmt *put,
                  const struct state *state, uint32_t job, struct arena *arena, struct err *e);
int job_row_write_task(const struct job_row_columns *columns, sqlite3_stmt *put, const struct state *state,
                       uint32_t task, struct arena *arena, struct err *e);

/* Reads a row of job. Texts are those of the statement or in memory of arena, as lists are; job_members_release frees
 * the sets. */
int job_row_read(const struct job_row_columns *columns, sqlite3_stmt *row, const struct state *state,
                 struct arena *arena, struct job *out, struct err *e);

/* Restores a job or a task from the statement's row. ERR_INTERNAL names the row and the field. */
int job_row_load(const struct job_row_columns *columns, sqlite3_stmt *row, struct state *state, struct err *e);
int job_row_load_task(const struct job_row_columns *columns, sqlite3_stmt *row, struct state *state, struct err *e);

#endif
