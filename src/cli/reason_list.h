/* The sentences that say what keeps a job from queues and hosts, for people: those that differ only in the host are one
 * line, "cannot run at host "n[1-998]" because ...". JSON and the API keep each. */
#ifndef FAIRLEAD_CLI_REASON_LIST_H
#define FAIRLEAD_CLI_REASON_LIST_H

#include <stdint.h>

#include "base/text.h"

enum { REASON_LIST_INDENT = 2 }; /* below a heading */

/* Appends a line for each, indented by so many blanks, in the order of their first hosts. */
void reason_list_write(const char *const *sentences, uint32_t count, uint32_t indent, struct buf *out);

#endif
