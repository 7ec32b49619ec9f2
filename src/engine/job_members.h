/* Maps the fields of jobs (fields/job_fields.h) with home JOB or TASK to the members of struct job and struct task. The
 * store writes and loads rows with it, submissions and updates set fields with it, and the hash of the state reads them
 * with it. */
#ifndef FAIRLEAD_ENGINE_JOB_MEMBERS_H
#define FAIRLEAD_ENGINE_JOB_MEMBERS_H

#include "engine/state.h"
#include "fields/job_fields.h"

/* The value of a field with home JOB. Objects are names: "fast,batch", "license=2,bigio=true"; sets of tasks are
 * "0-3,7". Texts are the row's own or in memory of arena. O(length of the text). */
struct field_value job_member(const struct state *s, const struct job *j, enum job_field f, struct arena *arena);

/* Sets a field with home JOB in a row that is being built; row->text is allocated. An absent value, or the field's
 * special word, sets the member to its value for "none". Names are looked up among the objects that are not deleted.
 * Texts are borrowed, lists are in memory of arena, sets in memory from mem_resize. An association id is stored as it
 * is (state_restore_job). ERR_NOT_FOUND, ERR_INPUT: the message names the value. */
int job_member_set(const struct state *s, struct job *row, enum job_field f, const struct field_value *value,
                   struct arena *arena, struct err *e);

/* The same for a field with home TASK. */
struct field_value task_member(const struct state *s, const struct task *k, enum job_field f, struct arena *arena);
int task_member_set(const struct state *s, struct task *row, enum job_field f, const struct field_value *value,
                    struct err *e);

/* Frees the sets of a row that is being built. */
void job_members_release(struct job *row);

#endif
