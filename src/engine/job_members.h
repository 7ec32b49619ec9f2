/* Where struct job and struct task have the fields that are kept (fields/job_fields.h: home JOB or TASK). The store writes and
 * loads rows through it, submissions and updates are put into rows through it, and the state's hash goes over it. */
#ifndef FAIRLEAD_ENGINE_JOB_MEMBERS_H
#define FAIRLEAD_ENGINE_JOB_MEMBERS_H

#include "engine/state.h"
#include "fields/job_fields.h"

/* The value of a field with home JOB. Objects are names: "fast,batch", "license=2,bigio=true"; sets of tasks are "0-3,7".
 * Text that is not the row's own is in memory of arena. O(length of the text). */
struct field_value job_member(const struct state *s, const struct job *j, enum job_field f, struct arena *arena);

/* Sets it in a row that is being put together, whose text is there; what is no value, or the field's special word, is none.
 * Names are looked up among the objects that stand. Text is borrowed, lists are in memory of arena, sets in that of
 * mem_resize. The association's id stays an id (state_restore_job). ERR_NOT_FOUND, ERR_INPUT: names the value. */
int job_member_set(const struct state *s, struct job *row, enum job_field f, const struct field_value *value,
                   struct arena *arena, struct err *e);

/* The same of a field with home TASK. */
struct field_value task_member(const struct state *s, const struct task *k, enum job_field f, struct arena *arena);
int task_member_set(const struct state *s, struct task *row, enum job_field f, const struct field_value *value,
                    struct err *e);

/* What a row that is being put together owns: its sets. */
void job_members_release(struct job *row);

#endif
