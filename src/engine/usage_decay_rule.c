#include "engine/usage_decay_rule.h"

/* The list is last, because it may contain blanks. */
static const enum setting owner_rule[] = {SET_GE_HALFTIME, SET_GE_DECAY_RULE, SET_GE_HALFLIFE_DECAY_LIST};
enum { OWNER_RULE_COUNT = sizeof owner_rule / sizeof *owner_rule };

const char *usage_decay_rule_format(const struct settings *s, struct arena *arena)
{
    struct buf text = {0};
    for (int i = 0; i < OWNER_RULE_COUNT; i++) {
        buf_format(&text, "%s%s=", i > 0 ? " " : "", settings_table[owner_rule[i]].name);
        setting_format(owner_rule[i], &s->value[owner_rule[i]], &text);
    }
    const char *copy = arena_copy(arena, (struct str){text.text, text.length});
    buf_release(&text);
    return copy;
}

int usage_decay_rule_parse(struct str text, struct arena *arena, struct ticket_decay *out_decay, struct err *e)
{
    struct settings s = settings_defaults();
    struct policy policy;
    struct str rest = text;
    for (int i = 0; i < OWNER_RULE_COUNT; i++) {
        enum setting which;
        struct field_value value;
        bool is_last = i + 1 == OWNER_RULE_COUNT;
        struct str name = str_cut(rest, '=', &rest);
        if (rest.text == NULL) return err_set(e, ERR_INPUT, "'%.*s' is not a decay rule", (int)text.length, text.text);
        struct str word = is_last ? rest : str_cut(rest, ' ', &rest);
        if (setting_read(name, word, arena, &which, &value, e) != 0) return -1;
        s.value[which] = value;
        if (!is_last && rest.text == NULL)
            return err_set(e, ERR_INPUT, "'%.*s' is not a decay rule", (int)text.length, text.text);
    }
    if (policy_make(&s, arena, &policy, e) != 0) return -1;
    *out_decay = policy.tickets.decay;
    return 0;
}
