/* Output of sshare, from arbitrary bytes. A text that is accepted is a tree: parents come first, each depth is one more
 * than the parent's, and all views lie inside the text. The tree reads back from its own text. Every error has a
 * position. */
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"
#include "base/text.h"
#include "formats/sshare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_view(struct str text, struct str view)
{
    ensure(view.text >= text.text && view.text + view.length <= text.text + text.length);
    ensure(str_is_printable(view));
}

static void check_tree(const struct sshare *s, struct str text)
{
    ensure(s->count > 0);
    for (uint32_t i = 0; i < s->count; i++) {
        const struct sshare_row *r = &s->rows[i];
        check_view(text, r->account);
        check_view(text, r->user);
        check_view(text, r->partition);
        ensure(r->account.length > 0);
        ensure(r->usage >= 0 && r->usage <= USAGE_FIELD_MAX);
        ensure(r->shares.number <= SHARES_FIELD_MAX);
        ensure(r->shares.is_missing == false || i == s->root);
        if (i == s->root) {
            ensure(r->depth == 0 && r->parent == NONE && r->user.length == 0);
            continue;
        }
        ensure(r->parent == NONE || (r->parent < i && s->rows[r->parent].user.length == 0 && r->parent != s->root));
        ensure(r->depth == (r->parent != NONE ? s->rows[r->parent].depth + 1 : 1));
        ensure(r->depth <= SHARE_DEPTH_MAX && r->indent <= r->depth);
    }
}

static void write_tree(const struct sshare *s, struct buf *out)
{
    buf_add_text(out, "Account|User|Partition|RawShares|RawUsage\n");
    for (uint32_t i = 0; i < s->count; i++) {
        const struct sshare_row *r = &s->rows[i];
        buf_format(out, "%*s", (int)r->indent, "");
        buf_add_str(out, r->account);
        buf_add_char(out, '|');
        buf_add_str(out, r->user);
        buf_add_char(out, '|');
        buf_add_str(out, r->partition);
        buf_add_char(out, '|');
        if (r->shares.is_parent) buf_add_text(out, "parent");
        if (!r->shares.is_parent && !r->shares.is_missing) buf_add_u64(out, r->shares.number);
        buf_format(out, "|%.17g\n", r->usage);
    }
}

static void check_reads_back(const struct sshare *first, struct arena *arena)
{
    struct buf text = {0};
    struct sshare again;
    write_tree(first, &text);
    struct source source = {"again", {text.text, text.length}};
    struct err e = {0};
    ensure(sshare_parse(&source, arena, &again, &e) == 0);
    ensure(again.count == first->count && again.root == first->root);
    for (uint32_t i = 0; i < again.count; i++) {
        const struct sshare_row *a = &first->rows[i], *b = &again.rows[i];
        ensure(str_equal(a->account, b->account) && str_equal(a->user, b->user) &&
               str_equal(a->partition, b->partition));
        ensure(a->parent == b->parent && a->depth == b->depth && a->indent == b->indent && a->usage == b->usage);
        ensure(a->shares.number == b->shares.number && a->shares.is_parent == b->shares.is_parent);
    }
    buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct source source = {"f", {(const char *)data, size}};
    struct sshare read;
    struct err e = {0};
    if (sshare_parse(&source, &arena, &read, &e) == 0) {
        check_tree(&read, source.text);
        check_reads_back(&read, &arena);
    } else {
        ensure(e.code == ERR_INPUT && strncmp(ERR_SENTENCE(&e), "f:", 2) == 0 &&
               strtoul(ERR_SENTENCE(&e) + 2, NULL, 10) > 0);
    }
    arena_release(&arena);
    return 0;
}
