/* An expression is evaluated while it is read, without a tree: an open parenthesis is a level on a stack, and each
 * level has the values so far. */
#include "base/expression.h"

#include <stdint.h>
#include <string.h>

static const char operators[] = "!&|()";

/* --- patterns ----------------------------------------------------------------------------------------------------- */

enum token_kind { TOKEN_ANY_TEXT, TOKEN_ANY_CHARACTER, TOKEN_SET, TOKEN_CHARACTER };

struct token {
    enum token_kind kind;
    struct str text; /* the character, or what is inside the brackets */
};

/* The character that a text begins with; a byte that is no UTF-8 is one. */
static struct str take_character(struct str *rest)
{
    size_t length = str_utf8(*rest);
    struct str character = {rest->text, length > 0 ? length : 1};
    *rest = str_range(rest->text + character.length, rest->text + rest->length);
    return character;
}

/* A character that may stand after a \. False: there is none. */
static bool take_escaped(struct str *rest, struct str *out)
{
    if (rest->length == 0) return false;
    *out = take_character(rest);
    if (out->text[0] != '\\') return true;
    if (rest->length == 0) return false;
    *out = take_character(rest);
    return true;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_same(struct str a, struct str b, enum expression_case letters)
{
    return letters == EXPRESSION_CASE_IGNORED ? str_equal_nocase(a, b) : str_equal(a, b);
}

/* UTF-8 has the order of the characters. */
static bool is_between(struct str c, struct str first, struct str last)
{
    return str_compare(first, c) <= 0 && str_compare(c, last) <= 0;
}

static bool is_in_range(struct str c, struct str first, struct str last, enum expression_case letters)
{
    char small = lower(c.text[0]), large = (char)(small >= 'a' && small <= 'z' ? small - 'a' + 'A' : small);
    if (is_between(c, first, last)) return true;
    if (letters == EXPRESSION_CASE_COUNTS || c.length > 1) return false;
    return is_between((struct str){&small, 1}, first, last) || is_between((struct str){&large, 1}, first, last);
}

/* The next character or range of a set, of which the first and the last are equal if it is one character. */
static bool take_range(struct str *set, struct str *first, struct str *last)
{
    if (!take_escaped(set, first)) return false;
    *last = *first;
    if (set->length < 2 || set->text[0] != '-') return true;
    *set = str_range(set->text + 1, set->text + set->length);
    return take_escaped(set, last);
}

static bool is_in_set(struct str c, struct str set, enum expression_case letters)
{
    struct str first, last;
    while (take_range(&set, &first, &last)) {
        if (is_in_range(c, first, last, letters)) return true;
    }
    return false;
}

/* The bytes before the ] of a set; set->length: it has none. */
static size_t set_length(struct str set)
{
    size_t i = 0;
    while (i < set.length && set.text[i] != ']') i += set.text[i] == '\\' ? 2 : 1;
    return i < set.length ? i : set.length;
}

/* The next token of a pattern, or of what follows it. NULL, or what is wrong with it. */
static const char *take_token(struct str *rest, struct token *out)
{
    struct str first, last, set;
    char c = rest->text[0];
    *out = (struct token){.kind = c == '*'   ? TOKEN_ANY_TEXT
                                  : c == '?' ? TOKEN_ANY_CHARACTER
                                  : c == '[' ? TOKEN_SET
                                             : TOKEN_CHARACTER};
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') return "a blank; write \\ before it";
    if (c == ']') return "a ] without [";
    if (out->kind == TOKEN_CHARACTER) return take_escaped(rest, &out->text) ? NULL : "nothing follows the \\";
    *rest = str_range(rest->text + 1, rest->text + rest->length);
    if (out->kind != TOKEN_SET) return NULL;
    size_t length = set_length(*rest);
    if (length == rest->length) return "a [ without ]";
    if (length == 0) return "no character in [ ]";
    out->text = set = (struct str){rest->text, length};
    *rest = str_range(rest->text + length + 1, rest->text + rest->length);
    while (take_range(&set, &first, &last)) {
        if (str_compare(first, last) > 0) return "a range that ends before it begins";
    }
    return NULL;
}

/* Where a match goes on if it fails: the last * has taken everything up to `text`. */
struct retry {
    struct str pattern, text;
};

/* The pattern has no errors. */
static bool matches(struct str pattern, struct str text, enum expression_case letters)
{
    struct retry retry = {0};
    while (pattern.length > 0 || text.length > 0) {
        struct token token = {0};
        struct str character = {0}, rest = text;
        bool has_token = pattern.length > 0 && take_token(&pattern, &token) == NULL;
        if (has_token && token.kind == TOKEN_ANY_TEXT) {
            retry = (struct retry){pattern, text};
            continue;
        }
        if (text.length > 0) character = take_character(&rest);
        bool is_match =
            has_token && character.length > 0 &&
            (token.kind == TOKEN_ANY_CHARACTER || (token.kind == TOKEN_SET ? is_in_set(character, token.text, letters)
                                                                           : is_same(character, token.text, letters)));
        if (!is_match) {
            if (retry.text.length == 0) return false;
            (void)take_character(&retry.text);
            pattern = retry.pattern;
            rest = retry.text;
        }
        text = rest;
    }
    return true;
}

/* --- expressions -------------------------------------------------------------------------------------------------- */

/* What is in one pair of parentheses, or outside of all. */
struct expression_level {
    bool earlier;    /* whether an operand of | before the present one is satisfied */
    bool present;    /* whether the operands of & so far are */
    bool is_negated; /* by what stands before the next operand */
};

struct expression_walk {
    struct str rest; /* of the expression */
    struct str text;
    enum expression_case letters;
    struct expression_level levels[EXPRESSION_DEPTH_MAX + 1];
    uint32_t depth;
    const char *fault; /* NULL: none so far; it is where the rest begins */
};

static void add_value(struct expression_walk *w, bool is_satisfied)
{
    struct expression_level *l = &w->levels[w->depth];
    l->present = l->present && is_satisfied != l->is_negated;
    l->is_negated = false;
}

static char take_byte(struct expression_walk *w)
{
    char c = w->rest.text[0];
    w->rest = str_range(w->rest.text + 1, w->rest.text + w->rest.length);
    return c;
}

static void read_pattern(struct expression_walk *w)
{
    struct str begin = w->rest;
    struct token unused;
    while (w->rest.length > 0 && memchr(operators, w->rest.text[0], sizeof operators - 1) == NULL) {
        struct str rest = w->rest;
        w->fault = take_token(&rest, &unused);
        if (w->fault != NULL) return;
        w->rest = rest;
    }
    add_value(w, matches(str_range(begin.text, w->rest.text), w->text, w->letters));
}

static void open_level(struct expression_walk *w)
{
    if (w->depth == EXPRESSION_DEPTH_MAX) {
        w->fault = "parentheses that are nested too deeply";
        return;
    }
    (void)take_byte(w);
    w->levels[++w->depth] = (struct expression_level){.present = true};
}

/* Returns whether an operand has to follow. */
static bool read_operand(struct expression_walk *w)
{
    switch (w->rest.text[0]) {
    case '!':
        (void)take_byte(w);
        w->levels[w->depth].is_negated ^= true;
        return true;
    case '(': open_level(w); return true;
    case '&':
    case '|':
    case ')': w->fault = "a pattern is missing"; return true;
    default: read_pattern(w); return false;
    }
}

/* Returns whether an operand has to follow. */
static bool read_operator(struct expression_walk *w)
{
    struct expression_level *l = &w->levels[w->depth];
    char c = w->rest.text[0];
    if (c != '&' && c != '|' && c != ')') w->fault = "a & or | is missing";
    if (c == ')' && w->depth == 0) w->fault = "a ) without (";
    if (w->fault != NULL) return false;
    (void)take_byte(w);
    if (c == '&') return true;
    l->earlier |= l->present;
    l->present = true;
    if (c == '|') return true;
    w->depth--;
    add_value(w, l->earlier);
    return false;
}

/* The whole expression. False also after a fault. */
static bool evaluate(struct expression_walk *w)
{
    bool wants_operand = true;
    w->levels[0].present = true;
    while (w->rest.length > 0 && w->fault == NULL) wants_operand = wants_operand ? read_operand(w) : read_operator(w);
    if (w->fault == NULL && wants_operand) w->fault = "a pattern is missing";
    if (w->fault == NULL && w->depth > 0) w->fault = "a ( without )";
    return w->fault == NULL && (w->levels[0].earlier || w->levels[0].present);
}

int expression_check(struct str expression, const char *what, struct err *e)
{
    struct expression_walk w = {.rest = expression};
    if (expression.length > EXPRESSION_LENGTH_MAX)
        return err_value_reason(e, what, expression, "has %zu bytes; an expression has at most %d", expression.length,
                                EXPRESSION_LENGTH_MAX);
    (void)evaluate(&w);
    if (w.fault == NULL) return 0;
    return err_value_reason(e, what, expression, "is no expression: column %zu: %s",
                            expression.length - w.rest.length + 1, w.fault);
}

bool expression_is_satisfied(struct str expression, struct str text, enum expression_case letters)
{
    struct expression_walk w = {.rest = expression, .text = text, .letters = letters};
    return expression.length <= EXPRESSION_LENGTH_MAX && evaluate(&w);
}
