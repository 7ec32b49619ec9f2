#include "fields/host_text.h"

#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/number.h"

enum { SLOTS_PER_HOST_MAX = 1000000 };

static bool is_none(struct str text)
{
    return str_trim(text).length == 0 || str_equal_nocase(str_trim(text), str("NONE"));
}

static bool is_separator(char c)
{
    return c == ',' || c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool host_text_is_name(struct str name)
{
    for (size_t i = 0; i < name.length; i++) {
        if (is_separator(name.text[i]) || memchr("[]=@", name.text[i], 4) != NULL) return false;
    }
    return true;
}

/* At most as many items as separators and one. */
static size_t items_max(struct str text)
{
    size_t count = 1;
    for (size_t i = 0; i < text.length; i++) count += is_separator(text.text[i]);
    return count;
}

/* --- load formulas ------------------------------------------------------------------------------------------------ */

static struct str without_blanks(struct str text, struct arena *arena)
{
    char *copy = arena_alloc(arena, text.length + 1);
    size_t length = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (str_trim((struct str){text.text + i, 1}).length > 0) copy[length++] = text.text[i];
    }
    return (struct str){copy, length};
}

/* The end of a term: the next + or -, but not one in the exponent of a weight. */
static size_t term_length(struct str s)
{
    size_t length = 0;
    for (; length < s.length; length++) {
        bool is_sign = s.text[length] == '+' || s.text[length] == '-';
        if (!is_sign) continue;
        struct str weight, name = str_cut((struct str){s.text, length}, '*', &weight);
        struct str number = weight.text != NULL ? weight : name;
        double unused;
        char last = length > 0 ? s.text[length - 1] : '\0';
        bool is_exponent = (last == 'e' || last == 'E') && number.length > 1 &&
                           number_parse_double((struct str){number.text, number.length - 1}, &unused);
        if (!is_exponent) break;
    }
    return length;
}

/* "infinity" is a name: the difference of two infinite loads would be no number. */
static bool parse_weight(struct str text, double *out_number)
{
    double number;
    if (text.length == 0 || !number_parse_double(text, &number) || !isfinite(number)) return false;
    *out_number = number;
    return true;
}

/* A number, or a value with a weight behind it. */
static int read_term(struct str term, double sign, const char *what, struct load_term_text *out, struct err *e)
{
    struct str weight, name = str_cut(term, '*', &weight);
    double number, factor = 1.0;
    if (name.length > 0 && name.text[0] == '$') name = str_range(name.text + 1, name.text + name.length);
    if (name.length == 0) return err_value_reason(e, what, term, "has no value");
    if (weight.text != NULL && weight.length == 0)
        return err_value_reason(e, what, term, "has no number behind its '*'");
    bool is_number = parse_weight(name, &number), has_weight = parse_weight(weight, &factor);
    if (is_number && has_weight) return err_value_reason(e, what, term, "has no value");
    if (is_number && weight.text != NULL)
        return err_value_reason(e, what, term, "has its number before the value; write it behind, as in np_load_avg*2");
    if (weight.text != NULL && !has_weight) return err_value(e, what, weight, "a number: only numbers are weights");
    *out = is_number ? (struct load_term_text){.weight = sign * number}
                     : (struct load_term_text){.name = name, .weight = sign * factor};
    return 0;
}

int host_text_load_formula(struct str text, const char *what, struct arena *arena, struct load_formula_text *out,
                           struct err *e)
{
    struct str rest = without_blanks(text, arena);
    struct load_formula_text formula = {.terms = arena_alloc(arena, (rest.length + 1) * sizeof *formula.terms)};
    if (rest.length == 0) return err_value(e, what, text, "a sum of load values such as np_load_avg*2-slots");
    for (bool is_first = true; rest.length > 0; is_first = false) {
        bool has_sign = rest.text[0] == '+' || rest.text[0] == '-';
        double sign = rest.text[0] == '-' ? -1.0 : 1.0;
        if (has_sign) rest = str_range(rest.text + 1, rest.text + rest.length);
        if (rest.length == 0 && !is_first) break; /* a trailing operator */
        size_t length = term_length(rest);
        if (length == 0) return err_value_reason(e, what, text, "has an operator without a value");
        if (read_term((struct str){rest.text, length}, sign, what, &formula.terms[formula.count++], e) != 0) return -1;
        rest = str_range(rest.text + length, rest.text + rest.length);
    }
    *out = formula;
    return 0;
}

int host_text_load_formula_check(struct str text, const char *what, struct err *e)
{
    struct arena arena = {0};
    struct load_formula_text unused;
    int status = host_text_load_formula(text, what, &arena, &unused, e);
    arena_release(&arena);
    return status;
}

/* --- names with values -------------------------------------------------------------------------------------------- */

static bool has_name(const struct named_value *items, uint32_t count, struct str name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (str_equal(items[i].name, name)) return true;
    }
    return false;
}

int host_text_named_values(struct str text, const char *what, struct arena *arena, struct named_values *out,
                           struct err *e)
{
    struct named_values values = {.items = arena_alloc(arena, items_max(text) * sizeof *values.items)};
    for (struct str rest = is_none(text) ? (struct str){0} : text; rest.text != NULL;) {
        struct str value, item = str_trim(str_cut(rest, ',', &rest)), name = str_trim(str_cut(item, '=', &value));
        if (name.length == 0 || (value.text != NULL && str_trim(value).length == 0))
            return err_value(e, what, item, "NAME=VALUE");
        if (has_name(values.items, values.count, name)) return err_value_reason(e, what, name, "occurs twice");
        if (value.text != NULL) value = str_trim(value);
        values.items[values.count++] = (struct named_value){name, value};
    }
    *out = values;
    return 0;
}

int host_text_named_values_check(struct str text, const char *what, struct err *e)
{
    struct arena arena = {0};
    struct named_values unused;
    int status = host_text_named_values(text, what, &arena, &unused, e);
    arena_release(&arena);
    return status;
}

/* The text up to a comma outside brackets; *rest is what follows the comma, or ends. */
static struct str cut_outside_brackets(struct str s, struct str *rest)
{
    size_t depth = 0;
    for (size_t i = 0; i < s.length; i++) {
        char c = s.text[i];
        if (c == '[') depth++;
        if (c == ']' && depth > 0) depth--;
        if (c != ',' || depth > 0) continue;
        *rest = str_range(s.text + i + 1, s.text + s.length);
        return (struct str){s.text, i};
    }
    *rest = (struct str){0};
    return s;
}

/* Whether the first bracket of an item is closed by its last one. */
static bool is_bracket(struct str item)
{
    size_t depth = 1, i = 1;
    for (; i < item.length && depth > 0; i++) {
        if (item.text[i] == '[') depth++;
        if (item.text[i] == ']') depth--;
    }
    return depth == 0 && i == item.length;
}

static int read_bracket(struct str item, const char *what, struct host_values *values, struct err *e)
{
    if (!is_bracket(item)) return err_value(e, what, item, "[HOST=VALUE]");
    struct str value, inside = str_range(item.text + 1, item.text + item.length - 1);
    struct str name = str_trim(str_cut(inside, '=', &value));
    if (name.length == 0 || value.text == NULL || str_trim(value).length == 0)
        return err_value(e, what, item, "[HOST=VALUE]");
    if (has_name(values->hosts, values->count, name)) return err_value_reason(e, what, name, "occurs twice");
    values->hosts[values->count++] = (struct named_value){name, str_trim(value)};
    return 0;
}

/* The common value may contain commas itself ("np_load_avg=1.75,mem=1G,[n1=NONE]"): it ends before the first
 * bracket. */
int host_text_host_values(struct str text, const char *what, struct arena *arena, struct host_values *out,
                          struct err *e)
{
    struct host_values values = {.hosts = arena_alloc(arena, items_max(text) * sizeof *values.hosts)};
    struct str all = str_trim(text), rest = all;
    size_t end = 0;
    while (rest.text != NULL) {
        struct str item = str_trim(cut_outside_brackets(rest, &rest));
        if (item.length > 0 && item.text[0] == '[') {
            if (read_bracket(item, what, &values, e) != 0) return -1;
        } else if (values.count > 0) {
            return err_value_reason(e, what, item, "stands behind values of hosts");
        } else {
            end = (size_t)(item.text + item.length - all.text);
        }
    }
    values.common = str_trim((struct str){all.text, end});
    if (values.common.length == 0) return err_value(e, what, text, "a value, such as 4 or 4,[n1=2]");
    *out = values;
    return 0;
}

int host_text_host_values_check(struct str text, const char *what, struct err *e)
{
    struct arena arena = {0};
    struct host_values unused;
    int status = host_text_host_values(text, what, &arena, &unused, e);
    arena_release(&arena);
    return status;
}

/* --- names -------------------------------------------------------------------------------------------------------- */

/* The last closing bracket, or the text's begin. */
static const char *last_bracket(struct str text)
{
    const char *last = text.text;
    for (size_t i = 0; i < text.length; i++) {
        if (text.text[i] == ']') last = text.text + i;
    }
    return last;
}

/* Commas and blanks in a bracket that is closed (before last_close) separate nothing: "n[1-3,7]". */
static struct str next_name(struct str *rest, const char *last_close)
{
    size_t begin = 0, end;
    bool is_inside = false;
    while (begin < rest->length && is_separator(rest->text[begin])) begin++;
    for (end = begin; end < rest->length && (is_inside || !is_separator(rest->text[end])); end++) {
        if (rest->text[end] == '[' && rest->text + end < last_close) is_inside = true;
        if (rest->text[end] == ']') is_inside = false;
    }
    struct str name = {rest->text + begin, end - begin};
    *rest = str_range(rest->text + end, rest->text + rest->length);
    return name;
}

int host_text_names(struct str text, const char *what, struct arena *arena, struct name_list *out, struct err *e)
{
    struct name_list list = {.items = arena_alloc(arena, items_max(text) * sizeof *list.items)};
    const char *last_close = last_bracket(text);
    struct map seen = {0}; /* a list may have all hosts of a large cluster */
    int status = 0;
    for (struct str rest = is_none(text) ? (struct str){0} : text; rest.length > 0 && status == 0;) {
        struct str name = next_name(&rest, last_close);
        if (name.length == 0) continue;
        if (map_get(&seen, name) != NONE) status = err_value_reason(e, what, name, "occurs twice");
        map_set(&seen, name, list.count);
        list.items[list.count++] = name;
    }
    map_release(&seen);
    if (status == 0) *out = list;
    return status;
}

static bool has_empty_item(struct str text)
{
    struct str rest = text;
    while (rest.text != NULL) {
        if (str_trim(str_cut(rest, ',', &rest)).length == 0) return true;
    }
    return false;
}

int host_text_names_check(struct str text, const char *what, struct err *e)
{
    struct arena arena = {0};
    struct name_list list;
    int status = host_text_names(text, what, &arena, &list, e);
    if (status == 0 && !is_none(text) && has_empty_item(text))
        status = err_value_reason(e, what, text, "has an empty item; one comma stands between two names");
    for (uint32_t i = 0; status == 0 && i < list.count; i++) {
        if (is_none(list.items[i])) status = err_value_reason(e, what, text, "has names beside NONE, the empty list");
    }
    arena_release(&arena);
    return status;
}

/* --- allocation rules --------------------------------------------------------------------------------------------- */

int host_text_allocation_rule(struct str text, const char *what, enum rule_text *out_rule, uint32_t *out_slots,
                              struct err *e)
{
    static const char *const words[] = {
        [RULE_PE_SLOTS] = "$pe_slots", [RULE_FILL_UP] = "$fill_up", [RULE_ROUND_ROBIN] = "$round_robin"};
    uint64_t slots;
    for (int i = 0; i < RULE_FIXED; i++) {
        if (!str_equal(text, str(words[i]))) continue;
        *out_rule = (enum rule_text)i;
        *out_slots = 0;
        return 0;
    }
    if (!number_parse_u64(text, &slots) || slots == 0 || slots > SLOTS_PER_HOST_MAX)
        return err_value(e, what, text, "$pe_slots, $fill_up, $round_robin or a number of slots for each host, 1 to %d",
                         SLOTS_PER_HOST_MAX);
    *out_rule = RULE_FIXED;
    *out_slots = (uint32_t)slots;
    return 0;
}

int host_text_allocation_rule_check(struct str text, const char *what, struct err *e)
{
    enum rule_text unused;
    uint32_t unused_slots;
    return host_text_allocation_rule(text, what, &unused, &unused_slots, e);
}
