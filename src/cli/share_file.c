/* From the text of a file to the rows of a listing.
 *
 *     text -> formats/sshare or formats/share_tree_tsv -> rows (the text's order)
 *                                                      -> struct tree and usage (parents first) -> fair_share -> rows
 *
 * The two forms differ in what they say about usage: sshare's is a total and stands as given; the TSV's is a line's own
 * and is added up. Rows keep the text's order whatever order the tree needs; node says where a row is in the tree. */
#include "cli/share_file.h"

#include <math.h>

#include "base/ensure.h"
#include "cli/read_file.h"
#include "cli/share_print.h"
#include "cli/share_scenario.h"
#include "formats/share_tree_tsv.h"
#include "formats/sshare.h"

_Static_assert(SHARES_FIELD_MAX == SHARES_MAX, "formats may not see the policy's limit");
_Static_assert((int)SHARE_DEPTH_MAX == (int)TREE_DEPTH_MAX, "formats may not see the policy's limit");

/* A tree as it was read, either form. */
struct share_input {
    struct share_row *rows; /* the text's order; the numbers come with the table */
    uint32_t *node;         /* of each row */
    uint32_t count;
    struct tree tree;
    double *usage;   /* by node */
    bool has_totals; /* usage is totals, else own */
};

static void make_room(struct share_input *in, uint32_t count, struct arena *arena)
{
    *in = (struct share_input){.count = count};
    in->rows = arena_alloc(arena, count * sizeof *in->rows);
    in->node = arena_alloc(arena, count * sizeof *in->node);
    in->usage = arena_alloc(arena, (count + 1) * sizeof *in->usage);
    tree_init(&in->tree);
}

/* Puts row i into the tree. parent: a row that is in it already, or NONE. */
static void add_node(struct share_input *in, uint32_t i, uint32_t parent, struct raw_shares shares, double usage)
{
    bool is_user = in->rows[i].user.length > 0;
    in->node[i] = tree_add(&in->tree, parent != NONE ? in->node[parent] : 0, is_user,
                           shares.is_parent ? SHARES_PARENT : shares.number);
    in->usage[in->node[i]] = usage;
}

static void set_shares(struct share_row *row, struct raw_shares shares)
{
    row->kind = shares.is_missing ? SHARES_NOTHING : shares.is_parent ? SHARES_OF_PARENT : SHARES_NUMBER;
    row->shares = shares.number;
}

/* The name of the account above an account's row; the root for one right below it. */
static struct str name_above(const struct share_input *in, uint32_t parent)
{
    return parent != NONE ? in->rows[parent].account : str("root");
}

static int take_sshare(const struct source *s, struct arena *arena, struct share_input *in, struct err *e)
{
    struct sshare read;
    if (sshare_parse(s, arena, &read, e) != 0) return -1;
    make_room(in, read.count, arena);
    in->has_totals = true;
    double top_usage = 0;
    for (uint32_t i = 0; i < read.count; i++) {
        const struct sshare_row *from = &read.rows[i];
        struct share_row *row = &in->rows[i];
        *row = (struct share_row){from->account, from->user, from->partition, .indent = from->indent};
        set_shares(row, from->shares);
        if (i == read.root) {
            in->usage[0] = from->usage;
            continue;
        }
        add_node(in, i, from->parent, from->shares, from->usage);
        bool is_account = from->user.length == 0;
        if (is_account) row->parent_account = name_above(in, from->parent);
        if (!is_account && from->parent != NONE) row->parent_account = in->rows[from->parent].parent_account;
        if (from->parent == NONE) top_usage += from->usage;
    }
    if (read.root == NONE) in->usage[0] = top_usage;
    return 0;
}

static int take_tsv(const struct source *s, struct arena *arena, struct share_input *in, struct err *e)
{
    struct share_tree_tsv read;
    if (share_tree_tsv_parse(s, arena, &read, e) != 0) return -1;
    make_room(in, read.count, arena);
    for (uint32_t k = 0; k < read.count; k++) {
        uint32_t i = read.order[k];
        const struct share_tree_tsv_row *from = &read.rows[i];
        struct share_row *row = &in->rows[i];
        *row = (struct share_row){from->account, from->user, .indent = from->depth};
        set_shares(row, from->shares);
        bool is_account = from->user.length == 0;
        if (is_account) row->parent_account = name_above(in, from->parent);
        if (!is_account && from->parent != NONE) row->parent_account = in->rows[from->parent].parent_account;
        add_node(in, i, from->parent, from->shares, from->usage);
    }
    return 0;
}

/* Sums that leave the range of a double are found at the top: usages are not negative. */
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

static void print_rows(struct share_input *in, const struct share_table *table, const struct listing_values *form,
                       struct output *out)
{
    struct share_printer printer;
    share_printer_init(&printer, form, false, out);
    for (uint32_t i = 0; i < in->count; i++) {
        struct share_row *row = &in->rows[i];
        uint32_t n = in->node[i];
        row->norm_shares = table->norm_shares[n];
        row->raw_usage = table->raw_usage[n];
        row->norm_usage = table->norm_usage[n];
        row->effective_usage = table->effective_usage[n];
        row->fair_share = table->fair_share[n];
        row->level_fs = table->level_fs[n];
        share_printer_add(&printer, row);
    }
    share_printer_end(&printer);
}

int share_file_run(struct call *call, const char *path, const struct share_options *options,
                   const struct listing_values *form, struct err *e)
{
    struct buf text = {0};
    struct share_input in = {0};
    call->error_has_place = true;
    if (options->algorithm == ALGORITHM_FAIR_TREE && options->ties == TIES_SLURM && !fair_tree_slurm_available()) {
        call->error_has_place = false;
        return err_set(e, ERR_INPUT, "--ties slurm: repeats the arithmetic of x86-64, which this machine has not");
    }
    int status = read_file(path, &text, e);
    if (status == 0 && scenario_is_text((struct str){text.text, text.length})) {
        status = share_scenario_run(call, path, (struct str){text.text, text.length}, options, form, e);
        buf_release(&text);
        return status;
    }
    if (status == 0) {
        struct source source = {path, {text.text, text.length}};
        status = take_text(&source, call->arena, &in, e);
    }
    if (status == 0) {
        struct share_table table;
        tree_finish(&in.tree);
        fair_share_table(&in.tree, in.has_totals ? NULL : in.usage, in.has_totals ? in.usage : NULL, options,
                         call->arena, &table);
        print_rows(&in, &table, form, call->out);
    }
    if (in.tree.count > 0) tree_release(&in.tree);
    buf_release(&text);
    return status;
}
