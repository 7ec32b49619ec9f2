/* Columns that hold lists: items by commas, each a name, or a name and what belongs to it. Readable for people, in a fixed
 * order, and read back exactly.
 *
 *     association.usage_tres   cpu=355.5,mem=1e+22     amounts by TRES, in order of the table; those of 0 are left out
 *     task.tres                cpu=4,mem=8192
 *     job.partitions           fast,batch              names in the order that was asked for
 *     job.requests             license=2,bigio=true
 *
 * Names have no ',', and no '=' where one is looked for (engine's apply_check_name, policy/tres.h). Reading gives 0, or -1 with
 * ERR_INPUT naming the item. Arrays that are read are in memory of mem_resize, text in that of arena. */
#ifndef FAIRLEAD_STORE_LIST_COLUMNS_H
#define FAIRLEAD_STORE_LIST_COLUMNS_H

#include "base/text.h"
#include "engine/state.h"

/* Cuts the first item off *rest, and that at its first '=': the value's text is NULL where there is none. False: nothing
 * is left. */
bool list_column_next(struct str *rest, struct str *out_name, struct str *out_value);

/* Amounts by index of t: usage has t->count entries, or is NULL. Reading gives TRES_MAX of them. */
void list_column_usage_format(const struct tres_table *t, const double *usage, struct buf *out);
int list_column_usage_parse(const struct tres_table *t, struct str text, double **out_usage, struct err *e);

/* The same of a list. */
void list_column_amounts_format(const struct tres_table *t, const struct tres_list *list, struct buf *out);
int list_column_amounts_parse(const struct tres_table *t, struct str text, struct tres_list *out_list, struct err *e);

/* A job's partitions and requests: by index in the state's tables when written, by id when read, as state_restore_job
 * wants them. */
void list_column_partitions_format(const struct state *s, const struct job *j, struct buf *out);
int list_column_partitions_parse(const struct state *s, struct str text, struct arena *arena, struct job *io_job,
                                 struct err *e);
void list_column_requests_format(const struct state *s, const struct job *j, struct buf *out);
int list_column_requests_parse(const struct state *s, struct str text, struct arena *arena, struct job *io_job,
                               struct err *e);

/* The id of an object that was restored, by its name. */
int list_column_object_id(const struct state *s, enum object_kind kind, struct str name, struct arena *arena,
                          uint32_t *out_id, struct err *e);

#endif
