/* Times of options from arbitrary bytes, on both sides of now. If the two differ, the one ahead is after now, and the
 * one behind is not. A refused text leaves the output untouched, and the error names the option. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ensure.h"
#include "base/quantity.h"
#include "options/time_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW_US (INT64_C(1795255200) * US_PER_S)

static bool read_on(struct str s, enum time_side side, int64_t *out_us)
{
    struct err e = {0};
    *out_us = 77;
    if (time_text_parse(s, "--since", &(struct time_context){side, NOW_US}, out_us, &e) == 0) return true;
    ensure(*out_us == 77 && e.code == ERR_INPUT && strncmp(ERR_SENTENCE(&e), "--since: '", 10) == 0);
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str s = {(const char *)data, size};
    int64_t ahead_us, behind_us;
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    bool is_read = read_on(s, TIME_AHEAD, &ahead_us);
    ensure(read_on(s, TIME_BEHIND, &behind_us) == is_read);
    ensure(ahead_us == behind_us || (behind_us <= NOW_US && ahead_us > NOW_US));
    return 0;
}
