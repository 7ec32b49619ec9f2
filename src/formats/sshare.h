/* What `sshare -a -P` prints (Slurm), read as a tree of associations.
 *
 *     Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare
 *     root|||0.000000|700000|1.000000|
 *      a||40|0.400000|450000|0.642857|
 *       a|user1|1|1.000000|200000|0.285714|0.600000
 *
 * The reader uses the columns Account, User, RawShares, RawUsage and, if it is there, Partition. They come in any order,
 * among any others (-l, -o), with a separator at the end of each line (-p) or without. Lines end in LF or CR LF. Blank lines
 * are skipped, and so are comments (#) above the header.
 *
 * The indentation of Account is the tree. An account is indented by one more than its parent. A user's row is indented by
 * one more than the row of the user's account, which is the nearest row of that name above. Where rows were filtered (-A),
 * an account at the left edge is a child of the root, whether the root has a row or not. An account's RawUsage is the total
 * of everything below it. A second row of the same user in the same account is a partition association.
 *
 * Source: the output of Slurm 22.05.8 as recorded in tests/conformance/slurm; docs/formulas.md 2.3. */
#ifndef FAIRLEAD_FORMATS_SSHARE_H
#define FAIRLEAD_FORMATS_SSHARE_H

#include "base/arena.h"
#include "base/array.h"
#include "formats/share_columns.h"

/* A line. The views point into the source's text. */
struct sshare_row {
    struct str account, user, partition; /* without indentation; user and partition may be empty */
    uint32_t parent;                     /* the row of the account above, always an earlier one; NONE: the root */
    uint32_t depth;                      /* below the root, which is 0; at most SHARE_DEPTH_MAX */
    uint32_t indent;                     /* blanks before the account's name: depth, or less if rows were filtered */
    struct raw_shares shares;
    double usage; /* total */
};

struct sshare {
    struct sshare_row *rows; /* in arena, in the order of the text */
    uint32_t count;
    uint32_t root;      /* the root's row; NONE if it has none */
    bool has_partition; /* there is such a column */
};

/* Whether a header line is of this format. */
bool sshare_is_header(struct str line);

/* Reads the whole text. ERR_INPUT with NAME:LINE:COLUMN. O(n). */
int sshare_parse(const struct source *s, struct arena *arena, struct sshare *out, struct err *e);

#endif
