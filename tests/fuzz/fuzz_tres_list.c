/* A table and a list of TRES from arbitrary bytes; the first line is AccountingStorageTRES. A table that is read has
 * the right ids and generic TRES. Tables, lists and limits read back from their own texts. A refused text leaves the
 * output unchanged, and the error names the field. */
#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "policy/tres.h"

static void check_error(const struct err *e)
{
    ensure(e->code == ERR_INPUT);
    ensure(strncmp(ERR_SENTENCE(e), "field: '", 8) == 0);
    ensure(strlen(ERR_SENTENCE(e)) < 400);
}

static void check_table(const struct tres_table *t)
{
    ensure(t->count >= TRES_STATIC_COUNT && t->count <= TRES_MAX);
    for (uint32_t i = 0; i < t->count; i++) {
        const struct tres *item = &t->items[i];
        ensure(tres_find(t, str(item->text)) == i);
        ensure(item->id == (i < TRES_STATIC_COUNT ? i + 1 : TRES_FIRST_OWN_ID + i - TRES_STATIC_COUNT));
        if (item->generic == NONE) continue;
        const struct tres *generic = &t->items[item->generic];
        size_t length = strlen(generic->text);
        ensure(strncmp(generic->text, item->text, length) == 0 && item->text[length] == ':');
    }
}

/* The texts of the table's TRES, separated by commas, give the same table. */
static void check_table_reads_back(const struct tres_table *t, struct arena *arena)
{
    struct tres_table back;
    struct buf text = {0};
    for (uint32_t i = 0; i < t->count; i++) {
        if (i > 0) buf_add_char(&text, ',');
        buf_add_text(&text, t->items[i].text);
    }
    ensure(tres_table_make(&back, (struct str){text.text, text.length}, "field", arena, NULL) == 0);
    ensure(back.count == t->count);
    for (uint32_t i = 0; i < t->count; i++) {
        ensure(strcmp(back.items[i].text, t->items[i].text) == 0);
        ensure(back.items[i].generic == t->items[i].generic);
    }
    buf_release(&text);
}

static void check_list(const struct tres_table *t, const struct tres_list *list, struct arena *arena)
{
    struct tres_list back;
    struct buf text = {0};
    for (uint32_t i = 0; i < list->count; i++) {
        const struct tres_amount *a = &list->items[i];
        ensure(a->tres < t->count && (i == 0 || list->items[i - 1].tres < a->tres));
        ensure(a->amount > 0.0 && a->amount <= 0x1p53 && floor(a->amount) >= a->amount);
        ensure(tres_amount_of(list, a->tres) >= a->amount);
    }
    buf_add_text(&text, "");
    tres_list_format(t, list, &text);
    ensure(tres_list_parse(t, (struct str){text.text, text.length}, "field", arena, &back, NULL) == 0);
    ensure(back.count == list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        ensure(back.items[i].tres == list->items[i].tres);
        ensure(back.items[i].amount >= list->items[i].amount && back.items[i].amount <= list->items[i].amount);
    }
    tres_list_add_generic(t, &back);
    ensure(back.count >= list->count && back.count <= t->count);
    buf_release(&text);
}

/* Limits read back from their own text; naming each with -1 removes them all. */
static void check_limits(const struct tres_table *t, const double *limits)
{
    double back[TRES_MAX];
    struct buf text = {0}, none = {0};
    buf_add_text(&text, "");
    tres_limits_format(t, limits, &text);
    for (uint32_t i = 0; i < t->count; i++) {
        back[i] = TRES_UNLIMITED;
        buf_format(&none, "%s%s=-1", i > 0 ? "," : "", t->items[i].text);
    }
    ensure(tres_limits_change(t, (struct str){text.text, text.length}, "field", back, NULL) == 0);
    for (uint32_t i = 0; i < t->count; i++) ensure(back[i] >= limits[i] && back[i] <= limits[i]);
    ensure(tres_limits_change(t, (struct str){none.text, none.length}, "field", back, NULL) == 0);
    for (uint32_t i = 0; i < t->count; i++) ensure(back[i] < 0.0);
    buf_release(&text);
    buf_release(&none);
}

static void try_limits(const struct tres_table *t, struct str text)
{
    double limits[TRES_MAX], before[TRES_MAX];
    struct err e = {0};
    for (uint32_t i = 0; i < TRES_MAX; i++) limits[i] = before[i] = i % 2 == 0 ? 7.0 : TRES_UNLIMITED;
    if (tres_limits_change(t, text, "field", limits, &e) == 0) {
        check_limits(t, limits);
        return;
    }
    ensure(memcmp(limits, before, sizeof limits) == 0);
    check_error(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct tres_table t = {.count = 77};
    struct tres_list list = {.count = 77};
    struct err e = {0};
    struct str text, tracked = str_cut((struct str){(const char *)data, size}, '\n', &text);
    if (tres_table_make(&t, tracked, "field", &arena, &e) != 0) {
        ensure(t.count == 77);
        check_error(&e);
    } else {
        check_table(&t);
        check_table_reads_back(&t, &arena);
        try_limits(&t, text);
        if (tres_list_parse(&t, text, "field", &arena, &list, &e) != 0) {
            ensure(list.count == 77);
            check_error(&e);
        } else {
            check_list(&t, &list, &arena);
        }
    }
    arena_release(&arena);
    return 0;
}
