#include "store/list_columns.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

enum { SHOWN_BYTES = 64 };

static int shown(struct str s)
{
    return (int)(s.length < SHOWN_BYTES ? s.length : SHOWN_BYTES);
}

bool list_column_next(struct str *rest, struct str *out_name, struct str *out_value)
{
    if (rest->text == NULL || rest->length == 0) return false;
    struct str item = str_cut(*rest, ',', rest);
    *out_name = str_cut(item, '=', out_value);
    return true;
}

static void add_text(struct buf *out, const char *name, const char *value)
{
    if (out->length > 0) buf_add_char(out, ',');
    buf_add_text(out, name);
    if (value == NULL) return;
    buf_add_char(out, '=');
    buf_add_text(out, value);
}

/* --- by TRES ------------------------------------------------------------------------------------------------------ */

static void add_amount(const struct tres_table *t, uint32_t tres, double amount, struct buf *out)
{
    char text[NUMBER_TEXT_SIZE];
    number_format_shortest(text, amount);
    add_text(out, t->items[tres].text, text);
}

void list_column_usage_format(const struct tres_table *t, const double *usage, struct buf *out)
{
    for (uint32_t i = 0; usage != NULL && i < t->count; i++) {
        if (fpclassify(usage[i]) != FP_ZERO) add_amount(t, i, usage[i], out);
    }
}

void list_column_amounts_format(const struct tres_table *t, const struct tres_list *list, struct buf *out)
{
    for (uint32_t i = 0; i < list->count; i++) add_amount(t, list->items[i].tres, list->items[i].amount, out);
}

/* Reads the next item: 1, or 0 at the end. *io_next is the least TRES that may follow, 0 at first. */
static int next_amount(const struct tres_table *t, struct str *rest, uint32_t *io_next, struct tres_amount *out_item,
                       struct err *e)
{
    struct str name, value;
    double amount;
    if (!list_column_next(rest, &name, &value)) return 0;
    uint32_t tres = tres_find(t, name);
    if (tres == NONE)
        return err_set(e, ERR_INPUT, "'%.*s' is no TRES that AccountingStorageTRES names", shown(name), name.text);
    if (tres < *io_next) return err_set(e, ERR_INPUT, "'%.*s' is not in its place", shown(name), name.text);
    if (!number_parse_double(value, &amount) || !isfinite(amount))
        return err_set(e, ERR_INPUT, "'%.*s' of %.*s is no number", shown(value), value.text, shown(name), name.text);
    *out_item = (struct tres_amount){tres, amount};
    *io_next = tres + 1;
    return 1;
}

int list_column_usage_parse(const struct tres_table *t, struct str text, double **out_usage, struct err *e)
{
    double *usage = mem_resize(NULL, 0, TRES_MAX * sizeof *usage);
    struct tres_amount item;
    uint32_t next = 0;
    int result;
    while ((result = next_amount(t, &text, &next, &item, e)) == 1) usage[item.tres] = item.amount;
    if (result == 0)
        *out_usage = usage;
    else
        mem_free(usage);
    return result;
}

int list_column_amounts_parse(const struct tres_table *t, struct str text, struct tres_list *out_list, struct err *e)
{
    struct tres_amount items[TRES_MAX];
    uint32_t count = 0, next = 0;
    int result;
    while ((result = next_amount(t, &text, &next, &items[count], e)) == 1) {
        if (++count == TRES_MAX) break;
    }
    if (result < 0) return -1;
    *out_list = (struct tres_list){.count = count};
    if (count > 0) out_list->items = memcpy(mem_resize(NULL, 0, count * sizeof *items), items, count * sizeof *items);
    return 0;
}

/* --- by name of an object ----------------------------------------------------------------------------------------- */

static uint32_t count_items(struct str text)
{
    uint32_t count = text.length > 0;
    for (size_t i = 0; i < text.length; i++) count += text.text[i] == ',';
    return count;
}

static uint32_t object_find(const struct state *s, enum object_kind kind, struct str name, struct arena *arena,
                            struct err *e)
{
    uint32_t index = state_find_object(s, kind, arena_copy(arena, name));
    if (index == NONE)
        err_set(e, ERR_INPUT, "there is no %s '%.*s'", object_classes[kind].name, shown(name), name.text);
    return index;
}

int list_column_object_id(const struct state *s, enum object_kind kind, struct str name, struct arena *arena,
                          uint32_t *out_id, struct err *e)
{
    uint32_t index = object_find(s, kind, name, arena, e);
    if (index == NONE) return -1;
    *out_id = s->objects[kind].items[index].id;
    return 0;
}

void list_column_partitions_format(const struct state *s, const struct job *j, struct buf *out)
{
    for (uint32_t i = 0; i < j->partition_count; i++)
        add_text(out, s->objects[OBJECT_PARTITION].items[j->partitions[i]].object.name, NULL);
}

int list_column_partitions_parse(const struct state *s, struct str text, struct arena *arena, struct job *io_job,
                                 struct err *e)
{
    uint32_t count = count_items(text), made = 0;
    if (count == 0) return err_set(e, ERR_INPUT, "it has no partition");
    uint32_t *ids = mem_resize(NULL, 0, count * sizeof *ids);
    for (struct str rest = text; made < count; made++) {
        if (list_column_object_id(s, OBJECT_PARTITION, str_cut(rest, ',', &rest), arena, &ids[made], e) != 0) {
            mem_free(ids);
            return -1;
        }
    }
    io_job->partitions = ids;
    io_job->partition_count = count;
    return 0;
}

void list_column_requests_format(const struct state *s, const struct job *j, struct buf *out)
{
    for (uint32_t i = 0; i < j->request_count; i++)
        add_text(out, s->objects[OBJECT_RESOURCE].items[j->requests[i].resource].object.name, j->requests[i].text);
}

static int parse_request(const struct state *s, struct str item, struct arena *arena, struct job_request *out_request,
                         struct err *e)
{
    struct str amount, name = str_cut(item, '=', &amount);
    uint32_t index = object_find(s, OBJECT_RESOURCE, name, arena, e);
    if (index == NONE) return -1;
    const struct object_row *resource = &s->objects[OBJECT_RESOURCE].items[index];
    *out_request = (struct job_request){.resource = resource->id, .text = arena_copy(arena, amount)};
    return object_resource_amount_parse((enum resource_type)resource->object.value[RESOURCE_TYPE].number,
                                        resource->object.name, amount, &out_request->amount, e);
}

int list_column_requests_parse(const struct state *s, struct str text, struct arena *arena, struct job *io_job,
                               struct err *e)
{
    uint32_t count = count_items(text), made = 0;
    struct job_request *requests = count > 0 ? mem_resize(NULL, 0, count * sizeof *requests) : NULL;
    for (struct str rest = text; made < count; made++) {
        if (parse_request(s, str_cut(rest, ',', &rest), arena, &requests[made], e) != 0) {
            mem_free(requests);
            return -1;
        }
    }
    io_job->requests = requests;
    io_job->request_count = count;
    return 0;
}
