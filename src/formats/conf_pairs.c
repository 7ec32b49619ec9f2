#include "formats/conf_pairs.h"

#include "base/text.h"

void conf_pairs_fault(struct conf_pairs *p, const struct source *s, const char *position, const char *format, ...)
{
    p->fault_count++;
    if (p->faults.count >= CONF_FAULTS_MAX) return;
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    size_t length = text_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length >= sizeof text) length = sizeof text - 1;
    text_make_plain(text, length);
    *array_add(&p->faults) = (struct conf_fault){s, position, arena_copy(&p->arena, (struct str){text, length})};
}

const struct conf_pair *conf_pairs_find(const struct conf_pairs *p, const char *name)
{
    for (uint32_t i = p->items.count; i > 0; i--) {
        if (str_equal_nocase(p->items.items[i - 1].name, str(name))) return &p->items.items[i - 1];
    }
    return NULL;
}

void conf_pairs_release(struct conf_pairs *p)
{
    array_release(&p->items);
    array_release(&p->faults);
    arena_release(&p->arena);
}
