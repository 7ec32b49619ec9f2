/* The lines of the record log (segments.h), as text. Pure.
 *
 *     <end of line> HASH name=value <tab> name=value ... <end of line>
 *
 * HASH is that of the rest of the line, 16 hex digits. A line begins with an end of line, too, so whatever a torn line
 * before it leaves is a line of its own, whose hash is wrong. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_LOG_TEXT_H
#define FAIRLEAD_EXEC_LAUNCHER_LOG_TEXT_H

#include "base/text.h"
#include "exec/launch.h"

/* Appends a line. fields: "name=value", each with an end of line behind it; no value has a tab. */
void log_text_add(struct buf *out, struct str fields);

/* Cuts lines off *text until one has its hash. Returns its fields, with an end of line behind each, in the memory of
 * the text, which changes; or a view whose text is NULL: there is none. What follows the last end of line stays in
 * *text, because it may not be whole yet. O(length). */
struct str log_text_next(char **text, size_t *length);

/* Appends the line of a launch's record. */
void log_text_add_record(struct buf *out, const struct launch_record *record);

/* Appends the line of a STARTED record whose pid and at_boot_us are not known yet. log_text_set_start fills them in,
 * and makes the hash again; it is async-signal-safe. */
void log_text_add_start(struct buf *out, struct launch_record record);
void log_text_set_start(struct buf *line, int32_t pid, int64_t at_boot_us);

#endif
