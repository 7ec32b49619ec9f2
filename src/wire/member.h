/* Access to the members that a shape describes, for the files that walk shapes. */
#ifndef FAIRLEAD_WIRE_MEMBER_H
#define FAIRLEAD_WIRE_MEMBER_H

#include "wire/wire.h"

#define WIRE_MEMBER(type, f, value) (*(type const *)(const void *)((const char *)(value) + (f)->offset))

/* Whether the member is a whole number. wire_get_number and wire_set_number are for these only. */
static inline bool wire_is_whole(const struct wire_field *f)
{
    return (f->type >= WIRE_U32 && f->type <= WIRE_I64) || f->type == WIRE_TIME || f->type == WIRE_MEMORY;
}

/* The number of a member, whatever the width of its C type. */
int64_t wire_get_number(const struct wire_field *f, const void *value);
void wire_set_number(const struct wire_field *f, void *value, int64_t number);

/* The field of that name; NULL: none, besides those of the shape's table. */
const struct wire_field *wire_find_field(const struct wire_shape *shape, const char *name);

/* Whether the member has its absent value: wire.h, invariant 3. A number that is required never has one. */
bool wire_is_absent(const struct wire_field *f, const void *value);

/* The two arrays of the members that come from a table of fields. */
static inline const struct field_value *wire_table_values(const struct wire_table_fields *t, const void *value)
{
    return (const struct field_value *)(const void *)((const char *)value + t->values_offset);
}
static inline const bool *wire_table_given(const struct wire_table_fields *t, const void *value)
{
    return (const bool *)(const void *)((const char *)value + t->given_offset);
}

/* The pairs of a struct whose shape has some. */
static inline const struct wire_list *wire_pairs(const struct wire_shape *shape, const void *value)
{
    return (const struct wire_list *)(const void *)((const char *)value + shape->pair_fields.offset);
}

/* The name of the field in a body; NULL: a body may not have it. */
static inline const char *wire_table_name(const struct wire_table_fields *t, uint32_t field)
{
    const struct field *f = field_at(t->table, field);
    if (t->name != NULL) return t->name(field);
    return f->is_hidden ? NULL : f->name;
}

/* Whether all of it is UTF-8. O(length) */
bool wire_is_utf8(struct str s);

#endif
