/* What `sshare -a -P` prints (Slurm), read as a tree of associations.
 *
 *     Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare
 *     root|||0.000000|700000|1.000000|
 *      a||40|0.400000|450000|0.642857|
 *       a|user1|1|1.000000|200000|0.285714|0.600000
 *
 * Used are Account, User, RawShares, RawUsage and, where it is, Partition; in any order, among any others (-l, -o), with a
 * separator at the end (-p) or without. Lines end in LF or CR LF; blank lines are skipped, and comments (#) above the header.
 *
 * The indentation of Account is the tree: an account is one deeper than its parent, a user's row one deeper than the row
 * of its account, which is the nearest of that name above. Where rows were filtered (-A), an account at the left edge hangs
 * under the root, whether that has a row or not. An account's RawUsage is the total of everything below it.
 * A user's row that comes again is a partition association.
 *
 * Source: Slurm 22.05.8's output as recorded in tests/conformance/slurm; docs/formulas.md 2.3. */
#ifndef FAIRLEAD_FORMATS_SSHARE_H
#define FAIRLEAD_FORMATS_SSHARE_H

#include "base/arena.h"
#include "base/array.h"
#include "formats/share_fields.h"

/* A line. Views point into the source's text. */
struct sshare_row {
    struct str account, user, partition; /* user and partition may be empty; no indentation */
    uint32_t parent;                     /* the row of the account above, always an earlier one; NONE: the root */
    uint32_t depth;                      /* below the root, which is 0; SHARE_DEPTH_MAX at most */
    uint32_t indent;                     /* blanks before the account's name: depth, or less where rows were filtered */
    struct share_field shares;
    double usage; /* total */
};

struct sshare {
    struct sshare_row *rows; /* in arena; in the text's order */
    uint32_t count;
    uint32_t root;      /* the root's row; NONE: it has none */
    bool has_partition; /* there is such a column */
};

/* Whether a header line is of this form (else: maybe the other one). */
bool sshare_is_header(struct str line);

/* Reads all of it. ERR_INPUT with NAME:LINE:COLUMN. O(n). */
int sshare_parse(const struct source *s, struct arena *arena, struct sshare *out, struct err *e);

#endif
