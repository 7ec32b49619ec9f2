/* A share tree as tab-separated text, written by hand or by a script.
 *
 *     # shares and usage in billing-seconds
 *     parent  account  user   shares  usage
 *     root    physics         50
 *             physics  alice  1       200000
 *             physics  bob    parent  4500.5
 *
 * A line without a user is an account and names its parent. A line with a user names the user's account; its parent is
 * empty or that of the account. Usage is the line's own, without the lines below it; an empty field is 0. The account
 * root has no line. Lines and columns may have any order: an account may follow its children. Blank lines and lines
 * that begin with `#` are skipped. Lines end in LF or CR LF.
 *
 * Invariant of the result: from every row, parents lead to the root in at most SHARE_DEPTH_MAX steps. */
#ifndef FAIRLEAD_FORMATS_SHARE_TREE_TSV_H
#define FAIRLEAD_FORMATS_SHARE_TREE_TSV_H

#include "base/arena.h"
#include "base/array.h"
#include "formats/share_columns.h"

/* A line. Its strings point into the source's text. */
struct share_tree_tsv_row {
    struct str parent_name, account, user; /* user is empty for an account */
    uint32_t parent; /* for an account the row of its parent, for a user the row of its account; NONE: the root */
    uint32_t depth;  /* below the root, which is 0 */
    struct raw_shares shares;
    double usage; /* own */
};

struct share_tree_tsv {
    struct share_tree_tsv_row *rows; /* in the arena, in the order of the text */
    uint32_t count;
    uint32_t *order; /* the rows depth first, parents before children, siblings in the order of the text */
};

/* Whether a header line is of this format. */
bool share_tree_tsv_is_header(struct str line);

/* Reads the whole text. ERR_INPUT with NAME:LINE:COLUMN. O(n), and up to SHARE_DEPTH_MAX steps for each row. */
int share_tree_tsv_parse(const struct source *s, struct arena *arena, struct share_tree_tsv *out, struct err *e);

#endif
