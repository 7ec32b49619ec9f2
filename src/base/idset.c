/* Sets of small numbers as sorted ranges.
 *
 *     {0..9, 12}      ranges: [0,9] [12,12]
 *
 * Invariants: 1. every range has first <= last; 2. ranges ascend; 3. between two ranges at least one number is
 * missing. So equal sets have equal ranges, and idset_format gives the shortest text.
 *
 * A number is found by bisection, O(log ranges). Adding and removing move the ranges after it with one memmove, 8 bytes
 * a range: nothing in the common case, because an array job starts its tasks in order and so removes from the front of
 * one range, and some 5 us with 50,000 ranges, the worst that 10^5 tasks can have. Parsing collects the ranges as they
 * are written and sorts them only if they were out of order. */
#include "base/idset.h"

#include <string.h>

#include "base/ensure.h"
#include "base/number.h"
#include "base/sort.h"

/* The limit of separate ranges in a text: "0-4000000000:2" is short to write and takes gigabytes to store. */
enum { RANGES_MAX = 1 << 22 };

/* The index of the first range that ends at id or above; the number of ranges if there is none. */
static uint32_t find(const struct idset *s, uint32_t id)
{
    uint32_t low = 0, high = s->ranges.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->ranges.items[middle].last < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Makes room for count ranges. A set of one range, as that of a plain job, is the common case: it takes the smallest
 * piece of memory that malloc gives. */
static void reserve(struct idset *s, uint32_t count)
{
    enum { FIRST_CAPACITY = 3 };
    if (count > s->ranges.capacity) {
        uint32_t larger = s->ranges.capacity > 0 ? 2 * s->ranges.capacity : FIRST_CAPACITY;
        if (larger < count) larger = count;
        size_t size = sizeof *s->ranges.items;
        s->ranges.items = mem_resize(s->ranges.items, size * s->ranges.capacity, size * larger);
        s->ranges.capacity = larger;
    }
}

/* Puts count ranges in the place of old_count ranges from index on. */
static void replace_ranges(struct idset *s, uint32_t index, uint32_t old_count, const struct idset_range *ranges,
                           uint32_t count)
{
    uint32_t behind = s->ranges.count - index - old_count;
    reserve(s, index + behind + count);
    struct idset_range *at = s->ranges.items + index;
    memmove(at + count, at + old_count, behind * sizeof *at);
    for (uint32_t i = 0; i < count; i++) at[i] = ranges[i];
    s->ranges.count = index + count + behind;
}

uint32_t idset_count(const struct idset *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->ranges.count; i++) count += s->ranges.items[i].last - s->ranges.items[i].first + 1;
    return count;
}

uint32_t idset_first(const struct idset *s)
{
    return s->ranges.count > 0 ? s->ranges.items[0].first : NONE;
}

uint32_t idset_next(const struct idset *s, uint32_t id)
{
    if (id == NONE) return NONE;
    uint32_t i = find(s, id + 1);
    if (i == s->ranges.count) return NONE;
    return s->ranges.items[i].first > id ? s->ranges.items[i].first : id + 1;
}

bool idset_has(const struct idset *s, uint32_t id)
{
    uint32_t i = find(s, id);
    return i < s->ranges.count && s->ranges.items[i].first <= id;
}

static void add_range(struct idset *s, struct idset_range added)
{
    uint32_t first = find(s, added.first > 0 ? added.first - 1 : 0), end = first; /* those that touch it */
    while (end < s->ranges.count && s->ranges.items[end].first <= added.last + 1) end++;
    if (end > first) {
        struct idset_range low = s->ranges.items[first], high = s->ranges.items[end - 1];
        if (low.first < added.first) added.first = low.first;
        if (high.last > added.last) added.last = high.last;
    }
    replace_ranges(s, first, end - first, &added, 1);
}

/* Returns whether a number of it was in the set. */
static bool remove_range(struct idset *s, struct idset_range removed)
{
    struct idset_range rest[2];
    uint32_t first = find(s, removed.first), end = first, rest_count = 0;
    while (end < s->ranges.count && s->ranges.items[end].first <= removed.last) end++;
    if (end == first) return false;
    struct idset_range low = s->ranges.items[first], high = s->ranges.items[end - 1];
    if (low.first < removed.first) rest[rest_count++] = (struct idset_range){low.first, removed.first - 1};
    if (high.last > removed.last) rest[rest_count++] = (struct idset_range){removed.last + 1, high.last};
    replace_ranges(s, first, end - first, rest, rest_count);
    return true;
}

void idset_add(struct idset *s, uint32_t id)
{
    ensure(id != NONE);
    add_range(s, (struct idset_range){id, id});
}

bool idset_remove(struct idset *s, uint32_t id)
{
    return remove_range(s, (struct idset_range){id, id});
}

void idset_copy(struct idset *to, const struct idset *from)
{
    if (to == from) return;
    array_clear(&to->ranges);
    if (from->ranges.count == 0) return;
    reserve(to, from->ranges.count);
    memcpy(to->ranges.items, from->ranges.items, from->ranges.count * sizeof *from->ranges.items);
    to->ranges.count = from->ranges.count;
}

void idset_release(struct idset *s)
{
    array_release(&s->ranges);
}

static void format_range(struct idset_range range, struct buf *out)
{
    buf_add_u64(out, range.first);
    if (range.last == range.first) return;
    buf_add_char(out, '-');
    buf_add_u64(out, range.last);
}

void idset_format(const struct idset *s, struct buf *out)
{
    for (uint32_t i = 0; i < s->ranges.count; i++) {
        if (i > 0) buf_add_char(out, ',');
        format_range(s->ranges.items[i], out);
    }
}

/* How many ranges from index on are single numbers at equal distances. */
static uint32_t count_steps(const struct idset *s, uint32_t index)
{
    const struct idset_range *ranges = s->ranges.items;
    uint32_t end = index;
    while (end < s->ranges.count && ranges[end].first == ranges[end].last) {
        bool is_step = end < index + 2 ||
                       ranges[end].first - ranges[end - 1].first == ranges[index + 1].first - ranges[index].first;
        if (!is_step) break;
        end++;
    }
    return end - index;
}

void idset_format_steps(const struct idset *s, struct buf *out)
{
    enum { STEPS_MIN = 4 };
    const struct idset_range *ranges = s->ranges.items;
    for (uint32_t i = 0; i < s->ranges.count; i++) {
        uint32_t count = count_steps(s, i);
        if (i > 0) buf_add_char(out, ',');
        if (count < STEPS_MIN) {
            format_range(ranges[i], out);
            continue;
        }
        format_range((struct idset_range){ranges[i].first, ranges[i + count - 1].first}, out);
        buf_format(out, ":%u", ranges[i + 1].first - ranges[i].first);
        i += count - 1;
    }
}

/* A set that is being put together, from a text or from two sets. Its ranges are in the order in which they came. */
struct builder {
    struct idset set;
    bool is_unsorted;
    uint32_t max;
    const char *field;
};

/* Joins a range to the last one if they touch, else appends it and notes whether that broke the order. */
static void append(struct builder *b, struct idset_range range)
{
    struct idset_range *last = b->set.ranges.count > 0 ? &b->set.ranges.items[b->set.ranges.count - 1] : NULL;
    if (last != NULL && range.first >= last->first && range.first <= last->last + 1) {
        if (range.last > last->last) last->last = range.last;
        return;
    }
    if (last != NULL && range.first < last->first) b->is_unsorted = true;
    reserve(&b->set, b->set.ranges.count + 1);
    b->set.ranges.items[b->set.ranges.count++] = range;
}

/* Sorts the ranges and joins those that touch. Both ends of a range fit into one sort key. */
static void sort_ranges(struct builder *b)
{
    uint32_t count = b->set.ranges.count;
    struct sort_record *records = mem_resize(NULL, 0, 2 * count * sizeof *records);
    for (uint32_t i = 0; i < count; i++) {
        struct idset_range range = b->set.ranges.items[i];
        records[i] = (struct sort_record){.key = (uint64_t)range.first << 32 | range.last};
    }
    sort_records(records, count, records + count);
    array_clear(&b->set.ranges);
    for (uint32_t i = 0; i < count; i++) {
        append(b, (struct idset_range){(uint32_t)(records[i].key >> 32), (uint32_t)records[i].key});
    }
    mem_free(records);
}

/* Reads a number of an item. The error shows the whole item, because the user typed that. */
static int parse_id(struct builder *b, struct str s, struct str item, uint32_t *out_id, struct err *e)
{
    uint64_t id;
    if (!number_parse_u64(s, &id) || id > b->max)
        return err_value(e, b->field, item, "a number from 0 to %u, or a range such as 0-9", b->max);
    *out_id = (uint32_t)id;
    return 0;
}

static int too_many(const struct builder *b, struct err *e)
{
    return err_field(e, ERR_INPUT, b->field, "more than %d separate numbers", RANGES_MAX);
}

/* One item of the list: "7", "0-9" or "20-30:5". */
static int parse_item(struct builder *b, struct str s, struct err *e)
{
    struct str step_text, last_text;
    struct str first_text = str_cut(str_cut(s, ':', &step_text), '-', &last_text);
    uint32_t first, last, step = 1;
    if (parse_id(b, first_text, s, &first, e) != 0) return -1;
    last = first;
    if (last_text.text != NULL && parse_id(b, last_text, s, &last, e) != 0) return -1;
    if (step_text.text != NULL && parse_id(b, step_text, s, &step, e) != 0) return -1;
    if (last < first) return err_value_reason(e, b->field, s, "ends before it begins");
    if (step == 0) return err_value_reason(e, b->field, s, "has step 0; the smallest step is 1");
    if (step_text.text != NULL && last_text.text == NULL)
        return err_value_reason(e, b->field, s, "has a step but no range; write FIRST-LAST:STEP");
    if (step == 1) {
        append(b, (struct idset_range){first, last});
        return 0;
    }
    if ((last - first) / step >= RANGES_MAX - b->set.ranges.count) return too_many(b, e);
    for (uint64_t id = first; id <= last; id += step) append(b, (struct idset_range){(uint32_t)id, (uint32_t)id});
    return 0;
}

static int parse_all(struct builder *b, struct str s, struct err *e)
{
    if (s.length == 0) return 0;
    while (s.text != NULL) {
        struct str item = str_cut(s, ',', &s);
        if (b->set.ranges.count >= RANGES_MAX) return too_many(b, e);
        if (parse_item(b, item, e) != 0) return -1;
    }
    return 0;
}

int idset_parse(struct str s, uint32_t max, const char *field, struct idset *out_set, struct err *e)
{
    ensure(max < NONE);
    struct builder b = {.max = max, .field = field};
    if (parse_all(&b, s, e) != 0) {
        idset_release(&b.set);
        return -1;
    }
    if (b.is_unsorted) sort_ranges(&b);
    *out_set = b.set;
    return 0;
}

/* A few ranges are added or removed one by one, which moves ranges; many are merged, which copies all of them. */
enum { FEW_RANGES = 8 };

bool idset_equal(const struct idset *a, const struct idset *b)
{
    bool is_equal = a->ranges.count == b->ranges.count;
    for (uint32_t i = 0; is_equal && i < a->ranges.count; i++) {
        const struct idset_range *x = &a->ranges.items[i], *y = &b->ranges.items[i];
        is_equal = x->first == y->first && x->last == y->last;
    }
    return is_equal;
}

void idset_add_all(struct idset *to, const struct idset *from)
{
    struct builder both = {0};
    uint32_t i = 0, j = 0;
    if (to == from) return;
    if (from->ranges.count <= FEW_RANGES) {
        for (i = 0; i < from->ranges.count; i++) add_range(to, from->ranges.items[i]);
        return;
    }
    while (i < to->ranges.count || j < from->ranges.count) {
        bool is_from = i == to->ranges.count ||
                       (j < from->ranges.count && from->ranges.items[j].first < to->ranges.items[i].first);
        append(&both, is_from ? from->ranges.items[j++] : to->ranges.items[i++]);
    }
    idset_release(to);
    *to = both.set;
}

/* Appends the parts of a range that are not in ids. *io_next: the first range of ids that ends at its begin or later.
 * */
static void append_rest(struct builder *b, struct idset_range range, const struct idset *ids, uint32_t *io_next)
{
    while (*io_next < ids->ranges.count && ids->ranges.items[*io_next].last < range.first) ++*io_next;
    for (uint32_t i = *io_next; i < ids->ranges.count && ids->ranges.items[i].first <= range.last; i++) {
        struct idset_range cut = ids->ranges.items[i];
        if (cut.first > range.first) append(b, (struct idset_range){range.first, cut.first - 1});
        if (cut.last >= range.last) return;
        range.first = cut.last + 1;
    }
    append(b, range);
}

void idset_remove_all(struct idset *from, const struct idset *ids)
{
    struct builder rest = {0};
    uint32_t next = 0;
    if (from == ids) {
        array_clear(&from->ranges);
        return;
    }
    if (ids->ranges.count <= FEW_RANGES) {
        for (uint32_t i = 0; i < ids->ranges.count; i++) (void)remove_range(from, ids->ranges.items[i]);
        return;
    }
    for (uint32_t i = 0; i < from->ranges.count; i++) append_rest(&rest, from->ranges.items[i], ids, &next);
    idset_release(from);
    *from = rest.set;
}
