#include "fields/retry_text.h"

#include "base/idset.h"
#include "base/number.h"
#include "base/quantity.h"

int retry_text_statuses_check(struct str text, const char *field, struct err *e)
{
    struct idset statuses = {0};
    if (idset_parse(text, UINT8_MAX, field, &statuses, e) != 0) return -1;
    bool has_zero = idset_has(&statuses, 0);
    idset_release(&statuses);
    return has_zero ? err_value(e, field, text, "a list of exit statuses from 1 to 255, such as 99,75-78") : 0;
}

/* An empty list would retry nothing. */
static int read_statuses(struct str list, const char *field, struct retry_rule *rule, struct err *e)
{
    struct idset statuses = {0};
    if (rule->has_statuses) return err_value_reason(e, field, list, "is a second list of exit statuses");
    if (list.length == 0 || retry_text_statuses_check(list, field, NULL) != 0)
        return err_value(e, field, list, "exit= with a list of exit statuses from 1 to 255, such as 1,137 or 64-78");
    (void)idset_parse(list, UINT8_MAX, field, &statuses, NULL);
    for (uint32_t id = idset_first(&statuses); id != NONE; id = idset_next(&statuses, id))
        rule->statuses[id / 64] |= UINT64_C(1) << (id % 64);
    idset_release(&statuses);
    rule->has_statuses = true;
    return 0;
}

static int read_backoff(struct str duration, const char *field, struct retry_rule *rule, struct err *e)
{
    int64_t backoff_s;
    if (rule->has_backoff) return err_value_reason(e, field, duration, "is a second backoff");
    if (!duration_read_units(duration, &backoff_s) || backoff_s < 0 || backoff_s > RETRY_BACKOFF_S_MAX)
        return err_value(e, field, duration, "backoff= with a duration from 0s to 7days, such as 30s, 5m or 1h30m");
    rule->has_backoff = true;
    rule->backoff_s = (uint32_t)backoff_s;
    return 0;
}

static int read_part(struct str part, const char *field, struct retry_rule *rule, struct err *e)
{
    struct str value, name = str_cut(part, '=', &value);
    if (value.text != NULL && str_equal(name, str("exit"))) return read_statuses(value, field, rule, e);
    if (value.text != NULL && str_equal(name, str("backoff"))) return read_backoff(value, field, rule, e);
    return err_value(e, field, part, "exit=STATUS,... or backoff=DURATION after the number of retries");
}

int retry_text_parse(struct str text, const char *field, struct retry_rule *out, struct err *e)
{
    struct retry_rule rule = {0};
    struct str rest;
    uint64_t count = 0;
    if (text.length == 0) {
        *out = rule;
        return 0;
    }
    struct str number = str_cut(text, ':', &rest);
    if (!number_parse_u64(number, &count) || count > RETRY_COUNT_MAX)
        return err_value(e, field, text,
                         "COUNT[:exit=STATUS,...][:backoff=DURATION] with a count from 0 to %d, such as "
                         "3:exit=1,137:backoff=5m",
                         RETRY_COUNT_MAX);
    while (rest.text != NULL) {
        struct str part = str_cut(rest, ':', &rest);
        if (read_part(part, field, &rule, e) != 0) return -1;
    }
    rule.count = (uint32_t)count;
    *out = rule;
    return 0;
}

int retry_text_check(struct str text, const char *field, struct err *e)
{
    struct retry_rule unused;
    return retry_text_parse(text, field, &unused, e);
}

bool retry_text_is_failure(const struct retry_rule *rule, uint32_t exit_status)
{
    if (exit_status == 0 || exit_status > UINT8_MAX) return false;
    return !rule->has_statuses || (rule->statuses[exit_status / 64] >> (exit_status % 64) & 1) != 0;
}

uint32_t retry_text_delay_s(const struct retry_rule *rule, uint32_t restarts)
{
    uint64_t delay_s = rule->backoff_s;
    for (uint32_t i = 0; i < restarts && delay_s < RETRY_BACKOFF_S_MAX && delay_s > 0; i++) delay_s *= 2;
    return delay_s > RETRY_BACKOFF_S_MAX ? RETRY_BACKOFF_S_MAX : (uint32_t)delay_s;
}
