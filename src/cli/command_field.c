/* The fields of a command. The table of commands is not needed for them, so commands can ask, too. */
#include "cli/command.h"
#include "fields/limit_fields.h"

const struct field *command_field(const struct command *command, uint32_t i)
{
    uint32_t count = command->fields != NULL ? command->fields->field_count : 0;
    if (i < count) return &command->fields->fields[i];
    i -= count;
    if (command->has_limits && i < limit_fields.count) return field_at(&limit_fields, i);
    if (command->has_limits) i -= limit_fields.count;
    return command->resets_usage && i == 0 ? &object_usage_reset_field : NULL;
}
