#include "fields/quota_text.h"

#include <string.h>

#include "base/array.h"
#include "fields/host_ranges.h"
#include "fields/host_text.h"

enum { RANGED_HOSTS_MAX = 1000 }; /* of one list: each is compared with the others, and more are a group */

static const char *const filter_names[QUOTA_FILTER_COUNT] = {[QUOTA_USERS] = "users",
                                                             [QUOTA_PROJECTS] = "projects",
                                                             [QUOTA_PES] = "pes",
                                                             [QUOTA_QUEUES] = "queues",
                                                             [QUOTA_HOSTS] = "hosts"};

struct quota_reader {
    struct str text;
    const char *at, *end;
    const char *what;
    struct arena *arena;
    struct err *e;
};

const char *quota_text_filter_name(enum quota_filter filter)
{
    return filter_names[filter];
}

bool quota_text_is_group(struct str item, struct str *out_name)
{
    if (item.length < 2 || item.text[0] != '@') return false;
    *out_name = str_range(item.text + 1, item.text + item.length);
    return true;
}

bool quota_text_is_pattern(struct str item)
{
    return memchr(item.text, '*', item.length) != NULL || memchr(item.text, '?', item.length) != NULL;
}

void quota_text_rule_name(const struct quota_rule *rule, uint32_t index, struct buf *out)
{
    if (rule->name.length > 0)
        buf_add(out, rule->name.text, rule->name.length);
    else
        buf_format(out, "%u", index + 1);
}

/* --- words -------------------------------------------------------------------------------------------------------- */

struct position {
    char text[48];
};

static struct position position_of(const struct quota_reader *r, struct str part)
{
    struct position position;
    uint32_t line = 1;
    const char *begin = r->text.text;
    for (const char *p = r->text.text; p < part.text; p++) {
        if (*p != '\n') continue;
        line++;
        begin = p + 1;
    }
    text_format(position.text, sizeof position.text, "in line %u, column %u", line, (uint32_t)(part.text - begin) + 1);
    return position;
}

#define FAIL(reader, part, format, ...) \
    err_value_reason((reader)->e, (reader)->what, part, "%s " format, position_of(reader, part).text, ##__VA_ARGS__)

static bool is_end_of_rule(char c)
{
    return c == ';' || c == '\n';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(struct quota_reader *r)
{
    while (r->at < r->end && is_blank(*r->at)) r->at++;
}

static bool has_more(struct quota_reader *r)
{
    skip_blanks(r);
    return r->at < r->end && !is_end_of_rule(*r->at);
}

/* Consumes a character after blanks if it comes next. */
static bool take(struct quota_reader *r, char c)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

/* Up to a blank, the end of the rule or one of , = { }; it may be empty. */
static struct str next_word(struct quota_reader *r)
{
    skip_blanks(r);
    const char *begin = r->at;
    while (r->at < r->end && !is_blank(*r->at) && !is_end_of_rule(*r->at) && strchr(",={}", *r->at) == NULL) r->at++;
    return str_range(begin, r->at);
}

/* What stands at the reader, for a message; empty at the end of a rule. */
static struct str part_here(const struct quota_reader *r)
{
    struct quota_reader copy = *r;
    struct str word = next_word(&copy);
    if (word.length > 0 || copy.at == copy.end || is_end_of_rule(*copy.at)) return word;
    return str_range(copy.at, copy.at + 1);
}

/* What comes next is not what has to. */
static int fail_expected(const struct quota_reader *r, const char *expected)
{
    struct str part = part_here(r);
    if (part.length > 0) return FAIL(r, part, "stands where %s has to be", expected);
    return err_field(r->e, ERR_INPUT, r->what, "a rule ends %s, where %s has to be", position_of(r, part).text,
                     expected);
}

static size_t items_max(const struct quota_reader *r)
{
    size_t count = 1;
    for (const char *p = r->at; p < r->end && !is_end_of_rule(*p); p++) count += *p == ',';
    return count;
}

/* --- lists -------------------------------------------------------------------------------------------------------- */

static bool has_char(struct str s, char c)
{
    return memchr(s.text, c, s.length) != NULL;
}

/* "n[1-3,7]" of which next_word has given "n[1-3": to the end of the bracket and of the word. */
static struct str finish_bracket(struct quota_reader *r, struct str word)
{
    while (r->at < r->end && !is_end_of_rule(*r->at) && *r->at != ']') r->at++;
    if (r->at < r->end && *r->at == ']') (void)next_word(r);
    return str_range(word.text, r->at);
}

static int read_item(struct quota_reader *r, enum quota_filter filter, struct quota_item *out)
{
    struct str word = next_word(r);
    bool is_open = word.length > 0 && has_char(word, '[') && !has_char(word, ']');
    if (filter == QUOTA_HOSTS && is_open) word = finish_bracket(r, word);
    *out = (struct quota_item){.name = word};
    if (word.length > 0 && word.text[0] == '!') {
        out->is_excluded = true;
        out->name = str_range(word.text + 1, word.text + word.length);
    }
    if (word.length == 0) return fail_expected(r, "an item of a list");
    if (out->name.length == 0 || str_equal(out->name, str("@")))
        return FAIL(r, word, "is not an item of a list of %s", filter_names[filter]);
    bool may_be_group = filter == QUOTA_USERS || filter == QUOTA_HOSTS;
    if (out->name.text[0] == '@' && !may_be_group) return FAIL(r, word, "is a group; only users and hosts have groups");
    if (filter == QUOTA_QUEUES && has_char(out->name, '@'))
        return FAIL(r, word, "has an @; name partitions here, and hosts after the word hosts");
    return 0;
}

static bool has_excluded(const struct quota_scope *s, struct str name)
{
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->items[i].is_excluded && str_equal(s->items[i].name, name)) return true;
    }
    return false;
}

/* Whether an excluded item stands for all that another item does: the same one, or a pattern that matches it. A ? of
 * the pattern would match a * of the item. */
static bool is_excluded(const struct quota_scope *s, struct str name)
{
    if (has_excluded(s, name)) return true;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct quota_item *item = &s->items[i];
        bool is_group = name.text[0] == '@' || item->name.text[0] == '@';
        bool is_unsure = has_char(name, '*') && has_char(item->name, '?');
        if (item->is_excluded && !is_group && !is_unsure && str_matches(name, item->name)) return true;
    }
    return false;
}

/* Every job has a user, a queue and a host, so a list that excludes all of them is for none. */
static bool matches_nothing(const struct quota_scope *s, enum quota_filter filter)
{
    bool is_always_there = filter == QUOTA_USERS || filter == QUOTA_QUEUES || filter == QUOTA_HOSTS, includes = false;
    bool excludes_all = has_excluded(s, str("*"));
    for (uint32_t i = 0; i < s->count; i++) {
        const struct quota_item *item = &s->items[i];
        if (!item->is_excluded && !excludes_all && !is_excluded(s, item->name)) return false;
        includes |= !item->is_excluded;
    }
    return includes || (is_always_there && excludes_all);
}

struct item_list {
    ARRAY(struct quota_item) items;
    uint32_t ranged_count; /* of the items, those that ranges stand for */
};

/* Adds an item, or the hosts that a range stands for: "n[1-3]", "!n[1-3]". */
static int add_item(struct quota_reader *r, enum quota_filter filter, struct quota_item item, struct item_list *list)
{
    struct host_ranges hosts = {0};
    struct err below;
    if (filter != QUOTA_HOSTS || !(has_char(item.name, '[') || has_char(item.name, ']'))) {
        *array_add(&list->items) = item;
        return 0;
    }
    int status = host_ranges_expand(item.name, RANGED_HOSTS_MAX - list->ranged_count, r->arena, &hosts, &below);
    for (uint32_t i = 0; i < hosts.names.count && status == 0; i++)
        *array_add(&list->items) = (struct quota_item){str(hosts.names.items[i]), item.is_excluded};
    list->ranged_count += hosts.names.count;
    if (list->ranged_count >= RANGED_HOSTS_MAX && status != 0)
        status = FAIL(r, item.name, "makes a list of more than %d hosts; name a group of hosts", RANGED_HOSTS_MAX);
    else if (status != 0)
        status = FAIL(r, item.name, "is not a list of hosts: %s", ERR_SENTENCE(&below));
    array_release(&hosts.names);
    return status;
}

static int read_items(struct quota_reader *r, enum quota_filter filter, struct quota_scope *out)
{
    struct item_list list = {0};
    struct quota_item item;
    int status = 0;
    do {
        status = read_item(r, filter, &item);
        if (status == 0) status = add_item(r, filter, item, &list);
    } while (status == 0 && take(r, ','));
    out->count = list.items.count;
    out->items = arena_alloc(r->arena, (out->count + (size_t)1) * sizeof *out->items);
    for (uint32_t i = 0; i < out->count; i++) out->items[i] = list.items.items[i];
    array_release(&list.items);
    return status;
}

static int read_scope(struct quota_reader *r, enum quota_filter filter, struct quota_scope *out)
{
    skip_blanks(r);
    struct quota_scope s = {0};
    const char *begin = r->at;
    s.is_each = take(r, '{');
    if (s.is_each) {
        skip_blanks(r);
        begin = r->at;
    }
    if (read_items(r, filter, &s) != 0) return -1;
    s.text = str_trim(str_range(begin, r->at));
    if (s.is_each && !take(r, '}')) return fail_expected(r, "a } of the list");
    if (matches_nothing(&s, filter)) return FAIL(r, s.text, "is a list that matches nothing");
    *out = s;
    return 0;
}

/* --- limits ------------------------------------------------------------------------------------------------------- */

static int read_limit(struct quota_reader *r, const struct quota_rule *rule, struct quota_limit *out)
{
    struct quota_limit limit = {.resource = next_word(r)};
    if (limit.resource.length == 0 || !take(r, '=')) return fail_expected(r, "a limit RESOURCE=AMOUNT");
    limit.amount = next_word(r);
    if (limit.amount.length == 0) return FAIL(r, limit.resource, "has no amount; limits are RESOURCE=AMOUNT");
    limit.is_formula = memchr(limit.amount.text, '$', limit.amount.length) != NULL;
    if (limit.is_formula && host_text_load_formula_check(limit.amount, r->what, NULL) != 0)
        return FAIL(r, limit.amount, "is not a sum such as $num_proc*2+1");
    if (limit.is_formula && !rule->scope[QUOTA_HOSTS].is_each)
        return FAIL(r, limit.amount, "differs from host to host; name the hosts in braces: hosts {*}");
    for (uint32_t i = 0; i < rule->limit_count; i++) {
        if (str_equal(rule->limits[i].resource, limit.resource))
            return FAIL(r, limit.resource, "occurs twice; a rule limits a resource once");
    }
    *out = limit;
    return 0;
}

static int read_limits(struct quota_reader *r, struct quota_rule *rule)
{
    rule->limits = arena_alloc(r->arena, items_max(r) * sizeof *rule->limits);
    do {
        if (read_limit(r, rule, &rule->limits[rule->limit_count]) != 0) return -1;
        rule->limit_count++;
    } while (take(r, ','));
    return has_more(r) ? FAIL(r, part_here(r), "stands after the limits of a rule") : 0;
}

/* --- rules -------------------------------------------------------------------------------------------------------- */

static enum quota_filter find_filter(struct str word)
{
    enum quota_filter filter = QUOTA_USERS;
    while (filter < QUOTA_FILTER_COUNT && !str_equal_nocase(word, str(filter_names[filter]))) filter++;
    return filter;
}

static int read_name(struct quota_reader *r, const struct quota_rules *before, struct str *out)
{
    struct str name = next_word(r);
    if (name.length == 0) return fail_expected(r, "the name of a rule");
    for (uint32_t i = 0; i < before->count; i++) {
        if (str_equal(before->items[i].name, name)) return FAIL(r, name, "is the name of two rules");
    }
    *out = name;
    return 0;
}

static int read_filters(struct quota_reader *r, struct quota_rule *rule)
{
    for (;;) {
        struct str word = next_word(r);
        if (str_equal_nocase(word, str("to"))) return 0;
        enum quota_filter filter = find_filter(word);
        if (word.length == 0) return fail_expected(r, "'to' with its limits");
        if (filter == QUOTA_FILTER_COUNT)
            return FAIL(r, word,
                        "is none of users, projects, pes, queues, hosts, to; a rule is 'limit users {*} to slots=4'");
        if (rule->scope[filter].count > 0) return FAIL(r, word, "occurs twice in a rule");
        if (read_scope(r, filter, &rule->scope[filter]) != 0) return -1;
    }
}

static int read_rule(struct quota_reader *r, const struct quota_rules *before, struct quota_rule *out)
{
    struct quota_rule rule = {0};
    struct quota_reader ahead = *r;
    const char *begin = r->at;
    if (str_equal_nocase(next_word(&ahead), str("limit"))) *r = ahead;
    ahead = *r;
    if (str_equal_nocase(next_word(&ahead), str("name"))) {
        *r = ahead;
        if (read_name(r, before, &rule.name) != 0) return -1;
    }
    if (read_filters(r, &rule) != 0 || read_limits(r, &rule) != 0) return -1;
    rule.text = str_trim(str_range(begin, r->at));
    *out = rule;
    return 0;
}

static size_t rules_max(struct str text)
{
    size_t count = 1;
    for (size_t i = 0; i < text.length; i++) count += is_end_of_rule(text.text[i]);
    return count;
}

int quota_text_rules(struct str text, const char *what, struct arena *arena, struct quota_rules *out, struct err *e)
{
    struct quota_reader r = {text, text.text, text.text + text.length, what, arena, e};
    bool is_none = str_trim(text).length == 0 || str_equal_nocase(str_trim(text), str("NONE"));
    struct quota_rules rules = {.items = arena_alloc(arena, rules_max(text) * sizeof *rules.items)};
    while (!is_none && r.at < r.end) {
        if (!has_more(&r)) {
            r.at += r.at < r.end; /* the end of a rule, or of an empty one */
            continue;
        }
        if (read_rule(&r, &rules, &rules.items[rules.count]) != 0) return -1;
        rules.count++;
    }
    *out = rules;
    return 0;
}

int quota_text_rules_check(struct str text, const char *what, struct err *e)
{
    struct arena arena = {0};
    struct quota_rules unused;
    int status = quota_text_rules(text, what, &arena, &unused, e);
    arena_release(&arena);
    return status;
}
