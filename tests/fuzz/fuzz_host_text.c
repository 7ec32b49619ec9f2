/* Texts of hosts, queues and load from arbitrary bytes, with every parser. The check function agrees with the parser.
 * What is read lies within the text, and reads back from its own text. A refused text leaves the output unchanged, and
 * the error is one printable line that names the field. */
#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "base/number.h"
#include "base/text.h"
#include "fields/host_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_refusal(const struct err *e)
{
    const char *sentence = ERR_SENTENCE(e);
    ensure(e->code == ERR_INPUT && strncmp(sentence, "field: ", 7) == 0 && str_is_printable(str(sentence)));
}

static bool is_inside(struct str part, struct str whole)
{
    return part.length > 0 && part.text >= whole.text && part.text + part.length <= whole.text + whole.length;
}

static bool is_trimmed(struct str s)
{
    return str_trim(s).length == s.length;
}

static struct str view_of(const struct buf *text)
{
    return (struct str){text->text, text->length};
}

/* --- load formulas ------------------------------------------------------------------------------------------------ */

static void write_formula(const struct load_formula_text *formula, struct buf *out)
{
    for (uint32_t i = 0; i < formula->count; i++) {
        const struct load_term_text *term = &formula->terms[i];
        char weight[NUMBER_TEXT_SIZE];
        number_format_shortest(weight, fabs(term->weight));
        buf_add_char(out, signbit(term->weight) ? '-' : '+');
        if (term->name.length > 0 && term->name.text[0] == '$') buf_add_char(out, '$'); /* one is left out in reading */
        buf_add(out, term->name.text, term->name.length);
        buf_format(out, "%s%s", term->name.length > 0 ? "*" : "", weight);
    }
}

static void check_formula_text(const struct load_formula_text *formula, struct arena *arena)
{
    struct buf text = {0};
    struct load_formula_text back;
    write_formula(formula, &text);
    ensure(host_text_load_formula(view_of(&text), "field", arena, &back, NULL) == 0 && back.count == formula->count);
    for (uint32_t i = 0; i < back.count; i++) {
        ensure(str_equal(back.terms[i].name, formula->terms[i].name));
        ensure(memcmp(&back.terms[i].weight, &formula->terms[i].weight, sizeof(double)) == 0);
    }
    buf_release(&text);
}

static void check_formula(struct str s, struct arena *arena)
{
    struct err e = {0};
    struct load_formula_text formula = {.count = 77};
    int status = host_text_load_formula(s, "field", arena, &formula, &e);
    ensure(host_text_load_formula_check(s, "field", NULL) == status);
    if (status != 0) {
        check_refusal(&e);
        ensure(formula.terms == NULL && formula.count == 77);
        return;
    }
    ensure(formula.count > 0);
    for (uint32_t i = 0; i < formula.count; i++) {
        ensure(isfinite(formula.terms[i].weight));
        ensure(formula.terms[i].name.length == 0 || is_trimmed(formula.terms[i].name));
    }
    check_formula_text(&formula, arena);
}

/* --- names with values -------------------------------------------------------------------------------------------- */

static void check_named(const struct named_value *items, uint32_t count, struct str s)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct named_value *v = &items[i];
        ensure(is_inside(v->name, s) && is_trimmed(v->name) && memchr(v->name.text, '=', v->name.length) == NULL);
        ensure(v->value.text == NULL || (is_inside(v->value, s) && is_trimmed(v->value)));
        for (uint32_t k = 0; k < i; k++) ensure(!str_equal(items[k].name, v->name));
    }
}

static void check_same(const struct named_value *a, const struct named_value *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        ensure(str_equal(a[i].name, b[i].name) && str_equal(a[i].value, b[i].value));
        ensure((a[i].value.text == NULL) == (b[i].value.text == NULL));
    }
}

static void write_named(const struct named_value *v, struct buf *out)
{
    buf_add(out, v->name.text, v->name.length);
    if (v->value.text == NULL) return;
    buf_add_char(out, '=');
    buf_add(out, v->value.text, v->value.length);
}

static void check_named_values(struct str s, struct arena *arena)
{
    struct err e = {0};
    struct buf text = {0};
    struct named_values values = {.count = 77}, back;
    int status = host_text_named_values(s, "field", arena, &values, &e);
    ensure(host_text_named_values_check(s, "field", NULL) == status);
    if (status != 0) {
        check_refusal(&e);
        ensure(values.items == NULL && values.count == 77);
        return;
    }
    check_named(values.items, values.count, s);
    for (uint32_t i = 0; i < values.count; i++) {
        if (i > 0) buf_add_char(&text, ',');
        write_named(&values.items[i], &text);
    }
    ensure(host_text_named_values(view_of(&text), "field", arena, &back, NULL) == 0 && back.count == values.count);
    check_same(back.items, values.items, back.count);
    buf_release(&text);
}

static void check_host_values(struct str s, struct arena *arena)
{
    struct err e = {0};
    struct buf text = {0};
    struct host_values values = {.count = 77}, back;
    int status = host_text_host_values(s, "field", arena, &values, &e);
    ensure(host_text_host_values_check(s, "field", NULL) == status);
    if (status != 0) {
        check_refusal(&e);
        ensure(values.hosts == NULL && values.count == 77);
        return;
    }
    ensure(is_inside(values.common, s) && is_trimmed(values.common));
    check_named(values.hosts, values.count, s);
    buf_add(&text, values.common.text, values.common.length);
    for (uint32_t i = 0; i < values.count; i++) {
        ensure(values.hosts[i].value.text != NULL);
        buf_add_text(&text, ",[");
        write_named(&values.hosts[i], &text);
        buf_add_char(&text, ']');
    }
    ensure(host_text_host_values(view_of(&text), "field", arena, &back, NULL) == 0 && back.count == values.count);
    ensure(str_equal(back.common, values.common));
    check_same(back.hosts, values.hosts, back.count);
    buf_release(&text);
}

/* --- names and rules ---------------------------------------------------------------------------------------------- */

/* The comma at the end tells a list of the name NONE from an empty one. */
static void check_names(struct str s, struct arena *arena)
{
    struct err e = {0};
    struct buf text = {0};
    struct name_list list = {.count = 77}, back;
    int status = host_text_names(s, "field", arena, &list, &e);
    ensure(status == 0 || host_text_names_check(s, "field", NULL) != 0);
    if (status != 0) {
        check_refusal(&e);
        ensure(list.items == NULL && list.count == 77);
        return;
    }
    for (uint32_t i = 0; i < list.count; i++) {
        ensure(is_inside(list.items[i], s) && is_trimmed(list.items[i]));
        for (uint32_t k = 0; k < i; k++) ensure(!str_equal(list.items[k], list.items[i]));
        buf_add(&text, list.items[i].text, list.items[i].length);
        buf_add_char(&text, ',');
    }
    ensure(host_text_names(view_of(&text), "field", arena, &back, NULL) == 0 && back.count == list.count);
    for (uint32_t i = 0; i < back.count; i++) ensure(str_equal(back.items[i], list.items[i]));
    buf_release(&text);
}

static void check_allocation_rule(struct str s)
{
    struct err e = {0};
    enum rule_text rule = RULE_FIXED;
    uint32_t slots = 77;
    int status = host_text_allocation_rule(s, "field", &rule, &slots, &e);
    ensure(host_text_allocation_rule_check(s, "field", NULL) == status);
    if (status != 0) {
        check_refusal(&e);
        ensure(rule == RULE_FIXED && slots == 77);
        return;
    }
    ensure(rule == RULE_FIXED ? slots >= 1 && slots <= 1000000 : slots == 0 && s.text[0] == '$');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str s = {(const char *)data, size};
    struct arena arena = {0};
    check_formula(s, &arena);
    check_named_values(s, &arena);
    check_host_values(s, &arena);
    check_names(s, &arena);
    check_allocation_rule(s);
    arena_release(&arena);
    return 0;
}
