#include "daemon/config.h"

static int line_error(struct err *e, const char *file, uint32_t line, struct str whole, const char *at,
                      const char *what)
{
    return err_set(e, ERR_INPUT, "%s:%u:%zu: %s", file, line, (size_t)(at - whole.text) + 1, what);
}

/* Whether the field takes the value; what it is is the engine's to say, later. */
static int check_value(const struct field *field, struct str value, struct err *e)
{
    struct arena scratch = {0};
    struct field_value unused;
    int status = field_parse(field, value, &scratch, &unused, e);
    arena_release(&scratch);
    return status;
}

static int parse_line(const char *file, uint32_t number, struct str whole, struct config *c, struct err *e)
{
    struct str value, left = str_cut(whole, '#', &value);
    if (str_trim(left).length == 0) return 0;
    struct str name = str_trim(str_cut(left, '=', &value));
    if (value.text == NULL)
        return line_error(e, file, number, whole, str_trim(left).text, "a line is 'setting = value'; there is no '='");
    value = str_trim(value);
    enum setting setting;
    const struct field *field;
    const char *at = name.length > 0 ? name.text : whole.text;
    if (setting_find(name, &setting, &field, e) != 0) {
        err_prefix(e, "%s:%u:%zu", file, number, (size_t)(at - whole.text) + 1);
        if (e != NULL) e->code = ERR_INPUT;
        return -1;
    }
    if (check_value(field, value, e) != 0) {
        at = value.text != NULL ? value.text : whole.text;
        return err_prefix(e, "%s:%u:%zu", file, number, (size_t)(at - whole.text) + 1);
    }
    for (uint32_t i = 0; i < c->lines.count; i++) {
        if (c->lines.items[i].setting == setting)
            return line_error(e, file, number, whole, at, "this setting stands in the file twice; keep one");
    }
    *array_add(&c->lines) = (struct config_line){setting, name, value};
    return 0;
}

int config_parse(const char *file, struct str text, struct config *out_config, struct err *e)
{
    struct config c = {0};
    uint32_t number = 0;
    for (struct str rest = text; rest.text != NULL;) {
        struct str line = str_cut(rest, '\n', &rest);
        if (parse_line(file, ++number, line, &c, e) != 0) {
            array_release(&c.lines);
            return -1;
        }
    }
    *out_config = c;
    return 0;
}
