#include "engine/usage_rule.h"

#include <string.h>

/* The list is last, because it may contain blanks. */
static const enum setting rule_settings[] = {SET_GE_SHARETREE_RESERVED_USAGE, SET_GE_HALFTIME, SET_GE_DECAY_RULE,
                                             SET_GE_HALFLIFE_DECAY_LIST};
enum { RULE_SETTING_COUNT = sizeof rule_settings / sizeof *rule_settings };

const char *usage_rule_format(const struct settings *s, struct arena *arena)
{
    struct buf text = {0};
    for (int i = 0; i < RULE_SETTING_COUNT; i++) {
        buf_format(&text, "%s%s=", i > 0 ? " " : "", settings_table[rule_settings[i]].name);
        setting_format(rule_settings[i], &s->value[rule_settings[i]], &text);
    }
    const char *copy = arena_copy(arena, (struct str){text.text, text.length});
    buf_release(&text);
    return copy;
}

static int fail_rule(struct str text, struct err *e)
{
    return err_set(e, ERR_INPUT, "'%.*s' is not a usage rule", (int)text.length, text.text);
}

/* Reads "NAME=VALUE" into the settings. is_last: the value is all of the rest. */
static int parse_setting(struct str *rest, bool is_last, struct arena *arena, struct settings *io_settings,
                         struct err *e)
{
    enum setting which;
    struct field_value value;
    struct str name = str_cut(*rest, '=', rest);
    struct str word = is_last ? *rest : str_cut(*rest, ' ', rest);
    if (setting_read(name, word, arena, &which, &value, e) != 0) return -1;
    io_settings->value[which] = value;
    return 0;
}

int usage_rule_parse(struct str text, struct arena *arena, struct usage_rule *out_rule, struct err *e)
{
    struct settings s = settings_defaults();
    struct policy policy;
    struct str rest = text;
    bool is_older = !str_starts(text, str(settings_table[rule_settings[0]].name));
    if (is_older) s.value[rule_settings[0]].number = 1;
    for (int i = is_older; i < RULE_SETTING_COUNT; i++) {
        bool is_last = i + 1 == RULE_SETTING_COUNT;
        if (rest.text == NULL || memchr(rest.text, '=', rest.length) == NULL) return fail_rule(text, e);
        if (parse_setting(&rest, is_last, arena, &s, e) != 0) return -1;
    }
    if (policy_make(&s, arena, &policy, e) != 0) return -1;
    *out_rule = (struct usage_rule){policy.tickets.decay, policy.tickets.charges_reserved};
    return 0;
}
