/* Durations, memory and times from arbitrary bytes. A quantity that is read lies in its range and reads back from its
 * own text. A refused text leaves the output untouched, and the error names the field. */
#include <string.h>

#include "base/ensure.h"
#include "base/quantity.h"

static void check_error(const struct err *e)
{
    ensure(e->code == ERR_INPUT);
    ensure(strncmp(ERR_SENTENCE(e), "field: '", 8) == 0);
}

static void check_duration(struct str s)
{
    char text[32];
    struct err e = {0};
    int64_t duration_s = 77, back;
    if (duration_parse(s, "field", &duration_s, &e) != 0) {
        ensure(duration_s == 77);
        check_error(&e);
        return;
    }
    ensure((duration_s > 0 && duration_s <= DURATION_S_MAX) || duration_s == INT64_MAX);
    size_t length = duration_format(text, duration_s);
    ensure(length == strlen(text) && length < sizeof text);
    ensure(duration_parse((struct str){text, length}, "field", &back, NULL) == 0 && back == duration_s);
    length = duration_format_short(text, duration_s);
    ensure(length == strlen(text) && length < sizeof text);
}

static void check_memory(struct str s)
{
    char text[32];
    struct err e = {0};
    uint64_t mib = 77, back;
    if (memory_parse(s, "field", &mib, &e) != 0) {
        ensure(mib == 77);
        check_error(&e);
        return;
    }
    ensure(mib > 0 && mib <= UINT64_C(1) << 40);
    size_t length = memory_format(text, mib);
    ensure(length == strlen(text) && length < sizeof text);
    ensure(memory_parse((struct str){text, length}, "field", &back, NULL) == 0 && back == mib);
}

static void check_time(struct str s)
{
    char text[32];
    struct err e = {0};
    int64_t time_us = 77, back;
    if (time_parse(s, "field", &time_us, &e) != 0) {
        ensure(time_us == 77);
        check_error(&e);
        return;
    }
    size_t length = time_format(text, time_us);
    ensure(length == 20 && text[length] == '\0');
    ensure(time_parse((struct str){text, length}, "field", &back, NULL) == 0);
    ensure(back <= time_us && time_us - back < US_PER_S);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str s = {(const char *)data, size};
    check_duration(s);
    check_memory(s);
    check_time(s);

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
