/* Spans, memory and moments from any bytes: what is read lies in its range and comes back from its own text; what is
 * refused leaves the output alone and says of which field. */
#include <string.h>

#include "base/ensure.h"
#include "base/quantity.h"

static void check_refusal(const struct err *e)
{
    ensure(e->code == ERR_INPUT);
    ensure(strncmp(ERR_SENTENCE(e), "field: '", 8) == 0);
}

static void check_duration(struct str s)
{
    char text[32];
    struct err e = {0};
    int64_t span_s = 77, back;
    if (duration_parse(s, "field", &span_s, &e) != 0) {
        ensure(span_s == 77);
        check_refusal(&e);
        return;
    }
    ensure((span_s > 0 && span_s <= INT64_C(3650) * 86400) || span_s == INT64_MAX);
    size_t length = duration_format(text, span_s);
    ensure(length == strlen(text) && length < sizeof text);
    ensure(duration_parse((struct str){text, length}, "field", &back, NULL) == 0 && back == span_s);
    length = duration_format_short(text, span_s);
    ensure(length == strlen(text) && length < sizeof text);
}

static void check_memory(struct str s)
{
    char text[32];
    struct err e = {0};
    uint64_t mib = 77, back;
    if (memory_parse(s, "field", &mib, &e) != 0) {
        ensure(mib == 77);
        check_refusal(&e);
        return;
    }
    ensure(mib > 0 && mib <= UINT64_C(1) << 40);
    size_t length = memory_format(text, mib);
    ensure(length == strlen(text) && length < sizeof text);
    if (strchr(text, '.') != NULL) return; /* "1.5G" is for people */
    ensure(memory_parse((struct str){text, length}, "field", &back, NULL) == 0 && back == mib);
}

static void check_moment(struct str s)
{
    char text[32];
    struct err e = {0};
    int64_t moment_us = 77, back;
    if (time_parse(s, "field", &moment_us, &e) != 0) {
        ensure(moment_us == 77);
        check_refusal(&e);
        return;
    }
    size_t length = time_format(text, moment_us);
    ensure(length == 20 && text[length] == '\0');
    ensure(time_parse((struct str){text, length}, "field", &back, NULL) == 0);
    ensure(back <= moment_us && moment_us - back < US_PER_S);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str s = {(const char *)data, size};
    check_duration(s);
    check_memory(s);
    check_moment(s);

    int64_t any;
    char text[32];
    if (size >= sizeof any) {
        memcpy(&any, data, sizeof any);
        ensure(duration_format(text, any) == strlen(text) && strlen(text) < sizeof text);
        ensure(duration_format_short(text, any) == strlen(text) && strlen(text) < sizeof text);
        ensure(time_format(text, any) == strlen(text) && strlen(text) < sizeof text);
        ensure(memory_format(text, (uint64_t)any) == strlen(text) && strlen(text) < sizeof text);
    }
    return 0;
}
