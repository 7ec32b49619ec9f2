/* fairlead share: who has which share, what was used of it, and who comes first. */
#include "cli/command.h"
#include "cli/share_file.h"
#include "cli/share_instance.h"

struct share_values {
    struct listing_values listing;
    const char *file, *account, *user;
    int ties;
};

static const struct option_row share_options[] = {
    {"account", 'A', "NAME", TEXT_IN(struct share_values, account), "only this account and its users"},
    {"user", 'u', "NAME", TEXT_IN(struct share_values, user), "only this user"},
    {"file", 'f', "FILE", TEXT_IN(struct share_values, file),
     "the tree in FILE, without any service; - is standard input"},
    {"ties", 0, "RULE", CHOICE_IN(struct share_values, ties, "merge|slurm"),
     "with -f, what equal levels mean: merge (as published; the default) or slurm (as Slurm 22.05 ranks)"},
    LISTING_OPTIONS(struct share_values, listing),
    {0},
};

static const struct command_example share_examples[] = {
    {"fairlead share", "the instance's own tree, now"},
    {"sshare -a -P | fairlead share -f -", "the ranks of a Slurm cluster as the published algorithm has them"},
    {"fairlead share -f tree.tsv --ties slurm -P", "a tree of one's own, ranked as Slurm would, for a program"},
    {0},
};

static int share_run(struct call *call, struct err *e)
{
    const struct share_values *v = call->values;
    if (v->listing.is_json && v->listing.is_parsable) {
        return err_set(e, ERR_USAGE, "--json and --parsable: one of them is wanted");
    }
    if (v->file == NULL) {
        if (options_given(share_options, &call->parsed, "ties"))
            return err_set(e, ERR_USAGE,
                           "--ties goes with -f; the instance's own rule is a setting: fairlead set ties=slurm");
        return share_instance_run(call, v->account, v->user, &v->listing, e);
    }
    if (v->account || v->user) return err_set(e, ERR_USAGE, "--account and --user do not go with -f");
    return share_file_run(call, v->file, v->ties == 0 ? TIES_MERGE : TIES_SLURM, &v->listing, e);
}

const struct command cmd_share = {
    .name = "share",
    .group = GROUP_SHARES,
    .summary = "show shares, usage and fair-share factors",
    .usage = "[OPTION...]",
    .text =
        "One row for each association: its shares, their part of its siblings' (NormShares), its usage, that as a part of "
        "everything (NormUsage) and of its parent's (EffectvUsage), the fair-share factor (FairShare, users only; 1 comes "
        "first) and the level fair-share it was ranked by (LevelFS: shares over usage among siblings; above 1 is less "
        "used than promised).\n"
        "\n"
        "With -f the tree comes from a file in one of two forms, told apart by the header. The first is what 'sshare -a -P' "
        "prints, with or without -l; the indentation of accounts is the tree, and usage is the total of everything below. "
        "The second is tab-separated; usage is a line's own, and may be left empty:\n"
        "\n"
        "  parent  account  user   shares  usage\n"
        "  root    physics         50\n"
        "          physics  alice  1       200000\n"
        "          physics  bob    parent  4500\n"
        "\n"
        "Rows come out in the order they went in.",
    .options = share_options,
    .values_size = sizeof(struct share_values),
    .examples = share_examples,
    .run = share_run,
};
