/* Errors as bodies of refusals, and back: every part is a member, so a client makes the same struct err, whatever its
 * own sentences are. */
#include "api/bodies.h"

static const char *text_or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

struct api_error api_error_of(const struct err *e, struct arena *arena)
{
    return (struct api_error){{
        .name = err_name(e->code),
        .message = arena_copy(arena, str(ERR_SENTENCE(e))),
        .form = arena_copy(arena, field_choice(API_ERROR_FORMS, e->form)),
        .where = text_or_null(e->where),
        .subject = text_or_null(e->subject),
        .subject_name = text_or_null(e->name),
        .field = text_or_null(e->field),
        .value = text_or_null(e->value),
        .value_is_number = e->is_number,
        .accepted = text_or_null(e->accepted),
        .reason = text_or_null(e->reason),
    }};
}

static void copy_member(char *out, size_t size, const char *text)
{
    text_format(out, size, "%s", text != NULL ? text : "");
}

void api_error_read(const struct api_error *body, struct err *out_error)
{
    const struct api_error_text *from = &body->error;
    struct err e = {.code = err_from_name(from->name), .is_number = from->value_is_number};
    int64_t form = field_choice_index(API_ERROR_FORMS, str(from->form));
    e.form = form >= 0 ? (enum err_form)form : ERR_FORM_WHOLE;
    copy_member(e.where, sizeof e.where, form >= 0 ? from->where : NULL); /* the message has it */
    copy_member(e.subject, sizeof e.subject, from->subject);
    copy_member(e.name, sizeof e.name, from->subject_name);
    copy_member(e.field, sizeof e.field, from->field);
    copy_member(e.value, sizeof e.value, from->value);
    copy_member(e.accepted, sizeof e.accepted, from->accepted);
    copy_member(e.reason, sizeof e.reason, form >= 0 ? from->reason : from->message);
    *out_error = e;
}
