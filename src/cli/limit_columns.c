#include "cli/limit_columns.h"

#include <string.h>

#include "base/quantity.h"
#include "cli/tres_show.h"
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

void limit_columns_show(const struct field *f, const struct field_value *value, struct buf *out)
{
    static const char minutes[] = "Mins"; /* the memory of such a limit is in MiB-minutes */
    char duration[32];
    size_t length = strlen(f->name), suffix = sizeof minutes - 1;
    bool is_minutes = length > suffix && strcmp(f->name + length - suffix, minutes) == 0;
    if (f->is_tres && !is_minutes)
        tres_show(value->text, out);
    else if (field_is_duration(f) && value->number >= 0)
        buf_add(out, duration, duration_format_short(duration, value->number));
    else
        field_format(f, value, out);
}

void limit_columns_show_set(const struct field *fields, uint32_t count, const struct field_value *values,
                            struct buf *out)
{
    const char *separator = "";
    for (uint32_t i = 0; i < count; i++) {
        if (field_equal(&fields[i], &values[i], &fields[i].default_value)) continue;
        buf_format(out, "%s%s=", separator, fields[i].name);
        limit_columns_show(&fields[i], &values[i], out);
        separator = " ";
    }
    if (separator[0] == '\0') buf_add_char(out, '-');
}
