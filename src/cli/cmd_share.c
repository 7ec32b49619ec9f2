/* fairlead share: shares, usage and fair-share factors of all associations, of an instance or of a tree in a file. */
#include "cli/foreign_syntax.h"
#include "cli/instance_listing.h"
#include "cli/share_file.h"
#include "fields/share_fields.h"

struct share_command_values {
    struct listing_values listing;
    const char *file, *account, *user;
    bool has_tres, has_partition;
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
     .help = "also show usage by TRES (GrpTRESRaw): TRES times seconds, decayed like usage"},
    {.name = "partition",
     .letter = 'm',
     .value = FLAG_IN(struct share_command_values, has_partition),
     .help = "with -P: also show for which partition an association is (Partition); tables show it where there is one"},
    {.name = "file",
     .letter = 'f',
     .argument = "FILE",
     .value = TEXT_IN(struct share_command_values, file),
     .help = "read the tree from FILE instead of an instance; - is standard input"},
    {.name = "algorithm",
     .argument = "NAME",
     .value = CHOICE_IN(struct share_command_values, algorithm, "fair-tree|classic|depth-oblivious"),
     .help = "with -f: fair-tree (default), classic (Slurm's NO_FAIR_TREE) or depth-oblivious (DEPTH_OBLIVIOUS)"},
    {.name = "dampening",
     .argument = "N",
     .value = U64_IN(struct share_command_values, dampening, 1, DAMPENING_MAX),
     .help =
         "with -f, classic and depth-oblivious: how much overuse is forgiven (FairShareDampeningFactor; 1 by default)"},
    {.name = "ties",
     .argument = "RULE",
     .value = CHOICE_IN(struct share_command_values, ties, "merge|slurm"),
     .help =
         "with -f and fair-tree: equal levels: merge (as Fair Tree is published; default) or slurm (as Slurm 22.05 ranks)"},
    LISTING_OPTIONS(struct share_command_values, listing),
    {0},
};

static const struct command_example share_examples[] = {
    {.line = "fairlead share", .meaning = "the tree of the instance"},
    {.line = "fairlead share alice", .meaning = "one user and the accounts above"},
    {.line = "fairlead share --tres", .meaning = "also the usage of CPUs, memory and other TRES"},
    {.line = "sshare -a -P | fairlead share -f -",
     .meaning = "the tree of a Slurm cluster, ranked by Fair Tree as published"},
    {.line = "fairlead share -f tree.tsv --ties slurm -P",
     .meaning = "a tree in a file, ranked as by Slurm, for a program"},
    {.line = "fairlead share -f tree.tsv --algorithm classic --dampening 3",
     .meaning = "the same tree by Slurm's NO_FAIR_TREE formula, with overuse dampened"},
    {.line = "fairlead share -f cluster.json", .meaning = "the tree of a scenario"},
    {0},
};

/* The algorithm ignores the one of ties and dampening that it does not use, as settings are ignored. */
static struct share_options file_options(const struct share_command_values *v)
{
    return (struct share_options){
        .algorithm = (enum share_algorithm)v->algorithm,
        .ties = v->ties == 0 ? TIES_MERGE : TIES_SLURM,
        .dampening = v->dampening == 0 ? 1 : (double)v->dampening,
    };
}

/* An instance has settings instead of these options. */
static int refuse_file_options(const struct parsed *parsed, struct err *e)
{
    static const struct {
        const char *option, *setting;
    } rows[] = {
        {.option = "ties", .setting = "ties=slurm"},
        {.option = "algorithm", .setting = "PriorityFlags=NO_FAIR_TREE"},
        {.option = "dampening", .setting = "FairShareDampeningFactor=N"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!options_given(parsed, rows[i].option)) continue;
        return err_set(e, ERR_USAGE, "--%s requires -f; to change the instance's setting: fairlead set %s",
                       rows[i].option, rows[i].setting);
    }
    return 0;
}

static const struct column_table *columns_of(const struct share_command_values *v)
{
    return share_fields_columns(v->has_partition || listing_is_table(&v->listing), v->has_tres);
}

static int run_instance(struct call *call, const char *user, struct err *e)
{
    const struct share_command_values *v = call->values;
    struct buf target = {0};
    buf_add_text(&target, API_SHARES);
    if (v->account) client_add_query(&target, "account", v->account);
    if (user) client_add_query(&target, "user", user);
    if (v->has_tres) client_add_query(&target, "tres", "true");
    if (v->has_partition) client_add_query(&target, "partition", "true");
    const struct instance_listing listing = {
        .columns = columns_of(v),
        .target = instance_target(call, &target),
        .has_lines = true,
        .has_psv = true,
    };
    return instance_listing_write(call, &listing, &v->listing, NULL, e);
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
    if (v->account || user) return err_set(e, ERR_USAGE, "--account and a user are not accepted with -f");
    if (v->has_tres) return err_set(e, ERR_USAGE, "--tres is not accepted with -f: a file has no usage by TRES");
    struct share_options options = file_options(v);
    return share_file_run(call, v->file, &options, columns_of(v), &v->listing, e);
}

const struct command cmd_share = {
    .name = "share",
    .group = GROUP_SHARES,
    .summary = "show shares, usage and fair-share factors",
    .usage = "[OPTION...] [USER]",
    .description =
        "Each row is an association, which is an account, or a user in an account. The columns are those of sshare:\n"
        "\n"
        "  RawShares     its shares\n"
        "  NormShares    its shares divided by the sum of its siblings' shares\n"
        "  RawUsage      its decayed usage, in billing seconds\n"
        "  NormUsage     its usage divided by the usage of the whole tree\n"
        "  EffectvUsage  its usage divided by the usage of the account above\n"
        "  FairShare     the fair-share factor of a user; the user with 1 comes first\n"
        "  LevelFS       NormShares divided by EffectvUsage, by which Fair Tree ranks\n"
        "                siblings; above 1, it used less than its part\n"
        "\n"
        "The algorithms classic and depth-oblivious compute FairShare as 2^-(usage/shares), for accounts too. NormShares is "
        "then the part of the whole tree, EffectvUsage the usage that the algorithm counts, and LevelFS is empty.\n"
        "\n"
        "With -f the tree comes from a file in one of three formats. The first is the output of 'sshare -a -P', with or "
        "without -l: the indentation of accounts is the tree, and usage includes everything below. The second is a scenario "
        "with a 'tree', a JSON document (docs/scenarios.md); its settings choose the algorithm unless an option does. The "
        "third is tab-separated; usage excludes everything below and may be empty:\n"
        "\n"
        "  parent  account  user   shares  usage\n"
        "  root    physics         50\n"
        "          physics  alice  1       200000\n"
        "          physics  bob    parent  4500\n"
        "\n"
        "The order of the rows is that of the file.",
    .operands_max = 1,
    .options = share_options,
    .values_size = sizeof(struct share_command_values),
    .listed = &share_fields_all_columns,
    .examples = share_examples,
    .see_also = "account-show user-show prio set",
    .explain = foreign_syntax_share_option,
    .run = share_run,
};
