/* Values of settings from arbitrary bytes, with every parser. The check function agrees with the parser. A value that
 * is read reads back from its own text. A refused text leaves the output unchanged, and the error names the field. */
#include <string.h>

#include "base/ensure.h"
#include "base/number.h"
#include "base/text.h"
#include "fields/setting_text.h"

static void check_refusal(const struct err *e)
{
    ensure(e->code == ERR_INPUT);
    ensure(strncmp(ERR_SENTENCE(e), "field: ", 7) == 0);
}

static void check_flags(struct str s)
{
    struct err e = {0};
    uint32_t flags = 77;
    int status = setting_text_priority_flags(s, "field", &flags, &e);
    ensure(setting_text_priority_flags_check(s, "field", NULL) == status);
    if (status != 0) {
        check_refusal(&e);
        ensure(flags == 77);
    } else {
        ensure(flags < FLAG_SMALL_RELATIVE_TO_TIME << 1);
    }
    flags = 77;
    status = setting_text_qos_flags(s, "field", &flags, &e);
    ensure(setting_text_qos_flags_check(s, "field", NULL) == status);
    ensure(status == 0 ? flags <= (QOS_NO_DECAY | QOS_ENFORCE_USAGE_THRESHOLD) : flags == 77);
}

static void check_hierarchy(struct str s)
{
    struct err e = {0};
    char order[4] = "abc", back[4];
    int status = setting_text_hierarchy(s, "field", order, &e);
    ensure(setting_text_hierarchy_check(s, "field", NULL) == status);
    if (status != 0) {
        check_refusal(&e);
        ensure(strcmp(order, "abc") == 0);
        return;
    }
    ensure(strlen(order) <= 3 && strspn(order, "OFS") == strlen(order));
    ensure(setting_text_hierarchy(str(order[0] == '\0' ? "NONE" : order), "field", back, NULL) == 0);
    ensure(strcmp(back, order) == 0);
}

static void add_values(struct buf *out, char separator, const double *values)
{
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) {
        char number[NUMBER_TEXT_SIZE];
        number_format_g17(number, values[r]);
        if (r > 0) buf_add_char(out, separator);
        buf_format(out, "%s=%s", usage_resource_names[r], number);
    }
}

static void check_usage_weights(struct str s)
{
    struct err e = {0};
    struct buf text = {0};
    struct usage_weights weights = {.total = 77.0}, back;
    int status = setting_text_usage_weights(s, "field", &weights, &e);
    double known = 0.0;
    ensure(setting_text_usage_weights_check(s, "field", NULL) == status);
    if (status != 0) {
        check_refusal(&e);
        ensure(weights.total >= 77.0 && weights.total <= 77.0);
        return;
    }
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) {
        ensure(weights.weight[r] >= 0.0 && weights.weight[r] <= 1e15);
        known += weights.weight[r];
    }
    ensure(weights.total >= known);
    add_values(&text, ',', weights.weight);
    ensure(setting_text_usage_weights((struct str){text.text, text.length}, "field", &back, NULL) == 0);
    ensure(memcmp(back.weight, weights.weight, sizeof back.weight) == 0 && back.total >= known && back.total <= known);
    buf_release(&text);
}

static void check_halflives(struct str s)
{
    struct err e = {0};
    struct buf text = {0};
    double minutes[USAGE_RESOURCE_COUNT] = {5.0, 6.0, 7.0, 8.0}, back[USAGE_RESOURCE_COUNT] = {0};
    int status = setting_text_halflife_list(s, "field", minutes, &e);
    ensure(setting_text_halflife_list_check(s, "field", NULL) == status);
    if (status != 0) {
        check_refusal(&e);
        for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) ensure(minutes[r] >= 5.0 + r && minutes[r] <= 5.0 + r);
        return;
    }
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) ensure(minutes[r] >= -1.0 && minutes[r] <= 1e15);
    add_values(&text, ':', minutes);
    ensure(setting_text_halflife_list((struct str){text.text, text.length}, "field", back, NULL) == 0);
    ensure(memcmp(back, minutes, sizeof back) == 0);
    buf_release(&text);
}

static void check_urgency_slots(struct str s)
{
    static const char *const words[] = {"min", "max", "avg"};
    struct err e = {0};
    char text[NUMBER_TEXT_SIZE];
    enum urgency_slots_rule rule = URGENCY_SLOTS_AVG, back_rule;
    uint32_t number = 77, back_number;
    int status = setting_text_urgency_slots(s, "field", &rule, &number, &e);
    ensure(setting_text_urgency_slots_check(s, "field", NULL) == status);
    if (status != 0) {
        check_refusal(&e);
        ensure(number == 77 && rule == URGENCY_SLOTS_AVG);
        return;
    }
    if (rule == URGENCY_SLOTS_NUMBER) {
        ensure(number > 0);
        number_format_u64(text, number);
    } else {
        text_format(text, sizeof text, "%s", words[rule]);
    }
    ensure(setting_text_urgency_slots(str(text), "field", &back_rule, &back_number, NULL) == 0);
    ensure(back_rule == rule && back_number == number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str s = {(const char *)data, size};
    check_flags(s);
    check_hierarchy(s);
    check_usage_weights(s);
    check_halflives(s);
    check_urgency_slots(s);
    return 0;
}
