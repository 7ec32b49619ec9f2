/* Rules of retries, from arbitrary bytes. The check agrees with the parser, a refused text leaves the output unchanged,
 * and the error is one printable line that names the field. What is accepted is within its bounds. */
#include <string.h>

#include "base/ensure.h"
#include "base/text.h"
#include "fields/retry_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rule(const struct retry_rule *rule)
{
    ensure(rule->count <= RETRY_COUNT_MAX && rule->backoff_s <= RETRY_BACKOFF_S_MAX);
    ensure(rule->has_backoff || rule->backoff_s == 0);
    ensure(!retry_text_is_failure(rule, 0) && !retry_text_is_failure(rule, 256));
    uint32_t failures = 0, delay_s = 0;
    for (uint32_t status = 1; status < 256; status++) failures += retry_text_is_failure(rule, status);
    ensure(failures > 0 && (rule->has_statuses || failures == 255));
    for (uint32_t restarts = 0; restarts < 70; restarts++) {
        uint32_t next_s = retry_text_delay_s(rule, restarts);
        ensure(next_s >= delay_s && next_s <= RETRY_BACKOFF_S_MAX && (next_s == 0) == (rule->backoff_s == 0));
        delay_s = next_s;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str s = {(const char *)data, size};
    struct err e = {0};
    struct retry_rule rule = {.count = 77777};
    int status = retry_text_parse(s, "field", &rule, &e);
    ensure(retry_text_check(s, "field", NULL) == status);
    if (status == 0) {
        check_rule(&rule);
        return 0;
    }
    const char *sentence = ERR_SENTENCE(&e);
    ensure(e.code == ERR_INPUT && strncmp(sentence, "field: ", 7) == 0 && str_is_printable(str(sentence)));
    ensure(rule.count == 77777);
    return 0;
}
