#include "cli/reason_list.h"

#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/map.h"
#include "fields/host_list.h"

/* `queue instance "main@n1" dropped` is: before `queue instance "main@`, host n1, after `" dropped`. host.text NULL: it
 * names none. */
struct reason {
    struct str before, host, after;
};

struct reason_group {
    struct reason first;
    ARRAY(struct str) hosts;
};

static struct reason split(const char *sentence)
{
    static const char *const words[] = {"queue instance \"", "in queue \"", "host \""};
    enum { INSTANCE_WORDS = 2 }; /* those before a name of an instance, which has a host after its queue */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *name = strstr(sentence, words[i]);
        if (name == NULL) continue;
        name += strlen(words[i]);
        const char *end = strchr(name, '"');
        const char *at = end != NULL ? memchr(name, '@', (size_t)(end - name)) : NULL;
        if (end == NULL || (i < INSTANCE_WORDS && at == NULL)) continue;
        if (i < INSTANCE_WORDS) name = at + 1;
        return (struct reason){{sentence, (size_t)(name - sentence)}, {name, (size_t)(end - name)}, {end, strlen(end)}};
    }
    return (struct reason){.before = str(sentence)};
}

static void add_line(const struct reason_group *g, uint32_t indent, struct buf *out)
{
    buf_add_blanks(out, indent);
    buf_add_str(out, g->first.before);
    if (g->first.host.text != NULL) {
        host_list_format(g->hosts.items, g->hosts.count, out);
        buf_add_str(out, g->first.after);
    }
    buf_add_char(out, '\n');
}

void reason_list_write(const char *const *sentences, uint32_t count, uint32_t indent, struct buf *out)
{
    ARRAY(struct reason_group) groups = {0};
    struct map by_text = {0};
    struct arena arena = {0};
    for (uint32_t i = 0; i < count; i++) {
        const struct reason reason = split(sentences[i]);
        struct buf key = {0};
        buf_add_str(&key, reason.before);
        buf_add_char(&key, '\0');
        if (reason.host.text != NULL) buf_add_str(&key, reason.after);
        const struct str text = {key.text, key.length};
        uint32_t group = reason.host.text != NULL ? map_get(&by_text, text) : NONE;
        if (group == NONE) {
            group = groups.count;
            *array_add(&groups) = (struct reason_group){.first = reason};
            if (reason.host.text != NULL) map_set(&by_text, (struct str){arena_copy(&arena, text), text.length}, group);
        }
        *array_add(&groups.items[group].hosts) = reason.host;
        buf_release(&key);
    }
    for (uint32_t i = 0; i < groups.count; i++) {
        add_line(&groups.items[i], indent, out);
        array_release(&groups.items[i].hosts);
    }
    array_release(&groups);
    map_release(&by_text);
    arena_release(&arena);
}
