#include "site/finding.h"

#include <stdlib.h>

#include "base/text.h"

enum { TEXT_SIZE = 301 };

const char *const finding_level_names[FINDING_LEVEL_COUNT] = {
    [FINDING_NOTE] = "note", [FINDING_WARNING] = "warning", [FINDING_ERROR] = "error"};

struct finding_place finding_at(enum finding_level level, const struct conf_pair *pair)
{
    return (struct finding_place){level, pair->source, pair->position};
}

struct finding_place finding_at_value(enum finding_level level, const struct conf_pair *pair)
{
    return (struct finding_place){level, pair->source, pair->value_position};
}

static const char *keep_text(struct findings *f, char *text, size_t length, size_t size)
{
    if (length >= size) length = size - 1;
    text_make_plain(text, length);
    return arena_copy(&f->arena, (struct str){text, length});
}

void findings_add(struct findings *f, struct finding_place place, const char *reason, const char *advice,
                  const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    size_t length = text_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    *array_add(&f->items) = (struct finding){.level = place.level,
                                             .source = place.source,
                                             .position = place.position,
                                             .text = keep_text(f, text, length, sizeof text),
                                             .reason = reason,
                                             .advice = advice != NULL ? advice : ""};
    f->counts[place.level]++;
}

void findings_add_error(struct findings *f, struct finding_place place, const struct err *e, const char *advice)
{
    findings_add(f, place, "", advice, "%s", ERR_SENTENCE(e));
}

/* The index of a file in the order of its first finding. */
static uint32_t file_index(struct findings *f, const struct source *source)
{
    for (uint32_t i = 0; i < f->files.count; i++) {
        if (f->files.items[i] == source) return i;
    }
    *array_add(&f->files) = source;
    return f->files.count - 1;
}

static int compare(const void *left, const void *right)
{
    const struct finding *a = left, *b = right;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

void findings_sort(struct findings *f)
{
    for (uint32_t i = 0; i < f->items.count; i++) f->items.items[i].file = file_index(f, f->items.items[i].source);
    if (f->items.count > 0) qsort(f->items.items, f->items.count, sizeof *f->items.items, compare);
}

void findings_release(struct findings *f)
{
    array_release(&f->items);
    array_release(&f->files);
    arena_release(&f->arena);
}
