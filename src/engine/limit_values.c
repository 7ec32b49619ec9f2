#include "engine/limit_values.h"

#include <string.h>

#include "base/ensure.h"

/* --- limits by TRES ----------------------------------------------------------------------------------------------- */

/* What removes a limit, whatever its type. */
static bool is_none(struct str text)
{
    text = str_trim(text);
    return text.length == 0 || str_equal(text, str("-1")) || str_equal_nocase(text, str("UNLIMITED")) ||
           str_equal_nocase(text, str("INFINITE"));
}

static void clear_limits(double limits[TRES_MAX])
{
    for (int i = 0; i < TRES_MAX; i++) limits[i] = TRES_UNLIMITED;
}

/* Replaces the text by that of the buffer, if it is short enough. */
static int set_text(const struct field *f, const struct buf *text, struct arena *arena, struct field_value *out_value,
                    struct err *e)
{
    struct str own = {text->length > 0 ? text->text : "", text->length};
    if (own.length > FIELD_TEXT_MAX)
        return err_field(e, ERR_TOO_LARGE, f->name, "it would exceed the maximum of %d bytes", FIELD_TEXT_MAX);
    *out_value = field_text(arena_copy(arena, own));
    return 0;
}

static int change_tres(const struct tres_table *t, const struct field *f, struct str text, struct arena *arena,
                       struct field_value *io_value, struct err *e)
{
    double limits[TRES_MAX];
    struct buf changed = {0};
    clear_limits(limits);
    if (!is_none(text)) {
        ensure(tres_limits_change(t, str(io_value->text), f->name, limits, NULL) == 0);
        if (tres_limits_change(t, text, f->name, limits, e) != 0) return -1;
    }
    tres_limits_format(t, limits, &changed);
    int status = set_text(f, &changed, arena, io_value, e);
    buf_release(&changed);
    return status;
}

int limit_value_change(const struct state *s, const struct field *f, struct str text, struct arena *arena,
                       struct field_value *io_value, struct err *e)
{
    struct field_value parsed;
    if (field_parse(f, text, arena, &parsed, e) != 0) return -1;
    if (f->is_tres) return change_tres(&s->policy.tres, f, text, arena, io_value, e);
    *io_value = parsed;
    return 0;
}

int limit_value_check(const struct state *s, const struct field *f, const struct field_value *value, struct err *e)
{
    double unused[TRES_MAX];
    if (!f->is_tres) return 0;
    clear_limits(unused);
    return tres_limits_change(&s->policy.tres, str(value->text), f->name, unused, e);
}

/* --- names of QOS ------------------------------------------------------------------------------------------------- */

bool limit_value_list_has(const char *list, struct str name)
{
    struct str rest = list[0] != '\0' ? str(list) : (struct str){0};
    while (rest.text != NULL) {
        if (str_equal(str_cut(rest, ',', &rest), name)) return true;
    }
    return false;
}

static int check_qos(const struct state *s, struct str name, struct err *e)
{
    return map_get(&s->object_by_name[OBJECT_QOS], name) != NONE ? 0 : err_not_found(e, "qos", name);
}

static void add_name(struct buf *list, struct str name)
{
    if (list->length > 0 && limit_value_list_has(list->text, name)) return;
    buf_format(list, "%s%.*s", list->length > 0 ? "," : "", (int)name.length, name.text);
}

static int add_names(const struct state *s, struct str names, struct buf *list, struct err *e)
{
    for (struct str rest = names; rest.text != NULL;) {
        struct str name = str_trim(str_cut(rest, ',', &rest));
        if (check_qos(s, name, e) != 0) return -1;
        add_name(list, name);
    }
    return 0;
}

static int check_removed(const struct field *f, const char *old, struct str names, struct err *e)
{
    for (struct str rest = names; rest.text != NULL;) {
        struct str name = str_trim(str_cut(rest, ',', &rest));
        if (limit_value_list_has(old, name)) continue;
        return err_value_reason(e, f->name, name, "is not in the list, which is '%s'", old);
    }
    return 0;
}

static bool is_removed(struct str names, struct str name)
{
    bool found = false;
    for (struct str rest = names; rest.text != NULL;) found |= str_equal(str_trim(str_cut(rest, ',', &rest)), name);
    return found;
}

int limit_value_change_qos_list(const struct state *s, const struct field *f, const struct qos_list_change *change,
                                struct arena *arena, struct field_value *io_value, struct err *e)
{
    struct buf list = {0};
    struct field_value unused;
    const char *old = io_value->text[0] != '\0' ? io_value->text : change->inherited, sign = change->sign;
    struct str text = change->text, names = str_trim(text).length > 0 ? text : (struct str){0};
    bool has_no_list = sign != '\0' && names.length > 0 && old[0] == '\0';
    if (field_parse(f, text, arena, &unused, e) != 0) return -1;
    if (sign == '-' && !has_no_list && check_removed(f, old, names, e) != 0) return -1;
    for (struct str rest = sign != '\0' && old[0] != '\0' ? str(old) : (struct str){0}; rest.text != NULL;) {
        struct str name = str_cut(rest, ',', &rest);
        if (sign == '+' || !is_removed(names, name)) add_name(&list, name);
    }
    int status = sign != '-' ? add_names(s, names, &list, e) : 0;
    if (status == 0 && has_no_list)
        status = err_value_reason(e, f->name, text, "cannot be %s: every QOS is allowed; give %s=LIST",
                                  sign == '+' ? "added" : "removed", f->name);
    else if (sign == '-' && list.length == 0 &&
             old[0] != '\0') /* an empty list would allow what the account above does */
        status = err_value_reason(e, f->name, text,
                                  "is all of the list; set another one, or an empty one for that of "
                                  "the account above");
    if (status == 0 && (sign == '\0' || names.length > 0)) status = set_text(f, &list, arena, io_value, e);
    buf_release(&list);
    return status;
}

int limit_value_change_qos(const struct state *s, struct str text, struct arena *arena, struct field_value *io_value,
                           struct err *e)
{
    bool is_cleared = text.length == 0 || str_equal(text, str("-1"));
    if (!is_cleared && check_qos(s, text, e) != 0) return -1;
    *io_value = field_text(is_cleared ? "" : arena_copy(arena, text));
    return 0;
}
