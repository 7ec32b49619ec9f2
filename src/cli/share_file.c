/* Converts the text of a file to the rows of a listing.
 *
 *     text -> formats/sshare or formats/share_tree_tsv -> rows (the text's order)
 *                                                      -> struct tree and usage (parents first) -> fair_share -> rows
 *
 * The two text formats differ in usage: in sshare's it includes everything below, in the TSV it excludes it and is
 * summed. The rows keep the order of the text, whatever the order of the tree's nodes. */
#include "cli/share_file.h"

#include <math.h>

#include "base/ensure.h"
#include "cli/read_file.h"
#include "cli/share_row.h"
#include "cli/share_scenario.h"
#include "formats/share_tree_tsv.h"
#include "formats/sshare.h"

_Static_assert(SHARES_FIELD_MAX == SHARES_MAX, "formats may not see the policy's limit");
_Static_assert((int)SHARE_DEPTH_MAX == (int)TREE_DEPTH_MAX, "formats may not see the policy's limit");

/* A tree read from either format. */
struct share_input {
    struct share_row *rows; /* in the order of the text */
    uint32_t count;
    struct tree tree;
    double *usage;   /* by node; count + 1 of them, the root included */
    bool has_totals; /* usage includes everything below */
};

static void init_input(struct share_input *in, uint32_t count, struct arena *arena)
{
    *in = (struct share_input){.count = count};
    in->rows = arena_alloc(arena, count * sizeof *in->rows);
    in->usage = arena_alloc(arena, (count + 1) * sizeof *in->usage);
    tree_init(&in->tree);
}

/* Adds a node for row i to the tree. parent: a row that already has a node, or NONE for the root. */
static void add_node(struct share_input *in, uint32_t i, uint32_t parent, struct raw_shares shares, double usage)
{
    struct share_row *row = &in->rows[i];
    uint32_t above = parent != NONE ? in->rows[parent].node : 0;
    row->node = tree_add(&in->tree, above, row->user != NULL, shares.is_parent ? SHARES_PARENT : shares.number);
    in->usage[row->node] = usage;
}

static struct field_value shares_as_value(struct raw_shares shares)
{
    if (shares.is_missing) return field_absent();
    return share_values_shares(shares.is_parent ? SHARES_PARENT : shares.number);
}

/* NULL if it is empty. */
static const char *copy_name(struct str name, struct arena *arena)
{
    return name.length > 0 ? arena_copy(arena, name) : NULL;
}

/* The account above an account; for a user, the account above the user's account. */
static const char *parent_account(const struct share_input *in, const struct share_row *row, uint32_t parent)
{
    if (parent == NONE) return row->user == NULL ? "root" : NULL;
    return row->user == NULL ? in->rows[parent].account : in->rows[parent].parent_account;
}

static int take_sshare(const struct source *s, struct arena *arena, struct share_input *in, struct err *e)
{
    struct sshare read;
    if (sshare_parse(s, arena, &read, e) != 0) return -1;
    init_input(in, read.count, arena);
    in->has_totals = true;
    double top_usage = 0;
    for (uint32_t i = 0; i < read.count; i++) {
        const struct sshare_row *from = &read.rows[i];
        struct share_row *row = &in->rows[i];
        *row = (struct share_row){
            .account = arena_copy(arena, from->account),
            .user = copy_name(from->user, arena),
            .partition = copy_name(from->partition, arena),
            .depth = from->indent,
            .shares = shares_as_value(from->shares),
        };
        if (i == read.root) {
            in->usage[0] = from->usage;
            continue;
        }
        add_node(in, i, from->parent, from->shares, from->usage);
        row->parent_account = parent_account(in, row, from->parent);
        if (from->parent == NONE) top_usage += from->usage;
    }
    if (read.root == NONE) in->usage[0] = top_usage;
    return 0;
}

static int take_tsv(const struct source *s, struct arena *arena, struct share_input *in, struct err *e)
{
    struct share_tree_tsv read;
    if (share_tree_tsv_parse(s, arena, &read, e) != 0) return -1;
    init_input(in, read.count, arena);
    for (uint32_t k = 0; k < read.count; k++) {
        uint32_t i = read.order[k];
        const struct share_tree_tsv_row *from = &read.rows[i];
        struct share_row *row = &in->rows[i];
        *row = (struct share_row){
            .account = arena_copy(arena, from->account),
            .user = copy_name(from->user, arena),
            .depth = from->depth,
            .shares = shares_as_value(from->shares),
        };
        row->parent_account = parent_account(in, row, from->parent);
        add_node(in, i, from->parent, from->shares, from->usage);
    }
    return 0;
}

/* If the sum of all usage is finite, so is every partial sum, because usage is not negative. */
static int check_sums(const struct source *s, const struct share_input *in, struct err *e)
{
    double sum = 0;
    for (uint32_t i = 0; i <= in->count && !in->has_totals; i++) sum += in->usage[i];
    if (isfinite(sum) && isfinite(in->usage[0])) return 0;
    return err_set(e, ERR_INPUT, "%s: the sum of usage is too large for a double", s->name);
}

static int take_text(const struct source *s, struct arena *arena, struct share_input *out_input, struct err *e)
{
    struct str header = {0}, rest;
    int status;
    if (source_check(s, e) != 0) return -1;
    if (source_header(s, &header, &rest, e) != 0) return -1;
    if (sshare_is_header(header)) {
        status = take_sshare(s, arena, out_input, e);
    } else if (share_tree_tsv_is_header(header)) {
        status = take_tsv(s, arena, out_input, e);
    } else {
        return source_error(
            s, header.text, e,
            err_value(e, "header", header,
                      "the header of 'sshare -a -P' or the tab-separated columns parent, account, user, "
                      "shares and usage"));
    }
    return status == 0 ? check_sums(s, out_input, e) : status;
}

static int write_rows(const struct share_input *in, const struct share_table *table, const struct column_table *columns,
                      const struct listing_values *form, struct output *out, struct err *e)
{
    struct listing listing;
    struct share_values values;
    int status = listing_begin(&listing, columns, form, out, e);
    for (uint32_t i = 0; status == 0 && i < in->count; i++) {
        share_row_values(&in->rows[i], table, &values);
        listing_add(&listing, values.value);
    }
    if (status == 0) listing_end(&listing);
    listing_release(&listing);
    return status;
}

static int run_tree(struct call *call, const struct source *source, const struct share_options *options,
                    const struct column_table *columns, const struct listing_values *form, struct err *e)
{
    struct share_input in = {0};
    struct share_table table;
    int status = take_text(source, call->arena, &in, e);
    if (status == 0) {
        call->error_has_position = false;
        tree_finish(&in.tree);
        fair_share_table(&in.tree, in.has_totals ? NULL : in.usage, in.has_totals ? in.usage : NULL, options,
                         call->arena, &table);
        status = write_rows(&in, &table, columns, form, call->out, e);
    }
    if (in.tree.count > 0) tree_release(&in.tree);
    return status;
}

int share_file_run(struct call *call, const char *path, const struct share_options *options,
                   const struct column_table *columns, const struct listing_values *form, struct err *e)
{
    struct buf text = {0};
    if (options->algorithm == ALGORITHM_FAIR_TREE && options->ties == TIES_SLURM && !fair_tree_slurm_available())
        return err_value_reason(e, "--ties", str("slurm"),
                                "requires the 80-bit arithmetic of x86-64, which this machine does not have");
    call->error_has_position = true;
    int status = read_file(path, &text, e);
    const struct source source = {path, {text.text, text.length}};
    if (status == 0)
        status = share_scenario_is_text(source.text)
                     ? share_scenario_run(call, path, source.text, options, columns, form, e)
                     : run_tree(call, &source, options, columns, form, e);
    buf_release(&text);
    return status;
}
