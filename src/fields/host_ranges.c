#include "fields/host_ranges.h"

#include "base/map.h"
#include "base/number.h"
#include "base/text.h"
#include "fields/limits.h"

enum { DIGITS_MAX = 9 };

/* "n[1-3]-ib": the text before the bracket, in it and behind it. Without a bracket, all is before it. */
struct pattern {
    struct str before, numbers, after;
    bool has_bracket;
};

struct expansion {
    struct host_ranges *names;
    struct arena *arena;
    uint32_t max;
    struct buf name;
    struct err *e;
};

static int fail(struct expansion *x, struct str what, const char *why)
{
    return err_value_reason(x->e, NULL, what, "%s", why);
}

static const char *find(struct str s, char c)
{
    for (size_t i = 0; i < s.length; i++) {
        if (s.text[i] == c) return s.text + i;
    }
    return NULL;
}

static int add_name(struct expansion *x)
{
    struct str name = {x->name.text, x->name.length};
    if (x->names->names.count >= x->max) return err_set(x->e, ERR_INPUT, "more than %u hosts in all", x->max);
    if (name.length == 0) return err_set(x->e, ERR_INPUT, "has an empty name");
    if (name.length > NAME_BYTES_MAX || !str_is_printable(name) || !host_text_is_name(name))
        return fail(x, name, "is not a name of a host: up to 64 printable bytes without a blank or any of , [ ] = @");
    *array_add(&x->names->names) = arena_copy(x->arena, name);
    return 0;
}

static int add_numbered(struct expansion *x, const struct pattern *p, uint64_t number, size_t width)
{
    char digits[NUMBER_TEXT_SIZE];
    size_t length = number_format_u64(digits, number);
    buf_clear(&x->name);
    buf_add_str(&x->name, p->before);
    for (size_t i = length; i < width; i++) buf_add_char(&x->name, '0');
    buf_add(&x->name, digits, length);
    buf_add_str(&x->name, p->after);
    return add_name(x);
}

static bool read_number(struct str s, uint64_t *out)
{
    for (size_t i = 0; i < s.length; i++) {
        if (s.text[i] < '0' || s.text[i] > '9') return false;
    }
    return s.length <= DIGITS_MAX && number_parse_u64(s, out);
}

/* "001-500" or "7". */
static int add_range(struct expansion *x, const struct pattern *p, struct str range)
{
    struct str last_text, first_text = str_cut(range, '-', &last_text);
    uint64_t first, last;
    if (last_text.text == NULL) last_text = first_text;
    if (!read_number(first_text, &first) || !read_number(last_text, &last))
        return fail(x, range, "is not a range of numbers, such as 1-16 or 001-500");
    if (first > last) return fail(x, range, "ends before it begins");
    size_t width = first_text.length > 1 && first_text.text[0] == '0' ? first_text.length : 0;
    int status = 0;
    for (uint64_t number = first; number <= last && status == 0; number++) status = add_numbered(x, p, number, width);
    return status;
}

/* The next name of the list; a comma in a bracket does not end it. */
static struct str cut_name(struct str list, struct str *out_rest)
{
    size_t depth = 0;
    for (size_t i = 0; i < list.length; i++) {
        if (list.text[i] == '[') depth++;
        if (list.text[i] == ']' && depth > 0) depth--;
        if (list.text[i] != ',' || depth > 0) continue;
        *out_rest = str_range(list.text + i + 1, list.text + list.length);
        return (struct str){list.text, i};
    }
    *out_rest = (struct str){0};
    return list;
}

static int split(struct expansion *x, struct str name, struct pattern *out)
{
    const char *open = find(name, '['), *close = find(name, ']'), *end = name.text + name.length;
    *out = (struct pattern){.before = name};
    if (open == NULL && close == NULL) return 0;
    if (open == NULL || close == NULL || close < open) return fail(x, name, "has a bracket without the other one");
    *out = (struct pattern){str_range(name.text, open), str_range(open + 1, close), str_range(close + 1, end), true};
    if (find(out->after, '[') != NULL || find(out->after, ']') != NULL)
        return fail(x, name, "has more than one bracket");
    return 0;
}

static int expand_name(struct expansion *x, struct str name)
{
    struct pattern p;
    if (split(x, name, &p) != 0) return -1;
    if (!p.has_bracket) {
        buf_clear(&x->name);
        buf_add_str(&x->name, p.before);
        return add_name(x);
    }
    int status = 0;
    for (struct str rest = p.numbers; rest.text != NULL && status == 0;)
        status = add_range(x, &p, str_cut(rest, ',', &rest));
    return status;
}

int host_ranges_expand(struct str text, uint32_t max, struct arena *arena, struct host_ranges *io_names, struct err *e)
{
    struct expansion x = {.names = io_names, .arena = arena, .max = max, .e = e};
    int status = text.length > 0 ? 0 : err_set(e, ERR_INPUT, "is empty");
    for (struct str rest = text; rest.text != NULL && status == 0;)
        status = expand_name(&x, str_trim(cut_name(rest, &rest)));
    buf_release(&x.name);
    return status;
}

/* --- lists of objects --------------------------------------------------------------------------------------------- */

static bool has_bracket(struct str text)
{
    return find(text, '[') != NULL || find(text, ']') != NULL;
}

struct names {
    ARRAY(struct str) items;
};

/* Appends what one item of a list means: a range's names, or the item. */
static int add_item(struct names *names, struct str item, const char *what, struct arena *arena, struct err *e)
{
    struct host_ranges ranges = {0};
    struct err below;
    int status = 0;
    if (has_bracket(item))
        status = host_ranges_expand(item, HOST_RANGES_MAX, arena, &ranges, &below);
    else
        *array_add(&names->items) = item;
    for (uint32_t i = 0; i < ranges.names.count && status == 0; i++)
        *array_add(&names->items) = str(ranges.names.items[i]);
    array_release(&ranges.names);
    if (status != 0) return err_field(e, ERR_INPUT, what, "%s", ERR_SENTENCE(&below));
    if (names->items.count <= HOST_RANGES_MAX) return 0;
    return err_field(e, ERR_INPUT, what, "more than %d hosts in all", HOST_RANGES_MAX);
}

/* The names in memory of the arena, each once. */
static int collect_names(const struct names *names, const char *what, struct arena *arena, struct name_list *out,
                         struct err *e)
{
    struct name_list list = {.items = arena_alloc(arena, (names->items.count + (size_t)1) * sizeof *list.items)};
    struct map seen = {0};
    int status = 0;
    for (; list.count < names->items.count && status == 0; list.count++) {
        struct str name = names->items.items[list.count];
        if (map_get(&seen, name) != NONE) status = err_value_reason(e, what, name, "occurs twice");
        map_set(&seen, name, list.count);
        list.items[list.count] = name;
    }
    map_release(&seen);
    if (status == 0) *out = list;
    return status;
}

int host_ranges_names(struct str text, const char *what, struct arena *arena, struct name_list *out, struct err *e)
{
    struct name_list items;
    struct names names = {0};
    int status = host_text_names(text, what, arena, &items, e);
    if (status != 0) return status;
    if (!has_bracket(text)) { /* nothing to expand: the items are the names */
        *out = items;
        return 0;
    }
    for (uint32_t i = 0; i < items.count && status == 0; i++) status = add_item(&names, items.items[i], what, arena, e);
    if (status == 0) status = collect_names(&names, what, arena, out, e);
    array_release(&names.items);
    return status;
}

int host_ranges_names_check(struct str text, const char *what, struct err *e)
{
    struct arena arena = {0};
    struct name_list unused;
    int status = host_text_names_check(text, what, e);
    if (status == 0) status = host_ranges_names(text, what, &arena, &unused, e);
    arena_release(&arena);
    return status;
}
