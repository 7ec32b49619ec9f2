/* Rules of resource quota sets from arbitrary bytes. The check agrees with the parser, and a refused text leaves the
 * output unchanged, with one printable line that names the field. What was read is well formed, and each rule read
 * alone says the same. */
#include <string.h>

#include "base/ensure.h"
#include "fields/quota_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_scope(const struct quota_scope *s, enum quota_filter filter)
{
    struct str group;
    ensure(!s->is_each || s->count > 0);
    for (uint32_t i = 0; i < s->count; i++) {
        struct str name = s->items[i].name;
        bool is_ranged = filter == QUOTA_HOSTS && memchr(s->text.text, '[', s->text.length) != NULL;
        ensure(name.length > 0 && (is_ranged || name.text >= s->text.text));
        ensure(is_ranged || name.text + name.length <= s->text.text + s->text.length);
        ensure(!quota_text_is_group(name, &group) || filter == QUOTA_USERS || filter == QUOTA_HOSTS);
    }
}

static void check_rule(const struct quota_rule *rule)
{
    ensure(rule->limit_count > 0 && rule->text.length > 0);
    for (int f = 0; f < QUOTA_FILTER_COUNT; f++) check_scope(&rule->scope[f], (enum quota_filter)f);
    for (uint32_t i = 0; i < rule->limit_count; i++) {
        ensure(rule->limits[i].resource.length > 0 && rule->limits[i].amount.length > 0);
        ensure(!rule->limits[i].is_formula || rule->scope[QUOTA_HOSTS].is_each);
        for (uint32_t k = 0; k < i; k++) ensure(!str_equal(rule->limits[k].resource, rule->limits[i].resource));
    }
}

static void check_alone(const struct quota_rule *rule, struct arena *arena)
{
    struct quota_rules alone;
    ensure(quota_text_rules(rule->text, "field", arena, &alone, NULL) == 0 && alone.count == 1);
    const struct quota_rule *same = &alone.items[0];
    ensure(str_equal(same->name, rule->name) && same->limit_count == rule->limit_count);
    for (int f = 0; f < QUOTA_FILTER_COUNT; f++) {
        ensure(same->scope[f].count == rule->scope[f].count && same->scope[f].is_each == rule->scope[f].is_each);
        ensure(str_equal(same->scope[f].text, rule->scope[f].text));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    struct quota_rules rules = {.count = 77};
    struct arena arena = {0};
    struct err e = {0};
    int status = quota_text_rules(text, "field", &arena, &rules, &e);
    ensure(quota_text_rules_check(text, "field", NULL) == status);
    if (status != 0) {
        const char *sentence = ERR_SENTENCE(&e);
        ensure(e.code == ERR_INPUT && strncmp(sentence, "field: ", 7) == 0 && str_is_printable(str(sentence)));
        ensure(rules.items == NULL && rules.count == 77);
    }
    for (uint32_t i = 0; i < rules.count && status == 0; i++) {
        check_rule(&rules.items[i]);
        check_alone(&rules.items[i], &arena);
    }
    arena_release(&arena);
    return 0;
}
