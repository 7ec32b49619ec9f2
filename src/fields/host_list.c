#include "fields/host_list.h"

#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/map.h"
#include "base/sort.h"

enum { DIGITS_MAX = 9 };

/* "n08.site": stem n, digits 08, tail .site. A name without a number is all stem. */
struct host_name {
    struct str stem, digits, tail;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct host_name split(struct str name)
{
    size_t end = 0;
    while (end < name.length && name.text[end] != '.') end++;
    size_t begin = end;
    while (begin > 0 && end - begin < DIGITS_MAX && is_digit(name.text[begin - 1])) begin--;
    if (begin == end) return (struct host_name){.stem = name};
    return (struct host_name){
        {name.text, begin}, {name.text + begin, end - begin}, {name.text + end, name.length - end}};
}

static uint32_t number_of(struct str digits)
{
    uint32_t number = 0;
    for (size_t i = 0; i < digits.length; i++) number = number * 10 + (uint32_t)(digits.text[i] - '0');
    return number;
}

/* Whether b is the number after a as it is written in a range that begins with first: n08, n09, n10. */
static bool is_next(struct str first, struct str a, struct str b)
{
    char text[DIGITS_MAX + 2];
    bool is_padded = first.length > 1 && first.text[0] == '0';
    text_format(text, sizeof text, "%0*u", is_padded ? (int)first.length : 1, number_of(a) + 1);
    return str_equal(str(text), b);
}

struct list {
    const struct host_name *names;
    const struct sort_record *order; /* by stem and tail, then by number */
    uint32_t count;
};

static struct str digits_at(const struct list *l, uint32_t i)
{
    return l->names[l->order[i].index].digits;
}

/* The names from first to end, which differ in their numbers only. */
static void add_names(const struct list *l, uint32_t first, uint32_t end, struct buf *out)
{
    const struct host_name *name = &l->names[l->order[first].index];
    bool are_equal = str_equal(digits_at(l, first), digits_at(l, end - 1));
    if (out->length > 0) buf_add_char(out, ',');
    buf_add_str(out, name->stem);
    if (!are_equal) buf_add_char(out, '[');
    for (uint32_t i = first, last; i < end; i = last + 1) {
        struct str begin = digits_at(l, i);
        for (last = i; last + 1 < end; last++) {
            struct str next = digits_at(l, last + 1);
            if (!str_equal(digits_at(l, last), next) && !is_next(begin, digits_at(l, last), next)) break;
        }
        if (i > first) buf_add_char(out, ',');
        buf_add_str(out, begin);
        if (str_equal(begin, digits_at(l, last))) continue;
        buf_add_char(out, '-');
        buf_add_str(out, digits_at(l, last));
    }
    if (!are_equal) buf_add_char(out, ']');
    buf_add_str(out, name->tail);
}

/* The number of the stem and tail, in the order of their first names. A name without a number, "n", is not one of the
 * numbered ones, "n1". */
static uint32_t stem_index(struct map *stems, struct arena *arena, const struct host_name *name)
{
    struct buf key = {0};
    buf_add_str(&key, name->stem);
    buf_add_char(&key, '\0');
    buf_add_char(&key, name->digits.length > 0 ? '#' : '-');
    buf_add_str(&key, name->tail);
    const struct str text = {key.text, key.length};
    uint32_t index = map_get(stems, text);
    if (index == NONE) {
        index = stems->count;
        map_set(stems, (struct str){arena_copy(arena, text), text.length}, index);
    }
    buf_release(&key);
    return index;
}

void host_list_format(const struct str *names, uint32_t count, struct buf *out)
{
    struct arena arena = {0};
    struct map stems = {0};
    struct buf text = {0};
    size_t size = (count + (size_t)1) * sizeof(struct sort_record);
    struct host_name *parts = arena_alloc_raw(&arena, (count + (size_t)1) * sizeof *parts);
    struct sort_record *order = arena_alloc_raw(&arena, size), *scratch = arena_alloc_raw(&arena, size);
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = split(names[i]);
        uint64_t stem = stem_index(&stems, &arena, &parts[i]);
        order[i] = (struct sort_record){.key = stem << 32 | number_of(parts[i].digits), .index = i};
    }
    sort_records(order, count, scratch);
    const struct list list = {parts, order, count};
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && order[end].key >> 32 == order[first].key >> 32;) end++;
        add_names(&list, first, end, &text);
    }
    buf_add(out, text.text, text.length);
    buf_release(&text);
    map_release(&stems);
    arena_release(&arena);
}
