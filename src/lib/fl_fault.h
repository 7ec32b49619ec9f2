/* The answer to a wrong member of a caller's struct: a result, and where it is wrong. */
#ifndef FAIRLEAD_LIB_FL_FAULT_H
#define FAIRLEAD_LIB_FL_FAULT_H

#include "fairlead.h"

static inline int fl_fault_at(struct fl_fault *fault, int result, const char *member, uint32_t index)
{
    if (fault != NULL) *fault = (struct fl_fault){.member = member, .index = index};
    return result;
}

#define FL_COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Whether all words that are reserved are zero. */
static inline bool fl_is_zero(const uint64_t *words, size_t count)
{
    uint64_t any = 0;
    for (size_t i = 0; i < count; i++) any |= words[i];
    return any == 0;
}

#endif
