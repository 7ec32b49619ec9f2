#include "policy/tres_text.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "policy/usage.h"

bool tres_text_next(struct str *rest, struct str *out_name, struct str *out_value)
{
    if (rest->text == NULL || rest->length == 0) return false;
    struct str item = str_cut(*rest, ',', rest);
    *out_name = str_cut(item, '=', out_value);
    return true;
}

static void add_amount(const struct tres_table *t, uint32_t tres, double amount, struct buf *out)
{
    char text[NUMBER_TEXT_SIZE];
    number_format_shortest(text, amount);
    buf_format(out, "%s%s=%s", out->length > 0 ? "," : "", t->items[tres].text, text);
}

void tres_text_format(const struct tres_table *t, const double *amounts, struct buf *out)
{
    for (uint32_t i = 0; amounts != NULL && i < t->count; i++) {
        if (fpclassify(amounts[i]) != FP_ZERO) add_amount(t, i, amounts[i], out);
    }
}

void tres_text_format_list(const struct tres_table *t, const struct tres_list *list, struct buf *out)
{
    for (uint32_t i = 0; i < list->count; i++) add_amount(t, list->items[i].tres, list->items[i].amount, out);
}

/* Reads the next item: 1, or 0 at the end. *io_next is the lowest index that may follow, 0 at first. max: of
 * amounts. */
static int next_amount(const struct tres_table *t, double max, struct str *rest, uint32_t *io_next,
                       struct tres_amount *out_item, struct err *e)
{
    struct str name, value;
    double amount;
    if (!tres_text_next(rest, &name, &value)) return 0;
    uint32_t tres = tres_find(t, name);
    if (tres == NONE) return err_value(e, "TRES", name, "one that AccountingStorageTRES names");
    if (tres < *io_next) return err_value_reason(e, "TRES", name, "is named twice or out of order");
    if (!number_parse_double(value, &amount) || !(fabs(amount) <= max))
        return err_value(e, t->items[tres].text, value, "a number");
    *out_item = (struct tres_amount){tres, amount};
    *io_next = tres + 1;
    return 1;
}

int tres_text_parse(const struct tres_table *t, struct str text, double **out_amounts, struct err *e)
{
    double *amounts = mem_resize(NULL, 0, TRES_MAX * sizeof *amounts);
    struct tres_amount item;
    uint32_t next = 0;
    int result;
    while ((result = next_amount(t, USAGE_STORED_MAX, &text, &next, &item, e)) == 1) amounts[item.tres] = item.amount;
    if (result == 0)
        *out_amounts = amounts;
    else
        mem_free(amounts);
    return result;
}

int tres_text_parse_list(const struct tres_table *t, struct str text, struct tres_list *out_list, struct err *e)
{
    struct tres_amount items[TRES_MAX];
    uint32_t count = 0, next = 0;
    int result;
    while ((result = next_amount(t, USAGE_AMOUNT_MAX, &text, &next, &items[count], e)) == 1) {
        if (++count == TRES_MAX) break;
    }
    if (result < 0) return -1;
    *out_list = (struct tres_list){.count = count};
    if (count > 0) out_list->items = memcpy(mem_resize(NULL, 0, count * sizeof *items), items, count * sizeof *items);
    return 0;
}
