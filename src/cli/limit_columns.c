#include "cli/limit_columns.h"

#include "fields/limit_fields.h"

const struct field limit_columns_field = {
    .type = FIELD_TEXT, .default_value = {.text = ""}, .name = "limits", .help = "the limits that are set"};

struct field_value limit_columns_value(const struct field *fields, uint32_t count, const struct field_value *values,
                                       struct arena *arena)
{
    struct buf text = {0};
    buf_add_text(&text, "");
    limit_fields_format(fields, count, values, &text);
    struct field_value value = field_text(arena_copy(arena, (struct str){text.text, text.length}));
    buf_release(&text);
    return value;
}
