#include "fields/request_text.h"

#include "base/number.h"

static bool read_count(struct str text, uint32_t max, uint32_t *out)
{
    uint64_t count;
    if (!number_parse_u64(text, &count) || count < 1 || count > max) return false;
    *out = (uint32_t)count;
    return true;
}

int request_text_nodes(struct str text, const char *what, uint32_t *out_min, uint32_t *out_max, struct err *e)
{
    uint32_t min = 0, max = 0;
    struct str max_text, min_text = str_cut(text, '-', &max_text);
    bool is_valid = text.length == 0 || read_count(min_text, REQUEST_NODES_MAX, &min);
    if (is_valid) max = min;
    if (is_valid && max_text.text != NULL) is_valid = read_count(max_text, REQUEST_NODES_MAX, &max) && max >= min;
    if (!is_valid)
        return err_value(e, what, text, "a number from 1 to %d, or a range such as 2-8", (int)REQUEST_NODES_MAX);
    *out_min = min;
    *out_max = max;
    return 0;
}

int request_text_nodes_check(struct str text, const char *what, struct err *e)
{
    uint32_t min, max;
    return request_text_nodes(text, what, &min, &max, e);
}

static int read_gpus(struct str item, const char *what, struct gpus_text *out, struct err *e)
{
    struct str count, type = str_cut(item, ':', &count);
    bool is_typed = count.text != NULL;
    *out = (struct gpus_text){.type = is_typed ? str_trim(type) : (struct str){"", 0}};
    if (!read_count(str_trim(is_typed ? count : type), REQUEST_GPUS_MAX, &out->count) ||
        (is_typed && out->type.length == 0))
        return err_value(e, what, item, "a number of GPUs, or a type and a number, such as tesla:2");
    return 0;
}

int request_text_gpus(struct str text, const char *what, struct arena *arena, struct gpus_text_list *out, struct err *e)
{
    struct gpus_text_list list = {0};
    uint32_t items_max = 1;
    for (size_t i = 0; i < text.length; i++) items_max += text.text[i] == ',';
    list.items = arena_alloc(arena, items_max * sizeof *list.items);
    for (struct str rest = text; rest.text != NULL;) {
        struct gpus_text *item = &list.items[list.count++];
        if (read_gpus(str_trim(str_cut(rest, ',', &rest)), what, item, e) != 0) return -1;
        for (uint32_t i = 0; i + 1 < list.count; i++) {
            if (str_equal(list.items[i].type, item->type)) return err_value_reason(e, what, text, "names a type twice");
        }
    }
    *out = list;
    return 0;
}
