/* Share trees as TSV, from arbitrary bytes. A text that is accepted is a tree: every row has a path to the root, and
 * the order has every row once, parents first and siblings in the order of the text. The tree reads back from a text
 * that is written in that order. Every error has a position. */
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"
#include "base/text.h"
#include "formats/share_tree_tsv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rows(const struct share_tree_tsv *t)
{
    ensure(t->count > 0);
    for (uint32_t i = 0; i < t->count; i++) {
        const struct share_tree_tsv_row *r = &t->rows[i];
        ensure(r->account.length > 0 && str_is_printable(r->account) && str_is_printable(r->user));
        ensure(r->usage >= 0 && r->usage <= USAGE_FIELD_MAX);
        ensure(r->shares.number <= SHARES_FIELD_MAX && !r->shares.is_missing);
        ensure(r->parent == NONE || (r->parent < t->count && t->rows[r->parent].user.length == 0));
        ensure(r->depth == (r->parent != NONE ? t->rows[r->parent].depth + 1 : 1) && r->depth <= SHARE_DEPTH_MAX);
    }
}

/* position[i + 1]: the position of row i in the order, from 1; 0: not found yet. position[0] is that of the root. */
static void check_order(const struct share_tree_tsv *t, struct arena *arena)
{
    uint32_t *position = arena_alloc(arena, (t->count + 1) * sizeof *position);
    uint32_t *last_child = arena_alloc(arena, (t->count + 1) * sizeof *last_child); /* row + 1; 0: none yet */
    for (uint32_t k = 0; k < t->count; k++) {
        uint32_t i = t->order[k], parent = t->rows[t->order[k]].parent + 1;
        ensure(i < t->count && position[i + 1] == 0);
        position[i + 1] = k + 1;
        ensure(parent == 0 || position[parent] != 0);
        ensure(last_child[parent] < i + 1);
        last_child[parent] = i + 1;
    }
}

static void write_tree(const struct share_tree_tsv *t, struct buf *out)
{
    buf_add_text(out, "parent\taccount\tuser\tshares\tusage\n");
    for (uint32_t k = 0; k < t->count; k++) {
        const struct share_tree_tsv_row *r = &t->rows[t->order[k]];
        if (r->user.length == 0) buf_add_str(out, r->parent_name);
        buf_add_char(out, '\t');
        buf_add_str(out, r->account);
        buf_add_char(out, '\t');
        buf_add_str(out, r->user);
        buf_add_char(out, '\t');
        if (r->shares.is_parent) {
            buf_add_text(out, "parent");
        } else {
            buf_add_u64(out, r->shares.number);
        }
        buf_format(out, "\t%.17g\n", r->usage);
    }
}

/* The tree that is read back is the same, and its rows are in depth-first order. */
static void check_reads_back(const struct share_tree_tsv *first, struct arena *arena)
{
    struct buf text = {0};
    struct share_tree_tsv again;
    write_tree(first, &text);
    struct source source = {"again", {text.text, text.length}};
    struct err e = {0};
    ensure(share_tree_tsv_parse(&source, arena, &again, &e) == 0);
    ensure(again.count == first->count);
    for (uint32_t k = 0; k < again.count; k++) {
        const struct share_tree_tsv_row *a = &first->rows[first->order[k]], *b = &again.rows[k];
        ensure(again.order[k] == k);
        ensure(str_equal(a->account, b->account) && str_equal(a->user, b->user));
        ensure(a->depth == b->depth && a->usage == b->usage);
        ensure(a->shares.number == b->shares.number && a->shares.is_parent == b->shares.is_parent);
    }
    buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct source source = {"f", {(const char *)data, size}};
    struct share_tree_tsv read;
    struct err e = {0};
    if (share_tree_tsv_parse(&source, &arena, &read, &e) == 0) {
        check_rows(&read);
        check_order(&read, &arena);
        check_reads_back(&read, &arena);
    } else {
        ensure(e.code == ERR_INPUT && strncmp(ERR_SENTENCE(&e), "f:", 2) == 0 &&
               strtoul(ERR_SENTENCE(&e) + 2, NULL, 10) > 0);
    }
    arena_release(&arena);
    return 0;
}
