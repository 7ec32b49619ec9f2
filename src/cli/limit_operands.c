#include "cli/limit_operands.h"

#include "api/bodies.h"
#include "base/ensure.h"
#include "base/text.h"
#include "cli/foreign_syntax.h"
#include "fields/limit_fields.h"

static int add_limit(const struct call *call, struct str name, struct str value, struct limit_operands *io,
                     struct err *e)
{
    struct wire_pair *pairs = io->limits.items;
    for (uint32_t i = 0; i < io->limits.count; i++) {
        if (str_equal_nocase(str(pairs[i].name), name))
            return err_set(e, ERR_USAGE, "%s is given twice", pairs[i].name);
    }
    pairs[io->limits.count++] = (struct wire_pair){arena_copy(call->arena, name), arena_copy(call->arena, value)};
    return 0;
}

static int read_operand(const struct call *call, const char *operand, struct limit_operands *io, struct err *e)
{
    struct field_value parsed;
    char sign;
    struct str value, name = str_cut(str(operand), '=', &value);
    if (value.text != NULL && str_equal_nocase(name, str(object_usage_reset_field.name))) {
        if (field_parse(&object_usage_reset_field, value, call->arena, &parsed, e) != 0) return -1;
        io->raw_usage = parsed.number;
        return 0;
    }
    if (value.text != NULL && str_equal_nocase(name, str("Partition"))) {
        if (io->partition != NULL) return err_set(e, ERR_USAGE, "Partition is given twice");
        io->partition = arena_copy(call->arena, value);
        return 0;
    }
    if (value.text != NULL && limit_fields_find_key(name, &sign) != NONE) return add_limit(call, name, value, io, e);
    if (io->other == NULL) io->other = operand;
    return 0;
}

int limit_operands_read(const struct call *call, struct limit_operands *out, struct err *e)
{
    ensure(call->parsed.operand_count > 0);
    struct limit_operands read = {.raw_usage = API_UNSET};
    read.limits.items = arena_alloc(call->arena, call->parsed.operand_count * sizeof(struct wire_pair));
    for (uint32_t i = 1; i < call->parsed.operand_count; i++) {
        if (read_operand(call, call->parsed.operands[i], &read, e) != 0) return -1;
    }
    *out = read;
    return 0;
}

int limit_operands_refuse(const struct call *call, const char *operand, struct err *e)
{
    struct buf names = {0};
    struct str value, name = str_cut(str(operand), '=', &value);
    const struct field *f;
    const char *advice = foreign_syntax_field(name);
    if (advice != NULL)
        return err_set(e, ERR_USAGE, "unexpected argument '%s': %s; see 'fairlead %s --help'", operand, advice,
                       call->command->name);
    if (value.text == NULL)
        return err_set(e, ERR_USAGE,
                       "unexpected argument '%s'; fields are given as NAME=VALUE, see 'fairlead %s --help'", operand,
                       call->command->name);
    for (const struct option_row *o = call->command->options; o != NULL && o->name != NULL; o++) {
        if (str_equal_nocase(name, str(o->name)))
            return err_set(e, ERR_USAGE, "unexpected argument '%s': it is an option, --%s %.*s", operand, o->name,
                           (int)value.length, value.text);
    }
    for (uint32_t i = 0; (f = command_field(call->command, i)) != NULL; i++)
        buf_format(&names, "%s%s", i > 0 ? ", " : "", f->name);
    (void)err_unknown_field(e, NULL, name, names.text);
    buf_release(&names);
    return -1;
}
