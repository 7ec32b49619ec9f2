/* An expression and a text, separated by a line end, from arbitrary bytes. What is refused is satisfied by nothing, and
 * the error is one printable line with a column inside the expression or behind it. Of an accepted expression and its
 * negation one is satisfied. */
#include <string.h>

#include "base/ensure.h"
#include "base/expression.h"
#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_refusal(struct str expression, struct str text, const struct err *e)
{
    const char *sentence = ERR_SENTENCE(e);
    ensure(e->code == ERR_INPUT && strncmp(sentence, "field: ", 7) == 0 && str_is_printable(str(sentence)));
    ensure(!expression_is_satisfied(expression, text, EXPRESSION_CASE_COUNTS));
    ensure(!expression_is_satisfied(expression, text, EXPRESSION_CASE_IGNORED));
}

static bool evaluate(const char *format, struct str expression, struct str text, enum expression_case letters,
                     bool otherwise)
{
    struct buf longer = {0};
    buf_format(&longer, format, (int)expression.length, expression.text);
    struct str whole = {longer.text, longer.length};
    bool is_accepted = expression_check(whole, "field", NULL) == 0; /* it may be too deep or too long now */
    bool value = is_accepted ? expression_is_satisfied(whole, text, letters) : otherwise;
    buf_release(&longer);
    return value;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e = {0};
    struct str text, expression = str_cut((struct str){(const char *)data, size}, '\n', &text);
    if (expression_check(expression, "field", &e) != 0) {
        check_refusal(expression, text, &e);
        return 0;
    }
    if (memchr(expression.text, 0, expression.length) != NULL) return 0; /* formats end there */
    for (int i = 0; i < 2; i++) {
        enum expression_case letters = (enum expression_case)i;
        bool value = expression_is_satisfied(expression, text, letters);
        ensure(evaluate("!(%.*s)", expression, text, letters, !value) == !value);
        ensure(evaluate("(%.*s)|!*", expression, text, letters, value) == value);
        ensure(evaluate("*&(%.*s)", expression, text, letters, value) == value);
        ensure(evaluate("%.*s|*", expression, text, letters, true));
    }
    return 0;
}
