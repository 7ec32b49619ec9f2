/* Reads the parts of a request that give names and values without types: the parameters of a URL's query, and the pairs
 * of a body that changes fields. */
#include <string.h>

#include "base/number.h"
#include "wire/member.h"
#include "wire/reader.h"

/* --- queries ------------------------------------------------------------------------------------------------------ */

/* The JSON value that a text in a query stands for. Text that stands for none remains text, which the reader refuses.
 * NULL: the text is not UTF-8. */
static json_t *query_value(const struct wire_field *f, const char *text)
{
    int64_t number;
    if (wire_is_whole(f) && number_parse_i64(str(text), &number)) return json_integer(number);
    if (f->type == WIRE_BOOL && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
        return json_boolean(text[0] == 't');
    if (f->type != WIRE_TEXTS) return json_string(text);
    if (!wire_is_utf8(str(text))) return NULL;
    json_t *list = json_array();
    for (struct str rest = str(text); rest.text != NULL;) {
        struct str item = str_cut(rest, ',', &rest);
        json_array_append_new(list, json_stringn(item.text, item.length));
    }
    return list;
}

int wire_read_query(const struct wire_shape *shape, const char *name, const char *text, struct arena *arena,
                    void *value, struct err *e)
{
    struct wire_reader r = wire_reader_for(shape, arena, e);
    const struct wire_field *f = wire_find_field(shape, name);
    json_t *json = f != NULL ? query_value(f, text) : json_null(); /* an unknown name is refused, whatever its value */
    if (json == NULL) return err_value(e, f->name, str(text), "UTF-8 text");
    int status = wire_read_member(&r, shape, name, json, value);
    json_decref(json);
    wire_reader_release(&r);
    return status;
}

/* --- pairs -------------------------------------------------------------------------------------------------------- */

static int read_pairs(struct wire_reader *r, json_t *object, struct wire_list *out_pairs)
{
    if (!json_is_object(object)) return wire_refuse(r, object, "an object");
    size_t count = json_object_size(object);
    if (count == 0)
        return err_set(r->e, ERR_INPUT, "nothing to change: give at least one member, such as {\"NAME\":\"VALUE\"}");
    struct wire_pair *pairs = arena_alloc(r->arena, count * sizeof *pairs);
    *out_pairs = (struct wire_list){pairs, 0};
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        struct str text;
        size_t length = wire_enter(r, name);
        if (wire_read_scalar(r, value, &text) != 0) return -1;
        wire_leave(r, length);
        pairs[out_pairs->count++] = (struct wire_pair){arena_copy(r->arena, str(name)), arena_copy(r->arena, text)};
    }
    return 0;
}

int wire_read_pairs(struct str text, struct arena *arena, struct wire_list *out_pairs, struct err *e)
{
    struct wire_reader r = {.arena = arena, .root = "the body", .code = ERR_INPUT, .e = e};
    json_t *object = wire_load_request(text, e);
    if (object == NULL) return -1;
    int status = read_pairs(&r, object, out_pairs);
    json_decref(object);
    wire_reader_release(&r);
    return status;
}
