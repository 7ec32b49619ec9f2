/* Limits of associations as rows: reading a change, checking it against the tree, keeping it; and which QOS an
 * association's jobs may have. */
#ifndef FAIRLEAD_ENGINE_ASSOC_LIMITS_H
#define FAIRLEAD_ENGINE_ASSOC_LIMITS_H

#include "engine/apply.h"

/* Changes one of the limits, by enum assoc_limit, as a pair says; texts in memory of arena. parent: of the association,
 * whose list of QOS it inherits, or NONE. ERR_INPUT, which names the limit: one that does not exist, a value that is
 * not accepted. ERR_NOT_FOUND: no such QOS. */
int assoc_limits_change(const struct state *s, const struct event_pair *pair, uint32_t parent, struct arena *arena,
                        struct field_value *limits, struct err *e);

/* Reads the pairs of an event, on top of the limits of an association (NULL: none are set). out_limits: by enum
 * assoc_limit, in memory of the cycle. The errors are those of assoc_limits_change. */
int assoc_limits_read(struct apply_context *c, const struct field_value *before, uint32_t parent,
                      const struct event_pair *pairs, uint32_t count, struct field_value **out_limits);

/* Checks that each DefaultQOS at or below the association stays allowed with these limits and this parent. ERR_INPUT,
 * ERR_CONFLICT. O(associations) for an account. */
int assoc_limits_check(struct apply_context *c, uint32_t assoc, uint32_t parent, struct field_value *limits);

/* The same for an association to be added. user NULL: an account. */
int assoc_limits_check_new(struct apply_context *c, const char *account, const char *user, uint32_t parent,
                           const struct field_value *limits);

/* Sets the limits of an association, and notes the change if there is one. */
void assoc_limits_set(struct apply_context *c, uint32_t assoc, const struct field_value *limits);

/* The limits of an association by enum assoc_limit. */
const struct field_value *assoc_limits_of(const struct assoc *a);

/* Whether the association's jobs may have a QOS: if the nearest list upward has it, or there is no list. */
bool assoc_limits_allow_qos(const struct state *s, uint32_t assoc, const char *qos);

/* Whether QOS are enforced (ENFORCE_QOS) and jobs of the association may not have this one, an index of
 * objects[OBJECT_QOS]. Jobs that wait with it when it is taken away stay, with the reason InvalidQOS. */
bool assoc_limits_refuse_qos(const struct state *s, uint32_t assoc, uint32_t qos);

/* The same for a job: whether it may have its QOS in none of its partitions. */
bool assoc_limits_refuse_job(const struct state *s, const struct job *j);

/* Adds "'long' is not allowed to user 'ann' in account 'a1'; allowed are normal,short" of a QOS that is refused. */
void assoc_limits_refusal(const struct state *s, uint32_t assoc, uint32_t qos, struct buf *out);

/* The list that decides it; empty: all QOS. */
const char *assoc_limits_qos_list(const struct state *s, uint32_t assoc);

/* The QOS of jobs that name none: the nearest default upward, else DEFAULT_QOS. An index of objects[OBJECT_QOS]. */
uint32_t assoc_limits_default_qos(const struct state *s, uint32_t assoc);

/* An association whose list or default names the QOS, or NONE. O(associations). */
uint32_t assoc_limits_find_qos(const struct state *s, const char *qos);

#endif
