#include "fields/request_text.h"

#include <string.h>

#include "base/number.h"
#include "fields/host_text.h"

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

/* --- features ----------------------------------------------------------------------------------------------------- */

static bool is_feature(struct str name)
{
    for (size_t i = 0; i < name.length; i++) {
        if (strchr(" &|()[]*,=@", name.text[i]) != NULL) return false;
    }
    return name.length > 0 && str_is_printable(name);
}

struct str request_text_next_feature(struct str *rest, bool *out_is_or)
{
    size_t length = 0;
    *out_is_or = rest->length > 0 && rest->text[0] == '|';
    if (rest->length > 0 && (rest->text[0] == '|' || rest->text[0] == '&'))
        *rest = str_range(rest->text + 1, rest->text + rest->length);
    while (length < rest->length && rest->text[length] != '|' && rest->text[length] != '&') length++;
    struct str name = {rest->text, length};
    *rest = str_range(rest->text + length, rest->text + rest->length);
    return str_trim(name);
}

int request_text_constraint_check(struct str text, const char *what, struct err *e)
{
    bool is_or, is_valid = text.length == 0 || (text.text[0] != '&' && text.text[0] != '|');
    for (struct str rest = text; rest.length > 0 && is_valid;)
        is_valid = is_feature(request_text_next_feature(&rest, &is_or));
    return is_valid ? 0 : err_value(e, what, text, "features joined by & and |, such as avx&ssd");
}

int request_text_features_check(struct str text, const char *what, struct err *e)
{
    struct arena arena = {0};
    struct name_list list;
    int status = host_text_names_check(text, what, e);
    if (status == 0) status = host_text_names(text, what, &arena, &list, e);
    for (uint32_t i = 0; status == 0 && i < list.count; i++) {
        if (!is_feature(list.items[i]))
            status = err_value(e, what, list.items[i], "a feature: a name without any of & | ( ) [ ] * = @");
    }
    arena_release(&arena);
    return status;
}

bool request_text_has_feature(const char *features, struct str feature)
{
    struct arena arena = {0};
    struct name_list list;
    bool found = false;
    if (host_text_names(str(features), "features", &arena, &list, NULL) != 0) list.count = 0;
    for (uint32_t i = 0; i < list.count && !found; i++) found = str_equal(list.items[i], feature);
    arena_release(&arena);
    return found;
}

bool request_text_is_satisfied(const char *constraint, const char *features)
{
    bool is_satisfied = true, is_or;
    for (struct str rest = str(constraint); rest.length > 0;) {
        bool has = request_text_has_feature(features, request_text_next_feature(&rest, &is_or));
        is_satisfied = is_or ? is_satisfied || has : is_satisfied && has;
    }
    return is_satisfied;
}
