/* The table is small (ten entries on most clusters, 64 at most) and is searched from front to back. What is done for
 * every job uses the index.
 *
 * Texts are items between commas, "type[/name]=number[suffix]". A suffix stands for steps of 1024 from the base unit of
 * the type, which is M for mem and bb and one piece for the others:
 *
 *     suffix          K     M     G     T     P
 *     steps, mem      -     0     1     2     3        "mem=4G" is 4096, "mem=4K" is 4
 *     steps, others   1     2     3     4     5        "cpu=2K" is 2048
 *
 * In a list the count is multiplied by 1024^steps. A weight belongs to a base unit, so it is divided by 1024^steps.
 * Both are powers of two, so nothing is rounded. A count may be a fraction if its suffix has steps, as scontrol writes
 * "mem=62.50G"; a rest below the base unit is dropped. */
#include "policy/tres.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/ensure.h"
#include "base/near_names.h"
#include "base/number.h"

enum { NAME_MAX = 255 };

#define COUNT_MAX 9007199254740992.0 /* 2^53 */
#define WEIGHT_MAX 1e15

static const struct {
    const char *text;
    bool has_name, in_mib;
} types[TRES_TYPE_COUNT] = {
    [TRES_TYPE_BB] = {.text = "bb", .has_name = true, .in_mib = true},
    [TRES_TYPE_BILLING] = {.text = "billing"},
    [TRES_TYPE_CPU] = {.text = "cpu"},
    [TRES_TYPE_ENERGY] = {.text = "energy"},
    [TRES_TYPE_FS] = {.text = "fs", .has_name = true},
    [TRES_TYPE_GRES] = {.text = "gres", .has_name = true},
    [TRES_TYPE_IC] = {.text = "ic", .has_name = true},
    [TRES_TYPE_LICENSE] = {.text = "license", .has_name = true},
    [TRES_TYPE_MEM] = {.text = "mem", .in_mib = true},
    [TRES_TYPE_NODE] = {.text = "node"},
    [TRES_TYPE_PAGES] = {.text = "pages"},
    [TRES_TYPE_VMEM] = {.text = "vmem"},
};

static const struct tres static_tres[TRES_STATIC_COUNT] = {
    [TRES_CPU] = {.type = TRES_TYPE_CPU, .text = "cpu", .id = 1, .generic = NONE},
    [TRES_MEM] = {.type = TRES_TYPE_MEM, .text = "mem", .id = 2, .generic = NONE},
    [TRES_ENERGY] = {.type = TRES_TYPE_ENERGY, .text = "energy", .id = 3, .generic = NONE},
    [TRES_NODE] = {.type = TRES_TYPE_NODE, .text = "node", .id = 4, .generic = NONE},
    [TRES_BILLING] = {.type = TRES_TYPE_BILLING, .text = "billing", .id = 5, .generic = NONE},
    [TRES_FS_DISK] = {.type = TRES_TYPE_FS, .name = "disk", .text = "fs/disk", .id = 6, .generic = NONE},
    [TRES_VMEM] = {.type = TRES_TYPE_VMEM, .text = "vmem", .id = 7, .generic = NONE},
    [TRES_PAGES] = {.type = TRES_TYPE_PAGES, .text = "pages", .id = 8, .generic = NONE},
};

/* --- the table ---------------------------------------------------------------------------------------------------- */

static enum tres_type find_type(struct str text)
{
    int i = 0;
    while (i < TRES_TYPE_COUNT && !str_equal_nocase(str(types[i].text), text)) i++;
    return (enum tres_type)i;
}

static uint32_t find_in_table(const struct tres_table *t, enum tres_type type, struct str name)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->items[i].type == type && str_equal(str(t->items[i].name), name)) return i;
    }
    return NONE;
}

uint32_t tres_find(const struct tres_table *t, struct str text)
{
    struct str name;
    enum tres_type type = find_type(str_cut(text, '/', &name));
    if (type == TRES_TYPE_COUNT || (name.text != NULL) != types[type].has_name) return NONE;
    return find_in_table(t, type, name);
}

/* Names appear in lists and weights, so the separators of those are not allowed. "gpu:" and ":tesla" have an empty
 * part. */
static bool is_name(struct str name)
{
    if (name.length == 0 || name.length > NAME_MAX || !str_is_printable(name)) return false;
    if (name.text[0] == ':' || name.text[name.length - 1] == ':') return false;
    for (size_t i = 0; i < name.length; i++) {
        if (name.text[i] == '=' || name.text[i] == ',' || name.text[i] == ' ') return false;
    }
    return true;
}

static int add_to_table(struct tres_table *t, struct str item, const char *field, struct arena *arena, struct err *e)
{
    struct str name;
    enum tres_type type = find_type(str_cut(item, '/', &name));
    if (type == TRES_TYPE_COUNT)
        return err_value(e, field, item,
                         "a TRES: bb/NAME, billing, cpu, energy, fs/NAME, gres/NAME, ic/NAME, license/NAME, mem, node, "
                         "pages or vmem");
    if (!types[type].has_name && name.text != NULL)
        return err_value_reason(e, field, item, "has a name, which %s does not take", types[type].text);
    if (types[type].has_name && !is_name(name))
        return err_value(e, field, item, "%s/NAME with a name of up to %d bytes without blank, ',' or '='",
                         types[type].text, NAME_MAX);
    if (find_in_table(t, type, name) != NONE) return 0;
    if (t->count == TRES_MAX) return err_value_reason(e, field, item, "exceeds the maximum of %d TRES", TRES_MAX);
    struct buf text = {0};
    buf_format(&text, "%s/%.*s", types[type].text, (int)name.length, name.text);
    const char *kept = arena_copy(arena, (struct str){text.text, text.length});
    buf_release(&text);
    t->items[t->count] = (struct tres){
        .type = type,
        .name = kept + strlen(types[type].text) + 1,
        .text = kept,
        .id = TRES_FIRST_OWN_ID + t->count - TRES_STATIC_COUNT,
        .generic = NONE,
    };
    t->count++;
    return 0;
}

static void find_generics(struct tres_table *t)
{
    for (uint32_t i = TRES_STATIC_COUNT; i < t->count; i++) {
        struct str type, name = str(t->items[i].name);
        struct str generic = str_cut(name, ':', &type);
        if (t->items[i].type == TRES_TYPE_GRES && type.text != NULL)
            t->items[i].generic = find_in_table(t, TRES_TYPE_GRES, generic);
    }
}

int tres_table_make(struct tres_table *t, struct str tracked, const char *field, struct arena *arena, struct err *e)
{
    struct tres_table table = {.count = TRES_STATIC_COUNT};
    memcpy(table.items, static_tres, sizeof static_tres);
    if (str_trim(tracked).length == 0) tracked = (struct str){0};
    for (struct str rest = tracked; rest.text != NULL;) {
        if (add_to_table(&table, str_trim(str_cut(rest, ',', &rest)), field, arena, e) != 0) return -1;
    }
    find_generics(&table);
    *t = table;
    return 0;
}

/* --- numbers with suffixes ---------------------------------------------------------------------------------------- */

enum { MIB_STEPS = 2, BITS_PER_STEP = 10 };

/* Removes the suffix, if there is one. Returns its steps above the type's base unit, at least 0. */
static int cut_suffix(struct str *s, enum tres_type type)
{
    static const char letters[] = "KkMmGgTtPp";
    const char *letter = s->length == 0 ? NULL : memchr(letters, s->text[s->length - 1], sizeof letters - 1);
    if (letter == NULL) return 0;
    s->length--;
    int steps = (int)(letter - letters) / 2 + 1 - (types[type].in_mib ? MIB_STEPS : 0);
    return steps > 0 ? steps : 0;
}

static bool is_decimal(struct str s)
{
    for (size_t i = 0; i < s.length; i++) {
        if ((s.text[i] < '0' || s.text[i] > '9') && s.text[i] != '.') return false;
    }
    return true;
}

static bool read_count(struct str text, enum tres_type type, double *out_count)
{
    int steps = cut_suffix(&text, type);
    double count;
    if (!is_decimal(text) || !number_parse_double(text, &count) || !number_is_held(text)) return false;
    if (memchr(text.text, '.', text.length) != NULL && steps == 0) return false;
    count = floor(ldexp(count, steps * BITS_PER_STEP));
    if (!(count <= COUNT_MAX)) return false;
    *out_count = count;
    return true;
}

static bool read_weight(struct str text, enum tres_type type, double *out_weight)
{
    int steps = cut_suffix(&text, type);
    double weight;
    if (!number_parse_double(text, &weight)) return false;
    if (!(fabs(weight) <= WEIGHT_MAX)) return false;
    *out_weight = ldexp(weight, -steps * BITS_PER_STEP);
    return true;
}

/* The tracked TRES that a name without its type means, "gres/gpu" for "gpu", or NULL. */
static const char *find_without_type(const struct tres_table *t, struct str name)
{
    for (uint32_t i = 0; i < t->count; i++) {
        struct str rest;
        (void)str_cut(str(t->items[i].text), '/', &rest);
        if (rest.text != NULL && str_equal_nocase(rest, name)) return t->items[i].text;
    }
    return NULL;
}

/* The tracked TRES that a mistyped name may mean, "cpu" for "cpus", or NULL. */
static const char *find_nearest(const struct tres_table *t, struct str name)
{
    for (uint32_t i = 0; i < t->count; i++) {
        struct str near[NEAR_NAMES_MAX];
        if (near_names_find(str(t->items[i].text), name, near) > 0) return t->items[i].text;
    }
    return NULL;
}

static int fail_untracked(const struct tres_table *t, const char *field, struct str name, struct err *e)
{
    const char *meant = find_without_type(t, name);
    if (meant == NULL) meant = find_nearest(t, name);
    if (meant == NULL) return err_value(e, field, name, "a tracked TRES (AccountingStorageTRES)");
    return err_value(e, field, name, "a tracked TRES (AccountingStorageTRES); did you mean '%s'?", meant);
}

/* Cuts "type/name=number" in two. Returns the index of its TRES, or NONE with *e filled. seen: by index, whether an
 * item named it before. */
static uint32_t parse_item(const struct tres_table *t, struct str item, bool seen[TRES_MAX], const char *field,
                           struct str *out_number, struct err *e)
{
    struct str number, name = str_trim(str_cut(item, '=', &number));
    uint32_t found = tres_find(t, name);
    if (number.text == NULL) {
        (void)err_value(e, field, item, "TRES=NUMBER, separated by commas");
        return NONE;
    }
    if (found == NONE) {
        (void)fail_untracked(t, field, name, e);
        return NONE;
    }
    if (seen[found]) {
        (void)err_value_reason(e, field, str(t->items[found].text), "is named twice");
        return NONE;
    }
    seen[found] = true;
    *out_number = str_trim(number);
    return found;
}

/* --- lists -------------------------------------------------------------------------------------------------------- */

void tres_list_from_amounts(const double *amounts, uint32_t count, struct tres_list *out_list)
{
    out_list->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (amounts[i] > 0.0) out_list->items[out_list->count++] = (struct tres_amount){i, amounts[i]};
    }
}

int tres_list_parse(const struct tres_table *t, struct str text, const char *field, struct arena *arena,
                    struct tres_list *out_list, struct err *e)
{
    double amounts[TRES_MAX] = {0};
    bool seen[TRES_MAX] = {false};
    if (str_trim(text).length == 0) text = (struct str){0};
    for (struct str rest = text; rest.text != NULL;) {
        struct str number, item = str_trim(str_cut(rest, ',', &rest));
        uint32_t i = parse_item(t, item, seen, field, &number, e);
        if (i == NONE) return -1;
        if (!read_count(number, t->items[i].type, &amounts[i]))
            return err_value(
                e, field, item,
                "TRES=COUNT with a whole number from 0 to 2^53, or a fraction with a suffix K, M, G, T or P");
    }
    out_list->items = arena_alloc(arena, t->count * sizeof *out_list->items);
    tres_list_from_amounts(amounts, t->count, out_list);
    return 0;
}

/* A suffix would look like minutes and be 1024 times or more as many. */
static bool is_minutes(const char *field)
{
    size_t length = strlen(field);
    return length > 4 && strcmp(field + length - 4, "Mins") == 0;
}

static bool read_limit(struct str number, enum tres_type type, bool is_minutes, double *out_limit)
{
    bool is_none = str_equal(number, str("-1")) || str_equal_nocase(number, str("UNLIMITED")) ||
                   str_equal_nocase(number, str("INFINITE"));
    struct str digits = number;
    *out_limit = TRES_UNLIMITED;
    if (is_none) return true;
    (void)cut_suffix(&digits, type);
    return (!is_minutes || digits.length == number.length) && read_count(number, type, out_limit);
}

static int fail_limit(const char *field, struct str item, struct err *e)
{
    if (is_minutes(field))
        return err_value(
            e, field, item,
            "TRES=MINUTES with a whole number from 0 to 2^53 without a suffix (cpu=300), or -1 or UNLIMITED "
            "for no limit");
    return err_value(e, field, item,
                     "TRES=COUNT with a whole number from 0 to 2^53, a fraction with a suffix K, M, G, T or P, "
                     "or -1 or UNLIMITED for no limit");
}

int tres_limits_change(const struct tres_table *t, struct str text, const char *field, double *io_limits, struct err *e)
{
    double limits[TRES_MAX];
    bool seen[TRES_MAX] = {false};
    memcpy(limits, io_limits, t->count * sizeof *limits);
    if (str_trim(text).length == 0) text = (struct str){0};
    for (struct str rest = text; rest.text != NULL;) {
        struct str number, item = str_trim(str_cut(rest, ',', &rest));
        uint32_t i = parse_item(t, item, seen, field, &number, e);
        if (i == NONE) return -1;
        if (!read_limit(number, t->items[i].type, is_minutes(field), &limits[i])) return fail_limit(field, item, e);
    }
    memcpy(io_limits, limits, t->count * sizeof *limits);
    return 0;
}

void tres_limits_format(const struct tres_table *t, const double *limits, struct buf *out)
{
    const char *separator = "";
    for (uint32_t i = 0; i < t->count; i++) {
        char number[NUMBER_TEXT_SIZE];
        if (limits[i] < 0.0) continue;
        size_t length = number_format_u64(number, (uint64_t)limits[i]);
        buf_format(out, "%s%s=%.*s", separator, t->items[i].text, (int)length, number);
        separator = ",";
    }
}

void tres_list_format(const struct tres_table *t, const struct tres_list *list, struct buf *out)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct tres_amount *a = &list->items[i];
        char number[NUMBER_TEXT_SIZE];
        size_t length = a->amount >= 0.0 && a->amount <= COUNT_MAX && floor(a->amount) >= a->amount
                            ? number_format_u64(number, (uint64_t)a->amount)
                            : number_format_shortest(number, a->amount);
        if (i > 0) buf_add_char(out, ',');
        buf_add_text(out, t->items[a->tres].text);
        buf_add_char(out, '=');
        buf_add(out, number, length);
    }
}

void tres_list_add_generic(const struct tres_table *t, struct tres_list *list)
{
    double amounts[TRES_MAX] = {0}, typed[TRES_MAX] = {0};
    for (uint32_t i = 0; i < list->count; i++) {
        const struct tres_amount *a = &list->items[i];
        ensure(a->tres < t->count);
        uint32_t generic = t->items[a->tres].generic;
        amounts[a->tres] = a->amount;
        if (generic != NONE) typed[generic] += a->amount;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        if (!(amounts[i] > 0.0)) amounts[i] = typed[i];
    }
    tres_list_from_amounts(amounts, t->count, list);
}

void tres_list_set(struct tres_list *list, uint32_t tres, double amount)
{
    uint32_t at = 0;
    while (at < list->count && list->items[at].tres < tres) at++;
    bool has_it = at < list->count && list->items[at].tres == tres, is_kept = amount > 0.0;
    struct tres_amount *next = list->items + at + has_it;
    memmove(list->items + at + is_kept, next, (list->count - at - has_it) * sizeof *next);
    if (is_kept) list->items[at] = (struct tres_amount){tres, amount};
    list->count = list->count + is_kept - has_it;
}

/* --- weights ------------------------------------------------------------------------------------------------------ */

int tres_weights_parse(const struct tres_table *t, struct str text, const char *field, double *out_weights,
                       struct err *e)
{
    double weights[TRES_MAX] = {0};
    bool seen[TRES_MAX] = {false};
    if (str_trim(text).length == 0) text = (struct str){0};
    for (struct str rest = text; rest.text != NULL;) {
        struct str number, item = str_trim(str_cut(rest, ',', &rest));
        uint32_t i = parse_item(t, item, seen, field, &number, e);
        if (i == NONE) return -1;
        if (!read_weight(number, t->items[i].type, &weights[i]))
            return err_value(e, field, item,
                             "TRES=WEIGHT with a number from -1e15 to 1e15 and an optional suffix K, M, G, T or P");
    }
    weights[TRES_BILLING] = 0.0;
    memcpy(out_weights, weights, t->count * sizeof *weights);
    return 0;
}
