/* Sets from arbitrary bytes. A set that is read is sorted, has no number above the maximum, and reads back from its own
 * text. Adding its numbers one by one, from the last to the first, gives the same set, and removing all of them empties
 * it. */
#include <string.h>

#include "base/ensure.h"
#include "base/idset.h"

enum { MAX = 2000 };

static void check_order(const struct idset *s)
{
    for (uint32_t i = 0; i < s->ranges.count; i++) {
        struct idset_range range = s->ranges.items[i];
        ensure(range.first <= range.last && range.last <= MAX);
        ensure(i == 0 || range.first > s->ranges.items[i - 1].last + 1);
    }
}

static void check_same(const struct idset *a, const struct idset *b)
{
    ensure(a->ranges.count == b->ranges.count);
    ensure(a->ranges.count == 0 ||
           memcmp(a->ranges.items, b->ranges.items, a->ranges.count * sizeof *a->ranges.items) == 0);
}

static void check_text(const struct idset *s)
{
    struct buf text = {0};
    struct idset back;
    idset_format(s, &text);
    ensure(idset_parse((struct str){text.text, text.length}, MAX, "ids", &back, NULL) == 0);
    check_same(s, &back);
    idset_release(&back);
    buf_release(&text);
}

static void check_one_by_one(struct idset *s)
{
    struct idset built = {0};
    uint32_t count = 0;
    for (uint32_t id = MAX + 1; id-- > 0;) {
        if (!idset_has(s, id)) continue;
        idset_add(&built, id);
        count++;
    }
    check_same(s, &built);
    ensure(idset_count(s) == count);
    for (uint32_t id = idset_first(s); id != NONE; id = idset_next(s, id)) {
        ensure(idset_remove(&built, id));
        ensure(!idset_has(&built, id) && idset_count(&built) == --count);
    }
    ensure(count == 0 && idset_first(&built) == NONE);
    idset_release(&built);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct idset set;
    struct err e = {0};
    if (idset_parse((struct str){(const char *)data, size}, MAX, "ids", &set, &e) != 0) {
        ensure(e.code == ERR_INPUT && strncmp(ERR_SENTENCE(&e), "ids: ", 5) == 0);
        return 0;
    }
    check_order(&set);
    check_text(&set);
    check_one_by_one(&set);
    idset_release(&set);
    return 0;
}
