/* A field's member in its struct, for the files that go over shapes. */
#ifndef FAIRLEAD_API_WIRE_MEMBER_H
#define FAIRLEAD_API_WIRE_MEMBER_H

#include "api/wire.h"

#define WIRE_MEMBER(type, f, value) (*(type const *)(const void *)((const char *)(value) + (f)->offset))

/* Of the types for numbers, WIRE_SHARE and WIRE_PRIORITY among them. */
int64_t wire_get_number(const struct wire_field *f, const void *value);
void wire_set_number(const struct wire_field *f, void *value, int64_t number);

bool wire_is_absent(const struct wire_field *f, const void *value);

/* Whether "parent" is possible, what number stands for it, and whether this one does. */
static inline bool wire_has_parent(const struct wire_field *f)
{
    return f->type == WIRE_SHARE || f->type == WIRE_PRIORITY;
}
static inline int64_t wire_parent_of(const struct wire_field *f)
{
    return f->type == WIRE_SHARE ? WIRE_SHARES_PARENT : WIRE_PRIORITY_PARENT;
}
static inline bool wire_is_parent(const struct wire_field *f, int64_t number)
{
    return wire_has_parent(f) && number == wire_parent_of(f);
}

#endif
