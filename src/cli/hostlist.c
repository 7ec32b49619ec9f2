#include "cli/hostlist.h"

#include "base/number.h"

enum { DIGITS_MAX = 18 };

/* "node007": the prefix "node", the digits "007". */
struct host_name {
    struct str prefix, digits;
    uint64_t number;
};

static struct host_name split(struct str name)
{
    size_t end = name.length;
    while (end > 0 && name.length - end < DIGITS_MAX && name.text[end - 1] >= '0' && name.text[end - 1] <= '9') end--;
    struct host_name h = {{name.text, end}, {name.text + end, name.length - end}, 0};
    (void)number_parse_u64(h.digits, &h.number);
    return h;
}

/* Whether b stands in one pair of brackets with a: the same prefix, and both or none have leading zeros. */
static bool is_alike(const struct host_name *a, const struct host_name *b)
{
    bool is_padded =
        (a->digits.length > 0 && a->digits.text[0] == '0') || (b->digits.length > 0 && b->digits.text[0] == '0');
    return a->digits.length > 0 && b->digits.length > 0 && str_equal(a->prefix, b->prefix) &&
           (!is_padded || a->digits.length == b->digits.length);
}

/* Takes the next name from the front of a list. */
static bool take(struct str *rest, struct host_name *out)
{
    if (rest->length == 0) return false;
    *out = split(str_cut(*rest, ',', rest));
    return true;
}

/* A list while it is read. */
struct names {
    struct str rest;
    struct host_name next;
    bool has_next;
};

static void advance(struct names *n)
{
    n->has_next = take(&n->rest, &n->next);
}

/* Appends the next number, or the range that it begins. Returns the last name of it. */
static struct host_name add_range(struct names *n, struct buf *numbers)
{
    struct host_name first = n->next, last = first;
    for (advance(n); n->has_next && is_alike(&last, &n->next) && n->next.number == last.number + 1; advance(n))
        last = n->next;
    buf_add_str(numbers, first.digits);
    if (last.digits.text != first.digits.text) buf_format(numbers, "-%.*s", (int)last.digits.length, last.digits.text);
    return last;
}

void hostlist_write(const char *names, struct buf *out)
{
    struct names n = {.rest = str(names)};
    struct buf numbers = {0};
    const char *separator = "";
    for (advance(&n); n.has_next; separator = ",") {
        struct host_name first = n.next, last;
        buf_clear(&numbers);
        last = add_range(&n, &numbers);
        bool is_several = last.digits.text != first.digits.text;
        for (; n.has_next && is_alike(&last, &n.next); is_several = true) {
            buf_add_char(&numbers, ',');
            last = add_range(&n, &numbers);
        }
        buf_format(out, is_several ? "%s%.*s[%.*s]" : "%s%.*s%.*s", separator, (int)first.prefix.length,
                   first.prefix.text, (int)numbers.length, numbers.length > 0 ? numbers.text : "");
    }
    buf_release(&numbers);
}
