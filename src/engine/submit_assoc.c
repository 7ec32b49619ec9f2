#include "engine/submit_assoc.h"

#include <string.h>

#include "base/ensure.h"
#include "engine/handlers.h"

enum { ROOT = 0 };

static int fail_no_association(struct apply_context *c, const char *account, const char *user, uint32_t partition)
{
    const char *name = c->s->objects[OBJECT_PARTITION].items[partition].object.name;
    return assoc_fail_not_in(c, user, account, state_user_is_in_account(c->s, user, account) ? name : NULL);
}

/* Whether the user is in the account for each of the job's partitions. out_assoc: the association of the first one. */
static int find_for_job(struct apply_context *c, const char *account, const char *user, const struct job *row,
                        uint32_t *out_assoc)
{
    for (uint32_t i = row->partition_count; i-- > 0;) {
        *out_assoc = state_find_assoc_in(c->s, account, user, row->partitions[i]);
        if (*out_assoc == NONE) return fail_no_association(c, account, user, row->partitions[i]);
    }
    return 0;
}

int submit_assoc_find_named(struct apply_context *c, const char *account, const char *user, const struct job *row,
                            uint32_t *out_assoc)
{
    if (state_find_assoc(c->s, account, NULL) == NONE) return err_not_found(c->e, "account", str(account));
    return find_for_job(c, account, user, row, out_assoc);
}

/* Without ENFORCE_ASSOCIATIONS the order of the partitions does not matter: an account counts in all or in none. */
static bool is_in_for_all(const struct state *s, const char *account, const char *user, const struct job *row)
{
    uint32_t i = 0;
    while (i < row->partition_count && state_find_assoc_in(s, account, user, row->partitions[i]) != NONE) i++;
    return i == row->partition_count;
}

/* The account of a submission; NULL: the user is in none, and is added to the default account. own: the user's default
 * association. */
static const char *find_account(const struct state *s, const char *user, const char *account, uint32_t own,
                                const struct job *row)
{
    bool is_enforced = (s->policy.enforce & ENFORCE_ASSOCIATIONS) != 0;
    const char *default_account = own != NONE ? s->assocs.items[own].account : NULL;
    if (account == NULL) return default_account;
    if (is_enforced) return own == NONE && strcmp(account, DEFAULT_ACCOUNT) == 0 ? NULL : account;
    return is_in_for_all(s, account, user, row) ? account : default_account;
}

int submit_assoc_find(struct apply_context *c, const struct actor *actor, const char *account, const struct job *row,
                      uint32_t *out_assoc, bool *out_is_new_user)
{
    const struct state *s = c->s;
    ensure(actor->user != NULL);
    account = find_account(s, actor->user, account, state_default_assoc(s, actor->user), row);
    *out_is_new_user = account == NULL;
    if (account != NULL) return submit_assoc_find_named(c, account, actor->user, row, out_assoc);
    if (assoc_check_new_user(c, actor->user) != 0) return -1;
    uint32_t parent = state_find_assoc(s, DEFAULT_ACCOUNT, NULL);
    *out_assoc = parent != NONE ? parent : ROOT;
    return 0;
}

int submit_assoc_update(struct apply_context *c, struct job *row)
{
    const struct assoc *a = &c->s->assocs.items[row->assoc];
    if (!a->has_partitions) return 0;
    return find_for_job(c, a->account, a->user, row, &row->assoc);
}
