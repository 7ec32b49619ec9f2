/* A share tree as tab-separated text, for people who write one by hand or from a script.
 *
 *     # shares and usage in billing-seconds
 *     parent  account  user   shares  usage
 *     root    physics         50
 *             physics  alice  1       200000
 *             physics  bob    parent  4500.5
 *
 * A line without a user is an account and names its parent; one with a user names its account, and no parent (or that
 * account's). Usage is a line's own; nothing is 0. The account root is there without a line. Lines come in any order: an
 * account may stand below its children. `#` and blank lines are skipped; lines end in LF or CR LF; columns in any order.
 *
 * Invariant of the result: from every row, parents lead to the root in at most SHARE_DEPTH_MAX steps. */
#ifndef FAIRLEAD_FORMATS_SHARE_TREE_TSV_H
#define FAIRLEAD_FORMATS_SHARE_TREE_TSV_H

#include "base/arena.h"
#include "base/array.h"
#include "formats/share_fields.h"

/* A line. Views point into the source's text. */
struct share_tree_row {
    struct str parent_name, account, user; /* user empty: an account */
    uint32_t parent; /* an account's: the row of its parent; a user's: the row of its account; NONE: the root */
    uint32_t depth;  /* below the root, which is 0 */
    struct share_field shares;
    double usage; /* own */
};

struct share_tree {
    struct share_tree_row *rows; /* in arena; in the text's order */
    uint32_t count;
    uint32_t *order; /* the rows parents first, depth first, siblings in the text's order */
};

/* Whether a header line is of this form (else: maybe the other one). */
bool share_tree_is_header(struct str line);

/* Reads all of it. ERR_INPUT with NAME:LINE:COLUMN. O(n) and a walk to the root for each account. */
int share_tree_parse(const struct source *s, struct arena *arena, struct share_tree *out, struct err *e);

#endif
