/* The association that a job gets: of the user and the account, for the job's first partition.
 *
 *     account given       the user has to be in it for each of the partitions; without ENFORCE_ASSOCIATIONS the default
 *                         account replaces one that the user is not in for each of them
 *     none given          the user's default account
 *     a new user          is added to DEFAULT_ACCOUNT once the submission is accepted, and counts as that account
 *                         until then
 *
 * Source: docs/formulas.md 1.1. */
#ifndef FAIRLEAD_ENGINE_SUBMIT_ASSOC_H
#define FAIRLEAD_ENGINE_SUBMIT_ASSOC_H

#include "engine/apply.h"

/* The association that a user has in an account for the row's partitions: that of the first of them; the user has to
 * have one for each. ERR_NOT_FOUND: there is no such account, or the user is not in it. */
int submit_assoc_find_named(struct apply_context *c, const char *account, const char *user, const struct job *row,
                            uint32_t *out_assoc);

/* The association of a submission, whose row has its partitions in their order. account NULL: none is given.
 * out_is_new_user: the user has none; out_assoc is that of the account then, or root. ERR_NOT_FOUND, ERR_INPUT,
 * ERR_TOO_LARGE. */
int submit_assoc_find(struct apply_context *c, const struct actor *actor, const char *account, const struct job *row,
                      uint32_t *out_assoc, bool *out_is_new_user);

/* Sets row->assoc to the association of the row's first partition, after its partitions changed. ERR_NOT_FOUND: the
 * user is not in the account for one of them. */
int submit_assoc_update(struct apply_context *c, struct job *row);

#endif
