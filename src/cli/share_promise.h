/* What part of the whole was promised to users and accounts, from the rows of a listing of shares (docs/formulas.md
 * 1.1): shares compete under the nearest ancestor that has shares of its own, and a part is the product of the parts on
 * the way. */
#ifndef FAIRLEAD_CLI_SHARE_PROMISE_H
#define FAIRLEAD_CLI_SHARE_PROMISE_H

#include "base/array.h"
#include "fields/share_fields.h"

/* A row of the tree, depth first. */
struct promise_row {
    uint32_t parent;     /* index of the fair-share parent; NONE: the root */
    double shares;       /* NAN: `parent` */
    double level_shares; /* the sum of those that compete below it */
    double promised;
    const char *account, *user; /* user NULL: the account's own row */
};

struct share_promise {
    ARRAY(struct promise_row) rows;
    ARRAY(uint32_t) path; /* the rows from the root down to the last one */
    struct arena *arena;  /* of the names */
};

void share_promise_add(struct share_promise *p, const struct field_value *row);

/* After the last row. */
void share_promise_finish(struct share_promise *p);
void share_promise_release(struct share_promise *p);

/* 0 to 1; 0 for a name that is not there. A user's are those of all accounts together. */
double share_promise_of_user(const struct share_promise *p, const char *user);
double share_promise_of_account(const struct share_promise *p, const char *account);

#endif
