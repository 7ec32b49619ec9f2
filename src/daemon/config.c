#include "daemon/config.h"

/* A line of the file, for errors. */
struct source_line {
    const char *file;
    uint32_t number; /* from 1 */
    struct str text;
};

/* Adds FILE:LINE:COLUMN to an error. position: in the line's text. */
static int add_position(struct err *e, const struct source_line *line, const char *position)
{
    return err_prefix(e, "%s:%u:%zu", line->file, line->number, (size_t)(position - line->text.text) + 1);
}

/* The engine parses the value again when it applies the setting. */
static int check_value(const struct field *field, struct str value, struct err *e)
{
    struct arena scratch = {0};
    struct field_value unused;
    int status = field_parse(field, value, &scratch, &unused, e);
    arena_release(&scratch);
    return status;
}

static int parse_line(const struct source_line *line, struct config *c, struct err *e)
{
    struct str value, content = str_cut(line->text, '#', &value);
    if (str_trim(content).length == 0) return 0;
    struct str name = str_trim(str_cut(content, '=', &value));
    if (value.text == NULL) {
        (void)err_set(e, ERR_INPUT, "no '='; write 'setting = value'");
        return add_position(e, line, str_trim(content).text);
    }
    value = str_trim(value);
    enum setting setting;
    const struct field *field;
    const char *name_position = name.length > 0 ? name.text : line->text.text;
    if (setting_find(name, &setting, &field, e) != 0) {
        if (e != NULL) e->code = ERR_INPUT;
        return add_position(e, line, name_position);
    }
    if (check_value(field, value, e) != 0)
        return add_position(e, line, value.text != NULL ? value.text : line->text.text);
    for (uint32_t i = 0; i < c->lines.count; i++) {
        if (c->lines.items[i].setting != setting) continue;
        (void)err_set(e, ERR_INPUT, "setting '%s' occurs twice; keep one", field->name);
        return add_position(e, line, name_position);
    }
    *array_add(&c->lines) = (struct config_line){setting, name, value};
    return 0;
}

int config_parse(const char *file, struct str text, struct config *out_config, struct err *e)
{
    struct config c = {0};
    struct source_line line = {.file = file};
    for (struct str rest = text; rest.text != NULL;) {
        line.text = str_cut(rest, '\n', &rest);
        line.number++;
        if (parse_line(&line, &c, e) != 0) {
            array_release(&c.lines);
            return -1;
        }
    }
    *out_config = c;
    return 0;
}
