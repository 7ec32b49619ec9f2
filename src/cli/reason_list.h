/* The sentences that say what keeps a job from queues and hosts, for people: those that differ only in the host are one
 * line, "cannot run at host "n[1-998]" because ...". JSON and the API keep each. */
#ifndef FAIRLEAD_CLI_REASON_LIST_H
#define FAIRLEAD_CLI_REASON_LIST_H

#include <stdint.h>

#include "base/text.h"

/* Appends a line for each, indented by two blanks, in the order of their first hosts. */
void reason_list_write(const char *const *sentences, uint32_t count, struct buf *out);

#endif
