/* fairlead share: who has which share, what was used of it, and who comes first. */
#include "cli/instance_listing.h"
#include "cli/share_file.h"
#include "fields/share_fields.h"

struct share_command_values {
    struct listing_values listing;
    const char *file, *account, *user;
    bool has_tres;
    int algorithm, ties;
    uint64_t dampening;
};

enum { DAMPENING_MAX = 65535 };

static const struct option_row share_options[] = {
    {.name = "account",
     .letter = 'A',
     .argument = "NAME",
     .value = TEXT_IN(struct share_command_values, account),
     .help = "only this account and its users"},
    {.name = "user",
     .letter = 'u',
     .argument = "NAME",
     .value = TEXT_IN(struct share_command_values, user),
     .help = "only this user"},
    {.name = "tres",
     .letter = 't',
     .value = FLAG_IN(struct share_command_values, has_tres),
     .help = "also usage by TRES (GrpTRESRaw): TRES x seconds, as usage fading"},
    {.name = "file",
     .letter = 'f',
     .argument = "FILE",
     .value = TEXT_IN(struct share_command_values, file),
     .help = "the tree in FILE, without any service; - is standard input"},
    {.name = "algorithm",
     .argument = "NAME",
     .value = CHOICE_IN(struct share_command_values, algorithm, "fair-tree|classic|depth-oblivious"),
     .help =
         "with -f: fair-tree (the default), classic (as Slurm's NO_FAIR_TREE) or depth-oblivious (as DEPTH_OBLIVIOUS)"},
    {.name = "dampening",
     .argument = "N",
     .value = U64_IN(struct share_command_values, dampening, 1, DAMPENING_MAX),
     .help = "with -f, classic and depth-oblivious: how mild overuse is (FairShareDampeningFactor; 1 is the default)"},
    {.name = "ties",
     .argument = "RULE",
     .value = CHOICE_IN(struct share_command_values, ties, "merge|slurm"),
     .help =
         "with -f and fair-tree: what equal levels mean: merge (as published; the default) or slurm (as Slurm 22.05 ranks)"},
    LISTING_OPTIONS(struct share_command_values, listing),
    {0},
};

static const struct command_example share_examples[] = {
    {"fairlead share", "the instance's own tree, now"},
    {"fairlead share alice", "what one user is due, and the accounts above"},
    {"fairlead share --tres", "and what everybody used of CPUs, memory and the rest"},
    {"sshare -a -P | fairlead share -f -", "the ranks of a Slurm cluster as the published algorithm has them"},
    {"fairlead share -f tree.tsv --ties slurm -P", "a tree of one's own, ranked as Slurm would, for a program"},
    {"fairlead share -f tree.tsv --algorithm classic --dampening 3", "the same with NO_FAIR_TREE, and milder"},
    {"fairlead share -f cluster.json", "the tree of a scenario"},
    {0},
};

/* Of ties and dampening, the one that the algorithm has no use for changes nothing, as in a configuration. */
static struct share_options file_options(const struct share_command_values *v)
{
    return (struct share_options){
        .algorithm = (enum share_algorithm)v->algorithm,
        .ties = v->ties == 0 ? TIES_MERGE : TIES_SLURM,
        .dampening = v->dampening == 0 ? 1 : (double)v->dampening,
    };
}

/* The instance's own are settings. */
static int refuse_file_options(const struct parsed *parsed, struct err *e)
{
    static const struct {
        const char *option, *set;
    } settings[] = {
        {"ties", "ties=slurm"},
        {"algorithm", "PriorityFlags=NO_FAIR_TREE"},
        {"dampening", "FairShareDampeningFactor=N"},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (!options_given(parsed, settings[i].option)) continue;
        return err_set(e, ERR_USAGE, "--%s goes with -f; the instance's own is a setting: fairlead set %s",
                       settings[i].option, settings[i].set);
    }
    return 0;
}

static int run_instance(struct call *call, const char *user, struct err *e)
{
    const struct share_command_values *v = call->values;
    struct buf target = {0};
    buf_add_text(&target, API_SHARES);
    if (v->account) client_add_query(&target, "account", v->account);
    if (user) client_add_query(&target, "user", user);
    if (v->has_tres) client_add_query(&target, "tres", "true");
    const struct instance_listing listing = {
        .columns = v->has_tres ? &share_fields_columns_tres : &share_fields_columns,
        .target = instance_target(call, &target),
        .has_lines = true,
        .has_psv = true,
    };
    return instance_listing_run(call, &listing, &v->listing, NULL, e);
}

static int share_run(struct call *call, struct err *e)
{
    const struct share_command_values *v = call->values;
    const char *user = call->parsed.operand_count > 0 ? call->parsed.operands[0] : v->user;
    if (v->user != NULL && user != v->user)
        return err_set(e, ERR_USAGE, "'%s' and --user: only one of them is accepted", user);
    if (v->file == NULL) {
        if (refuse_file_options(&call->parsed, e) != 0) return -1;
        return run_instance(call, user, e);
    }
    if (v->account || user) return err_set(e, ERR_USAGE, "--account and a user do not go with -f");
    if (v->has_tres) return err_set(e, ERR_USAGE, "--tres does not go with -f: a file has no usage by TRES");
    struct share_options options = file_options(v);
    return share_file_run(call, v->file, &options, &v->listing, e);
}

const struct command cmd_share = {
    .name = "share",
    .group = GROUP_SHARES,
    .summary = "show shares, usage and fair-share factors",
    .usage = "[OPTION...] [USER]",
    .text =
        "One row for each association: its shares, their part of its siblings' (NormShares), its usage, that as a part of "
        "everything (NormUsage) and of its parent's (EffectvUsage), the fair-share factor (FairShare, users only; 1 comes "
        "first) and the level fair-share it was ranked by (LevelFS: shares over usage among siblings; above 1 is less "
        "used than promised).\n"
        "\n"
        "The algorithms classic and depth-oblivious do not rank: FairShare is 2^-(usage/shares), accounts have one too, "
        "NormShares is the part of everything, EffectvUsage what the algorithm counts as used, and LevelFS is empty.\n"
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
        "A scenario is taken, too: a JSON document whose 'tree' is shown, by the algorithm that its settings name "
        "(docs/scenarios.md).\n"
        "\n"
        "Rows come out in the order they went in.",
    .operands_max = 1,
    .options = share_options,
    .values_size = sizeof(struct share_command_values),
    .listed = &share_fields_columns_tres,
    .examples = share_examples,
    .run = share_run,
};
