/* Adds, changes and removes rows, together with everything that is derived from them: names, ids, references, counts.
 * It uses neither events nor policies, and decides nothing. */
#ifndef FAIRLEAD_ENGINE_STATE_ROWS_H
#define FAIRLEAD_ENGINE_STATE_ROWS_H

#include "engine/state.h"

/* The append functions copy a row to the end of its table and return its index. They copy texts, and of a job also
 * partitions, requests and document. The state takes over sets, and the placement and tres.items of a task. O(length of
 * the texts and lists), amortised. */

/* --- associations ------------------------------------------------------------------------------------------------- */

uint32_t assoc_append(struct state *s, const struct assoc *row); /* gives it its id */
void assoc_join_user(struct state *s, uint32_t index);           /* adds it to those of its user */
void assoc_set_usage(struct state *s, uint32_t index, double usage);
void assoc_set_default(struct state *s, uint32_t index, bool is_default);

/* Adds the names of an association to the maps, or removes them. */
void assoc_index_name(struct state *s, uint32_t index);
void assoc_remove_name(struct state *s, uint32_t index);

/* The key of assoc_in_partition, like state_name_key. */
enum { ASSOC_PARTITION_KEY_SIZE = NAME_KEY_SIZE + DOCUMENT_NAME_BYTES_MAX + 1 };
struct str assoc_partition_key(char key[ASSOC_PARTITION_KEY_SIZE], const char *account, const char *user,
                               const char *partition);

/* Adds work to an association and all of its ancestors (by 1), or removes it (-1). O(depth). */
void assoc_count_work(struct state *s, uint32_t assoc, const struct work *work, int by);

/* --- objects ------------------------------------------------------------------------------------------------------ */

/* object_row_append adds a row as it is loaded, object_row_add a new object, with the next id. Both return its
 * index. */
uint32_t object_row_append(struct state *s, enum object_kind kind, const struct object_row *row);
uint32_t object_row_add(struct state *s, enum object_kind kind, const struct object *object, int64_t now_us);
struct object_row *object_row_at(struct state *s, enum object_kind kind, uint32_t index);

/* The first object that is not deleted, or NONE. */
uint32_t object_row_first(const struct state *s, enum object_kind kind);

/* --- usage owners ------------------------------------------------------------------------------------------------- */

/* Adds a row, whose names are copied, and returns its index. */
uint32_t usage_owner_append(struct state *s, const struct usage_owner *row);

/* The indices of the usage owners that a job is charged to: the user, outside projects or in the job's project, and
 * that project, or NONE. job_ensure_usage_owners adds rows for them if there are none. O(1). */
void job_usage_owners(const struct state *s, const struct job *j, uint32_t out_owners[2]);
void job_ensure_usage_owners(struct state *s, const struct job *j);

/* --- jobs and tasks ----------------------------------------------------------------------------------------------- */

/* Add a row with its id, which is larger than all before it, and return its index. */
uint32_t job_append(struct state *s, const struct job *row);
uint32_t task_append(struct state *s, const struct task *row);

/* Gives a live job, with its pending tasks, another association of its user. Its started tasks keep theirs. O(depth) */
void job_set_assoc(struct state *s, uint32_t index, uint32_t assoc);

/* Adds copies of rows of jobs that have ended at their places by id, with their sets; ids are ascending, and none is in
 * memory. Rows after them get new indices. out_before: count entries, the number of rows that were before each of them.
 * job_remove_ended takes them out again. O(jobs) */
void job_insert_ended(struct state *s, const struct job *rows, uint32_t count, uint32_t *out_before);
void job_remove_ended(struct state *s, const uint32_t *indices, uint32_t count);

/* A copy of a row with all that it owns, and its release. */
struct job job_copy(const struct job *row);
void job_release(struct job *row);

/* Removes the last row of jobs, which nothing refers to yet (submit_test.h). */
void job_remove_last(struct state *s);

/* Replaces the row of a job: like job_append, and counts references and ensures usage owners. min_priorities and the
 * sets of row are those of the old row, or replace them; min_priority_update and job_set_assoc come first. */
void job_replace(struct state *s, uint32_t index, const struct job *row);

/* Adds an object for a check, with the texts of the caller, and takes it back. */
uint32_t object_row_try(struct state *s, enum object_kind kind, const struct object *object);
void object_row_remove_last(struct state *s, enum object_kind kind, uint32_t index);

/* Counts a live job and its bytes, for its association and all: by 1 or -1. */
void job_count_live(struct state *s, const struct job *j, int by);

/* Counts the references of a live job to its partitions, QOS, project and resources: by 1 or -1. */
void job_count_references(struct state *s, const struct job *j, int by);

/* The same for a live task and the QOS of its partition. */
void task_count_references(struct state *s, const struct task *k, int by);

/* The work of a live task. */
struct work task_work(const struct task *k);

/* --- the whole state ---------------------------------------------------------------------------------------------- */

/* Frees the rows of ended jobs, or tasks. The others keep their order and get new indices. O(jobs), O(tasks). */
void state_compact_jobs(struct state *s);
void state_compact_tasks(struct state *s);

/* Frees all rows and the maps of their names and ids. */
void state_release_rows(struct state *s);

#endif
