#include "cli/directive_options.h"

#include <string.h>

#include "base/text.h"
#include "cli/output.h"

enum { REASON_SIZE = 800 };

void directive_options_add(struct directive_options *out, const struct directive_word *at, const char *format, ...)
{
    struct buf text = {0};
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    size_t length = text_vformat(buf_room(&text, 1), 1, format, arguments);
    text_vformat(buf_room(&text, length + 1), length + 1, format, again);
    va_end(again);
    va_end(arguments);
    *array_add(&out->list) = (struct directive_option){
        .word = arena_copy(out->arena, (struct str){text.text, length}), .line = at->line, .column = at->column};
    buf_release(&text);
}

int directive_options_refuse(const struct directive_options *o, const struct directive_word *at, struct err *e,
                             const char *format, ...)
{
    char reason[REASON_SIZE];
    va_list arguments;
    va_start(arguments, format);
    text_vformat(reason, sizeof reason, format, arguments);
    va_end(arguments);
    (void)err_set(e, ERR_INPUT, "%s", reason);
    return err_prefix(e, "%s:%u:%u", o->file, at->line, at->column);
}

static bool has_option(const struct directive_options *o, const char *name)
{
    for (uint32_t set = 0; set < o->own_count; set++) {
        for (const struct option_row *row = o->own[set].rows; row != NULL && row->name != NULL; row++) {
            if (strcmp(row->name, name) == 0) return true;
        }
    }
    return false;
}

int directive_options_apply(struct directive_options *out, const struct foreign_option *option,
                            const struct directive_word *at, const char *shown, const char *argument, struct err *e)
{
    bool has_own = option->own != NULL && has_option(out, option->own);
    if (option->meaning == FOREIGN_DEFAULT) return 0;
    if (has_own) {
        directive_options_add(out, at, "--%s%s%s", option->own, argument != NULL ? "=" : "",
                              argument != NULL ? argument : "");
        return 0;
    }
    if (option->meaning == FOREIGN_NOTHING || option->meaning == FOREIGN_SAME_OR_NOTHING) {
        output_note("%s:%u:%u: %s is ignored: %s", out->file, at->line, at->column, shown, option->advice);
        return 0;
    }
    return directive_options_refuse(out, at, e, "%s has no counterpart: %s", shown,
                                    option->advice != NULL ? option->advice : "see 'fairlead submit --help'");
}

void directive_options_release(struct directive_options *o)
{
    array_release(&o->list);
}
