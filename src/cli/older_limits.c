#include "cli/older_limits.h"

#include <string.h>

#include "base/array.h"

struct older_limit {
    const char *name, *field, *tres;
};

static const struct older_limit older_limits[] = {
    {"GrpCPUs", "GrpTRES", "cpu"},
    {"GrpMem", "GrpTRES", "mem"},
    {"GrpMemory", "GrpTRES", "mem"},
    {"GrpNodes", "GrpTRES", "node"},
    {"GrpCPUMins", "GrpTRESMins", "cpu"},
    {"GrpCPURunMins", "GrpTRESRunMins", "cpu"},
    {"MaxCPUs", "MaxTRES", "cpu"},
    {"MaxCPUsPerJob", "MaxTRES", "cpu"},
    {"MaxNodes", "MaxTRES", "node"},
    {"MaxNodesPerJob", "MaxTRES", "node"},
    {"MaxCPUMins", "MaxTRESMins", "cpu"},
    {"MaxCPUMinsPerJob", "MaxTRESMins", "cpu"},
    {"MaxCPUsPerUser", "MaxTRESPerUser", "cpu"},
    {"MaxNodesPerUser", "MaxTRESPerUser", "node"},
    {"MinCPUs", "MinTRES", "cpu"},
    {"MinCPUsPerJob", "MinTRES", "cpu"},
};

static bool has_field(const struct command *command, struct str name)
{
    const struct field *f;
    for (uint32_t i = 0; (f = command_field(command, i)) != NULL; i++) {
        if (str_equal_nocase(str(f->name), name)) return true;
    }
    return false;
}

/* The row that replaces a name in this command, or NULL. The MaxNodes of a partition is a field of its own. */
static const struct older_limit *find(const struct command *command, struct str name)
{
    if (has_field(command, name)) return NULL;
    for (size_t i = 0; i < sizeof older_limits / sizeof *older_limits; i++) {
        const struct older_limit *o = &older_limits[i];
        if (str_equal_nocase(str(o->name), name)) return has_field(command, str(o->field)) ? o : NULL;
    }
    return NULL;
}

/* The operand before the index that sets the field, or NONE. */
static uint32_t find_operand(const struct parsed *parsed, const char *field, uint32_t before)
{
    for (uint32_t i = 1; i < before; i++) {
        struct str value, name = str_cut(str(parsed->operands[i]), '=', &value);
        if (value.text != NULL && str_equal_nocase(name, str(field))) return i;
    }
    return NONE;
}

/* "GrpTRES=cpu=4", or behind an operand for the same field "GrpTRES=node=2,cpu=4". */
static char *replacement(const struct call *call, const char *same, const struct older_limit *o, struct str value)
{
    struct buf text = {0};
    if (same != NULL)
        buf_format(&text, "%s,", same);
    else
        buf_format(&text, "%s=", o->field);
    buf_format(&text, "%s=%.*s", o->tres, (int)value.length, value.text);
    char *copy = arena_copy(call->arena, (struct str){text.text, text.length});
    buf_release(&text);
    return copy;
}

int older_limits_rewrite(struct call *call, struct err *e)
{
    struct parsed *parsed = &call->parsed;
    uint32_t kept = 1;
    for (uint32_t i = 1; i < parsed->operand_count; i++) {
        struct str value, name = str_cut(str(parsed->operands[i]), '=', &value);
        const struct older_limit *o = value.text != NULL ? find(call->command, name) : NULL;
        if (o == NULL) {
            parsed->operands[kept++] = parsed->operands[i];
            continue;
        }
        if (value.length == 0 || memchr(value.text, ',', value.length) != NULL)
            return err_value(e, o->name, value, "a number, or -1 for no limit");
        uint32_t same = find_operand(parsed, o->field, kept);
        const char *other = same != NONE ? parsed->operands[same] : NULL;
        parsed->operands[same != NONE ? same : kept++] = replacement(call, other, o, value);
    }
    if (parsed->operand_count > 0) parsed->operand_count = kept;
    return 0;
}
