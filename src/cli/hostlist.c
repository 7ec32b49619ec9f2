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

void hostlist_write(const char *names, struct buf *out)
{
    struct host_name first, next;
    struct str rest = str(names);
    const char *separator = "";
    for (bool has = take(&rest, &first); has; first = next) {
        struct buf numbers = {0};
        struct host_name last = first;
        bool is_several = false;
        buf_add_str(&numbers, first.digits);
        while ((has = take(&rest, &next)) && is_alike(&last, &next)) {
            struct host_name begin = next;
            bool is_range = next.number == last.number + 1;
            while (is_range && has && is_alike(&last, &next) && next.number == last.number + 1) {
                last = next;
                has = take(&rest, &next);
            }
            is_several = true;
            if (is_range) {
                buf_format(&numbers, "-%.*s", (int)last.digits.length, last.digits.text);
                if (!has || !is_alike(&last, &next)) break;
                begin = next;
            }
            buf_format(&numbers, ",%.*s", (int)begin.digits.length, begin.digits.text);
            last = begin;
        }
        buf_format(out, "%s%.*s%s", separator, (int)first.prefix.length, first.prefix.text, is_several ? "[" : "");
        buf_add_str(out, (struct str){numbers.text, numbers.length});
        if (is_several) buf_add_char(out, ']');
        separator = ",";
        buf_release(&numbers);
        if (!has) break;
    }
}
