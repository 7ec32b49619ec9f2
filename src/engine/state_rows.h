/* Rows as they come, change and go, together with all that is derived from them: names, ids, references, counts. Nothing
 * here knows events or policies; what is decided about rows is decided elsewhere. */
#ifndef FAIRLEAD_ENGINE_STATE_ROWS_H
#define FAIRLEAD_ENGINE_STATE_ROWS_H

#include "engine/state.h"

/* Rows. The appending ones copy text, and give an association its id; job_append copies partitions and requests too; sets
 * and a task's arrays are taken over. */
uint32_t assoc_append(struct state *s, const struct assoc *row);
void assoc_set_usage(struct state *s, uint32_t index, double usage); /* nobody else writes assoc.usage but restoring */
void assoc_set_default(struct state *s, uint32_t index, bool is_default);
void assoc_index_name(struct state *s, uint32_t index);
void assoc_remove_name(struct state *s, uint32_t index);
void assoc_partition_key(const char *account, const char *user, const char *partition, struct buf *out);
uint32_t job_append(struct state *s, const struct job *row);
uint32_t task_append(struct state *s, const struct task *row);
uint32_t object_row_append(struct state *s, enum object_kind kind, const struct object_row *row);
uint32_t usage_owner_append(struct state *s, const struct usage_owner *row);

/* Objects. object_row_add gives it its id; what follows from its fields is derived elsewhere (objects.c). */
struct object_row *object_row_at(struct state *s, enum object_kind kind, uint32_t index);
uint32_t object_row_first(const struct state *s, enum object_kind kind); /* that stands; NONE */
uint32_t object_row_add(struct state *s, enum object_kind kind, const struct object *object, int64_t now_us);

/* A live job more (1) or less (-1) points at its partitions, QOS, project and resources. */
void job_count_references(struct state *s, const struct job *j, int by);

/* An association has so much more (1) or less (-1) to do, and with it all that are above. */
void assoc_count_work(struct state *s, uint32_t assoc, const struct work *work, int by);
struct work task_work(const struct task *k); /* of one that has not ended */

/* Puts a changed row of a job in its place. Text, partitions and requests are copied, all else is taken over; references are
 * counted, and there are rows for who pays. */
void job_replace(struct state *s, uint32_t index, const struct job *row);

/* Rows for those who pay for a job (without usage, if there are none), and their indices: the user, outside projects or in
 * the job's, and the project, or NONE. */
void job_ensure_usage_owners(struct state *s, const struct job *j);
void job_usage_owners(const struct state *s, const struct job *j, uint32_t out_owners[2]);

/* The host's capacity as found and overridden, with what runs placed on it again. */
void state_rebuild_host(struct state *s);

/* Gives the rows that have ended back: the others stand in order, numbered anew. */
void state_compact_rows(struct state *s);

/* Frees all rows and what is derived from them. */
void state_release_rows(struct state *s);

#endif
