#include "fields/request_text.h"

#include "base/number.h"

static bool read_count(struct str text, uint32_t *out)
{
    uint64_t count;
    if (!number_parse_u64(text, &count) || count < 1 || count > REQUEST_NODES_MAX) return false;
    *out = (uint32_t)count;
    return true;
}

int request_text_nodes(struct str text, const char *what, uint32_t *out_min, uint32_t *out_max, struct err *e)
{
    uint32_t min = 0, max = 0;
    struct str max_text, min_text = str_cut(text, '-', &max_text);
    bool is_valid = text.length == 0 || read_count(min_text, &min);
    if (is_valid) max = min;
    if (is_valid && max_text.text != NULL) is_valid = read_count(max_text, &max) && max >= min;
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
