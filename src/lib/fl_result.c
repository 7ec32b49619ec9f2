/* Results as text, and the version. */
#include "fairlead.h"

static const char *const texts[] = {
    [-FL_OK] = "success",
    [-FL_ENOMEM] = "out of memory",
    [-FL_ENULL] = "a pointer that is required is NULL",
    [-FL_ENODE] = "no such node: nodes are numbered from 0 (the root) in the order in which they were added",
    [-FL_EPARENT] = "the parent is a user: only accounts have nodes below them",
    [-FL_EKIND] = "not the kind of node that is required: a user, or FL_ACCOUNT or FL_USER for a new node",
    [-FL_EDEPTH] = "the tree is too deep: a node is at most 64 levels below the root",
    [-FL_EFULL] =
        "too many: a tree has at most 2^30 nodes, an input at most 2^26 jobs and 2^28 members, a list at most 48 TRES",
    [-FL_ESHARES] = "shares are a number from 0 to 2147483646, or FL_PARENT, and the root has none",
    [-FL_EAMOUNT] = "an amount, a rate, a weight or a factor is not a finite number in its range",
    [-FL_ETIME] = "a time is out of range, or before the usage that it is to read, or a span ends before it begins",
    [-FL_EHALFLIFE] = "a half-life is 0 (no decay) to 4 10^18 microseconds",
    [-FL_EOPTION] = "no such algorithm, rule, flag or policy, or options that exclude each other",
    [-FL_ETIES] = "FL_TIES_SLURM requires the 80-bit floating point numbers of x86",
    [-FL_ENOTRANKED] = "not ranked, or nodes or shares have changed since: call fl_tree_rank",
    [-FL_ERESERVED] = "a reserved member is not zero: clear the struct first, or use a newer library",
    [-FL_EINDEX] = "an index is not below its count, and not FL_NONE",
};

const char *fl_result_text(int result)
{
    bool is_known = result <= 0 && result > -(int)(sizeof texts / sizeof *texts);
    return is_known ? texts[-result] : "unknown result";
}

const char *fl_version(void)
{
    return FAIRLEAD_VERSION;
}
