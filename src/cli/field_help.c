#include "cli/field_help.h"

#include "base/text.h"

void field_help_syntax(const struct field *f, char *out)
{
    static const char *const placeholders[] = {
        [FIELD_NUMBER] = "COUNT", [FIELD_REAL] = "NUMBER",      [FIELD_BOOL] = "yes|no",      [FIELD_TEXT] = "TEXT",
        [FIELD_BYTES] = "PATH",   [FIELD_SECONDS] = "DURATION", [FIELD_MINUTES] = "DURATION", [FIELD_HOURS] = "HOURS",
        [FIELD_MEMORY] = "SIZE",  [FIELD_TIME] = "TIME"};
    size_t length = text_format(out, FIELD_HELP_BYTES, "%s=%s%s%s", f->name,
                                f->type == FIELD_CHOICE ? f->choices : placeholders[f->type], f->special ? "|" : "",
                                f->special ? f->special : "");
    size_t end = length < FIELD_HELP_BYTES ? length : FIELD_HELP_BYTES - 1;
    for (size_t i = 0; f->type == FIELD_CHOICE && i < end; i++) out[i] = (char)(out[i] == ',' ? '|' : out[i]);
}

void field_help_meaning(const struct field *f, struct buf *out)
{
    struct buf accepted = {0}, default_value = {0};
    if (f->type != FIELD_CHOICE && f->type != FIELD_BOOL) field_accepted(f, &accepted); /* theirs are in the syntax */
    field_format(f, &f->default_value, &default_value);
    buf_add_text(out, f->help);
    if (accepted.length > 0 && !(f->min < f->max)) {
        buf_format(out, " (%s)", accepted.text);
    } else if (accepted.length > 0 && default_value.length > 0) {
        buf_format(out, " (%s; %s by default)", accepted.text, default_value.text);
    } else if (default_value.length > 0) {
        buf_format(out, " (%s by default)", default_value.text);
    }
    buf_release(&accepted);
    buf_release(&default_value);
}
