/* Lists of hosts with ranges from arbitrary bytes. The check accepts nothing that the parser refuses; a refused text
 * leaves the output unchanged, with one printable line that names the field. What was read has each name once, is
 * bounded, and reads back the same from its names, and from the short form that listings print. */
#include <string.h>

#include "base/ensure.h"
#include "fields/host_list.h"
#include "fields/host_ranges.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has_name(const struct name_list *list, struct str name)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (str_equal(list->items[i], name)) return true;
    }
    return false;
}

/* Quadratic, so not of long lists. */
static void check_same_names(const struct name_list *a, const struct name_list *b)
{
    ensure(a->count == b->count);
    for (uint32_t i = 0; i < a->count && a->count < 100; i++) ensure(has_name(b, a->items[i]));
}

static bool are_hosts(const struct name_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct str name = list->items[i];
        if (name.length > 64 || !str_is_printable(name) || !host_text_is_name(name) ||
            str_equal_nocase(name, str("NONE")))
            return false;
    }
    return list->count > 0;
}

static void check_short_form(const struct name_list *list, struct arena *arena)
{
    struct buf text = {0};
    struct name_list back;
    host_list_format(list->items, list->count, &text);
    ensure(host_ranges_names((struct str){text.text, text.length}, "field", arena, &back, NULL) == 0);
    check_same_names(list, &back);
    buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str s = {(const char *)data, size};
    struct arena arena = {0};
    struct name_list list = {.count = 77};
    struct err e = {0};
    int status = host_ranges_names(s, "field", &arena, &list, &e);
    ensure(status == 0 || host_ranges_names_check(s, "field", NULL) != 0);
    if (status != 0) {
        const char *sentence = ERR_SENTENCE(&e);
        ensure(e.code == ERR_INPUT && strncmp(sentence, "field: ", 7) == 0 && str_is_printable(str(sentence)));
        ensure(list.items == NULL && list.count == 77);
    } else {
        bool is_ranged = memchr(size > 0 ? s.text : "", '[', size) != NULL;
        ensure(!is_ranged || list.count <= HOST_RANGES_MAX);
        if (are_hosts(&list)) check_short_form(&list, &arena);
    }
    arena_release(&arena);
    return 0;
}
