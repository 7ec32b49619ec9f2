/* Parses the output of Slurm's `sshare -a -P` as a tree of associations.
 *
 *     Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare
 *     root|||0.000000|700000|1.000000|
 *      a||40|0.400000|450000|0.642857|
 *       a|user1|1|1.000000|200000|0.285714|0.600000
 *
 * It uses the columns Account, User, RawShares, RawUsage and, if present, Partition, in any order and among any others
 * (-l, -o), with or without a separator at the end of each line (-p). Lines end in LF or CR LF. Blank lines are
 * skipped, and so are comments (#) before the header.
 *
 * The indentation of Account is the tree. An account is indented by one more than its parent. A user's row is indented
 * by one more than the row of the user's account, which is the nearest row of that name above. If rows were filtered
 * (-A), an account without indentation is a child of the root, with or without a row for the root. An account's
 * RawUsage is the total of everything below it. A second row of the same user in the same account is a partition
 * association.
 *
 * Source: the output of Slurm 22.05.8 as recorded in tests/conformance/slurm; docs/formulas.md 2.3. */
#ifndef FAIRLEAD_FORMATS_SSHARE_H
#define FAIRLEAD_FORMATS_SSHARE_H

#include "base/arena.h"
#include "base/array.h"
#include "formats/share_columns.h"

/* A line. Its strings point into the source's text. */
struct sshare_row {
    struct str account, user, partition; /* without indentation; user and partition may be empty */
    uint32_t parent;                     /* the row of the account above, always an earlier one; NONE: the root */
    uint32_t depth;                      /* below the root, which is 0; at most SHARE_DEPTH_MAX */
    uint32_t indent;                     /* blanks before the account's name: depth, or less if rows were filtered */
    struct raw_shares shares;
    double usage; /* total */
};

struct sshare {
    struct sshare_row *rows; /* in the arena, in the order of the text */
    uint32_t count;
    uint32_t root;      /* the root's row, or NONE */
    bool has_partition; /* the column Partition is present */
};

/* Whether a header line is of this format. */
bool sshare_is_header(struct str line);

/* Reads the whole text. ERR_INPUT with NAME:LINE:COLUMN. O(n). */
int sshare_parse(const struct source *s, struct arena *arena, struct sshare *out, struct err *e);

#endif
