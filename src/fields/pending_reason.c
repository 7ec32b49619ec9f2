#include "fields/pending_reason.h"

#include "base/ensure.h"

#define WORD(name, word) word
const char pending_reason_names[] = PENDING_REASONS(WORD, ",");
#undef WORD

#define NAME(name, word) [PENDING_##name] = (word),
static const char *const words[PENDING_REASON_COUNT] = {PENDING_REASONS(NAME, )};
#undef NAME

const char *pending_reason_name(enum pending_reason r)
{
    ensure(r < PENDING_REASON_COUNT);
    return words[r];
}
