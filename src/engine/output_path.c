#include "engine/output_path.h"

#include "base/ensure.h"

static void add_name(struct buf *out, const char *name)
{
    for (; *name != '\0'; name++) buf_add_char(out, *name == '/' ? '_' : *name);
}

static void add_field(const struct job *j, const char *user, uint32_t task_id, char letter, struct buf *out)
{
    switch (letter) {
    case 'j':
        buf_add_u64(out, j->id);
        if (j->is_array) buf_format(out, "_%u", task_id);
        break;
    case 'A': buf_add_u64(out, j->id); break;
    case 'a': buf_add_u64(out, task_id); break;
    case 'x': add_name(out, j->text->name); break;
    case 'u': add_name(out, user); break;
    case '%': buf_add_char(out, '%'); break;
    default: buf_add_char(out, '%'); buf_add_char(out, letter);
    }
}

void output_path_expand(const struct job *j, const char *user, uint32_t task_id, const char *pattern, struct buf *out)
{
    ensure(pattern != NULL);
    if (pattern[0] != '/') {
        buf_add_text(out, j->text->directory);
        if (out->length > 0 && out->text[out->length - 1] != '/') buf_add_char(out, '/');
    }
    for (const char *p = pattern; *p != '\0'; p++) {
        if (p[0] == '%' && p[1] != '\0')
            add_field(j, user, task_id, *++p, out);
        else
            buf_add_char(out, *p);
    }
}
